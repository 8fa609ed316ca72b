// expect: make a tensor of a number or of values, as in tern::full({}, 2.0)
#include <tern/tern.hpp>

#include <vector>

tern::Tensor slope(const std::vector<double>& at) {
  return tern::value_and_grad([](const tern::Var& x) { return tern::sum(x * x); })(at);
}
