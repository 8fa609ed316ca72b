// expect: or braces for the axes, max(x, {0}) or x.max(0)
#include <tern/tern.hpp>

tern::Tensor larger(const tern::Tensor& a, const tern::Tensor& b) { return max(a, b); }
