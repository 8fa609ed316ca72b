// Counts: histograms, and how often each number stands in a list.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backend/recording/capture.hpp"
#include "ops/floating.hpp"
#include "ops/statistics/ranks.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "primitives/fused/operation_widened.hpp"
#include "primitives/scatter/operation.hpp"
#include "tern/creation.hpp"
#include "tern/sets.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace {

void require_countable(const char* op, const Tensor& x) {
  if (x.numel() > kMostPositions)
    throw Error(ErrorKind::shape, std::string(op) + ": i32 cannot count the elements of " + describe(x) +
                                      ", which are more than 2^31-1; take them in parts");
}
/// Where a loop over the elements themselves may take the place of requests.
bool are_at_hand(const Tensor& x) { return in_host_memory(x) && !current_capture(); }
template <class T> void count(const Tensor& positions, std::int32_t* counts) {
  const Tensor line = positions.contiguous();
  const T* const at = line.data_ptr<const T>();
  const std::int64_t n = line.numel();
  for (std::int64_t i = 0; i < n; ++i) ++counts[at[i]];
}
/// How often each of [0, size) is among these positions, none of which is outside.
Tensor counted(const Tensor& positions, std::int64_t size) {
  const Options like{.dtype = DType::i32, .device = positions.device()};
  Tensor counts = zeros({size}, like);
  if (!are_at_hand(positions)) {
    const Tensor at = as_i32("scatter_add", positions.reshape({-1}));
    combine_at("scatter_add", Combine::add, counts, at, ones({1}, like).broadcast_to(at.shape()), 0);
    return counts;
  }
  if (positions.dtype() == DType::i64) count<std::int64_t>(positions, counts.data_ptr<std::int32_t>());
  else count<std::int32_t>(positions, counts.data_ptr<std::int32_t>());
  return counts;
}

/// The sums of the weights of each of [0, size) among these positions.
template <TensorOrVar W> W weighed(const Tensor& positions, const W& weights, std::int64_t size) {
  const Tensor none = zeros({size}, {.dtype = weights.dtype(), .device = weights.device()});
  return scatter_add(none, positions.reshape({-1}), weights.reshape({-1}));
}

using EdgeRange = std::pair<double, double>;

bool is_wide_integer(DType dtype) { return is_integer(dtype) && dtype_size(dtype) >= 4; }

