// Reductions of rows, long ones by themselves and many short ones together, and where extremes of short rows stand. L
// is an elementary function that joins two values, T what lanes hold, M what memory holds. No include guard: once per
// target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/simd/kernel_table.hpp"
#include "cpu/simd/row_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// All lanes joined, upper halves to lower ones: a tree, in registers (through memory each of its four levels waited
/// for a store).
template <class L, class D, class V> HWY_INLINE hn::TFromD<D> JoinLanes(D, V v) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return JoinLanes<L>(half, L::Run(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// Less than a vector, filled up with the identity: through memory, where masked loads read whole vectors.
template <class L, class D, class T = hn::TFromD<D>> HWY_INLINE hn::Vec<D> LoadEnd(D d, const T* x, std::size_t n) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const auto mask = hn::FirstN(d, n);
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, x), L::Identity(d));
#else
  HWY_ALIGN T end[hn::MaxLanes(d)];
  hn::Store(L::Identity(d), d, end);
  std::memcpy(end, x, n * sizeof(T));
  return hn::Load(d, end);
#endif
}
template <class L, class D, DType H> HWY_INLINE hn::Vec<D> LoadEnd(D d, const Half<H>* x, std::size_t n) {
  const hn::Rebind<std::uint16_t, D> dh;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const auto bits = hn::MaskedLoad(hn::FirstN(dh, n), dh, &x->bits);
#else
  HWY_ALIGN std::uint16_t end[hn::MaxLanes(d)] = {};
  for (std::size_t j = 0; j < n; ++j) end[j] = x[j].bits;
  const auto bits = hn::LoadU(dh, end);
#endif
  return hn::IfThenElse(hn::FirstN(d, n), WidenBits<H>(d, bits), L::Identity(d));
}

/// To memory that may be aligned as half of it: pairs of numbers are lanes (OfPairs).
template <class T> HWY_INLINE void PutAny(T value, T* to) { std::memcpy(to, &value, sizeof value); }

/// What is read so many bytes later is asked for: beyond what a processor fetches by itself where a few instructions a
/// vector let it look less far ahead. Of the time of rows of 1024 in memory that sums of short ones take, results past
/// the caches, without and with it (Zen 5, f32 of 160 MB): rows of 2 1.69 and 1.43, of 3 1.43 and 1.27, of 8 1.22 and
/// 1.18; in L2, of 3 2.1 and 1.7. By hand, 2048 rows of 2048 f32, Zen 3, sums 1128 and 612 us, maxima 1409 and 827 (by
/// 512 bytes 1417, 2048 1009, 4096 996); of 32 such rows, which are in L2, 3.7 and 4.2, 4.6 and 3.3.
inline constexpr std::size_t kFetchAhead = 8192;

template <class M> HWY_INLINE void FetchAhead(const M* x, std::size_t n) {
  const char* const at = reinterpret_cast<const char*>(x) + kFetchAhead;
  for (std::size_t b = 0; b < n * sizeof(M); b += 64) __builtin_prefetch(at + b);
}

/// Rows that are reduced by themselves.
template <class L, class T, class M>
HWY_INLINE void ReduceLongRows(const M* rows, T* out, std::size_t groups, std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t g = 0; g < groups; ++g) {
    const M* x = rows + g * length;
    auto a0 = L::Identity(d), a1 = a0, a2 = a0, a3 = a0;
    std::size_t i = 0;
    for (; i + 4 * lanes <= length; i += 4 * lanes) {
      FetchAhead(x + i, 4 * hn::MaxLanes(d));
      a0 = L::Run(d, a0, LoadOperand(d, x + i));
      a1 = L::Run(d, a1, LoadOperand(d, x + i + lanes));
      a2 = L::Run(d, a2, LoadOperand(d, x + i + 2 * lanes));
      a3 = L::Run(d, a3, LoadOperand(d, x + i + 3 * lanes));
    }
    for (; i + lanes <= length; i += lanes) a0 = L::Run(d, a0, LoadOperand(d, x + i));
    if (i < length) a1 = L::Run(d, a1, LoadEnd<L>(d, x + i, length - i));
    PutAny(JoinLanes<L>(d, L::Run(d, L::Run(d, a0, a1), L::Run(d, a2, a3))), out + g);
  }
}

