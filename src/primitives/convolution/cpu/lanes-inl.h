// Kernels of convolutions for the SIMD target being compiled (no include guard: once per target file).
//
// Channels by themselves (depthwise): a vector holds `lanes` channels. Results are in lanes_runs-inl.h. For the
// gradient of the kernels a call keeps up to 24 places of the result's gradient in registers, and each element of a
// kernel multiplies them by vectors of the image in memory. Where those lie, a list says, so that strides, dilations,
// borders and the number of axes are none of the kernel's business.
//
// All channels: rows of up to 14 neighbouring places times panels of two vectors of results, as in a matrix product
// (gemm_kernels-inl.h). The rows are read where they lie in the image, one run for each element (or row) of the kernel.
#include <hwy/highway.h>

#include "cpu/simd/halves-inl.h"
#include "primitives/convolution/cpu/lanes.hpp"

#if defined(__clang__)
#define TERN_CONV_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TERN_CONV_UNROLL _Pragma("GCC unroll 32")
#endif

#include "primitives/convolution/cpu/lanes_runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::conv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int kGradientPlaces = 10, kRows = 6;  // 16 registers
constexpr bool kApart = true;
#else
constexpr int kGradientPlaces = 24, kRows = HWY_ARCH_X86 ? 14 : 12;  // 32 registers
constexpr bool kApart = false;
#endif
constexpr int kChains = 4;  // of additions of a gradient, side by side

template <class T, int kCount> void GradientsOf(const TapsCall& call, const T* y) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  V factor[kCount];
  TERN_CONV_UNROLL for (int t = 0; t < kCount; ++t) factor[t] = hn::LoadU(d, y + t * kLanes);
  for (std::int64_t i = 0; i < call.count; ++i) {
    const T* x = static_cast<const T*>(call.taps[i].x) + call.x_at;
    T* w = static_cast<T*>(call.taps[i].w) + call.w_at;
    asm("" : "+r"(x));  // one address, not one for each place
    constexpr int kSums = kCount < kChains ? kCount : kChains;
    V sum[kSums];
    TERN_CONV_UNROLL for (int s = 0; s < kSums; ++s) sum[s] = hn::Mul(hn::LoadU(d, x + s * kLanes), factor[s]);
    TERN_CONV_UNROLL for (int t = kSums; t < kCount; ++t) sum[t % kSums] =
        hn::MulAdd(hn::LoadU(d, x + t * kLanes), factor[t], sum[t % kSums]);
    TERN_CONV_UNROLL for (int s = 1; s < kSums; ++s) sum[0] = hn::Add(sum[0], sum[s]);
    hn::StoreU(hn::Add(hn::LoadU(d, w), sum[0]), d, w);
  }
}

template <class T, int kCount> HWY_INLINE void PickGradients(const TapsCall& call, const T* y, std::int64_t places) {
  if constexpr (kCount > 1) {
    if (places != kCount) return PickGradients<T, kCount - 1>(call, y, places);
  }
  GradientsOf<T, kCount>(call, y);
}
template <class T> void Gradients(const TapsCall& call, const void* y, std::int64_t places) {
  PickGradients<T, kGradientPlaces>(call, static_cast<const T*>(y), places);
}

/// Of what is copied place by place, so many places ahead. Vectors that are half of a line are: 4 × 192 × 56² on a Zen
/// 3, 7 × 7 1.2 and 28² with 5 × 5 and dilation 2 1.4 of the speed.
constexpr std::int64_t kPlacesAhead = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 8 : 0;
template <class T> HWY_INLINE void FetchAhead(const T* at) {
  if constexpr (kPlacesAhead > 0) __builtin_prefetch(at, 0, 3);
}

