#include "cpu/simd/dispatch.hpp"

#include <hwy/targets.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "cpu/products/attention_kernels.hpp"
#include "tern/error.hpp"

namespace tern::detail_cpu {

using FillTables = void(KernelTable&, const GemmKernels*&, const AttentionKernels*&);
#define TERN_CPU_TARGET(name) FillTables tables_N_##name;
#include "cpu_targets.inc"
#undef TERN_CPU_TARGET

namespace {

/// Null for a target that was not compiled.
constexpr FillTables* tables_of(std::string_view target) {
#define TERN_CPU_TARGET(name) \
  if (target == #name) return &tables_N_##name;
#include "cpu_targets.inc"
#undef TERN_CPU_TARGET
  return nullptr;
}

struct ProcessorTarget {
  std::string_view name;
  decltype(hwy::SupportedTargets()) bit;
  FillTables* fill;
  const PairKernels* (*pairs)() = nullptr;  // null where the processor lacks them: it lacks the target, then
};
/// Best first.
constexpr ProcessorTarget kTargets[] = {
#if HWY_ARCH_X86
    {"AVX3_AMX", HWY_AVX3, tables_of("AVX3"), &amx_kernels},
    {"AVX3_BF16", HWY_AVX3, tables_of("AVX3"), &avx512_bf16_kernels},
    {"AVX3", HWY_AVX3, tables_of("AVX3")},
    {"AVX2", HWY_AVX2, tables_of("AVX2")},
    {"SSE4", HWY_SSE4, tables_of("SSE4")},
#else
    {"NEON", HWY_NEON, tables_of("NEON")},
#endif
};

struct Tables {
  KernelTable kernels{};
  const GemmKernels* gemm = nullptr;
  const AttentionKernels* attention = nullptr;
  const PairKernels* pairs = nullptr;
  Tables() {
    const char* wanted = std::getenv("TERN_CPU_TARGET");
    for (const ProcessorTarget& target : kTargets) {
      if (!target.fill || !(hwy::SupportedTargets() & target.bit) || (wanted && *wanted && target.name != wanted))
        continue;
      if (target.pairs && !(pairs = target.pairs())) continue;
      if (pairs && !(wanted && *wanted) && !pairs->pays()) {
        pairs = nullptr;
        continue;
      }
      target.fill(kernels, gemm, attention);
      return;
    }
    throw Error(ErrorKind::unsupported, wanted && *wanted
                                            ? "TERN_CPU_TARGET=" + std::string(wanted) +
                                                  " is not a SIMD target of this processor and this build"
                                            : std::string("this processor lacks SSE4.2, or this build its targets"));
  }
};
const Tables& tables() {
  static const Tables instance;
  return instance;
}

}  // namespace

const KernelTable& kernels() { return tables().kernels; }
std::string tuning_class() {
  long l2 = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
  l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
  return std::string("cpu ") + kernels().target + ", L2 " + std::to_string(l2 / 1024) + " KiB";
}
bool made_by_amd() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}
const PairKernels* pair_kernels() { return tables().pairs; }
const AttentionKernels& attention_kernels() { return *tables().attention; }
const GemmKernels& gemm_kernels() { return *tables().gemm; }
GemmTypes gemm_types(DType type) {
  const GemmKernels& all = gemm_kernels();
  switch (type) {
    case DType::f16: return {&all.f16, &all.f32, 2, 4, false};
    case DType::bf16: return {&all.bf16, &all.f32, 2, 4, false};
    case DType::f64: return {&all.f64, &all.f64, 8, 8, false};
    case DType::i64: return {&all.i64, &all.i64, 8, 8, true};
    case DType::i32:
    case DType::u32: return {&all.i32, &all.i32, 4, 4, true};
    default: return {&all.f32, &all.f32, 4, 4, false};
  }
}

}  // namespace tern::detail_cpu
