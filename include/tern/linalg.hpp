// Linear algebra: factorisations, equations, eigenvalues and norms of matrices [.., M, N], each matrix of a batch by
// itself; real and complex. docs/linear_algebra.md tells conventions, bounds, and which library runs.
//
// 16-bit floats are computed in f32. Matrices that have no such factor or inverse, or elements that are not finite,
// throw `linalg` (but of qr, which gives NaN); shapes that do not fit throw `shape`, integers `dtype`.
#pragma once
#include <optional>
#include <string>

#include "tern/complex.hpp"
#include "tern/views.hpp"

namespace tern::linalg {

// ---- results ----
template <class T> struct CholeskyEx { T l; Tensor info; };
template <class T> struct Lu { T p, l, u; };
template <class T> struct LuFactor { T lu; Tensor pivots; };
template <class T> struct LuFactorEx { T lu; Tensor pivots, info; };
template <class T> struct Qr { T q, r; };
template <class T> struct Svd { T u, s, vh; };
template <class T> struct Eigh { T eigenvalues, eigenvectors; };
template <class T> struct Eig { T eigenvalues, eigenvectors; };
template <class T> struct InverseEx { T inverse; Tensor info; };
template <class T> struct SolveEx { T result; Tensor info; };
template <class T> struct Slogdet { T sign, logabsdet; };
template <class T> struct Lstsq { T solution; Tensor rank; T singular_values; };

/// Which norm: a number (2, infinity, …), or "fro" and "nuc" of matrices.
class Norm {
 public:
  Norm(double p) : p_(p) {}
  Norm(int p) : p_(p) {}
  Norm(const char* name) : name_(name) {}
  bool is(const char* name) const { return name_ == name; }
  bool named() const { return !name_.empty(); }
  double p() const { return p_; }
  std::string text() const { return named() ? "\"" + name_ + "\"" : std::to_string(p_); }

