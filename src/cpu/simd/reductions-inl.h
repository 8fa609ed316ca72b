// Reductions of rows, of columns, and of columns of many groups. L is an elementary function that joins two values, T
// what lanes hold, M what memory holds. No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/simd/kernel_table.hpp"

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
  for (std::size_t j = 0; j < n; ++j) end[j] = x[j];
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
      a0 = L::Run(d, a0, LoadOperand(d, x + i));
      a1 = L::Run(d, a1, LoadOperand(d, x + i + lanes));
      a2 = L::Run(d, a2, LoadOperand(d, x + i + 2 * lanes));
      a3 = L::Run(d, a3, LoadOperand(d, x + i + 3 * lanes));
    }
    for (; i + lanes <= length; i += lanes) a0 = L::Run(d, a0, LoadOperand(d, x + i));
    if (i < length) a1 = L::Run(d, a1, LoadEnd<L>(d, x + i, length - i));
    out[g] = JoinLanes<L>(d, L::Run(d, L::Run(d, a0, a1), L::Run(d, a2, a3)));
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

/// Rows of so many elements and more are reduced one by one: those of extremes, whose joining takes four instructions
/// for one of a sum, later.
template <class L, class T>
inline constexpr std::size_t kLongRow =
    (std::is_same_v<L, SimdFunction<Elementary::max>> || std::is_same_v<L, SimdFunction<Elementary::min>> ? 8 : 4) *
    hn::MaxLanes(hn::ScalableTag<T>());

/// `kVectors` vectors get(0), get(1), … of so many values of each row, one row behind the other: a result for each row.
template <class L, std::size_t kVectors, class D, class Get>
HWY_INLINE hn::Vec<D> JoinNeighbours(D d, const Get& get, std::size_t first = 0) {
  if constexpr (kVectors == 1) {
    return get(first);
  } else {
    const auto a = JoinNeighbours<L, kVectors / 2>(d, get, first);
    const auto b = JoinNeighbours<L, kVectors / 2>(d, get, first + kVectors / 2);
    return L::Run(d, hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
  }
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
    hn::StoreU(L::Run(d, L::Identity(d), Rows::Run(d, x + g * length, length)), d, out + g);
  };
  std::size_t g = 0;
  for (; g + lanes + more <= groups; g += lanes) some(g);
  // Those that are left with some that are done already, as far as what follows may be read.
  if (g > 0 && g + more < groups && lanes + more <= groups) some(groups - more - lanes), g = groups - more;
  for (; g < groups; ++g) out[g] = ReduceOneRow<L, Rows::kRow>(d, x + g * length, length);
}

/// The lanes that rows of `length` elements have: as many, up to half as many again beside those of a half vector.
template <class L, std::size_t kRow, class T>
HWY_INLINE void ReduceRowsOf(const T* x, T* out, std::size_t groups, std::size_t length) {
  if (length == kRow) ReduceRowsTogether<L, RowsOf<L, kRow, RowFill::equal>>(x, out, groups, length);
  else if (length < kRow) ReduceRowsTogether<L, RowsOf<L, kRow, RowFill::less>>(x, out, groups, length);
  else ReduceRowsTogether<L, RowsOf<L, kRow, RowFill::more>>(x, out, groups, length);
}
template <class L, class T> void ReduceShortRows(const T* x, T* out, std::size_t groups, std::size_t length) {
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  if (length == 1) return ReduceRowsTogether<L, RowsOf<L, 1, RowFill::equal>>(x, out, groups, length);
  if (length == 2) return ReduceRowsTogether<L, RowsOf<L, 2, RowFill::equal>>(x, out, groups, length);
  if constexpr (kLanes >= 4)
    if (length == 3) return ReduceRowsTogether<L, RowsOfThree<L>>(x, out, groups, length);
  if constexpr (kLanes > 4)
    if (length == 4) return ReduceRowsTogether<L, RowsOf<L, 4, RowFill::equal>>(x, out, groups, length);
  if constexpr (kLanes > 8)
    if (length < kLanes) return ReduceRowsOf<L, 8>(x, out, groups, length);
  ReduceRowsOf<L, kLanes>(x, out, groups, length);
}

