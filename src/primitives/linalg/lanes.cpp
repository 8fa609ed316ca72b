#include "primitives/linalg/lanes.hpp"

#include <hwy/detect_targets.h>

#include <string_view>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu::matrices {

using KernelsOfTarget = const AllLaneKernels&();
#if HWY_ARCH_X86
KernelsOfTarget matrix_lanes_N_SSE4, matrix_lanes_N_AVX2, matrix_lanes_N_AVX3;
#else
KernelsOfTarget matrix_lanes_N_NEON;
#endif

const AllLaneKernels& lane_kernels() {
  static const AllLaneKernels& chosen = []() -> const AllLaneKernels& {
#if HWY_ARCH_X86
    const std::string_view target = kernels().target;
    if (target.starts_with("AVX3")) return matrix_lanes_N_AVX3();
    return target.starts_with("AVX2") ? matrix_lanes_N_AVX2() : matrix_lanes_N_SSE4();
#else
    return matrix_lanes_N_NEON();
#endif
  }();
  return chosen;
}

}  // namespace tern::detail_cpu::matrices
