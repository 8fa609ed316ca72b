// expect: the operands of one_hot must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor rows(const std::vector<int>& labels) { return tern::one_hot(labels, 3); }
