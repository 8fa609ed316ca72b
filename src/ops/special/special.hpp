// What special functions are made of.
#pragma once
#include <span>

#include "tern/formula.hpp"

namespace tern::detail {

/// Σ c[k]·x^k.
Expr polynomial(Expr x, std::span<const double> c);
/// Terms of the incomplete gamma functions' series and continued fraction, for values and for slopes.
inline constexpr int kGammaTerms = 72;
/// Where three steps of the fraction, of the third power, are finite in f32. Beyond it what it is multiplied by is 0,
/// or the expansion for an x near a is taken.
inline constexpr double kGammaFractionEnd = 1e6;
/// log Γ(z) - (z - 1/2)·log z + z - log √(2π), for z >= 5.
Expr stirling_rest(Expr z);
/// m - log(1 + m) for |m| < 0.4.
Expr half_square(Expr m);
/// half_square(m)/m², which is smooth at 0, too.
Expr half_square_ratio(Expr m);
/// Temme's uniform expansion of the incomplete gamma functions: of each power of 1/a the coefficients by powers of η.
std::span<const std::span<const double>> temme_coefficients();
/// d log z/da where P(a, z) keeps its value: -∂P/∂a / (z·∂P/∂z).
Expr log_quantile_slope(Expr log_z, Expr a);
/// a times that, also where 1/a is infinite.
Expr log_quantile_slope_times_a(Expr log_z, Expr a);
/// The graph of (log z, a) → log z, of a gamma number z of concentration a whose gradient in a is that of the number at
/// which the distribution function keeps its value.
const FormulaGraph* implicit_log_gamma();

}  // namespace tern::detail
