// Reductions: formulas over a set of axes.
#include <array>
#include <string>

#include "ops/fused.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {

constexpr int kNowhere = 2147483647;

struct Reduction {
  const char* op;
  const Graph* floating;
  const Graph* integral;  // for booleans and integers; null: the same
  bool empty_allowed = true;
};

std::uint32_t checked_mask(const Reduction& r, const Tensor& x, const Axes& axes) {
  require_defined(r.op, "x", x);
  const std::uint32_t mask = axis_mask(r.op, axes, x.dim());
  if (!r.empty_allowed)
    for (int i = 0; i < x.dim(); ++i)
      if ((mask >> i & 1) && x.shape()[static_cast<std::size_t>(i)] == 0)
        throw Error(ErrorKind::shape, std::string(r.op) + ": axis " + std::to_string(i) + " of " + describe(x) +
                                          " is empty, and there is no " + r.op + " over nothing");
  return mask;
}
const Graph* graph_for(const Reduction& r, DType dtype) {
  return r.integral && !is_floating(dtype) ? r.integral : r.floating;
}

Tensor run(const Reduction& r, const Tensor& x, const Axes& axes, bool keepdim) {
  const std::uint32_t mask = checked_mask(r, x, axes);
  const Argument arguments[] = {Argument(x)};
  const Tensor result = run_fused_one({r.op, graph_for(r, x.dtype()), mask, {}}, arguments);
  return keepdim ? result : result.reshape(without_axes(x.shape(), mask));
}
Var run(const Reduction& r, const Var& x, const Axes& axes, bool keepdim) {
  const std::uint32_t mask = checked_mask(r, x.value(), axes);
  const Argument arguments[] = {Argument(x)};
  return fused_one({r.op, graph_for(r, x.dtype()), mask, {}, {}, !keepdim}, arguments);
}

template <class F> Expr first_where(Expr x, F condition) { return min(where(condition(x), ordinal(x), kNowhere)); }

/// One graph for each dtype.
using GraphsByDType = std::array<const Graph*, kDTypeCount>;
template <class F> GraphsByDType graphs_by_dtype(F output) {
  GraphsByDType list{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Expr e = output(make_input(0), static_cast<DType>(i));
    list[i] = make_graph({&e, 1}, 1);
  }
  return list;
}
const Graph* of_dtype(const GraphsByDType& graphs, DType dtype) { return graphs[static_cast<std::size_t>(dtype)]; }
const Graph* plain_sum() {
  return graph_of([](auto x) { return sum(x); });
}
/// sum(x) in its own lanes, then converted.
const Graph* converted_sum(DType dtype) {
  static const GraphsByDType graphs = graphs_by_dtype([](Expr x, DType to) { return cast(sum(x), to); });
  return of_dtype(graphs, dtype);
}
const Graph* sum_of_converted(DType dtype) {
  static const GraphsByDType graphs = graphs_by_dtype([](Expr x, DType to) { return cast(sum(cast(x, to)), to); });
  return of_dtype(graphs, dtype);
}
/// Means of integers: sums without rounding, where that is so, divided in f64 or (`narrow`) in f32.
const Graph* mean_of_sum(DType dtype, bool narrow) {
  static const GraphsByDType in_f64 = graphs_by_dtype(
                                 [](Expr x, DType to) { return cast(cast(sum(x), DType::f64) / extent(), to); }),
                             in_f32 = graphs_by_dtype(
                                 [](Expr x, DType to) { return cast(cast(sum(x), DType::f32) / extent(), to); });
  return of_dtype(narrow ? in_f32 : in_f64, dtype);
}
const Graph* mean_of_converted(DType dtype, DType accumulated) {
  static const GraphsByDType in_f64 =
      graphs_by_dtype([](Expr x, DType to) { return cast(mean(cast(x, DType::f64)), to); });
  static const GraphsByDType in_f32 =
      graphs_by_dtype([](Expr x, DType to) { return cast(mean(cast(x, DType::f32)), to); });
  static const GraphsByDType own = graphs_by_dtype([](Expr x, DType to) { return mean(cast(x, to)); });
  return of_dtype(accumulated == dtype ? own : accumulated == DType::f64 ? in_f64 : in_f32, dtype);
}

bool is_narrow(DType dtype) { return is_integer(dtype) && dtype_size(dtype) < 4; }
/// How many elements of a dtype i32 holds the sum of, whatever they are.
std::int64_t most_in_i32(DType dtype) {
  constexpr std::int64_t most = 2147483647;
  switch (dtype) {
    case DType::boolean: return most;
    case DType::u8: return most / 255;
    case DType::i8: return most / 128;
    case DType::i16: return most / 32768;
    default: return 0;
  }
}
std::int64_t count_along(const Tensor& x, std::uint32_t mask) {
  if (x.numel() == 0) return 0;
  std::int64_t count = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) count *= x.shape()[static_cast<std::size_t>(i)];
  return count;
}
bool has(const Tensor& x, DType dtype) { return x.impl()->storage->backend().supports(dtype); }