/// Between which edges each x lies; what lies outside is in one more part, number `bins`.
Tensor parts_between(const Tensor& given, const Tensor& edges) {
  const bool widens = is_wide_integer(given.dtype()) && is_floating(edges.dtype());  // f32 does not tell them apart
  const Tensor x = widens ? in_floating(given) : given;
  const std::int64_t bins = edges.numel() - 1;
  const Tensor behind = searchsorted(edges, x, Side::right);
  const Tensor last = x == edges.slice(0, bins).reshape({});
  return where(last, bins - 1, where(behind == 0, bins, minimum(behind - 1, bins)));
}
/// Even edges: where an element would lie if they were exactly so, `bins` outside of them. In a loop of its own, which
/// compilers make vectors of.
template <class T>
void even_parts(const T* value, std::int64_t count, T begin, T end, std::int32_t bins, std::int32_t* to) {
  const T scale = static_cast<T>(bins) / (end - begin), most = static_cast<T>(bins);
  const std::int32_t last = bins - 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const T at = (value[i] - begin) * scale;  // not a number or infinite where the edges hardly differ
    const bool inside = (value[i] >= begin) & (value[i] <= end), early = inside & (at < most);
    const auto part = static_cast<std::int32_t>(early ? at : T(0));
    to[i] = early ? part : inside ? last : bins;
  }
}
/// The same of edges that are equally far from each other, up to rounding: where an element would lie if they were
/// exactly so, or beside that. (A histogram of 65,536 f32 with weights: 273 us by one loop with branches, 158 so.)
template <class T> Tensor parts_evenly(const Tensor& x, const Tensor& edges) {
  const Tensor values = x.contiguous(), line = edges.contiguous();
  const T *const value = std::as_const(values).data_ptr<const T>(), *const edge =
                                                                        std::as_const(line).data_ptr<const T>();
  const auto bins = static_cast<std::int32_t>(edges.numel() - 1);
  Tensor parts = empty(x.shape(), {.dtype = DType::i32, .device = x.device()});
  std::int32_t* const to = parts.data_ptr<std::int32_t>();
  const std::int64_t count = x.numel();
  even_parts(value, count, edge[0], edge[bins], bins, to);
  constexpr T kNone = std::numeric_limits<T>::infinity();
  std::vector<T> from(edge, edge + bins + 1), before(edge + 1, edge + bins + 1);  // what a part's elements are between
  before.push_back(kNone), from.front() = from.back() = -kNone, before.end()[-2] = kNone;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(to[i]);
    if ((value[i] < from[at]) | (value[i] >= before[at])) [[unlikely]] {
      std::int32_t part = to[i];
      while (part > 0 && value[i] < edge[part]) --part;
      while (part + 1 < bins && value[i] >= edge[part + 1]) ++part;
      to[i] = part;
    }
  }
  return parts;
}
/// The same on GPUs: where an element would lie, and then between the edges there, or one further; -1 outside, which
/// counts from the end. (Bisection takes as many passes as the number of edges has bits: of 2^22 between 101 edges it
/// took 223 us by CUDA and 266 by WebGPU.)
Tensor parts_nearby(const Tensor& x, const Tensor& edges) {
  static const FormulaGraph* const near = graph_of([](auto v, auto first, auto last, auto bins) {
    const auto inside = (v >= first) & (v <= last);
    const auto at = (v - first) * (bins / (last - first));
    return cast(where(inside, minimum(at, bins - 1), -1), DType::i32);
  });
  static const FormulaGraph* const exact = graph_of([](auto v, auto part, auto last, auto from, auto to) {
    const auto later = cast((v >= to) & (v < last), DType::i32), earlier = cast(v < from, DType::i32);
    return where(part < 0, part, part + later - earlier);
  });
  const std::int64_t bins = edges.numel() - 1;
  const Tensor first = edges.slice(0, 0, 1).reshape({}), last = edges.slice(0, bins).reshape({});
  const Argument arguments[] = {Argument(x), Argument(first), Argument(last), Argument(bins)};
  const Tensor part = fused_one<Tensor>({"histogram", near, 0, {}}, arguments);
  return formula_at("histogram", exact, std::array{x, part, last}, std::array{edges, edges.slice(0, 1)}, part);
}
/// Whether edges of such a dtype are as far apart as 64 of its numbers there, so that rounding moves no element further
/// than into the next part; and neither so far nor so near that what parts_nearby computes is not finite.
bool are_apart(EdgeRange range, std::int64_t bins, DType dtype) {
  const bool wide = dtype == DType::f64;
  const double largest = std::max(std::abs(range.first), std::abs(range.second));
  const double width = (range.second - range.first) / static_cast<double>(bins);
  return width >= 64 * (wide ? 0x1p-52 : 0x1p-23) * largest && width >= (wide ? 0x1p-1000 : 0x1p-100) &&
         largest <= (wide ? 0x1p1000 : 0x1p100);
}
Tensor parts_of_even(const Tensor& x, const Tensor& edges, EdgeRange range) {
  const DType both = promote_types(x.dtype(), edges.dtype());
  const bool one_type = x.dtype() == edges.dtype() && dtype_size(both) >= 4;
  if (x.numel() > 0 && !in_host_memory(x) && one_type && are_apart(range, edges.numel() - 1, both))
    return parts_nearby(x, edges);
  if (x.device() != cpu() || current_capture() || x.numel() == 0) return parts_between(x, edges);
  if (both == DType::f64) return parts_evenly<double>(x.to(both), edges.to(both));
  return parts_evenly<float>(x.to(DType::f32), edges.to(DType::f32));
}
/// Counts (i32), or sums of weights, over their sum and the width of their part.
template <TensorOrVar T> T density_of(const T& counts, const Tensor& edges, DType dtype) {
  const DType work = dtype == DType::f64 ? DType::f64 : DType::f32;
  const Tensor widths = (edges.slice(0, 1) - edges.slice(0, 0, edges.numel() - 1)).to(work);
  const T wide = counts.to(work);
  return (wide / (sum(wide) * widths)).to(dtype);
}

