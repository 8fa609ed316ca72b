// Singular values and vectors, for the operations that are made of them.
#pragma once
#include <limits>

#include "primitives/linalg/operations/operation.hpp"

namespace tern::linalg {

inline double epsilon_of(DType dtype) {
  return real_dtype(dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                         : std::numeric_limits<float>::epsilon();
}

/// Of matrices of f32, f64 or complex numbers, as `op`.
Svd<Tensor> svd_of(const char* op, const Tensor& a, bool full);
Svd<Var> svd_of(const char* op, const Var& a, bool full);
/// Singular values alone, of 16-bit floats in f32. Throws shape and dtype as svdvals does.
template <TensorOrVar T> T svdvals_in(const char* op, const T& a);

}  // namespace tern::linalg
