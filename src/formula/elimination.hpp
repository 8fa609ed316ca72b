// What operations of linear algebra take of elimination besides what formulas of matrices have (tern/fixed.hpp).
#pragma once
#include <span>

#include "tern/fixed.hpp"

namespace tern::detail {

/// det as determinant_of gives it, but where a part of the product of pivots is beyond f32, or too small for it: there
/// it is multiplied in an order that takes such parts for a value of that kind alone.
Expr small_determinant(int n, std::span<const Expr> a);
/// log|det| of n·n values, n ≤ 4, by elimination with partial pivoting; its gradient is the transposed inverse.
Expr small_log_determinant(int n, std::span<const Expr> a);
/// The determinant's sign: 1, -1, or 0.
Expr small_sign(int n, std::span<const Expr> a);

}  // namespace tern::detail
