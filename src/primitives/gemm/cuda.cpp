// `gemm` on CUDA: its own products, of src/cuda/products, besides those of all GPUs.
#include "cuda/products/gemm.hpp"
#include "primitives/gemm/kernels.hpp"
#include "primitives/gemm/prepared.hpp"

namespace tern::detail_gpu {

void gemm_on_cuda(GpuBackend& backend, const detail::GemmRequest& r) {
  run_supported_product(backend, r, [&] { detail_cuda::multiply_on_cuda(backend, r); });
}

}  // namespace tern::detail_gpu
