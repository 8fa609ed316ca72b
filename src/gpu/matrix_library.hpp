// Factorisations by the library of a GPU's vendor, for matrices that are too large for kernels of their own.
#pragma once
#include <cstdint>

#include "tern/dtype.hpp"

namespace tern::detail_gpu {

/// Queues what is to be done with one matrix behind what was queued before. Matrices are in the device's memory, by
/// columns without gaps, of f32, f64, c64 or c128; values are of the real type. info: 0, or what LAPACK's is.
class MatrixLibrary {
 public:
  virtual ~MatrixLibrary() = default;
  virtual const char* name() const = 0;
  /// Of the lower triangle, which becomes the factor.
  virtual void cholesky(DType dtype, std::int64_t n, void* a, std::int32_t* info) = 0;
  /// a becomes L and U; pivots count from 1.
  virtual void lu(DType dtype, std::int64_t m, std::int64_t n, void* a, std::int64_t* pivots, std::int32_t* info) = 0;
  /// Of b, n × right, row i is exchanged with row pivots[i], from the first one on, or `back`, from the last one.
  virtual void exchange_rows(DType dtype, std::int64_t n, std::int64_t right, void* b, const std::int32_t* pivots,
                             bool back) = 0;
  /// b becomes A⁻¹·b, A⁻ᵀ·b ('T') or A⁻ᴴ·b ('C') of a triangle of a; `unit`: whose diagonal is 1.
  virtual void triangular(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right,
                          const void* a, void* b) = 0;
  /// a becomes R and the reflections below it.
  virtual void reflections(DType dtype, std::int64_t m, std::int64_t n, void* a, void* tau, std::int32_t* info) = 0;
  /// q, m × inner, whose first k columns hold reflections, becomes what they are the product of.
  virtual void basis(DType dtype, std::int64_t m, std::int64_t inner, std::int64_t k, void* q, const void* tau,
                     std::int32_t* info) = 0;
  /// Of the lower triangle; a becomes the vectors, or nothing in particular.
  virtual void eigh(DType dtype, bool vectors, std::int64_t n, void* a, void* values, std::int32_t* info) = 0;
  /// Of m ≥ n. job: 'A', all columns of u; 'S', n of them; 'N', no vectors. a is lost.
  virtual void svd(DType dtype, char job, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* vh,
                   std::int32_t* info) = 0;
};

}  // namespace tern::detail_gpu
