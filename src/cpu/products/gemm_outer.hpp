// Products whose depth is so short that writing C is the work: the gradient of a weight by one example is an outer
// product.
#pragma once
#include "cpu/products/gemm.hpp"

namespace tern::detail_cpu {

/// Runs the product, with the same sums as any other way; false, and nothing is done, where it is not such a product.
bool gemm_outer(const GemmProblem& problem);

}  // namespace tern::detail_cpu
