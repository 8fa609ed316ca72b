// Rows of an odd number of elements transposed into a vector for each column, in registers. Part of rows-inl.h; kWide
// is that of math-inl.h, which includers have before it (no include guard: once per target file).
#include <hwy/highway.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "cpu/simd/compiler_hints.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2
/// Whether the lower halves of vectors hold the first half of as many rows as there are lanes, and the upper halves the
/// others. Then nothing has to cross from half to half, which takes two or three operations where lanes move within a
/// half by one.
inline constexpr bool kRowsByHalves = true;
/// Lanes of a half of a and of b, as the instruction numbers them, and the same of the other halves.
template <int kLanes, class V> HWY_INLINE V ShuffleHalves(V a, V b) {
  using T = hn::TFromV<V>;
  const hn::Full256<T> d;
  const hn::Full256<hwy::MakeFloat<T>> df;
  const auto x = hn::BitCast(df, a), y = hn::BitCast(df, b);
  if constexpr (sizeof(T) == 4) return hn::BitCast(d, hn::Vec256<float>{_mm256_shuffle_ps(x.raw, y.raw, kLanes)});
  else return hn::BitCast(d, hn::Vec256<double>{_mm256_shuffle_pd(x.raw, y.raw, kLanes * 5)});
}
/// b's lanes where a bit of kLanesOfB is set, in either half, and a's where not.
template <int kLanesOfB, class V> HWY_INLINE V BlendHalves(V a, V b) {
  using T = hn::TFromV<V>;
  const hn::Full256<T> d;
  const hn::Full256<hwy::MakeFloat<T>> df;
  const auto x = hn::BitCast(df, a), y = hn::BitCast(df, b);
  if constexpr (sizeof(T) == 4) return hn::BitCast(d, hn::Vec256<float>{_mm256_blend_ps(x.raw, y.raw, kLanesOfB * 17)});
  else return hn::BitCast(d, hn::Vec256<double>{_mm256_blend_pd(x.raw, y.raw, kLanesOfB * 5)});
}
#else
inline constexpr bool kRowsByHalves = false;
template <int kLanesOfB, class V> HWY_INLINE V BlendHalves(V a, V) { return a; }  // not called
#endif
/// Vector i of as many rows of kLength elements as a vector has lanes, which are kLength vectors. M: what memory holds.
template <std::size_t kLength, class D, class M>
HWY_INLINE hn::Vec<D> LoadOfRows(D d, const M* x, std::size_t i) {
  if constexpr (!kRowsByHalves) {
    return LoadOperand(d, x + i * hn::Lanes(d));
  } else {
    constexpr std::size_t kHalf = hn::MaxLanes(D()) / 2;
    const M *const lower = x + i * kHalf, *const upper = lower + kHalf * kLength;
    if constexpr (std::is_same_v<M, hn::TFromD<D>>) {
      const hn::Half<D> half;
      return hn::Combine(d, hn::LoadU(half, upper), hn::LoadU(half, lower));
    } else {
      const hn::Rebind<std::uint16_t, D> dh;
      const hn::Half<decltype(dh)> half;
      return WidenBits<M::kDType>(d, hn::Combine(dh, hn::LoadU(half, &upper->bits), hn::LoadU(half, &lower->bits)));
    }
  }
}
/// Every other lane of two vectors of rows, those of a before those of b: the first of neighbours, or the second.
template <bool kSecond, class D, class V> HWY_INLINE V NeighboursOfRows(D d, V a, V b) {
  (void)d;
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(hn::TFromD<D>) == 4) return ShuffleHalves<kSecond ? 0xdd : 0x88>(a, b);
  else return ShuffleHalves<kSecond ? 3 : 0>(a, b);
#else
  return kSecond ? hn::ConcatOdd(d, b, a) : hn::ConcatEven(d, b, a);
#endif
}