// ---- short rows ----
// As many rows as a vector has lanes are reduced together: neighbours are joined, and then neighbours of the results,
// until there is a vector with a result for each row. Three instructions join two vectors, however short the rows are,
// where joining the lanes of one row takes three for each of its levels, one waiting for the other.
//
//   lanes   a0 a1 a2 a3 b0 b1 b2 b3 | c0 c1 c2 c3 d0 d1 d2 d3         rows a, b, c, d of 4
//   even    a0 a2 b0 b2 c0 c2 d0 d2     odd  a1 a3 b1 b3 c1 c3 d1 d3  joined: two values a row; and again: one
//
// A row has kRow lanes, a power of two. What it has less is filled up with the identity, what it has more is joined to
// them before. So the order in which a row's elements are joined depends on its length and on the processor alone.
// (307,200 f32, Zen 4, one thread, in cache, in us, one by one and together: rows of 3 159 and 14, of 4 125 and 13, of
// 7 70 and 12, of 16 25 and 11, of 32 15 and 17; rows of 768 10.)

/// Rows of so many elements and more are reduced one by one, unless JoinedRows take them: those of extremes, whose
/// joining takes four instructions for one of a sum, later.
template <class L, class T>
inline constexpr std::size_t kLongRow =
    (std::is_same_v<L, SimdFunction<Elementary::max>> || std::is_same_v<L, SimdFunction<Elementary::min>> ? 8 : 4) *
    hn::MaxLanes(hn::ScalableTag<T>());

