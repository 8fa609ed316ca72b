// The sizes of the processor's caches.
#pragma once
#include <cstdint>

namespace tern::detail_cpu {

/// Bytes that the last-level caches of this process's threads hold together: results that exceed them pass by them.
std::int64_t cache_bytes();

}  // namespace tern::detail_cpu
