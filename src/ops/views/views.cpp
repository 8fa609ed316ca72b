// Other orders, shapes and views: compositions of slices, permutations and copies.
#include "tern/views.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "autodiff/instances.hpp"
#include "backend/recording/capture.hpp"
#include "formula/extremes.hpp"
#include "primitives/fused/operation.hpp"

namespace tern {

using namespace detail;

namespace {

template <class T> int checked_axis(const char* op, const T& x, std::int64_t axis) {
  require_defined(op, "x", value_of(x));
  return normalize_axis(op, axis, x.dim());
}
/// Two axes that differ.
template <class T> std::pair<int, int> two_axes(const char* op, const T& x, int axis_a, int axis_b) {
  const int a = checked_axis(op, x, axis_a), b = checked_axis(op, x, axis_b);
  if (a == b)
    throw Error(ErrorKind::index, std::string(op) + ": the two axes are the same, " + std::to_string(axis_a) + " and " +
                                      std::to_string(axis_b) + " of " + describe(value_of(x)));
  return {a, b};
}
[[noreturn]] void refuse(const char* op, const std::string& what, const Tensor& x) {
  throw Error(ErrorKind::shape, std::string(op) + ": " + what + "; x is " + describe(x));
}

/// A view of x's storage as make(tensor) gives it. Its gradient is added up where the elements came from: where the
/// same view of their numbers says.
template <class T, class F> T viewed(const char* op, const T& x, F make) {
  if constexpr (std::same_as<T, Tensor>) return make(x);
  else
    return record_one(op, {&x, 1}, make(x.value()), {}, [make, shape = x.shape()](const RuleContext& c) {
      const Var& g = c.grads[0];
      const std::int64_t n = shape.numel();
      const Tensor at = make(arange(0, n, 1, {.dtype = i32, .device = g.device()}).reshape(shape)).reshape({-1});
      const Tensor none = zeros({n}, {.dtype = g.dtype(), .device = g.device()});
      return PoolVector<Var>{scatter_add(none, at, g.reshape({-1})).reshape(shape)};
    });
}

/// A result that is no view, where nothing was changed on the way.
template <TensorOrVar T> T with_own_memory(const T& x, const T& result) {
  return may_share_memory(value_of(x), value_of(result)) ? result.clone() : result;
}
}  // namespace

template <TensorOrVar T> T flip(const T& x, const Axes& axes) {
  require_defined("flip", "x", value_of(x));
  const std::uint32_t mask = axis_mask("flip", axes, x.dim());
  T result = x;
  for (int axis = 0; axis < x.dim(); ++axis)
    if (mask >> axis & 1) result = result.slice(axis, {}, {}, -1);
  return result;
}
TERN_INSTANCES_1(ResultOf, flip, const Axes&)

template <TensorOrVar T> T narrow(const T& x, int axis, std::int64_t start, std::int64_t length) {
  const int a = checked_axis("narrow", x, axis);
  const std::int64_t size = x.size(a), from = start < 0 ? start + size : start;
  if (from < 0 || length < 0 || from > size || length > size - from)
    throw Error(ErrorKind::index, "narrow: " + std::to_string(length) + " elements from " + std::to_string(start) +
                                      " on are out of range for axis " + std::to_string(axis) + " of " +
                                      describe(value_of(x)));
  return x.slice(a, from, from + length);
}
TERN_INSTANCES_1(ResultOf, narrow, int, std::int64_t, std::int64_t)

template <TensorOrVar T> T flatten(const T& x, int first, int last) {
  require_defined("flatten", "x", value_of(x));
  if (x.dim() == 0) return x.reshape({1});
  const int a = checked_axis("flatten", x, first), b = checked_axis("flatten", x, last);
  if (a > b)
    throw Error(ErrorKind::index, "flatten: the first axis, " + std::to_string(first) + ", is behind the last, " +
                                      std::to_string(last) + ", of " + describe(value_of(x)));
  Shape shape;
  std::int64_t size = 1;
  for (int axis = 0; axis < x.dim(); ++axis) {
    if (axis < a || axis > b) shape.push_back(x.size(axis));
    else if (size *= x.size(axis); axis == b) shape.push_back(size);
  }
  return x.reshape(shape);
}
TERN_INSTANCES_1(ResultOf, flatten, int, int)

template <TensorOrVar T> T moveaxis(const T& x, const Axes& from, const Axes& to) {
  require_defined("moveaxis", "x", value_of(x));
  if (from.rank() != to.rank())
    throw Error(ErrorKind::index, "moveaxis: " + std::to_string(from.rank()) + " axes are to go to " +
                                      std::to_string(to.rank()) + " places");
  if (from.empty()) return x;
  const std::uint32_t moved = axis_mask("moveaxis", from, x.dim());
  axis_mask("moveaxis", to, x.dim());
  std::array<int, kMaxRank> at{};
  at.fill(-1);
  for (std::size_t i = 0; i < from.size(); ++i)
    at[static_cast<std::size_t>(normalize_axis("moveaxis", to[i], x.dim()))] =
        normalize_axis("moveaxis", from[i], x.dim());
  Axes order;
  int next = 0;
  for (int axis = 0; axis < x.dim(); ++axis) {
    if (const int given = at[static_cast<std::size_t>(axis)]; given >= 0) order.push_back(given);
    else {
      while (moved >> next & 1) ++next;
      order.push_back(next++);
    }
  }
  return x.permute(order);
}
TERN_INSTANCES_1(ResultOf, moveaxis, const Axes&, const Axes&)

template <TensorOrVar T> T diagonal(const T& x, std::int64_t offset, int axis_a, int axis_b) {
  const auto [a, b] = two_axes("diagonal", x, axis_a, axis_b);
  return viewed("diagonal", x, [a = a, b = b, offset](const Tensor& t) {
    Shape shape;
    Strides strides;
    for (int axis = 0; axis < t.dim(); ++axis)
      if (const auto i = static_cast<std::size_t>(axis); axis != a && axis != b)
        shape.push_back(t.shape()[i]), strides.push_back(t.strides()[i]);
    const std::int64_t rows = t.size(a), columns = t.size(b), at = std::clamp(offset, -rows, columns),
                       below = at < 0 ? -at : 0, right = at > 0 ? at : 0;
    const std::int64_t of_a = t.strides()[static_cast<std::size_t>(a)], of_b = t.strides()[static_cast<std::size_t>(b)];
    shape.push_back(std::max<std::int64_t>(0, std::min(rows - below, columns - right)));
    strides.push_back(of_a + of_b);
    return make_view(t, shape, strides, t.impl()->offset + (shape.back() > 0 ? below * of_a + right * of_b : 0));
  });
}
TERN_INSTANCES_1(ResultOf, diagonal, std::int64_t, int, int)

template <TensorOrVar T> std::vector<T> broadcast_arrays(const std::vector<T>& list) {
  Shape shape;
  constexpr const char* op = "broadcast_arrays";
  for (const T& x : list) shape = broadcast_shapes(op, shape, require_defined(op, "a tensor", value_of(x)).shape());
  std::vector<T> result;
  for (const T& x : list) result.push_back(x.broadcast_to(shape));
  return result;
}
template std::vector<Tensor> broadcast_arrays(const std::vector<Tensor>&);
template std::vector<Var> broadcast_arrays(const std::vector<Var>&);

template <TensorOrVar T> std::vector<T> unstack(const T& x, int axis) {
  const int a = checked_axis("unstack", x, axis);
  std::vector<T> result;
  for (std::int64_t i = 0; i < x.size(a); ++i) result.push_back(a == 0 ? x[i] : x.slice(a, i, i + 1).squeeze(a));
  return result;
}
template std::vector<Tensor> unstack(const Tensor&, int);
template std::vector<Var> unstack(const Var&, int);

namespace {
/// x's axes from `axis` on, `times` times one after the other: one axis of more elements, whatever the rank.
template <TensorOrVar T> T tiled_along(const T& x, int axis, std::int64_t times) {
  std::int64_t before = 1, from = 1;
  for (int i = 0; i < x.dim(); ++i) (i < axis ? before : from) *= x.size(i);
  Shape whole = x.shape();
  whole[static_cast<std::size_t>(axis)] *= times;
  return x.reshape({before, 1, from}).broadcast_to({before, times, from}).reshape(whole);
}
}  // namespace
template <TensorOrVar T> T tile(const T& x, const Shape& times) {
  require_defined("tile", "x", value_of(x));
  const int rank = std::max(x.dim(), times.rank());
  Shape sizes, counts, whole;
  for (int i = 0; i < rank; ++i) {
    const int of_x = i - rank + x.dim(), of_times = i - rank + times.rank();
    const std::int64_t size = of_x < 0 ? 1 : x.size(of_x);
    const std::int64_t n = of_times < 0 ? 1 : times[static_cast<std::size_t>(of_times)];
    if (n < 0) refuse("tile", "a negative number of times, " + to_string(times), value_of(x));
    sizes.push_back(size), counts.push_back(n), whole.push_back(size_times("tile", size, n));
  }
  if (rank + std::count_if(counts.begin(), counts.end(), [](std::int64_t n) { return n != 1; }) > kMaxRank) {
    T y = x.reshape(sizes);
    for (int i = rank; i-- > 0;)
      if (const std::int64_t n = counts[static_cast<std::size_t>(i)]; n != 1) y = tiled_along(y, i, n);
    return with_own_memory(x, y);
  }
  Shape single, spread;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (counts[i] != 1) single.push_back(1), spread.push_back(counts[i]);
    single.push_back(sizes[i]), spread.push_back(sizes[i]);
  }
  return with_own_memory(x, x.reshape(single).broadcast_to(spread).reshape(whole));
}
TERN_INSTANCES_1(ResultOf, tile, const Shape&)

