// Eigen's factorisations of one type as a table: each type is a file of its own (eigen_f32.cpp and so on), which
// includes this. Eigen's namespace is renamed, so that a program's own Eigen, of whatever version, never meets it.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "cpu/lapack/factorisations.hpp"

#ifdef TERN_EIGEN
#define EIGEN_MPL2_ONLY
#define EIGEN_NO_DEBUG
#define EIGEN_DONT_PARALLELIZE
#define Eigen tern_eigen
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace tern::detail_cpu {
namespace {

namespace E = tern_eigen;
template <class S> using EigenMatrix = E::Matrix<S, E::Dynamic, E::Dynamic>;
template <class S> using Column = E::Matrix<S, E::Dynamic, 1>;
template <class S> using Map = E::Map<EigenMatrix<S>, 0, E::OuterStride<>>;
template <class S> Map<S> map(S* a, int m, int n, int ld) { return Map<S>(a, m, n, E::OuterStride<>(ld)); }

/// Eigen divides complex numbers by |z|² and measures columns by their squares, and neither its QR nor its eigenvalues
/// are scaled: of elements near the dtype's limits they would be lost in silence. Powers of two change no digits.
template <class T> real_of<T> power_of_largest(const T* x, int rows, int columns, int ld) {
  using R = real_of<T>;
  R most = 0;
  for (std::ptrdiff_t j = 0; j < columns; ++j) {
    const R* const parts = reinterpret_cast<const R*>(x + j * ld);
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows) * (sizeof(T) / sizeof(R)); ++i)
      most = std::max(most, std::abs(parts[i]));
  }
  if (!(most > 0 && most <= std::numeric_limits<R>::max())) return 1;
  return std::max(std::ldexp(R(1), std::ilogb(most)), std::numeric_limits<R>::min());
}
/// The columns of a matrix, each divided by such a power.
template <class T> class ScaledColumns {
 public:
  using R = real_of<T>;
  ScaledColumns(int rows, int columns, T* a, int ld) : a_(a), ld_(ld), powers_(static_cast<std::size_t>(columns)) {
    for (int j = 0; j < columns; ++j) {
      const R power = powers_[static_cast<std::size_t>(j)] = power_of_largest(column(j), rows, 1, ld);
      for (int i = 0; i < rows && power != 1; ++i) column(j)[i] *= 1 / power;
    }
  }
  /// Multiplies what stands at and above the diagonal again.
  void restore_upper(int rows) const {
    for (int j = 0; j < static_cast<int>(powers_.size()); ++j)
      for (int i = 0; i < std::min(j + 1, rows); ++i) column(j)[i] *= powers_[static_cast<std::size_t>(j)];
  }

 private:
  T* column(int j) const { return a_ + std::ptrdiff_t{1} * j * ld_; }
  T* a_;
  int ld_;
  std::vector<R> powers_;
};

