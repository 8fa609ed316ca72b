// Integers where an operation computes in floating point.
#pragma once
#include "primitives/fused/operation.hpp"

namespace tern::detail {

/// Integers and booleans in f64 where the device has it, in which those of up to 53 bits are exact, else in f32.
template <TensorOrVar T> T in_floating(const T& x) {
  return x.to(value_of(x).impl()->storage->backend().supports(DType::f64) ? DType::f64 : DType::f32);
}

}  // namespace tern::detail
