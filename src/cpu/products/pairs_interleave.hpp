// What both kinds of PairKernels do with AVX-512; included by the files that are compiled for it and for avx512_bf16.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace tern::detail_cpu {
namespace {

/// Two vectors of sums as 32 bf16, of which those in `mask` are stored; NaN as the one that tern stores (halves-inl.h).
/// The instruction takes subnormal numbers for zeros: the sums have none.
inline void store_rounded(std::uint16_t* to, __mmask32 mask, __m512 low, __m512 high) {
  const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
  low = _mm512_mask_mov_ps(low, _mm512_cmp_ps_mask(low, low, _CMP_UNORD_Q), nan);
  high = _mm512_mask_mov_ps(high, _mm512_cmp_ps_mask(high, high, _CMP_UNORD_Q), nan);
  _mm512_mask_storeu_epi16(to, mask, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}
inline __mmask32 first_columns(std::int64_t cols) {
  return cols >= 32 ? ~__mmask32{0} : (__mmask32{1} << cols) - 1;
}

void interleave_pairs(const std::uint16_t* from, std::int64_t row, std::int64_t steps, std::int64_t cols,
                      std::uint32_t* to, std::int64_t to_row, std::int64_t to_panel) {
  // 0, 32, 1, 33, …: of two vectors of 32 the elements in turn, the lower and the upper half of them.
  const __m512i first = _mm512_set_epi32(0x2f000f, 0x2e000e, 0x2d000d, 0x2c000c, 0x2b000b, 0x2a000a, 0x290009, 0x280008,
                                       0x270007, 0x260006, 0x250005, 0x240004, 0x230003, 0x220002, 0x210001, 0x200000);
  const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
  for (std::int64_t p = 0; p < steps; p += 2, from += 2 * row, to += to_row) {
    const std::uint16_t* next = p + 1 < steps ? from + row : nullptr;
    std::int64_t j = 0;
    for (; next && j + 32 <= cols; j += 32) {
      const __m512i even = _mm512_loadu_si512(from + j), odd = _mm512_loadu_si512(next + j);
      std::uint32_t* const pairs = to + j / kPairCols * to_panel;
      _mm512_storeu_si512(pairs, _mm512_permutex2var_epi16(even, first, odd));
      _mm512_storeu_si512(pairs + 16, _mm512_permutex2var_epi16(even, second, odd));
    }
    for (; j < cols; j += 16) {
      const std::int64_t left = cols - j;
      const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
      const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from + j));
      const __m512i high =
          next ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, next + j)) : _mm512_setzero_si512();
      _mm512_mask_storeu_epi32(to + j / kPairCols * to_panel + j % kPairCols, mask,
                               _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}

}  // namespace
}  // namespace tern::detail_cpu
