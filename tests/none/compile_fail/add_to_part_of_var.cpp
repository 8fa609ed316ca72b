// expect: x = index_put(x, {…}, values)
#include <tern/tern.hpp>

void shift(tern::Var& x, const tern::Tensor& mask) { x(mask) += 1; }
