// Kernels with reductions: a workgroup of `across` × `along` invocations, each traversing the reduced axes.
#pragma once
#include "gpu/gpu_backend.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

/// Runs a request whose program reduces.
void run_reducing(GpuBackend& backend, const detail::FusedRequest& request);

}  // namespace tern::detail_gpu