/// Elements from place to place, and from vector to vector.
struct PlaceSteps {
  std::int64_t place, vector;
};
/// Vectors moved place by place. What is written is fetched ahead, and what is read where it does not lie in runs.
template <bool kFetchesRead, class T>
HWY_INLINE void MoveVectors(const T* x, PlaceSteps from, T* y, PlaceSteps to, std::int64_t places,
                            std::int64_t vectors) {
  const hn::ScalableTag<T> d;
  for (std::int64_t t = 0; t < places; ++t, x += from.place, y += to.place)
    for (std::int64_t v = 0; v < vectors; ++v) {
      if constexpr (kFetchesRead) FetchAhead(x + kPlacesAhead * from.place + v * from.vector);
      FetchAhead(y + kPlacesAhead * to.place + v * to.vector);
      hn::StoreU(hn::LoadU(d, x + v * from.vector), d, y + v * to.vector);
    }
}
template <class T>
void Spread(const void* from, std::int64_t step, std::int64_t places, std::int64_t vectors, void* to,
            std::int64_t vector) {
  MoveVectors<true>(static_cast<const T*>(from), {step, HWY_LANES(T)}, static_cast<T*>(to), {HWY_LANES(T), vector},
                    places, vectors);
}
template <class T>
void Join(const void* from, std::int64_t vector, std::int64_t places, std::int64_t vectors, void* to,
          std::int64_t step) {
  MoveVectors<false>(static_cast<const T*>(from), {HWY_LANES(T), vector}, static_cast<T*>(to), {step, HWY_LANES(T)},
                     places, vectors);
}

template <DType D>
void SpreadHalves(const void* from, std::int64_t step, std::int64_t places, std::int64_t vectors, void* to,
                  std::int64_t vector) {
  const hn::ScalableTag<float> d;
  constexpr std::int64_t kLanes = HWY_LANES(float);
  const auto* x = static_cast<const std::uint16_t*>(from);
  auto* y = static_cast<float*>(to);
  for (std::int64_t t = 0; t < places; ++t, x += step, y += kLanes)
    for (std::int64_t v = 0; v < vectors; ++v)
      hn::StoreU(detail_cpu::HWY_NAMESPACE::Widen<D>(d, x + v * kLanes), d, y + v * vector);
}
template <DType D>
void RoundTo(const void* from, std::int64_t step, std::int64_t places, std::int64_t cols, void* to,
             std::int64_t to_step) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> half;
  constexpr std::int64_t kLanes = HWY_LANES(float);
  const std::int64_t whole = cols / kLanes * kLanes;
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<std::uint16_t*>(to);
  HWY_ALIGN std::uint16_t rest[kLanes];
  for (std::int64_t t = 0; t < places; ++t, x += step, y += to_step) {
    for (std::int64_t j = 0; j < whole; j += kLanes)
      hn::StoreU(detail_cpu::HWY_NAMESPACE::Narrow<D>(d, hn::LoadU(d, x + j)), half, y + j);
    if (whole == cols) continue;
    hn::Store(detail_cpu::HWY_NAMESPACE::Narrow<D>(d, hn::LoadU(d, x + whole)), half, rest);
    for (std::int64_t j = whole; j < cols; ++j) y[j] = rest[j - whole];
  }
}

/// The registers' tile to memory; past `cols` only to a scratch tile.
template <class T, bool kRowsApart = false, int kCount, int kVectors, class V>
HWY_INLINE void StoreSums(const V (&sum)[kCount][kVectors], const DirectCall& call) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  T* c = static_cast<T*>(call.c);
  if (HWY_LIKELY(call.cols == kVectors * kLanes)) {
    TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) {
      if constexpr (kRowsApart) c = static_cast<T*>(call.c) + call.c_at[i];
      TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v) {
        V value = sum[i][v];
        if (call.add) value = hn::Add(hn::LoadU(d, c + v * kLanes), value);
        hn::StoreU(value, d, c + v * kLanes);
      }
      c += call.c_row;
    }
    return;
  }
  HWY_ALIGN T edge[kCount][kVectors * kLanes];
  TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v)
      hn::Store(sum[i][v], d, &edge[i][v * kLanes]);
  for (int i = 0; i < kCount; ++i, c += call.c_row) {
    if constexpr (kRowsApart) c = static_cast<T*>(call.c) + call.c_at[i];
    for (std::int64_t j = 0; j < call.cols; ++j) c[j] = call.add ? c[j] + edge[i][j] : edge[i][j];
  }
}

