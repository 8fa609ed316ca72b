// What special functions are made of.
#pragma once
#include <span>

#include "tern/formula.hpp"

namespace tern::detail {

/// Σ c[k]·x^k.
Expr polynomial(Expr x, std::span<const double> c);
/// log Γ(z) - (z - 1/2)·log z + z - log √(2π), for z >= 5.
Expr stirling_rest(Expr z);
/// m - log(1 + m) for |m| < 0.4.
Expr half_square(Expr m);

}  // namespace tern::detail
