// expect: a symbolic value has no truth value: write where(condition, a, b) instead of if or ?:
#include <tern/tern.hpp>

constexpr tern::Pointwise relu{"relu", [](auto x) { return x > 0 ? x : 0 * x; }};
