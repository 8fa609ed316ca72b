// vdpbf16ps: 11 × 2 vectors of accumulators. AMD's processors run it at twice the rate of f32; Intel's at half of that
// (Sapphire Rapids: 0.55 of the f32 kernels' speed), so these do without unless they are asked for.
#include "cpu/products/gemm_pairs.hpp"

#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 11)
#pragma GCC diagnostic ignored "-Wpsabi"
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16"))), apply_to = function)
#else
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12, of _mm512_undefined_epi32()
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
#endif
#include <immintrin.h>

#include <array>
#include <cstring>
#include <utility>

#include "cpu/simd/dispatch.hpp"
#include "cpu/products/pairs_interleave.hpp"

namespace tern::detail_cpu {
namespace {

constexpr int kMostRows = 14;  // 28 registers of sums, 2 of B, 1 of A

template <int kRows, int kVectors> void micro_rows(const PairMicro& call, std::int64_t first) {
  const std::int64_t next_steps = call.a_step - 2 * kPairSteps + 2;
  const std::uint16_t* a = call.a + first * call.a_row;
  __m512 sum[kRows][kVectors];
#pragma GCC unroll 32
  for (int i = 0; i < kRows; ++i) {
    const float* const from = call.from + (first + i) * call.from_row;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[i][v] = call.from ? _mm512_loadu_ps(from + 16 * v) : _mm512_setzero_ps();
  }
  const std::uint16_t* b = call.b;
  // Of a further segment the steps go on as those of the first do.
  std::int64_t left = call.more_count;
  for (std::int64_t p = 0;; ++p, b += 2 * kPairCols, a += p % kPairSteps ? 2 : next_steps) {
    if (p == call.pairs) {
      if (left == 0) break;
      const PairSegment& next = call.more[call.more_count - left--];
      a = next.a + first * call.a_row, b = next.b, p = 0;
    }
    __m512bh bv[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) bv[v] = (__m512bh)_mm512_loadu_si512(b + 32 * v);
#pragma GCC unroll 32
    for (int i = 0; i < kRows; ++i) {
      int pair;
      std::memcpy(&pair, a + i * call.a_row, 4);
      __m512i twice = _mm512_set1_epi32(pair);
#if defined(__clang__)
      asm("" : "+v"(twice));  // clang 16 crashes where it sees a broadcast of bf16
#endif
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[i][v] = _mm512_dpbf16_ps(sum[i][v], (__m512bh)twice, bv[v]);
    }
  }
  if (call.rounded) {
    const __mmask32 mask = first_columns(call.cols);
#pragma GCC unroll 32
    for (int i = 0; i < kRows; ++i)
      store_rounded(call.rounded + (first + i) * call.rounded_row, mask, sum[i][0], sum[i][kVectors - 1]);
    return;
  }
#pragma GCC unroll 32
  for (int i = 0; i < kRows; ++i) {
    float* const to = call.to + (first + i) * call.to_row;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) _mm512_storeu_ps(to + 16 * v, sum[i][v]);
  }
}

/// One entry for each number of rows from 1 on and of vectors.
using MicroRows = void (*)(const PairMicro&, std::int64_t);
template <int... kRows> constexpr auto micros_of(std::integer_sequence<int, kRows...>) {
  return std::array<std::array<MicroRows, 2>, sizeof...(kRows)>{
      {{micro_rows<kRows + 1, 1>, micro_rows<kRows + 1, 2>}...}};
}

/// Parts as even as can be, for a part of few rows waits for its own sums: 32 rows as 11, 11, 10 run at 1.1 of the
/// speed of 11, 11, 4, 4, 1, 1.
void micro(const PairMicro& call) {
  static constexpr auto micros = micros_of(std::make_integer_sequence<int, kMostRows>());
  const std::int64_t parts = (call.rows + kMostRows - 1) / kMostRows;
  for (std::int64_t part = 0, row = 0; part < parts; ++part) {
    const std::int64_t rows = (call.rows - row + parts - part - 1) / (parts - part);
    micros[static_cast<std::size_t>(rows - 1)][call.cols > 16](call, row);
    row += rows;
  }
}
void nothing() {}

/// B's panel streams from L2 then (128 bytes in 22 cycles), and partial sums are kept and taken up seldom: of the
/// speed, Zen 4, 512 steps 1, 1024 1.03 to 1.04, 2048 another 1.02 to 1.04 where k is that long.
constexpr std::int64_t kAvx512BlockSteps = 2048;

constexpr PairKernels kAvx512Kernels{"vdpbf16ps", kAvx512BlockSteps, 1,     2, made_by_amd, nothing,
                                     nothing,     micro,             interleave_pairs};

bool processor_has_it() {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bf16");
}

}  // namespace
}  // namespace tern::detail_cpu
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace tern::detail_cpu {
const PairKernels* avx512_bf16_kernels() {
  static const bool has = processor_has_it();
  return has ? &kAvx512Kernels : nullptr;
}
}  // namespace tern::detail_cpu
#else
namespace tern::detail_cpu {
const PairKernels* avx512_bf16_kernels() { return nullptr; }
}  // namespace tern::detail_cpu
#endif
