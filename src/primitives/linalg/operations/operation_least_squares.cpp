// What is made of singular values: pseudo-inverses, least squares, ranks, norms of matrices and condition numbers.
#include <cmath>

#include "formula/extremes.hpp"
#include "primitives/linalg/operations/operation.hpp"
#include "primitives/linalg/operations/operation_spectra.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace linalg {
namespace {

double tolerance_of(const char* op, double rtol, const Tensor& a) {
  if (rtol != rtol) throw Error(ErrorKind::value, std::string(op) + ": rtol must be a number, got NaN");
  return rtol >= 0 ? rtol : epsilon_of(a.dtype()) * static_cast<double>(std::max(a.size(-1), a.size(-2)));
}
/// Which singular values count, as ones and zeros.
Tensor counting(const Tensor& s, double rtol) {
  if (s.size(-1) == 0) return s;
  return (s > s.slice(-1, 0, 1) * rtol).to(s.dtype());
}
Tensor inverses(const Tensor& s, double rtol) {
  const Tensor keep = counting(s, rtol);
  return where(keep == 0, 0, 1 / where(keep == 0, 1, s));
}
Tensor pinv_tensor(const Svd<Tensor>& f, double rtol) {
  return matmul(adjoint(f.vh) * for_columns(inverses(f.s, rtol)), adjoint(f.u));
}
Tensor pinv_of(const char* op, const Tensor& a, double rtol) { return pinv_tensor(svd_of(op, a, false), rtol); }
/// P = A⁺: -Pᴴ·g·Pᴴ + (I - A·P)·gᴴ·P·Pᴴ + Pᴴ·P·gᴴ·(I - P·A).
Var pinv_known(const char* op, const Var& a, const Tensor& value) {
  return record_one(op, {&a, 1}, value, PoolVector<Save>{{as_var(a.value()), -1, 0}, {Var(), 0}},
                    [](const RuleContext& c) {
                      const Var &x = c.saved[0], &p = c.saved[1], &g = c.grads[0];
                      const Var p_h = adjoint(p), g_h = adjoint(g);
                      const Var rows = matmul(g_h, matmul(p, p_h)), columns = matmul(matmul(p_h, p), g_h);
                      return PoolVector<Var>{-matmul(p_h, matmul(g, p_h)) + (rows - matmul(x, matmul(p, rows))) +
                                             (columns - matmul(matmul(columns, p), x))};
                    });
}
Var pinv_of(const char* op, const Var& a, double rtol) { return pinv_known(op, a, pinv_of(op, a.value(), rtol)); }

/// x = a⁺·b by the singular vectors, one after the other: a product with a⁺ leaves a residual of cond(a)·eps·b.
/// Divided, as the inverse of a subnormal singular value overflows.
Tensor least_squares_tensor(const Svd<Tensor>& f, const Tensor& b, double rtol) {
  const Tensor keep = counting(f.s, rtol), along = matmul(adjoint(f.u), b) * for_rows(keep);
  return matmul(adjoint(f.vh), along / for_rows(where(keep == 0, 1, f.s)));
}
Tensor least_squares_of(const char*, const Tensor&, const Tensor& b, const Svd<Tensor>& f, double rtol) {
  return least_squares_tensor(f, b, rtol);
}
/// With P = a⁺ and u = Pᴴ·g, the gradient of b, that of a is (b - a·x)·(P·u)ᴴ + Pᴴ·x·(g - aᴴ·u)ᴴ - u·xᴴ.
Var least_squares_of(const char* op, Var a, Var b, const Svd<Var>& f, double rtol) {
  const Svd<Tensor> made{f.u.value(), f.s.value(), f.vh.value()};
  const Tensor x = least_squares_tensor(made, b.value(), rtol);
  broadcast_batches(op, a, b);
  const Shape shape = with_sizes(batch_of(a.shape()), {a.size(-1), a.size(-2)});
  const Tensor inverse = pinv_tensor(made, rtol).broadcast_to(shape);
  const Var inputs[] = {a, b};
  PoolVector<Save> saved{{as_var(a.value()), -1, 0}, {as_var(b.value()), -1, 1}, {Var(), 0}};
  return record_one(op, inputs, x, std::move(saved), [op, inverse](const RuleContext& c) {
    const Var &a = c.saved[0], &b = c.saved[1], &x = c.saved[2], &g = c.grads[0];
    const Var p = pinv_known(op, a, inverse), p_h = adjoint(p), u = matmul(p_h, g);
    PoolVector<Var> grads(2);
    grads[1] = u;
    if (c.wanted[0] && c.needed[0])
      grads[0] = matmul(b - matmul(a, x), adjoint(matmul(p, u))) +
                 matmul(matmul(p_h, x), adjoint(g - matmul(adjoint(a), u))) - matmul(u, adjoint(x));
    return grads;
  });
}

}  // namespace

