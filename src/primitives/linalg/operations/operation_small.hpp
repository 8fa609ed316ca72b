// Linear algebra of batches of matrices of at most four rows: each operation is one formula (tern/fixed.hpp), so one
// launch, on every backend, and so is each of its derivatives.
#pragma once
#include "tern/autodiff.hpp"
#include "tern/formula.hpp"

namespace tern::detail {

/// Rows and columns up to which these are taken.
inline constexpr std::int64_t kSmallMatrix = 4;

/// A result for each matrix, and what LAPACK calls info (i32, [...]): 0, or the number, from 1, of the first pivot
/// that is 0, or of the first minor that is not positive; -1 where an element is not finite.
template <TensorOrVar T> struct SmallResult {
  T value;
  Tensor info;
};

template <TensorOrVar T> struct SmallPair {
  T sign, log;
};

/// Whether these are taken.
inline bool is_small(const Tensor& a) {
  return !is_complex(a.dtype()) && a.size(-1) >= 1 && a.size(-1) <= kSmallMatrix;
}

/// Of a [..., n, n], 1 ≤ n ≤ 4, f32 or f64 (16-bit floats are computed in f32): shapes are the caller's to check. By
/// elimination with partial pivoting; a singular matrix gives infinities and NaN. Gradients of any order.
template <TensorOrVar T> T small_det(const T& a);
/// 1, -1 or 0, and log|det|.
template <TensorOrVar T> SmallPair<T> small_slogdet(const T& a);
template <TensorOrVar T> SmallResult<T> small_inv(const T& a);
/// b is [..., n, m], or, where `vector`, [..., n]; the axes in front broadcast.
template <TensorOrVar T> SmallResult<T> small_solve(const T& a, const T& b, bool vector);
/// The lower factor; reads the lower triangle, and its gradient is symmetric.
template <TensorOrVar T> SmallResult<T> small_cholesky(const T& a);

/// x with h·x = g for symmetric positive definite h [..., n, n], n ≤ kMostInFormula, and g [..., n], by Cholesky in one
/// launch; reads h's lower triangle.
Tensor solve_positive(const Tensor& h, const Tensor& g);
inline constexpr std::int64_t kMostInFormula = 12;

}  // namespace tern::detail
