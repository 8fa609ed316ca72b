// The kernels of the primitive `scatter`.
#pragma once
#include "primitives/scatter/scatter.hpp"

namespace tern::detail_cpu {
void scatter_on_cpu(detail::Backend& backend, const detail::ScatterRequest& request);
}
namespace tern::detail_gpu {
class GpuBackend;
void scatter_on_gpu(GpuBackend& backend, const detail::ScatterRequest& request);
/// Whether that takes one kernel that combines, and its results are all written.
detail::AtOnce scatters_at_once(GpuBackend& backend, const detail::ScatterRequest& request);
}  // namespace tern::detail_gpu
