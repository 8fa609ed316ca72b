// Factorisations of one matrix that lies by columns, as a table of functions: those of a LAPACK that was found at run
// time, or Eigen's, which are compiled in.
#pragma once
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace tern::detail_cpu {

template <class T> struct RealOf {
  using type = T;
};
template <class R> struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T> using real_of = typename RealOf<T>::type;

/// How many elements past a matrix of `rows` rows its memory must go on where a LAPACK works on it. OpenBLAS before
/// 0.3.23 reads complex numbers from the column after the last (zgemv_n, its issue 4013), which at a page's end faults.
template <class T> constexpr std::int64_t read_beyond(std::int64_t rows) {
  return std::is_same_v<T, real_of<T>> ? 0 : rows;
}

/// Matrices are by columns, `ld` elements apart. Functions that give an int give LAPACK's info: 0, or the number
/// (from 1) of the pivot or minor that failed.
template <class T> struct Factorisations {
  using R = real_of<T>;
  std::string library;  // in reports

  /// Of the triangle that is read, in its place; the other is left as it is.
  int (*cholesky)(bool upper, int n, T* a, int ld);
  /// Row i was exchanged with pivots[i], counted from 0.
  int (*lu)(int m, int n, T* a, int ld, int* pivots);
  /// b = op(a)⁻¹·b with op 'N', 'T' or 'C'.
  void (*triangular)(bool upper, char op, bool unit, int n, int columns, const T* a, int ld, T* b, int ld_b);
  /// The right factor in the upper triangle of a, the first `columns` columns of the left one in q.
  int (*qr)(int m, int n, int columns, T* a, int ld, T* q, int ld_q);
  /// Of the lower triangle: values ascending; vectors in place of a where asked for.
  int (*eigh)(bool vectors, int n, T* a, int ld, R* values);
  /// job 'A': all columns of u and rows of vh, 'S': min(m, n) of them, 'N': values alone. a is destroyed.
  int (*svd)(char job, int m, int n, T* a, int ld, R* s, T* u, int ld_u, T* vh, int ld_vh);
  /// Right eigenvectors of length 1; null: values alone. a is destroyed.
  int (*eig)(int n, T* a, int ld, std::complex<R>* values, std::complex<R>* vectors, int ld_v);
};

/// Of the LAPACK of this machine; null where there is none.
template <class T> const Factorisations<T>* lapack_factorisations();
/// Eigen's; null where tern was built without it.
template <class T> const Factorisations<T>* eigen_factorisations();

/// For matrices whose smaller side is `n`. LAPACK's calls cost some microseconds, Eigen's less. Throws `unsupported`,
/// saying what to install, where there are none.
template <class T> const Factorisations<T>& factorisations(const char* op, long long n);
/// Below this side Eigen is taken where there is a choice.
inline constexpr long long kLapackFrom = 24;

/// How many threads LAPACK's calls may use from now on.
void set_lapack_threads(int threads);

}  // namespace tern::detail_cpu
