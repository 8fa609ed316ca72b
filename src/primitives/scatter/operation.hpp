// Elements combined into places that an index names, as tensors: what scatter_add, scatter_reduce and index_put share.
#pragma once
#include "backend/combine.hpp"
#include "tern/formula.hpp"

namespace tern::detail {

/// take, by another operation's name.
template <TensorOrVar T> T taken(const char* op, const T& x, const Tensor& indices, int axis);
/// A copy of x with `source`, of x's dtype, combined in order with what is there at positions along an axis; `source`
/// and `indices` are checked as scatter_add's.
Tensor scattered(const char* op, Combine how, const Tensor& x, const Tensor& indices, const Tensor& source, int axis);
/// Indices that name one place for each element of complex tensors, as those of their parts, seen as pairs.
Tensor for_pairs(const Tensor& indices);
/// Whether `source` is like the result of a take, x's axis replaced by those of the indices.
bool is_take_like(const Tensor& x, const Tensor& indices, const Tensor& source, int axis);
/// Writes `source` to positions (i32) along an axis of x itself, of places named twice the last; [.., count, ..] where
/// x is [.., size, ..], of its dtype, which has 4 or 8 bytes. Both may be parts of x's memory.
void write_at(const char* op, const Tensor& x, const Tensor& positions, const Tensor& source, int axis);

}  // namespace tern::detail
