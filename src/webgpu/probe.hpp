#pragma once
#include <memory>

#include "webgpu/device.hpp"
#include "webgpu/dialect.hpp"

namespace tern::detail_webgpu {

/// Sees what the device does beyond what WGSL promises. `seen`: memory for the results, 256 bytes.
detail_gpu::WgslAbilities probe(WebGpuDevice& gpu, const std::shared_ptr<detail::Storage>& seen);

}  // namespace tern::detail_webgpu