template <class T> int cholesky(bool upper, int n, T* a, int ld) {
  Map<T> x = map(a, n, n, ld);
  const E::Index failed =
      upper ? E::internal::llt_inplace<T, E::Upper>::blocked(x) : E::internal::llt_inplace<T, E::Lower>::blocked(x);
  return static_cast<int>(failed + 1);
}
template <class T> int lu(int m, int n, T* a, int ld, int* pivots) {
  int info = 0, exchanged = 0;
  Map<T> x = map(a, m, n, ld);
  std::optional<ScaledColumns<T>> scaled;  // which changes no pivot's choice, nor L
  if constexpr (!std::is_same_v<T, real_of<T>>) scaled.emplace(m, n, a, ld);
  // Eigen's takes no more columns than rows; those behind are solved for.
  E::internal::partial_lu_impl<T, E::ColMajor, int>::blocked_lu(m, std::min(m, n), a, ld, pivots, exchanged);
  if (n > m) {
    for (int j = m; j < n; ++j)
      for (int i = 0; i < m; ++i) std::swap(x(i, j), x(pivots[i], j));
    auto rest = x.rightCols(n - m);
    x.leftCols(m).template triangularView<E::UnitLower>().solveInPlace(rest);
  }
  if (scaled) scaled->restore_upper(m);
  for (int i = 0; i < std::min(m, n) && !info; ++i)
    if (x(i, i) == T(0)) info = i + 1;
  return info;
}
template <class T>
void triangular(bool upper, char op, bool unit, int n, int columns, const T* a, int ld, T* b, int ld_b) {
  const E::Map<const EigenMatrix<T>, 0, E::OuterStride<>> x(a, n, n, E::OuterStride<>(ld));
  Map<T> y = map(b, n, columns, ld_b);
  const auto solve = [&]<int kMode>() {
    if (op == 'N') x.template triangularView<kMode>().solveInPlace(y);
    else {
      constexpr int kOther = (kMode & E::UnitDiag) | (kMode & E::Upper ? E::Lower : E::Upper);
      if (op == 'T') x.transpose().template triangularView<kOther>().solveInPlace(y);
      else x.adjoint().template triangularView<kOther>().solveInPlace(y);
    }
  };
  if (upper) unit ? solve.template operator()<E::UnitUpper>() : solve.template operator()<E::Upper>();
  else unit ? solve.template operator()<E::UnitLower>() : solve.template operator()<E::Lower>();
}
template <class T> int qr(int m, int n, int columns, T* a, int ld, T* q, int ld_q) {
  Map<T> x = map(a, m, n, ld);
  const ScaledColumns<T> scaled(m, n, a, ld);
  E::HouseholderQR<E::Ref<EigenMatrix<T>, 0, E::OuterStride<>>> made(x);
  map(q, m, columns, ld_q) = made.householderQ() * EigenMatrix<T>::Identity(m, columns);
  scaled.restore_upper(m);
  return 0;
}
template <class T> int eigh(bool vectors, int n, T* a, int ld, real_of<T>* values) {
  Map<T> x = map(a, n, n, ld);
  E::SelfAdjointEigenSolver<EigenMatrix<T>> made(x, vectors ? E::ComputeEigenvectors : E::EigenvaluesOnly);
  E::Map<Column<real_of<T>>>(values, n) = made.eigenvalues();
  if (made.info() != E::Success) return 1;
  if (vectors) x = made.eigenvectors();
  return 0;
}
/// Whether x is u·diag(s)·vᴴ to roundings, with orthonormal columns and values in their order.
template <class T, class Made> bool is_svd(const Map<T>& x, const Made& made) {
  using R = real_of<T>;
  const auto& s = made.singularValues();
  const E::Index k = s.size();
  const EigenMatrix<T> u = made.matrixU().leftCols(k), v = made.matrixV().leftCols(k);
  const R most = 4 * static_cast<R>(std::max(x.rows(), x.cols())) * std::numeric_limits<R>::epsilon();
  const auto is_small = [&](const EigenMatrix<T>& error, R size) {
    return (error.cwiseAbs().array() <= most * size).all();  // which NaN is not
  };
  for (E::Index i = 0; i < k; ++i)
    if (!(s(i) >= (i + 1 < k ? s(i + 1) : 0))) return false;
  const EigenMatrix<T> one = EigenMatrix<T>::Identity(k, k);
  return is_small(u.adjoint() * u - one, 1) && is_small(v.adjoint() * v - one, 1) &&
         is_small(u * s.template cast<T>().asDiagonal() * v.adjoint() - x, s(0));
}
/// By bidiagonals, which are divided and conquered. Where many values are equal, as of projections, Eigen 3.4 gives
/// wrong vectors or NaN so, and says that it succeeded: what it gives is looked at, and Jacobi's rotations take its
/// place, as of small matrices.
template <class T> int svd(char job, int m, int n, T* a, int ld, real_of<T>* s, T* u, int ld_u, T* vh, int ld_vh) {
  constexpr int kRotated = 16;
  const unsigned wanted = job == 'A' ? E::ComputeFullU | E::ComputeFullV : E::ComputeThinU | E::ComputeThinV;
  const real_of<T> power = power_of_largest(a, m, n, ld);
  const auto give = [&](const auto& made) {
    E::Map<Column<real_of<T>>>(s, std::min(m, n)) = made.singularValues() * power;
    if (made.info() != E::Success) return 1;
    if (job == 'N') return 0;
    map(u, m, static_cast<int>(made.matrixU().cols()), ld_u) = made.matrixU();
    map(vh, static_cast<int>(made.matrixV().cols()), n, ld_vh) = made.matrixV().adjoint();
    return 0;
  };
  Map<T> x = map(a, m, n, ld);
  x *= 1 / power;
  if (std::min(m, n) < kRotated) return give(E::JacobiSVD<EigenMatrix<T>>(x, job == 'N' ? 0 : wanted));
  if (const E::BDCSVD<EigenMatrix<T>> made(x, wanted); made.info() == E::Success && is_svd(x, made)) return give(made);
  return give(E::JacobiSVD<EigenMatrix<T>>(x, wanted));
}
template <class T>
int eig(int n, T* a, int ld, std::complex<real_of<T>>* values, std::complex<real_of<T>>* vectors, int ld_v) {
  using Z = std::complex<real_of<T>>;
  using Solver =
      std::conditional_t<std::is_same_v<T, Z>, E::ComplexEigenSolver<EigenMatrix<T>>, E::EigenSolver<EigenMatrix<T>>>;
  const real_of<T> power = power_of_largest(a, n, n, ld);
  Map<T> x = map(a, n, n, ld);
  x *= 1 / power;
  const Solver made(x, vectors != nullptr);
  if (made.info() != E::Success) return 1;
  E::Map<Column<Z>>(values, n) = made.eigenvalues() * power;
  if (vectors) map(vectors, n, n, ld_v) = made.eigenvectors().colwise().normalized();
  return 0;
}

}  // namespace
}  // namespace tern::detail_cpu
#pragma GCC diagnostic pop
#endif

/// Defines and instantiates eigen_factorisations<T>().
#ifdef TERN_EIGEN
#define TERN_EIGEN_TABLE(T)                                                                                \
  namespace tern::detail_cpu {                                                                             \
  template <> const Factorisations<T>* eigen_factorisations<T>() {                                         \
    static const Factorisations<T>* const table =                                                          \
        new Factorisations<T>{"Eigen", cholesky<T>, lu<T>, triangular<T>, qr<T>, eigh<T>, svd<T>, eig<T>}; \
    return table;                                                                                          \
  }                                                                                                        \
  }
#else
#define TERN_EIGEN_TABLE(T)                                                          \
  namespace tern::detail_cpu {                                                       \
  template <> const Factorisations<T>* eigen_factorisations<T>() { return nullptr; } \
  }
#endif