/// `kVectors` vectors get(0), get(1), … of so many values of each row, one row behind the other: a result for each row.
/// kOfRows: they are vectors of LoadOfRows.
template <class L, std::size_t kVectors, bool kOfRows = false, class D, class Get>
HWY_INLINE hn::Vec<D> JoinNeighbours(D d, const Get& get, std::size_t first = 0) {
  if constexpr (kVectors == 1) {
    return get(first);
  } else {
    const auto a = JoinNeighbours<L, kVectors / 2, kOfRows>(d, get, first);
    const auto b = JoinNeighbours<L, kVectors / 2, kOfRows>(d, get, first + kVectors / 2);
    if constexpr (kOfRows) return L::Run(d, NeighboursOfRows<false>(d, a, b), NeighboursOfRows<true>(d, a, b));
    else return L::Run(d, hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
  }
}
/// What is left of a number of columns when neighbours have been joined as often as they can be.
constexpr std::size_t OddPart(std::size_t n) { return n % 2 == 0 ? OddPart(n / 2) : n; }

/// Row i of `kLanesOfRow` lanes, and that as many rows behind it as a half has lanes, for each of these i: a lane for
/// each row. get(i, at): lanes `at` and those behind it of both. Vectors of a row are joined before its lanes are, one
/// operation, not three, for each: rows of 15 f32 take 41 where columns would take 75. (Rows of 5 as many, and more
/// loads: 98,304 f32 in L2, Zen 3, 16 us and 12 by columns, of 9 13 and 14, of 5 f64 18 and 20.)
template <class L, std::size_t kLanesOfRow, class D, class Get>
HWY_INLINE hn::Vec<D> JoinRowsOfHalves(D d, const Get& get) {
  constexpr std::size_t kHalf = hn::MaxLanes(D()) / 2, kRest = kLanesOfRow % kHalf;
  static_assert(kLanesOfRow >= kHalf);
  const auto row = [&](std::size_t i) HWY_ATTR {
    auto v = get(i, std::size_t{0});
    TERN_UNROLL for (std::size_t at = kHalf; at + kHalf <= kLanesOfRow; at += kHalf) v = L::Run(d, v, get(i, at));
    if constexpr (kRest > 0) {  // with lanes that are joined already
      constexpr int kJoined = (1 << (kHalf - kRest)) - 1;
      v = L::Run(d, v, BlendHalves<kJoined>(get(i, kLanesOfRow - kHalf), L::Identity(d)));
    }
    return v;
  };
  return L::Run(d, L::Identity(d), JoinNeighbours<L, kHalf, true>(d, row));
}

/// As many rows of kLength elements as a vector has lanes, as they lie.
template <std::size_t kLength, class M> struct RowsInMemory {
  const M* x;
  /// One of kLength vectors.
  template <class D> HWY_INLINE hn::Vec<D> Vector(D d, std::size_t i) const { return LoadOfRows<kLength>(d, x, i); }
  /// As JoinRowsOfHalves gets them.
  template <class D> HWY_INLINE hn::Vec<D> Row(D d, std::size_t i, std::size_t at) const {
    return LoadOfRows<kLength>(d, x + i * kLength + at, 0);
  }
};

/// As many rows of kLength elements as a vector has lanes: neighbours are joined while their number is even, and what
/// is left of each row are columns. Such rows are kLength whole vectors, so nothing behind them is read.
template <class L, std::size_t kLength, class D> struct JoinedRows {
  static constexpr std::size_t kOdd = OddPart(kLength);
  TransposeRows<kOdd, D> transpose;

  HWY_INLINE explicit JoinedRows(D d) : transpose(d) {}
  /// A lane for each row.
  template <class M> HWY_INLINE hn::Vec<D> Join(D d, const M* x) const {
    constexpr std::size_t kHalf = hn::MaxLanes(D()) / 2, kEach = kLength / kOdd, kPairs = kEach / 2;
    if constexpr (kRowsByHalves && kInPairs<M> && kLength % 2 == 0 && kLength / 2 >= kHalf) {
      return JoinRowsOfHalves<L, kLength / 2>(d, [&](std::size_t i, std::size_t at) HWY_ATTR {
        return JoinPairs<L, kLength>(d, x + i * kLength + 2 * at, 0);
      });
    } else if constexpr (kInPairs<M> && kEach > 1) {
      const auto pairs = [&](std::size_t i) HWY_ATTR { return JoinPairs<L, kLength>(d, x, i); };
      return JoinColumns<kPairs>(d, pairs);
    } else {
      return JoinRows(d, RowsInMemory<kLength, M>{x});
    }
  }
  /// Of rows that need not lie in memory.
  template <class Rows> HWY_INLINE hn::Vec<D> JoinRows(D d, const Rows& rows) const {
    if constexpr (kRowsByHalves && kLength >= hn::MaxLanes(D())) {
      return JoinRowsOfHalves<L, kLength>(
          d, [&](std::size_t i, std::size_t at) HWY_ATTR { return rows.Row(d, i, at); });
    } else {
      return JoinColumns<kLength / kOdd>(d, [&](std::size_t i) HWY_ATTR { return rows.Vector(d, i); });
    }
  }
  template <class M> HWY_INLINE void Run(D d, const M* x, hn::TFromD<D>* out, bool stream) const {
    StoreOperand(d, Join(d, x), out, stream);
  }

 private:
  /// Each kEach of the vectors are joined to one.
  template <std::size_t kEach, class Get> HWY_INLINE hn::Vec<D> JoinColumns(D d, const Get& vector) const {
    hn::Vec<D> v[kOdd];
    TERN_UNROLL for (std::size_t j = 0; j < kOdd; ++j) v[j] = JoinNeighbours<L, kEach, true>(d, vector, j * kEach);
    transpose.Run(d, v);
    auto sum = L::Run(d, L::Identity(d), v[0]);
    TERN_UNROLL for (std::size_t j = 1; j < kOdd; ++j) sum = L::Run(d, sum, v[j]);
    return sum;
  }
};

/// Calls some(row, true) for as many rows as a vector has lanes, until all are done; some(row, false): the last, with
/// some of those before. few(): there are less than these in all. `some` is TERN_INLINED_TWICE.
template <class D, class Some, class Few>
HWY_INLINE void ByVectorsOfRows(D d, std::size_t groups, const Some& some, const Few& few) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t g = 0;
  for (; g + lanes <= groups; g += lanes) some(g, true);
  if (g == groups) return;
  if (groups >= lanes) some(groups - lanes, false);
  else few();
}
/// Calls kernel.Run(d, rows, results, stream) for such rows of kLength, few ones in a block. R: what results are stored
/// as.
template <std::size_t kLength, class D, class Kernel, class M, class R>
HWY_INLINE void ByVectorsOfRows(D d, const Kernel& kernel, const M* x, R* out, std::size_t groups, bool stream) {
  const auto some = [&](std::size_t g, bool whole) TERN_INLINED_TWICE {
    if (whole) FetchAhead(x + g * kLength, hn::MaxLanes(D()) * kLength);
    kernel.Run(d, x + g * kLength, out + g, whole && stream);
  };
  const auto few = [&]() HWY_ATTR {
    HWY_ALIGN M rows[hn::MaxLanes(D()) * kLength] = {};
    HWY_ALIGN R results[hn::MaxLanes(D())];
    std::memcpy(static_cast<void*>(rows), x, groups * kLength * sizeof(M));
    kernel.Run(d, rows, results, false);
    std::memcpy(out, results, groups * sizeof(R));
  };
  ByVectorsOfRows(d, groups, some, few);
}

/// Rows of up to so many elements are taken by JoinedRows, of which there is one for each length.
template <class T>
inline constexpr std::size_t kMostJoined =
    kRowsByHalves || hn::MaxLanes(hn::ScalableTag<T>()) >= 8 ? 16 : hn::MaxLanes(hn::ScalableTag<T>());
