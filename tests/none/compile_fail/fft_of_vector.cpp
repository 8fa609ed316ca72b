// expect: the operands of fft must be Tensors or Vars: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor spectrum(const std::vector<double>& v) { return tern::fft::fft(v); }