template <class L, class T, class M = T>
void ReduceRows(const void* in, void* out, std::size_t groups, std::size_t length) {
  const M* x = static_cast<const M*>(in);
  T* result = static_cast<T*>(out);
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
      for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) hn::StoreU(LoadOperand(d, x + g * length + i), d, wide + i);
      if (i < n) hn::StoreU(LoadEnd<L>(d, x + g * length + i, n - i), d, wide + i);
      ReduceShortRows<L>(wide, result + g, rows, length);
    }
  }
}

template <class L, class T, class M = T>
void ReduceColumns(const void* in, void* out, std::size_t groups, std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const M* x = static_cast<const M*>(in);
  T* result = static_cast<T*>(out);
  const auto reduce = [&](std::size_t c, const auto& load) HWY_ATTR {
    auto even = L::Identity(d), odd = even;
    std::size_t g = 0;
    for (; g + 2 <= groups; g += 2) {
      even = L::Run(d, even, load(x + g * length + c));
      odd = L::Run(d, odd, load(x + (g + 1) * length + c));
    }
    if (g < groups) even = L::Run(d, even, load(x + g * length + c));
    return L::Run(d, even, odd);
  };
  std::size_t c = 0;
  for (; c + lanes <= length; c += lanes)
    hn::StoreU(reduce(c, [&](const M* at) HWY_ATTR { return LoadOperand(d, at); }), d, result + c);
  if (c == length) return;
  HWY_ALIGN T tail[hn::MaxLanes(d)];
  hn::Store(reduce(c, [&](const M* at) HWY_ATTR { return LoadEnd<L>(d, at, length - c); }), d, tail);
  for (std::size_t j = 0; j < length - c; ++j) result[c + j] = tail[j];
}
/// Columns of many groups: out[g * width + c] = reduction over i of in[(g * length + i) * width + c], in the order of
/// ReduceColumns. What the last vector of a group has too much the next group's results overwrite; the last groups, of
/// which a vector would reach behind the end, are left: the number of the others.
template <class L, class D, class T>
HWY_INLINE void ReduceGroup(D d, const T* x, T* out, std::size_t length, std::size_t width) {
  auto even = L::Run(d, L::Identity(d), hn::LoadU(d, x)), odd = L::Identity(d);
  std::size_t i = 1;
  for (; i + 2 <= length; i += 2) {
    odd = L::Run(d, odd, hn::LoadU(d, x + i * width));
    even = L::Run(d, even, hn::LoadU(d, x + (i + 1) * width));
  }
  if (i < length) odd = L::Run(d, odd, hn::LoadU(d, x + i * width));
  hn::StoreU(L::Run(d, even, odd), d, out);
}
template <class L, class D, class T>
HWY_INLINE std::size_t ReduceManyGroups(D d, const T* x, T* out, std::size_t groups, std::size_t length,
                                        std::size_t width) {
  const std::size_t lanes = hn::Lanes(d), left = (lanes - 1) / width + 1;
  std::size_t g = 0;
  if (width <= lanes) {
    for (; g + left < groups; ++g) ReduceGroup<L>(d, x + g * length * width, out + g * width, length, width);
  } else {
    for (; g + left < groups; ++g)
      for (std::size_t c = 0; c < width; c += lanes)
        ReduceGroup<L>(d, x + g * length * width + c, out + g * width + c, length, width);
  }
  return g;
}
template <class L, class T>
void ReduceGroups(const void* in, void* out, std::size_t groups, std::size_t length, std::size_t width) {
  const T* x = static_cast<const T*>(in);
  T* result = static_cast<T*>(out);
  const hn::ScalableTag<T> wide;
  const hn::CappedTag<T, 16 / sizeof(T)> narrow;
  std::size_t g = 0;
  if (length > 0 && width <= hn::Lanes(narrow)) g = ReduceManyGroups<L>(narrow, x, result, groups, length, width);
  else if (length > 0) g = ReduceManyGroups<L>(wide, x, result, groups, length, width);
  for (; g < groups; ++g) ReduceColumns<L, T>(x + g * length * width, result + g * width, length, width);
}

