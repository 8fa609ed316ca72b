// Statistics that are formulas over axes, or composed of others. Quantiles and counts have files of their own.
#include <bit>
#include <cmath>
#include <string>

#include "autodiff/instances.hpp"
#include "formula/extremes.hpp"
#include "ops/floating.hpp"
#include "ops/reductions/roots.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "tern/complex.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace {

/// f(x…) in a dtype in which one computes: where all are integers as mean takes them, in f64 where there is such, then
/// in f32; else integers in the others' dtype.
template <class F, TensorOrVar X> auto computed(const F& f, const X& x) {
  return is_differentiable(x.dtype()) ? f(x) : f(in_floating(x)).to(DType::f32);
}
template <class F, TensorOrVar X, TensorOrVar Y> auto computed(const F& f, const X& x, const Y& y) {
  const bool first = is_differentiable(x.dtype()), second = is_differentiable(y.dtype());
  if (!first && !second) return f(in_floating(x), in_floating(y)).to(DType::f32);
  return f(first ? x : x.to(real_dtype(y.dtype())), second ? y : y.to(real_dtype(x.dtype())));
}

void require_elements(const char* op, const Tensor& x, std::uint32_t mask) {
  for (int i = 0; i < x.dim(); ++i)
    if ((mask >> i & 1) && x.size(i) == 0)
      throw Error(ErrorKind::shape, std::string(op) + ": axis " + std::to_string(i) + " of " + describe(x) +
                                        " is empty, and there is no " + op + " over nothing");
}

/// A list laid along one axis of so many.
template <TensorOrVar T> T laid_along(const T& list, int axis, int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(i == axis ? list.size(0) : 1);
  return list.reshape(shape);
}

/// A formula of x, and of a number where it has two inputs, over axes.
template <TensorOrVar T>
T statistic(const char* op, const FormulaGraph* graph, const T& x, const Axes& axes, bool keepdim, Number number = 0) {
  require_defined(op, "x", value_of(x));
  const FusedCall call{op, graph, axis_mask(op, axes, x.dim()), {}, {}, !keepdim};
  const Argument arguments[] = {Argument(x), Argument(number)};
  return fused_one<T>(call, std::span(arguments).first(static_cast<std::size_t>(graph->inputs)));
}

Expr variance(Expr x, Expr correction) {
  const Expr centred = x - mean(x);
  return sum(centred * centred) / maximum(extent() - correction, 0);
}
/// Scaled by the largest |x|, of which the norm does not depend otherwise, so that no power overflows. The gradient by
/// an x of 0, where there is none of orders below 1, is 0.
Expr norm_of_order(Expr x, Expr order) {
  const Expr top = detach(max(abs(x))), scale = where((top > 0) & (top < kInfinity), top, 1);
  const Expr size = abs(x) / scale, zero = size == 0;
  const Expr total = sum(where(zero, pow(detach(size), order), pow(where(zero, 1, size), order)));
  const auto none = total == 0;  // of no elements or zeros; of a negative order of no elements or infinities
  return where(none, where(order < 0, kInfinity, 0), scale * pow(where(none, 1, total), 1 / order));
}
const FormulaGraph* norm_graph(double order) {
  if (order == kInfinity) return graph_of([](auto x) { return max(abs(x)); });
  if (order == -kInfinity) return graph_of([](auto x) { return min(abs(x)); });
  if (order == 0) return graph_of([](auto x) { return sum(where(x == 0, 0 * detach(x), 1)); });
  if (order == 1) return graph_of([](auto x) { return sum(abs(x)); });
  return graph_of([](auto x, auto p) { return norm_of_order(x, p); });
}

}  // namespace

template <TensorOrVar T> Tensor count_nonzero(const T& x, const Axes& axes, KeepDim keepdim) {
  constexpr const char* op = "count_nonzero";
  const Tensor& values = require_defined(op, "x", value_of(x));
  std::int64_t count = 1;
  for (int i = 0; i < values.dim(); ++i)
    if (axis_mask(op, axes, values.dim()) >> i & 1) count *= values.size(i);
  if (count > kMostPositions)
    throw Error(ErrorKind::shape, "count_nonzero: i32 cannot count the " + std::to_string(count) + " elements of " +
                                      describe(values) + "; take it in parts");
  static const FormulaGraph* const graph = graph_of([](auto v) { return sum(cast(v != 0, DType::i32)); });
  return statistic(op, graph, values, axes, keepdim);
}

