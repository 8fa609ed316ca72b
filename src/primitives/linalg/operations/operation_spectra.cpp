// Eigenvalues, eigenvectors, singular values and vectors, and the rules of their derivatives.
#include <cmath>
#include <limits>
#include <vector>

#include "formula/extremes.hpp"
#include "primitives/linalg/operations/operation.hpp"
#include "primitives/linalg/operations/operation_spectra.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

namespace linalg {
namespace {

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
}  // namespace

Svd<Tensor> svd_of(const char* op, const Tensor& a, bool full) {
  const SvdTensors made = svd_tensors(op, a, full, true);
  return {made.u, made.s, made.vh};
}
Svd<Var> svd_of(const char* op, const Var& a, bool full) {
  const SvdTensors t = svd_tensors(op, a.value(), full, true);
  if (!tracked({&a, 1})) return {as_var(t.u), as_var(t.s), as_var(t.vh)};
  const std::vector<Var> made = record(op, {&a, 1}, {t.u, t.s, t.vh}, {{Var(), 0}, {Var(), 1}, {Var(), 2}},
                                       [](const RuleContext& c) { return PoolVector<Var>{svd_rule(c)}; });
  return {made[0], made[1], made[2]};
}

namespace {

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

#define TERN_INSTANCES(T)                       \
  template Eigh<T> eigh(const T&);              \
  template T eigvalsh(const T&);                \
  template Svd<T> svd(const T&, bool);          \
  template T svdvals_in(const char*, const T&); \
  template T svdvals(const T&);                 \
  template Eig<T> eig(const T&);                \
  template T eigvals(const T&);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace linalg
}  // namespace tern