/// Lanes of two vectors, those of the second behind those of the first: one instruction where the target has masks.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
template <class T, class I> HWY_INLINE hn::Vec512<T> LanesOfTwo(hn::Vec512<T> a, hn::Vec512<T> b, I lanes) {
  if constexpr (std::is_same_v<T, float>) return {_mm512_permutex2var_ps(a.raw, lanes.raw, b.raw)};
  else if constexpr (std::is_same_v<T, double>) return {_mm512_permutex2var_pd(a.raw, lanes.raw, b.raw)};
  else if constexpr (sizeof(T) == 4) return {_mm512_permutex2var_epi32(a.raw, lanes.raw, b.raw)};
  else return {_mm512_permutex2var_epi64(a.raw, lanes.raw, b.raw)};
}
#else
template <class V, class I> HWY_INLINE V LanesOfTwo(V a, V, I) { return a; }  // not called
#endif

/// Where TransposeRows takes what from. Made by the compiler: blocks of a tape are a few vectors of rows.
template <class Index, std::size_t kColumns, std::size_t kLanes, std::size_t kBits, bool kOfTwo>
struct TransposePlaces {
  /// kLanes * kInverse is 1 modulo kColumns.
  static constexpr std::size_t Inverse() {
    std::size_t i = 1;
    while (i * kLanes % kColumns != 1) ++i;
    return i;
  }
  static constexpr std::size_t kInverse = Inverse();
  /// Whether bit b of a lane's number is set, and the vector that then comes in place of the k-th.
  static constexpr bool Rotates(std::size_t lane, std::size_t b) { return (lane * kInverse % kColumns >> b & 1) != 0; }
  static constexpr std::size_t Before(std::size_t k, std::size_t b) {
    return (k + kColumns - (std::size_t{1} << b) % kColumns) % kColumns;
  }

  Index order[kColumns][kLanes], rotates[kBits][kLanes];
  constexpr TransposePlaces() : order{}, rotates{} {
    for (std::size_t j = 0; j < kColumns; ++j)
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::size_t lane = (i * kColumns + j) % kLanes;
        order[j][i] = static_cast<Index>(lane + (kOfTwo && Rotates(lane, kBits - 1) ? kLanes : 0));
      }
    for (std::size_t b = 0; b < kBits; ++b)
      for (std::size_t l = 0; l < kLanes; ++l) rotates[b][l] = Rotates(l, b) ? 1 : 0;
  }
};
template <class Index, std::size_t kColumns, std::size_t kLanes, std::size_t kBits, bool kOfTwo>
inline constexpr TransposePlaces<Index, kColumns, kLanes, kBits, kOfTwo> kTransposePlaces;

