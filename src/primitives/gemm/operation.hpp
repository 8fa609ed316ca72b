// One call of the primitive `gemm` as an operation: layouts, batches, epilogue.
#pragma once
#include <span>
#include <vector>

#include "primitives/fused/operation.hpp"

namespace tern::detail {

/// Shapes of a product whose operands are at least 2-D.
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  Shape batch;  // what the operands' batch axes broadcast to
};
/// The dtype that a and b must be converted to before they are multiplied: where they differ within floats or within
/// integers, what promote_types() gives for them. Those of two kinds are product_shape()'s to refuse.
std::optional<DType> product_dtype(const Tensor& a, const Tensor& b);
/// Throws dtype, naming op, where of two operands of a product one is of integers and the other is not. Booleans go
/// with either.
void require_one_kind(const char* op, const Tensor& a, const Tensor& b);
/// Throws shape, dtype or device, naming op and operands.
ProductShape product_shape(const char* op, const Tensor& a, const Tensor& b);

/// epilogue(acc, operands…) of Σ a·b, where batch axes that `batch` lacks (or has with size 1) are summed. Operands
/// broadcast to batch + [m, n]. `into`: existing outputs (undefined: new). `acc_type`: the accumulator's type as the
/// epilogue sees it.
struct ProductCall {
  const char* op = "";
  const FormulaGraph* epilogue = nullptr;  // null: the product itself
  Shape batch;
  std::optional<DType> acc_type;
};
PoolVector<Tensor> run_product(const ProductCall& call, const Tensor& a, const Tensor& b,
                               std::span<const Argument> operands = {}, std::span<const Tensor> into = {});
/// Into a place for each output.
void run_product(const ProductCall& call, const Tensor& a, const Tensor& b, std::span<const Argument> operands,
                 std::span<const Tensor> into, std::span<Tensor> outputs);

/// a·b summed to these batch axes, recorded; its gradients are products of the same kind. `type`: of the result, where
/// that is not the operands' (f32 for those of 16 bits).
Var product(const char* op, const Var& a, const Var& b, const Shape& batch, std::optional<DType> type = {});
/// The gradients of a·b for that of the result: products, summed to the batch axes that a and b have.
struct ProductGradients {
  const char* op;
  Shape a_batch, b_batch;
  Var of_a(const Var& d, const Var& b) const { return product(op, d, b.transpose(-1, -2), a_batch); }
  Var of_b(const Var& d, const Var& a) const { return product(op, a.transpose(-1, -2), d, b_batch); }
};

/// epilogue(a·b, operands…), recorded: inputs of the graph are the accumulator, then the operands (plain numbers too),
/// each broadcasting to batch + [m, n]. Backward is one fused pass for the epilogue, then the products. What that pass
/// reads of the product (the pre-activation, an output, nothing) is found from the graph. `results`: one for each
/// output. `space`: batch + [m, n], of operands that were checked (product_shape).
void product_with_epilogue(const char* op, const FormulaGraph* graph, const Shape& space, const Var& a, const Var& b,
                           std::span<const Argument> operands, std::span<Var> results);

}  // namespace tern::detail
