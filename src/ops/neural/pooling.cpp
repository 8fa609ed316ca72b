// Pooling, unfold and fold: reductions over windows, which are views.
#include <algorithm>

#include "autodiff/instances.hpp"
#include "ops/neural/resampling.hpp"
#include "primitives/convolution/operations/operation_windows.hpp"
#include "tern/views.hpp"

namespace tern {

using namespace detail;

namespace {

void check_image(const char* op, const Tensor& x) {
  require_floating(op, "x", x);
  if (x.dim() < 3 || x.dim() > 5) refuse(op, "x", "[N, C, sizes..] with 1, 2 or 3 sizes", describe(x));
}
Windows windows(const char* op, const Tensor& x, const PerAxis& kernel, const PerAxis& stride, const PerAxis& padding,
                const PerAxis& dilation) {
  const int axes = x.dim() - 2;
  Windows w{.op = op, .axes = axes};
  w.kernel = per_axis(op, "kernel", kernel, axes, 1), w.stride = per_axis(op, "stride", stride, axes, 1);
  w.padding = per_axis(op, "padding", padding, axes, 0), w.dilation = per_axis(op, "dilation", dilation, axes, 1);
  for (int i = 0; i < axes; ++i) w.in[w.at(i)] = x.size(2 + i);
  count_windows(w, x);
  return w;
}
Windows pooled(const char* op, const Tensor& x, const PerAxis& kernel, const PoolOptions& o) {
  check_image(op, x);
  const Windows w = windows(op, x, kernel, o.stride.empty() ? kernel : o.stride, o.padding, o.dilation);
  for (int i = 0; i < w.axes; ++i)
    if (w.padding[w.at(i)] > w.kernel[w.at(i)] / 2)
      refuse(op, "padding", "at most half of the kernel, " + to_string(kernel), to_string(o.padding));
  return w;
}
Axes window_axes(int axes) {
  Axes list;
  for (int i = 0; i < axes; ++i) list.push_back(2 + axes + i);
  return list;
}
/// One over how many elements of x each window has, [out..].
Tensor shares(const Windows& w, const Tensor& like) {
  Tensor of = ones({}, {.dtype = DType::f32, .device = like.device()});
  for (int i = 0; i < w.axes; ++i) {
    const std::size_t at = w.at(i);
    std::vector<float> share;
    for (std::int64_t o = 0; o < w.out[at]; ++o) {
      std::int64_t inside = 0;
      for (std::int64_t k = 0; k < w.kernel[at]; ++k) {
        const std::int64_t place = o * w.stride[at] + k * w.dilation[at] - w.padding[at];
        inside += place >= 0 && place < w.in[at];
      }
      share.push_back(static_cast<float>(inside));
    }
    of = of.unsqueeze(-1) * tensor(share, like.device());
  }
  return 1 / of.to(like.dtype() == DType::f64 ? DType::f64 : DType::f32);
}

}  // namespace

template <TensorOrVar T> T max_pool(const T& x, const PerAxis& kernel, const PoolOptions& options) {
  const Windows w = pooled("max_pool", value_of(x), kernel, options);
  return max(windows_of(padded(x, w, -std::numeric_limits<double>::infinity()), w), window_axes(w.axes));
}
template <TensorOrVar T> T avg_pool(const T& x, const PerAxis& kernel, const PoolOptions& options) {
  const Windows w = pooled("avg_pool", value_of(x), kernel, options);
  const T all = windows_of(padded(x, w, 0), w);
  if (options.count_padding) return mean(all, window_axes(w.axes));
  const bool narrow = dtype_size(x.dtype()) == 2;
  return (sum(narrow ? all.to(DType::f32) : all, window_axes(w.axes)) * shares(w, value_of(x))).to(x.dtype());
}
namespace {
/// The means of `count` equal parts of an axis.
template <TensorOrVar T> T means_of_parts(const T& x, int axis, std::int64_t count) {
  Shape parts;
  for (int i = 0; i < x.dim(); ++i) {
    parts.push_back(i == axis ? count : x.size(i));
    if (i == axis) parts.push_back(x.size(i) / count);
  }
  return mean(x.reshape(parts), {axis + 1});
}
/// Where part `of` of `count` of an axis begins and ends.
std::pair<std::int64_t, std::int64_t> part_of(std::int64_t of, std::int64_t from, std::int64_t count) {
  return {of * from / count, ((of + 1) * from + count - 1) / count};
}
/// Few and long windows are reduced one by one: as taps, each element's place and weight would be written to tensors.
constexpr std::int64_t kFewWindows = 16, kLongWindow = 64;
template <TensorOrVar T> T means_of_windows(const T& x, int axis, std::int64_t count) {
  const std::int64_t from = x.size(axis);
  if (count <= kFewWindows && from / count >= kLongWindow) {
    std::vector<T> means;
    for (std::int64_t o = 0; o < count; ++o) {
      const auto [begin, end] = part_of(o, from, count);
      means.push_back(mean(x.slice(axis, begin, end), {axis}, true));
    }
    return concatenate(means, axis);
  }
  Taps taps(from);
  for (std::int64_t o = 0; o < count; ++o) {
    const auto [begin, end] = part_of(o, from, count);
    taps.next();
    for (std::int64_t k = begin; k < end; ++k) taps.add(k, 1 / static_cast<double>(end - begin));
  }
  return mixed(x, axis, taps);
}
}  // namespace
template <TensorOrVar T> T adaptive_avg_pool(const T& x, const PerAxis& sizes) {
  constexpr const char* op = "adaptive_avg_pool";
  check_image(op, value_of(x));
  const int axes = x.dim() - 2;
  const Windows::Sizes to = per_axis(op, "sizes", sizes, axes, 1);
  std::vector<int> order;
  for (int i = 0; i < axes; ++i) {
    if (x.size(2 + i) < 1 || x.size(2 + i) > kMostPositions)
      refuse(op, "x", "axes of 1 to 2^31-1 elements", describe(value_of(x)));
    order.push_back(i);
  }
  // The axis that shrinks most is the first: the others then have less to read.
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return x.size(2 + a) / to[Windows::at(a)] > x.size(2 + b) / to[Windows::at(b)];
  });
  T y = x;
  for (const int i : order) {
    const std::int64_t from = x.size(2 + i), count = to[Windows::at(i)];
    // Where they divide the axis, windows lie side by side and have one size.
    y = from % count == 0 ? means_of_parts(y, 2 + i, count) : means_of_windows(y, 2 + i, count);
  }
  return y;
}

