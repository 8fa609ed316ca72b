// Factorisations by the library of a GPU's vendor, for matrices that are too large for kernels of their own.
#pragma once
#include <cstdint>

#include "tern/dtype.hpp"

namespace tern::detail_gpu {

/// Queues what is to be done with a matrix, or with each of several, behind what was queued before. Matrices are in the
/// device's memory, by columns without gaps, of f32, f64, c64 or c128; values are of the real type. `count` matrices
/// are given by an array of their addresses, which is in the device's memory too. info: 0, or what LAPACK's is.
class MatrixLibrary {
 public:
  virtual ~MatrixLibrary() = default;
  virtual const char* name() const = 0;
  /// Of the lower triangle, which becomes the factor.
  virtual void cholesky(DType dtype, std::int64_t n, void* a, std::int32_t* info) = 0;
  virtual void cholesky_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* info, std::int64_t count) = 0;
  /// a becomes L and U; pivots count from 1.
  virtual void lu(DType dtype, std::int64_t m, std::int64_t n, void* a, std::int64_t* pivots, std::int32_t* info) = 0;
  virtual void lu_of_each(DType dtype, std::int64_t n, void** a, std::int32_t* pivots, std::int32_t* info,
                          std::int64_t count) = 0;
  /// b becomes A⁻¹·b, A⁻ᵀ·b ('T') or A⁻ᴴ·b ('C') of a triangle of a; `unit`: whose diagonal is 1.
  virtual void triangular(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right,
                          const void* a, void* b) = 0;
  virtual void triangular_of_each(DType dtype, bool upper, bool unit, char how, std::int64_t n, std::int64_t right,
                                  const void* const* a, void* const* b, std::int64_t count) = 0;
  /// a becomes R and the reflections below it.
  virtual void reflections(DType dtype, std::int64_t m, std::int64_t n, void* a, void* tau, std::int32_t* info) = 0;
  /// q, m × inner, whose first k columns hold reflections, becomes what they are the product of.
  virtual void basis(DType dtype, std::int64_t m, std::int64_t inner, std::int64_t k, void* q, const void* tau,
                     std::int32_t* info) = 0;
  /// Of the lower triangles of `count` matrices that lie behind each other, and so do their values; a becomes the
  /// vectors, or nothing in particular.
  virtual void eigh(DType dtype, bool vectors, std::int64_t n, void* a, void* values, std::int32_t* info,
                    std::int64_t count) = 0;
  /// Whether that is more than a call a matrix.
  virtual bool eigh_at_once() const = 0;
  /// Of m ≥ n. job: 'A', all columns of u; 'S', n of them; 'N', no vectors. a is lost.
  virtual void svd(DType dtype, char job, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* vh,
                   std::int32_t* info) = 0;
  /// The same of 'S' by the polar decomposition, and v in place of its adjoint; waits. False where the singular values
  /// are changed by more than `most`, or it fails; then the results are nothing in particular.
  virtual bool svd_by_polar(DType dtype, std::int64_t m, std::int64_t n, void* a, void* s, void* u, void* v,
                            double most) = 0;
  /// c, m × n, becomes a·b of k columns and rows, or aᴴ·b.
  virtual void multiply(DType dtype, bool adjoint, std::int64_t m, std::int64_t n, std::int64_t k, const void* a,
                        const void* b, void* c) = 0;
};

}  // namespace tern::detail_gpu
