// expect: max reduces one tensor: write maximum(x, y) for each element
#include <tern/tern.hpp>

constexpr tern::Pointwise payoff{"payoff", [](auto x) { return max(x - 100, 0); }};
