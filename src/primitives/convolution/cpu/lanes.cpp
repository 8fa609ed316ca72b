#include "primitives/convolution/cpu/lanes.hpp"

#include "cpu/simd/choose_target.hpp"

namespace tern::detail_cpu::conv {

#define TERN_CHOOSE conv_kernels
#define TERN_KERNELS AllConvKernels
#define TERN_KERNELS_OF(target) conv_lanes_N_##target
#include "cpu/simd/choose_target.inc"

}  // namespace tern::detail_cpu::conv
