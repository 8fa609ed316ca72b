// Other orders, shapes and views of the elements of a tensor, under the names of the array API standard, NumPy and
// PyTorch.
#pragma once
#include <utility>
#include <vector>

#include "tern/ops.hpp"

namespace tern {

/// The elements in reverse along the axes (default: all): a view.
template <TensorOrVar T> T flip(const T& x, const Axes& axes = {});
/// `length` elements along an axis from `start` on (negative: counted from the end): a view.
template <TensorOrVar T> T narrow(const T& x, int axis, std::int64_t start, std::int64_t length);
/// The axes from `first` to `last`, both included, as one.
template <TensorOrVar T> T flatten(const T& x, int first = 0, int last = -1);
/// All elements along one axis.
template <TensorOrVar T> T ravel(const T& x) { return x.reshape({-1}); }
/// The last two axes exchanged: a view.
template <TensorOrVar T> T matrix_transpose(const T& x) { return x.mT(); }
/// The axes `from` at the places `to`, the others in their order: a view.
template <TensorOrVar T> T moveaxis(const T& x, const Axes& from, const Axes& to);
/// Two axes exchanged: a view.
template <TensorOrVar T> T swapaxes(const T& x, int axis_a, int axis_b) { return x.transpose(axis_a, axis_b); }
/// The elements x[.., i, .., i + offset, ..] of two axes, which are removed, along a new last axis: a view.
template <TensorOrVar T> T diagonal(const T& x, std::int64_t offset = 0, int axis_a = 0, int axis_b = 1);
/// Each broadcast to the shape of them all: views.
template <TensorOrVar T> std::vector<T> broadcast_arrays(const std::vector<T>& list);
/// The entries along an axis, which is removed: views.
template <TensorOrVar T> std::vector<T> unstack(const T& x, int axis = 0);
/// x `times` in a row along its axes, aligned at the last one.
template <TensorOrVar T> T tile(const T& x, const Shape& times);
/// Each element `times` in a row along an axis.
template <TensorOrVar T> T repeat(const T& x, std::int64_t times, int axis);
/// Each entry along an axis as many times in a row as `counts` (i32 or i64, one for each) says; waits for them. A
/// negative one throws `value`.
template <TensorOrVar T> T repeat(const T& x, const Tensor& counts, int axis);
/// The elements moved on by `shift` places along an axis; what leaves at the end comes in at the beginning.
template <TensorOrVar T> T roll(const T& x, std::int64_t shift, int axis);
/// The same along several axes, by one shift for each.
template <TensorOrVar T> T roll(const T& x, const std::vector<std::int64_t>& shifts, const Axes& axes);
/// The same of all elements in row-major order.
template <TensorOrVar T> T roll(const T& x, std::int64_t shift) {
  return roll(x.reshape({-1}), shift, 0).reshape(x.shape());
}
enum class PadMode { constant, edge, reflect, symmetric, wrap };
/// x with {before, after} elements more along each of its last axes, as many as there are pairs: `value`, or (edge) the
/// nearest element, (reflect) those inside without or (symmetric) with it, (wrap) those of the other end.
template <TensorOrVar T>
T pad(const T& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& widths, PadMode mode = PadMode::constant,
      Number value = 0);
/// Turned by `times` quarters from axis `axis_a` towards `axis_b`: a view.
template <TensorOrVar T> T rot90(const T& x, int times = 1, int axis_a = 0, int axis_b = 1);
/// The elements of x, in row-major order, in another shape: element [i, j, ..] is that at offset + i·strides[0] + … x
/// must be contiguous, and what would reach outside its elements throws `shape`. A view, not to be written to where
/// elements are shown twice.
template <TensorOrVar T>
T as_strided(const T& x, const Shape& shape, const Strides& strides, std::int64_t offset = 0);
/// All runs of `window` elements along an axis, which then counts them; the window is a new last axis. A view.
template <TensorOrVar T> T sliding_window_view(const T& x, std::int64_t window, int axis = -1);

}  // namespace tern
