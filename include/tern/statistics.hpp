// Statistics: counts, means, quantiles, histograms, correlation; and running results and differences along an axis.
#pragma once
#include <optional>
#include <utility>

#include "tern/ops.hpp"

namespace tern {

// ---- reductions: over `axes` (default: all), which are removed, or kept with size 1 (keepdim) ----
/// How many elements are not 0 (i32); NaN is not. Axes of more than 2^31 - 1 elements throw `shape`.
template <TensorOrVar T> Tensor count_nonzero(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The sum of the elements that are not NaN; of integers the same as sum.
template <TensorOrVar T> T nansum(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The mean of the elements that are not NaN; where there is none, NaN. Of integers the same as mean.
template <TensorOrVar T> T nanmean(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The largest element less the smallest; NaN where one is NaN, over nothing an error. The gradient goes to the first
/// largest and the first smallest one.
template <TensorOrVar T> T ptp(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Σ x·weights / Σ weights. The weights broadcast to x, or have one axis, which then is the one axis that is reduced.
/// Of integers in f32. Weights of another shape throw `shape`; where their sum is 0 the result is inf or NaN.
template <TensorOrVar X, TensorOrVar W>
ResultOf<X, W> average(const X& x, const W& weights, const Axes& axes = {}, KeepDim keepdim = false);
/// Σ (x - mean)² / (n - correction), where n is no larger: x / 0.
template <TensorOrVar T> T var(const T& x, const Axes& axes, KeepDim keepdim, double correction);
/// The square root of that.
template <TensorOrVar T> T std(const T& x, const Axes& axes, KeepDim keepdim, double correction);
/// (Σ |x|^order)^(1 / order); of order inf the largest |x|, of -inf the smallest, of 0 how many are not 0. A NaN order
/// throws `value`, ±inf over nothing `shape`.
template <TensorOrVar T> T norm(const T& x, const Axes& axes, KeepDim keepdim, double order);
/// The largest elements along an axis and their positions (i32), of equal ones the first; of NaNs the first where there
/// is one. Over nothing an error.
template <TensorOrVar T> Sorted<T> max_with_indices(const T& x, int axis = -1, KeepDim keepdim = false);
/// The smallest elements along an axis and their positions; otherwise like max_with_indices.
template <TensorOrVar T> Sorted<T> min_with_indices(const T& x, int axis = -1, KeepDim keepdim = false);

// ---- reductions of the elements where a mask is true: sum(x, {0}, false, {.where = mask}) ----
/// Which elements a reduction takes: those where `where` is true, a boolean tensor that broadcasts to x (else `dtype`,
/// `shape`). The others count nothing, whatever they hold, and get no gradient. Nothing waits.
struct Where { Tensor where; };
/// The sum of these elements; of none 0.
template <TensorOrVar T> T sum(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);
/// Their mean; of none NaN. Of integers in f32.
template <TensorOrVar T> T mean(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);
/// Their product; of none 1.
template <TensorOrVar T> T prod(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);
/// The largest of them; of none -inf, of integers the lowest number of the dtype.
template <TensorOrVar T> T max(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);
/// The smallest of them; of none inf, of integers the largest number of the dtype.
template <TensorOrVar T> T min(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);
/// Σ (x - their mean)² / (their number - correction), where that is no larger than 0: x / 0. Of none NaN.
template <TensorOrVar T>
T var(const T& x, const Axes& axes, KeepDim keepdim, const Where& which, double correction = 1);
/// The square root of that.
template <TensorOrVar T>
T std(const T& x, const Axes& axes, KeepDim keepdim, const Where& which, double correction = 1);
/// Whether any of them is true (not zero); of none false.
template <TensorOrVar T> Tensor any(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);
/// Whether all of them are true (not zero); of none true.
template <TensorOrVar T> Tensor all(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);
/// How many of them are not 0 (i32).
template <TensorOrVar T> Tensor count_nonzero(const T& x, const Axes& axes, KeepDim keepdim, const Where& which);

// ---- quantiles ----
/// What stands for a quantile that lies between two elements: a mixture of both, either of them, their middle, or the
/// nearer one (of both as near that with an even position).
enum class Interpolation { linear, lower, higher, midpoint, nearest };
/// The element below which the share q of all lies: that at position q·(n - 1) in order. NaN where one is NaN, over
/// nothing an error. Of integers in f32, of i32, u32 and i64 in f64 where there is such. The gradient goes to the
/// elements that were chosen. A q outside [0, 1] throws `value`.
template <TensorOrVar T>
T quantile(const T& x, double q, const Axes& axes = {}, KeepDim keepdim = false,
           Interpolation interpolation = Interpolation::linear);
/// The same of each q, whose axes stand in front of those of the result. Reads q, and so waits for it.
template <TensorOrVar T>
T quantile(const T& x, const Tensor& q, const Axes& axes = {}, KeepDim keepdim = false,
           Interpolation interpolation = Interpolation::linear);
/// The middle element in order, of an even number the mean of the two in the middle; otherwise like quantile.
template <TensorOrVar T> T median(const T& x, const Axes& axes = {}, KeepDim keepdim = false);

// ---- counts ----
template <class T> struct HistogramOf {
  T counts;      // of elements (i32), sums of weights, or densities
  Tensor edges;  // one more
};
using Histogram = HistogramOf<Tensor>;
using HistogramRange = std::optional<std::pair<double, double>>;
/// How many elements lie in each of `bins` parts of equal width of a range; without a range, of that from the smallest
/// element to the largest, which waits for them. A part contains its lower edge, the last one both. What lies outside
/// and NaN count nowhere. `density`: counts over their sum and the width of their part, in x's dtype (of integers f32);
/// where nothing is counted NaN. Edges are of x's dtype, of integers as quantiles are. No bins, and a range that is not
/// finite or ends before it begins, throw `value`.
template <TensorOrVar T>
Histogram histogram(const T& x, std::int64_t bins = 10, HistogramRange range = {}, bool density = false);
/// The same of parts between these edges, which must not decrease (on the CPU else `value`; on GPUs, and in replays,
/// they are not looked through).
template <TensorOrVar T> Histogram histogram(const T& x, const Tensor& edges, bool density = false);
/// The sums of the weights of the elements in each part, in the dtype of the weights, which have x's shape (else
/// `shape`); gradients in the weights. `density`: over the sum of all of them and the width of their part; integers in
/// f32.
template <TensorOrVar T, TensorOrVar W>
HistogramOf<W> histogram(const T& x, std::int64_t bins, HistogramRange range, bool density, const W& weights);
template <TensorOrVar T, TensorOrVar W>
HistogramOf<W> histogram(const T& x, const Tensor& edges, bool density, const W& weights);
/// How often each of 0, 1, …, max(x) stands in x (i32 or i64, one axis): i32, of `minlength` elements at least. Waits
/// for the largest. A negative one throws `index`.
Tensor bincount(const Tensor& x, std::int64_t minlength = 0);
/// The sums of the weights of each, which have x's shape.
template <TensorOrVar W> W bincount(const Tensor& x, const W& weights, std::int64_t minlength = 0);

// ---- correlation ----
/// The covariances of variables [N, M], each a row of M observations: Σ (xᵢ - mean)(xⱼ - mean) / (M - correction). Of
/// one axis the variance. Of integers in f32.
template <TensorOrVar T> T cov(const T& x, double correction = 1);
/// The correlation coefficients of variables [N, M]: their covariances, divided by both standard deviations. NaN for a
/// variable that is the same everywhere.
template <TensorOrVar T> T corrcoef(const T& x);

// ---- along an axis ----
/// The running products along an axis; booleans and narrow integers give i32, which wraps as other integers do. The
/// gradient is right where elements are 0, too. Complex numbers may have six axes.
template <TensorOrVar T> T cumulative_prod(const T& x, int axis);
/// The largest of the elements up to each, along an axis, and its position (i32), of equal ones the last; from the
/// first NaN on, NaN.
template <TensorOrVar T> Sorted<T> cummax(const T& x, int axis);
/// The smallest of the elements up to each; otherwise like cummax.
template <TensorOrVar T> Sorted<T> cummin(const T& x, int axis);
/// log Σ exp(x) of the elements up to each, along an axis, whatever the size of x.
template <TensorOrVar T> T logcumsumexp(const T& x, int axis);
/// x[i + 1] - x[i] along an axis, n times over. Booleans are compared. A negative n throws `value`.
template <TensorOrVar T> T diff(const T& x, std::int64_t n = 1, int axis = -1);
/// ∫ y along an axis by the trapezoid rule, of samples at a distance dx. Of integers in f32.
template <TensorOrVar T> T trapezoid(const T& y, double dx = 1, int axis = -1);
/// The same of samples at x, which has y's shape, or one axis.
template <TensorOrVar Y, TensorOrVar X> ResultOf<Y, X> trapezoid(const Y& y, const X& x, int axis = -1);

}  // namespace tern
