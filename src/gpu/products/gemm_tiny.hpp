// Many products of small matrices: an invocation a row of results (gemm_tiny.wgsl).
#pragma once
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu {

/// Whether the results have so many rows, so few columns, and so short a k.
bool is_tiny(const detail::GemmRequest& request);
/// Runs such a product as one kernel. False, having done nothing, where there are only kernels made beforehand.
bool run_gemm_tiny(GpuBackend& backend, const detail::GemmRequest& request);

}  // namespace tern::detail_gpu
