// Softmax along rows of scores, for the target being compiled (no include guard: once per target file). A row is a
// tile's, of a few hundred scores in L1, so it is read twice: once for its maximum, once for its exponentials.
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "cpu/products/attention_kernels.hpp"
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
#include "cpu/products/attention_lanes-inl.h"
#include "cpu/products/attention_lanes_backward-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace attention_simd {

template <class T> T Greatest(const T* x, std::int64_t count, T scale) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, scale), lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto a = lowest, b = lowest;
  std::int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Max(a, hn::Mul(by, hn::LoadU(d, x + i)));
    b = hn::Max(b, hn::Mul(by, hn::LoadU(d, x + i + lanes)));
  }
  for (; i + lanes <= count; i += lanes) a = hn::Max(a, hn::Mul(by, hn::LoadU(d, x + i)));
  T most = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  for (; i < count; ++i) most = scale * x[i] > most ? scale * x[i] : most;
  return most;
}

/// x = exp(scale · x - shift) · factor, and their sum. The product is rounded, as it was for the maximum.
template <class T> T Powers(T* x, std::int64_t count, T scale, T shift, T factor = 1) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, scale), less = hn::Set(d, shift), times = hn::Set(d, factor);
  auto a = hn::Zero(d), b = hn::Zero(d);
  const auto power = [&](auto v) { return hn::Mul(times, ExpUpTo(d, hn::Sub(hn::Mul(by, v), less))); };
  std::int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto p = power(hn::LoadU(d, x + i)), q = power(hn::LoadU(d, x + i + lanes));
    hn::StoreU(p, d, x + i), hn::StoreU(q, d, x + i + lanes);
    a = hn::Add(a, p), b = hn::Add(b, q);
  }
  for (; i + lanes <= count; i += lanes) {
    const auto p = power(hn::LoadU(d, x + i));
    hn::StoreU(p, d, x + i);
    a = hn::Add(a, p);
  }
  if (i < count) {
    HWY_ALIGN T tail[hn::MaxLanes(d)] = {};
    const auto n = static_cast<std::size_t>(count - i);
    for (std::size_t j = 0; j < n; ++j) tail[j] = x[i + static_cast<std::int64_t>(j)];
    const auto p = hn::IfThenElseZero(hn::FirstN(d, n), power(hn::Load(d, tail)));
    hn::Store(p, d, tail);
    for (std::size_t j = 0; j < n; ++j) x[i + static_cast<std::int64_t>(j)] = tail[j];
    a = hn::Add(a, p);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

template <class T> void KeepSeen(T* x, std::int64_t count, std::int64_t first, std::int64_t end) {
  std::memset(x, 0, static_cast<std::size_t>(first) * sizeof(T));
  std::memset(x + end, 0, static_cast<std::size_t>(count - end) * sizeof(T));
}

template <class T> void Shares(const AttentionShares& r) {
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  T *const x = static_cast<T*>(r.scores), *const top = static_cast<T*>(r.top), *const total = static_cast<T*>(r.total);
  const T scale = static_cast<T>(r.scale), before = *top;
  const T here = r.end > r.first ? Greatest(x + r.first, r.end - r.first, scale) : kNothing;
  const T now = here > before || here != here ? here : before;
  if (now == kNothing) {  // nothing was seen so far; or what was is no number, which the sum says
    bool strange = false;
    for (std::int64_t i = r.first; i < r.end; ++i) strange |= x[i] != x[i];
    std::memset(x, 0, static_cast<std::size_t>(r.count) * sizeof(T));
    if (strange) *total = std::numeric_limits<T>::quiet_NaN();
    return;
  }
  KeepSeen(x, r.count, r.first, r.end);
  const T sum = r.end > r.first ? Powers(x + r.first, r.end - r.first, scale, now) : T{0};
  if (now != before) {
    const T factor = std::exp(before - now);
    *top = now, *total *= factor;
    T* const sums = static_cast<T*>(r.sums);
    for (std::int64_t i = 0; i < r.width; ++i) sums[i] *= factor;
  }
  *total += sum;
}

template <class T> void RowPowers(const AttentionPowers& r) {
  T* const x = static_cast<T*>(r.scores);
  if (r.end <= r.first || r.total == 0) {
    std::memset(x, 0, static_cast<std::size_t>(r.count) * sizeof(T));
    return;
  }
  KeepSeen(x, r.count, r.first, r.end);
  Powers(x + r.first, r.end - r.first, static_cast<T>(r.scale), static_cast<T>(r.top), static_cast<T>(1 / r.total));
}

template <class T> void Slopes(const AttentionSlopes& r) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* const p = static_cast<const T*>(r.shares);
  T* const g = static_cast<T*>(r.slopes);
  const T mean = static_cast<T>(r.mean);
  const auto less = hn::Set(d, mean);
  std::int64_t i = 0;
  for (; i + lanes <= r.count; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, p + i), hn::Sub(hn::LoadU(d, g + i), less)), d, g + i);
  for (; i < r.count; ++i) g[i] = p[i] * (g[i] - mean);
}

template <class T> constexpr AttentionKernelsOf KernelsOfAttention() {
  AttentionKernelsOf kernels{nullptr, nullptr, nullptr, nullptr, &Shares<T>, &RowPowers<T>, &Slopes<T>};
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3  // 16 registers, of which 6 columns by two vectors of rows take 12
  kernels.lanes = &Lanes<T>, kernels.lanes_backward = &LanesBackward<T>;
  kernels.elements_beside = &ElementsBeside<T>, kernels.columns_beside = &ColumnsBeside<T>;
#endif
  return kernels;
}
inline constexpr AttentionKernels kAttentionKernels = {KernelsOfAttention<float>(), KernelsOfAttention<double>()};

}  // namespace attention_simd
}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
