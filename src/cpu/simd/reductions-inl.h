// Reductions of columns, and of columns of many groups; those of rows are in rows-inl.h. L is an elementary function
// that joins two values, T what lanes hold, M what memory holds. No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/simd/kernel_table.hpp"
#include "cpu/simd/repeated-inl.h"
#include "cpu/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// kVectors vectors of columns side by side: whole lines of memory, where one vector of a row is less than that.
template <class L, std::size_t kVectors, class D, class Load>
HWY_INLINE void ReduceSomeColumns(D d, std::size_t groups, const Load& load, hn::Vec<D>* sums) {
  hn::Vec<D> even[kVectors], odd[kVectors];
  TERN_UNROLL for (std::size_t v = 0; v < kVectors; ++v) even[v] = odd[v] = L::Identity(d);
  std::size_t g = 0;
  for (; g + 2 <= groups; g += 2) {
    TERN_UNROLL for (std::size_t v = 0; v < kVectors; ++v) even[v] = L::Run(d, even[v], load(g, v));
    TERN_UNROLL for (std::size_t v = 0; v < kVectors; ++v) odd[v] = L::Run(d, odd[v], load(g + 1, v));
  }
  if (g < groups)
    TERN_UNROLL for (std::size_t v = 0; v < kVectors; ++v) even[v] = L::Run(d, even[v], load(g, v));
  TERN_UNROLL for (std::size_t v = 0; v < kVectors; ++v) sums[v] = L::Run(d, even[v], odd[v]);
}
template <class L, class T, class M = T>
void ReduceColumnsInTurn(const void* in, void* out, std::size_t groups, std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const M* x = static_cast<const M*>(in);
  T* result = static_cast<T*>(out);
  hn::Vec<decltype(d)> sums[4];
  std::size_t c = 0;
  const auto whole = [&](std::size_t g, std::size_t v) HWY_ATTR {
    return LoadOperand(d, x + g * length + c + v * lanes);
  };
  for (; c + 4 * lanes <= length; c += 4 * lanes) {
    ReduceSomeColumns<L, 4>(d, groups, whole, sums);
    TERN_UNROLL for (std::size_t v = 0; v < 4; ++v) hn::StoreU(sums[v], d, result + c + v * lanes);
  }
  for (; c + lanes <= length; c += lanes) {
    ReduceSomeColumns<L, 1>(d, groups, whole, sums);
    hn::StoreU(sums[0], d, result + c);
  }
  if (c == length) return;
  HWY_ALIGN T tail[hn::MaxLanes(d)];
  const auto end = [&](std::size_t g, std::size_t) HWY_ATTR { return LoadEnd<L>(d, x + g * length + c, length - c); };
  ReduceSomeColumns<L, 1>(d, groups, end, sums);
  hn::Store(sums[0], d, tail);
  for (std::size_t j = 0; j < length - c; ++j) result[c + j] = tail[j];
}

/// Rows of so many elements are a part of a vector, or one and a part.
inline constexpr std::size_t kNarrowRow = 16;
/// kLength columns: as many rows as vectors have lanes are whole vectors, each lane of which has sums of its own, two
/// where vectors are few, since the next sum waits for the one before; in the end these sums are rows themselves. (Of
/// 2^15 rows, times another array, in us, a vector for each row and so: of 3 f32 180 and 25, Emerald Rapids.)
template <class L, std::size_t kLength, class T, class M>
HWY_INLINE void ReduceNarrowColumns(const M* x, T* out, std::size_t groups) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t lanes = hn::MaxLanes(d), times = kLength < 4 ? 2 : 1, vectors = times * kLength,
                        rows = times * lanes;
  hn::Vec<decltype(d)> sums[vectors];
  TERN_UNROLL for (std::size_t v = 0; v < vectors; ++v) sums[v] = LoadOperand(d, x + v * lanes);
  std::size_t g = rows;
  for (; g + rows <= groups; g += rows)
    TERN_UNROLL for (std::size_t v = 0; v < vectors; ++v)
      sums[v] = L::Run(d, sums[v], LoadOperand(d, x + g * kLength + v * lanes));
  HWY_ALIGN T parts[vectors * lanes];
  TERN_UNROLL for (std::size_t v = 0; v < vectors; ++v) hn::Store(sums[v], d, parts + v * lanes);
  HWY_ALIGN T result[2][kNarrowRow + lanes];
  ReduceColumnsInTurn<L, T>(parts, result[0], rows, kLength);
  ReduceColumnsInTurn<L, T, M>(x + g * kLength, result[1], groups - g, kLength);
  for (std::size_t c = 0; c < kLength; c += lanes)
    hn::Store(L::Run(d, hn::Load(d, result[0] + c), hn::Load(d, result[1] + c)), d, result[0] + c);
  for (std::size_t c = 0; c < kLength; ++c) out[c] = result[0][c];
}
template <class L, class T, class M = T>
void ReduceColumns(const void* in, void* out, std::size_t groups, std::size_t length, bool = false) {
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  const auto narrow = [&]<std::size_t kLength>() HWY_ATTR {
    ReduceNarrowColumns<L, kLength>(static_cast<const M*>(in), static_cast<T*>(out), groups);
  };
  if (groups >= 4 * lanes && length % lanes != 0 && WithLength<2, kNarrowRow - 1>(length, narrow)) return;
  ReduceColumnsInTurn<L, T, M>(in, out, groups, length);
}

