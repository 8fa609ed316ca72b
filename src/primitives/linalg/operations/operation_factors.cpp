// Triangles, Cholesky, LU and QR, and the rules of their derivatives.
#include <string>
#include <vector>

#include "backend/recording/capture.hpp"
#include "primitives/linalg/operations/operation.hpp"

namespace tern {

using namespace detail;

namespace detail {

/// Left of a tensor is a constant.
template <class R> R as_result(const Tensor& t) {
  if constexpr (std::same_as<R, Var>) return as_var(t);
  else return t;
}

namespace {
Tensor triangular_of(const char* op, const Tensor& a, const Tensor& b, bool upper, char how, bool unit) {
  return triangular_tensor(op, a, b, upper, how, unit);
}
/// X = T⁻¹·B: B's gradient is T⁻ᴴ·g, T's the triangle of -gB·Xᴴ.
Var triangular_of(const char* op, const Var& a, const Var& b, bool upper, char how, bool unit) {
  const Var inputs[] = {a, b};
  PoolVector<Save> saved{{as_var(a.value()), -1, 0}, {Var(), 0}};
  return record_one(op, inputs, triangular_tensor(op, a.value(), b.value(), upper, how, unit), std::move(saved),
                    [=](const RuleContext& c) {
                      const Var &t = c.saved[0], &x = c.saved[1];
                      const Var g_b = triangular_of(op, t, c.grads[0], upper, how == 'N' ? 'C' : 'N', unit);
                      PoolVector<Var> grads(2);
                      grads[1] = g_b;
                      if (!c.wanted[0] || !c.needed[0]) return grads;
                      const Var full = -(how == 'N' ? matmul(g_b, adjoint(x)) : matmul(x, adjoint(g_b)));
                      grads[0] = upper ? triu(full, unit ? 1 : 0) : tril(full, unit ? -1 : 0);
                      return grads;
                    });
}
Tensor permuted_of(const char* op, const Tensor& pivots, const Tensor& x, bool transposed) {
  const std::int64_t n = x.size(-2);
  Shape square = pivots.shape();
  square.push_back(n);
  const Tensor none = zeros({}, {.dtype = x.dtype(), .device = x.device()}).broadcast_to(square);
  return lu_solve_tensor(op, none, pivots, x, !transposed, true);
}
Var permuted_of(const char* op, const Tensor& pivots, const Var& x, bool transposed) {
  return record_one(op, {&x, 1}, permuted_of(op, pivots, x.value(), transposed), {}, [=](const RuleContext& c) {
    return PoolVector<Var>{permuted_of(op, pivots, c.grads[0], !transposed)};
  });
}
}  // namespace

template <TensorOrVar T> T triangular(const char* op, const T& a, const T& b, bool upper, char how, bool unit) {
  return triangular_of(op, a, b, upper, how, unit);
}
template Tensor triangular(const char*, const Tensor&, const Tensor&, bool, char, bool);
template Var triangular(const char*, const Var&, const Var&, bool, char, bool);
template <TensorOrVar T> T permuted(const char* op, const Tensor& pivots, const T& x, bool transposed) {
  return permuted_of(op, pivots, x, transposed);
}
template Tensor permuted(const char*, const Tensor&, const Tensor&, bool);
template Var permuted(const char*, const Tensor&, const Var&, bool);

template <TensorOrVar A, TensorOrVar B> void broadcast_batches(const char* op, A& a, B& b) {
  const Shape batch = broadcast_shapes(op, batch_of(a.shape()), batch_of(b.shape()));
  const auto spread = [&](auto& x) {
    const Shape whole = with_sizes(batch, {x.size(-2), x.size(-1)});
    if (x.shape() != whole) x = x.broadcast_to(whole);
  };
  spread(a), spread(b);
}
template void broadcast_batches(const char*, Tensor&, Tensor&);
template void broadcast_batches(const char*, Var&, Var&);

namespace {

/// The triangle of columns⁻¹: tril with half its diagonal, which is real.
Var half_triangle(const Var& x) { return tril(x, -1) + diag_embed(real(diagonal(x, 0, -2, -1)) * 0.5); }

Tensor cholesky_of(const char* op, const Tensor& a, bool checked, Tensor* info) {
  return cholesky_tensor(op, a, checked, info);
}
Var cholesky_of(const char* op, const Var& a, bool checked, Tensor* info) {
  return record_one(op, {&a, 1}, cholesky_tensor(op, a.value(), checked, info), PoolVector<Save>{{Var(), 0}},
                    [op](const RuleContext& c) {
                      const Var& l = c.saved[0];
                      const Var inner = half_triangle(matmul(adjoint(l), c.grads[0]));
                      const Var left = triangular(op, l, inner, false, 'C');
                      return PoolVector<Var>{hermitian(adjoint(triangular(op, l, adjoint(left), false, 'C')))};
                    });
}

/// Both triangles of a square matrix whose rows need no exchange, and which are known.
Var known_lu(const char* op, const Var& a, const Tensor& lu) {
  return record_one(op, {&a, 1}, lu, PoolVector<Save>{{Var(), 0}}, [op](const RuleContext& c) {
    const Var &f = c.saved[0], &g = c.grads[0];
    const Var one = as_var(identity_like(f.value(), f.size(-1)));
    const Var l = tril(f, -1) + one, u = triu(f);
    const Var inner = tril(matmul(adjoint(l), tril(g, -1)), -1) + triu(matmul(triu(g), adjoint(u)));
    const Var left = triangular(op, f, inner, false, 'C', true);
    return PoolVector<Var>{adjoint(triangular(op, f, adjoint(left), true, 'N'))};
  });
}

/// Pivots of all m rows; those behind what was factorised are exchanged with nobody.
Tensor pivots_of_all(const Tensor& pivots, std::int64_t m) {
  const std::int64_t k = pivots.size(-1);
  if (m == k) return pivots;
  Shape rest = pivots.shape();
  rest.back() = m - k;
  return concatenate(
      std::vector<Tensor>{pivots, arange(k, m, 1, {.dtype = i32, .device = pivots.device()}).broadcast_to(rest)}, -1);
}

}  // namespace

/// The factors of a, given as tensors, as functions of a.
Tensor lu_as(const char*, const Tensor&, const LuTensors& made) { return made.lu; }
Var lu_as(const char* op, const Var& a, const LuTensors& made) {
  if (!tracked({&a, 1})) return as_var(made.lu);
  const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Var moved = permuted(op, pivots_of_all(made.pivots, m), a, true);
  const Var first = known_lu(op, moved.slice(-2, 0, k).slice(-1, 0, k), made.lu.slice(-2, 0, k).slice(-1, 0, k));
  if (m > k) {
    const Var below = adjoint(triangular(op, first, adjoint(moved.slice(-2, k, m)), true, 'C'));
    return concatenate(std::vector<Var>{first, below}, -2);
  }
  if (n > k)
    return concatenate(std::vector<Var>{first, triangular(op, first, moved.slice(-1, k, n), false, 'N', true)}, -1);
  return first;
}

}  // namespace detail

namespace linalg {

template <TensorOrVar T> CholeskyEx<T> cholesky_in(const char* op, const T& a, bool upper, bool checked) {
  require_square(op, "a", value_of(a));
  const T wide = upper ? adjoint(widened(a)) : widened(a);
  if (is_small(value_of(a))) {
    SmallResult<T> made = small_cholesky(wide);
    if (checked) require_status(op, value_of(a), made.info, PrimitiveId::cholesky);
    return {narrowed(upper ? adjoint(made.value) : made.value, a.dtype()), checked ? Tensor() : made.info};
  }
  Tensor info;
  const T l = cholesky_of(op, wide, checked, checked ? nullptr : &info);
  return {narrowed(upper ? adjoint(l) : l, a.dtype()), info};
}
template <TensorOrVar T> T cholesky(const T& a, bool upper) { return cholesky_in("cholesky", a, upper, true).l; }
template <TensorOrVar T> CholeskyEx<T> cholesky_ex(const T& a, bool upper) {
  return cholesky_in("cholesky_ex", a, upper, false);
}

template <TensorOrVar T> LuFactorEx<T> lu_factor_in(const char* op, const T& a, bool checked) {
  require_matrices(op, "a", value_of(a));
  const T wide = widened(a);
  const LuTensors made = lu_tensors(op, value_of(wide), checked, !checked);
  return {narrowed(lu_as(op, wide, made), a.dtype()), made.pivots, made.info};
}
template <TensorOrVar T> LuFactor<T> lu_factor(const T& a) {
  const LuFactorEx<T> made = lu_factor_in("lu_factor", a, true);
  return {made.lu, made.pivots};
}
template <TensorOrVar T> LuFactorEx<T> lu_factor_ex(const T& a) { return lu_factor_in("lu_factor_ex", a, false); }
template <TensorOrVar T> Lu<T> lu(const T& a) {
  constexpr const char* op = "lu";
  require_matrices(op, "a", value_of(a));
  const T wide = widened(a);
  const LuTensors made = lu_tensors(op, value_of(wide), false, false);
  const T both = lu_as(op, wide, made);
  const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Tensor ones = shifted_eye(m, k, 0, {.dtype = wide.dtype(), .device = a.device()});
  const Tensor p =
      permuted(op, pivots_of_all(made.pivots, m),
               identity_like(value_of(wide), m).broadcast_to(with_sizes(batch_of(a.shape()), {m, m})), false);
  const auto fit = [&](const T& x) { return narrowed(x, a.dtype()); };
  return {fit(as_result<T>(p)), fit(tril(both.slice(-1, 0, k), -1) + ones), fit(triu(both.slice(-2, 0, k)))};
}
namespace {
/// On GPUs, and at replays, they are checked as indices are.
void check_pivots(const char* op, const Tensor& pivots, std::int64_t n) {
  if (pivots.numel() == 0) return;
  if (!in_host_memory(pivots) || current_capture())
    return require_indices("lu_solve (pivots, as lu_factor counts rows)", pivots, n, false);
  if (any(logical_or(pivots < 0, pivots >= n)).item<bool>())
    throw Error(ErrorKind::index, std::string(op) + ": pivots must be from 0 to " + std::to_string(n - 1) +
                                      ", as lu_factor counts rows; there are others");
}
}  // namespace
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> lu_solve(const A& lu, const Tensor& pivots, const B& b) {
  using R = ResultOf<A, B>;
  constexpr const char* op = "lu_solve";
  require_square(op, "lu", value_of(lu)), require_matrices(op, "b", value_of(b)), require_defined(op, "pivots", pivots);
  if (b.size(-2) != lu.size(-1))
    throw Error(ErrorKind::shape, "lu_solve: b must have as many rows as lu, " + describe(value_of(lu)) + ", it is " +
                                      describe(value_of(b)));
  if (pivots.dtype() != i32 || pivots.shape() != with_sizes(batch_of(lu.shape()), {lu.size(-1)}))
    throw Error(ErrorKind::shape,
                "lu_solve: pivots must be what lu_factor gave, i32 [.., N], they are " + describe(pivots));
  check_pivots(op, pivots, lu.size(-1));
  const DType dtype = promote_types(lu.dtype(), b.dtype());
  R f = widened(operand_as<R>(lu).to(dtype)), x = widened(operand_as<R>(b).to(dtype));
  broadcast_batches(op, f, x);
  const Tensor rows = pivots.broadcast_to(with_sizes(batch_of(f.shape()), {f.size(-1)}));
  if constexpr (std::is_same_v<R, Tensor>) {
    return narrowed(lu_solve_tensor(op, f, rows, x, false, false), dtype);
  } else {  // in pieces that are differentiable in lu as well
    const R moved = permuted(op, rows, x, true);
    return narrowed(triangular(op, f, triangular(op, f, moved, false, 'N', true), true, 'N'), dtype);
  }
}

template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> solve_triangular(const A& a, const B& b, bool upper, bool left, bool unit_triangular) {
  using R = ResultOf<A, B>;
  constexpr const char* op = "solve_triangular";
  require_square(op, "a", value_of(a)), require_matrices(op, "b", value_of(b));
  if (b.size(left ? -2 : -1) != a.size(-1))
    throw Error(ErrorKind::shape, std::string(op) + ": b must have as many " + (left ? "rows" : "columns") + " as a, " +
                                      describe(value_of(a)) + ", it is " + describe(value_of(b)));
  const DType dtype = promote_types(a.dtype(), b.dtype());
  R t = widened(operand_as<R>(a).to(dtype)), x = widened(operand_as<R>(b).to(dtype));
  if (!left) x = adjoint(x);
  broadcast_batches(op, t, x);
  const R y = triangular(op, t, x, upper, left ? 'N' : 'C', unit_triangular);
  return narrowed(left ? y : adjoint(y), dtype);
}
template <TensorOrVar B, TensorOrVar L> ResultOf<B, L> cholesky_solve(const B& b, const L& l, bool upper) {
  using R = ResultOf<B, L>;
  constexpr const char* op = "cholesky_solve";
  require_square(op, "l", value_of(l)), require_matrices(op, "b", value_of(b));
  if (b.size(-2) != l.size(-1))
    throw Error(ErrorKind::shape, std::string(op) + ": b must have as many rows as l, " + describe(value_of(l)) +
                                      ", it is " + describe(value_of(b)));
  const DType dtype = promote_types(l.dtype(), b.dtype());
  R t = widened(operand_as<R>(l).to(dtype)), x = widened(operand_as<R>(b).to(dtype));
  broadcast_batches(op, t, x);
  return narrowed(triangular(op, t, triangular(op, t, x, upper, upper ? 'C' : 'N'), upper, upper ? 'N' : 'C'), dtype);
}

namespace {

std::pair<Tensor, Tensor> qr_of(const Tensor& a, bool full) { return qr_tensors("qr", a, full); }
/// Tall: (gQ + Q·S)·R⁻ᴴ with S = X + Xᴴ of X = triu(gR·Rᴴ - Qᴴ·gQ), the diagonal counted once.
std::pair<Var, Var> qr_of(const Var& a, bool full) {
  auto [q, r] = qr_tensors("qr", a.value(), full);
  if (!tracked({&a, 1})) return {as_var(q), as_var(r)};
  const std::vector<Var> made = record("qr", {&a, 1}, {q, r}, {{Var(), 0}, {Var(), 1}}, [full](const RuleContext& c) {
    const Var &left = c.saved[0], &right = c.saved[1];
    if (left.size(-1) > right.size(-1))
      throw Error(ErrorKind::unsupported,
                  "qr: complete has no gradient where there are more rows than columns; its "
                  "additional columns are not determined");
    const Var &g_q = c.grads[0], &g_r = c.grads[1];
    Var x;
    if (g_r.defined()) x = matmul(g_r, adjoint(right));
    if (g_q.defined()) x = x.defined() ? x - matmul(adjoint(left), g_q) : -matmul(adjoint(left), g_q);
    x = triu(x);
    Var inner = matmul(left, x + adjoint(x) - diag_embed(real(diagonal(x, 0, -2, -1))));
    if (g_q.defined()) inner = g_q + inner;
    return PoolVector<Var>{adjoint(triangular("qr", right, adjoint(inner), true, 'N'))};
  });
  return {made[0], made[1]};
}

}  // namespace

template <TensorOrVar T> Qr<T> qr(const T& a, bool complete) {
  require_matrices("qr", "a", value_of(a));
  const T wide = widened(a);
  const std::int64_t m = a.size(-2), n = a.size(-1);
  const auto fit = [&](const T& x) { return narrowed(x, a.dtype()); };
  if (m >= n) {
    const auto [q, r] = qr_of(wide, complete);
    return {fit(q), fit(r)};
  }
  const auto [q, r] = qr_of(T(wide.slice(-1, 0, m)), false);  // the columns behind are products
  return {fit(q), fit(concatenate(std::vector<T>{r, matmul(adjoint(q), wide.slice(-1, m, n))}, -1))};
}

#define TERN_INSTANCES(T)                             \
  template T cholesky(const T&, bool);                \
  template CholeskyEx<T> cholesky_ex(const T&, bool); \
  template LuFactor<T> lu_factor(const T&);           \
  template LuFactorEx<T> lu_factor_ex(const T&);      \
  template Lu<T> lu(const T&);                        \
  template Qr<T> qr(const T&, bool);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES
TERN_INSTANCES_2(ResultOf, solve_triangular, bool, bool, bool)
TERN_INSTANCES_2(ResultOf, cholesky_solve, bool)
#define TERN_LU_SOLVE(A, B) template ResultOf<A, B> lu_solve(const A&, const Tensor&, const B&);
TERN_LU_SOLVE(Tensor, Tensor)
TERN_LU_SOLVE(Tensor, Var)
TERN_LU_SOLVE(Var, Tensor)
TERN_LU_SOLVE(Var, Var)
#undef TERN_LU_SOLVE

}  // namespace linalg
}  // namespace tern
