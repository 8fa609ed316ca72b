// expect: the operands of rfft must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor spectrum() { return tern::fft::rfft({1.0, 2.0, 3.0}, 8); }
