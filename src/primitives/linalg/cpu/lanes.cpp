#include "primitives/linalg/cpu/lanes.hpp"

#include "cpu/simd/choose_target.hpp"

namespace tern::detail_cpu::matrices {

#define TERN_CHOOSE lane_kernels
#define TERN_KERNELS AllLaneKernels
#define TERN_KERNELS_OF(target) matrix_lanes_N_##target
#include "cpu/simd/choose_target.inc"

}  // namespace tern::detail_cpu::matrices
