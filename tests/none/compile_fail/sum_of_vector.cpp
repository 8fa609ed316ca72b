// expect: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor total(const std::vector<float>& values) { return tern::sum(values); }
