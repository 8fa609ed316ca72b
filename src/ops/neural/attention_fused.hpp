// Attention by the primitive of its own, where a device has one.
#pragma once
#include "ops/neural/neural.hpp"
#include "primitives/attention/attention.hpp"

namespace tern::detail {

/// One call for the primitive: its sizes, and the formula of its scores with what that reads.
struct FusedAttention {
  AttentionSizes sizes;
  const FormulaGraph *score = nullptr, *mask = nullptr;  // null: none
  PoolVector<Tensor> tensors;  // operands of both formulas, the score's first; undefined: a number
  PoolVector<Number> numbers;  // in their place
  double scale = 1;
  Tensor lengths;  // [batch], i32; or undefined

  /// Whether the device of q has kernels for it, and they take these sizes. `with_gradients`: those will be asked for.
  bool applies(const Tensor& q, bool with_gradients) const;
  /// Whether there is a kernel for its gradients, too.
  bool has_backward(const Tensor& q) const;
  /// The result, [batch, heads, rows, width], and where asked for what is known of each row, [2, batch, heads, rows]:
  /// the greatest score and Σ exp(score - greatest).
  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v, Tensor* rows) const;
  static Tensor logsumexp(const Tensor& rows);
  /// The gradients of q, k and v.
  std::array<Tensor, 3> backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                                 const Tensor& rows, const Tensor& out_grad) const;

 private:
  struct Formula;
};

}  // namespace tern::detail
