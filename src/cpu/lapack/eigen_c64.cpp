// Factorisations of c64 by those of c128. Eigen divides complex numbers by |z|², which of pivots below 1e-19 is 0 in
// f32; and a table of its own would be 0.45 MB of code for machines without a LAPACK.
#include "cpu/lapack/by_wider.hpp"

namespace tern::detail_cpu {

template <> const Factorisations<std::complex<float>>* eigen_factorisations<std::complex<float>>() {
  using By = ByWider<std::complex<float>, std::complex<double>>;
  static const Factorisations<std::complex<float>>* const table =
      eigen_factorisations<std::complex<double>>()
          ? new Factorisations<std::complex<float>>{"Eigen", By::cholesky, By::lu,  By::triangular,
                                                    By::qr,  By::eigh,     By::svd, By::eig}
          : nullptr;
  return table;
}

}  // namespace tern::detail_cpu