const Graph* sum_graph(const Tensor& x, std::uint32_t mask, std::optional<DType> asked) {
  const DType from = x.dtype();
  if (asked == DType::boolean) throw Error(ErrorKind::dtype, "sum: booleans hold no sums; ask for i32");
  const std::int64_t count = count_along(x, mask);
  const bool exact = count <= most_in_i32(from);
  if (!asked && from == DType::boolean && !exact)
    throw Error(ErrorKind::shape, "sum: i32 cannot count the " + std::to_string(count) + " booleans of " + describe(x) +
                                      "; give dtype i64");
  const bool widens = from == DType::boolean || is_narrow(from);
  const DType widened = is_narrow(from) && has(x, DType::i64) ? DType::i64 : DType::i32;
  const DType to = asked.value_or(widens ? widened : from);
  if ((to == from && !widens) || (to == DType::i32 && widens)) return plain_sum();
  return exact && is_integer(to) && dtype_size(to) >= 4 ? converted_sum(to) : sum_of_converted(to);
}
const Graph* mean_graph(const Tensor& x, std::uint32_t mask, std::optional<DType> asked) {
  const DType from = x.dtype(), to = asked.value_or(is_floating(from) ? from : DType::f32);
  if (!is_floating(to))
    throw Error(ErrorKind::dtype, "mean: needs a floating-point dtype, got " + std::string(to_string(to)));
  if (is_floating(from)) return to == from ? graph_of([](auto v) { return mean(v); }) : mean_of_converted(to, to);
  const DType accumulated = has(x, DType::f64) ? DType::f64 : DType::f32;
  if (count_along(x, mask) <= most_in_i32(from)) return mean_of_sum(to, accumulated == DType::f32);
  return mean_of_converted(to, accumulated);
}
/// A reduction whose graph depends on the dtype that is asked for.
using GraphFor = const Graph* (*)(const Tensor& x, std::uint32_t mask, std::optional<DType> dtype);
Tensor run_as(const char* op, GraphFor graph, const Tensor& x, const Axes& axes, bool keepdim,
              std::optional<DType> dtype) {
  const std::uint32_t mask = checked_mask({op, nullptr, nullptr}, x, axes);
  const Tensor result = run_fused_one({op, graph(x, mask, dtype), mask, {}}, std::array{Argument(x)});
  return keepdim ? result : result.reshape(without_axes(x.shape(), mask));
}
Var run_as(const char* op, GraphFor graph, const Var& x, const Axes& axes, bool keepdim, std::optional<DType> dtype) {
  const std::uint32_t mask = checked_mask({op, nullptr, nullptr}, x.value(), axes);
  return fused_one({op, graph(x.value(), mask, dtype), mask, {}, {}, !keepdim}, std::array{Argument(x)});
}
const Reduction& prod_reduction() {
  static const Reduction r{"prod", graph_of([](auto x) { return prod(x); }), nullptr};
  return r;
}
const Reduction& max_reduction() {
  static const Reduction r{"max", graph_of([](auto x) { return max(x); }), nullptr, false};
  return r;
}
const Reduction& min_reduction() {
  static const Reduction r{"min", graph_of([](auto x) { return min(x); }), nullptr, false};
  return r;
}
/// Shifted by the maximum; where that is infinite, by 0: log Σ exp(-inf) is -inf, not NaN.
const Reduction& logsumexp_reduction() {
  static const Reduction r{"logsumexp", graph_of([](auto x) {
                             auto top = detach(max(x));
                             auto shift = where(abs(top) < Expr(kInf), top, 0);
                             return log(sum(exp(x - shift))) + shift;
                           }),
                           nullptr, false};
  return r;
}
Expr variance(Expr x) {
  const Expr centred = x - mean(x);
  return sum(centred * centred) / maximum(extent() - 1, 0);  // of nothing 0 / 0, and not 0 / -1
}
const Reduction& var_reduction() {
  static const Reduction r{"var", graph_of([](auto x) { return variance(x); }), nullptr};
  return r;
}
const Reduction& std_reduction() {
  static const Reduction r{"std", graph_of([](auto x) { return sqrt(variance(x)); }), nullptr};
  return r;
}
/// The norm does not depend on the scale, which has no gradient therefore. Where all is 0 the root is not taken.
const Reduction& norm_reduction() {
  static const Reduction r{"norm", graph_of([](auto x) {
                             auto top = detach(max(abs(x)));
                             auto scale = where((top > 0) & (top < Expr(kInf)), top, 1);
                             auto scaled = x / scale;
                             auto squares = sum(scaled * scaled);
                             return scale * where(squares == 0, 0, sqrt(squares));
                           }),
                           nullptr};
  return r;
}
template <class Best> const Graph* arg_graph(Best best) {
  const Expr x = make_input(0), extreme = best(x);
  const Expr nan = first_where(x, [](Expr e) { return e != e; });
  const Expr first = first_where(x, [&](Expr e) { return e == extreme; });
  const Expr result = minimum(nan, first);
  return make_graph({&result, 1}, 1);
}
const Reduction& argmax_reduction() {
  static const Reduction r{"argmax", arg_graph([](Expr x) { return max(x); }), nullptr, false};
  return r;
}
const Reduction& argmin_reduction() {
  static const Reduction r{"argmin", arg_graph([](Expr x) { return min(x); }), nullptr, false};
  return r;
}
// Over nothing max of truths gives the lowest integer: the comparison makes that false, and true for min.
const Reduction& any_reduction() {
  static const Reduction r{"any", graph_of([](auto x) { return max(cast(x != 0, DType::i32)) > 0; }), nullptr};
  return r;
}
const Reduction& all_reduction() {
  static const Reduction r{"all", graph_of([](auto x) { return min(cast(x != 0, DType::i32)) > 0; }), nullptr};
  return r;
}

