// 16-bit floats between memory and lanes of f32, a vector at a time. No include guard: once per target file.
#include <hwy/highway.h>

#include "tern/dtype.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether there are such vectors. Without F16C, Highway 1.0.3 takes inf and NaN for finite numbers.
template <DType D>
inline constexpr bool kNarrows = D == DType::bf16 || (D == DType::f16 && HWY_TARGET != HWY_SSE4);

/// 16-bit floats as lanes.
template <DType D, class V> HWY_INLINE auto WidenBits(hn::ScalableTag<float> d, V bits) {
  if constexpr (D == DType::bf16) {
    const hn::RebindToUnsigned<decltype(d)> du;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
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

/// Lanes rounded to nearest even to bf16, which are the upper halves of these. There is one NaN: which of a product's two it
/// would be is the compiler's choice, and the same formula is compiled more than once.
template <class V> HWY_INLINE auto RoundedBits(hn::ScalableTag<float> d, V x) {
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto bits = hn::BitCast(du, x), odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd);
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), hn::Set(du, 0x7fc00000), rounded);
}
/// Two vectors of lanes as bf16, the first lower: for targets that take one instruction to choose among the halves of two.
template <class V> HWY_INLINE auto NarrowPair(hn::ScalableTag<float> d, V low, V high) {
  const hn::Repartition<std::uint16_t, decltype(d)> dh;
  return hn::ConcatOdd(dh, hn::BitCast(dh, RoundedBits(d, high)), hn::BitCast(dh, RoundedBits(d, low)));
}
/// A vector of lanes as 16-bit floats, rounded to nearest even.
template <DType D, class V> HWY_INLINE auto Narrow(hn::ScalableTag<float> d, V x) {
  if constexpr (D == DType::bf16) {
    return hn::TruncateTo(hn::Rebind<std::uint16_t, decltype(d)>(), hn::ShiftRight<16>(RoundedBits(d, x)));
  } else {
    const V nan = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<decltype(d)>(), 0x7fc00000));
    const V number = hn::IfThenElse(hn::IsNaN(x), nan, x);
    return hn::BitCast(hn::Rebind<std::uint16_t, decltype(d)>(),
                       hn::DemoteTo(hn::Rebind<hwy::float16_t, decltype(d)>(), number));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
