// Reductions of the elements where a mask is true: formulas of x and the mask.
#include <cmath>
#include <string>

#include "autodiff/instances.hpp"
#include "formula/extremes.hpp"
#include "ops/floating.hpp"
#include "ops/reductions/roots.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/complex.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace {

const Tensor& checked_where(const char* op, const Tensor& x, const Where& which) {
  require_defined(op, "x", x);
  const Tensor& mask = require_defined(op, "where", which.where);
  if (mask.dtype() != DType::boolean)
    throw Error(ErrorKind::dtype, std::string(op) + ": where must be boolean, it is " + describe(mask));
  require_same_device(op, x, mask);
  bool fits = mask.dim() <= x.dim();
  for (int i = 1; fits && i <= mask.dim(); ++i) fits = mask.size(-i) == 1 || mask.size(-i) == x.size(-i);
  if (!fits)
    throw Error(ErrorKind::shape,
                std::string(op) + ": where, " + describe(mask) + ", does not broadcast to x, " + describe(x));
  return mask;
}
/// Whether its sums are of its own dtype, or of f32's, in which it is computed.
bool sums_alone(DType dtype) { return dtype_size(dtype) >= 4 || is_floating(dtype); }

/// A formula of x, the mask, and of a number where it has three inputs.
template <TensorOrVar T>
T over_taken(const char* op, const FormulaGraph* graph, const T& x, const Axes& axes, bool keepdim, const Where& which,
          Number number = 0) {
  const Tensor& mask = checked_where(op, value_of(x), which);
  const FusedCall call{op, graph, axis_mask(op, axes, x.dim()), x.shape(), {}, !keepdim};
  const Argument arguments[] = {Argument(x), Argument(mask), Argument(number)};
  return fused_one<T>(call, std::span(arguments).first(static_cast<std::size_t>(graph->inputs)));
}
/// How many are taken, in x's dtype. (What is not taken may be infinite: 0 times that is none.)
Expr count(Expr x, Expr mask) { return sum(where(mask, 1, 0 * detach(where(mask, x, 0)))); }
Expr masked_mean(Expr x, Expr mask) { return sum(where(mask, x, 0)) / count(x, mask); }
Expr masked_variance(Expr x, Expr mask, Expr correction) {
  const Expr centred = where(mask, x - masked_mean(x, mask), 0);
  return sum(centred * centred) / maximum(count(x, mask) - correction, 0);
}
void require_elements(const char* op, const Tensor& x, const Axes& axes) {
  require_defined(op, "x", x);
  const std::uint32_t reduced_axes = axis_mask(op, axes, x.dim());
  for (int i = 0; i < x.dim(); ++i)
    if ((reduced_axes >> i & 1) && x.size(i) == 0)
      throw Error(ErrorKind::shape, std::string(op) + ": axis " + std::to_string(i) + " of " + describe(x) +
                                        " is empty, and there is no " + op + " over nothing");
}

}  // namespace

