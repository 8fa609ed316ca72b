// Short rows' sums of products, and of what is multiplied, as scalar products, norms and gradients of what is divided
// by them have them: in one pass, in registers. Stands after reductions-inl.h. No include guard: once per target file.
#include <hwy/highway.h>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2
/// What rows in memory give, multiplied.
template <std::size_t kLength, class T> struct ProductsOfRows {
  RowsInMemory<kLength, T> a, b;
  template <class D> HWY_INLINE hn::Vec<D> Vector(D d, std::size_t i) const {
    return SimdFunction<Elementary::mul>::Run(d, a.Vector(d, i), b.Vector(d, i));
  }
  template <class D> HWY_INLINE hn::Vec<D> Row(D d, std::size_t i, std::size_t at) const {
    return SimdFunction<Elementary::mul>::Run(d, a.Row(d, i, at), b.Row(d, i, at));
  }
};

/// Of as many rows as a vector has lanes: what products and their sums give one after the other, each with its bits.
template <std::size_t kLength, class D> struct ProductSums {
  using T = hn::TFromD<D>;
  static constexpr std::size_t kOutputs = 1;
  JoinedRows<SimdFunction<Elementary::sum>, kLength, D> joined;

  HWY_INLINE explicit ProductSums(D d) : joined(d) {}
  HWY_INLINE void Run(D d, const T* a, const T* b, T* const* out, std::size_t at) const {
    hn::StoreU(joined.JoinRows(d, ProductsOfRows<kLength, T>{{a}, {b}}), d, out[0] + at);
  }
};

/// Vectors that hold what LoadOfRows would give.
template <class V> struct RowsInVectors {
  const V* v;
  template <class D> HWY_INLINE V Vector(D, std::size_t i) const { return v[i]; }
};
/// The same and the sums of both, of rows of less than a vector: lanes move before they are multiplied, two for three
/// sums. (1024 f32 in L1, Zen 3, in ns, three passes and this: rows of 2 410 and 217, of 3 390 and 224, of 7 490 and
/// 307; f64 of 2 850 and 440, of 3 800 and 425. With rows of a vector and more in registers, of 9 f32 490 and 590.)
template <std::size_t kLength, class D> struct ProductAndRowSums {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using L = SimdFunction<Elementary::sum>;
  using Times = SimdFunction<Elementary::mul>;
  static constexpr std::size_t kOutputs = 3, kOdd = OddPart(kLength), kOnce = kOdd == kLength ? kLength : kLength / 2;
  TransposeRows<kLength == kOdd ? kLength : 1, D> transpose;
  JoinedRows<L, kOnce, D> rest;

  HWY_INLINE explicit ProductAndRowSums(D d) : transpose(d), rest(d) {}
  HWY_INLINE void Run(D d, const T* a, const T* b, T* const* out, std::size_t at) const {
    V sums[3];
    if constexpr (kOdd == kLength) OfColumns(d, a, b, sums);
    else OfNeighbours(d, a, b, sums);
    TERN_UNROLL for (std::size_t s = 0; s < 3; ++s) hn::StoreU(sums[s], d, out[s] + at);
  }

 private:
  HWY_INLINE void OfColumns(D d, const T* x, const T* y, V* sums) const {
    V a[kLength], b[kLength];
    TERN_UNROLL for (std::size_t j = 0; j < kLength; ++j) {
      a[j] = LoadOfRows<kLength>(d, x, j), b[j] = LoadOfRows<kLength>(d, y, j);
    }
    transpose.Run(d, a), transpose.Run(d, b);
    TERN_UNROLL for (std::size_t s = 0; s < 3; ++s) sums[s] = L::Identity(d);
    TERN_UNROLL for (std::size_t j = 0; j < kLength; ++j) {
      sums[0] = L::Run(d, sums[0], Times::Run(d, a[j], b[j]));
      sums[1] = L::Run(d, sums[1], a[j]), sums[2] = L::Run(d, sums[2], b[j]);
    }
  }
  HWY_INLINE void OfNeighbours(D d, const T* x, const T* y, V* sums) const {
    V once[3][kOnce];
    TERN_UNROLL for (std::size_t i = 0; i < kOnce; ++i) {
      const auto a = Neighbours(d, x, 2 * i), b = Neighbours(d, y, 2 * i);
      once[0][i] = L::Run(d, Times::Run(d, a.first, b.first), Times::Run(d, a.second, b.second));
      once[1][i] = L::Run(d, a.first, a.second), once[2][i] = L::Run(d, b.first, b.second);
    }
    TERN_UNROLL for (std::size_t s = 0; s < 3; ++s) sums[s] = rest.JoinRows(d, RowsInVectors<V>{once[s]});
  }
  struct TwoVectors {
    V first, second;
  };
  static HWY_INLINE TwoVectors Neighbours(D d, const T* rows, std::size_t i) {
    const V a = LoadOfRows<kLength>(d, rows, i), b = LoadOfRows<kLength>(d, rows, i + 1);
    return {NeighboursOfRows<false>(d, a, b), NeighboursOfRows<true>(d, a, b)};
  }
};

