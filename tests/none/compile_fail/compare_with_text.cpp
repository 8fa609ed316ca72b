// expect: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

auto same(const tern::Tensor& x) { return x == "NaN"; }
