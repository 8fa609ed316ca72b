// Products of 16-bit floats on the matrix units of compute capability 9.0 with any formula as the epilogue, applied to
// the sums in registers: wgmma.cu.
#pragma once
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_cuda {

/// What the kernels depend on besides the request.
struct MatrixUnits {
  int architecture = 0;  // 90 for compute capability 9.0
  int processors = 1;
  int shared_bytes = 48 << 10;  // the most memory of a workgroup
};

/// Runs a product as one kernel of compute capability 9.0; false where it does not fit one, or, unless `always`, where
/// it would leave many processors idle. Needs operands whose rows or columns begin at multiples of 16 bytes, and
/// results with a multiple of eight columns.
bool run_wgmma(detail_gpu::GpuBackend& backend, const detail::GemmRequest& request, const MatrixUnits& units,
               bool always);

}  // namespace tern::detail_cuda
