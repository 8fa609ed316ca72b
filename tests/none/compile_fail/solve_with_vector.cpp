// expect: the operands of solve must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Var solution(const tern::Var& a, const std::vector<float>& v) { return tern::linalg::solve(a, v); }
