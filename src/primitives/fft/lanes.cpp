#include "primitives/fft/lanes.hpp"

#include "cpu/simd/choose_target.hpp"

namespace tern::detail_cpu::fft {

#define TERN_CHOOSE line_kernels
#define TERN_KERNELS AllLineKernels
#define TERN_KERNELS_OF(target) fft_lanes_N_##target
#include "cpu/simd/choose_target.inc"

}  // namespace tern::detail_cpu::fft
