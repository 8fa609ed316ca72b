// The kernels of the primitive `scan`.
#pragma once
#include "primitives/scan/scan.hpp"

namespace tern::detail_cpu {
void scan_on_cpu(detail::Backend& backend, const detail::ScanRequest& request);
}
namespace tern::detail_gpu {
class GpuBackend;
void scan_on_gpu(GpuBackend& backend, const detail::ScanRequest& request);
}  // namespace tern::detail_gpu
