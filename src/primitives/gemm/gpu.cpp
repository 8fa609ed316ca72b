// `gemm` on GPUs: the products of src/gpu/products, and on CUDA also those of src/cuda/products.
#include "cuda/products/gemm.hpp"
#include "gpu/products/gemm.hpp"
#include "primitives/gemm/kernels.hpp"
#include "primitives/gemm/prepared.hpp"

namespace tern::detail_gpu {
namespace {

template <class Run> void run_supported(GpuBackend& backend, const detail::GemmRequest& r, const Run& run) {
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, *r.epilogue);
    backend.require_supported(r.op, r.a.dtype);
    run();
  });
}

}  // namespace

void gemm_on_gpu(GpuBackend& backend, const detail::GemmRequest& r) {
  run_supported(backend, r, [&] { multiply_in_parts(backend, r, multiply_on_gpu); });
}
void gemm_on_cuda(GpuBackend& backend, const detail::GemmRequest& r) {
  run_supported(backend, r, [&] { detail_cuda::multiply_on_cuda(backend, r); });
}

}  // namespace tern::detail_gpu
