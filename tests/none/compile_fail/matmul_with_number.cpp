// expect: the operands of matmul must be Tensors or Vars
#include <tern/tern.hpp>

tern::Tensor twice(const tern::Tensor& x) { return matmul(x, 2.0); }
