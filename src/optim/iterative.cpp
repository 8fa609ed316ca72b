// Linear solvers by iteration, on Tensors: conjugate gradients, BiCGSTAB, GMRES.
#include <cmath>
#include <limits>
#include <string>

#include "optim/scales.hpp"
#include "tern/implicit.hpp"

namespace tern {
namespace {

/// Sums over a system: of all elements, or of each row.
struct Systems {
  const char* op;
  const IterativeOptions& options;
  const Tensor& b;
  double tolerance;
  Systems(const char* name, const IterativeOptions& o, const Tensor& right)
      : op(name),
        options(o),
        b(right),
        tolerance(o.tolerance >= 0          ? o.tolerance
                  : b.dtype() == DType::f64 ? 1e-10
                                            : 1e-5) {}
  Tensor dot(const Tensor& a, const Tensor& b) const {
    return options.batched && a.dim() > 0 ? sum(a * b, -1, true) : sum(a * b);
  }
  Tensor norm(const Tensor& a) const { return sqrt(dot(a, a)); }
  /// Of elements, too, whose squares overflow or vanish.
  Tensor norm_of_any(const Tensor& a) const {
    const Tensor scale = scale_of(a);
    return norm(a / scale) * scale;
  }
  /// A power of two near the largest element of each system.
  Tensor scale_of(const Tensor& a) const {
    return detail::power_of_two_near(options.batched && a.dim() > 0 ? max(abs(a), {-1}, true) : max(abs(a)));
  }
  /// a / b, and 0 where b is 0: a system that is solved stays so.
  static Tensor ratio(const Tensor& a, const Tensor& b) { return where(b == 0, 0, a / where(b == 0, 1, b)); }
  /// Whether all residuals are below their limits, which an infinite one is not of any. Fails where one is NaN, which
  /// no iteration mends, or after the last iteration.
  bool are_solved(const Tensor& r, const Tensor& limit, int iterations) const {
    if (r.numel() == 0) return true;
    const Tensor size = norm(r);
    const Tensor state = where(isnan(size), 2, where(logical_and(size <= limit, isfinite(size)), 0, 1));
    const auto worst = max(state.to(DType::i32)).to(cpu()).item<std::int32_t>();
    if (worst == 2) fail_not_finite(iterations);
    if (worst == 1 && iterations >= options.iterations) fail(r, iterations);
    return worst == 0;
  }
  /// Whether x is what was looked for, told by r = b - map(x) itself: the residual that an iteration carries along
  /// parts from it by roundings, which were once as large as x or the residuals on the way. Where the roundings of
  /// map(x) are above the limit, r may be as they are, up to the tolerance's root.
  bool are_solutions(const TensorMap& map, const Tensor& x, const Tensor& r) const {
    const Tensor size = norm(r), of_b = norm(b);
    if (all(size <= of_b * tolerance).to(cpu()).item<bool>()) return true;
    // r, then, is mostly roundings, without a direction: what the map makes of it tells the size of the map.
    const double eps = b.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon()
                                               : std::numeric_limits<float>::epsilon();
    const Tensor roundings = ratio(norm_of_any(map(r)), size) * norm_of_any(x) * (8 * eps);
    const Tensor most = minimum(roundings, of_b * std::sqrt(tolerance));
    return all(size <= maximum(of_b * tolerance, most)).to(cpu()).item<bool>();
  }
  [[noreturn]] void fail_not_finite(int iterations) const {
    throw Error(ErrorKind::linalg, std::string(op) + ": the residual is not finite after " +
                                       std::to_string(iterations) +
                                       " iterations: the right-hand side or what the map gives is not, or the map is "
                                       "singular");
  }
  [[noreturn]] void fail(const Tensor& residual, int iterations) const {
    const double left = max(norm(residual) / norm(b)).to(cpu()).to(DType::f64).item<double>();
    throw Error(ErrorKind::linalg, std::string(op) + ": did not converge in " + std::to_string(iterations) +
                                       " iterations: the residual's norm is still " + std::to_string(left) +
                                       " of the right-hand side's; precondition the map, or allow more iterations or a "
                                       "larger tolerance");
  }
};
double as_double(const Tensor& t) { return t.to(cpu()).to(DType::f64).item<double>(); }
Tensor applied(const TensorMap& map, const Tensor& x) { return map ? map(x) : x; }

/// Rounds of an iteration, each from the residual that the one before left indeed. round(x, r, i) goes on until the
/// residual that it carries along is below the limit, and counts in i.
template <class Round> Tensor in_rounds(const Systems& s, const TensorMap& map, const Round& round) {
  constexpr int kRounds = 10;
  Tensor x = s.b * 0, r = s.b;
  int i = 0;
  for (int k = 0; k < kRounds; ++k) {
    round(x, r, i);
    if (i == 0) return x;  // b is 0
    r = s.b - map(x);
    if (s.are_solutions(map, x, r)) return x;
  }
  s.fail(r, i);
}

Tensor run_conjugate_gradients(const IterativeOptions& options, const TensorMap& map, const TensorMap& preconditioner,
                               const Tensor& b) {
  const Systems s("conjugate_gradients", options, b);
  const Tensor limit = s.norm(b) * s.tolerance;
  return in_rounds(s, map, [&](Tensor& x, Tensor r, int& i) {
    Tensor z = applied(preconditioner, r), p = z, rz = s.dot(r, z);
    for (; !s.are_solved(r, limit, i); ++i) {
      const Tensor ap = map(p), alpha = Systems::ratio(rz, s.dot(p, ap));
      x = x + alpha * p, r = r - alpha * ap;
      z = applied(preconditioner, r);
      const Tensor next = s.dot(r, z);
      p = z + Systems::ratio(next, rz) * p, rz = next;
    }
  });
}

Tensor run_bicgstab(const IterativeOptions& options, const TensorMap& map, const TensorMap& preconditioner,
                    const Tensor& b) {
  const Systems s("bicgstab", options, b);
  const Tensor limit = s.norm(b) * s.tolerance;
  return in_rounds(s, map, [&](Tensor& x, Tensor r, int& i) {
    Tensor shadow = r, p = r, rho = s.dot(shadow, r);
    for (; !s.are_solved(r, limit, i); ++i) {
      const Tensor y = applied(preconditioner, p), v = map(y), alpha = Systems::ratio(rho, s.dot(shadow, v));
      const Tensor half = r - alpha * v, z = applied(preconditioner, half), t = map(z);
      const Tensor omega = Systems::ratio(s.dot(t, half), s.dot(t, t));
      x = x + alpha * y + omega * z, r = half - omega * t;
      const Tensor next = s.dot(shadow, r);
      const Tensor beta = Systems::ratio(next, rho) * Systems::ratio(alpha, omega);
      p = r + beta * (p - omega * v), rho = next;
    }
  });
}

/// Of elements, too, whose squares overflow or vanish.
double length_of(const Tensor& w) {
  const double length = as_double(sqrt(sum(w * w)));
  if (length > 0 && std::isfinite(length)) return length;
  const double most = as_double(max(abs(w)));
  if (!(most > 0) || !std::isfinite(most)) return length;
  const Tensor unit = w / most;
  return most * as_double(sqrt(sum(unit * unit)));
}

/// One cycle of GMRES from the residual r of norm `beta`: the correction, after at most `most` steps.
Tensor gmres_cycle(const TensorMap& map, const TensorMap& preconditioner, const Tensor& r, double beta, double limit,
                   int most, int& steps) {
  const auto m = static_cast<std::size_t>(most);
  std::vector<Tensor> basis{r / beta}, directions;
  std::vector<std::vector<double>> h;  // columns, made triangular by rotations
  std::vector<double> cosines, sines, g{beta};
  for (std::size_t k = 0; k < m; ++k) {
    directions.push_back(applied(preconditioner, basis[k]));
    Tensor w = map(directions[k]);
    std::vector<double> column;
    for (std::size_t i = 0; i <= k; ++i) {
      const Tensor c = sum(w * basis[i]);
      column.push_back(as_double(c)), w = w - c * basis[i];
    }
    const double below = length_of(w);
    for (std::size_t i = 0; i < k; ++i) {
      const double a = column[i], c = column[i + 1];
      column[i] = cosines[i] * a + sines[i] * c, column[i + 1] = cosines[i] * c - sines[i] * a;
    }
    const double length = std::hypot(column[k], below);
    if (length == 0) break;  // the map is singular here
    cosines.push_back(column[k] / length), sines.push_back(below / length);
    column[k] = length, h.push_back(column);
    g.push_back(-sines[k] * g[k]), g[k] *= cosines[k];
    ++steps;
    if (std::abs(g[k + 1]) <= limit || below == 0) break;
    basis.push_back(w / below);
  }
  Tensor x = r * 0;
  std::vector<double> y(h.size());
  for (std::size_t i = h.size(); i-- > 0;) {
    y[i] = g[i];
    for (std::size_t j = i + 1; j < h.size(); ++j) y[i] -= h[j][i] * y[j];
    y[i] /= h[i][i];
    x = x + directions[i] * y[i];
  }
  return x;
}

Tensor run_gmres(const IterativeOptions& options, const TensorMap& map, const TensorMap& preconditioner,
                 const Tensor& b) {
  const Systems s("gmres", options, b);
  if (options.batched)
    throw Error(ErrorKind::unsupported, "gmres: solves one system; conjugate_gradients and bicgstab take batches");
  const double limit = as_double(s.norm(b)) * s.tolerance;
  Tensor x = b * 0, r = b;
  double last = std::numeric_limits<double>::infinity();
  for (int steps = 0;;) {
    const double size = as_double(s.norm(r));
    if (!std::isfinite(size)) s.fail_not_finite(steps);
    if (size <= limit || (size > last / 2 && s.are_solutions(map, x, r))) return x;
    if (steps >= options.iterations) s.fail(r, steps);
    const int before = steps;
    last = size;
    x = x +
        gmres_cycle(map, preconditioner, r, size, limit, std::min(options.restart, options.iterations - steps), steps);
    r = b - map(x);
    if (steps == before) s.fail(r, steps);
  }
}

void check_options(const char* op, const IterativeOptions& o) {
  if (o.iterations < 1 || o.restart < 1)
    throw Error(ErrorKind::value, std::string(op) + ": iterations and restart must be at least 1");
}
template <auto Run> LinearMethod method(const char* op, IterativeOptions options) {
  check_options(op, options);
  auto preconditioner = options.preconditioner;
  return {[op, options](const TensorMap& map, const TensorMap& m, const Tensor& b) {
            if (b.numel() == 0) return Run(options, map, m, b);
            // Of other numbers squares overflow or vanish, and 0 would pass for the solution.
            const Tensor size = Systems(op, options, b).scale_of(b);
            return Run(options, map, m, b / size) * size;
          },
          std::move(preconditioner)};
}

}  // namespace

LinearMethod conjugate_gradients(IterativeOptions options) {
  return method<run_conjugate_gradients>("conjugate_gradients", std::move(options));
}
LinearMethod gmres(IterativeOptions options) { return method<run_gmres>("gmres", std::move(options)); }
LinearMethod bicgstab(IterativeOptions options) { return method<run_bicgstab>("bicgstab", std::move(options)); }

}  // namespace tern
