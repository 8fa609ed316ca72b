// Rows of an odd number of elements transposed into a vector for each column, in registers. Part of rows-inl.h; kWide
// is that of math-inl.h, which includers have before it (no include guard: once per target file).
#include <hwy/highway.h>

#include <cstddef>
#include <type_traits>

// Vectors in an array stay in registers only where loops over them are unrolled.
#undef TERN_UNROLL
#define TERN_UNROLL _Pragma("GCC unroll 64")

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
/// kColumns vectors one behind the other. Column j's elements lie in lanes that differ (lanes are a power of two), each
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
template <class D> struct TransposeRows<1, D> {
  HWY_INLINE explicit TransposeRows(D) {}
  HWY_INLINE void Run(D, hn::Vec<D>*) const {}
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
