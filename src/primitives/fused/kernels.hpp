// The kernels of the primitive `fused`: adapters to the rooms of the backends, of which it is the largest part.
#pragma once
#include "primitives/fused/fused.hpp"

namespace tern::detail_cpu {
void fused_on_cpu(detail::Backend& backend, const detail::FusedRequest& request);
}
namespace tern::detail_gpu {
class GpuBackend;
void fused_on_gpu(GpuBackend& backend, const detail::FusedRequest& request);
void fused_group_on_gpu(GpuBackend& backend, const detail::FusedGroup& group);
}  // namespace tern::detail_gpu
