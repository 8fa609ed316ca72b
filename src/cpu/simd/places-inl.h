// Where the extremes of blocks stand (OnlineSum::kPlace). No include guard: once per target file.
#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first of n elements for which is_it holds, a function of vectors and of elements; n: none.
template <class T, class F> HWY_INLINE std::size_t FindFirst(const T* x, std::size_t n, const F& is_it) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto at = [&](std::size_t i) HWY_ATTR { return is_it(hn::LoadU(d, x + i)); };
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto first = hn::Or(at(i), at(i + lanes)), second = hn::Or(at(i + 2 * lanes), at(i + 3 * lanes));
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Or(first, second)))) break;
  }
  for (; i + lanes <= n; i += lanes)
    if (const std::intptr_t k = hn::FindFirstTrue(d, at(i)); k >= 0) return i + static_cast<std::size_t>(k);
  while (i < n && !is_it(x[i])) ++i;
  return i;
}
/// The first of n elements that equals a value, or that is NaN as the value is; n: none.
template <class T> std::size_t FindElement(const void* in, const void* value, std::size_t n) {
  const T* const x = static_cast<const T*>(in);
  const T wanted = *static_cast<const T*>(value);
  const auto v = hn::Set(hn::ScalableTag<T>(), wanted);
  if constexpr (hwy::IsFloat<T>())
    if (HWY_UNLIKELY(!(wanted == wanted)))
      return FindFirst(x, n, [&](auto e) HWY_ATTR {
        if constexpr (std::is_same_v<decltype(e), T>) return !(e == e);
        else return hn::IsNaN(e);
      });
  return FindFirst(x, n, [&](auto e) HWY_ATTR {
    if constexpr (std::is_same_v<decltype(e), T>) return e == wanted;
    else return hn::Eq(e, v);
  });
}

/// The same of rows that follow each other. There is one in each.
template <class T>
void FindRows(const void* in, const void* values, std::int32_t first, std::int32_t* out, std::size_t groups,
              std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T *x = static_cast<const T*>(in), *values_of = static_cast<const T*>(values);
  for (std::size_t g = 0; g < groups; ++g, x += length) {
    const T value = values_of[g];
    const auto wanted = hn::Set(d, value);
    std::size_t i = 0;
    std::intptr_t at = -1;
    if (HWY_LIKELY(value == value)) {
      for (; at < 0 && i + lanes <= length; i += lanes)
        if (at = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), wanted)); at >= 0)
          at += static_cast<std::intptr_t>(i);
    }
    for (; at < 0 && i < length; ++i)
      if (x[i] == value || !(x[i] == x[i])) at = static_cast<std::intptr_t>(i);
    out[g] = first + static_cast<std::int32_t>(at);
  }
}

/// Elements of rows, the best so far, and their places.
template <class D> struct Best {
  hn::Vec<D> value;
  hn::Vec<hn::RebindToSigned<D>> place;
};
/// The better of a and of b, which stands behind it; the first NaN is better than all.
template <bool kGreatest, class D> HWY_INLINE Best<D> Better(D d, const Best<D>& a, const Best<D>& b) {
  const hn::RebindToSigned<D> di;
  const auto takes = [&]() HWY_ATTR {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const auto keeps = kGreatest ? hn::Le(b.value, a.value) : hn::Ge(b.value, a.value);
      return hn::Not(hn::Or(keeps, hn::IsNaN(a.value)));
    } else {
      return kGreatest ? hn::Gt(b.value, a.value) : hn::Lt(b.value, a.value);
    }
  }();
  (void)d;
  return {hn::IfThenElse(takes, b.value, a.value), hn::IfThenElse(hn::RebindMask(di, takes), b.place, a.place)};
}

/// Rows of T as rows of `Read` whose order is another: with some bits changed, so that one body of code, which looks
/// for the greatest, serves the least of them, too, and unsigned integers. f32 is taken as it lies, by two bodies: the
/// instruction took 4 to 8 % of the time of rows in cache (Emerald Rapids, i32 1 to 14 %).
template <class T> struct Reordered {
  using Read = std::conditional_t<hwy::IsFloat<T>(), T, hwy::MakeSigned<T>>;
  using I = hwy::MakeSigned<T>;
  static constexpr bool kChanges = !std::is_same_v<T, float>;
  /// The sign of a float turns its order about, all bits that of an integer; an unsigned one is ordered as a signed one
  /// of another sign.
  static constexpr I Changed(bool greatest) {
    const I turned = hwy::IsFloat<T>() ? hwy::LimitsMin<I>() : I{-1};
    const I sign = hwy::IsSigned<T>() ? I{0} : hwy::LimitsMin<I>();
    return static_cast<I>((greatest ? I{0} : turned) ^ sign);
  }
};