/// Rows at a_row from each other, as x86 addresses them from three pointers: 0, 1, 2, 3 and 4 rows on from each.
template <class T, int kCount, int kVectors> void DirectTile(const DirectCall& call) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T), kPanel = 2 * kLanes;
  const std::int64_t row = call.a_row;
  V sum[kCount][kVectors];
  TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] =
      hn::Zero(d);
  for (std::int64_t s = 0; s < call.count; ++s) {
    const T* a0 = static_cast<const T*>(call.segments[s].a);
    const T* a1 = kCount > 5 ? a0 + 5 * row : a0;
    const T* a2 = kCount > 10 ? a0 + 10 * row : a0;
    const T* b = static_cast<const T*>(call.segments[s].b);
    for (std::int64_t p = call.depth; p > 0; --p) {
      V factor[kVectors];
      TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v) factor[v] = hn::LoadU(d, b + v * kLanes);
      TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) {
        const T* const from = i >= 10 ? a2 : i >= 5 ? a1 : a0;
        const V x = hn::Set(d, from[i % 5 * row]);
        TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(x, factor[v], sum[i][v]);
      }
      b += kPanel;
      ++a0;
      if constexpr (kCount > 5) ++a1;
      if constexpr (kCount > 10) ++a2;
    }
  }
  StoreSums<T>(sum, call);
}

/// Few results (the gradient of a first layer's image has 3): a vector has steps of a sum in place of results, which
/// would leave most of it empty. 3 places by 3 results are six loads for nine multiply-adds.
template <class T, int kCount, int kCols> HWY_INLINE void NarrowTile(const DirectCall& call, std::int64_t first) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  V sum[kCount][kCols];
  TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) TERN_CONV_UNROLL for (int j = 0; j < kCols; ++j) sum[i][j] =
      hn::Zero(d);
  for (std::int64_t s = 0; s < call.count; ++s) {
    const T* a[kCount];
    TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) a[i] =
        static_cast<const T*>(call.segments[s].a) + call.a_at[first + i];
    const T* b = static_cast<const T*>(call.segments[s].b);
    for (std::int64_t p = 0; p < call.depth; p += kLanes) {
      V factor[kCols];
      TERN_CONV_UNROLL for (int j = 0; j < kCols; ++j) factor[j] = hn::LoadU(d, b + j * call.b_row + p);
      TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) {
        const V x = hn::LoadU(d, a[i] + p);
        TERN_CONV_UNROLL for (int j = 0; j < kCols; ++j) sum[i][j] = hn::MulAdd(x, factor[j], sum[i][j]);
      }
    }
  }
  for (int i = 0; i < kCount; ++i) {
    T* const c = static_cast<T*>(call.c) + call.c_at[first + i];
    TERN_CONV_UNROLL for (int j = 0; j < kCols; ++j) {
      const T all = hn::GetLane(hn::SumOfLanes(d, sum[i][j]));
      c[j] = call.add ? c[j] + all : all;
    }
  }
}
template <class T, int kCols> void NarrowRows(const DirectCall& call) {
  std::int64_t i = 0;
  for (; i + 3 <= call.rows; i += 3) NarrowTile<T, 3, kCols>(call, i);
  for (; i < call.rows; ++i) NarrowTile<T, 1, kCols>(call, i);
}
template <class T> void DirectNarrow(const DirectCall& call) {
  static_assert(kNarrowResults == 3);
  call.cols == 1 ? NarrowRows<T, 1>(call) : call.cols == 2 ? NarrowRows<T, 2>(call) : NarrowRows<T, 3>(call);
}

