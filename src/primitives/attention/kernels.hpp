// The kernels of the primitive `attention`.
#pragma once
#include "primitives/attention/attention.hpp"

namespace tern::detail_cpu {
void attention_on_cpu(detail::Backend& backend, const detail::AttentionRequest& request);
void attention_backward_on_cpu(detail::Backend& backend, const detail::AttentionBackwardRequest& request);
}  // namespace tern::detail_cpu
namespace tern::detail_gpu {
class GpuBackend;
void attention_on_gpu(GpuBackend& backend, const detail::AttentionRequest& request);
void attention_backward_on_gpu(GpuBackend& backend, const detail::AttentionBackwardRequest& request);
}  // namespace tern::detail_gpu
