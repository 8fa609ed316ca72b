// expect: the operands of attention must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Var attended(const tern::Var& q, const std::vector<float>& v) { return attention(q, q, v); }