/// Rows with an address each.
template <class T, int kCount, int kVectors> void DirectTileApart(const DirectCall& call) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T), kPanel = 2 * kLanes;
  V sum[kCount][kVectors];
  TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] =
      hn::Zero(d);
  for (std::int64_t s = 0; s < call.count; ++s) {
    const T* a[kCount];
    const char* const ahead = call.ahead + s * call.lines * 64;
    for (std::int64_t line = 0; line < call.lines; ++line) __builtin_prefetch(ahead + line * 64, 0, 2);
    TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) a[i] = static_cast<const T*>(call.segments[s].a) + call.a_at[i];
    const T* b = static_cast<const T*>(call.segments[s].b);
    for (std::int64_t p = 0; p < call.depth; ++p, b += kPanel) {
      V factor[kVectors];
      TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v) factor[v] = hn::LoadU(d, b + v * kLanes);
      TERN_CONV_UNROLL for (int i = 0; i < kCount; ++i) {
        const V x = hn::Set(d, a[i][p]);
        TERN_CONV_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(x, factor[v], sum[i][v]);
      }
    }
  }
  StoreSums<T, true>(sum, call);
}

template <class T, int kCount> HWY_INLINE void PickDirectApart(const DirectCall& call) {
  if constexpr (kCount > 1) {
    if (call.rows != kCount) return PickDirectApart<T, kCount - 1>(call);
  }
  constexpr std::int64_t kLanes = HWY_LANES(T);
  call.cols <= kLanes ? DirectTileApart<T, kCount, 1>(call) : DirectTileApart<T, kCount, 2>(call);
}
template <class T> void DirectApart(const DirectCall& call) { PickDirectApart<T, kRows>(call); }

template <class T, int kCount> HWY_INLINE void PickDirect(const DirectCall& call) {
  if constexpr (kCount > 1) {
    if (call.rows != kCount) return PickDirect<T, kCount - 1>(call);
  }
  constexpr std::int64_t kLanes = HWY_LANES(T);
  call.cols <= kLanes ? DirectTile<T, kCount, 1>(call) : DirectTile<T, kCount, 2>(call);
}
template <class T> void Direct(const DirectCall& call) { PickDirect<T, kRows>(call); }

template <class T> constexpr ConvKernels KernelsOf() {
  ConvKernels kernels{};
  kernels.lanes = HWY_LANES(T), kernels.gradient_places = kGradientPlaces;
  kernels.rows = kRows, kernels.panel = 2 * HWY_LANES(T);
  kernels.goes_down = kGoesDown;
  kernels.gradients = &Gradients<T>, kernels.direct = &Direct<T>;
  if constexpr (kApart) kernels.direct_apart = &DirectApart<T>, kernels.direct_narrow = &DirectNarrow<T>;
  kernels.spread = &Spread<T>, kernels.join = &Join<T>, kernels.runs = &Runs<T, T>;
  kernels.run_places = kRunPlaces, kernels.down_places = kDownPlaces;
  if constexpr (sizeof(T) == 4) {
    kernels.spread_f16 = &SpreadHalves<DType::f16>, kernels.spread_bf16 = &SpreadHalves<DType::bf16>;
    using F16 = detail_cpu::HWY_NAMESPACE::Half<DType::f16>;
    using Bf16 = detail_cpu::HWY_NAMESPACE::Half<DType::bf16>;
    kernels.runs_f16 = &Runs<F16, T>, kernels.runs_bf16 = &Runs<Bf16, T>;
    kernels.runs_to_f16 = &Runs<F16, F16>, kernels.runs_to_bf16 = &Runs<Bf16, Bf16>;
    kernels.round_f16 = &RoundTo<DType::f16>, kernels.round_bf16 = &RoundTo<DType::bf16>;
  }
  return kernels;
}

}  // namespace HWY_NAMESPACE

#define TERN_CONV_LANES_(name) conv_lanes_##name
#define TERN_CONV_LANES(name) TERN_CONV_LANES_(name)
/// conv_lanes_N_AVX2() and so on, called on processors that have the target.
const AllConvKernels& TERN_CONV_LANES(HWY_NAMESPACE)() {
  static constexpr AllConvKernels all{HWY_NAMESPACE::KernelsOf<float>(), HWY_NAMESPACE::KernelsOf<double>()};
  return all;
}
}  // namespace tern::detail_cpu::conv
HWY_AFTER_NAMESPACE();
#undef TERN_CONV_UNROLL
