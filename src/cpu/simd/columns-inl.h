// Rows of a few elements beside each other in memory, as complex numbers, vectors and small matrices lie, and their
// columns apart from
// each other, as a tape has them. (Of the time by single elements, two threads, Zen 5: a rotation and shift of 10^6
// points 0.59, 10^5 products of 4x4 0.49.) No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Four elements from each of so many places, `step` apart, as there are blocks in a vector.
template <class D> HWY_INLINE hn::Vec<D> LoadBlocks(D d, const std::uint32_t* x, std::int64_t step) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return hn::LoadU(d, x);
  } else {
    const hn::Half<D> half;
    constexpr auto blocks = static_cast<std::int64_t>(hn::MaxLanes(half) / 4);
    return hn::Combine(d, LoadBlocks(half, x + blocks * step, step), LoadBlocks(half, x, step));
  }
}
template <class D> HWY_INLINE void StoreBlocks(D d, hn::Vec<D> v, std::uint32_t* x, std::int64_t step) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    hn::StoreU(v, d, x);
  } else {
    const hn::Half<D> half;
    constexpr auto blocks = static_cast<std::int64_t>(hn::MaxLanes(half) / 4);
    StoreBlocks(half, hn::LowerHalf(half, v), x, step);
    StoreBlocks(half, hn::UpperHalf(half, v), x + blocks * step, step);
  }
}
/// Transposes the 4 x 4 elements that each block of four vectors holds together.
template <class D> HWY_INLINE void TransposeBlocks(D d, hn::Vec<D>* v) {
  const hn::Repartition<std::uint64_t, D> wide;
  const auto pairs = [&](auto x) { return hn::BitCast(wide, x); };
  const auto a = pairs(hn::InterleaveLower(d, v[0], v[1])), b = pairs(hn::InterleaveUpper(d, v[0], v[1])),
             c = pairs(hn::InterleaveLower(d, v[2], v[3])), e = pairs(hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(wide, a, c)), v[1] = hn::BitCast(d, hn::InterleaveUpper(wide, a, c));
  v[2] = hn::BitCast(d, hn::InterleaveLower(wide, b, e)), v[3] = hn::BitCast(d, hn::InterleaveUpper(wide, b, e));
}
/// Where each group of four columns begins; the last reaches back into the one before.
template <class F> HWY_INLINE void ForFourColumns(std::size_t columns, const F& f) {
  for (std::size_t c = 0; c + 4 <= columns; c += 4) f(c);
  if (columns % 4 != 0) f(columns - 4);
}

inline void SplitColumns(const void* rows, std::int64_t step, std::size_t columns, void* const* out, std::size_t n) {
  const auto* x = static_cast<const std::uint32_t*>(rows);
  const auto to = [&](std::size_t c) { return static_cast<std::uint32_t*>(out[c]); };
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (columns == 2 && step == 2) {
    for (; i + lanes <= n; i += lanes) {
      hn::Vec<decltype(d)> a, b;
      hn::LoadInterleaved2(d, x + 2 * i, a, b);
      hn::StoreU(a, d, to(0) + i), hn::StoreU(b, d, to(1) + i);
    }
  } else if (columns == 3 && step == 3) {
    for (; i + lanes <= n; i += lanes) {
      hn::Vec<decltype(d)> a, b, c;
      hn::LoadInterleaved3(d, x + 3 * i, a, b, c);
      hn::StoreU(a, d, to(0) + i), hn::StoreU(b, d, to(1) + i), hn::StoreU(c, d, to(2) + i);
    }
  } else if (columns >= 4) {
    for (; i + lanes <= n; i += lanes)
      ForFourColumns(columns, [&](std::size_t c) HWY_ATTR {
        hn::Vec<decltype(d)> v[4];
        const std::uint32_t* from = x + static_cast<std::int64_t>(i) * step + c;
        for (int k = 0; k < 4; ++k) v[k] = LoadBlocks(d, from + k * step, 4 * step);
        TransposeBlocks(d, v);
        for (std::size_t k = 0; k < 4; ++k) hn::StoreU(v[k], d, to(c + k) + i);
      });
  }
  for (; i < n; ++i)
    for (std::size_t c = 0; c < columns; ++c)
      to(c)[i] = x[static_cast<std::int64_t>(i) * step + static_cast<std::int64_t>(c)];
}
inline void JoinColumns(const void* const* in, std::size_t columns, void* rows, std::int64_t step, std::size_t n) {
  auto* x = static_cast<std::uint32_t*>(rows);
  const auto from = [&](std::size_t c) { return static_cast<const std::uint32_t*>(in[c]); };
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (columns == 2 && step == 2) {
    for (; i + lanes <= n; i += lanes)
      hn::StoreInterleaved2(hn::LoadU(d, from(0) + i), hn::LoadU(d, from(1) + i), d, x + 2 * i);
  } else if (columns == 3 && step == 3) {
    for (; i + lanes <= n; i += lanes)
      hn::StoreInterleaved3(hn::LoadU(d, from(0) + i), hn::LoadU(d, from(1) + i), hn::LoadU(d, from(2) + i), d,
                            x + 3 * i);
  } else if (columns >= 4) {
    for (; i + lanes <= n; i += lanes)
      ForFourColumns(columns, [&](std::size_t c) HWY_ATTR {
        hn::Vec<decltype(d)> v[4];
        for (std::size_t k = 0; k < 4; ++k) v[k] = hn::LoadU(d, from(c + k) + i);
        TransposeBlocks(d, v);
        std::uint32_t* to = x + static_cast<std::int64_t>(i) * step + c;
        for (int k = 0; k < 4; ++k) StoreBlocks(d, v[k], to + k * step, 4 * step);
      });
  }
  for (; i < n; ++i)
    for (std::size_t c = 0; c < columns; ++c)
      x[static_cast<std::int64_t>(i) * step + static_cast<std::int64_t>(c)] = from(c)[i];
}

}  // namespace tern::detail_cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
