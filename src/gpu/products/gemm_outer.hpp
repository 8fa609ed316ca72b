// Products of few steps along k, as the gradient of a weight by one example is: the work is to write the results, so
// they are a pointwise formula of columns of a and rows of b, with the epilogue behind it.
#pragma once
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu {

/// Whether to run a product so.
bool is_outer_product(const detail::GemmRequest& request);
void multiply_as_formula(GpuBackend& backend, const detail::GemmRequest& request);

}  // namespace tern::detail_gpu
