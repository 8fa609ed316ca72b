// expect: copy_from takes a Tensor: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

void set(tern::Tensor& x, const std::vector<float>& v) { x.copy_from(v); }