/// A product under autograd: halves multiplied elementwise until one element is left, right at zeros to any order.
Var product_tree(const Var& x, std::uint32_t mask, bool keepdim) {
  Axes order;
  for (int i = 0; i < x.dim(); ++i)
    if (!(mask >> i & 1)) order.push_back(i);
  Shape kept = without_axes(x.shape(), mask), flat = kept;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) order.push_back(i);
  flat.push_back(-1);
  std::int64_t length = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) length *= x.shape()[static_cast<std::size_t>(i)];
  flat.back() = length;
  Var level = (order.rank() ? x.permute(order) : x).reshape(flat);
  const int last = flat.rank() - 1;
  if (length == 0)
    return as_var(ones(keepdim ? with_ones(x.shape(), mask) : kept, {.dtype = x.dtype(), .device = x.device()}));
  while (length > 1) {
    const std::int64_t half = length / 2;
    const Var pairs = level.slice(last, 0, half) * level.slice(last, half, 2 * half);
    level = length % 2 ? concatenate(std::vector<Var>{pairs, level.slice(last, length - 1, length)}, last) : pairs;
    length = half + length % 2;
  }
  return level.reshape(keepdim ? with_ones(x.shape(), mask) : kept);
}

}  // namespace

#define TERN_REDUCTION(name) \
  Tensor name(const Tensor& x, const Axes& axes, bool keepdim) { return run(name##_reduction(), x, axes, keepdim); }
#define TERN_VAR_REDUCTION(name) \
  Var name(const Var& x, const Axes& axes, bool keepdim) { return run(name##_reduction(), x, axes, keepdim); }
#define TERN_INDEX_REDUCTION(name) \
  Tensor name(const Var& x, const Axes& axes, bool keepdim) { return name(x.value(), axes, keepdim); }
#define TERN_REDUCTION_AS(T, name)                                             \
  T name(const T& x, const Axes& axes, bool keepdim) {                         \
    return run_as(#name, name##_graph, x, axes, keepdim, std::nullopt);        \
  }                                                                            \
  T name(const T& x, const Axes& axes, bool keepdim, DType dtype) {            \
    return run_as(#name, name##_graph, x, axes, keepdim, dtype);               \
  }
TERN_REDUCTION_AS(Tensor, sum)
TERN_REDUCTION_AS(Var, sum)
TERN_REDUCTION_AS(Tensor, mean)
TERN_REDUCTION_AS(Var, mean)
#undef TERN_REDUCTION_AS
TERN_REDUCTION(prod)
TERN_REDUCTION(max)
TERN_VAR_REDUCTION(max)
TERN_REDUCTION(min)
TERN_VAR_REDUCTION(min)
TERN_REDUCTION(logsumexp)
TERN_VAR_REDUCTION(logsumexp)
TERN_REDUCTION(var)
TERN_VAR_REDUCTION(var)
TERN_REDUCTION(std)
TERN_VAR_REDUCTION(std)
TERN_REDUCTION(norm)
TERN_VAR_REDUCTION(norm)
TERN_REDUCTION(argmax)
TERN_INDEX_REDUCTION(argmax)
TERN_REDUCTION(argmin)
TERN_INDEX_REDUCTION(argmin)
TERN_REDUCTION(any)
TERN_INDEX_REDUCTION(any)
TERN_REDUCTION(all)
TERN_INDEX_REDUCTION(all)

Var prod(const Var& x, const Axes& axes, bool keepdim) {
  const std::uint32_t mask = checked_mask(prod_reduction(), x.value(), axes);
  if (!tracked({&x, 1})) return as_var(prod(x.value(), axes, keepdim));
  return product_tree(x, mask, keepdim);
}

}  // namespace tern
