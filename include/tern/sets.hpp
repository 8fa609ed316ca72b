// Order, search in what is ordered, sets of elements, and what elements of one place are combined to.
#pragma once
#include "tern/ops.hpp"

namespace tern {

/// The positions (i32) of the elements in order along an axis: sort's indices.
template <TensorOrVar T> Tensor argsort(const T& x, int axis = -1, bool descending = false);
/// The k-th smallest element along an axis, counted from 1, and its position (i32). A k that is not there throws
/// `index`.
template <TensorOrVar T> Sorted<T> kthvalue(const T& x, std::int64_t k, int axis = -1, KeepDim keepdim = false);

enum class Side { left, right };
/// Where each value would be inserted into what is sorted in increasing order (i32): in front of elements that are
/// equal to it, or (right) behind them. NaN is larger than everything. `sorted` is [N], with values of any shape, or
/// [.., N], with values [.., M] of the same other axes. `sorter`: the positions that put it in order, as argsort gives
/// them.
template <TensorOrVar S, TensorOrVar V>
Tensor searchsorted(const S& sorted, const V& values, Side side = Side::left, const Tensor& sorter = {});
/// The number i of the part of each x (i32): bins[i - 1] ≤ x < bins[i], with `right` bins[i - 1] < x ≤ bins[i]; where
/// the bins decrease, bins[i - 1] > x ≥ bins[i], with `right` bins[i - 1] ≥ x > bins[i]. Bins in no order throw `value`
/// on the CPU; on GPUs, and in replays, they are not looked through.
template <TensorOrVar X, TensorOrVar B> Tensor digitize(const X& x, const B& bins, bool right = false);

template <class T> struct Unique {
  T values;
  Tensor indices;          // i32: where each stands first, among all elements in row-major order
  Tensor inverse_indices;  // i32, of x's shape: which of the values each element is
  Tensor counts;           // i32
};
/// The different elements in order, along one axis, with where they stand and how often. Each NaN is one of its own; -0
/// and 0 are one. Waits for the count, so that a recording refuses it (`unsupported`).
template <TensorOrVar T> Unique<T> unique_all(const T& x);
/// The different elements in order; otherwise like unique_all.
template <TensorOrVar T> T unique_values(const T& x);
/// The different elements and how often each stands there: without indices.
template <TensorOrVar T> Unique<T> unique_counts(const T& x);
/// The different elements and which of them each element is: without indices and counts.
template <TensorOrVar T> Unique<T> unique_inverse(const T& x);
/// Whether each element of x is one of these (`invert`: none); NaN is not.
template <TensorOrVar X, TensorOrVar E> Tensor isin(const X& x, const E& elements, bool invert = false);

enum class Reduce { add, multiply, minimum, maximum, mean, set };
/// A copy of x with `source` combined with what is there at positions along an axis, as scatter_add lays it out: with
/// x's own elements the sums, products, extremes or means, or (set) in place of them, of places named twice the last.
/// The same bits every time. The gradient goes to the elements that were chosen: of equal extremes x's own, then the
/// first. Without `include_self` x's own elements count only where no source goes, and get gradients only there. `mean`
/// of integers and extremes of complex numbers throw `dtype`.
template <TensorOrVar X, TensorOrVar S>
ResultOf<X, S> scatter_reduce(const X& x, const Tensor& indices, const S& source, Reduce how, int axis = 0,
                              bool include_self = true);

}  // namespace tern