/// Columns of many groups: out[g * width + c] = reduction over i of in[(g * length + i) * width + c], in the order of
/// ReduceColumnsInTurn. What the last vector of a group has too much the next group's results overwrite; the last
/// groups, of which a vector would reach behind the end, are left: the number of the others.
/// kLength: the length, known to the compiler; 0: it is not.
template <class L, std::size_t kLength, class D, class T>
HWY_INLINE void ReduceGroup(D d, const T* x, T* out, std::size_t length, std::size_t width) {
  const std::size_t n = kLength == 0 ? length : kLength;
  auto even = L::Run(d, L::Identity(d), hn::LoadU(d, x)), odd = L::Identity(d);
  std::size_t i = 1;
  for (; i + 2 <= n; i += 2) {
    odd = L::Run(d, odd, hn::LoadU(d, x + i * width));
    even = L::Run(d, even, hn::LoadU(d, x + (i + 1) * width));
  }
  if (i < n) odd = L::Run(d, odd, hn::LoadU(d, x + i * width));
  hn::StoreU(L::Run(d, even, odd), d, out);
}
template <class L, std::size_t kLength, class D, class T>
HWY_INLINE std::size_t ReduceManyGroups(D d, const T* x, T* out, std::size_t groups, std::size_t length,
                                        std::size_t width) {
  const std::size_t lanes = hn::Lanes(d), left = (lanes - 1) / width + 1;
  std::size_t g = 0;
  if (width <= lanes) {
    for (; g + left < groups; ++g) ReduceGroup<L, kLength>(d, x + g * length * width, out + g * width, length, width);
  } else {
    for (; g + left < groups; ++g)
      for (std::size_t c = 0; c < width; c += lanes)
        ReduceGroup<L, kLength>(d, x + g * length * width + c, out + g * width + c, length, width);
  }
  return g;
}
/// Calls run(d) with vectors of 16, of 32 or of all bytes: the shortest that hold `width` elements. Longer ones would
/// be read across lines of memory.
template <class T, class Run> HWY_INLINE std::size_t WithWidth(std::size_t width, const Run& run) {
  const hn::CappedTag<T, 16 / sizeof(T)> narrow;
  const hn::CappedTag<T, 32 / sizeof(T)> middle;
  if (width <= hn::Lanes(narrow)) return run(narrow);
  if (width <= hn::Lanes(middle)) return run(middle);
  return run(hn::ScalableTag<T>());
}
/// L of the two numbers that a lane twice as wide holds.
template <class L> struct OfPairs {
  template <class D> using Numbers = hn::Repartition<float, D>;
  template <class D> static HWY_INLINE hn::Vec<D> Identity(D d) { return hn::BitCast(d, L::Identity(Numbers<D>())); }
  template <class D, class V> static HWY_INLINE V Run(D d, V a, V b) {
    const Numbers<D> numbers;
    return hn::BitCast(d, L::Run(numbers, hn::BitCast(numbers, a), hn::BitCast(numbers, b)));
  }
};
template <class L, class T>
void ReduceGroups(const void* in, void* out, std::size_t groups, std::size_t length, std::size_t width) {
  if constexpr (std::is_same_v<T, float>)
    if (width == 2 && length > 0) return ReduceRows<OfPairs<L>, double>(in, out, groups, length, false);
  const T* x = static_cast<const T*>(in);
  T* result = static_cast<T*>(out);
  std::size_t g = 0;
  if (length > 0)
    g = WithWidth<T>(width, [&](auto d) HWY_ATTR {
      return length == 2 ? ReduceManyGroups<L, 2>(d, x, result, groups, length, width)
                         : ReduceManyGroups<L, 0>(d, x, result, groups, length, width);
    });
  for (; g < groups; ++g) ReduceColumnsInTurn<L, T>(x + g * length * width, result + g * width, length, width);
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
template <class T> HWY_INLINE void RepeatElements(const T* x, T* out, std::size_t n, std::size_t times, bool stream) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto element = [&](std::size_t at) {  // a pair of elements may lie as they do
    T value;
    std::memcpy(&value, x + at, sizeof value);
    return value;
  };
  std::size_t i = 0;
  constexpr std::size_t kMost = MostTimes(hn::MaxLanes(d));
  if (times > kMost) {
    for (const std::size_t left = lanes / times + 1; i + left < n; ++i, out += times)
      for (std::size_t j = 0; j < times; j += lanes) hn::StoreU(hn::Set(d, element(i)), d, out + j);
  } else if (n >= lanes) {
    const auto* const places = RepeatedPlaces(d, times);
    decltype(hn::SetTableIndices(d, places)) of[kMost];
    for (std::size_t v = 0; v < times; ++v) of[v] = hn::SetTableIndices(d, places + v * lanes);
    for (; i + lanes <= n; i += lanes, out += times * lanes) {
      const auto part = hn::LoadU(d, x + i);
      for (std::size_t v = 0; v < times; ++v) {
        StoreOperand(d, hn::TableLookupLanes(part, of[v]), out + v * lanes, stream);
      }
    }
  }
  for (; i < n; ++i)
    for (std::size_t j = 0; j < times; ++j, ++out) std::memcpy(out, x + i, sizeof(T));
}
/// Elements of 2 bytes, as pairs: of each pair, the lower and the upper come from vectors whose lanes hold an element.
/// Where the times are odd, a row of pairs is half a vector more; the rest of it the next overwrite.
inline void RepeatHalves(const void* in, void* out, std::size_t n, std::size_t times, std::size_t, bool stream) {
  const hn::ScalableTag<std::uint32_t> d;
  using Int64 = std::int32_t;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kMost = static_cast<std::size_t>(kRepeatedHalves) / 2;
  const std::size_t vectors = (times + 1) / 2;
  const auto* x = static_cast<const std::uint16_t*>(in);
  auto* to = static_cast<std::uint16_t*>(out);
  HWY_ALIGN Int64 places[kLanes];
  decltype(hn::SetTableIndices(d, places)) lower[kMost], upper[kMost];
  for (std::size_t v = 0; v < vectors; ++v)
    for (std::size_t odd = 0; odd < 2; ++odd) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        const std::size_t element = (2 * (v * kLanes + l) + odd) / times;
        places[l] = static_cast<Int64>(element < kLanes ? element : kLanes - 1);
      }
      (odd ? upper : lower)[v] = hn::SetTableIndices(d, places);
    }
  stream = stream && times % 2 == 0;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += kLanes, to += kLanes * times) {
    const auto low = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint16_t, decltype(d)>(), x + i));
    const auto high = hn::ShiftLeft<16>(low);
    for (std::size_t v = 0; v < vectors; ++v) {
      const auto pairs = hn::Or(hn::TableLookupLanes(low, lower[v]), hn::TableLookupLanes(high, upper[v]));
      auto* const at = reinterpret_cast<std::uint32_t*>(to + v * 2 * kLanes);
      StoreOperand(d, pairs, at, stream);
    }
  }
  for (; i < n; ++i)
    for (std::size_t j = 0; j < times; ++j) *to++ = x[i];
}
/// By whole vectors as ReduceManyGroups; the number of groups that are done.
template <class D, class T>
HWY_INLINE std::size_t RepeatGroups(D d, const T* x, T* out, std::size_t groups, std::size_t times, std::size_t width) {
  const std::size_t lanes = hn::Lanes(d), left = (lanes - 1) / width + 1;
  std::size_t g = 0;
  if (width <= lanes && times == 2) {
    for (; g + left < groups; ++g) {
      const auto group = hn::LoadU(d, x + g * width);
      hn::StoreU(group, d, out + 2 * g * width), hn::StoreU(group, d, out + (2 * g + 1) * width);
    }
    return g;
  }
  for (; g + left < groups; ++g)
    for (std::size_t i = 0; i < times; ++i)
      for (std::size_t c = 0; c < width; c += lanes)
        hn::StoreU(hn::LoadU(d, x + g * width + c), d, out + (g * times + i) * width + c);
  return g;
}
template <class T>
void Repeat(const void* in, void* out, std::size_t groups, std::size_t times, std::size_t width, bool stream) {
  const T* x = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  if (width == 1) return RepeatElements(x, to, groups, times, stream);
  std::size_t g = WithWidth<T>(width, [&](auto d) HWY_ATTR { return RepeatGroups(d, x, to, groups, times, width); });
  for (; g < groups; ++g)
    for (std::size_t i = 0; i < times; ++i) std::memcpy(to + (g * times + i) * width, x + g * width, width * sizeof(T));
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
