// Products with epilogues on CUDA: cuBLASLt's plain product, and one fused pass where there is more to do.
#pragma once
#include <functional>
#include <optional>

#include "cuda/blas.hpp"
#include "cuda/products/wgmma.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_cuda {

/// Runs a request on the matrix units with its epilogue, or by way of `run`, which queues a plain product and says
/// whether it could (empty where there is no cuBLASLt); false where the operands' layouts fit neither (the kernels of
/// src/gpu/ then do it all).
bool multiply_whole(detail_gpu::GpuBackend& backend, const detail::GemmRequest& request, const MatrixUnits& units,
              const std::function<bool(const Product&)>& run);

/// Runs a product of a CudaBackend: as above, or else by a kernel of src/gpu or of the tensor cores (mma.hpp).
void multiply_on_cuda(detail_gpu::GpuBackend& backend, const detail::GemmRequest& request);

}  // namespace tern::detail_cuda
