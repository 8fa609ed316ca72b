// expect: max reduces one tensor: write maximum(x, y) for each element
#include <tern/tern.hpp>

tern::Tensor payoff(const tern::Tensor& price) { return max(price - 100, 0); }
