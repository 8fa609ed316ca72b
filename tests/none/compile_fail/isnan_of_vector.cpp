// expect: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Tensor holes(const std::vector<double>& v) { return tern::isnan(v); }
