// expect: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

void shift(tern::Tensor& x, const std::vector<float>& by) { x += by; }
