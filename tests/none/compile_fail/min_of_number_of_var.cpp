// expect: min reduces one tensor: write minimum(x, y) for each element
#include <tern/tern.hpp>

tern::Var cap(const tern::Var& x) { return min(1.0, x); }
