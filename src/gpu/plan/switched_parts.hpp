// Launches of one kernel that do not depend on each other, where a kernel chooses its memory by statements
// (Dialect::parts_by_switch): as many together as a kernel has bindings for.
#pragma once
#include <span>
#include <string>

#include "gpu/plan/kernel.hpp"

namespace tern::detail_gpu {

class GpuBackend;

/// Queues launches of one key, whose text module() gave of parts.
void queue_switched(GpuBackend& backend, std::span<const Launch> launches, const std::string& text);

}  // namespace tern::detail_gpu
