// Which elements of a vector the vectors hold in which each is repeated a few times, as a column is along short rows.
// No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Times that vectors of so many lanes are repeated by permutations.
constexpr std::size_t MostTimes(std::size_t lanes) { return lanes < kShortRow ? kShortRow : lanes; }
/// Lanes of a vector's elements repeated 1, 2, … times: `times` vectors of them, after those of fewer times.
template <class I, std::size_t kLanes> struct Repeated {
  static constexpr std::size_t kMost = MostTimes(kLanes);
  I places[(kMost + 1) * kMost / 2 * kLanes];
  constexpr Repeated() : places{} {
    std::size_t at = 0;
    for (std::size_t times = 1; times <= kMost; ++times)
      for (std::size_t i = 0; i < times * kLanes; ++i) places[at++] = static_cast<I>(i / times);
  }
  constexpr const I* of(std::size_t times) const { return places + times * (times - 1) / 2 * kLanes; }
};
template <class I, std::size_t kLanes> inline constexpr Repeated<I, kLanes> kRepeated;
/// The lanes of the `times` vectors, for SetTableIndices.
template <class D> HWY_INLINE const hn::TFromD<hn::RebindToSigned<D>>* RepeatedPlaces(D, std::size_t times) {
  return kRepeated<hn::TFromD<hn::RebindToSigned<D>>, hn::MaxLanes(D())>.of(times);
}

/// Where one of these vectors takes its lanes from, and those of a column in memory that it then is.
#if HWY_TARGET == HWY_AVX2
/// Each half of it from the same few elements, as many as a half has lanes: they reach for all that are repeated twice
/// and more. To load them in both halves is no permutation, and a permutation within halves is one operation, of lanes
/// as they are numbered in memory; across halves it is two, and of lanes of 8 bytes six.
template <class D> struct alignas(2 * sizeof(hn::Vec<D>)) RepeatedPlace {
  static constexpr std::size_t kLanes = hn::MaxLanes(D()), kHalf = kLanes / 2;
  hn::TFromD<hn::RebindToSigned<D>> lanes[kLanes];
  std::size_t first;
};
/// Lanes within the halves of v.
template <class V, class I> HWY_INLINE V LanesOfHalves(V v, const I* lanes) {
  const auto of = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
  if constexpr (sizeof(I) == 4) return V{_mm256_permutevar_ps(v.raw, of)};
  else return V{_mm256_permutevar_pd(v.raw, of)};
}
/// Lane `lane` of a half, as that has it.
template <class I> constexpr I LaneOfHalf(std::size_t lane) { return static_cast<I>(sizeof(I) == 8 ? 2 * lane : lane); }
template <class D> HWY_INLINE hn::Vec<D> RepeatLanes(D d, const hn::TFromD<D>* column, const RepeatedPlace<D>& place) {
  const hn::Half<D> half;
  const auto few = hn::LoadU(half, column + place.first);
  return LanesOfHalves(hn::Combine(d, few, few), place.lanes);
}
template <class D> struct AllRepeatedPlaces {
  static constexpr std::size_t kMost = MostTimes(RepeatedPlace<D>::kLanes);
  RepeatedPlace<D> places[(kMost + 1) * kMost / 2 - 1];
  constexpr AllRepeatedPlaces() : places{} {
    constexpr std::size_t kLanes = RepeatedPlace<D>::kLanes, kHalf = RepeatedPlace<D>::kHalf;
    RepeatedPlace<D>* place = places;
    for (std::size_t times = 2; times <= kMost; ++times)
      for (std::size_t v = 0; v < times; ++v, ++place) {
        const std::size_t element = v * kLanes / times;
        place->first = element < kHalf ? element : kHalf;
        for (std::size_t l = 0; l < kLanes; ++l)
          place->lanes[l] = LaneOfHalf<hn::TFromD<hn::RebindToSigned<D>>>((v * kLanes + l) / times - place->first);
      }
  }
};
template <class D> inline constexpr AllRepeatedPlaces<D> kAllRepeatedPlaces;
/// Those of the `times` vectors; twice and more.
template <class D> HWY_INLINE const RepeatedPlace<D>* PlacesOfTimes(D, std::size_t times) {
  return kAllRepeatedPlaces<D>.places + (times * (times - 1) / 2 - 1);
}
#else
template <class D> struct RepeatedPlace {
  hn::TFromD<hn::RebindToSigned<D>> lanes[hn::MaxLanes(D())];
};
template <class D> HWY_INLINE hn::Vec<D> RepeatLanes(D d, const hn::TFromD<D>* column, const RepeatedPlace<D>& place) {
  return hn::TableLookupLanes(hn::LoadU(d, column), hn::SetTableIndices(d, place.lanes));
}
template <class D> HWY_INLINE const RepeatedPlace<D>* PlacesOfTimes(D d, std::size_t times) {
  return reinterpret_cast<const RepeatedPlace<D>*>(RepeatedPlaces(d, times));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
