// expect: of a Var take x.value()
#include <tern/tern.hpp>

void shift(tern::Tensor& x, const tern::Var& by) { x -= by; }
