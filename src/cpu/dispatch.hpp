// Chooses the kernels of the best SIMD target this processor has.
#pragma once
#include "cpu/gemm_kernels.hpp"
#include "cpu/kernel_table.hpp"

namespace tern::detail_cpu {

/// TERN_CPU_TARGET=SSE4|AVX2|AVX3|NEON chooses an older one (for tests); one that is not there is an error.
const KernelTable& kernels();

}  // namespace tern::detail_cpu
