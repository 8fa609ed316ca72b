// Short rows from memory to memory: their sums, divided by a number where they are means, and an operation with a
// column, each rounded to what is stored. T: what lanes hold; M: what memory holds. Stands after reductions-inl.h. No
// include guard: once per target file.
#include <hwy/highway.h>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Of as many rows of kLength as a vector has lanes: what ReduceRows, the division and the store give one after the
/// other, each with its bits.
template <std::size_t kLength, bool kMean, class D> struct StoredSums {
  JoinedRows<SimdFunction<Elementary::sum>, kLength, D> rows;
  ByNumber<D> by_length;

  template <class M> HWY_INLINE void Run(D d, const M* x, M* out, bool stream) const {
    auto sum = rows.Join(d, x);
    if constexpr (kMean) sum = by_length.template RunBy<kLength>(d, sum);
    StoreOperand(d, sum, out, stream);
  }
};

/// Rows of an odd number of bf16, the sums of two of which are a pair again. In the order of StoredSums.
template <std::size_t kLength, bool kMean, class D> struct SumsOfPairs {
  using L = SimdFunction<Elementary::sum>;
  PairsOfRows<L, kLength, D> rows;
  ByNumber<D> by_length;

  HWY_INLINE void Run(D d, const HalfPair* x, HalfPair* out, bool stream) const {
    const hn::RebindToUnsigned<D> du;
    hn::Vec<D> first, second;
    rows.Join(d, x, first, second);
    if constexpr (kMean) {
      first = by_length.template RunBy<kLength>(d, first);
      second = by_length.template RunBy<kLength>(d, second);
    }
    const auto lower = hn::ShiftRight<16>(RoundedBits(d, first)),
               upper = hn::And(RoundedBits(d, second), hn::Set(du, 0xffff0000u));
    const hn::Repartition<std::uint16_t, D> dh;
    const auto both = hn::BitCast(dh, hn::Or(lower, upper));
    StoreOperand(dh, both, &out->of[0].bits, stream);
  }
};

template <bool kMean, class T, class M>
void SumShortRowsBy(const M* x, M* to, std::size_t groups, std::size_t length, bool stream) {
  using D = hn::ScalableTag<T>;
  const D d;
  const ByNumber<D> by_length(d, static_cast<T>(length));
  const auto run = [&]<std::size_t kLength>() HWY_ATTR {
    if constexpr (kInPairs<M> && kLength % 2 == 1) {
      const SumsOfPairs<kLength, kMean, D> sums{PairsOfRows<SimdFunction<Elementary::sum>, kLength, D>(d), by_length};
      ByVectorsOfRows<kLength>(d, sums, reinterpret_cast<const HalfPair*>(x), reinterpret_cast<HalfPair*>(to),
                               groups / 2, stream);
      x += groups / 2 * 2 * kLength, to += groups / 2 * 2, groups %= 2;  // a last row
    }
    const StoredSums<kLength, kMean, D> sums{JoinedRows<SimdFunction<Elementary::sum>, kLength, D>(d), by_length};
    ByVectorsOfRows<kLength>(d, sums, x, to, groups, stream);
  };
  WithLength<2, kMostJoined<T>>(length, run);
}
template <class T, class M>
void SumShortRows(const void* in, void* out, std::size_t groups, std::size_t length, bool mean, bool stream) {
  const M* const x = static_cast<const M*>(in);
  M* const to = static_cast<M*>(out);
  if (mean) SumShortRowsBy<true, T>(x, to, groups, length, stream);
  else SumShortRowsBy<false, T>(x, to, groups, length, stream);
}

template <class L, bool kColumnFirst, class D, class M>
HWY_INLINE void JoinWithElement(D d, const M* x, hn::Vec<D> element, M* out, bool stream) {
  const auto v = LoadOperand(d, x);
  StoreOperand(d, kColumnFirst ? L::Run(d, element, v) : L::Run(d, v, element), out, stream);
}
/// out[i * times + j] = L(x[i * times + j], column[i]), or the reverse, for as many rows as a vector has lanes: vectors
/// of the column's elements are permutations of one. It may be done in place.
template <class L, bool kColumnFirst, class T, class M>
void WithColumn(const void* in, const void* elements, void* to, std::size_t rows, std::size_t times, bool stream) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const auto* const places = RepeatedPlaces(d, times);
  constexpr std::size_t kMost = MostTimes(kLanes);
  decltype(hn::SetTableIndices(d, places)) of[kMost];
  for (std::size_t v = 0; v < times; ++v) of[v] = hn::SetTableIndices(d, places + v * lanes);
  const auto some = [&](const M* x, const M* column, M* out, bool past) HWY_ATTR {
    const auto part = LoadOperand(d, column);
    for (std::size_t v = 0; v < times; ++v)
      JoinWithElement<L, kColumnFirst>(d, x + v * lanes, hn::TableLookupLanes(part, of[v]), out + v * lanes, past);
  };
  const M* x = static_cast<const M*>(in);
  const M* column = static_cast<const M*>(elements);
  M* out = static_cast<M*>(to);
  for (; rows >= lanes; rows -= lanes, x += lanes * times, column += lanes, out += lanes * times) {
    FetchAhead(x, lanes * times);
    some(x, column, out, stream);
  }
  if (rows == 0) return;
  HWY_ALIGN M last[kLanes * kMost] = {}, last_elements[kLanes] = {};
  std::memcpy(static_cast<void*>(last), x, rows * times * sizeof(M));
  std::memcpy(static_cast<void*>(last_elements), column, rows * sizeof(M));
  some(last, last_elements, last, false);
  std::memcpy(static_cast<void*>(out), last, rows * times * sizeof(M));
}

template <Elementary E, class T, class M> void AddWithColumn(KernelTable& t, DType dtype) {
  const auto at = static_cast<std::size_t>(dtype), which = static_cast<std::size_t>(E);
  t.with_column[0][which][at] = &WithColumn<SimdFunction<E>, false, T, M>;
  t.with_column[1][which][at] = &WithColumn<SimdFunction<E>, true, T, M>;
}
template <class T, class M> void AddShortRows(KernelTable& t, DType dtype) {
  const auto at = static_cast<std::size_t>(dtype);
  t.row_sums[at] = &SumShortRows<T, M>;
  t.summed_row[at] = static_cast<std::int64_t>(kMostJoined<T>);
  // Those beside which moving a block to a kernel and back is most of the time.
  AddWithColumn<Elementary::add, T, M>(t, dtype), AddWithColumn<Elementary::sub, T, M>(t, dtype);
  AddWithColumn<Elementary::mul, T, M>(t, dtype), AddWithColumn<Elementary::div, T, M>(t, dtype);
  t.column_times[at] = static_cast<std::int64_t>(MostTimes(hn::MaxLanes(hn::ScalableTag<T>())));
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