template <TensorOrVar T> T sum(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  const Tensor& mask = checked_where("sum", value_of(x), which);
  if (!sums_alone(x.dtype())) return sum(where(mask, x, 0), axes, keepdim);  // those sum in a wider one
  return over_taken("sum", graph_of([](auto v, auto m) { return sum(where(m, v, 0)); }), x, axes, keepdim, which);
}
template <TensorOrVar T> T mean(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  checked_where("mean", value_of(x), which);
  if (!is_differentiable(x.dtype())) return mean(in_floating(x), axes, keepdim, which).to(DType::f32);
  return over_taken("mean", graph_of([](auto v, auto m) { return masked_mean(v, m); }), x, axes, keepdim, which);
}
template <TensorOrVar T> T prod(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  return prod(where(checked_where("prod", value_of(x), which), x, 1), axes, keepdim);
}
template <TensorOrVar T> T max(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  require_elements("max", value_of(x), axes);
  static const FormulaGraph* const graph = graph_of([](auto v, auto m, auto low) { return max(where(m, v, low)); });
  return over_taken("max", graph, x, axes, keepdim, which, extreme_of(x.dtype(), false));
}
template <TensorOrVar T> T min(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  require_elements("min", value_of(x), axes);
  static const FormulaGraph* const graph = graph_of([](auto v, auto m, auto high) { return min(where(m, v, high)); });
  return over_taken("min", graph, x, axes, keepdim, which, extreme_of(x.dtype(), true));
}
template <TensorOrVar T> T var(const T& x, const Axes& axes, KeepDim keepdim, const Where& which, double correction) {
  checked_where("var", value_of(x), which);
  if (is_complex(x.dtype()))
    return var(real(x), axes, keepdim, which, correction) + var(imag(x), axes, keepdim, which, correction);
  if (!is_floating(x.dtype())) return var(in_floating(x), axes, keepdim, which, correction).to(DType::f32);
  return over_taken("var", graph_of([](auto v, auto m, auto c) { return masked_variance(v, m, c); }), x, axes, keepdim,
                 which, correction);
}
template <TensorOrVar T> T std(const T& x, const Axes& axes, KeepDim keepdim, const Where& which, double correction) {
  checked_where("std", value_of(x), which);
  if (!is_floating(x.dtype())) return root_or_zero("std", var(x, axes, keepdim, which, correction));
  return over_taken("std", graph_of([](auto v, auto m, auto c) { return root_or_zero(masked_variance(v, m, c)); }), x,
                 axes, keepdim, which, correction);
}
// Over nothing max of predicates gives the lowest integer: the comparison makes that false, and true for min.
template <TensorOrVar T> Tensor any(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  static const FormulaGraph* const graph =
      graph_of([](auto v, auto m) { return max(cast((v != 0) & m, DType::i32)) > 0; });
  return over_taken("any", graph, value_of(x), axes, keepdim, which);
}
template <TensorOrVar T> Tensor all(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  static const FormulaGraph* const graph =
      graph_of([](auto v, auto m) { return min(cast((v != 0) | (m == 0), DType::i32)) > 0; });
  return over_taken("all", graph, value_of(x), axes, keepdim, which);
}
template <TensorOrVar T> Tensor count_nonzero(const T& x, const Axes& axes, KeepDim keepdim, const Where& which) {
  constexpr const char* op = "count_nonzero";
  const Tensor& values = require_defined(op, "x", value_of(x));
  std::int64_t counted = 1;
  for (int i = 0; i < values.dim(); ++i)
    if (axis_mask(op, axes, values.dim()) >> i & 1) counted *= values.size(i);
  if (counted > kMostPositions)
    throw Error(ErrorKind::shape, std::string(op) + ": i32 cannot count the " + std::to_string(counted) +
                                      " elements of " + describe(values) + "; take it in parts");
  static const FormulaGraph* const graph = graph_of([](auto v, auto m) { return sum(cast((v != 0) & m, DType::i32)); });
  return over_taken(op, graph, values, axes, keepdim, which);
}

#define TERN_INSTANCES(T)                                               \
  template T sum(const T&, const Axes&, KeepDim, const Where&);         \
  template T mean(const T&, const Axes&, KeepDim, const Where&);        \
  template T prod(const T&, const Axes&, KeepDim, const Where&);        \
  template T max(const T&, const Axes&, KeepDim, const Where&);         \
  template T min(const T&, const Axes&, KeepDim, const Where&);         \
  template T var(const T&, const Axes&, KeepDim, const Where&, double); \
  template T std(const T&, const Axes&, KeepDim, const Where&, double); \
  template Tensor any(const T&, const Axes&, KeepDim, const Where&);    \
  template Tensor all(const T&, const Axes&, KeepDim, const Where&);    \
  template Tensor count_nonzero(const T&, const Axes&, KeepDim, const Where&);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace tern
