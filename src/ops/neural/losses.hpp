// What cross_entropy (src/ops/reductions/row.cpp) leaves to the losses: weights, soft targets, other reductions.
#pragma once
#include "primitives/fused/operation_checks.hpp"

namespace tern::detail {

template <TensorOrVar R>
R general_cross_entropy(const R& logits, const Argument& labels, const CrossEntropyOptions& options);

}  // namespace tern::detail
