// expect: the operands of inv must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

auto inverse(const std::vector<float>& v) { return tern::linalg::inv(v); }