template <TensorOrVar T> T nansum(const T& x, const Axes& axes, KeepDim keepdim) {
  require_defined("nansum", "x", value_of(x));
  if (!is_differentiable(x.dtype())) return sum(x, axes, keepdim);
  return statistic("nansum", graph_of([](auto v) { return sum(where(isnan(v), 0, v)); }), x, axes, keepdim);
}
template <TensorOrVar T> T nanmean(const T& x, const Axes& axes, KeepDim keepdim) {
  require_defined("nanmean", "x", value_of(x));
  if (!is_differentiable(x.dtype())) return mean(x, axes, keepdim);
  static const FormulaGraph* const graph = graph_of([](auto v) {
    const auto none = isnan(v);
    return sum(where(none, 0, v)) / sum(where(none, 0 * detach(where(none, 0, v)), 1));
  });
  return statistic("nanmean", graph, x, axes, keepdim);
}
template <TensorOrVar T> T ptp(const T& x, const Axes& axes, KeepDim keepdim) {
  require_defined("ptp", "x", value_of(x));
  require_elements("ptp", value_of(x), axis_mask("ptp", axes, x.dim()));
  return statistic("ptp", graph_of([](auto v) { return max(v) - min(v); }), x, axes, keepdim);
}

namespace {
/// Weights of one axis lie along the one that is reduced.
template <TensorOrVar W> W weights_along(const Tensor& x, const W& weights, std::uint32_t mask) {
  if (weights.dim() != 1 || x.dim() < 2 || (mask & (mask - 1))) return weights;
  return laid_along(weights, std::countr_zero(mask), x.dim());
}
void check_weights(const char* op, const Tensor& x, const Tensor& weights, const Tensor& along) {
  bool fits = along.dim() <= x.dim();
  for (int i = 1; fits && i <= along.dim(); ++i) fits = along.size(-i) == 1 || along.size(-i) == x.size(-i);
  if (!fits)
    throw Error(ErrorKind::shape, std::string(op) +
                                      ": weights must broadcast to x, or lie along the one axis that is "
                                      "reduced: x is " +
                                      describe(x) + ", weights are " + describe(weights));
}
}  // namespace
template <TensorOrVar X, TensorOrVar W>
ResultOf<X, W> average(const X& x, const W& weights, const Axes& axes, KeepDim keepdim) {
  constexpr const char* op = "average";
  require_defined(op, "x", value_of(x)), require_defined(op, "weights", value_of(weights));
  require_same_device(op, value_of(x), value_of(weights));
  const std::uint32_t mask = axis_mask(op, axes, x.dim());
  const W along = weights_along(value_of(x), weights, mask);
  check_weights(op, value_of(x), value_of(weights), value_of(along));
  static const FormulaGraph* const graph = graph_of([](auto v, auto w) { return sum(v * w) / sum(w); });
  const auto run = [&](const X& v, const W& w) {
    const Argument arguments[] = {Argument(v), Argument(w)};
    return fused_one<ResultOf<X, W>>({op, graph, mask, x.shape(), {}, !keepdim}, arguments);
  };
  return computed(run, x, along);
}
TERN_INSTANCES_2(ResultOf, average, const Axes&, KeepDim)

