// What online sums take of blocks (cpu/tape/online.hpp): weight · (x - mean)^n, and exp(x - max). No include guard:
// once per target file.
#include <hwy/highway.h>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Running sums of w · t and w · t².
template <bool kWeighted, bool kSquares, class D> struct MomentSums {
  using V = hn::Vec<D>;
  D d;
  V first = hn::Zero(d), second = first;

  HWY_INLINE void Add(V t, V w) {
    if constexpr (kSquares) second = kWeighted ? hn::MulAdd(hn::Mul(w, t), t, second) : hn::MulAdd(t, t, second);
    first = kWeighted ? hn::MulAdd(w, t, first) : hn::Add(t, first);
  }
};

template <bool kWeighted, bool kSquares, class T>
void MomentsOfRows(const void* in, const void* weights, const void* means, void* first, void* second,
                   std::size_t groups, std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN T tail[2][hn::MaxLanes(d)] = {};
  for (std::size_t g = 0; g < groups; ++g) {
    const T* x = static_cast<const T*>(in) + g * length;
    const T* w = kWeighted ? static_cast<const T*>(weights) + g * length : nullptr;
    const T mean = static_cast<const T*>(means)[g];
    const auto m = hn::Set(d, mean);
    MomentSums<kWeighted, kSquares, decltype(d)> even{d}, odd{d};
    const auto weight = [&](std::size_t i) { return kWeighted ? hn::LoadU(d, w + i) : m; };
    std::size_t i = 0;
    for (; i + 2 * lanes <= length; i += 2 * lanes) {
      even.Add(hn::Sub(hn::LoadU(d, x + i), m), weight(i));
      odd.Add(hn::Sub(hn::LoadU(d, x + i + lanes), m), weight(i + lanes));
    }
    for (; i + lanes <= length; i += lanes) even.Add(hn::Sub(hn::LoadU(d, x + i), m), weight(i));
    if (i < length) {
      for (std::size_t j = 0; j < lanes; ++j) {
        tail[0][j] = i + j < length ? x[i + j] - mean : T{0};
        tail[1][j] = kWeighted && i + j < length ? w[i + j] : T{0};
      }
      odd.Add(hn::Load(d, tail[0]), hn::Load(d, tail[1]));
    }
    static_cast<T*>(first)[g] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even.first, odd.first)));
    if constexpr (kSquares)
      static_cast<T*>(second)[g] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even.second, odd.second)));
  }
}

template <bool kWeighted, bool kSquares, class T>
void MomentsOfColumns(const void* in, const void* weights, const void* means, void* first, void* second,
                      std::size_t groups, std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T *x = static_cast<const T*>(in), *w = static_cast<const T*>(weights), *m = static_cast<const T*>(means);
  HWY_ALIGN T tail[3][hn::MaxLanes(d)] = {};
  for (std::size_t c = 0; c < length; c += lanes) {
    const std::size_t n = length - c < lanes ? length - c : lanes;
    const auto load = [&](const T* from, T* through) {
      if (n == lanes) return hn::LoadU(d, from);
      for (std::size_t j = 0; j < n; ++j) through[j] = from[j];
      return hn::Load(d, through);
    };
    const auto mean = load(m + c, tail[0]);
    MomentSums<kWeighted, kSquares, decltype(d)> sums{d};
    for (std::size_t g = 0; g < groups; ++g)
      sums.Add(hn::Sub(load(x + g * length + c, tail[1]), mean), kWeighted ? load(w + g * length + c, tail[2]) : mean);
    const auto store = [&](auto v, T* to) {
      if (n == lanes) return hn::StoreU(v, d, to);
      hn::Store(v, d, tail[0]);
      for (std::size_t j = 0; j < n; ++j) to[j] = tail[0][j];
    };
    store(sums.first, static_cast<T*>(first) + c);
    if constexpr (kSquares) store(sums.second, static_cast<T*>(second) + c);
  }
}

template <bool kRows, class T>
void Moments(const void* x, const void* weights, const void* means, void* first, void* second, std::size_t groups,
             std::size_t length) {
  MomentsFn run;
  if constexpr (kRows) {
    if (weights) run = second ? &MomentsOfRows<true, true, T> : &MomentsOfRows<true, false, T>;
    else run = second ? &MomentsOfRows<false, true, T> : &MomentsOfRows<false, false, T>;
  } else {
    if (weights) run = second ? &MomentsOfColumns<true, true, T> : &MomentsOfColumns<true, false, T>;
    else run = second ? &MomentsOfColumns<false, true, T> : &MomentsOfColumns<false, false, T>;
  }
  run(x, weights, means, first, second, groups, length);
}

/// Plain loops, vectorised by the compiler for this target. Where d is 0 nothing may change: 0 times an infinity is
/// NaN.
/// Nor does a sum that overflowed change, as none does where the mean is known beforehand.
template <class T> void MoveMoments(const MomentsMove& m, std::size_t n) {
  const auto* before = static_cast<const T*>(m.means_before);
  const auto *now = static_cast<const T*>(m.means_now), *weights = static_cast<const T*>(m.weights);
  const auto *part = static_cast<const T*>(m.part_first), *squares = static_cast<const T*>(m.part_second);
  auto *first = static_cast<T*>(m.first), *second = static_cast<T*>(m.second);
  const auto stays = [&](std::size_t i, T sum) { return before[i] == now[i] || sum - sum != T{0}; };
  if (second)
    for (std::size_t i = 0; i < n; ++i) {
      const T d = before[i] - now[i], change = d * (first[i] + first[i] + d * weights[i]);
      second[i] = (second[i] + (stays(i, second[i]) ? T{0} : change)) + squares[i];
    }
  for (std::size_t i = 0; i < n; ++i) {
    const T d = before[i] - now[i], change = d * weights[i];
    first[i] = (first[i] + (stays(i, first[i]) ? T{0} : change)) + part[i];
  }
}

template <class T>
void PowersOfRows(const void* in, const void* shifts, void* powers, std::size_t groups, std::size_t length) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN T tail[hn::MaxLanes(d)] = {};
  for (std::size_t g = 0; g < groups; ++g) {
    const T* x = static_cast<const T*>(in) + g * length;
    T* to = static_cast<T*>(powers) + g * length;
    const auto shift = hn::Set(d, static_cast<const T*>(shifts)[g]);
    const auto power = [&](auto v) { return SimdFunction<Elementary::exp>::Run(d, hn::Sub(v, shift)); };
    std::size_t i = 0;
    for (; i + lanes <= length; i += lanes) hn::StoreU(power(hn::LoadU(d, x + i)), d, to + i);
    if (i == length) continue;
    for (std::size_t j = 0; i + j < length; ++j) tail[j] = x[i + j];
    hn::Store(power(hn::Load(d, tail)), d, tail);
    for (std::size_t j = 0; i + j < length; ++j) to[i + j] = tail[j];
  }
}

template <class T> void AddMoments(KernelTable& t, ComputeType type) {
  const auto i = static_cast<int>(type);
  t.powers_of_rows[i] = &PowersOfRows<T>;
  t.moments_of_rows[i] = &Moments<true, T>, t.moments_of_columns[i] = &Moments<false, T>;
  t.move_moments[i] = &MoveMoments<T>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
