// Attention by the primitive of its own, where a device has one.
#pragma once
#include "primitives/attention/attention.hpp"
#include "primitives/attention/operations/operation_graphs.hpp"

namespace tern::detail {

/// One call for the primitive: its sizes, and the formula of its scores with what that reads.
struct FusedAttention {
  AttentionSizes sizes = {};
  AttentionFormulas formulas = {};
  PoolVector<Tensor> tensors = {};  // operands of the formulas; undefined: a number
  PoolVector<Number> numbers = {};  // in their place
  double scale = 1;
  Tensor lengths = {};  // [batch], i32; or undefined
  Tensor blocks = {};   // of a mask; or undefined

  /// Whether the device of q has kernels for it, and they take these sizes. `with_gradients`: those will be asked for.
  bool applies(const Tensor& q, bool with_gradients) const;
  /// Whether there is a kernel for its gradients, too.
  bool has_backward(const Tensor& q) const;
  /// The result, [batch, heads, rows, width], and where asked for what is known of each row, [2, batch, heads, rows]:
  /// the greatest score and Σ exp(score - greatest).
  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v, Tensor* rows) const;
  /// The same where no gradients will be asked for: few rows share keys, and long columns are divided.
  Tensor alone(const Tensor& q, const Tensor& k, const Tensor& v, Tensor* rows) const;
  static Tensor logsumexp(const Tensor& rows);
  /// The gradients of q, k and v.
  std::array<Tensor, 3> backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                                 const Tensor& rows, const Tensor& out_grad) const;

 private:
  struct Formula;
  FusedAttention with_heads_as_rows() const;
  Tensor of_keys(const Tensor& weights, const Tensor& of, double factor) const;
};

}  // namespace tern::detail
