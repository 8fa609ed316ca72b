// Matrix products: tiles in workgroup memory, accumulators in registers, any formula as the epilogue.
#pragma once
#include "gpu/gpu_backend.hpp"

namespace tern::detail_gpu {

void run_gemm(GpuBackend& backend, const detail::GemmRequest& request);

/// The shape of a workgroup's tile of the output, the step along k, and each invocation's part. Parts are made of
/// blocks of 4×4, spread evenly over the tile.
struct GemmTile {
  int m = 64, n = 64, k = 16, part_m = 4, part_n = 4;
  int threads() const { return m / part_m * (n / part_n); }
  int shared_bytes() const { return (m + n) * k * 4; }
};

}  // namespace tern::detail_gpu
