// Whether two tensors are equal up to a tolerance.
#include "primitives/fused/operation.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {
const FormulaGraph* close_graph() {
  return graph_of([](auto x, auto y, auto rtol, auto atol) {  // x - y is NaN for equal infinities
    const auto near = bit_and(abs(y) < Expr(kInf), abs(x - y) <= atol + rtol * abs(y));
    return bit_or(x == y, near);
  });
}
/// Of integers, through i64: their distance as an unsigned number, against the tolerance rounded down.
const FormulaGraph* close_integers_graph() {
  return graph_of([](auto x, auto y, auto rtol, auto atol) {
    const auto a = cast(x, DType::i64), b = cast(y, DType::i64);
    const auto distance = where(a > b, a - b, b - a);  // modulo 2^64
    const auto tolerance = cast(atol, DType::f64) + cast(rtol, DType::f64) * abs(cast(b, DType::f64));
    const auto near = bit_and(distance >= 0, distance <= cast(tolerance, DType::i64));
    const auto far = bit_and(distance < 0, cast(distance, DType::f64) + Expr(0x1p64) <= tolerance);
    return bit_or(x == y, bit_or(near, far));
  });
}

bool are_close(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  require_defined("allclose", "a", a), require_defined("allclose", "b", b);
  const bool floating = is_differentiable(a.dtype()) || is_differentiable(b.dtype());
  const auto lacks_f64 = [](const Tensor& t) { return !has_kernels_for(t, DType::f64); };
  if (!floating && a.device() == b.device() && lacks_f64(a))
    return are_close(a.to(cpu()), b.to(cpu()), rtol, atol, equal_nan);
  const Argument arguments[] = {Argument(a), Argument(b), Argument(rtol), Argument(atol)};
  const FormulaGraph* const graph = floating ? close_graph() : close_integers_graph();
  Tensor result = fused_one<Tensor>({"allclose", graph, 0, {}}, arguments);
  if (equal_nan && floating) result = bit_or(result, bit_and(a != a, b != b));
  return all(result).item<bool>();
}
}  // namespace

template <TensorOrVar A, TensorOrVar B> bool allclose(const A& a, const B& b, double rtol, double atol, bool nan) {
  return are_close(value_of(a), value_of(b), rtol, atol, nan);
}
template bool allclose(const Tensor&, const Tensor&, double, double, bool);
template bool allclose(const Tensor&, const Var&, double, double, bool);
template bool allclose(const Var&, const Tensor&, double, double, bool);
template bool allclose(const Var&, const Var&, double, double, bool);

}  // namespace tern
