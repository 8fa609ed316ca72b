// Where the extremes of blocks stand (OnlineSum::kPlace). No include guard: once per target file.
#include <hwy/highway.h>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first of n elements that equals a value, or that is NaN as the value is; n: none.
template <class T> std::size_t FindElement(const void* in, const void* value, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* const x = static_cast<const T*>(in);
  const T wanted = *static_cast<const T*>(value);
  const bool is_nan = !(wanted == wanted);
  const auto v = hn::Set(d, wanted);
  const auto is_it = [&](auto e) {
    if constexpr (hwy::IsFloat<T>()) return is_nan ? hn::IsNaN(e) : hn::Eq(e, v);
    else return hn::Eq(e, v);
  };
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto a = is_it(hn::LoadU(d, x + i)), b = is_it(hn::LoadU(d, x + i + lanes));
    const auto e = is_it(hn::LoadU(d, x + i + 2 * lanes)), f = is_it(hn::LoadU(d, x + i + 3 * lanes));
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Or(hn::Or(a, b), hn::Or(e, f))))) break;
  }
  for (; i < n; ++i)
    if (x[i] == wanted || (is_nan && !(x[i] == x[i]))) return i;
  return n;
}

/// out[c] = the least places[g] of those g for which in[g * length + c] equals values[c], or is NaN.
template <class T>
void PlacesOfColumns(const void* in, const void* values, const std::int32_t* places, std::int32_t* out,
                     std::size_t groups, std::size_t length) {
  using I = hwy::MakeSigned<T>;
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const std::size_t lanes = hn::Lanes(d);
  const T *x = static_cast<const T*>(in), *m = static_cast<const T*>(values);
  HWY_ALIGN T tail[hn::MaxLanes(d)] = {};
  HWY_ALIGN I least[hn::MaxLanes(d)];
  for (std::size_t c = 0; c < length; c += lanes) {
    const std::size_t n = length - c < lanes ? length - c : lanes;
    const auto load = [&](const T* from) {
      if (n == lanes) return hn::LoadU(d, from);
      for (std::size_t j = 0; j < n; ++j) tail[j] = from[j];
      return hn::Load(d, tail);
    };
    const auto wanted = load(m + c);
    auto place = hn::Set(di, I{2147483647});
    for (std::size_t g = 0; g < groups; ++g) {
      const auto e = load(x + g * length + c);
      auto is_it = hn::Eq(e, wanted);
      if constexpr (hwy::IsFloat<T>()) is_it = hn::Or(is_it, hn::IsNaN(e));
      place = hn::IfThenElse(hn::RebindMask(di, is_it), hn::Min(place, hn::Set(di, I{places[g]})), place);
    }
    hn::Store(place, di, least);
    for (std::size_t j = 0; j < n; ++j) out[c + j] = static_cast<std::int32_t>(least[j]);
  }
}

template <class T> void AddPlaces(KernelTable& t, ComputeType type) {
  t.find[static_cast<int>(type)] = &FindElement<T>;
  t.places_of_columns[static_cast<int>(type)] = &PlacesOfColumns<T>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
