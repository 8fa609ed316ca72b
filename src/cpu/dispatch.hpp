// Chooses the kernels of the best SIMD target this processor has.
#pragma once
#include <string>

#include "cpu/gemm_kernels.hpp"
#include "cpu/kernel_table.hpp"

namespace tern::detail_cpu {

/// TERN_CPU_TARGET=SSE4|AVX2|AVX3|NEON chooses an older one (for tests); one that is not there is an error.
const KernelTable& kernels();
/// Processors that share measurements: the SIMD target and the size of L2, as "cpu AVX3, L2 2048 KiB".
std::string tuning_class();

}  // namespace tern::detail_cpu
