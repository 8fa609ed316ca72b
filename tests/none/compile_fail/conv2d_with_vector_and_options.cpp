// expect: the operands of conv2d must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor blurred(const tern::Tensor& x, const std::vector<float>& kernel) {
  return conv2d(x, kernel, {}, {.stride = 2});
}
