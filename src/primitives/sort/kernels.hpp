// The kernels of the primitive `sort`.
#pragma once
#include "primitives/sort/sort.hpp"

namespace tern::detail_cpu {
void sort_on_cpu(detail::Backend& backend, const detail::SortRequest& request);
}
namespace tern::detail_gpu {
class GpuBackend;
void sort_on_gpu(GpuBackend& backend, const detail::SortRequest& request);
}  // namespace tern::detail_gpu