template <TensorOrVar T> T repeat(const T& x, std::int64_t times, int axis) {
  const int a = checked_axis("repeat", x, axis);
  if (times < 0) refuse("repeat", "a negative number of times, " + std::to_string(times), value_of(x));
  const T apart = x.unsqueeze(a + 1);
  Shape spread = apart.shape(), whole = x.shape();
  spread[static_cast<std::size_t>(a + 1)] = times;
  whole[static_cast<std::size_t>(a)] = size_times("repeat", x.size(a), times);
  return with_own_memory(x, apart.broadcast_to(spread).reshape(whole));
}
TERN_INSTANCES_1(ResultOf, repeat, std::int64_t, int)

template <TensorOrVar T> T repeat(const T& x, const Tensor& counts, int axis) {
  constexpr const char* op = "repeat";
  const int a = checked_axis(op, x, axis);
  require_index_dtype(op, "counts", require_defined(op, "counts", counts));
  if (counts.dim() != 1 || counts.size(0) != x.size(a))
    refuse(op, "counts must be one for each entry of axis " + std::to_string(axis) + ", they are " + describe(counts),
           value_of(x));
  require_values(op);
  const std::vector<std::int64_t> times = counts.to(cpu()).to(DType::i64).to_vector<std::int64_t>();
  std::int64_t whole = 0;
  for (const std::int64_t n : times) {
    if (n < 0) throw Error(ErrorKind::value, "repeat: counts must be 0 or more, got " + std::to_string(n));
    whole = size_plus(op, whole, n);
  }
  if (whole > kMostPositions) refuse(op, "positions are i32, and the counts have a sum above 2^31-1", value_of(x));
  std::vector<std::int32_t> places;
  places.reserve(static_cast<std::size_t>(whole));
  for (std::size_t i = 0; i < times.size(); ++i)
    places.insert(places.end(), static_cast<std::size_t>(times[i]), static_cast<std::int32_t>(i));
  return take(x, tensor(places, x.device()), a);
}
TERN_INSTANCES_1(ResultOf, repeat, const Tensor&, int)

