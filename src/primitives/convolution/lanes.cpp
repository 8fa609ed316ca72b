#include "primitives/convolution/lanes.hpp"

#include <cstdlib>
#include <string_view>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu::conv {

using KernelsOfTarget = const AllConvKernels&();
#define TERN_CPU_TARGET(name) KernelsOfTarget conv_lanes_N_##name;
#include "cpu_targets.inc"
#undef TERN_CPU_TARGET

const AllConvKernels& conv_kernels() {
  static const AllConvKernels& chosen = []() -> const AllConvKernels& {
    const std::string_view target = kernels().target;
#define TERN_CPU_TARGET(name) \
  if (target.starts_with(#name)) return conv_lanes_N_##name();
#include "cpu_targets.inc"
#undef TERN_CPU_TARGET
    std::abort();  // the table of kernels is one of these targets
  }();
  return chosen;
}

}  // namespace tern::detail_cpu::conv
