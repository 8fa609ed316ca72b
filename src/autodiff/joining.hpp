// The operations that transforms are made of: declared here and defined in src/ops/views/join.cpp, for operations may
// include autodiff and not the other way round.
#pragma once
#include <vector>

#include "tern/autodiff.hpp"

namespace tern::detail {

/// tern::concatenate and tern::stack.
Var concatenated(const std::vector<Var>& parts, int axis);
Var stacked(const std::vector<Var>& parts, int axis);

}  // namespace tern::detail
