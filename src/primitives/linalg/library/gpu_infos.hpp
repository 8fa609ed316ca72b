// What became of each matrix that a vendor's library took.
#pragma once
#include "primitives/linalg/library/gpu_columns.hpp"

namespace tern::detail_gpu {

/// The library's info of each matrix, and which are not finite.
class Infos {
 public:
  Infos(GpuBackend& backend, const detail::MatrixRequest& r);
  /// Not 0 where a matrix is not finite, once it was moved.
  const View& bad() const { return bad_.view; }
  std::int32_t* at(std::int64_t matrix) const { return infos_.at<std::int32_t>(matrix); }
  /// -1 where it is not finite, else the library's info: to the request's status, and as an error, which has no room
  /// for the numbers of large matrices where kernels note what failed.
  void finish(detail::PrimitiveId by);

 private:
  GpuBackend& backend_;
  const detail::MatrixRequest& r_;
  Matrices infos_, bad_;
};

/// Whether the columns of each of v, n × n, are orthonormal to 4·n·eps; waits for the device.
bool orthonormal(GpuBackend& backend, const detail::MatrixRequest& r, const View& v, std::int64_t n);

/// f(l) for each matrix of the batch.
template <class F> void for_each_matrix(const detail::MatrixRequest& r, F f) {
  for (std::int64_t l = 0; l < r.count(); ++l) f(l);
}

}  // namespace tern::detail_gpu