/// Calls run.template operator()<kLength>() for a length from kFirst to kLast; false: it is none of them.
template <std::size_t kFirst, std::size_t kLast, class Run>
HWY_INLINE bool WithLength(std::size_t length, const Run& run) {
  if constexpr (kFirst <= kLast) {
    if (length != kFirst) return WithLength<kFirst + 1, kLast>(length, run);
    run.template operator()<kFirst>();
    return true;
  }
  return false;
}

/// kRow elements of each of as many rows as a vector has room for; rows begin `length` elements apart.
template <std::size_t kRow, class D> HWY_INLINE hn::Vec<D> LoadRows(D d, const hn::TFromD<D>* x, std::size_t length) {
  if constexpr (hn::MaxLanes(d) <= kRow) {
    return hn::LoadU(d, x);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadRows<kRow>(half, x + hn::MaxLanes(half) / kRow * length, length),
                       LoadRows<kRow>(half, x, length));
  }
}

/// How many elements a row has beside its kRow lanes.
enum class RowFill { less, equal, more };
/// As many rows as a vector has lanes. Unless there are as many elements as lanes, what follows the rows is read, too.
template <class L, std::size_t kRow_, RowFill kFill> struct RowsOf {
  static constexpr std::size_t kRow = kRow_;
  /// Rows behind these of which something is read.
  static constexpr std::size_t RowsMore(std::size_t length) {
    return kFill == RowFill::equal ? 0 : kFill == RowFill::more ? 1 : (kRow - 1) / length;
  }

  template <class D> static HWY_INLINE hn::Vec<D> Run(D d, const hn::TFromD<D>* x, std::size_t length) {
    if constexpr (kFill == RowFill::equal) {
      return JoinNeighbours<L, kRow>(d, [&](std::size_t i) HWY_ATTR { return hn::LoadU(d, x + i * hn::Lanes(d)); });
    } else {
      const hn::RebindToUnsigned<D> du;
      using U = hn::TFromD<decltype(du)>;
      const auto place = hn::And(hn::Iota(du, 0), hn::Set(du, static_cast<U>(kRow - 1)));
      const auto there = hn::RebindMask(d, hn::Lt(place, hn::Set(du, static_cast<U>(length % kRow))));
      return JoinNeighbours<L, kRow>(d, [&](std::size_t i) HWY_ATTR {
        const hn::TFromD<D>* const rows = x + i * (hn::Lanes(d) / kRow) * length;
        const auto end = [&](std::size_t at) HWY_ATTR {
          return hn::IfThenElse(there, LoadRows<kRow>(d, rows + at, length), L::Identity(d));
        };
        if constexpr (kFill == RowFill::less) return end(0);
        auto v = LoadRows<kRow>(d, rows, length);
        std::size_t at = kRow;
        if constexpr (kRow == hn::MaxLanes(d))
          for (; at + kRow <= length; at += kRow) v = L::Run(d, v, hn::LoadU(d, rows + at));
        return at < length ? L::Run(d, v, end(at)) : v;
      });
    }
  }
};
/// The same for rows of three, which have four lanes.
template <class L> struct RowsOfThree {
  static constexpr std::size_t kRow = 4;
  static constexpr std::size_t RowsMore(std::size_t) { return 0; }

  template <class D> static HWY_INLINE hn::Vec<D> Run(D d, const hn::TFromD<D>* x, std::size_t) {
    hn::Vec<D> a, b, c;
    hn::LoadInterleaved3(d, x, a, b, c);
    return L::Run(d, L::Run(d, a, b), c);
  }
};
/// One row, in the same order.
template <class L, std::size_t kRow, class D>
HWY_INLINE hn::TFromD<D> ReduceOneRow(D d, const hn::TFromD<D>* x, std::size_t length) {
  const std::size_t lanes = hn::Lanes(d), row = kRow < lanes ? kRow : lanes;
  const auto part = [&](std::size_t at)
                        HWY_ATTR { return LoadEnd<L>(d, x + at, length - at < row ? length - at : row); };
  auto v = part(0);
  for (std::size_t at = row; at < length; at += row) v = L::Run(d, v, part(at));
  for (std::size_t joined = 1; joined < row; joined *= 2)
    v = L::Run(d, hn::ConcatEven(d, v, v), hn::ConcatOdd(d, v, v));
  return hn::GetLane(L::Run(d, L::Identity(d), v));
}

template <class L, class Rows, class T>
HWY_INLINE void ReduceRowsTogether(const T* x, T* out, std::size_t groups, std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), more = Rows::RowsMore(length);
  const auto some = [&](std::size_t g) HWY_ATTR {
    FetchAhead(x + g * length, lanes * length);
    hn::StoreU(L::Run(d, L::Identity(d), Rows::Run(d, x + g * length, length)), d, out + g);
  };
  std::size_t g = 0;
  for (; g + lanes + more <= groups; g += lanes) some(g);
  // Those that are left with some that are done already, as far as what follows may be read.
  if (g > 0 && g + more < groups && lanes + more <= groups) some(groups - more - lanes), g = groups - more;
  for (; g < groups; ++g) PutAny(ReduceOneRow<L, Rows::kRow>(d, x + g * length, length), out + g);
}

