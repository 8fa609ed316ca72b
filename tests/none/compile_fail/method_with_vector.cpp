// expect: the operands of matmul must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Var product(const tern::Var& x, const std::vector<float>& v) { return x.matmul(v); }
