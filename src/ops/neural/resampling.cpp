// Resampling to other sizes, and sampling at given places.
#include "ops/neural/resampling.hpp"

#include <algorithm>
#include <cmath>

#include "autodiff/instances.hpp"
#include "primitives/convolution/operations/operation_windows.hpp"
#include "tern/indexing.hpp"

namespace tern {

using namespace detail;

namespace detail {

void Taps::add(std::int64_t place, double weight) {
  place = std::clamp<std::int64_t>(place, 0, from_ - 1);
  std::vector<WeightedTap>& list = lists_.back();
  if (!list.empty() && list.back().place == place) list.back().weight += weight;
  else list.push_back({place, weight});
}
std::size_t Taps::most() const {
  std::size_t most = 0;
  for (const auto& list : lists_) most = std::max(most, list.size());
  return most;
}
std::vector<std::int32_t> Taps::places(std::size_t first, std::size_t count) const {
  std::vector<std::int32_t> places;
  for (const auto& list : lists_)
    for (std::size_t t = first; t < first + count; ++t)
      places.push_back(t < list.size() ? static_cast<std::int32_t>(list[t].place) : 0);
  return places;
}
std::vector<double> Taps::weights(std::size_t first, std::size_t count) const {
  std::vector<double> weights;
  for (const auto& list : lists_)
    for (std::size_t t = first; t < first + count; ++t) weights.push_back(t < list.size() ? list[t].weight : 0);
  return weights;
}

namespace {
constexpr std::size_t kFewTaps = 4;
/// A tap of no weight is not read: 0 times an infinity would be NaN.
constexpr auto tap = [](auto x, auto weight) { return where(weight == 0, 0, x * weight); };
/// Weights are f32 for elements of 16 bits.
Tensor weights_like(const std::vector<double>& of, const Shape& shape, const Tensor& x) {
  return tensor_of(of, shape, x.dtype() == DType::f64 ? DType::f64 : DType::f32, x.device());
}
template <TensorOrVar R> R sum_of_taken(const R& x, int axis, const Taps& taps, std::size_t count) {
  Shape along;
  for (int i = axis; i < x.dim(); ++i) along.push_back(i == axis ? taps.size() : 1);
  const auto place = [&](std::size_t t) {
    return take(x, tensor(taps.places(std::min(t, count - 1), 1), x.device()), axis);
  };
  const auto weight = [&](std::size_t t) { return weights_like(taps.weights(t, 1), along, value_of(x)); };
  static const Pointwise two("interpolate", [](auto a, auto b, auto p, auto q) { return tap(a, p) + tap(b, q); });
  static const Pointwise four("interpolate", [](auto a, auto b, auto c, auto d, auto p, auto q, auto r, auto s) {
    return tap(a, p) + tap(b, q) + tap(c, r) + tap(d, s);
  });
  if (count <= 2) return two(place(0), place(1), weight(0), weight(1));
  return four(place(0), place(1), place(2), place(3), weight(0), weight(1), weight(2), weight(3));
}
/// The elements taken are as many as x has along the axis, and some at edges that windows share.
template <TensorOrVar R> R sum_over_taps(const R& x, int axis, const Taps& taps, std::size_t count) {
  const auto each = static_cast<std::int64_t>(count);
  Shape apart, along{taps.size(), each};
  for (int i = 0; i < x.dim(); ++i) {
    apart.push_back(i == axis ? taps.size() : x.size(i));
    if (i == axis) apart.push_back(each);
    else if (i > axis) along.push_back(1);
  }
  const R taken = take(x, tensor(taps.places(0, count), x.device()), axis).reshape(apart);
  const Tensor weights = weights_like(taps.weights(0, count), along, value_of(x));
  const Argument arguments[] = {Argument(taken), Argument(weights)};
  static const FormulaGraph* const graph = graph_of([](auto a, auto p) { return sum(tap(a, p)); });
  return fused_one<R>({"interpolate", graph, 1u << (axis + 1), {}, {}, true}, arguments);
}
}  // namespace

template <TensorOrVar R> R mixed(const R& x, int axis, const Taps& taps) {
  const std::size_t count = taps.most();
  const R y = count <= kFewTaps ? sum_of_taken(x, axis, taps, std::max<std::size_t>(count, 1))
                                : sum_over_taps(x, axis, taps, count);
  return y.to(x.dtype());
}
template Tensor mixed(const Tensor&, int, const Taps&);
template Var mixed(const Var&, int, const Taps&);

}  // namespace detail

namespace {

/// Keys' cubic kernel.
double cubic(double t, double a) {
  t = std::abs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}
double kernel(Resampling mode, double t, double a) {
  return mode == Resampling::cubic ? cubic(t, a) : std::max(0.0, 1 - std::abs(t));
}
/// Where element i of the result lies among the old ones.
double source(std::int64_t i, std::int64_t from, std::int64_t to, bool align) {
  if (align) return to > 1 ? static_cast<double>(i * (from - 1)) / static_cast<double>(to - 1) : 0;
  return (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
}
/// The window of the kernel, as wide as the image shrinks; its weights add up to 1.
void add_smoothed(Taps& taps, double at, double scale, Resampling mode) {
  const double reach = (mode == Resampling::cubic ? 2 : 1) * scale;
  const auto begin = std::max<std::int64_t>(0, static_cast<std::int64_t>(at + 0.5 - reach + 0.5));
  const auto end = std::min(taps.from(), static_cast<std::int64_t>(at + 0.5 + reach + 0.5));
  double total = 0;
  for (std::int64_t k = begin; k < end; ++k) total += kernel(mode, (static_cast<double>(k) - at) / scale, -0.5);
  for (std::int64_t k = begin; k < end; ++k)
    taps.add(k, kernel(mode, (static_cast<double>(k) - at) / scale, -0.5) / total);
}
Taps taps_of(std::int64_t from, std::int64_t to, const InterpolateOptions& o) {
  Taps taps(from);
  const double scale = std::max(1.0, static_cast<double>(from) / static_cast<double>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    taps.next();
    double at = source(i, from, to, o.align_corners);
    if (o.antialias) {
      add_smoothed(taps, at, scale, o.mode);
      continue;
    }
    if (o.mode == Resampling::linear) at = std::max(at, 0.0);
    const double first = std::floor(at);
    const int before = o.mode == Resampling::cubic ? 1 : 0, after = o.mode == Resampling::cubic ? 2 : 1;
    for (int k = -before; k <= after; ++k)
      taps.add(static_cast<std::int64_t>(first) + k, kernel(o.mode, at - first - k, -0.75));
  }
  return taps;
}
Tensor nearest_places(std::int64_t from, std::int64_t to, Device device) {
  std::vector<std::int32_t> places;
  for (std::int64_t i = 0; i < to; ++i) places.push_back(static_cast<std::int32_t>(i * from / to));
  return tensor(places, device);
}

}  // namespace

template <TensorOrVar T> T interpolate(const T& x, const PerAxis& sizes, const InterpolateOptions& o) {
  constexpr const char* op = "interpolate";
  require_floating(op, "x", value_of(x));
  if (x.dim() < 3 || x.dim() > 5) refuse(op, "x", "[N, C, sizes..] with 1, 2 or 3 sizes", describe(value_of(x)));
  if (o.mode == Resampling::nearest && (o.align_corners || o.antialias))
    refuse(op, "options", "neither .align_corners nor .antialias of the nearest element", "one of them");
  const Windows::Sizes to = per_axis(op, "sizes", sizes, x.dim() - 2, 1);
  T y = x;
  bool copied = false;
  for (int i = 0; i < x.dim() - 2; ++i) {
    const std::int64_t from = x.size(2 + i), count = to[Windows::at(i)];
    if (from < 1 || from > kMostPositions)
      refuse(op, "x", "axes of 1 to 2^31-1 elements", describe(value_of(x)));
    if (from == count) continue;
    y = o.mode == Resampling::nearest ? take(y, nearest_places(from, count, x.device()), 2 + i)
                                      : mixed(y, 2 + i, taps_of(from, count, o));
    copied = true;
  }
  return copied ? y : y.clone();
}
TERN_INSTANCES_1(ResultOf, interpolate, const PerAxis&, const InterpolateOptions&)

namespace {

/// From [-1, 1] to places among `size` elements, with what lies outside brought inside.
template <TensorOrVar R> R places(const R& at, std::int64_t size, const GridSampleOptions& o) {
  const auto n = static_cast<double>(size), low = o.align_corners ? 0.0 : -0.5, span = o.align_corners ? n - 1 : n;
  // Two elements outside is as good as anywhere, and finite.
  static const Pointwise plain("grid_sample", [](auto g, auto scale, auto begin, auto last) {
    return clamp((g + 1) * scale + begin, -2, last + 2);
  });
  static const Pointwise clamped(
      "grid_sample", [](auto g, auto scale, auto begin, auto last) { return clamp((g + 1) * scale + begin, 0, last); });
  static const Pointwise reflected("grid_sample", [](auto g, auto scale, auto begin, auto last, auto length) {
    auto d = abs((g + 1) * scale), m = d - 2 * length * floor(d / (2 * length));
    return clamp(where(m > length, 2 * length - m, m) + begin, 0, last);
  });
  if (o.padding == GridPadding::zeros) return plain(at, span / 2, low, n - 1);
  if (o.padding == GridPadding::border || span == 0) return clamped(at, span / 2, low, n - 1);
  return reflected(at, span / 2, low, n - 1, span);
}
/// The elements dy, dx behind floor(place), 0 where there is none: [N, C, places].
template <TensorOrVar R> R corner(const R& image, const Tensor& x, const Tensor& y, std::array<double, 4> shift) {
  static const Pointwise found("grid_sample", [](auto px, auto py, auto dx, auto dy, auto width, auto height) {
    auto i = floor(px) + dx, j = floor(py) + dy;
    auto inside = (i >= 0) & (i < width) & (j >= 0) & (j < height);
    // The row and the column apart: as one number they need not be exact in f32.
    return std::array{cast(clamp(i, 0, width - 1), DType::i32), cast(clamp(j, 0, height - 1), DType::i32),
                      cast(inside, DType::i32)};
  });
  const auto [dx, dy, width, height] = shift;
  const std::array<Tensor, 3> at = found(x, y, dx, dy, width, height);
  const Tensor position = (at[1] * static_cast<std::int32_t>(width) + at[0]).unsqueeze(1);
  const R taken = take_along_axis(image, position, -1);
  return where(at[2].unsqueeze(1) != 0, taken, 0);
}

}  // namespace

template <TensorOrVar X, TensorOrVar G>
ResultOf<X, G> grid_sample(const X& x, const G& grid, const GridSampleOptions& o) {
  using R = ResultOf<X, G>;
  constexpr const char* op = "grid_sample";
  require_floating(op, "x", value_of(x)), require_floating(op, "grid", value_of(grid));
  require_same_device(op, value_of(x), value_of(grid));
  if (x.dim() != 4) refuse(op, "x", "[N, C, H, W]", describe(value_of(x)));
  if (grid.dim() != 4 || grid.size(0) != x.size(0) || grid.size(3) != 2)
    refuse(op, "grid", "[" + std::to_string(x.size(0)) + ", Ho, Wo, 2]", describe(value_of(grid)));
  if (x.size(2) < 1 || x.size(3) < 1) refuse(op, "x", "images of one element or more", describe(value_of(x)));
  if (o.mode == Resampling::cubic)
    throw Error(ErrorKind::unsupported, std::string(op) + ": mode must be nearest or linear");
  const std::int64_t n = x.size(0), count = grid.size(1) * grid.size(2);
  const R image = operand_as<R>(x).reshape({n, x.size(1), x.size(2) * x.size(3)});
  // Places are taken in f32 where the grid has 16 bits.
  const R wide = dtype_size(grid.dtype()) == 2 ? operand_as<R>(grid).to(DType::f32) : operand_as<R>(grid);
  const R at = wide.reshape({n, count, 2});
  const R px = places(at.slice(-1, 0, 1).squeeze(-1), x.size(3), o),
          py = places(at.slice(-1, 1, 2).squeeze(-1), x.size(2), o);
  const auto width = static_cast<double>(x.size(3)), height = static_cast<double>(x.size(2));
  const Shape shape{n, x.size(1), grid.size(1), grid.size(2)};
  if (o.mode == Resampling::nearest) {
    static const Pointwise rounded("grid_sample", [](auto p) { return round(p); });
    return corner(image, rounded(value_of(px)), rounded(value_of(py)), {0, 0, width, height})
        .to(x.dtype())
        .reshape(shape);
  }
  const auto part = [&](double dx, double dy) {
    return corner(image, value_of(px), value_of(py), {dx, dy, width, height});
  };
  static const Pointwise blended("grid_sample", [](auto a, auto b, auto c, auto d, auto u, auto v) {
    auto s = u - floor(u), t = v - floor(v);
    return (1 - t) * ((1 - s) * a + s * b) + t * ((1 - s) * c + s * d);
  });
  return blended(part(0, 0), part(1, 0), part(0, 1), part(1, 1), px.unsqueeze(1), py.unsqueeze(1))
      .to(x.dtype())
      .reshape(shape);
}
TERN_INSTANCES_2(ResultOf, grid_sample, const GridSampleOptions&)

}  // namespace tern