/// A vector for each column of rows of `kColumns` elements, an odd number: as many rows as a vector has lanes, in
/// kColumns vectors of LoadOfRows.
#if HWY_TARGET == HWY_AVX2
/// By halves, of four or two lanes, a column's are in at most as many vectors: two blends and a shuffle of what they
/// give, or a shuffle alone.
template <std::size_t kColumns, class D> struct TransposeRows {
  using V = hn::Vec<D>;
  static constexpr std::size_t kHalf = hn::MaxLanes(D()) / 2;

  HWY_INLINE explicit TransposeRows(D) {}
  /// v[j]: column j.
  HWY_INLINE void Run(D, V* v) const { Columns(v, std::make_index_sequence<kColumns>()); }

 private:
  template <std::size_t... kJ> static HWY_INLINE void Columns(V* v, std::index_sequence<kJ...>) {
    if constexpr (kHalf == 4 && kColumns == 3) return Three(v);
    const V columns[kColumns] = {Column<kJ>(v)...};
    ((v[kJ] = columns[kJ]), ...);
  }
  /// Two shuffles for what two of the columns share, and one each: five operations for nine.
  static HWY_INLINE void Three(V* v) {
    const V late = ShuffleHalves<2 | 3 << 2 | 1 << 4 | 2 << 6>(v[1], v[2]);   // c0 c1 d0 d1 of rows a, b, c, d
    const V early = ShuffleHalves<1 | 2 << 2 | 0 << 4 | 1 << 6>(v[0], v[1]);  // a1 a2 b1 b2
    v[0] = ShuffleHalves<0 | 3 << 2 | 0 << 4 | 2 << 6>(v[0], late);
    v[1] = ShuffleHalves<0 | 2 << 2 | 1 << 4 | 3 << 6>(early, late);
    v[2] = ShuffleHalves<1 | 3 << 2 | 0 << 4 | 3 << 6>(early, v[2]);
  }
  template <std::size_t kJ> static HWY_INLINE V Column(const V* v) {
    constexpr auto vector = [](std::size_t row) { return (row * kColumns + kJ) / kHalf; };
    constexpr auto lane = [](std::size_t row) { return static_cast<int>((row * kColumns + kJ) % kHalf); };
    if constexpr (kHalf == 2) {
      return ShuffleHalves<lane(0) | lane(1) << 1>(v[vector(0)], v[vector(1)]);
    } else {
      const V first = BlendHalves<1 << lane(1)>(v[vector(0)], v[vector(1)]);
      const V last = BlendHalves<1 << lane(3)>(v[vector(2)], v[vector(3)]);
      return ShuffleHalves<lane(0) | lane(1) << 2 | lane(2) << 4 | lane(3) << 6>(first, last);
    }
  }
};
#else
/// Where they are one behind the other, column j's elements lie in lanes that differ (lanes are a power of two), each
/// in one of the vectors: rotating the vectors by a number that depends on the lane alone, a bit of it at a time with a
/// blend for each vector, brings them into one, in which a permutation orders them. So three columns take 6 blends and
/// 3 permutations, seven 21 and 7. A permutation of two vectors does the last of the blends as well.
template <std::size_t kColumns, class D> struct TransposeRows {
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D()), kBits = kColumns > 8 ? 4 : kColumns > 4 ? 3 : 2;
  static constexpr std::size_t kBlends = kWide ? kBits - 1 : kBits;
  using Index = hn::TFromD<hn::RebindToSigned<D>>;
  static constexpr const TransposePlaces<Index, kColumns, kLanes, kBits, kWide>& kPlaces =
      kTransposePlaces<Index, kColumns, kLanes, kBits, kWide>;
  decltype(hn::SetTableIndices(D(), static_cast<const Index*>(nullptr))) order[kColumns];
  hn::Mask<D> rotates[kBits];

  HWY_INLINE explicit TransposeRows(D d) {
    const hn::RebindToSigned<D> di;
    for (std::size_t j = 0; j < kColumns; ++j)
      if constexpr (kWide) order[j].raw = hn::LoadU(di, kPlaces.order[j]).raw;  // of two vectors
      else order[j] = hn::SetTableIndices(d, kPlaces.order[j]);
    for (std::size_t b = 0; b < kBlends; ++b)
      rotates[b] = hn::RebindMask(d, hn::Gt(hn::LoadU(di, kPlaces.rotates[b]), hn::Zero(di)));
  }

  /// v[j]: column j.
  HWY_INLINE void Run(D d, V* v) const {
    V next[kColumns];
    TERN_UNROLL for (std::size_t b = 0; b < kBlends; ++b) {
      TERN_UNROLL for (std::size_t k = 0; k < kColumns; ++k)
        next[k] = hn::IfThenElse(rotates[b], v[kPlaces.Before(k, b)], v[k]);
      TERN_UNROLL for (std::size_t k = 0; k < kColumns; ++k) v[k] = next[k];
    }
    TERN_UNROLL for (std::size_t j = 0; j < kColumns; ++j) {
      const std::size_t k = j * kPlaces.kInverse % kColumns;
      if constexpr (kWide) next[j] = LanesOfTwo(v[k], v[kPlaces.Before(k, kBits - 1)], order[j]);
      else next[j] = hn::TableLookupLanes(v[k], order[j]);
    }
    TERN_UNROLL for (std::size_t j = 0; j < kColumns; ++j) v[j] = next[j];
    (void)d;
  }
};
#endif
template <class D> struct TransposeRows<1, D> {
  HWY_INLINE explicit TransposeRows(D) {}
  HWY_INLINE void Run(D, hn::Vec<D>*) const {}
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
