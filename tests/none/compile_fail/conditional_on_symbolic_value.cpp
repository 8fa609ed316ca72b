// expect: where
#include <tern/tern.hpp>

constexpr tern::Pointwise leaky{"leaky", [](auto x) {
  if (x > 0) return x;
  return 0.01 * x;
}};
