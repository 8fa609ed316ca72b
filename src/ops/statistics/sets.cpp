// Order, search by bisection, and sets of elements by sort and running sums.
#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autodiff/instances.hpp"
#include "backend/instruments/trace.hpp"
#include "backend/recording/capture.hpp"
#include "ops/statistics/ranks.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "primitives/sort/operation.hpp"
#include "tern/creation.hpp"
#include "tern/indexing.hpp"
#include "tern/sets.hpp"

namespace tern {

using namespace detail;

namespace {
template <class, class> using TensorOfTwo = Tensor;
}  // namespace

template <TensorOrVar T> Sorted<T> kthvalue(const T& x, std::int64_t k, int axis, KeepDim keepdim) {
  require_defined("kthvalue", "x", value_of(x)), require_real("kthvalue", "x", value_of(x));
  const int a = normalize_axis("kthvalue", axis, x.dim());
  if (k < 1 || k > x.size(a))
    throw Error(ErrorKind::index, "kthvalue: k = " + std::to_string(k) + " is not in 1, …, " +
                                      std::to_string(x.size(a)) + ", the size of axis " + std::to_string(axis) +
                                      " of " + describe(value_of(x)));
  const Sorted<Tensor> first = topk(value_of(x), k, a, false);
  const Tensor at = first.indices.slice(a, k - 1, k);
  const T values = gather(x, at, a);
  if (keepdim) return {values, at};
  return {values.squeeze(a), at.squeeze(a)};
}

// ---- search ----
namespace {
/// Whether an element stands in front of where a value is inserted; NaN is the largest.
Expr is_before(Expr element, Expr value, Side side) {
  const Expr none = element != element, not_a_value = value != value;
  if (side == Side::left) return (element < value) | (not_a_value & ~none);
  return (element <= value) | not_a_value;
}
/// A step of bisection: where it stands then, and which element is looked at next.
template <Side side> const FormulaGraph* step_graph() {
  return graph_of([](auto low, auto element, auto value, auto step, auto n, auto next) {
    const auto reach = low + step;
    const auto passed = where((reach <= n) & is_before(element, value, side), reach, low);
    return std::array{passed, minimum(passed + next, n) - 1};
  });
}
/// Where the values of a line stand among n elements: several at once, so that their loads do not wait for each other.
template <class T, class F>
void search_line(const T* line, std::int64_t n, const T* values, std::int64_t count, std::int32_t* to, F is_before) {
  constexpr std::int64_t kAtOnce = 16;
  for (std::int64_t begin = 0; begin < count; begin += kAtOnce) {
    const std::int64_t some = std::min(kAtOnce, count - begin);
    std::int64_t low[kAtOnce] = {};
    // The first of the `left` elements from `low` on that is not before the value is looked for.
    for (std::int64_t left = n, half = 0; left > 0; left -= half) {
      half = (left + 1) / 2;
      for (std::int64_t k = 0; k < some; ++k)
        low[k] += half & -static_cast<std::int64_t>(is_before(line[low[k] + half - 1], values[begin + k]));
    }
    for (std::int64_t k = 0; k < some; ++k) to[begin + k] = static_cast<std::int32_t>(low[k]);
  }
}
/// Whether values are in ascending order, NaN last.
template <class T> bool ascend(const T* values, std::int64_t count) {
  constexpr std::int64_t kAtOnce = 64;
  for (std::int64_t begin = 0; begin + 1 < count; begin += kAtOnce) {
    bool ordered = true;
    for (std::int64_t i = begin; i < std::min(begin + kAtOnce, count - 1); ++i)
      ordered &= (values[i] <= values[i + 1]) | (values[i + 1] != values[i + 1]);
    if (!ordered) return false;
  }
  return true;
}
/// search_line of values in ascending order, at least four: they and the line are passed through together, in several
/// parts at once, as in search_line. (1000 values among 1000: 0.3 of search_line's time.)
template <class T, class F>
void merge_line(const T* line, std::int64_t n, const T* values, std::int64_t count, std::int32_t* to, F is_before) {
  constexpr int kParts = 4;
  std::int64_t at[kParts], value[kParts], end[kParts];
  const auto step = [&](int p) {
    to[value[p]] = static_cast<std::int32_t>(at[p]);
    const bool passes = is_before(line[at[p]], values[value[p]]);
    at[p] += passes, value[p] += !passes;
  };
  const auto goes_on = [&](int p) { return (at[p] < n) & (value[p] < end[p]); };
  bool all = true;
  for (int p = 0; p < kParts; ++p) {
    std::int32_t first = 0;
    value[p] = count * p / kParts, end[p] = count * (p + 1) / kParts;
    search_line(line, n, values + value[p], 1, &first, is_before);
    at[p] = first, all &= goes_on(p);
  }
  while (all) {
    for (int p = 0; p < kParts; ++p) step(p);
    for (int p = 0; p < kParts; ++p) all &= goes_on(p);
  }
  for (int p = 0; p < kParts; ++p) {
    while (goes_on(p)) step(p);
    std::fill(to + value[p], to + end[p], static_cast<std::int32_t>(n));
  }
}
/// Of a line of so many elements for each value, one pass over both costs what bisection does; nor is it worth it for
/// few values.
constexpr std::int64_t kMerged = 8, kFewestMerged = 64;
/// On the CPU a loop costs less than the passes over all values.
template <class T> Tensor searched_in_memory(const Tensor& sorted, const Tensor& values, Side side) {
  const std::int64_t n = sorted.size(-1), lines = sorted.numel() / n, count = values.numel() / lines;
  const Tensor in_order = sorted.contiguous(), wanted = values.contiguous();
  Tensor result = empty(values.shape(), {.dtype = DType::i32, .device = values.device()});
  const T *line = in_order.data_ptr<const T>(), *value = wanted.data_ptr<const T>();
  std::int32_t* const to = result.data_ptr<std::int32_t>();
  for (std::int64_t i = 0; i < lines; ++i) {
    const auto search = [&](auto is_before) {
      const T* const wanted_here = value + i * count;
      const bool merges = count >= kFewestMerged && n <= kMerged * count && ascend(wanted_here, count);
      (merges ? merge_line<T, decltype(is_before)>
             : search_line<T, decltype(is_before)>)(line + i * n, n, wanted_here, count, to + i * count, is_before);
    };
    if (side == Side::left) search([](T e, T v) { return (e < v) | ((v != v) & (e == e)); });
    else search([](T e, T v) { return (e <= v) | (v != v); });
  }
  return result;
}
Tensor searched_in_memory(const Tensor& sorted, const Tensor& values, Side side) {
  const DType both = promote_types(sorted.dtype(), values.dtype());
  const DType wide = dtype_size(both) >= 4 ? both : is_floating(both) ? DType::f32 : DType::i32;
  const Tensor line = sorted.to(wide), v = values.to(wide);
  switch (wide) {
    case DType::f32: return searched_in_memory<float>(line, v, side);
    case DType::f64: return searched_in_memory<double>(line, v, side);
    case DType::i64: return searched_in_memory<std::int64_t>(line, v, side);
    case DType::u32: return searched_in_memory<std::uint32_t>(line, v, side);
    default: return searched_in_memory<std::int32_t>(line, v, side);
  }
}
/// `low` is a sum of powers of 2 that are larger than the step, so that no sum of 32 bits wraps.
Tensor bisected(const char* op, const Tensor& sorted, const Tensor& values, Side side) {
  const Options like{.dtype = DType::i32, .device = values.device()};
  const std::int64_t n = sorted.size(-1);
  Tensor low = zeros(values.shape(), like);
  if (n == 0 || values.numel() == 0) return low;
  auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
  Tensor at = full(sorted.dim() == 1 ? Shape{} : values.shape(), step - 1, like);
  const FormulaGraph* const graph = side == Side::left ? step_graph<Side::left>() : step_graph<Side::right>();
  for (; step > 0; step /= 2) {
    const Tensor element = sorted.dim() == 1 ? take(sorted, at) : gather(sorted, at, -1);
    const Argument arguments[] = {Argument(low),  Argument(element), Argument(values),
                                  Argument(step), Argument(n),       Argument(step / 2)};
    std::array<Tensor, 2> results;
    fused({op, graph, 0, {}}, arguments, std::span<Tensor>(results));
    low = results[0], at = results[1];
  }
  return low;
}
void check_search(const char* op, const Tensor& sorted, const Tensor& values, const Tensor& sorter) {
  require_defined(op, "sorted", sorted), require_defined(op, "values", values);
  require_same_device(op, sorted, values);
  require_real(op, "`sorted`", sorted), require_real(op, "values", values);
  bool fits = sorted.dim() >= 1 && (sorted.dim() == 1 || sorted.dim() == values.dim());
  for (int i = 0; fits && i + 1 < sorted.dim(); ++i) fits = sorted.size(i) == values.size(i);
  if (!fits)
    throw Error(ErrorKind::shape, std::string(op) +
                                      ": `sorted` must be [N], or [.., N] with values [.., M] of the same "
                                      "other axes: it is " +
                                      describe(sorted) + ", values are " + describe(values));
  require_positions(op, sorted, sorted.size(-1));
  if (sorter.defined() && sorter.shape() != sorted.shape())
    throw Error(ErrorKind::shape, std::string(op) + ": sorter must have the shape of `sorted`, " + describe(sorted) +
                                      ", it is " + describe(sorter));
}
Tensor searched(const char* op, const Tensor& sorted, const Tensor& values, Side side, const Tensor& sorter = {}) {
  check_search(op, sorted, values, sorter);
  const Tensor in_order = sorter.defined() ? gather(sorted, sorter, -1) : sorted;
  const bool in_memory = in_host_memory(values) && !current_capture() && sorted.numel() > 0 && values.numel() > 0;
  return in_memory ? searched_in_memory(in_order, values, side) : bisected(op, in_order, values, side);
}
}  // namespace
template <TensorOrVar S, TensorOrVar V>
Tensor searchsorted(const S& sorted, const V& values, Side side, const Tensor& sorter) {
  return searched("searchsorted", value_of(sorted), value_of(values), side, sorter);
}
TERN_INSTANCES_2(TensorOfTwo, searchsorted, Side, const Tensor&)

/// Bins that decrease are turned around, and so are the numbers of the parts: which it is, the first and the last say.
template <TensorOrVar X, TensorOrVar B> Tensor digitize(const X& x, const B& bins, bool right) {
  constexpr const char* op = "digitize";
  require_defined(op, "x", value_of(x)), require_real(op, "x", value_of(x));
  const Tensor& edges = require_defined(op, "bins", value_of(bins));
  require_real(op, "bins", edges);
  if (edges.dim() != 1) throw Error(ErrorKind::shape, "digitize: bins must have one axis, they are " + describe(edges));
  require_in_order(op, "bins", edges, true);
  const std::int64_t n = edges.numel();
  const Side side = right ? Side::left : Side::right;
  if (n < 2) return searched(op, edges, value_of(x), side);
  const Tensor decreases = edges.slice(0, 0, 1) > edges.slice(0, n - 1);
  const Tensor increasing = where(decreases, edges.slice(0, {}, {}, -1), edges);
  const Tensor place = searched(op, increasing, value_of(x), side);
  return where(decreases.reshape({}), n - place, place);
}
TERN_INSTANCES_2(TensorOfTwo, digitize, bool)

// ---- sets ----
namespace {
/// What the forms of unique share: the elements in order, and where a new one begins.
struct Runs {
  Tensor order, begins, places;  // i32, boolean, i32: positions in the order, in x; one for each of the values
};
Runs runs_of(const char* op, const Tensor& x) {
  require_defined(op, "x", x), require_real(op, "x", x);
  require_values(op);
  require_positions(op, x, x.numel());
  const Sorted<Tensor> sorted = sort(x.reshape({-1}), 0);
  const std::int64_t n = x.numel();
  const Options like{.dtype = DType::boolean, .device = x.device()};
  if (n == 0) return {sorted.indices, zeros({0}, like), sorted.indices};
  const Tensor changes = sorted.values.slice(0, 1) != sorted.values.slice(0, 0, n - 1);
  const Tensor begins = concatenate({ones({1}, like), changes});
  return {sorted.indices, begins, nonzero(begins)[0]};
}
Tensor inverse_of(const Runs& runs, const Shape& shape) {
  const Tensor numbers = cumsum(runs.begins, 0) - 1;
  const Tensor none = zeros(runs.order.shape(), {.dtype = DType::i32, .device = runs.order.device()});
  return scatter_add(none, runs.order, numbers).reshape(shape);
}
Tensor counts_of(const Runs& runs) {
  const std::int64_t n = runs.order.numel(), values = runs.places.numel();
  const Tensor end = full({values > 0 ? 1 : 0}, n, {.dtype = DType::i32, .device = runs.order.device()});
  return concatenate({runs.places.slice(0, std::min<std::int64_t>(values, 1)), end}) - runs.places;
}
enum UniqueForm { values_alone = 0, indices = 1, inverse = 2, counts = 4 };
template <TensorOrVar T> Unique<T> unique_of(const char* op, const T& x, int form) {
  const Runs runs = runs_of(op, value_of(x));
  const Tensor first = take(runs.order, runs.places);
  Unique<T> result{take(x.reshape({-1}), first), {}, {}, {}};
  if (form & UniqueForm::indices) result.indices = first;
  if (form & UniqueForm::inverse) result.inverse_indices = inverse_of(runs, x.shape());
  if (form & UniqueForm::counts) result.counts = counts_of(runs);
  return result;
}
}  // namespace
template <TensorOrVar T> Unique<T> unique_all(const T& x) {
  return unique_of("unique_all", x, UniqueForm::indices | UniqueForm::inverse | UniqueForm::counts);
}
template <TensorOrVar T> T unique_values(const T& x) {
  return unique_of("unique_values", x, UniqueForm::values_alone).values;
}
template <TensorOrVar T> Unique<T> unique_counts(const T& x) {
  return unique_of("unique_counts", x, UniqueForm::counts);
}
template <TensorOrVar T> Unique<T> unique_inverse(const T& x) {
  return unique_of("unique_inverse", x, UniqueForm::inverse);
}

namespace {
/// On the CPU, of integers that lie in so small a range that a table of it says for each whether it is one of them
/// (others: undefined).
template <class T> Tensor in_table(const Tensor& x, const Tensor& set, bool invert) {
  const Tensor values = x.contiguous(), list = set.contiguous();
  const T* const value = std::as_const(values).data_ptr<const T>();
  const std::span<const T> elements(std::as_const(list).data_ptr<const T>(), static_cast<std::size_t>(set.numel()));
  const auto [low, high] = std::ranges::minmax(elements);
  const auto first = static_cast<std::uint64_t>(low), range = static_cast<std::uint64_t>(high) - first;
  constexpr std::uint64_t kFew = 1 << 16;  // bytes, in the cache
  if (range > kFew + 4 * static_cast<std::uint64_t>(x.numel() + set.numel())) return {};
  std::vector<std::uint8_t> table(range + 2, invert);  // the last: what is outside
  for (const T e : elements) table[static_cast<std::uint64_t>(e) - first] = !invert;
  Tensor result = empty(x.shape(), {.dtype = DType::boolean, .device = x.device()});
  bool* const to = result.data_ptr<bool>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    to[i] = table[std::min(static_cast<std::uint64_t>(value[i]) - first, range + 1)] != 0;
  return result;
}
Tensor in_table(const Tensor& x, const Tensor& set, bool invert) {
  const DType both = promote_types(x.dtype(), set.dtype());
  if (x.device() != cpu() || current_capture() || !is_integer(both) || x.numel() == 0) return {};
  if (both == DType::i64) return in_table<std::int64_t>(x.to(both), set.to(both), invert);
  if (both == DType::u32) return in_table<std::uint32_t>(x.to(both), set.to(both), invert);
  return in_table<std::int32_t>(x.to(DType::i32), set.to(DType::i32), invert);
}
}  // namespace
template <TensorOrVar X, TensorOrVar E> Tensor isin(const X& x, const E& elements, bool invert) {
  constexpr const char* op = "isin";
  const Tensor& values = require_defined(op, "x", value_of(x));
  const Tensor& set = require_defined(op, "elements", value_of(elements));
  require_same_device(op, values, set);
  require_real(op, "x", values), require_real(op, "elements", set);
  require_positions(op, set, set.numel());
  if (set.numel() == 0) return full(values.shape(), invert, {.dtype = DType::boolean, .device = values.device()});
  if (Tensor found = in_table(values, set, invert); found.defined()) return found;
  const Tensor sorted = sort(set.reshape({-1}), 0).values;
  const Tensor at = minimum(searched(op, sorted, values, Side::left), set.numel() - 1);
  const Tensor found = take(sorted, at);
  return invert ? found != values : found == values;
}
TERN_INSTANCES_2(TensorOfTwo, isin, bool)

#define TERN_INSTANCES(T)                                            \
  template Sorted<T> kthvalue(const T&, std::int64_t, int, KeepDim); \
  template Unique<T> unique_all(const T&);                           \
  template T unique_values(const T&);                                \
  template Unique<T> unique_counts(const T&);                        \
  template Unique<T> unique_inverse(const T&);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace tern
