// expect: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor length(const std::array<double, 3>& values) { return tern::norm(values); }
