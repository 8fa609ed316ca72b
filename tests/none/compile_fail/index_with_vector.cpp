// expect: indices are integers, Slices, ellipsis, newaxis and Tensors of booleans or positions: make a tensor
#include <tern/tern.hpp>

tern::Tensor rows(const tern::Tensor& x, const std::vector<int>& at) { return x(at); }
