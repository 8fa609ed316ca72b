// Eigenvalues and singular values, what is made of them, and the rules of their derivatives.
#include <cmath>
#include <limits>
#include <vector>

#include "formula/extremes.hpp"
#include "primitives/linalg/operation.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace linalg {
namespace {

double epsilon_of(DType dtype) {
  return real_dtype(dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                         : std::numeric_limits<float>::epsilon();
}
Tensor largest(const Tensor& x) { return max(abs(x), {-2, -1}, true); }

double roundings_of(const Tensor& x) {
  return 8 * epsilon_of(x.dtype()) * std::sqrt(static_cast<double>(std::max<std::int64_t>(x.size(-1), 1)));
}
/// What is divided by, of the shape of what is: differences of values, or values.
struct Gaps {
  Var at;
  Tensor none;      // where they are nothing but roundings of the values
  Tensor diagonal;  // of differences: where each is of a value and itself
  Tensor unknown;   // where a quotient of roundings may be anything; undefined: nowhere
};
Gaps gaps_of(const Var& at, const Tensor& of_values, const Tensor& unknown = {}) {
  return {at, abs(at.value()) <= of_values * roundings_of(at.value()), {}, unknown};
}
Gaps differences_of(const Var& at, const Tensor& of_values, const Tensor& unknown) {
  Gaps gaps = gaps_of(at, of_values, unknown);
  gaps.diagonal = identity_like(at.value(), at.size(-1)) != 0;
  return gaps;
}
/// Where derivatives by two values differ by more than roundings.
Tensor differing(const Var& g) {
  if (!g.defined()) return {};
  const Tensor& by = g.value();
  return abs(for_columns(by) - for_rows(by)) > largest(for_rows(by)) * roundings_of(by);
}

/// x / gaps, but where both are nothing but roundings (of values as large as those in `of_x`) 0: what a loss leaves
/// there that does not depend on which vectors were taken of an eigenspace. If it depends on the values there, and not
/// on each alike, the limit is not 0 and cannot be told from this: NaN. Else the quotient, infinite where a gap is 0.
/// In forward mode, which is the rule's own derivative, tangents are divided likewise.
Var over_gaps(const Var& x, const Gaps& gaps, const Tensor& of_x) {
  Tensor none = logical_and(gaps.none, abs(x.value()) <= of_x * roundings_of(x.value()));
  const Tensor unknown = gaps.unknown.defined() ? logical_and(none, gaps.unknown) : Tensor();
  if (gaps.diagonal.defined()) none = logical_or(none, gaps.diagonal);
  Tensor value = where(none, 0, x.value() / where(none, 1, gaps.at.value()));
  if (unknown.defined()) value = where(unknown, std::numeric_limits<double>::quiet_NaN(), value);
  const Var inputs[] = {x, gaps.at};
  return record_one("over_gaps", inputs, value, PoolVector<Save>{{as_var(gaps.at.value()), -1, 1}, {Var(), 0}},
                    [none = gaps.none, diagonal = gaps.diagonal](const RuleContext& c) {
                      const Var &at = c.saved[0], &y = c.saved[1], &g = c.grads[0];
                      PoolVector<Var> grads(2);
                      grads[0] = over_gaps(g, {conjugated(at), none, diagonal, {}}, largest(g.value()));
                      if (!c.wanted[1] || !c.needed[1]) return grads;
                      const Var by_gap = -(conjugated(y) * grads[0]);
                      grads[1] = is_complex(at.dtype()) ? by_gap : real(by_gap);
                      return grads;
                    });
}

Eigh<Tensor> eigh_of(const char* op, const Tensor& a) {
  const auto [values, vectors] = eigh_tensors(op, a, true);
  return {values, vectors};
}
/// V·(diag(gw) + (Vᴴ·gV) / (w_j - w_i))·Vᴴ, its Hermitian part.
Eigh<Var> eigh_of(const char* op, const Var& a) {
  const auto [values, vectors] = eigh_tensors(op, a.value(), true);
  if (!tracked({&a, 1})) return {as_var(values), as_var(vectors)};
  const std::vector<Var> made =
      record(op, {&a, 1}, {values, vectors}, {{Var(), 0}, {Var(), 1}}, [](const RuleContext& c) {
        const Var &w = c.saved[0], &v = c.saved[1];
        Var inner;
        if (c.grads[1].defined() && w.size(-1) > 0) {
          const Var k = matmul(adjoint(v), c.grads[1]);
          inner = over_gaps((k - adjoint(k)) * 0.5,
                            differences_of(for_columns(w) - for_rows(w), largest(for_rows(w.value())),
                                           differing(c.grads[0])),
                            largest(k.value()));
        }
        if (c.grads[0].defined()) {
          const Var on = diag_embed(c.grads[0]);
          inner = inner.defined() ? inner + on : on.to(v.dtype());
        }
        if (!inner.defined()) return PoolVector<Var>{v * 0};
        return PoolVector<Var>{hermitian(matmul(matmul(v, inner), adjoint(v)))};
      });
  return {made[0], made[1]};
}

Svd<Tensor> svd_of(const char* op, const Tensor& a, bool full) {
  const SvdTensors made = svd_tensors(op, a, full, true);
  return {made.u, made.s, made.vh};
}
/// The rule of the first min(M, N) vectors: Wan and Zhang. With p = uᴴ·gu and q = vᴴ·gv less their adjoints it has
/// (p·s_j + s_i·q) / (s_j² - s_i²), which is ((p + q)·s_j / (s_j - s_i) - q) / (s_i + s_j): so it is finite where s_i
/// is s_j and p is -q, as of u·vh, the nearest orthogonal matrix; and squares neither overflow nor vanish.
Var svd_inner(const RuleContext& c, const Var& u, const Var& vh, const Tensor& size) {
  const Var& s = c.saved[1];
  const Var columns = for_columns(s), rows = for_rows(s), sums = columns + rows;
  const Gaps differences = differences_of(columns - rows, size, differing(c.grads[1])), all = gaps_of(sums, size);
  const Var share = 1 / where(sums.value() == 0, 1, sums);
  const auto skew = [](const Var& x) { return x - adjoint(x); };
  Var p, q;
  Tensor of_p, of_q;
  if (c.grads[0].defined()) {
    const Var x = matmul(adjoint(u), c.grads[0].slice(-1, 0, s.size(-1)));
    p = skew(x), of_p = largest(x.value());
  }
  if (c.grads[2].defined()) {
    const Var x = matmul(vh, adjoint(c.grads[2].slice(-2, 0, s.size(-1))));
    q = skew(x), of_q = largest(x.value());
  }
  if (p.defined() && q.defined())
    return over_gaps(p + q, differences, maximum(of_p, of_q)) * (columns * share) - over_gaps(q, all, of_q);
  if (q.defined()) return over_gaps(q, differences, of_q) * (rows * share);
  if (!p.defined()) return p;
  const Var inner = over_gaps(p, differences, of_p) * (columns * share);
  if (!is_complex(u.dtype())) return inner;
  return inner + over_gaps(diag_embed(diagonal(p, 0, -2, -1)), all, of_p);  // of phases
}
Var svd_rule(const RuleContext& c) {
  const Var& s = c.saved[1];
  const std::int64_t k = s.size(-1);
  const Var u = c.saved[0].slice(-1, 0, k), vh = c.saved[2].slice(-2, 0, k);
  if (k == 0) return matmul(u, vh);
  const Tensor size = largest(for_rows(s.value()));
  // Where the loss depends on a singular value that is 0, what its vectors do beside the others is not told, either.
  Tensor by_values;
  if (const Var& g = c.grads[1]; g.defined())
    by_values = abs(g.value()) > largest(for_rows(g.value())).squeeze(-1) * roundings_of(g.value());
  const auto divided = [&](const Var& x, const Var& values, const Tensor& unknown, const Var& of) {
    return over_gaps(x, gaps_of(values.broadcast_to(x.shape()), size, unknown), largest(of.value()));
  };
  Var inner = svd_inner(c, u, vh, size), left, right;
  if (c.grads[0].defined() && u.size(-2) > k) {
    const Var g = c.grads[0].slice(-1, 0, k);
    left = divided(g - matmul(u, matmul(adjoint(u), g)), for_columns(s),
                   by_values.defined() ? for_columns(by_values) : by_values, g);
  }
  if (c.grads[2].defined() && vh.size(-1) > k) {
    const Var g = c.grads[2].slice(-2, 0, k);
    right = divided(g - matmul(matmul(g, adjoint(vh)), vh), for_rows(s),
                    by_values.defined() ? for_rows(by_values) : by_values, g);
  }
  if (c.grads[1].defined()) {
    const Var on = diag_embed(c.grads[1]);
    inner = inner.defined() ? inner + on : on.to(u.dtype());
  }
  if (!inner.defined()) inner = as_var(zeros(u.shape(), {.dtype = u.dtype(), .device = u.device()})).slice(-2, 0, k);
  Var middle = matmul(u, inner);
  if (left.defined()) middle = middle + left;
  const Var result = matmul(middle, vh);
  return right.defined() ? result + matmul(u, right) : result;
}
Svd<Var> svd_of(const char* op, const Var& a, bool full) {
  const SvdTensors t = svd_tensors(op, a.value(), full, true);
  if (!tracked({&a, 1})) return {as_var(t.u), as_var(t.s), as_var(t.vh)};
  const std::vector<Var> made = record(op, {&a, 1}, {t.u, t.s, t.vh}, {{Var(), 0}, {Var(), 1}, {Var(), 2}},
                                       [](const RuleContext& c) { return PoolVector<Var>{svd_rule(c)}; });
  return {made[0], made[1], made[2]};
}

Eig<Tensor> eig_of(const char* op, const Tensor& a) {
  const auto [values, vectors] = eig_tensors(op, a, true);
  return {values, vectors};
}
/// V⁻ᴴ·(diag(gw) + (Vᴴ·gV - Vᴴ·V·Re diag(Vᴴ·gV)) / conj(w_j - w_i))·Vᴴ: vectors keep the length 1.
Eig<Var> eig_of(const char* op, const Var& a) {
  const auto [values, vectors] = eig_tensors(op, a.value(), true);
  if (!tracked({&a, 1})) return {as_var(values), as_var(vectors)};
  const std::vector<Var> made =
      record(op, {&a, 1}, {values, vectors}, {{Var(), 0}, {Var(), 1}}, [dtype = a.dtype(), op](const RuleContext& c) {
        const Var &w = c.saved[0], &v = c.saved[1];
        Var inner;
        if (c.grads[1].defined() && w.size(-1) > 0) {
          const Var k = matmul(adjoint(v), c.grads[1]);
          const Var lengths = matmul(adjoint(v), v * for_columns(real(diagonal(k, 0, -2, -1))));
          inner = over_gaps(k - lengths,
                            differences_of(conj(for_columns(w) - for_rows(w)), largest(for_rows(w.value())),
                                           differing(c.grads[0])),
                            largest(k.value()));
        }
        if (c.grads[0].defined()) inner = inner.defined() ? inner + diag_embed(c.grads[0]) : diag_embed(c.grads[0]);
        if (!inner.defined()) inner = v * 0;
        const LuTensors factors = lu_tensors(op, v.value(), false, false);
        const Var g = solve_with(op, v, factors, matmul(inner, adjoint(v)), true);
        return PoolVector<Var>{is_complex(dtype) ? g : real(g)};
      });
  return {made[0], made[1]};
}

}  // namespace

template <TensorOrVar T> Eigh<T> eigh(const T& a) {
  require_square("eigh", "a", value_of(a));
  const Eigh<T> made = eigh_of("eigh", widened(a));
  return {narrowed(made.eigenvalues, a.dtype()), narrowed(made.eigenvectors, a.dtype())};
}
/// Values alone where no gradient is wanted, which would need the vectors.
template <TensorOrVar T> bool alone(const T& a) {
  if constexpr (std::same_as<T, Var>) return !tracked({&a, 1});
  return true;
}
template <TensorOrVar T> T eigvalsh(const T& a) {
  constexpr const char* op = "eigvalsh";
  require_square(op, "a", value_of(a));
  const T wide = widened(a);
  if (alone(wide)) return narrowed(operand_as<T>(eigh_tensors(op, value_of(wide), false).first), a.dtype());
  return narrowed(eigh_of(op, wide).eigenvalues, a.dtype());
}
template <TensorOrVar T> Svd<T> svd(const T& a, bool full_matrices) {
  require_matrices("svd", "a", value_of(a));
  const Svd<T> made = svd_of("svd", widened(a), full_matrices);
  const auto fit = [&](const T& x) { return narrowed(x, a.dtype()); };
  return {fit(made.u), fit(made.s), fit(made.vh)};
}
template <TensorOrVar T> T svdvals_in(const char* op, const T& a) {
  require_matrices(op, "a", value_of(a));
  const T wide = widened(a);
  if (alone(wide)) return operand_as<T>(svd_tensors(op, value_of(wide), false, false).s);
  return svd_of(op, wide, false).s;
}
template <TensorOrVar T> T svdvals(const T& a) { return narrowed(svdvals_in("svdvals", a), a.dtype()); }
template <TensorOrVar T> Eig<T> eig(const T& a) {
  require_square("eig", "a", value_of(a));
  const Eig<T> made = eig_of("eig", widened(a));
  return {made.eigenvalues, made.eigenvectors};
}
template <TensorOrVar T> T eigvals(const T& a) {
  constexpr const char* op = "eigvals";
  require_square(op, "a", value_of(a));
  const T wide = widened(a);
  if (alone(wide)) return operand_as<T>(eig_tensors(op, value_of(wide), false).first);
  return eig_of(op, wide).eigenvalues;
}

namespace {

double tolerance_of(double rtol, const Tensor& a) {
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
Tensor least_squares_tensor(const Svd<Tensor>& f, const Tensor& b, double rtol) {
  return matmul(adjoint(f.vh), matmul(adjoint(f.u), b) * for_rows(inverses(f.s, rtol)));
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
  return narrowed(pinv_of("pinv", wide, tolerance_of(rtol, value_of(wide))), a.dtype());
}
template <TensorOrVar T> Tensor matrix_rank(const T& a, double rtol) {
  const Tensor s = svd_tensors("matrix_rank", (require_matrices("matrix_rank", "a", value_of(a)), widened(value_of(a))),
                               false, false)
                       .s;
  return sum(counting(s, tolerance_of(rtol, widened(value_of(a)))), {-1}).to(i32);
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
  const Svd<R> f = svd_of(op, x, false);
  const double least = tolerance_of(rtol, value_of(x));
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

template <TensorOrVar T> T norm_in(const char* op, const T& a, const Norm& norm, bool keepdim) {
  require_matrices(op, "a", value_of(a));
  const auto over = [&](const T& reduced) { return keepdim ? reduced.unsqueeze(-1).unsqueeze(-1) : reduced; };
  const auto values = [&] { return narrowed(svdvals_in(op, a), a.dtype()); };
  if (norm.is("fro")) return tern::norm(a, {-2, -1}, keepdim);
  if (norm.is("nuc")) return over(sum(values(), {-1}));
  const double p = norm.named() ? 0 : norm.p();
  if (std::abs(p) == 2) return over(p > 0 ? max(values(), {-1}) : min(values(), {-1}));
  if (std::abs(p) != 1 && std::abs(p) != kInfinity) unknown_norm(op, norm);
  const T sums = sum(T(abs(a)), {std::abs(p) == 1 ? -2 : -1});
  return over(p > 0 ? max(sums, {-1}) : min(sums, {-1}));
}
template <TensorOrVar T> T matrix_norm(const T& a, const Norm& norm, bool keepdim) {
  return norm_in("matrix_norm", a, norm, keepdim);
}
template <TensorOrVar T> T vector_norm(const T& x, const Norm& norm, const Axes& axes, bool keepdim) {
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

#define TERN_INSTANCES(T)                                           \
  template Eigh<T> eigh(const T&);                                  \
  template T eigvalsh(const T&);                                    \
  template Svd<T> svd(const T&, bool);                              \
  template T svdvals(const T&);                                     \
  template Eig<T> eig(const T&);                                    \
  template T eigvals(const T&);                                     \
  template T pinv(const T&, double);                                \
  template Tensor matrix_rank(const T&, double);                    \
  template T matrix_norm(const T&, const Norm&, bool);              \
  template T vector_norm(const T&, const Norm&, const Axes&, bool); \
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
