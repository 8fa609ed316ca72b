#include "primitives/fft/lanes.hpp"

#include <cstdlib>
#include <string_view>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu::fft {

using KernelsOfTarget = const AllLaneKernels&();
#define TERN_CPU_TARGET(name) KernelsOfTarget fft_lanes_N_##name;
#include "cpu_targets.inc"
#undef TERN_CPU_TARGET

const AllLaneKernels& lane_kernels() {
  static const AllLaneKernels& chosen = []() -> const AllLaneKernels& {
    const std::string_view target = kernels().target;
#define TERN_CPU_TARGET(name) \
  if (target.starts_with(#name)) return fft_lanes_N_##name();
#include "cpu_targets.inc"
#undef TERN_CPU_TARGET
    std::abort();  // the table of kernels is one of these targets
  }();
  return chosen;
}

}  // namespace tern::detail_cpu::fft
