// PairKernels::interleave with AVX-512; included by the files that are compiled for it.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace tern::detail_cpu {
namespace {

void interleave_pairs(const std::uint16_t* from, std::int64_t row, std::int64_t steps, std::int64_t cols,
                      std::uint32_t* to, std::int64_t to_row) {
  for (std::int64_t p = 0; p < steps; p += 2, from += 2 * row, to += to_row) {
    const std::uint16_t* next = p + 1 < steps ? from + row : nullptr;
    for (std::int64_t j = 0; j < cols; j += 16) {
      const std::int64_t left = cols - j;
      const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
      const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from + j));
      const __m512i high =
          next ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, next + j)) : _mm512_setzero_si512();
      _mm512_mask_storeu_epi32(to + j, mask, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}

}  // namespace
}  // namespace tern::detail_cpu
