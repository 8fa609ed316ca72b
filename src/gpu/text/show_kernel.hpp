// TERN_SHOW_KERNELS: what is compiled, for those who want to read it.
#pragma once
#include <string>

namespace tern::detail_gpu {

/// Prints a kernel's text to stderr, where TERN_SHOW_KERNELS is set to something; before it is compiled.
void show_kernel(const std::string& text);

}  // namespace tern::detail_gpu
