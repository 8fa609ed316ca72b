// Products with epilogues on CUDA: cuBLASLt's plain product, and one fused pass where there is more to do.
#pragma once
#include <functional>
#include <optional>

#include "cuda/blas.hpp"
#include "gpu/gpu_backend.hpp"

namespace tern::detail_cuda {

/// Runs a request by way of `run`, which queues a plain product and says whether it could; false where the operands'
/// layouts do not fit one product (the kernels of src/gpu/ then do it all).
bool run_gemm(detail_gpu::GpuBackend& backend, const detail::GemmRequest& request,
              const std::function<bool(const Product&)>& run);

}  // namespace tern::detail_cuda