/// kRows rows of x, `pitch` apart, one after the other into `into`.
template <class L, std::size_t kRows, class D, class M>
HWY_INLINE void JoinSome(D d, const M* x, std::size_t pitch, hn::TFromD<D>* into, std::size_t n) {
  const auto join = [&](auto sum, std::size_t at, const auto& load) HWY_ATTR {
    for (std::size_t r = 0; r < kRows; ++r) sum = L::Run(d, sum, load(x + r * pitch + at));
    return sum;
  };
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(join(hn::LoadU(d, into + i), i, [&](const M* at) HWY_ATTR { return LoadOperand(d, at); }), d, into + i);
  if (i == n) return;
  HWY_ALIGN hn::TFromD<D> tail[hn::MaxLanes(d)] = {};
  for (std::size_t j = 0; j < n - i; ++j) tail[j] = into[i + j];
  hn::Store(join(hn::Load(d, tail), i, [&](const M* at) HWY_ATTR { return LoadEnd<L>(d, at, n - i); }), d, tail);
  for (std::size_t j = 0; j < n - i; ++j) into[i + j] = tail[j];
}
template <class L, class T, class M = T>
void JoinRows(const void* in, std::size_t pitch, std::size_t rows, void* into, std::size_t n) {
  const hn::ScalableTag<T> d;
  const M* x = static_cast<const M*>(in);
  std::size_t r = 0;
  for (; r + kJoinedRows <= rows; r += kJoinedRows)
    JoinSome<L, kJoinedRows>(d, x + r * pitch, pitch, static_cast<T*>(into), n);
  for (; r < rows; ++r) JoinSome<L, 1>(d, x + r * pitch, pitch, static_cast<T*>(into), n);
}

// ---- repetition ----
/// out[i * times + j] = in[i]: vectors of the result are permutations of one of what is repeated, or have one element;
/// what the last of those has too much the next overwrite.
template <class T> HWY_INLINE void RepeatElements(const T* x, T* out, std::size_t n, std::size_t times) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto element = [&](std::size_t at) {  // a pair of elements may lie as they do
    T value;
    std::memcpy(&value, x + at, sizeof value);
    return value;
  };
  std::size_t i = 0;
  if (times > lanes) {
    for (const std::size_t left = lanes / times + 1; i + left < n; ++i, out += times)
      for (std::size_t j = 0; j < times; j += lanes) hn::StoreU(hn::Set(d, element(i)), d, out + j);
  } else if (n >= lanes) {
    using I = hn::TFromD<hn::RebindToSigned<decltype(d)>>;
    const hn::RebindToSigned<decltype(d)> di;
    HWY_ALIGN I places[(hn::MaxLanes(d) + 1) * hn::MaxLanes(d)];
    for (std::size_t p = 0; p < lanes; ++p) hn::StoreU(hn::Set(di, static_cast<I>(p)), di, places + p * times);
    decltype(hn::SetTableIndices(d, places)) of[hn::MaxLanes(d)];
    for (std::size_t v = 0; v < times; ++v) of[v] = hn::SetTableIndices(d, places + v * lanes);
    for (; i + lanes <= n; i += lanes, out += times * lanes) {
      const auto part = hn::LoadU(d, x + i);
      for (std::size_t v = 0; v < times; ++v) hn::StoreU(hn::TableLookupLanes(part, of[v]), d, out + v * lanes);
    }
  }
  for (; i < n; ++i)
    for (std::size_t j = 0; j < times; ++j, ++out) std::memcpy(out, x + i, sizeof(T));
}
/// By whole vectors as ReduceManyGroups; the number of groups that are done.
template <class D, class T>
HWY_INLINE std::size_t RepeatGroups(D d, const T* x, T* out, std::size_t groups, std::size_t times, std::size_t width) {
  const std::size_t lanes = hn::Lanes(d), left = (lanes - 1) / width + 1;
  std::size_t g = 0;
  for (; g + left < groups; ++g)
    for (std::size_t i = 0; i < times; ++i)
      for (std::size_t c = 0; c < width; c += lanes)
        hn::StoreU(hn::LoadU(d, x + g * width + c), d, out + (g * times + i) * width + c);
  return g;
}
template <class T> void Repeat(const void* in, void* out, std::size_t groups, std::size_t times, std::size_t width) {
  const T* x = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  if (width == 1) return RepeatElements(x, to, groups, times);
  const hn::ScalableTag<T> wide;
  const hn::CappedTag<T, 16 / sizeof(T)> narrow;
  std::size_t g = width <= hn::Lanes(narrow) ? RepeatGroups(narrow, x, to, groups, times, width)
                                             : RepeatGroups(wide, x, to, groups, times, width);
  for (; g < groups; ++g)
    for (std::size_t i = 0; i < times; ++i) std::memcpy(to + (g * times + i) * width, x + g * width, width * sizeof(T));
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
