// Elements combined into places that an index names, as tensors: what scatter_add, scatter_reduce and index_put share.
#pragma once
#include <span>

#include "backend/combine.hpp"
#include "tern/formula.hpp"

namespace tern::detail {

/// take, by another operation's name.
template <TensorOrVar T> T taken(const char* op, const T& x, const Tensor& indices, int axis);
/// A copy of x with `source`, of x's dtype, combined in order with what is there at positions along an axis; `source`
/// and `indices` are checked as scatter_add's.
Tensor scattered(const char* op, Combine how, const Tensor& x, const Tensor& indices, const Tensor& source, int axis);
/// A formula of `arguments`, broadcast to the positions' shape, and then of what each of `lines`, of one axis, has at
/// the positions (i32).
Tensor formula_at(const char* op, const FormulaGraph* graph, std::span<const Tensor> arguments,
                  std::span<const Tensor> lines, const Tensor& positions);
/// Indices that name one place for each element of complex tensors, as those of their parts, seen as pairs.
Tensor for_pairs(const Tensor& indices);
/// Whether `source` is like the result of a take, x's axis replaced by those of the indices.
bool is_take_like(const Tensor& x, const Tensor& indices, const Tensor& source, int axis);
/// Combines `source` with what is at positions (i32) along an axis of x itself, in their order; [.., count, ..] where
/// x is [.., size, ..], of its dtype, which has 4 or 8 bytes. Both may be parts of x's memory.
void combine_at(const char* op, Combine how, const Tensor& x, const Tensor& positions, const Tensor& source, int axis);

}  // namespace tern::detail
