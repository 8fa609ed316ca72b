// expect: x = index_put(x, {…}, values)
#include <tern/tern.hpp>

void clear(tern::Var& x, const tern::Tensor& mask) { assign(x(mask), 0); }
