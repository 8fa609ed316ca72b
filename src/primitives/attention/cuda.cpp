// Attention on CUDA: on tensor cores, and by what the GPU languages share elsewhere.
#include "primitives/attention/cuda_plan.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {

void attention_on_cuda(GpuBackend& backend, const detail::AttentionRequest& r) {
  if (has_mma_attention(backend, r.sizes, r.q.dtype)) return attention_by_mma(backend, r);
  attention_on_gpu(backend, r);
}
void attention_backward_on_cuda(GpuBackend& backend, const detail::AttentionBackwardRequest& r) {
  if (has_mma_attention(backend, r.sizes, r.q.dtype)) return attention_backward_by_mma(backend, r);
  attention_backward_on_gpu(backend, r);
}
bool has_attention_on_cuda(GpuBackend& backend, const detail::AttentionSizes& sizes, DType dtype) {
  return has_mma_attention(backend, sizes, dtype);
}

}  // namespace tern::detail_gpu