/// As many rows of kLength elements as a vector has lanes, as JoinedRows.
template <bool kGreatest, bool kChanges, std::size_t kLength, class D> struct PlacesOfJoinedRows {
  static constexpr std::size_t kOdd = OddPart(kLength), kPart = kLength / kOdd;
  using DI = hn::RebindToSigned<D>;
  using I = hn::TFromD<DI>;
  TransposeRows<kOdd, D> transpose;
  hn::Vec<DI> changed;
  std::int32_t first;

  HWY_INLINE hn::Vec<D> Load(D d, const hn::TFromD<D>* x, std::size_t i) const {
    const auto lies = LoadOfRows<kLength>(d, x, i);
    if constexpr (!kChanges) return lies;
    else return hn::BitCast(d, hn::Xor(hn::BitCast(DI(), lies), changed));
  }
  /// kVectors vectors of elements, from vector `from` of the rows, as JoinNeighbours.
  template <std::size_t kVectors> HWY_INLINE Best<D> Join(D d, const hn::TFromD<D>* x, std::size_t from) const {
    const DI di;
    if constexpr (kVectors == 1) {
      return {Load(d, x, from), hn::Zero(di)};
    } else {
      const Best<D> a = Join<kVectors / 2>(d, x, from), b = Join<kVectors / 2>(d, x, from + kVectors / 2);
      const Best<D> even{NeighboursOfRows<false>(d, a.value, b.value), NeighboursOfRows<false>(di, a.place, b.place)};
      const Best<D> odd{NeighboursOfRows<true>(d, a.value, b.value),
                        hn::Add(NeighboursOfRows<true>(di, a.place, b.place),
                                hn::Set(di, static_cast<I>(kVectors / 2)))};
      return Better<kGreatest>(d, even, odd);
    }
  }
  HWY_INLINE void Run(D d, const hn::TFromD<D>* x, std::int32_t* out, bool) const {
    const DI di;
    hn::Vec<D> values[kOdd], places[kOdd];
    TERN_UNROLL for (std::size_t j = 0; j < kOdd; ++j) {
      const Best<D> part = Join<kPart>(d, x, j * kPart);
      values[j] = part.value, places[j] = hn::BitCast(d, part.place);
    }
    transpose.Run(d, values);
    if constexpr (kPart > 1) transpose.Run(d, places);
    const auto column = [&](std::size_t j) HWY_ATTR {
      return Best<D>{values[j], hn::Add(hn::BitCast(di, places[j]), hn::Set(di, static_cast<I>(j * kPart)))};
    };
    Best<D> best = column(0);
    TERN_UNROLL for (std::size_t j = 1; j < kOdd; ++j) best = Better<kGreatest>(d, best, column(j));
    const auto place = hn::Add(best.place, hn::Set(di, static_cast<I>(first)));
    const hn::Rebind<std::int32_t, D> d32;
    if constexpr (sizeof(I) == 4) hn::StoreU(place, d32, out);
    else
      hn::StoreU(hn::BitCast(d32, hn::TruncateTo(hn::RebindToUnsigned<decltype(d32)>(),
                                                 hn::BitCast(hn::RebindToUnsigned<D>(), place))),
                 d32, out);
  }
};

template <bool kGreatest, class T>
void PlacesOfReadRows(const void* in, hwy::MakeSigned<T> changed, std::int32_t first, std::int32_t* out,
                      std::size_t groups, std::size_t length) {
  using D = hn::ScalableTag<T>;
  const auto bits = hn::Set(hn::RebindToSigned<D>(), changed);
  WithLength<2, kMostJoined<T>>(length, [&]<std::size_t kLength>() HWY_ATTR {
    using Kernel = PlacesOfJoinedRows<kGreatest, Reordered<T>::kChanges, kLength, D>;
    const Kernel kernel{TransposeRows<OddPart(kLength), D>(D()), bits, first};
    ByVectorsOfRows<kLength>(D(), kernel, static_cast<const T*>(in), out, groups, false);
  });
}
template <bool kGreatest, class T>
void PlacesOfRows(const void* in, std::int32_t first, std::int32_t* out, std::size_t groups, std::size_t length) {
  using Order = Reordered<T>;
  constexpr bool kLooksForGreatest = kGreatest || Order::kChanges;
  PlacesOfReadRows<kLooksForGreatest, typename Order::Read>(in, Order::Changed(kGreatest), first, out, groups, length);
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
  t.find_rows[static_cast<int>(type)] = &FindRows<T>;
  t.places_of_columns[static_cast<int>(type)] = &PlacesOfColumns<T>;
  t.places_of_rows[0][static_cast<int>(type)] = &PlacesOfRows<true, T>;
  t.places_of_rows[1][static_cast<int>(type)] = &PlacesOfRows<false, T>;
  t.place_row[static_cast<int>(type)] = kMostJoined<T>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
