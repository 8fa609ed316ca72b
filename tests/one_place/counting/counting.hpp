#pragma once
#include <cstdint>

#include "tern/device.hpp"

namespace tern {

inline Device counting() { return {DeviceKind::counting, 0}; }
/// How many requests its kernels ran.
std::int64_t requests_counted();

}  // namespace tern
