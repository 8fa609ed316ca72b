// Products of few rows and columns in large batches, and of many rows with a small B: nothing is packed into panels.
#pragma once
#include "cpu/products/gemm.hpp"

namespace tern::detail_cpu {

/// Runs the product and says so, if it is such.
bool gemm_small(const GemmProblem& problem);

}  // namespace tern::detail_cpu
