// Scatter-reduce without float atomics.
#pragma once
#include "gpu/gpu_backend.hpp"

namespace tern::detail_gpu {

/// Through a sorted copy of the table: for tables that are too large to be looked through for every element.
void run_scatter_sorted(GpuBackend& backend, const detail::ScatterRequest& request);

}  // namespace tern::detail_gpu
