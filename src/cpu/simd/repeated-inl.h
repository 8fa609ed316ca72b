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

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
