// Scales of numbers whose squares are wanted.
#pragma once
#include "tern/ops.hpp"

namespace tern::detail {

/// A power of two near x > 0; 1 where x is 0 or not finite. What is divided by it keeps its digits.
inline Tensor power_of_two_near(const Tensor& x) {
  const Tensor power = exp2(maximum(floor(log2(x)), x.dtype() == DType::f64 ? -1022 : -126));
  return where(logical_and(x > 0, isfinite(x)), power, 1);
}

}  // namespace tern::detail
