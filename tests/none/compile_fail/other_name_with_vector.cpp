// expect: the operands of dot must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor product(const tern::Tensor& x, const std::vector<float>& v) { return dot(x, v); }