/// The least and the largest element, in one pass.
template <class T> std::pair<T, T> extremes_of(const char* op, const Tensor& x, DType dtype) {
  static const FormulaGraph* const graph = graph_of([](auto v) { return std::array{min(v), max(v)}; });
  const Tensor line = x.reshape({-1}), both = empty({2}, {.dtype = x.dtype(), .device = x.device()});
  Tensor ends[2];  // written beside each other, so that they are waited for once
  run_fused({op, graph, 1, {}}, std::array{Argument(line)}, std::array{both.slice(0, 0, 1), both.slice(0, 1)}, ends);
  const std::vector<T> values = both.to(cpu()).to(dtype).template to_vector<T>();
  return {values[0], values[1]};
}

EdgeRange range_of(const char* op, const Tensor& x, HistogramRange given) {
  EdgeRange range = given.value_or(EdgeRange{0, 1});
  if (!given && x.numel() > 0) {
    require_values(op);
    range = extremes_of<double>(op, x, DType::f64);
  }
  const auto [begin, end] = range;
  if (!std::isfinite(begin) || !std::isfinite(end) || begin > end)
    throw Error(ErrorKind::value, std::string(op) + ": the range " + (given ? "" : "of the elements ") +
                                      "must be finite and in order, got [" + std::to_string(begin) + ", " +
                                      std::to_string(end) + "]");
  return begin < end ? range : EdgeRange{begin - 0.5, end + 0.5};
}

/// Into which parts the elements fall, and the edges of those.
struct HistogramParts {
  Tensor places, edges;
  std::int64_t count() const { return edges.numel() - 1; }
};
HistogramParts parts_of(const Tensor& x, const Tensor& edges) {
  constexpr const char* op = "histogram";
  require_defined(op, "x", x), require_defined(op, "edges", edges), require_same_device(op, x, edges);
  require_real(op, "x", x), require_real(op, "edges", edges);
  if (edges.dim() != 1 || edges.numel() < 2)
    throw Error(ErrorKind::shape, "histogram: edges must be along one axis, two or more, they are " + describe(edges));
  require_countable(op, x);
  require_in_order(op, "edges", edges, false);
  return {parts_between(x, edges), edges};
}
HistogramParts parts_of(const Tensor& x, std::int64_t bins, HistogramRange range) {
  constexpr const char* op = "histogram";
  require_defined(op, "x", x), require_real(op, "x", x);
  if (bins < 1 || bins >= kMostPositions)
    throw Error(ErrorKind::value, "histogram: bins must be from 1 to 2^31-2, got " + std::to_string(bins));
  require_countable(op, x);
  const EdgeRange between = range_of(op, x, range);
  const bool wide = is_wide_integer(x.dtype()) && x.impl()->storage->backend().supports(DType::f64);
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : wide ? DType::f64 : DType::f32;
  const Tensor edges = linspace(between.first, between.second, bins + 1, {.dtype = dtype, .device = x.device()});
  return {parts_of_even(x, edges, between), edges};
}
Histogram counted(const Tensor& x, const HistogramParts& parts, bool density) {
  // What lies outside is in one part more, the last.
  const Tensor counts = counted(parts.places, parts.count() + 1).slice(0, 0, parts.count());
  if (!density) return {counts.clone(), parts.edges};
  return {density_of(counts, parts.edges, is_floating(x.dtype()) ? x.dtype() : DType::f32), parts.edges};
}
template <TensorOrVar W> void check_weights(const char* op, const Tensor& x, const W& weights) {
  require_defined(op, "x", x), require_defined(op, "weights", value_of(weights));
  require_same_device(op, x, value_of(weights));
  if (weights.shape() != x.shape())
    throw Error(ErrorKind::shape, std::string(op) + ": weights must have x's shape: x is " + describe(x) +
                                      ", weights are " + describe(value_of(weights)));
}
template <TensorOrVar W> HistogramOf<W> weighed(const HistogramParts& parts, bool density, const W& weights) {
  // Densities stay within 16 bits where sums may not.
  const W summed = density ? widened(weights) : weights;
  const W sums = weighed(parts.places, summed, parts.count() + 1).slice(0, 0, parts.count());
  if (!density) return {sums.clone(), parts.edges};
  return {density_of(sums, parts.edges, is_floating(weights.dtype()) ? weights.dtype() : DType::f32), parts.edges};
}

}  // namespace

