#include "primitives/convolution/lanes.hpp"

#include <hwy/detect_targets.h>

#include <string_view>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu::conv {

using KernelsOfTarget = const AllConvKernels&();
#if HWY_ARCH_X86
KernelsOfTarget conv_lanes_N_SSE4, conv_lanes_N_AVX2, conv_lanes_N_AVX3;
#else
KernelsOfTarget conv_lanes_N_NEON;
#endif

const AllConvKernels& conv_kernels() {
  static const AllConvKernels& chosen = []() -> const AllConvKernels& {
#if HWY_ARCH_X86
    const std::string_view target = kernels().target;
    if (target.starts_with("AVX3")) return conv_lanes_N_AVX3();
    return target.starts_with("AVX2") ? conv_lanes_N_AVX2() : conv_lanes_N_SSE4();
#else
    return conv_lanes_N_NEON();
#endif
  }();
  return chosen;
}

}  // namespace tern::detail_cpu::conv
