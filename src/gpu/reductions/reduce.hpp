// Kernels with reductions: a workgroup of `across` × `along` invocations, each walking along the reduced axes.
#pragma once
#include "gpu/gpu_backend.hpp"

namespace tern::detail_gpu {

/// What memory holds a lane's values as.
DType lane_dtype(detail::Lane lane);
/// Runs a request whose program reduces.
void run_reducing(GpuBackend& backend, const detail::FusedRequest& request);

}  // namespace tern::detail_gpu
