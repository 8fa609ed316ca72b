// Products of 16-bit floats on tensor cores of any architecture from compute capability 8.0 on, with any formula as the
// epilogue, applied to the sums in registers.
#pragma once
#include "cuda/products/wgmma.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_cuda {

/// Runs a product that fits the limits as one kernel; false where it is none of 16-bit floats or, where kernels are
/// those of the archive, where that has none with the epilogue.
bool run_mma(detail_gpu::GpuBackend& backend, const detail::GemmRequest& request, const MatrixUnits& units);

}  // namespace tern::detail_cuda
