// CUDA C++ for NVRTC as a dialect.
#pragma once
#include "gpu/text/dialect.hpp"

namespace tern::detail_gpu {

const Dialect& cuda_dialect();
/// Of formulas whose results are exponentiated and then rounded to 16 bits: an absolute error of 2^-18 of a function's
/// values does there what one of the values' last place would.
const Dialect& cuda_dialect_of_scores();

}  // namespace tern::detail_gpu