template <TensorOrVar T> T unfold(const T& x, const PerAxis& kernel, const WindowOptions& o) {
  constexpr const char* op = "unfold";
  check_image(op, value_of(x));
  const Windows w = windows(op, value_of(x), kernel, o.stride, o.padding, o.dilation);
  const T all = windows_of(padded(x, w, 0), w);
  Axes order{0, 1};
  for (int i = 0; i < w.axes; ++i) order.push_back(2 + w.axes + i);
  std::int64_t count = 1;
  for (int i = 0; i < w.axes; ++i) order.push_back(2 + i), count *= w.out[w.at(i)];
  // A copy always: of one channel, and of windows of one element, it would be a view of x.
  return all.permute(order).clone().reshape({x.size(0), x.size(1) * w.elements(), count});
}
template <TensorOrVar T> T fold(const T& columns, const PerAxis& sizes, const PerAxis& kernel, const WindowOptions& o) {
  constexpr const char* op = "fold";
  require_floating(op, "columns", value_of(columns));
  const int axes = std::max(sizes.rank(), kernel.rank());
  if (axes < 1 || axes > 3 || columns.dim() != 3)
    refuse(op, "columns", "[N, C·kernel elements, windows]", describe(value_of(columns)));
  Windows w{.op = op, .axes = axes};
  w.in = per_axis(op, "sizes", sizes, axes, 1), w.kernel = per_axis(op, "kernel", kernel, axes, 1);
  w.stride = per_axis(op, "stride", o.stride, axes, 1), w.padding = per_axis(op, "padding", o.padding, axes, 0);
  w.dilation = per_axis(op, "dilation", o.dilation, axes, 1);
  count_windows(w, value_of(columns));
  std::int64_t count = 1;
  for (int i = 0; i < axes; ++i) count *= w.out[w.at(i)];
  if (columns.size(1) % w.elements() != 0 || columns.size(2) != count)
    refuse(op, "columns", "[N, C·" + std::to_string(w.elements()) + ", " + std::to_string(count) + "]",
           describe(value_of(columns)));
  Shape apart{columns.size(0), columns.size(1) / w.elements()};
  Axes order{0, 1};
  for (int i = 0; i < axes; ++i) apart.push_back(w.kernel[w.at(i)]), order.push_back(2 + axes + i);
  for (int i = 0; i < axes; ++i) apart.push_back(w.out[w.at(i)]), order.push_back(2 + i);
  T y = overlapped(columns.reshape(apart).permute(order), w);
  for (int i = 0; i < axes; ++i)
    if (const std::int64_t edge = w.padding[w.at(i)]; edge > 0) y = y.slice(2 + i, edge, edge + w.in[w.at(i)]);
  return y;
}

TERN_INSTANCES_1(ResultOf, max_pool, const PerAxis&, const PoolOptions&)
TERN_INSTANCES_1(ResultOf, avg_pool, const PerAxis&, const PoolOptions&)
TERN_INSTANCES_1(ResultOf, adaptive_avg_pool, const PerAxis&)
TERN_INSTANCES_1(ResultOf, unfold, const PerAxis&, const WindowOptions&)
TERN_INSTANCES_1(ResultOf, fold, const PerAxis&, const PerAxis&, const WindowOptions&)

}  // namespace tern
