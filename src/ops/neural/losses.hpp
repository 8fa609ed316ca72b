// What cross_entropy (src/ops/reductions/row.cpp) leaves to the losses: weights, soft targets, other reductions.
#pragma once
#include "primitives/fused/operation_checks.hpp"

namespace tern::detail {

/// log(softmax) of a row.
inline Expr log_softmax_of_row(Expr x) {
  const Expr shifted = x - detach(max(x));
  return shifted - log(sum(exp(shifted)));
}

template <TensorOrVar R>
R general_cross_entropy(const R& logits, const Argument& labels, const CrossEntropyOptions& options);

}  // namespace tern::detail
