// expect: the operands of quantile must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor lowest(const std::vector<float>& v) { return tern::quantile(v, 0.05); }