/// Of complex numbers Σ |z - mean|² / (n - correction).
template <TensorOrVar T> T var(const T& x, const Axes& axes, KeepDim keepdim, double correction) {
  require_defined("var", "x", value_of(x));
  if (is_complex(x.dtype()))
    return var(real(x), axes, keepdim, correction) + var(imag(x), axes, keepdim, correction);
  if (!is_floating(x.dtype())) return var(in_floating(x), axes, keepdim, correction).to(DType::f32);
  return statistic("var", graph_of([](auto v, auto c) { return variance(v, c); }), x, axes, keepdim, correction);
}
template <TensorOrVar T> T std(const T& x, const Axes& axes, KeepDim keepdim, double correction) {
  require_defined("std", "x", value_of(x));
  if (is_complex(x.dtype())) return root_or_zero("std", var(x, axes, keepdim, correction));
  if (!is_floating(x.dtype())) return std(in_floating(x), axes, keepdim, correction).to(DType::f32);
  static const FormulaGraph* const graph = graph_of([](auto v, auto c) { return root_or_zero(variance(v, c)); });
  return statistic("std", graph, x, axes, keepdim, correction);
}
template <TensorOrVar T> T norm(const T& x, const Axes& axes, KeepDim keepdim, double order) {
  require_defined("norm", "x", value_of(x));
  if (order != order) throw Error(ErrorKind::value, "norm: the order must be a number, got NaN");
  if (order == 2) return norm(x, axes, keepdim);
  if (!is_differentiable(x.dtype())) return norm(in_floating(x), axes, keepdim, order).to(DType::f32);
  if (order == 0 && is_complex(x.dtype())) return norm(abs(x), axes, keepdim, order);  // a real count
  if (std::isinf(order)) require_elements("norm", value_of(x), axis_mask("norm", axes, x.dim()));
  return statistic("norm", norm_graph(order), x, axes, keepdim, order);
}

namespace {
template <TensorOrVar T> Sorted<T> with_indices(const char* op, bool largest, const T& x, int axis, KeepDim keepdim) {
  require_defined(op, "x", value_of(x)), require_real(op, "x", value_of(x));
  const int a = normalize_axis(op, axis, x.dim());
  require_elements(op, value_of(x), 1u << a);
  const Tensor at = largest ? argmax(value_of(x), a, true) : argmin(value_of(x), a, true);
  const T values = gather(x, at, a);
  if (keepdim) return {values, at};
  return {values.squeeze(a), at.squeeze(a)};
}
}  // namespace
template <TensorOrVar T> Sorted<T> max_with_indices(const T& x, int axis, KeepDim keepdim) {
  return with_indices("max_with_indices", true, x, axis, keepdim);
}
template <TensorOrVar T> Sorted<T> min_with_indices(const T& x, int axis, KeepDim keepdim) {
  return with_indices("min_with_indices", false, x, axis, keepdim);
}

// ---- correlation ----
namespace {
/// [N, M], of one axis [1, M]; less the mean of each row. Differences of 16 bits would lose what rows have in common.
template <TensorOrVar T> T centred(const char* op, const T& x) {
  require_defined(op, "x", value_of(x));
  if (x.dim() != 1 && x.dim() != 2)
    throw Error(ErrorKind::shape, std::string(op) + ": x must have one or two axes, it is " + describe(value_of(x)));
  const T list = x.dim() == 1 ? x.unsqueeze(0) : x,
          wide = is_differentiable(x.dtype()) ? list : in_floating(list),
          rows = dtype_size(wide.dtype()) < 4 ? wide.to(DType::f32) : wide;
  static const FormulaGraph* const graph = graph_of([](auto v) { return v - mean(v); });
  return fused_one<T>({op, graph, 2, {}}, std::array{Argument(rows)});
}
/// In x's dtype, of integers in f32; without axes where x has one.
template <TensorOrVar T> T like_rows(const T& matrix, const T& x) {
  const T result = matrix.to(is_differentiable(x.dtype()) ? x.dtype() : DType::f32);
  return x.dim() == 1 ? result.reshape({}) : result;
}
/// rows · rowsᴴ
template <TensorOrVar T> T with_itself(const T& rows) {
  const T turned = rows.mT();
  return matmul(rows, is_complex(rows.dtype()) ? conj(turned) : turned);
}
}  // namespace
template <TensorOrVar T> T cov(const T& x, double correction) {
  const T rows = centred("cov", x);
  const double left = std::max(static_cast<double>(rows.size(1)) - correction, 0.0);
  return like_rows<T>(with_itself(rows) / left, x);
}
/// Rows of length 1 multiplied, so that no square overflows; what rounding puts outside [-1, 1] is at an extreme, of
/// complex numbers in both parts.
template <TensorOrVar T> T corrcoef(const T& x) {
  const T rows = centred("corrcoef", x), unit = rows / norm(rows, {1}, true);
  // Derivatives are those of the product: at an extreme the second is not 0.
  static const Pointwise limited("corrcoef", [](auto r) { return r + detach(clamp(r, -1, 1) - r); });
  const T products = with_itself(unit);
  if (!is_complex(products.dtype())) return like_rows<T>(limited(products), x);
  return like_rows<T>(make_complex(T(limited(real(products))), T(limited(imag(products)))), x);
}

