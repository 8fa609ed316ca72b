// Singular values and eigenvalues of f32 by those of f64: Eigen's lose orthogonality in f32 where a matrix is graded,
// by half of it at 33×33 with factors of 1/2; and half of the code is spared.
#include "cpu/lapack/by_wider.hpp"
#include "cpu/lapack/eigen-inl.h"

namespace tern::detail_cpu {

template <> const Factorisations<float>* eigen_factorisations<float>() {
#ifdef TERN_EIGEN
  using By = ByWider<float, double>;
  static const Factorisations<float>* const table = new Factorisations<float>{
      "Eigen", cholesky<float>, lu<float>, triangular<float>, qr<float>, eigh<float>, By::svd, By::eig};
  return table;
#else
  return nullptr;
#endif
}

}  // namespace tern::detail_cpu
