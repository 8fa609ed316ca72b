// Attention on CUDA: on tensor cores, on Hopper by its own instructions, and by what the GPU languages share elsewhere.
#include <cstdlib>
#include <string_view>

#include "cuda/cuda_backend.hpp"
#include "primitives/attention/cuda/cuda_plan.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {
namespace {

/// What the device has for products; nothing where attention is to take none of Hopper's instructions.
detail_cuda::MatrixUnits hopper_units(GpuBackend& backend) {
  const auto* cuda = dynamic_cast<detail_cuda::CudaBackend*>(&backend);
  const char* const wanted = std::getenv("TERN_ATTENTION_KERNEL");
  return !cuda || (wanted && std::string_view(wanted) == "mma") ? detail_cuda::MatrixUnits() : cuda->units();
}

}  // namespace

void attention_on_cuda(GpuBackend& backend, const detail::AttentionRequest& r) {
  if (attention_by_wgmma(backend, r, hopper_units(backend))) return;
  if (has_mma_attention(backend, r.sizes, r.q.dtype)) return attention_by_mma(backend, r);
  attention_on_gpu(backend, r);
}
void attention_backward_on_cuda(GpuBackend& backend, const detail::AttentionBackwardRequest& r) {
  if (attention_backward_by_wgmma(backend, r, hopper_units(backend))) return;
  if (has_mma_attention(backend, r.sizes, r.q.dtype)) return attention_backward_by_mma(backend, r);
  attention_backward_on_gpu(backend, r);
}
bool attention_keeps_shares_on_cuda(GpuBackend& backend, const detail::AttentionBackwardRequest& r) {
  return wgmma_keeps_shares(r, hopper_units(backend));
}
std::int64_t attention_groups_on_cuda(GpuBackend& backend, const detail::AttentionSizes& s, DType dtype) {
  // Of Hopper's a processor holds one, not two.
  if (has_wgmma_attention(s, dtype, hopper_units(backend)))
    return 2 * s.batch * s.heads * ceil_div(s.rows, wgmma_forward_instance(s, {}).own());
  if (!has_mma_attention(backend, s, dtype)) return attention_groups_on_gpu(backend, s, dtype);
  return s.batch * s.heads * ceil_div(s.rows, mma_forward_instance(s, dtype).own());
}
bool attention_pays_on_cuda(GpuBackend& backend, const detail::AttentionSizes& s, DType dtype, bool with_gradients) {
  const bool many = s.of_scores().numel() > detail::kMostKeptScores;
  if (!has_mma_attention(backend, s, dtype)) return many;
  const MmaInstance instance = mma_forward_instance(s, dtype);
  const auto* cuda = dynamic_cast<detail_cuda::CudaBackend*>(&backend);
  const std::int64_t processors = cuda ? cuda->units().processors : 1;
  // Without gradients columns are divided (attention_parts).
  const std::int64_t parts = with_gradients ? 1 : detail::attention_parts(backend, s, dtype);
  const std::int64_t groups = parts * s.batch * s.heads * ceil_div(s.rows, instance.own());
  // Times the decomposed computation's speed, forward and both, on an H100, 25 November 2026.
  // A workgroup visits all columns of a part, so where there are few, most processors have nothing to do. Undivided:
  // bf16 1x1x2048x2048x64 0.57, 0.48; 4x16x1x4096x128 0.40; 1x32x1x16384x128 0.10; 1x4x127x129x64 2.8, 2.1.
  constexpr std::int64_t kMostOfFew = std::int64_t{1} << 16;
  if (groups * 2 <= processors && s.columns * instance.widest() > kMostOfFew) return false;
  // By mma.sync bf16 4x16x2048x256 1.21, 0.61. By wgmma on an H200, 29 November 2026, both directions: the same 1.71,
  // causal 5.3; 4x16x128x128x256 1.72, causal 2.0; 1x16x1024x1024x256 1.60; 2x4x200x200x256 1.71.
  if (dtype_size(dtype) == 2)
    return many || !with_gradients || instance.widest() <= 128 || has_wgmma_attention(s, dtype, hopper_units(backend));
  // f32 4x16x64x64 1.35, 0.87; 4x16x256x64 1.23, 0.71; 4x16x2048x64 1.26, 0.73; 2x4x1000x1003x64 0.96, 0.40.
  return many || (!with_gradients && instance.widest() <= 128);
}

}  // namespace tern::detail_gpu