// ---- along an axis ----
template <TensorOrVar T> T diff(const T& x, std::int64_t n, int axis) {
  require_defined("diff", "x", value_of(x));
  const int a = normalize_axis("diff", axis, x.dim());
  if (n < 0) throw Error(ErrorKind::value, "diff: n must be 0 or more, got " + std::to_string(n));
  T result = n == 0 ? x.clone() : x;
  for (; n > 0 && result.size(a) > 0; --n) {
    const std::int64_t size = result.size(a);
    const T after = result.slice(a, 1), before = result.slice(a, 0, size - 1);
    if (x.dtype() == DType::boolean) result = operand_as<T>(value_of(after) != value_of(before));
    else result = after - before;
  }
  return result;
}

namespace {
/// Neighbours along an axis: x[1:] and x[:-1].
template <TensorOrVar T> std::pair<T, T> neighbours(const T& x, int axis) {
  const std::int64_t size = std::max<std::int64_t>(x.size(axis), 1);
  return {x.slice(axis, std::min<std::int64_t>(x.size(axis), 1)), x.slice(axis, 0, size - 1)};
}
}  // namespace
template <TensorOrVar T> T trapezoid(const T& y, double dx, int axis) {
  require_defined("trapezoid", "y", value_of(y));
  const int a = normalize_axis("trapezoid", axis, y.dim());
  const auto run = [&](const T& values) {
    const auto [after, before] = neighbours(values, a);
    static const FormulaGraph* const graph =
        graph_of([](auto p, auto q, auto width) { return sum(p + q) * (0.5 * width); });
    const Argument arguments[] = {Argument(after), Argument(before), Argument(dx)};
    return fused_one<T>({"trapezoid", graph, 1u << a, {}, {}, true}, arguments);
  };
  return computed(run, y);
}
template <TensorOrVar Y, TensorOrVar X> ResultOf<Y, X> trapezoid(const Y& y, const X& x, int axis) {
  constexpr const char* op = "trapezoid";
  require_defined(op, "y", value_of(y)), require_defined(op, "x", value_of(x));
  const int a = normalize_axis(op, axis, y.dim());
  const bool line = x.dim() == 1;
  if (line ? x.size(0) != y.size(a) : x.shape() != y.shape())
    throw Error(ErrorKind::shape, "trapezoid: x must have y's shape, or one axis of the size of axis " +
                                      std::to_string(axis) + ": y is " + describe(value_of(y)) + ", x is " +
                                      describe(value_of(x)));
  const X places = line ? laid_along(x, a, y.dim()) : x;
  const auto run = [&](const Y& values, const X& at) {
    const auto [after, before] = neighbours(values, a);
    const auto [end, begin] = neighbours(at, a);
    static const FormulaGraph* const graph =
        graph_of([](auto p, auto q, auto r, auto s) { return sum((p + q) * (r - s)) * 0.5; });
    const Argument arguments[] = {Argument(after), Argument(before), Argument(end), Argument(begin)};
    return fused_one<ResultOf<Y, X>>({op, graph, 1u << a, {}, {}, true}, arguments);
  };
  return computed(run, y, places);
}
TERN_INSTANCES_2(ResultOf, trapezoid, int)

#define TERN_INSTANCES(T)                                        \
  template Tensor count_nonzero(const T&, const Axes&, KeepDim); \
  template T nansum(const T&, const Axes&, KeepDim);             \
  template T nanmean(const T&, const Axes&, KeepDim);            \
  template T ptp(const T&, const Axes&, KeepDim);                \
  template T var(const T&, const Axes&, KeepDim, double);        \
  template T std(const T&, const Axes&, KeepDim, double);        \
  template T norm(const T&, const Axes&, KeepDim, double);       \
  template Sorted<T> max_with_indices(const T&, int, KeepDim);   \
  template Sorted<T> min_with_indices(const T&, int, KeepDim);   \
  template T cov(const T&, double);                              \
  template T corrcoef(const T&);                                 \
  template T diff(const T&, std::int64_t, int);                  \
  template T trapezoid(const T&, double, int);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace tern
