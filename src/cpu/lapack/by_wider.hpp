// Factorisations of a type by those of a wider one.
#pragma once
#include <vector>

#include "cpu/lapack/factorisations.hpp"

namespace tern::detail_cpu {

/// A matrix in the wider type, given back where `finish` is called.
template <class Narrow, class Wide> class Widened {
 public:
  Widened(const Narrow* a, int rows, int columns, int ld)
      : rows_(rows), columns_(columns), wide_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) + 1) {
    for (std::ptrdiff_t j = 0; a && j < columns; ++j)
      for (std::ptrdiff_t i = 0; i < rows; ++i) wide_[static_cast<std::size_t>(j * rows + i)] = a[j * ld + i];
  }
  Wide* data() { return wide_.data(); }
  int ld() const { return rows_ > 0 ? rows_ : 1; }
  void finish(Narrow* a, int ld) const {
    for (std::ptrdiff_t j = 0; j < columns_; ++j)
      for (std::ptrdiff_t i = 0; i < rows_; ++i)
        a[j * ld + i] = static_cast<Narrow>(wide_[static_cast<std::size_t>(j * rows_ + i)]);
  }

 private:
  int rows_, columns_;
  std::vector<Wide> wide_;
};
inline void narrow(const std::vector<double>& from, float* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i]);
}

/// Eigen's functions for Wide, for matrices of Narrow (float or std::complex<float>).
template <class Narrow, class Wide> struct ByWider {
  using Matrix = Widened<Narrow, Wide>;
  static const Factorisations<Wide>& wide() { return *eigen_factorisations<Wide>(); }

  static int cholesky(bool upper, int n, Narrow* a, int ld) {
    Matrix x(a, n, n, ld);
    const int info = wide().cholesky(upper, n, x.data(), x.ld());
    return x.finish(a, ld), info;
  }
  static int lu(int m, int n, Narrow* a, int ld, int* pivots) {
    Matrix x(a, m, n, ld);
    const int info = wide().lu(m, n, x.data(), x.ld(), pivots);
    return x.finish(a, ld), info;
  }
  static void triangular(bool upper, char op, bool unit, int n, int columns, const Narrow* a, int ld, Narrow* b,
                         int ld_b) {
    Matrix x(a, n, n, ld), y(b, n, columns, ld_b);
    wide().triangular(upper, op, unit, n, columns, x.data(), x.ld(), y.data(), y.ld());
    y.finish(b, ld_b);
  }
  static int qr(int m, int n, int columns, Narrow* a, int ld, Narrow* q, int ld_q) {
    Matrix x(a, m, n, ld), y(nullptr, m, columns, m);
    const int info = wide().qr(m, n, columns, x.data(), x.ld(), y.data(), y.ld());
    return x.finish(a, ld), y.finish(q, ld_q), info;
  }
  static int eigh(bool vectors, int n, Narrow* a, int ld, float* values) {
    Matrix x(a, n, n, ld);
    std::vector<double> list(static_cast<std::size_t>(n));
    const int info = wide().eigh(vectors, n, x.data(), x.ld(), list.data());
    return x.finish(a, ld), narrow(list, values), info;
  }
  static int svd(char job, int m, int n, Narrow* a, int ld, float* s, Narrow* u, int ld_u, Narrow* vh, int ld_vh) {
    const int least = m < n ? m : n;
    Matrix x(a, m, n, ld), left(nullptr, m, job == 'A' ? m : least, m), right(nullptr, job == 'A' ? n : least, n, n);
    std::vector<double> list(static_cast<std::size_t>(least));
    const int info =
        wide().svd(job, m, n, x.data(), x.ld(), list.data(), left.data(), left.ld(), right.data(), right.ld());
    narrow(list, s);
    if (job != 'N') left.finish(u, ld_u), right.finish(vh, ld_vh);
    return info;
  }
  static int eig(int n, Narrow* a, int ld, std::complex<float>* values, std::complex<float>* vectors, int ld_v) {
    Matrix x(a, n, n, ld);
    Widened<std::complex<float>, std::complex<double>> list(nullptr, n, 1, n), v(nullptr, n, n, n);
    const int info = wide().eig(n, x.data(), x.ld(), list.data(), vectors ? v.data() : nullptr, v.ld());
    list.finish(values, n);
    if (vectors) v.finish(vectors, ld_v);
    return info;
  }
};

}  // namespace tern::detail_cpu
