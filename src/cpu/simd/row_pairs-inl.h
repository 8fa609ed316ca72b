// bf16 in rows, of which a lane holds a pair. Part of rows-inl.h (no include guard: once per target file).
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Two vectors' worth of bf16 lie in pairs, a lane each: two operations widen both, and no permutation joins them.
template <class M> inline constexpr bool kInPairs = std::is_same_v<M, Half<DType::bf16>>;
/// Vector i of rows of kLength bf16, an even number, or of pairs of rows of them, as LoadOfRows.
template <std::size_t kLength, class D> HWY_INLINE auto LoadPairs(D d, const Half<DType::bf16>* x, std::size_t i) {
  const hn::RebindToUnsigned<D> du;
  const auto pairs = [&](auto dh, const Half<DType::bf16>* at) HWY_ATTR {
    return hn::BitCast(hn::RepartitionToWide<decltype(dh)>(), hn::LoadU(dh, &at->bits));
  };
  const hn::Repartition<std::uint16_t, D> dh;
  if constexpr (!kRowsByHalves) {
    return pairs(dh, x + i * 2 * hn::Lanes(d));
  } else {
    constexpr std::size_t kHalf = hn::MaxLanes(dh) / 2;
    const auto* const lower = x + i * kHalf;
    const hn::Half<decltype(dh)> half;
    return hn::Combine(du, pairs(half, lower + kHalf / 2 * kLength), pairs(half, lower));
  }
}
/// The lower and the upper of each pair, as lanes.
template <class D, class V> HWY_INLINE hn::Vec<D> LowerOfPairs(D d, V pairs) {
  return hn::BitCast(d, hn::ShiftLeft<16>(pairs));
}
template <class D, class V> HWY_INLINE hn::Vec<D> UpperOfPairs(D d, V pairs) {
  return hn::BitCast(d, hn::And(pairs, hn::Set(hn::RebindToUnsigned<D>(), 0xffff0000u)));
}
template <class L, std::size_t kLength, class D>
HWY_INLINE hn::Vec<D> JoinPairs(D d, const Half<DType::bf16>* x, std::size_t i) {
  const auto pairs = LoadPairs<kLength>(d, x, i);
  return L::Run(d, LowerOfPairs(d, pairs), UpperOfPairs(d, pairs));
}

/// Two elements of bf16, and two results.
struct HalfPair {
  Half<DType::bf16> of[2];
};
template <class T> struct ResultPair {
  T of[2];
};
/// Rows of an odd number of bf16, two of which are that number of pairs: these are transposed, half as many as elements
/// widened before would be. In the order of JoinedRows.
template <class L, std::size_t kLength, class D> struct PairsOfRows {
  using Pairs = hn::RebindToUnsigned<D>;
  TransposeRows<kLength, Pairs> transpose;

  HWY_INLINE explicit PairsOfRows(D) : transpose(Pairs()) {}
  /// Lanes of the first and of the second of each two rows.
  HWY_INLINE void Join(D d, const HalfPair* x, hn::Vec<D>& first, hn::Vec<D>& second) const {
    const Pairs du;
    hn::Vec<Pairs> v[kLength];
    TERN_UNROLL for (std::size_t k = 0; k < kLength; ++k) v[k] = LoadPairs<2 * kLength>(d, x->of, k);
    transpose.Run(du, v);
    const auto element = [&](std::size_t i)
                             HWY_ATTR { return i % 2 ? UpperOfPairs(d, v[i / 2]) : LowerOfPairs(d, v[i / 2]); };
    first = JoinElements(d, element);
    second = JoinElements(d, [&](std::size_t i) HWY_ATTR { return element(kLength + i); });
  }
  HWY_INLINE void Run(D d, const HalfPair* x, ResultPair<hn::TFromD<D>>* out, bool stream) const {
    hn::Vec<D> first, second;
    Join(d, x, first, second);
    const auto lower = hn::InterleaveLower(d, first, second), upper = hn::InterleaveUpper(d, first, second);
    StoreOperand(d, hn::ConcatLowerLower(d, upper, lower), out->of, stream);
    StoreOperand(d, hn::ConcatUpperUpper(d, upper, lower), out->of + hn::Lanes(d), stream);
  }

 private:
  template <class Element> static HWY_INLINE hn::Vec<D> JoinElements(D d, const Element& element) {
    constexpr std::size_t kHalf = hn::MaxLanes(D()) / 2, kRest = kLength % kHalf;
    if constexpr (kRowsByHalves && kLength >= 2 * kHalf) {  // as JoinRowsOfHalves
      hn::Vec<D> v[kHalf];
      TERN_UNROLL for (std::size_t l = 0; l < kHalf; ++l) {
        v[l] = element(l);
        TERN_UNROLL for (std::size_t at = kHalf; at + kHalf <= kLength; at += kHalf)
          v[l] = L::Run(d, v[l], element(at + l));
        if constexpr (kRest > 0)
          v[l] = L::Run(d, v[l], l + kRest < kHalf ? L::Identity(d) : element(kLength - kHalf + l));
      }
      TERN_UNROLL for (std::size_t n = kHalf; n > 1; n /= 2)
        TERN_UNROLL for (std::size_t l = 0; l < n / 2; ++l) v[l] = L::Run(d, v[2 * l], v[2 * l + 1]);
      return L::Run(d, L::Identity(d), v[0]);
    }
    auto joined = L::Run(d, L::Identity(d), element(0));
    TERN_UNROLL for (std::size_t j = 1; j < kLength; ++j) joined = L::Run(d, joined, element(j));
    return joined;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