/// Runs Kernel on rows of kLength elements, `groups` of them.
template <std::size_t kLength, class Kernel, class D, class T = hn::TFromD<D>>
HWY_INLINE void RunProductSums(D d, const T* a, const T* b, T* const* out, std::size_t groups) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  const Kernel kernel(d);
  const auto some = [=](std::size_t g, bool) TERN_INLINED_TWICE {
    kernel.Run(d, a + g * kLength, b + g * kLength, out, g);
  };
  const auto few = [=]() HWY_ATTR {
    HWY_ALIGN T rows[2][kLanes * kLength] = {}, results[Kernel::kOutputs][kLanes];
    T* to[Kernel::kOutputs];
    for (std::size_t s = 0; s < Kernel::kOutputs; ++s) to[s] = results[s];
    std::memcpy(rows[0], a, groups * kLength * sizeof(T)), std::memcpy(rows[1], b, groups * kLength * sizeof(T));
    kernel.Run(d, rows[0], rows[1], to, 0);
    for (std::size_t s = 0; s < Kernel::kOutputs; ++s) std::memcpy(out[s], results[s], groups * sizeof(T));
  };
  ByVectorsOfRows(d, groups, some, few);
}
/// A loop of rows of call.times elements: the sums of products and, if kAll, those of the first and of the second.
template <bool kAll, class T> void ProductSumsOfRows(const LoopCall& call) {
  using D = hn::ScalableTag<T>;
  static_assert(kShortRow <= kMostJoined<T>);  // every length that comes here is joined
  const T *const a = static_cast<const T*>(call.in[0]), *const b = static_cast<const T*>(call.in[1]);
  const std::size_t groups = call.n / call.times;
  T* out[3] = {};
  for (std::size_t s = 0; s < (kAll ? 3 : 1); ++s) out[s] = static_cast<T*>(call.out[s]);
  const auto run = [&]<std::size_t kLength>() HWY_ATTR {
    if constexpr (kAll && kLength < hn::MaxLanes(D())) {
      RunProductSums<kLength, ProductAndRowSums<kLength, D>>(D(), a, b, out, groups);
    } else {
      RunProductSums<kLength, ProductSums<kLength, D>>(D(), a, b, out, groups);
      if constexpr (kAll) {
        ReduceRows<SimdFunction<Elementary::sum>, T>(a, out[1], groups, kLength, false);
        ReduceRows<SimdFunction<Elementary::sum>, T>(b, out[2], groups, kLength, false);
      }
    }
  };
  WithLength<2, kMostJoined<T>>(call.times, run);
}
template <class T> void AddProductSums(LoopFn (&functions)[2]) {
  functions[0] = &ProductSumsOfRows<false, T>, functions[1] = &ProductSumsOfRows<true, T>;
}
#else
template <class T> void AddProductSums(LoopFn (&)[2]) {}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