 private:
  double p_ = 0;
  std::string name_;
};

// ---- factorisations ----
/// The lower triangular L with L·Lᴴ = a, or with `upper` U = Lᴴ, of Hermitian positive definite matrices. The lower
/// triangle is read (with `upper` the upper one); the gradient is Hermitian. Murray (2016).
template <TensorOrVar T> T cholesky(const T& a, bool upper = false);
/// {l, info}: cholesky that throws nothing for values: info, i32 [..], is 0, or the order of the leading minor that is
/// not positive, or -1 where an element is not finite.
template <TensorOrVar T> CholeskyEx<T> cholesky_ex(const T& a, bool upper = false);
/// {p, l, u} with p·l·u = a: a permutation, a lower triangle with ones on its diagonal, an upper triangle. Pivots are
/// the largest of their columns. Of singular matrices, too.
template <TensorOrVar T> Lu<T> lu(const T& a);
/// {lu, pivots}: both triangles in one matrix, and pivots (i32, [.., min(M, N)], from 0): row i was exchanged with row
/// pivots[i]. Singular matrices throw.
template <TensorOrVar T> LuFactor<T> lu_factor(const T& a);
/// {lu, pivots, info}: lu_factor that throws nothing for values: info is 0, or the number (from 1) of the first pivot
/// that is 0, or -1 where an element is not finite.
template <TensorOrVar T> LuFactorEx<T> lu_factor_ex(const T& a);
/// The solution of a·x = b from what lu_factor gave, b [.., N, K]. Pivots that are no rows throw `index`.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> lu_solve(const A& lu, const Tensor& pivots, const B& b);
/// {q, r} with q·r = a, q of orthonormal columns and r upper triangular: q [.., M, K] with K = min(M, N), or M where
/// `complete`. Signs are not normalised. The gradient needs the first min(M, N) columns to be independent, and of
/// `complete` M ≤ N. Walter and Lehmann (2018).
template <TensorOrVar T> Qr<T> qr(const T& a, bool complete = false);
/// {u, s, vh} with u·diag(s)·vh = a, s descending; u and vh square, or with `full_matrices` = false of min(M, N)
/// columns and rows. The gradient is that of a loss that does not depend on the signs and phases of vectors nor on the
/// additional ones. Townsend (2016), Wan and Zhang (2019).
template <TensorOrVar T> Svd<T> svd(const T& a, bool full_matrices = true);
/// The singular values, descending.
template <TensorOrVar T> T svdvals(const T& a);
/// {eigenvalues, eigenvectors} of Hermitian matrices, of which the lower triangle is read: values real and ascending,
/// vectors as columns. Derivatives of vectors of equal eigenvalues are infinite, but 0 where the loss does not depend
/// on which of them were taken, and NaN where it depends on such values in different ways, too.
template <TensorOrVar T> Eigh<T> eigh(const T& a);
/// The eigenvalues of Hermitian matrices, ascending.
template <TensorOrVar T> T eigvalsh(const T& a);
/// {eigenvalues, eigenvectors} of square matrices: complex, in no order, vectors of length 1 as columns.
template <TensorOrVar T> Eig<T> eig(const T& a);
/// The eigenvalues of square matrices: complex, in no order.
template <TensorOrVar T> T eigvals(const T& a);

// ---- equations ----
/// The solution x of a·x = b, a [.., N, N], b [.., N, K] or vectors: [N], or of the shape of a without its last axis.
/// Batch axes broadcast. Backward uses the factorisation again. Singular matrices throw.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> solve(const A& a, const B& b);
/// {result, info}: solve that throws nothing for values; info as of lu_factor_ex.
template <TensorOrVar A, TensorOrVar B> SolveEx<ResultOf<A, B>> solve_ex(const A& a, const B& b);
/// The solution of a·x = b, or with `left` = false of x·a = b, with a triangle of a: `unit_triangular` takes its
/// diagonal as ones. Zeros on the diagonal give infinities.
template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> solve_triangular(const A& a, const B& b, bool upper, bool left = true, bool unit_triangular = false);
/// The solution of l·lᴴ·x = b, b [.., N, K], with the factor that cholesky gave; with `upper` of lᴴ·l·x = b.
template <TensorOrVar B, TensorOrVar L> ResultOf<B, L> cholesky_solve(const B& b, const L& l, bool upper = false);
/// The inverse. Singular matrices throw.
template <TensorOrVar T> T inv(const T& a);
/// {inverse, info}: inv that throws nothing for values; info as of lu_factor_ex.
template <TensorOrVar T> InverseEx<T> inv_ex(const T& a);
/// The Moore-Penrose inverse [.., N, M], of matrices of any shape: singular values up to rtol times the largest count
/// as 0. rtol < 0: max(M, N)·eps. The gradient is that at constant rank. Golub and Pereyra (1973).
template <TensorOrVar T> T pinv(const T& a, double rtol = -1);
/// The determinant. The first gradient, the matrix of cofactors, is right for singular matrices as well.
template <TensorOrVar T> T det(const T& a);
/// {sign, logabsdet}: the determinant as sign·exp(logabsdet); of singular matrices 0 and -inf.
template <TensorOrVar T> Slogdet<T> slogdet(const T& a);
/// {solution, rank, singular_values}: the x that makes the 2-norm of a·x - b smallest, the shortest where there are
/// many. a [.., M, N], b [.., M, K], or [M].
template <TensorOrVar A, TensorOrVar B> Lstsq<ResultOf<A, B>> lstsq(const A& a, const B& b, double rtol = -1);

// ---- norms and functions ----
/// The norm of each matrix: "fro", "nuc" (the sum of singular values), 2 and -2 (the largest and the smallest), 1 and
/// -1 (of sums of |column|), inf and -inf (of rows). Others throw `value`.
template <TensorOrVar T> T matrix_norm(const T& a, const Norm& norm = "fro", KeepDim keepdim = false);
/// (Σ |x|^p)^(1/p) over `axes` (default: all); of infinities the largest and smallest |x|, of 0 how many are not 0.
template <TensorOrVar T>
T vector_norm(const T& x, const Norm& norm = 2, const Axes& axes = {}, KeepDim keepdim = false);
/// How many singular values exceed rtol times the largest (i32). rtol < 0: max(M, N)·eps.
template <TensorOrVar T> Tensor matrix_rank(const T& a, double rtol = -1);
/// The condition number: norm(a)·norm(a⁻¹); of the norm 2 the quotient of singular values, of any shape. Singular: inf.
template <TensorOrVar T> T cond(const T& a, const Norm& norm = 2);
/// e^a by scaling and squaring with Padé's approximant of order 13 (Higham, 2005). The gradient is Fréchet's
/// derivative, by the exponential of a matrix twice as large. Reads a norm in the program; in a recording 1-norms above
/// 5·10⁶ give NaN instead.
template <TensorOrVar T> T expm(const T& a);

}  // namespace tern::linalg