template <TensorOrVar T> T roll(const T& x, std::int64_t shift, int axis) {
  const int a = checked_axis("roll", x, axis);
  const std::int64_t size = x.size(a);
  const std::int64_t by = size > 0 ? (shift % size + size) % size : 0;
  if (by == 0) return x.clone();
  return concatenate(std::vector<T>{x.slice(a, size - by), x.slice(a, 0, size - by)}, a);
}
TERN_INSTANCES_1(ResultOf, roll, std::int64_t, int)
template <TensorOrVar T> T roll(const T& x, const std::vector<std::int64_t>& shifts, const Axes& axes) {
  require_defined("roll", "x", value_of(x));
  if (shifts.size() != axes.size())
    refuse("roll", std::to_string(shifts.size()) + " shifts for axes " + to_string(axes), value_of(x));
  T result = x;
  for (std::size_t i = 0; i < shifts.size(); ++i) result = roll(result, shifts[i], static_cast<int>(axes[i]));
  return with_own_memory(x, result);
}
TERN_INSTANCES_1(ResultOf, roll, const std::vector<std::int64_t>&, const Axes&)

namespace {
/// The element inside [0, size) that stands at place i of the padded axis.
std::int64_t reflected(std::int64_t i, std::int64_t size, PadMode mode) {
  switch (mode) {
    case PadMode::wrap: return (i % size + size) % size;
    case PadMode::symmetric: {
      const std::int64_t at = (i % (2 * size) + 2 * size) % (2 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case PadMode::reflect: {
      if (size == 1) return 0;
      const std::int64_t period = 2 * size - 2, at = (i % period + period) % period;
      return at < size ? at : period - at;
    }
    default: return std::clamp<std::int64_t>(i, 0, size - 1);
  }
}
template <class T> T padded(const T& x, int axis, std::int64_t before, std::int64_t after, PadMode mode, Number value) {
  const std::int64_t size = x.size(axis);
  const Device device = x.device();
  if (mode == PadMode::constant) {
    std::vector<T> parts{x};
    const auto more = [&](std::int64_t count) {
      Shape shape = x.shape();
      shape[static_cast<std::size_t>(axis)] = count;
      const Tensor part = full({}, value, {.dtype = x.dtype(), .device = device}).broadcast_to(shape);
      if constexpr (std::same_as<T, Var>) return constant(part);
      else return part;
    };
    if (before > 0) parts.insert(parts.begin(), more(before));
    if (after > 0) parts.push_back(more(after));
    return concatenate(parts, axis);
  }
  if (size == 0) refuse("pad", "axis " + std::to_string(axis) + " has no element to take others from", value_of(x));
  if (before + size + after > kMostPositions)
    refuse("pad", "positions are i32, and axis " + std::to_string(axis) + " would have more than 2^31-1 elements",
           value_of(x));
  std::vector<std::int32_t> places;
  for (std::int64_t i = -before; i < size + after; ++i)
    places.push_back(static_cast<std::int32_t>(reflected(i, size, mode)));
  return take(x, tensor(places, device), axis);
}
std::size_t padded_axes(std::span<const std::pair<std::int64_t, std::int64_t>> widths) {
  return static_cast<std::size_t>(std::ranges::count_if(widths, [](const auto& w) { return w.first + w.second > 0; }));
}
/// Along several axes: x into the middle of what is `value` throughout, as joining parts along one axis after the other
/// copies x for each (8192 images of 5x7 f32 by two axes, Emerald Rapids, one thread: 505 and 260 us).
Tensor framed(const Tensor& x, const Shape& whole, std::span<const std::pair<std::int64_t, std::int64_t>> widths,
              Number value) {
  const Tensor result = full(whole, value, {.dtype = x.dtype(), .device = x.device()});
  Tensor middle = result;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const int axis = x.dim() - static_cast<int>(widths.size() - i);
    middle = middle.slice(axis, widths[i].first, widths[i].first + x.size(axis));
  }
  middle.copy_from(x);
  return result;
}
}  // namespace
template <TensorOrVar T>
T pad(const T& x, const std::vector<std::pair<std::int64_t, std::int64_t>>& widths, PadMode mode, Number value) {
  require_defined("pad", "x", value_of(x));
  const int count = static_cast<int>(widths.size());
  if (widths.size() > x.shape().size())
    refuse("pad", std::to_string(widths.size()) + " pairs of widths are more than axes", value_of(x));
  for (const auto& [before, after] : widths)
    if (before < 0 || after < 0)
      refuse("pad", "negative widths, {" + std::to_string(before) + ", " + std::to_string(after) + "}", value_of(x));
  Shape whole = x.shape();
  for (int i = 0; i < count; ++i) {
    const auto [before, after] = widths[static_cast<std::size_t>(i)];
    std::int64_t& size = whole[static_cast<std::size_t>(x.dim() - count + i)];
    size = size_plus("pad", size, size_plus("pad", before, after));
  }
  whole.numel();  // throws
  if constexpr (std::same_as<T, Tensor>)
    if (mode == PadMode::constant && padded_axes(widths) > 1) return framed(x, whole, widths, value);
  T result = x;
  for (int i = 0; i < count; ++i)
    if (const auto [before, after] = widths[static_cast<std::size_t>(i)]; before + after > 0)
      result = padded(result, x.dim() - count + i, before, after, mode, value);
  return with_own_memory(x, result);
}
template Tensor pad(const Tensor&, const std::vector<std::pair<std::int64_t, std::int64_t>>&, PadMode, Number);
template Var pad(const Var&, const std::vector<std::pair<std::int64_t, std::int64_t>>&, PadMode, Number);

template <TensorOrVar T> T rot90(const T& x, int times, int axis_a, int axis_b) {
  const auto [a, b] = two_axes("rot90", x, axis_a, axis_b);
  switch ((times % 4 + 4) % 4) {
    case 1: return flip(x, {b}).transpose(a, b);
    case 2: return flip(x, {a, b});
    case 3: return flip(x, {a}).transpose(a, b);
    default: return x;
  }
}
TERN_INSTANCES_1(ResultOf, rot90, int, int, int)

template <TensorOrVar T> T as_strided(const T& x, const Shape& shape, const Strides& strides, std::int64_t offset) {
  require_defined("as_strided", "x", value_of(x));
  if (shape.rank() != strides.rank())
    refuse("as_strided", "shape " + to_string(shape) + " and strides " + to_string(strides) + " differ in length",
           value_of(x));
  if (!x.is_contiguous()) refuse("as_strided", "x must be contiguous (use .contiguous())", value_of(x));
  __int128 low = offset, high = offset;
  for (std::size_t i = 0; i < shape.size(); ++i)
    (strides[i] < 0 ? low : high) += __int128{strides[i]} * std::max<std::int64_t>(shape[i] - 1, 0);
  if (shape.numel() > 0 && (low < 0 || high >= x.numel()))
    refuse("as_strided",
           "shape " + to_string(shape) + " with strides " + to_string(strides) + " from " + std::to_string(offset) +
               " on reaches outside the elements",
           value_of(x));
  return viewed("as_strided", x,
                [=](const Tensor& t) { return make_view(t, shape, strides, t.impl()->offset + offset); });
}
TERN_INSTANCES_1(ResultOf, as_strided, const Shape&, const Strides&, std::int64_t)

template <TensorOrVar T> T sliding_window_view(const T& x, std::int64_t window, int axis) {
  const int a = checked_axis("sliding_window_view", x, axis);
  if (window < 1 || window > x.size(a))
    refuse("sliding_window_view",
           "a window of " + std::to_string(window) + " does not fit axis " + std::to_string(axis), value_of(x));
  return viewed("sliding_window_view", x, [a, window](const Tensor& t) {
    Shape shape = t.shape();
    Strides strides = t.strides();
    const auto at = static_cast<std::size_t>(a);
    shape[at] -= window - 1, shape.push_back(window), strides.push_back(strides[at]);
    return make_view(t, shape, strides, t.impl()->offset);
  });
}
TERN_INSTANCES_1(ResultOf, sliding_window_view, std::int64_t, int)

}  // namespace tern
