// 16-bit floats between memory and lanes of f32, a vector at a time. No include guard: once per target file.
#include <hwy/highway.h>

#include "tern/dtype.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether 16-bit floats are loaded and stored by vectors.
template <DType D> inline constexpr bool kNarrows = D == DType::bf16 || D == DType::f16;
/// Without F16C, Highway 1.0.3 takes inf and NaN for finite numbers.
inline constexpr bool kHalvesByBits = HWY_TARGET == HWY_SSE4;

/// f16 by arithmetic on bits. In a float's place the exponent is 112 too small: one exact product sets that right, for
/// subnormals too; the largest exponent becomes the float's.
template <class V> HWY_INLINE auto WidenHalfBits(hn::ScalableTag<float> d, V half) {
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto raw = hn::PromoteTo(du, half);
  const auto magnitude = hn::ShiftLeft<13>(hn::And(raw, hn::Set(du, 0x7fffu)));
  const auto scaled = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f));
  const auto special = hn::Ge(hn::BitCast(d, magnitude), hn::BitCast(d, hn::Set(du, 0x7c00u << 13)));
  const auto all =
      hn::Or(hn::BitCast(du, scaled), hn::IfThenElseZero(hn::RebindMask(du, special), hn::Set(du, 0x7f800000u)));
  return hn::BitCast(d, hn::Or(all, hn::ShiftLeft<16>(hn::And(raw, hn::Set(du, 0x8000u)))));
}
/// Rounded to nearest even by an addition: of the number's last bits or, where the result is subnormal, of a number
/// whose last bit is that of subnormals.
template <class V> HWY_INLINE auto NarrowToHalfBits(hn::ScalableTag<float> d, V x) {
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto bits = hn::BitCast(du, x), sign = hn::And(bits, hn::Set(du, 0x80000000u)), size = hn::Xor(bits, sign);
  const auto odd = hn::And(hn::ShiftRight<13>(size), hn::Set(du, 1u));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(size, hn::Set(du, 0xc8000fffu)), odd));
  const auto last = hn::Set(du, 126u << 23);  // 0.5: its last bit is 2^-24
  const auto small = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, size), hn::BitCast(d, last))), last);
  const auto value = hn::BitCast(d, size);
  const auto is_small = hn::RebindMask(du, hn::Lt(value, hn::Set(d, 0x1p-14f)));
  const auto is_large = hn::RebindMask(du, hn::Ge(value, hn::Set(d, 65536.f)));
  const auto finite = hn::IfThenElse(is_large, hn::Set(du, 0x7c00u), hn::IfThenElse(is_small, small, normal));
  const auto number = hn::Or(finite, hn::ShiftRight<16>(sign));
  const auto half = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), hn::Set(du, 0x7e00u), number);
  return hn::TruncateTo(hn::Rebind<std::uint16_t, decltype(d)>(), half);
}

/// 16-bit floats as lanes.
template <DType D, class V> HWY_INLINE auto WidenBits(hn::ScalableTag<float> d, V bits) {
  if constexpr (D == DType::bf16) {
    const hn::RebindToUnsigned<decltype(d)> du;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  } else if constexpr (kHalvesByBits) {
    return WidenHalfBits(d, bits);
  } else {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, decltype(d)>(), bits));
  }
}
/// As many as d has lanes.
template <DType D> HWY_INLINE auto Widen(hn::ScalableTag<float> d, const std::uint16_t* from) {
  return WidenBits<D>(d, hn::LoadU(hn::Rebind<std::uint16_t, decltype(d)>(), from));
}
/// An element in memory that is a lane of f32.
template <DType D> struct Half {
  static constexpr DType kDType = D;
  std::uint16_t bits;
};
/// A vector of lanes from memory.
template <class D> HWY_INLINE hn::Vec<D> LoadOperand(D d, const hn::TFromD<D>* from) { return hn::LoadU(d, from); }
template <class D, DType H> HWY_INLINE hn::Vec<D> LoadOperand(D d, const Half<H>* from) {
  return Widen<H>(d, &from->bits);
}

/// Lanes rounded to nearest even to bf16, which are the upper halves of these. There is one NaN: which of a product's
/// two it would be is the compiler's choice, and the same formula is compiled more than once.
template <class V> HWY_INLINE auto RoundedBits(hn::ScalableTag<float> d, V x) {
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto bits = hn::BitCast(du, x), odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd);
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), hn::Set(du, 0x7fc00000), rounded);
}
/// Two vectors of lanes as bf16, the first lower: for targets that take one instruction to choose among the halves of
/// two.
template <class V> HWY_INLINE auto NarrowPair(hn::ScalableTag<float> d, V low, V high) {
  const hn::Repartition<std::uint16_t, decltype(d)> dh;
  return hn::ConcatOdd(dh, hn::BitCast(dh, RoundedBits(d, high)), hn::BitCast(dh, RoundedBits(d, low)));
}
/// A vector of lanes as 16-bit floats, rounded to nearest even.
template <DType D, class V> HWY_INLINE auto Narrow(hn::ScalableTag<float> d, V x) {
  if constexpr (D == DType::bf16) {
    return hn::TruncateTo(hn::Rebind<std::uint16_t, decltype(d)>(), hn::ShiftRight<16>(RoundedBits(d, x)));
  } else if constexpr (kHalvesByBits) {
    return NarrowToHalfBits(d, x);
  } else {
    const V nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<decltype(d)>(), 0x7fc00000));
    const V number = hn::IfThenElse(hn::IsNaN(x), nan, x);
    return hn::BitCast(hn::Rebind<std::uint16_t, decltype(d)>(),
                       hn::DemoteTo(hn::Rebind<hwy::float16_t, decltype(d)>(), number));
  }
}
#if HWY_TARGET == HWY_AVX2
/// Whether f16 are stored four vectors at a time where none has a NaN, which is asked of all four at once (2^16 in
/// cache, Zen 3: 13 us by a comparison and a blend for each, 6.4 so, and without NaN 6.7).
inline constexpr bool kFourHalves = true;
HWY_INLINE bool AnyNaN(hn::Vec256<float> a, hn::Vec256<float> b, hn::Vec256<float> c, hn::Vec256<float> e) {
  const __m256 first = _mm256_cmp_ps(a.raw, b.raw, _CMP_UNORD_Q), second = _mm256_cmp_ps(c.raw, e.raw, _CMP_UNORD_Q);
  return _mm256_movemask_ps(_mm256_or_ps(first, second)) != 0;
}
#else
inline constexpr bool kFourHalves = false;
template <class V> HWY_INLINE bool AnyNaN(V, V, V, V) { return true; }  // not called
#endif
/// The reverse of LoadOperand; `stream`: past the caches, to memory aligned to the vector's bytes.
template <class D, class V> HWY_INLINE void StoreOperand(D d, V v, hn::TFromD<D>* to, bool stream) {
  if (HWY_UNLIKELY(stream)) hn::Stream(v, d, to);
  else hn::StoreU(v, d, to);
}
/// Fewer than 8 halves are less than a vector that can be streamed.
template <class D, class V, DType H> HWY_INLINE void StoreOperand(D d, V v, Half<H>* to, bool stream) {
  const hn::Rebind<std::uint16_t, D> dh;
  StoreOperand(dh, Narrow<H>(d, v), &to->bits, stream && hn::MaxLanes(dh) >= 8);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
