// Equations, inverses and determinants by LU, and the rules of their derivatives.
#include <limits>
#include <vector>

#include "primitives/linalg/operations/operation.hpp"

namespace tern {

using namespace detail;

namespace detail {

namespace {
LuTensors without_solution(const LuTensors& made) { return {made.lu, made.pivots, made.info, {}}; }
}  // namespace

Tensor solve_with(const char* op, const Tensor&, const LuTensors& factors, const Tensor& b, bool adjoint) {
  return factors.x.defined() ? factors.x : lu_solve_tensor(op, factors.lu, factors.pivots, b, adjoint, false);
}
/// X = A⁻¹·B: B's gradient is A⁻ᴴ·g by the same factors, A's is -gB·Xᴴ. So to any order.
Var solve_with(const char* op, const Var& a, const LuTensors& factors, const Var& b, bool transposed) {
  const Var inputs[] = {a, b};
  const Tensor value = solve_with(op, a.value(), factors, b.value(), transposed);
  return record_one(op, inputs, value, PoolVector<Save>{{as_var(a.value()), -1, 0}, {Var(), 0}},
                    [=, factors = without_solution(factors)](const RuleContext& c) {
                      const Var& x = c.saved[1];
                      PoolVector<Var> grads(2);
                      const Var g_b = grads[1] = solve_with(op, c.saved[0], factors, c.grads[0], !transposed);
                      if (c.wanted[0] && c.needed[0])
                        grads[0] = -(transposed ? matmul(x, adjoint(g_b)) : matmul(g_b, adjoint(x)));
                      return grads;
                    });
}

namespace {

LuTensors over_batch(const LuTensors& made, const Shape& batch, std::int64_t n) {
  return {made.lu.broadcast_to(with_sizes(batch, {n, n})), made.pivots.broadcast_to(with_sizes(batch, {n})), made.info,
          made.x};
}
/// 1 or -1 for each matrix: the permutation's sign.
Tensor sign_of(const Tensor& pivots, DType dtype) {
  const Tensor places = arange(0, pivots.size(-1), 1, {.dtype = i32, .device = pivots.device()});
  return 1 - 2 * (sum((pivots != places).to(i32), {-1}) % 2).to(real_dtype(dtype));
}
/// The diagonal's product, with the permutation's sign: of numbers near 1, and of powers of two, whose exponents are
/// summed, so that nothing overflows or vanishes on the way where the determinant does not. What is near 1 is between
/// 2^-f and 2^(1-f), with fractions f that are spread evenly: neither do products of many such numbers alike.
Tensor det_of(const LuTensors& made) {
  static const Pointwise apart("det", [](auto p, auto row) {
    auto size = abs(p), spread = cast(index(p, -1), DType::f32) * 0.6180339887498949;
    auto power = where((size > 0) & isfinite(size), floor(log2(size) + (spread - floor(spread))), 0);
    auto half = floor(power * 0.5);  // 2^1074 is beyond f64
    auto near = p * exp2(-half) * exp2(half - power);
    return std::array{where(row != index(p, -1), -near, near), power};  // an exchange changes the sign
  });
  static const Pointwise together("det", [](auto product, auto power, auto most) {
    auto bounded = clamp(power, -most, most), half = floor(bounded * 0.5);
    return product * exp2(half) * exp2(bounded - half);
  });
  const auto [near, powers] = apart(diagonal(made.lu, 0, -2, -1), made.pivots);
  const double most = real_dtype(made.lu.dtype()) == DType::f64 ? 1200 : 250;  // of no finite result is it more
  return together(prod(near, {-1}), sum(powers, {-1}), most);
}
/// The factors with pivots of 0 replaced by ones next to nothing: of a matrix that differs from the original by
/// roundings, so that cofactors, which are polynomials, differ by as much.
LuTensors regular(const LuTensors& made) {
  const double epsilon = real_dtype(made.lu.dtype()) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                                   : std::numeric_limits<float>::epsilon();
  const Tensor pivots = diagonal(made.lu, 0, -2, -1);
  if (pivots.size(-1) == 0) return made;
  const Tensor size = max(abs(triu(made.lu)), {-2, -1}).unsqueeze(-1);
  const Tensor least = where(size == 0, 1, size) * epsilon;
  const Tensor added = where(abs(pivots) == 0, least, 0);
  return {made.lu + diag_embed(added), made.pivots, made.info, {}};
}

}  // namespace
}  // namespace detail

namespace linalg {
namespace {

/// b as matrices: whether it is a vector, or one for each matrix of a.
template <class A, class B> bool is_vector(const A& a, const B& b) {
  return b.dim() == 1 || (b.dim() == a.dim() - 1 && b.shape() == batch_of(a.shape(), 1));
}

template <TensorOrVar A, TensorOrVar B>
SolveEx<ResultOf<A, B>> solve_in(const char* op, const A& a, const B& b, bool checked) {
  using R = ResultOf<A, B>;
  require_square(op, "a", value_of(a)), require_defined(op, "b", value_of(b));
  const bool vector = is_vector(a, b);
  const std::int64_t n = a.size(-1);
  if (b.dim() < 1 || b.size(vector ? -1 : -2) != n)
    throw Error(ErrorKind::shape, std::string(op) + ": b must have as many rows as a, " + describe(value_of(a)) +
                                      ", it is " + describe(value_of(b)));
  const DType dtype = promote_types(a.dtype(), b.dtype());
  R matrix = widened(operand_as<R>(a).to(dtype)), x = widened(operand_as<R>(b).to(dtype));
  require_matrices(op, "a", value_of(matrix));
  if (is_small(value_of(matrix))) {
    broadcast_shapes(op, batch_of(a.shape()), batch_of(b.shape(), vector ? 1 : 2));
    SmallResult<R> made = small_solve(matrix, x, vector);
    if (checked) require_status(op, value_of(matrix), made.info, PrimitiveId::lu);
    return {narrowed(std::move(made.value), dtype), made.info};
  }
  if (vector) x = x.unsqueeze(-1);
  const Shape own = batch_of(matrix.shape());
  SidesOfLu sides;
  sides.kept = std::same_as<R, Var>;
  if (broadcast_shapes(op, own, batch_of(x.shape())) == own)  // no matrix is several sides'
    sides.b = value_of(x).broadcast_to(with_sizes(own, {n, x.size(-1)}));
  const LuTensors made = lu_tensors(op, value_of(matrix), checked, !checked, sides);
  broadcast_batches(op, matrix, x);
  const R y = solve_with(op, matrix, over_batch(made, batch_of(x.shape()), n), x, false);
  return {narrowed(vector ? y.squeeze(-1) : y, dtype), made.info};
}

template <TensorOrVar T> InverseEx<T> inv_in(const char* op, const T& a, bool checked) {
  require_square(op, "a", value_of(a));
  const T wide = widened(a);
  if (is_small(value_of(a))) {
    SmallResult<T> made = small_inv(wide);
    if (checked) require_status(op, value_of(a), made.info, PrimitiveId::lu);
    return {narrowed(std::move(made.value), a.dtype()), made.info};
  }
  const LuTensors made = lu_tensors(op, value_of(wide), checked, !checked);
  const Tensor one = identity_like(value_of(wide), a.size(-1)).broadcast_to(a.shape());
  if constexpr (std::same_as<T, Var>)
    return {narrowed(solve_with(op, wide, made, as_var(one), false), a.dtype()), made.info};
  else return {narrowed(solve_with(op, wide, made, one, false), a.dtype()), made.info};
}

Tensor det_in(const Tensor& a) { return det_of(lu_tensors("det", a, false, false)); }
/// det as a function of a, whose factors are known: the gradient is conj(det)·A⁻ᴴ.
Var det_known(const Var& a, const LuTensors& made, const LuTensors& near) {
  const Tensor value = det_of(made);
  return record_one("det", {&a, 1}, value, PoolVector<Save>{{as_var(a.value()), -1, 0}}, [=](const RuleContext& c) {
    const Var& x = c.saved[0];
    const Tensor one = identity_like(x.value(), x.size(-1)).broadcast_to(x.shape());
    const Var scale = c.grads[0] * conjugated(det_known(x, near, near));
    return PoolVector<Var>{scale.unsqueeze(-1).unsqueeze(-1) * solve_with("det", x, near, as_var(one), true)};
  });
}
Var det_in(const Var& a) {
  const LuTensors made = lu_tensors("det", a.value(), false, false);
  if (!tracked({&a, 1})) return as_var(det_of(made));
  return det_known(a, made, regular(made));
}

struct SignAndLog {
  Tensor sign, log;
};
SignAndLog slogdet_of(const LuTensors& made) {
  const Tensor pivots = diagonal(made.lu, 0, -2, -1);
  const Tensor size = abs(pivots);
  return {prod(sign(pivots), {-1}) * sign_of(made.pivots, made.lu.dtype()), sum(log(size), {-1})};
}
Slogdet<Tensor> slogdet_in(const Tensor& a) {
  const SignAndLog made = slogdet_of(lu_tensors("slogdet", a, false, false));
  return {made.sign, made.log};
}
/// With z = tr(A⁻¹·dA): d log|det| = Re z, d sign = i·sign·Im z.
Slogdet<Var> slogdet_in(const Var& a) {
  const LuTensors factors = lu_tensors("slogdet", a.value(), false, false);
  const SignAndLog made = slogdet_of(factors);
  if (!tracked({&a, 1})) return {as_var(made.sign), as_var(made.log)};
  const std::vector<Var> both = record(
      "slogdet", {&a, 1}, {made.sign, made.log}, {{as_var(a.value()), -1, 0}, {Var(), 0}}, [=](const RuleContext& c) {
        const Var &x = c.saved[0], &s = c.saved[1];
        Var scale = c.grads[1];
        if (c.grads[0].defined() && is_complex(x.dtype())) {
          const Var phase = -imag(conj(c.grads[0]) * s);
          scale = make_complex(scale.defined() ? scale : phase * 0, phase);
        }
        if (!scale.defined()) return PoolVector<Var>{x * 0};
        const Tensor one = identity_like(x.value(), x.size(-1)).broadcast_to(x.shape());
        return PoolVector<Var>{scale.unsqueeze(-1).unsqueeze(-1) *
                               solve_with("slogdet", x, factors, as_var(one), true)};
      });
  return {both[0], both[1]};
}

}  // namespace

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> solve(const A& a, const B& b) {
  return solve_in("solve", a, b, true).result;
}
template <TensorOrVar A, TensorOrVar B> SolveEx<ResultOf<A, B>> solve_ex(const A& a, const B& b) {
  return solve_in("solve_ex", a, b, false);
}
template <TensorOrVar T> T inv(const T& a) { return inv_in("inv", a, true).inverse; }
template <TensorOrVar T> InverseEx<T> inv_ex(const T& a) { return inv_in("inv_ex", a, false); }
template <TensorOrVar T> T det(const T& a) {
  require_square("det", "a", value_of(a));
  if (is_small(value_of(a))) return narrowed(small_det(widened(a)), a.dtype());
  return narrowed(det_in(widened(a)), a.dtype());
}
template <TensorOrVar T> Slogdet<T> slogdet(const T& a) {
  require_square("slogdet", "a", value_of(a));
  if (is_small(value_of(a))) {
    const SmallPair<T> made = small_slogdet(widened(a));
    return {narrowed(made.sign, a.dtype()), narrowed(made.log, a.dtype())};
  }
  const Slogdet<T> made = slogdet_in(widened(a));
  return {narrowed(made.sign, a.dtype()), narrowed(made.logabsdet, a.dtype())};
}

#define TERN_INSTANCES(T)                 \
  template T inv(const T&);               \
  template InverseEx<T> inv_ex(const T&); \
  template T det(const T&);               \
  template Slogdet<T> slogdet(const T&);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES
TERN_INSTANCES_2(ResultOf, solve)
#define TERN_SOLVE_EX(A, B) template SolveEx<ResultOf<A, B>> solve_ex(const A&, const B&);
TERN_SOLVE_EX(Tensor, Tensor)
TERN_SOLVE_EX(Tensor, Var)
TERN_SOLVE_EX(Var, Tensor)
TERN_SOLVE_EX(Var, Var)
#undef TERN_SOLVE_EX

}  // namespace linalg
}  // namespace tern
