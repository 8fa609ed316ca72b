// Operations composed of others: no kernel and no rule of their own. All there is of one stands here (how to write one:
// docs/add_an_operation.md); the entries, in TERN_ENTRIES, are compiled into tests and tools only.
#pragma once
#include <string>

#include "tern/ops.hpp"
#include "tern/sets.hpp"

namespace tern {

/// x converted; the gradient is converted back.
template <TensorOrVar T> T cast(const T& x, DType dtype) { return x.to(dtype); }

/// The first half of x along an axis, times the sigmoid of the second.
template <TensorOrVar T> T glu(const T& x, int axis = -1) {
  const std::vector<T> halves = split(x, 2, axis);
  return sigmoid_mul(halves[1], halves[0]);
}

/// x without its axes of size 1: a view.
template <TensorOrVar T> T squeeze(const T& x) {
  T result = x;
  for (int axis = x.dim() - 1; axis >= 0; --axis)
    if (x.size(axis) == 1) result = result.squeeze(axis);
  return result;
}

/// The piecewise linear function through (points[i], values[i]) at each element of x, constant beyond the first and the
/// last point. Two vectors of one length (else `shape`); the points must increase, which is not checked. NaN gives NaN.
/// At a point the gradient is that from the left.
template <TensorOrVar X, TensorOrVar P, TensorOrVar V> auto interp(const X& x, const P& points, const V& values) {
  if (points.dim() != 1 || points.shape() != values.shape() || points.size(0) == 0)
    throw Error(ErrorKind::shape, "interp: expected points and values of one shape [n] with n of 1 or more, got " +
                                      to_string(points.shape()) + " and " + to_string(values.shape()));
  const std::int64_t last = points.size(0) - 1;
  const Tensor right = clamp(searchsorted(points, x), last > 0 ? 1 : 0, last), left = maximum(right - 1, 0);
  const auto from = take(points, left), to = take(points, right);
  // One kernel, which computes 16-bit floats in f32.
  constexpr Pointwise<> line{"interp", [](auto at, auto p, auto q, auto v, auto w, auto first, auto end) {
                               const auto share = (at - p) / where(q > p, q - p, 1);
                               return lerp(v, w, where(at <= first, 0, where(at > end, 1, share)));
                             }};
  return line(x, take(points, left), take(points, right), take(values, left), take(values, right), points[0],
              points[-1]);
}

}  // namespace tern

#ifdef TERN_ENTRIES
#include "ops/entry.hpp"

namespace tern::operations {

const Entries entry_of_cast{{
    .name = "cast",
    .family = Family::compositions,
    .arguments = "x, dtype",
    .says = "x converted; the gradient is converted back",
    .tolerance = {0, "no element changes"},
    .samples = {{.shapes =
                     [](Sizes s) {
                       return std::vector<Shape>{{s.rows, s.columns}};
                     },
                 .call = [](const auto& x) { return cast(x, dtype_size(x.dtype()) == 2 ? f32 : x.dtype()); },
                 .reference = [](const auto& x) { return x; }}},
    .bad = {{ErrorKind::shape, {"undefined Tensor"}, [](auto make) { cast(decltype(make({}))(), f32); }}},
}};
const Entries entry_of_glu{{
    .name = "glu",
    .family = Family::compositions,
    .arguments = "x, axis = -1",
    .says = "The first half of x along an axis, times the sigmoid of the second",
    .tolerance = {4, "a sigmoid and a product"},
    .samples = {{.shapes =
                     [](Sizes s) {
                       return std::vector<Shape>{{s.rows, 2 * s.columns}};
                     },
                 .call = [](const auto& x) { return glu(x); },
                 .reference =
                     [](const auto& x) {
                       const std::int64_t rows = x[0].shape[0], columns = x[0].shape[1] / 2;
                       Values y{{rows, columns}, {}};
                       for (std::int64_t i = 0; i < rows * columns; ++i) {
                         const auto at = static_cast<std::size_t>(i / columns * 2 * columns + i % columns);
                         y.of.push_back(x[0].of[at] / (1 + std::exp(-x[0].of[at + static_cast<std::size_t>(columns)])));
                       }
                       return std::vector{y};
                     }}},
    .bad = {{ErrorKind::shape,
             {"split", "does not divide into 2 parts"},
             [](auto make) {
               glu(make({2, 3}));
             }}},
}};
const Entries entry_of_interp{{
    .name = "interp",
    .family = Family::compositions,
    .arguments = "x, points, values",
    .says =
        "The piecewise linear function through (points[i], values[i]) at each element of x, constant beyond the first "
        "and the last point",
    .tolerance = {8, "a quotient and a mixture"},
    .samples = {{.shapes =
                     [](Sizes s) {
                       return std::vector<Shape>{{s.rows, s.columns}, {4}};
                     },
                 .call =
                     [](const auto& x, const auto& values) {
                       const Tensor points = tensor({-0.75, -0.25, 0.125, 0.5}).to(x.dtype()).to(x.device());
                       return interp(x, points, values);
                     },
                 .reference =
                     [](const auto& x) {
                       const double points[] = {-0.75, -0.25, 0.125, 0.5};
                       Values y{x[0].shape, {}};
                       for (const double at : x[0].of) {
                         std::size_t i = 1;
                         while (i < 3 && points[i] < at) ++i;
                         const double t = (at - points[i - 1]) / (points[i] - points[i - 1]);
                         const double weight = std::clamp(t, 0.0, 1.0);
                         y.of.push_back(x[1].of[i - 1] * (1 - weight) + x[1].of[i] * weight);
                       }
                       return std::vector{y};
                     }}},
    .bad = {{ErrorKind::shape, {"interp", "[3]", "[4]"}, [](auto make) { interp(make({2}), make({3}), make({4})); }}},
}};

}  // namespace tern::operations
#endif
