// expect: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor chosen(const tern::Tensor& x, const std::vector<float>& other) { return where(x > 0, x, other); }
