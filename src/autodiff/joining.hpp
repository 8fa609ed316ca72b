// The operations that transforms are made of, declared here and defined in src/ops/views/join.cpp: operations include
// autodiff and not the other way round. Only the linker sees this arrow run up, as it does those of the methods of
// Tensor and Var, which are declared below operations and are operations themselves.
#pragma once
#include <vector>

#include "tern/autodiff.hpp"

namespace tern::detail {

/// tern::concatenate and tern::stack.
Var concatenated(const std::vector<Var>& parts, int axis);
Var stacked(const std::vector<Var>& parts, int axis);

}  // namespace tern::detail
