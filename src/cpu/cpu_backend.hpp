#pragma once
#include "backend/backend.hpp"

namespace tern::detail_cpu {
/// The CPU backend; one for the process.
detail::Backend& cpu_backend();
}  // namespace tern::detail_cpu
