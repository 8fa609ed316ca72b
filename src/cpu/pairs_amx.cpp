// AMX: a call keeps 2 × 2 tiles of 16 × 16 sums; each step multiplies two tiles of A (16 rows × 32 steps) with two of B
// (32 steps × 16 columns). The panel of B stays in L1 from call to call, A comes from L2.
#include "cpu/gemm_pairs.hpp"

#if defined(__linux__) && defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 11)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,amx-tile,amx-bf16"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,amx-tile,amx-bf16")
#endif
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu/pairs_interleave.hpp"

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

/// The lines of one tile, into L1.
inline void prefetch(const char* at, std::size_t row) {
#pragma GCC unroll 16
  for (int line = 0; line < 16; ++line, at += row) _mm_prefetch(at, _MM_HINT_T0);
}

/// Tiles 0 to 3: sums; 4, 5: A; 6, 7: B. The next step's A is fetched from L2 meanwhile: a tile's load waits for 16
/// lines at once.
void micro(const PairMicro& call) {
  constexpr std::int64_t kBStep = 2 * kPairSteps * kPairCols;
  const bool both = call.rows > 16;
  const auto a_row = static_cast<std::size_t>(call.a_row) * 2, c_row = static_cast<std::size_t>(call.c_row) * 4;
  float* const lower = call.c + 16 * call.c_row;
  _tile_zero(2);
  _tile_zero(3);
  if (call.add) {
    _tile_loadd(0, call.c, c_row);
    _tile_loadd(1, call.c + 16, c_row);
    if (both) {
      _tile_loadd(2, lower, c_row);
      _tile_loadd(3, lower + 16, c_row);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
  }
  const std::uint16_t *a = call.a, *b = call.b;
  for (std::int64_t p = 0; p < call.pairs; p += kPairSteps, a += call.a_step, b += kBStep) {
    const char* const next = reinterpret_cast<const char*>(a + call.a_step);
    _tile_loadd(6, b, 128);
    _tile_loadd(4, a, a_row);
    _tile_loadd(7, b + 32, 128);
    prefetch(next, a_row);
    prefetch(reinterpret_cast<const char*>(b + kBStep), 64);
    prefetch(reinterpret_cast<const char*>(b + kBStep + kBStep / 2), 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if (!both) continue;
    _tile_loadd(5, a + 16 * call.a_row, a_row);
    prefetch(next + 16 * a_row, a_row);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, call.c, c_row);
  _tile_stored(1, call.c + 16, c_row);
  if (both) {
    _tile_stored(2, lower, c_row);
    _tile_stored(3, lower + 16, c_row);
  }
}

constexpr PairKernels kTable{"AMX", [] { return true; }, begin, end, micro, interleave_pairs};

/// The processor has it, and the kernel lets this process use it (asked for once: threads inherit it).
bool processor_has_it() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24;
  if ((d & kBf16) == 0 || (d & kTile) == 0) return false;
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl")) return false;
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
  return has ? &kTable : nullptr;
}
}  // namespace tern::detail_cpu
#else
namespace tern::detail_cpu {
const PairKernels* amx_kernels() { return nullptr; }
}  // namespace tern::detail_cpu
#endif
