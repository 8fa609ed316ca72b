// The draft of webgpu.h that Dawn had at the end of 2024 (Chromium 133), as in PyPI's dawn-python: other layouts of
// some structures, other numbers of some constants, other names of the functions that take callbacks.
#pragma once
#include <string>

#include "webgpu/api.hpp"

namespace tern::detail_webgpu {

/// What error scopes of a lost device answer with there; webgpu.h has no such error.
inline constexpr auto kDraftDeviceLost = static_cast<WGPUErrorType>(6);

/// Whether the library has that draft's functions.
bool speaks_draft(void* library);
/// Puts translations of webgpu.h in place of the functions that differ. Gives the name of a function that is missing,
/// or nothing. For one library of the process.
std::string translate_draft(void* library, Api& api);

}  // namespace tern::detail_webgpu
