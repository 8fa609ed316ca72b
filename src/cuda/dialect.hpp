// CUDA C++ for NVRTC as a dialect.
#pragma once
#include "gpu/text/dialect.hpp"

namespace tern::detail_gpu {

const Dialect& cuda_dialect();
/// Of formulas whose results are exponentiated and then rounded to 16 bits: functions are off by up to 2^-16.5 of their
/// values, which is less than that rounding where they are multiplied by up to 60 (f16) or 240 (bf16); products are put
/// together, and sums take them unrounded.
const Dialect& cuda_dialect_of_scores();

}  // namespace tern::detail_gpu
