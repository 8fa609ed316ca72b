// The kernels of the primitive `gemm`: adapters to the rooms of the backends, of which it is the largest part.
#pragma once
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_cpu {
void gemm_on_cpu(detail::Backend& backend, const detail::GemmRequest& request);
}
namespace tern::detail_gpu {
class GpuBackend;
void gemm_on_gpu(GpuBackend& backend, const detail::GemmRequest& request);
void gemm_on_cuda(GpuBackend& backend, const detail::GemmRequest& request);  // of a CudaBackend
}  // namespace tern::detail_gpu