template <TensorOrVar T> Histogram histogram(const T& x, const Tensor& edges, bool density) {
  return counted(value_of(x), parts_of(value_of(x), edges), density);
}
template <TensorOrVar T> Histogram histogram(const T& x, std::int64_t bins, HistogramRange range, bool density) {
  return counted(value_of(x), parts_of(value_of(x), bins, range), density);
}
template <TensorOrVar T, TensorOrVar W>
HistogramOf<W> histogram(const T& x, const Tensor& edges, bool density, const W& weights) {
  check_weights("histogram", value_of(x), weights);
  return weighed(parts_of(value_of(x), edges), density, weights);
}
template <TensorOrVar T, TensorOrVar W>
HistogramOf<W> histogram(const T& x, std::int64_t bins, HistogramRange range, bool density, const W& weights) {
  check_weights("histogram", value_of(x), weights);
  return weighed(parts_of(value_of(x), bins, range), density, weights);
}

namespace {
/// How many sums there are: one more than the largest element.
std::int64_t checked_size(const char* op, const Tensor& x, std::int64_t minlength) {
  require_defined(op, "x", x);
  require_index_dtype(op, "x", x);
  if (x.dim() != 1) throw Error(ErrorKind::shape, std::string(op) + ": x must have one axis, it is " + describe(x));
  if (minlength < 0)
    throw Error(ErrorKind::value, std::string(op) + ": minlength must be 0 or more, got " + std::to_string(minlength));
  require_countable(op, x);
  if (x.numel() == 0) return minlength;
  require_values(op);
  const auto [least, most] = extremes_of<std::int64_t>(op, x, DType::i64);
  if (least < 0 || most >= kMostPositions)
    throw Error(ErrorKind::index,
                std::string(op) + ": elements must be in [0, 2^31-1), got " + std::to_string(least < 0 ? least : most));
  return std::max(minlength, most + 1);
}
}  // namespace
Tensor bincount(const Tensor& x, std::int64_t minlength) {
  const std::int64_t size = checked_size("bincount", x, minlength);
  return counted(x, size);
}
template <TensorOrVar W> W bincount(const Tensor& x, const W& weights, std::int64_t minlength) {
  check_weights("bincount", x, weights);
  return weighed(x, weights, checked_size("bincount", x, minlength));
}

#define TERN_INSTANCES(T)                                                                              \
  template Histogram histogram(const T&, std::int64_t, HistogramRange, bool);                          \
  template Histogram histogram(const T&, const Tensor&, bool);                                         \
  template HistogramOf<Tensor> histogram(const T&, std::int64_t, HistogramRange, bool, const Tensor&); \
  template HistogramOf<Var> histogram(const T&, std::int64_t, HistogramRange, bool, const Var&);       \
  template HistogramOf<Tensor> histogram(const T&, const Tensor&, bool, const Tensor&);                \
  template HistogramOf<Var> histogram(const T&, const Tensor&, bool, const Var&);                      \
  template T bincount(const Tensor&, const T&, std::int64_t);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace tern
