#include "gpu/text/show_kernel.hpp"

#include <cstdio>
#include <cstdlib>

namespace tern::detail_gpu {

void show_kernel(const std::string& text) {
  if (const char* show = std::getenv("TERN_SHOW_KERNELS"); show && *show) std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace tern::detail_gpu
