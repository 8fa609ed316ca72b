// expect: stack takes a list of Tensors or of Vars, as in stack({x, y}): make a tensor of other values
#include <tern/tern.hpp>

tern::Tensor columns(const std::vector<float>& v) { return tern::stack(v); }
