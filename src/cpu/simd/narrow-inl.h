// Integers of 8 and 16 bits as they lie in memory: arithmetic on them, and lanes of 32 bits stored as bytes. Stands
// after elementary-inl.h. No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Products of bytes are the lower halves of those of words: of the even ones, and of the odd ones moved down.
struct NarrowProduct {
  template <class D, class V> static HWY_INLINE V Run(D d, V a, V b) {
    if constexpr (sizeof(hn::TFromD<D>) == 2) {
      return hn::Mul(a, b);
    } else {
      const hn::Repartition<std::uint16_t, D> dw;
      const auto x = hn::BitCast(dw, a), y = hn::BitCast(dw, b);
      const auto even = hn::And(hn::Mul(x, y), hn::Set(dw, 0xff));
      const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
      return hn::BitCast(d, hn::Or(even, odd));
    }
  }
};

/// As ElementaryFn, of two arguments; the rest through a vector of its own.
template <class F, class M> void NarrowLoop(const void* const* args, void* out, std::size_t n) {
  const hn::ScalableTag<M> d;
  const std::size_t lanes = hn::Lanes(d);
  const M *const x = static_cast<const M*>(args[0]), *const y = static_cast<const M*>(args[1]);
  M* const to = static_cast<M*>(out);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = F::Run(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i));
    const auto second = F::Run(d, hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes));
    hn::StoreU(first, d, to + i), hn::StoreU(second, d, to + i + lanes);
  }
  for (std::size_t some; i < n; i += some) {
    HWY_ALIGN M a[hn::MaxLanes(d)] = {}, b[hn::MaxLanes(d)] = {};
    some = n - i < lanes ? n - i : lanes;
    __builtin_memcpy(a, x + i, some * sizeof(M)), __builtin_memcpy(b, y + i, some * sizeof(M));
    hn::Store(F::Run(d, hn::Load(d, a), hn::Load(d, b)), d, a);
    __builtin_memcpy(to + i, a, some * sizeof(M));
  }
}

template <Elementary L, class M, class F = SimdFunction<L>> void AddNarrowLoop(KernelTable& t, DType dtype) {
  t.narrow[static_cast<int>(dtype)][static_cast<int>(L)] = &NarrowLoop<F, M>;
}
/// Elementary functions whose low bits follow from their operands' alone, and the larger and the smaller.
template <class M> void AddNarrowLoops(KernelTable& t, DType dtype) {
  AddNarrowLoop<Elementary::add, M>(t, dtype), AddNarrowLoop<Elementary::sub, M>(t, dtype);
  AddNarrowLoop<Elementary::mul, M, NarrowProduct>(t, dtype);
  AddNarrowLoop<Elementary::maximum, M>(t, dtype), AddNarrowLoop<Elementary::minimum, M>(t, dtype);
  AddNarrowLoop<Elementary::bit_and, M>(t, dtype), AddNarrowLoop<Elementary::bit_or, M>(t, dtype);
  AddNarrowLoop<Elementary::bit_xor, M>(t, dtype);
}

/// Whether four vectors of 32 bits are stored as one of bytes, not each by itself.
#if HWY_TARGET == HWY_AVX2
inline constexpr bool kJoinsBytes = true;
/// What a byte does not hold saturates.
template <bool kSigned>
HWY_INLINE void StoreAsBytes(hn::Vec256<std::int32_t> a, hn::Vec256<std::int32_t> b, hn::Vec256<std::int32_t> c,
                             hn::Vec256<std::int32_t> e, void* to) {
  const __m256i low = _mm256_packs_epi32(a.raw, b.raw), high = _mm256_packs_epi32(c.raw, e.raw);
  const __m256i bytes = kSigned ? _mm256_packs_epi16(low, high) : _mm256_packus_epi16(low, high);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(static_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(bytes, order));
}
/// Floats as integers that saturate to those of a byte, NaN to 0: what is too low, or NaN, converts to the least, which
/// is 0 as an unsigned byte.
template <bool kSigned> HWY_INLINE hn::Vec256<std::int32_t> ForBytes(const float* x) {
  const __m256 v = _mm256_loadu_ps(x);
  const __m256 number = kSigned ? _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q)) : v;
  return hn::Vec256<std::int32_t>{_mm256_cvttps_epi32(_mm256_min_ps(_mm256_set1_ps(kSigned ? 127.f : 255.f), number))};
}
#else
inline constexpr bool kJoinsBytes = false;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