template <TensorOrVar T> T pinv(const T& a, double rtol) {
  require_matrices("pinv", "a", value_of(a));
  const T wide = widened(a);
  return narrowed(pinv_of("pinv", wide, tolerance_of("pinv", rtol, value_of(wide))), a.dtype());
}
template <TensorOrVar T> Tensor matrix_rank(const T& a, double rtol) {
  constexpr const char* op = "matrix_rank";
  require_matrices(op, "a", value_of(a));
  const Tensor wide = widened(value_of(a));
  const double least = tolerance_of(op, rtol, wide);
  return sum(counting(svd_tensors(op, wide, false, false).s, least), {-1}).to(i32);
}
template <TensorOrVar A, TensorOrVar B> Lstsq<ResultOf<A, B>> lstsq(const A& a, const B& b, double rtol) {
  using R = ResultOf<A, B>;
  constexpr const char* op = "lstsq";
  require_matrices(op, "a", value_of(a)), require_defined(op, "b", value_of(b));
  const bool vector = b.dim() == 1;
  if (b.dim() < 1 || b.size(vector ? -1 : -2) != a.size(-2))
    throw Error(ErrorKind::shape,
                "lstsq: b must have as many rows as a, " + describe(value_of(a)) + ", it is " + describe(value_of(b)));
  const DType dtype = promote_types(a.dtype(), b.dtype());
  const R x = widened(operand_as<R>(a).to(dtype));
  R y = widened(operand_as<R>(b).to(dtype));
  if (vector) y = y.unsqueeze(-1);
  broadcast_shapes(op, batch_of(x.shape()), batch_of(y.shape()));
  const double least = tolerance_of(op, rtol, value_of(x));
  const Svd<R> f = svd_of(op, x, false);
  const R solution = least_squares_of(op, x, y, f, least);
  return {narrowed(vector ? solution.squeeze(-1) : solution, dtype), sum(counting(value_of(f.s), least), {-1}).to(i32),
          narrowed(f.s, dtype)};
}

namespace {

[[noreturn]] void unknown_norm(const char* op, const Norm& norm) {
  throw Error(ErrorKind::value, std::string(op) + ": there is no norm " + norm.text() +
                                    "; of matrices there are \"fro\", \"nuc\", 1, -1, 2, -2, inf and -inf");
}

}  // namespace

template <TensorOrVar T> T norm_in(const char* op, const T& a, const Norm& norm, KeepDim keepdim) {
  require_matrices(op, "a", value_of(a));
  const auto over = [&](const T& reduced) { return keepdim ? reduced.unsqueeze(-1).unsqueeze(-1) : reduced; };
  const auto values = [&] { return narrowed(svdvals_in(op, a), a.dtype()); };
  if (norm.is("fro")) return tern::norm(a, {-2, -1}, keepdim);
  if (norm.is("nuc")) return over(sum(values(), {-1}));
  const double p = norm.named() ? 0 : norm.p();
  if (std::abs(p) == 2 && (a.size(-1) == 0 || a.size(-2) == 0))
    throw Error(ErrorKind::shape, std::string(op) + ": there is no norm " + norm.text() +
                                      " of a matrix without elements, it is " + describe(value_of(a)));
  if (std::abs(p) == 2) return over(p > 0 ? max(values(), {-1}) : min(values(), {-1}));
  if (std::abs(p) != 1 && std::abs(p) != kInfinity) unknown_norm(op, norm);
  const bool by_columns = std::abs(p) == 1;
  if (a.size(by_columns ? -1 : -2) == 0)
    throw Error(ErrorKind::shape, std::string(op) + ": there is no norm " + norm.text() + " of a matrix without " +
                                      (by_columns ? "columns" : "rows") + ", it is " + describe(value_of(a)));
  const T sums = sum(T(abs(a)), {by_columns ? -2 : -1});
  return over(p > 0 ? max(sums, {-1}) : min(sums, {-1}));
}
template <TensorOrVar T> T matrix_norm(const T& a, const Norm& norm, KeepDim keepdim) {
  return norm_in("matrix_norm", a, norm, keepdim);
}
template <TensorOrVar T> T vector_norm(const T& x, const Norm& norm, const Axes& axes, KeepDim keepdim) {
  require_defined("vector_norm", "x", value_of(x));
  if (norm.named()) unknown_norm("vector_norm", norm);
  return tern::norm(is_complex(x.dtype()) ? T(abs(x)) : x, axes, keepdim, norm.p());  // of real ones norm takes |x|
}
template <TensorOrVar T> T cond(const T& a, const Norm& norm) {
  constexpr const char* op = "cond";
  require_matrices(op, "a", value_of(a));
  if (a.size(-1) == 0 || a.size(-2) == 0)
    throw Error(ErrorKind::shape, "cond: a matrix without elements has none, it is " + describe(value_of(a)));
  if (!norm.named() && std::abs(norm.p()) == 2) {
    const T s = narrowed(svdvals_in(op, a), a.dtype()), most = max(s, {-1}), least = min(s, {-1});
    const Tensor zero = value_of(most) == 0;
    const T quotient = where(zero, kInfinity, most / where(zero, 1, least));
    return norm.p() > 0 ? quotient : where(zero, kInfinity, least / where(zero, 1, most));
  }
  require_square(op, "a", value_of(a));
  const T size = norm_in(op, a, norm, false);
  // Of a singular matrix the norm is not taken of what stands for its inverse.
  const InverseEx<T> made = inv_ex(a);
  const Tensor singular = made.info > 0, all = singular.unsqueeze(-1).unsqueeze(-1);
  return where(singular, kInfinity, size * norm_in(op, T(where(all, 0, made.inverse)), norm, false));
}

#define TERN_INSTANCES(T)                                              \
  template T pinv(const T&, double);                                   \
  template Tensor matrix_rank(const T&, double);                       \
  template T matrix_norm(const T&, const Norm&, KeepDim);              \
  template T vector_norm(const T&, const Norm&, const Axes&, KeepDim); \
  template T cond(const T&, const Norm&);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES
#define TERN_LSTSQ(A, B) template Lstsq<ResultOf<A, B>> lstsq(const A&, const B&, double);
TERN_LSTSQ(Tensor, Tensor)
TERN_LSTSQ(Tensor, Var)
TERN_LSTSQ(Var, Tensor)
TERN_LSTSQ(Var, Var)
#undef TERN_LSTSQ

}  // namespace linalg
}  // namespace tern
