// AMX: a call keeps 2 × 2 tiles of 16 × 16 sums; each step multiplies two tiles of A (16 rows × 32 steps) with two of B
// (32 steps × 16 columns). The panel of B stays in L1 from call to call, A comes from L2.
#include "cpu/products/gemm_pairs.hpp"

#if defined(__linux__) && defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 11)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16"))), apply_to = function)
#else
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12, of _mm512_undefined_epi32()
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")
#endif
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu/products/pairs_interleave.hpp"

namespace tern::detail_cpu {
namespace {

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void begin() {
  static const TileShapes shapes;
  asm volatile("ldtilecfg %0" ::"m"(shapes));
}
void end() { _tile_release(); }

/// Tiles 0 to 3: sums; 4, 5: A; 6, 7: B. A's loads ask not to be kept in L1, where the panel of B (32 KiB) would be
/// lost to them: 512³ of packed operands runs at 0.9 of the speed without loads, by ordinary loads at 0.65, with the
/// lines prefetched besides at 0.6.
template <bool kBoth> void multiply(const PairMicro& call, PairSegment at, std::int64_t ahead_lines) {
  const auto a_row = static_cast<std::size_t>(call.a_row) * 2;
  const std::uint16_t *a = at.a, *b = at.b;
  const char* ahead = call.ahead;
  for (std::int64_t p = 0; p < call.pairs; p += kPairSteps, a += call.a_step, b += 2 * kPairSteps * kPairCols) {
    for (std::int64_t line = 0; line < ahead_lines; ++line, ahead += 64) _mm_prefetch(ahead, _MM_HINT_T1);
    _tile_stream_loadd(4, a, a_row);
    _tile_loadd(6, b, 128);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kBoth) {
      _tile_stream_loadd(5, a + 16 * call.a_row, a_row);
      _tile_dpbf16ps(2, 5, 6);
    }
    _tile_loadd(7, b + 32, 128);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kBoth) _tile_dpbf16ps(3, 5, 7);
  }
}

void store_tiles(float* c, std::int64_t row, bool both) {
  const auto bytes = static_cast<std::size_t>(row) * 4;
  _tile_stored(0, c, bytes);
  _tile_stored(1, c + 16, bytes);
  if (!both) return;
  _tile_stored(2, c + 16 * row, bytes);
  _tile_stored(3, c + 16 * row + 16, bytes);
}

void load_tiles(const float* c, std::int64_t row, bool both) {
  const auto bytes = static_cast<std::size_t>(row) * 4;
  _tile_loadd(0, c, bytes);
  _tile_loadd(1, c + 16, bytes);
  if (!both) return;
  _tile_loadd(2, c + 16 * row, bytes);
  _tile_loadd(3, c + 16 * row + 16, bytes);
}

void micro(const PairMicro& call) {
  const bool both = call.rows > 16;
  if (call.from) {
    load_tiles(call.from, call.from_row, both);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const auto multiply_all = both ? multiply<true> : multiply<false>;
  multiply_all(call, {call.a, call.b}, call.ahead_lines);
  for (std::int64_t s = 0; s < call.more_count; ++s) multiply_all(call, call.more[s], 0);
  if (!call.rounded) return store_tiles(call.to, call.to_row, both);
  alignas(64) float sums[kPairRows * kPairCols];
  store_tiles(sums, kPairCols, both);
  const __mmask32 mask = first_columns(call.cols);
  for (std::int64_t i = 0; i < call.rows; ++i)
    store_rounded(call.rounded + i * call.rounded_row, mask, _mm512_load_ps(sums + i * kPairCols),
                  _mm512_load_ps(sums + i * kPairCols + 16));
}

/// Of a panel of B 512 steps are 32 KiB, which L1 (48 KiB) holds while A streams by.
constexpr std::int64_t kAmxBlockSteps = 512;

constexpr PairKernels kAmxKernels{"AMX", kAmxBlockSteps, 16,    2 * kPairSteps,  [] { return true; },
                                  begin, end,            micro, interleave_pairs};

/// The processor has it, and the kernel lets this process use it (asked for once: threads inherit it).
bool processor_has_it() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24;
  if ((d & kBf16) == 0 || (d & kTile) == 0) return false;
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl")) return false;
  if (!__builtin_cpu_supports("avx512bf16")) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace
}  // namespace tern::detail_cpu
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace tern::detail_cpu {
const PairKernels* amx_kernels() {
  static const bool has = processor_has_it();
  return has ? &kAmxKernels : nullptr;
}
}  // namespace tern::detail_cpu
#else
namespace tern::detail_cpu {
const PairKernels* amx_kernels() { return nullptr; }
}  // namespace tern::detail_cpu
#endif
