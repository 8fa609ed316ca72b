// The root of a sum of squares.
#pragma once
#include "primitives/fused/operation.hpp"

namespace tern::detail {

/// √v. At 0, where the root has no derivative, the gradient is 0, one of the subgradients: a branch that is not taken
/// contributes nothing.
inline Expr root_or_zero(Expr v) { return where(v == 0, 0, sqrt(v)); }
/// The same of tensors.
template <TensorOrVar T> T root_or_zero(const char* op, const T& v) {
  static const FormulaGraph* const graph = graph_of([](auto x) { return root_or_zero(x); });
  const Argument arguments[] = {Argument(v)};
  return fused_one<T>({op, graph, 0, {}}, arguments);
}

}  // namespace tern::detail
