// 16-bit floats where an operation computes in f32 from one launch to the next.
#pragma once
#include "primitives/fused/operation.hpp"

namespace tern::detail {

inline bool is_half_float(DType dtype) { return is_floating(dtype) && dtype_size(dtype) == 2; }
/// 16-bit floats as f32; others as they are.
template <TensorOrVar T> T widened(const T& x) { return is_half_float(x.dtype()) ? T(x.to(DType::f32)) : x; }
/// The result in the operand's dtype again.
template <TensorOrVar T> T narrowed(const T& result, DType dtype) {
  return is_half_float(dtype) ? T(result.to(dtype)) : result;
}

}  // namespace tern::detail
