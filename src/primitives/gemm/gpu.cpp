// `gemm` on GPUs: the products of src/gpu/products.
#include "gpu/products/gemm.hpp"
#include "primitives/gemm/kernels.hpp"
#include "primitives/gemm/prepared.hpp"

namespace tern::detail_gpu {

void gemm_on_gpu(GpuBackend& backend, const detail::GemmRequest& r) {
  run_supported_product(backend, r, [&] { multiply_in_parts(backend, r, multiply_on_gpu); });
}

}  // namespace tern::detail_gpu
