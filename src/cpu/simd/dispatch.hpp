// Chooses the kernels of the best SIMD target this processor has.
#pragma once
#include <string>

#include "cpu/products/gemm_kernels.hpp"
#include "cpu/products/gemm_pairs.hpp"
#include "cpu/simd/kernel_table.hpp"

namespace tern::detail_cpu {

/// TERN_CPU_TARGET=SSE4|AVX2|AVX3|AVX3_BF16|AVX3_AMX|NEON chooses one (for tests): the last two are AVX3 with the
/// instructions for products of bf16. One that is not there is an error.
const KernelTable& kernels();
/// The kernels for products of bf16 by pairs; null where the processor (or the chosen target) has none.
const PairKernels* pair_kernels();
/// Whether the processor is AMD's.
bool made_by_amd();
/// Processors that share measurements: the SIMD target and the size of L2, as "cpu AVX3, L2 2048 KiB".
std::string tuning_class();

}  // namespace tern::detail_cpu
