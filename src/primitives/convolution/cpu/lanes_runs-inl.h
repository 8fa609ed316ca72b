// Sums of channels by themselves over runs of the kernels (no include guard: once per target file, by lanes-inl.h
// behind halves-inl.h).
//
// A vector of the image meets up to kMostRun neighbouring elements of a kernel, for as many neighbouring places: it is
// loaded (and widened) once for all of them. 7 × 7: 20/98 loads a multiply-add for 14 places.
#include <hwy/highway.h>

#include "primitives/convolution/cpu/lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::conv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int kRunPlaces = 7, kDownPlaces = 6;  // 16 registers: 7 sums, 7 weights and a vector of the image
constexpr bool kGoesDown = true;
#else
constexpr int kRunPlaces = 14, kDownPlaces = 14;  // 32
constexpr bool kGoesDown = false;
#endif

/// What elements of memory are computed in.
template <class E> struct WideOf { using T = E; };
template <DType D> struct WideOf<detail_cpu::HWY_NAMESPACE::Half<D>> { using T = float; };

/// kWhole: all places are there, and none meets anything outside of the image.
template <class In, int kCount, bool kWhole, int kPlaces, class V>
HWY_INLINE void AddRun(const TapRun& run, const RunsCall& call, V (&sum)[kPlaces]) {
  using T = typename WideOf<In>::T;
  const hn::ScalableTag<T> d;
  const auto* x = static_cast<const In*>(run.x) + call.x_at;
  const T* weights = static_cast<const T*>(run.w) + call.w_at;
  const std::int64_t first = run.first - call.place;
  const std::int64_t end = HWY_MIN(run.end - call.place, call.places + kCount - 1);
  V w[kCount];
  TERN_CONV_UNROLL for (int k = 0; k < kCount; ++k) w[k] = hn::LoadU(d, weights + k * HWY_LANES(T));
  TERN_CONV_UNROLL for (int q = 0; q < kPlaces + kCount - 1; ++q, x += call.x_step) {
    if constexpr (!kWhole) {
      if (q < first || q >= end) continue;
    }
    const V v = detail_cpu::HWY_NAMESPACE::LoadOperand(d, x);
    TERN_CONV_UNROLL for (int k = 0; k < kCount; ++k) if (q >= k && q - k < kPlaces) sum[q - k] =
        hn::MulAdd(v, w[k], sum[q - k]);
  }
}

/// For the vectors of a line of memory from `v` on, before the first of them.
template <class In> HWY_INLINE void FetchRows(const RunsCall& call, std::int64_t v) {
  constexpr std::int64_t kPerLine = 64 / (HWY_LANES(typename WideOf<In>::T) * sizeof(In));
  if (!call.ahead || v % kPerLine != 0) return;
  const auto* row = static_cast<const In*>(call.ahead) + call.x_at;
  for (std::int64_t i = 0; i < call.ahead_rows; ++i, row += call.ahead_row)
    for (std::int64_t t = 0; t < call.ahead_places; ++t) __builtin_prefetch(row - t * call.ahead_place, 0, 3);
}

/// The lines where results of a call to come go.
template <class Out> HWY_INLINE void FetchResults(const RunsCall& call, std::int64_t v) {
  constexpr std::int64_t kLanes = HWY_LANES(typename WideOf<Out>::T);
  constexpr std::int64_t kPerLine = 64 / (kLanes * sizeof(Out));
  if (!call.out_ahead || v % kPerLine != 0) return;
  const auto* out = static_cast<const Out*>(call.out_ahead) + v * kLanes;
  for (std::int64_t t = 0; t < call.places; ++t, out += call.out_step) __builtin_prefetch(out, 1, 3);
}

template <class In, class Out, int kPlaces, bool kWhole> void RunsOf(const RunsCall& all) {
  using T = typename WideOf<In>::T;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  RunsCall call = all;
  for (std::int64_t v = 0; v < call.vectors; ++v, call.x_at += call.x_vector, call.w_at += call.w_vector) {
    V sum[kPlaces];
    TERN_CONV_UNROLL for (int t = 0; t < kPlaces; ++t) sum[t] = hn::Zero(d);
    const bool ones = kGoesDown && call.ones;
    if constexpr (kGoesDown && kWhole) FetchRows<In>(call, v);
    if constexpr (kGoesDown) FetchResults<Out>(call, v);
    for (std::int64_t i = 0; ones && i < call.count; ++i) AddRun<In, 1, kWhole>(call.runs[i], call, sum);
    for (std::int64_t i = ones ? call.count : 0; i < call.count; ++i) {
      const TapRun& run = call.runs[i];
      switch (run.count) {
        case 1: AddRun<In, 1, kWhole>(run, call, sum); break;
        case 2: AddRun<In, 2, kWhole>(run, call, sum); break;
        case 3: AddRun<In, 3, kWhole>(run, call, sum); break;
        case 4: AddRun<In, 4, kWhole>(run, call, sum); break;
        case 5: AddRun<In, 5, kWhole>(run, call, sum); break;
        case 6: AddRun<In, 6, kWhole>(run, call, sum); break;
        default: AddRun<In, 7, kWhole>(run, call, sum); break;
      }
    }
    Out* out = static_cast<Out*>(call.out) + v * HWY_LANES(T);
    TERN_CONV_UNROLL for (int t = 0; t < kPlaces; ++t, out += call.out_step) {
      if constexpr (!kWhole) {
        if (t >= call.places) break;
      }
      detail_cpu::HWY_NAMESPACE::StoreOperand(d, sum[t], out, false);
    }
  }
}

template <class In, class Out> void Runs(const RunsCall& call) {
  constexpr int kFew = kRunPlaces / 2;
  if (call.places <= kFew) return call.whole ? RunsOf<In, Out, kFew, true>(call) : RunsOf<In, Out, kFew, false>(call);
  if constexpr (kDownPlaces < kRunPlaces)
    if (call.whole && call.places == kDownPlaces) return RunsOf<In, Out, kDownPlaces, true>(call);
  call.whole ? RunsOf<In, Out, kRunPlaces, true>(call) : RunsOf<In, Out, kRunPlaces, false>(call);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu::conv
HWY_AFTER_NAMESPACE();
