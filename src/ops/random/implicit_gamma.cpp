// The gradient of gamma numbers in their concentration: z is a function of a where P(a, z), the distribution function,
// keeps its value, so that dz/da = -∂P/∂a / ∂P/∂z (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients",
// 2018). All of it is in logarithms, d log z/da, in which what is tiny in P and in its density falls out: there is
// nothing to under- or overflow. Where gammainc (incomplete.cpp) takes a series, a fraction or Temme's expansion, here
// are the derivatives of the same.
#include <array>
#include <vector>

#include "formula/graph.hpp"
#include "ops/special/special.hpp"
#include "tern/special.hpp"

namespace tern::detail {

namespace {

/// A value and its derivative in a.
struct Dual {
  Expr value, slope;
};

/// Σ x^n/((a + 1)…(a + n)), from its end.
Dual gamma_series(Expr a, Expr x) {
  Dual sum{1, 0};
  for (int n = kGammaTerms; n > 0; --n) {
    const Expr inverse = 1 / (a + n), ratio = x * inverse;
    sum = {1 + ratio * sum.value, ratio * (sum.slope - inverse * sum.value)};
  }
  return sum;
}
/// One over the fraction x + 1 - a - 1·(1 - a)/(x + 3 - a - …), from its end; a division for three steps.
Dual inverse_fraction(Expr a, Expr x) {
  a = minimum(a, kGammaFractionEnd), x = minimum(x, kGammaFractionEnd);
  Dual above{x + (2 * kGammaTerms + 1) - a, -1}, below{1, 0};
  for (int n = kGammaTerms; n > 0; --n) {
    const Expr c = x + (2 * n - 1) - a, e = n * (n - a);
    const Dual next{c * above.value - e * below.value,
                    c * above.slope - above.value - e * below.slope + n * below.value};
    below = above, above = next;
    if (n % 3 != 1) continue;
    const Expr ratio = below.value / above.value;
    below = {ratio, (below.slope - ratio * above.slope) / above.value}, above = {1, 0};
  }
  return below;
}

/// a·d log z/da from P = x^a·e^-x/Γ(a + 1)·series, for x < a + 1.
Expr by_series(Expr a, Expr log_x, Expr x) {
  const Dual s = gamma_series(a, x);
  return -((log_x - digamma(a + 1)) * s.value + s.slope);
}
/// d log z/da from 1 - P = x^a·e^-x/Γ(a)/fraction, for x >= a + 1.
Expr by_fraction(Expr a, Expr log_x, Expr x) {
  const Dual f = inverse_fraction(a, x);
  return (log_x - digamma(a + 1) + 1 / a) * f.value + f.slope;
}
/// The same from 1 - P = erfc(η·√(a/2))/2 + e^(-a·η²/2)/√(2πa)·Σ c_k(η)/a^k, for a > 20 and m = x/a - 1, |m| < 0.4.
Expr by_expansion(Expr a, Expr m) {
  const Expr inverse = 1 / a, ratio = half_square_ratio(m), quotient = 1 / sqrt(2 * ratio);  // m/η, smooth at 0
  const Expr half = m * m * ratio, eta = m / quotient;
  Expr sum = 0, by_eta = 0, by_inverse = 0;  // Σ c_k/a^k, and its derivatives
  const auto coefficients = temme_coefficients();
  for (std::size_t k = coefficients.size(); k-- > 0;) {
    const std::span<const double> c = coefficients[k];
    std::vector<double> slopes;
    for (std::size_t i = 1; i < c.size(); ++i) slopes.push_back(static_cast<double>(i) * c[i]);
    by_inverse = by_inverse * inverse + sum;
    sum = sum * inverse + polynomial(eta, c);
    by_eta = slopes.empty() ? by_eta * inverse : by_eta * inverse + polynomial(eta, slopes);
  }
  const Expr rest = sum * (m - half - 0.5 * inverse) - by_eta * quotient * inverse - by_inverse * inverse * inverse;
  return exp(stirling_rest(a)) * inverse * (quotient - 0.5 * eta + rest);
}
/// d log z/da, or a times that, which is finite where a is so small that 1/a is not.
Expr quantile_slope(Expr log_z, Expr a, bool times_a) {
  const Expr x = exp(log_z), large = a > 20, b = where(large, a, 21), m = (x - b) / b, near = large & (abs(m) < 0.4);
  const Expr before = x < a + 1;
  const Expr middle = by_expansion(b, where(near, m, 0));
  const Expr low = by_series(a, log_z, where(before, x, 0));
  const Expr high = by_fraction(a, where(before, log(a + 1), log_z), where(before, a + 1, x));
  return times_a ? where(near, a * middle, where(before, low, a * high))
                 : where(near, middle, where(before, low / a, high));
}
const Definition* definition();
/// Only a has a gradient: log z was drawn.
std::vector<Expr> partials(std::span<const Expr> x) {
  const Expr log_z = make_call(definition(), x);  // itself a function of a
  return {Expr(1), log_quantile_slope(log_z, x[1])};
}
const Definition* definition() {
  static const Definition* const made = [] {
    const Expr log_z = make_input(0);
    return make_definition(make_graph({&log_z, 1}, 2), nullptr, &partials);
  }();
  return made;
}

}  // namespace

Expr log_quantile_slope(Expr log_z, Expr a) { return quantile_slope(log_z, a, false); }
Expr log_quantile_slope_times_a(Expr log_z, Expr a) { return quantile_slope(log_z, a, true); }

const FormulaGraph* implicit_log_gamma() {
  static const FormulaGraph* const graph = [] {
    const Expr inputs[] = {make_input(0), make_input(1)};
    const Expr call = make_call(definition(), inputs);
    return make_graph({&call, 1}, 2);
  }();
  return graph;
}

}  // namespace tern::detail
