// Everything of one SIMD target; a target file has chosen HWY_TARGET before.
#include <hwy/highway.h>

#include "cpu/products/gemm_kernels-inl.h"
#include "cpu/simd/kernels-inl.h"
#include "cpu/products/attention_kernels-inl.h"

namespace tern::detail_cpu {
#define TERN_TARGET_TABLES_(name) tables_##name
#define TERN_TARGET_TABLES(name) TERN_TARGET_TABLES_(name)
/// tables_N_AVX2() and so on, called by dispatch.cpp on processors that have the target.
void TERN_TARGET_TABLES(HWY_NAMESPACE)(KernelTable& kernels, const GemmKernels*& gemm,
                                       const AttentionKernels*& attention) {
  HWY_NAMESPACE::FillTable(kernels);
  gemm = &HWY_NAMESPACE::gemm_table();
  attention = &HWY_NAMESPACE::attention_simd::kAttentionKernels;
}
}  // namespace tern::detail_cpu