/// The lanes that rows of `length` elements have: as many, up to half as many again beside those of a half vector.
template <class L, std::size_t kRow, class T>
HWY_INLINE void ReduceRowsOf(const T* x, T* out, std::size_t groups, std::size_t length) {
  if (length == kRow) ReduceRowsTogether<L, RowsOf<L, kRow, RowFill::equal>>(x, out, groups, length);
  else if (length < kRow) ReduceRowsTogether<L, RowsOf<L, kRow, RowFill::less>>(x, out, groups, length);
  else ReduceRowsTogether<L, RowsOf<L, kRow, RowFill::more>>(x, out, groups, length);
}
/// Those of which such code exists: of floats; seldom are others reduced in memory.
template <class L, class T>
inline constexpr bool kJoinsRows = hwy::IsFloat<T>() && !std::is_same_v<L, SimdFunction<Elementary::prod>>;

/// Rows of two elements and more, up to kMostJoined, come here only where JoinedRows do not take them.
template <class L, class T> void ReduceShortRows(const T* x, T* out, std::size_t groups, std::size_t length) {
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  if (length == 1) return ReduceRowsTogether<L, RowsOf<L, 1, RowFill::equal>>(x, out, groups, length);
  if constexpr (kJoinsRows<L, T>) {
    return ReduceRowsTogether<L, RowsOf<L, kLanes, RowFill::more>>(x, out, groups, length);
  } else {
    if (length == 2) return ReduceRowsTogether<L, RowsOf<L, 2, RowFill::equal>>(x, out, groups, length);
    if constexpr (kLanes >= 4)
      if (length == 3) return ReduceRowsTogether<L, RowsOfThree<L>>(x, out, groups, length);
    if constexpr (kLanes > 4)
      if (length == 4) return ReduceRowsTogether<L, RowsOf<L, 4, RowFill::equal>>(x, out, groups, length);
    if constexpr (kLanes > 8)
      if (length < kLanes) return ReduceRowsOf<L, 8>(x, out, groups, length);
    ReduceRowsOf<L, kLanes>(x, out, groups, length);
  }
}

template <class L, class T, class M = T>
void ReduceRows(const void* in, void* out, std::size_t groups, std::size_t length, bool stream) {
  const M* x = static_cast<const M*>(in);
  T* result = static_cast<T*>(out);
  if constexpr (kJoinsRows<L, T>) {
    using D = hn::ScalableTag<T>;
    const auto joined = [&]<std::size_t kLength>() HWY_ATTR {
      if constexpr (kRowsByHalves && kInPairs<M> && kLength % 2 == 1) {
        using Pair = ResultPair<T>;
        ByVectorsOfRows<kLength>(D(), PairsOfRows<L, kLength, D>(D()), reinterpret_cast<const HalfPair*>(x),
                                 reinterpret_cast<Pair*>(result), groups / 2, stream);
        x += groups / 2 * 2 * kLength, result += groups / 2 * 2, groups %= 2;  // a last row
      }
      ByVectorsOfRows<kLength>(D(), JoinedRows<L, kLength, D>(D()), x, result, groups, stream);
    };
    if (WithLength<2, kMostJoined<T>>(length, joined)) return;
  }
  if (length == 0 || length >= kLongRow<L, T>) return ReduceLongRows<L>(x, result, groups, length);
  if constexpr (std::is_same_v<T, M>) {
    ReduceShortRows<L>(x, result, groups, length);
  } else {
    constexpr std::size_t kAtOnce = 16 * kLongRow<L, T>;
    const hn::ScalableTag<T> d;
    HWY_ALIGN T wide[kAtOnce + hn::MaxLanes(d)];
    const std::size_t some = kAtOnce / length;
    for (std::size_t g = 0; g < groups; g += some) {
      const std::size_t rows = groups - g < some ? groups - g : some, n = rows * length;
      std::size_t i = 0;
      for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
        FetchAhead(x + g * length + i, hn::MaxLanes(d));
        hn::StoreU(LoadOperand(d, x + g * length + i), d, wide + i);
      }
      if (i < n) hn::StoreU(LoadEnd<L>(d, x + g * length + i, n - i), d, wide + i);
      ReduceShortRows<L>(wide, result + g, rows, length);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
