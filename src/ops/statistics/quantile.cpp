// Quantiles: elements at positions in order, and what lies between two of them.
#include <cmath>
#include <string>
#include <vector>

#include "backend/recording/capture.hpp"
#include "ops/floating.hpp"
#include "ops/statistics/ranks.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "tern/sets.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace {

/// Of each quantile the positions of the elements that it lies between, and the share of the second.
struct QuantilePlaces {
  std::vector<std::int32_t> low, high;
  std::vector<double> share;
};
QuantilePlaces ranks_of(std::span<const double> quantiles, std::int64_t n, Interpolation interpolation) {
  QuantilePlaces p;
  for (const double q : quantiles) {
    const double at = q * static_cast<double>(n - 1);
    double low = std::floor(at), high = std::ceil(at), share = at - low;
    switch (interpolation) {
      case Interpolation::linear: break;
      case Interpolation::lower: high = low, share = 0; break;
      case Interpolation::higher: low = high, share = 0; break;
      case Interpolation::midpoint: share = high > low ? 0.5 : 0; break;
      case Interpolation::nearest: low = high = std::nearbyint(at), share = 0; break;
    }
    p.low.push_back(static_cast<std::int32_t>(low)), p.high.push_back(static_cast<std::int32_t>(high));
    p.share.push_back(share);
  }
  return p;
}

/// x with the axes in `mask` as one, the last.
template <TensorOrVar T> T lined_up(const T& x, std::uint32_t mask) {
  Axes order;
  Shape shape = without_axes(x.shape(), mask);
  std::int64_t n = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (!(mask >> i & 1)) order.push_back(i);
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) order.push_back(i), n *= x.size(i);
  shape.push_back(n);
  return (x.dim() ? x.permute(order) : x).reshape(shape);
}

/// [.., number of quantiles] of x's last axis, in its dtype.
template <TensorOrVar T> T between_ranks(const char* op, const T& x, const QuantilePlaces& at) {
  std::vector<std::int32_t> ranks = at.low;
  const bool apart = at.low != at.high;
  if (apart) ranks.insert(ranks.end(), at.high.begin(), at.high.end());
  ranks.push_back(static_cast<std::int32_t>(x.size(-1) - 1));  // NaN where there is one
  const Tensor places = places_at_ranks(value_of(x), ranks);
  const auto some = static_cast<std::int64_t>(at.low.size());
  const auto elements = [&](std::int64_t from, std::int64_t count) {
    return gather(x, places.slice(-1, from, from + count), -1);
  };
  const T low = elements(0, some), high = apart ? elements(some, some) : low;
  const T last = elements(places.size(-1) - 1, 1);
  // From the nearer end, so that of two equal ones the result is no other; infinities have no difference, and that of
  // the largest numbers of both signs is none.
  static const FormulaGraph* const graph = graph_of([](auto a, auto b, auto top, auto share) {
    const auto d = b - a;
    const auto between = where(share < 0.5, a + share * d, b - (1 - share) * d);
    const auto mixed = where(isfinite(d), between, (1 - share) * a + share * b);
    return where(isnan(top), top, where(share == 0, a, mixed));
  });
  const bool one = at.share.size() == 1;
  const DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor shares = one ? Tensor() : tensor(at.share, wide, x.device());
  const Argument arguments[] = {Argument(low), Argument(high), Argument(last),
                                one ? Argument(at.share[0]) : Argument(shares)};
  const T result = fused_one<T>({op, graph, 0, {}}, arguments);
  return result.dtype() == x.dtype() ? result : result.to(x.dtype());
}

/// `of_q`: the axes in front of the result's.
template <TensorOrVar T>
T quantiles(const char* op, const T& x, std::span<const double> q, const Shape& of_q, const Axes& axes, KeepDim keepdim,
            Interpolation interpolation) {
  const Tensor& values = require_defined(op, "x", value_of(x));
  require_real(op, "x", values);
  const std::uint32_t mask = axis_mask(op, axes, x.dim());
  for (const double each : q)
    if (!(each >= 0 && each <= 1))
      throw Error(ErrorKind::value, std::string(op) + ": q must be in [0, 1], got " + std::to_string(each));
  Shape shape = of_q;
  std::int64_t n = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) n *= x.size(i);
  for (const std::int64_t size : keepdim ? with_ones(x.shape(), mask) : without_axes(x.shape(), mask))
    shape.push_back(size);
  if (n == 0)
    throw Error(ErrorKind::shape, std::string(op) + ": there is no " + op + " of nothing, x is " + describe(values));
  if (n > kMostPositions)
    throw Error(ErrorKind::shape, std::string(op) + ": positions are i32, and the axes of " + describe(values) +
                                      " have " + std::to_string(n) + " elements, more than 2^31-1");
  const bool narrow = dtype_size(x.dtype()) < 4;  // f32 has all of these integers
  const T lines = lined_up(is_floating(x.dtype()) ? x : narrow ? x.to(DType::f32) : in_floating(x), mask);
  if (shape.numel() == 0) return lines.slice(-1, 0, 0).reshape(shape);
  const T result = between_ranks(op, lines, ranks_of(q, n, interpolation));
  Axes order;
  order.push_back(-1);
  for (int i = 0; i + 1 < result.dim(); ++i) order.push_back(i);
  return result.permute(order).reshape(shape);
}

}  // namespace

template <TensorOrVar T>
T quantile(const T& x, double q, const Axes& axes, KeepDim keepdim, Interpolation interpolation) {
  return quantiles("quantile", x, {&q, 1}, {}, axes, keepdim, interpolation);
}
template <TensorOrVar T>
T quantile(const T& x, const Tensor& q, const Axes& axes, KeepDim keepdim, Interpolation interpolation) {
  constexpr const char* op = "quantile";
  require_defined(op, "q", q);
  if (!is_floating(q.dtype())) throw Error(ErrorKind::dtype, "quantile: q must be floating, got " + describe(q));
  require_values(op);
  const std::vector<double> list = q.to(cpu()).to(DType::f64).to_vector<double>();
  return quantiles(op, x, list, q.shape(), axes, keepdim, interpolation);
}
template <TensorOrVar T> T median(const T& x, const Axes& axes, KeepDim keepdim) {
  const double half = 0.5;
  return quantiles("median", x, {&half, 1}, {}, axes, keepdim, Interpolation::midpoint);
}

#define TERN_INSTANCES(T)                                                            \
  template T quantile(const T&, double, const Axes&, KeepDim, Interpolation);        \
  template T quantile(const T&, const Tensor&, const Axes&, KeepDim, Interpolation); \
  template T median(const T&, const Axes&, KeepDim);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace tern
