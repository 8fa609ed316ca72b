// expect: stack takes a list of Tensors or of Vars: write stack({x, y})
#include <tern/tern.hpp>

tern::Tensor columns(const tern::Tensor& x, const tern::Tensor& y) { return stack(x, y); }
