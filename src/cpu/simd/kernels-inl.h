// The kernels of the fused primitive for the target being compiled: loops over the elementary functions' SIMD bodies,
// conversions and reductions. Included once by each target file, after HWY_TARGET was chosen. (Longer than other files:
// one loop for each kind of step of a tape, and the table that names them all.)
#include <hwy/highway.h>

#include "cpu/simd/kernel_table.hpp"
#include "cpu/simd/halves-inl.h"
#include "cpu/simd/elementary-inl.h"
#include "cpu/simd/functions-inl.h"
#include "cpu/simd/by_number-inl.h"
#include "cpu/simd/columns-inl.h"
#include "cpu/simd/matrix_transpose-inl.h"
#include "cpu/simd/moments-inl.h"
#include "cpu/simd/narrow-inl.h"
#include "cpu/simd/philox-inl.h"
#include "cpu/simd/reductions-inl.h"
#include "cpu/simd/pairs-inl.h"
#include "cpu/simd/places-inl.h"
#include "cpu/simd/scan-inl.h"
#include "cpu/simd/short_rows-inl.h"
#include "cpu/simd/centred_rows-inl.h"
#include "cpu/simd/row_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {

template <ComputeType L> struct CppTypeOf;
template <> struct CppTypeOf<ComputeType::f32> { using type = float; };
template <> struct CppTypeOf<ComputeType::f64> { using type = double; };
template <> struct CppTypeOf<ComputeType::i32> { using type = std::int32_t; };
template <> struct CppTypeOf<ComputeType::u32> { using type = std::uint32_t; };
template <> struct CppTypeOf<ComputeType::i64> { using type = std::int64_t; };
template <ComputeType L> using CppType = typename CppTypeOf<L>::type;

template <DType D> struct MemoryType;
template <> struct MemoryType<DType::boolean> { using type = std::uint8_t; };
template <> struct MemoryType<DType::u8> { using type = std::uint8_t; };
template <> struct MemoryType<DType::i8> { using type = std::int8_t; };
template <> struct MemoryType<DType::i16> { using type = std::int16_t; };
template <> struct MemoryType<DType::i32> { using type = std::int32_t; };
template <> struct MemoryType<DType::u32> { using type = std::uint32_t; };
template <> struct MemoryType<DType::i64> { using type = std::int64_t; };
template <> struct MemoryType<DType::f16> { using type = std::uint16_t; };
template <> struct MemoryType<DType::bf16> { using type = std::uint16_t; };
template <> struct MemoryType<DType::f32> { using type = float; };
template <> struct MemoryType<DType::f64> { using type = double; };
template <DType D> using MemoryT = typename MemoryType<D>::type;

constexpr ComputeType WideType(DType d) {
  return d == DType::f64 ? ComputeType::f64 : d == DType::i64 ? ComputeType::i64 : d == DType::u32 ? ComputeType::u32
         : d >= DType::f16 ? ComputeType::f32 : ComputeType::i32;
}

// ---- elementary functions ----
template <class Elementary, class = void> struct HasCondition { static constexpr bool value = false; };
template <class Elementary> struct HasCondition<Elementary, decltype(void(Elementary::kCondition))> {
  static constexpr bool value = true;
};

/// A vector of each of the elementary function's arguments: whole ones …
template <class T> struct Whole {
  const T* const* in;
  std::size_t at;
  template <class D> HWY_INLINE auto Load(D d, int a) const {
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(in[a] + at));
  }
};
/// … or what is left, zeros behind it.
template <class T> struct Left {
  const T* const* in;
  std::size_t at, count;
  template <class D> HWY_INLINE auto Load(D d, int a) const {
    return hn::MaskedLoad(hn::FirstN(d, count), d, reinterpret_cast<const hn::TFromD<D>*>(in[a] + at));
  }
};
template <class L, int kArity, class D, class A> HWY_INLINE auto RunOn(D d, const A& from) {
  if constexpr (kArity == 1) {
    return L::Run(d, from.Load(d, 0));
  } else if constexpr (kArity == 2) {
    return L::Run(d, from.Load(d, 0), from.Load(d, 1));
  } else if constexpr (HasCondition<L>::value) {
    return L::Run(d, from.Load(hn::RebindToSigned<D>(), 0), from.Load(d, 1), from.Load(d, 2));
  } else {
    return L::Run(d, from.Load(d, 0), from.Load(d, 1), from.Load(d, 2));
  }
}

/// Whether four vectors are a step: of functions of few instructions, which are those that integers have, too. (floor
/// of 2048 f32 in L1 by hand, Zen 3 with other work beside it: 160 ns by one vector, 102 by four.)
template <class L> inline constexpr bool kIsShort = false;
template <Elementary L> inline constexpr bool kIsShort<SimdFunction<L>> =
    (SimdFunction<L>::kTypes & kIntegerTypes) != 0;

/// The tail takes the same code as the other elements, whatever their position: with masks, or through a small block.
template <class L, int kArity, class T> void ElementaryLoop(const void* const* args, void* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* in[3] = {};
  for (int a = 0; a < kArity; ++a) in[a] = static_cast<const T*>(args[a]);
  using R = hn::TFromV<decltype(RunOn<L, kArity>(d, Whole<T>{in, 0}))>;
  const hn::Rebind<R, decltype(d)> dr;
  R* result = static_cast<R*>(out);
  std::size_t i = 0;
  if constexpr (kIsShort<L>)
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      const auto run = [&](std::size_t k) HWY_ATTR { return RunOn<L, kArity>(d, Whole<T>{in, i + k * lanes}); };
      const auto a = run(0), b = run(1), c = run(2), e = run(3);
      hn::StoreU(a, dr, result + i), hn::StoreU(b, dr, result + i + lanes);
      hn::StoreU(c, dr, result + i + 2 * lanes), hn::StoreU(e, dr, result + i + 3 * lanes);
    }
  for (; i + lanes <= n; i += lanes) hn::StoreU(RunOn<L, kArity>(d, Whole<T>{in, i}), dr, result + i);
  if (i == n) return;
  if constexpr (kWide) {
    hn::BlendedStore(RunOn<L, kArity>(d, Left<T>{in, i, n - i}), hn::FirstN(dr, n - i), dr, result + i);
  } else {
    HWY_ALIGN T tail[3][hn::MaxLanes(d)] = {};
    HWY_ALIGN R tail_out[hn::MaxLanes(d)];
    const T* tail_in[3] = {tail[0], tail[1], tail[2]};
    for (int a = 0; a < kArity; ++a)
      for (std::size_t j = 0; j < n - i; ++j) tail[a][j] = in[a][i + j];
    hn::StoreU(RunOn<L, kArity>(d, Whole<T>{tail_in, 0}), dr, tail_out);
    for (std::size_t j = 0; j < n - i; ++j) result[i + j] = tail_out[j];
  }
}

/// Lanes of 0 and 1 as bytes.
template <class D, class V> HWY_INLINE auto PredicateBytes(D, V lanes) {
  const hn::Rebind<std::uint8_t, D> bytes;
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::DemoteTo(bytes, lanes);
  else return hn::TruncateTo(bytes, hn::BitCast(hn::RebindToUnsigned<D>(), lanes));
}
template <class L, int kArity, class T> void PredicateLoop(const void* const* args, void* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const std::size_t lanes = hn::Lanes(d);
  const T* in[2] = {};
  for (int a = 0; a < kArity; ++a) in[a] = static_cast<const T*>(args[a]);
  auto* const result = static_cast<std::uint8_t*>(out);
  std::size_t i = 0;
  if constexpr (kJoinsBytes && sizeof(T) == 4)
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      const auto lane = [&](std::size_t k) HWY_ATTR { return RunOn<L, kArity>(d, Whole<T>{in, i + k * lanes}); };
      StoreAsBytes<false>(lane(0), lane(1), lane(2), lane(3), result + i);
    }
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(PredicateBytes(d, RunOn<L, kArity>(d, Whole<T>{in, i})), bytes, result + i);
  if (i == n) return;
  HWY_ALIGN T rest[2][hn::MaxLanes(d)] = {};
  HWY_ALIGN std::uint8_t some[hn::MaxLanes(d)];
  for (int a = 0; a < kArity; ++a) __builtin_memcpy(rest[a], in[a] + i, (n - i) * sizeof(T));
  const T* const from[2] = {rest[0], rest[1]};
  hn::StoreU(PredicateBytes(d, RunOn<L, kArity>(d, Whole<T>{from, 0})), bytes, some);
  __builtin_memcpy(result + i, some, n - i);
}
/// Whether an elementary function of floats gives integers.
template <Elementary L, int kArity> constexpr bool IsPredicate() {
  if constexpr (kArity > 2 || (SimdFunction<L>::kTypes & 1u) == 0) return false;
  else
    return !std::is_same_v<hn::TFromV<decltype(RunOn<SimdFunction<L>, kArity>(hn::ScalableTag<float>(),
                                                                              Whole<float>{nullptr, 0}))>,
                           float>;
}
template <Elementary L, int kArity, ComputeType type> constexpr ElementaryFn PredicateKernel() {
  if constexpr (!IsPredicate<L, kArity>()) return nullptr;
  else if constexpr (((SimdFunction<L>::kTypes >> static_cast<unsigned>(type)) & 1u) == 0) return nullptr;
  else return &PredicateLoop<SimdFunction<L>, kArity, CppType<type>>;
}

template <Elementary L, int kArity, ComputeType type> constexpr ElementaryFn ElementaryKernel() {
  if constexpr ((SimdFunction<L>::kTypes >> static_cast<unsigned>(type)) & 1u)
    return &ElementaryLoop<SimdFunction<L>, kArity, CppType<type>>;
  else return nullptr;
}

/// The fast-math variant of the function (Rule::ulp_half_cpu), of one argument.
template <class L> struct FastFunction {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) { return L::RunFast(d, x); }
};
template <Elementary L, int kArity> constexpr ElementaryFn FastKernel() {
  using V = hn::Vec<hn::ScalableTag<float>>;
  if constexpr (requires(V x) { SimdFunction<L>::RunFast(hn::ScalableTag<float>(), x); })
    return &ElementaryLoop<FastFunction<SimdFunction<L>>, kArity, float>;
  else return nullptr;
}

/// log(e^a + e^b), as `combined` (cpu/line_tools.hpp) has it: equal infinities, which have no difference, stay.
struct LogAddExp {
  template <class D, class V> static HWY_INLINE V Run(D d, V a, V b) {
    const V larger = hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
    const V sum = hn::Add(larger, SimdFunction<Elementary::softplus>::Run(d, hn::Neg(hn::Abs(hn::Sub(a, b)))));
    return hn::IfThenElse(hn::Eq(a, b), hn::Add(a, hn::Set(d, static_cast<hn::TFromD<D>>(0.6931471805599453))), sum);
  }
};

// ---- reductions (reductions-inl.h) ----
template <Elementary L, ComputeType type, bool kRows> constexpr ReduceFn ReduceKernel() {
  if constexpr (((SimdFunction<L>::kTypes >> static_cast<unsigned>(type)) & 1u) == 0) return nullptr;
  else if constexpr (kRows) return &ReduceRows<SimdFunction<L>, CppType<type>>;
  else return &ReduceColumns<SimdFunction<L>, CppType<type>>;
}

// ---- conversions: plain loops, vectorised by the compiler for this target ----
template <class To, class From> HWY_INLINE To ConvertOne(From x) {
  if constexpr (hwy::IsFloat<From>() && !hwy::IsFloat<To>()) {
    // 2^31, 2^32, 2^63 are exact in both float types.
    constexpr double kTop = sizeof(To) == 8 ? 9223372036854775808.0 : To(-1) > To(0) ? 4294967296.0 : 2147483648.0;
    constexpr To kMax =
        To(-1) > To(0) ? static_cast<To>(~To(0)) : static_cast<To>(sizeof(To) == 8 ? INT64_MAX : INT32_MAX);
    constexpr To kMin = To(-1) > To(0) ? To(0) : static_cast<To>(-static_cast<std::int64_t>(kMax) - 1);
    if (!(x == x)) return To(0);
    if (x >= static_cast<From>(kTop)) return kMax;
    if (x <= static_cast<From>(kMin)) return kMin;
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}
template <class From, class To> void Convert(const void* in, void* out, std::size_t n) {
  const From* x = static_cast<const From*>(in);
  To* y = static_cast<To*>(out);
  std::size_t i = 0;
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, std::int32_t>) {  // else one by one, with branches
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      const auto v = hn::LoadU(d, x + i), number = hn::IfThenZeroElse(hn::IsNaN(v), v);
      const auto top = hn::RebindMask(di, hn::Ge(v, hn::Set(d, 0x1p31f)));  // what is too low gives the least by itself
      hn::StoreU(hn::IfThenElse(top, hn::Set(di, INT32_MAX), hn::ConvertTo(di, number)), di, y + i);
    }
  }
  for (; i < n; ++i) y[i] = ConvertOne<To>(x[i]);
}

HWY_INLINE std::uint16_t ToBits16(DType dtype, float x) {
  return dtype == DType::f16 ? detail::float_to_half_bits(x) : detail::float_to_bfloat_bits(x);
}
HWY_INLINE float FromBits16(DType dtype, std::uint16_t bits) {
  return dtype == DType::f16 ? detail::half_bits_to_float(bits)
                             : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
template <DType D, bool kClamp, class T> HWY_INLINE T WrapOne(T x) {
  if constexpr (D == DType::f16 || D == DType::bf16) {
    if (x != x) return FromBits16(D, D == DType::f16 ? 0x7e00 : 0x7fc0);  // one NaN, as vectors have it
    return static_cast<T>(
        FromBits16(D, ToBits16(D, sizeof(T) == 8 ? detail::narrow_to_odd(x) : static_cast<float>(x))));
  } else if constexpr (D == DType::boolean) {
    return static_cast<T>(x != T(0));
  } else if constexpr (kClamp) {
    using M = MemoryT<D>;
    constexpr T kLow = static_cast<T>(D == DType::u8 ? 0 : -(1 << (8 * sizeof(M) - 1)));
    constexpr T kHigh = static_cast<T>(D == DType::u8 ? 255 : (1 << (8 * sizeof(M) - 1)) - 1);
    return x < kLow ? kLow : x > kHigh ? kHigh : x;
  } else {
    return static_cast<T>(static_cast<MemoryT<D>>(x));
  }
}
/// Doubles cut to the bits of f32, of which the last says whether any was lost, so that rounding them again gives what
/// rounding once does (detail::narrow_to_odd); but those that f32 has fewer bits for.
template <class D> HWY_INLINE auto CutToOdd(D d, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v), mask = hn::Set(du, (std::uint64_t{1} << 29) - 1), lost = hn::And(bits, mask);
  const auto last = hn::IfThenZeroElse(hn::Eq(lost, hn::Zero(du)), hn::Set(du, std::uint64_t{1} << 29));
  return hn::DemoteTo(hn::Rebind<float, D>(), hn::BitCast(d, hn::Or(hn::AndNot(mask, bits), last)));
}
/// As many as a vector has lanes of f32. (131,072 booleans as bf16, which go by doubles, Emerald Rapids: 245 us one by
/// one and 113 so.)
template <DType D> HWY_INLINE void WrapDoubles(const double* x, double* y) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<double> dd;
  const hn::Half<decltype(d)> half;
  const std::size_t lanes = hn::Lanes(dd);
  const auto low = hn::LoadU(dd, x), high = hn::LoadU(dd, x + lanes);
  const auto is_tiny = [&](auto v) HWY_ATTR {
    const auto size = hn::Abs(v);
    return hn::And(hn::Lt(size, hn::Set(dd, 0x1p-126)), hn::Gt(size, hn::Zero(dd)));
  };
  if (HWY_UNLIKELY(!hn::AllFalse(dd, hn::Or(is_tiny(low), is_tiny(high))))) {
    for (std::size_t j = 0; j < 2 * lanes; ++j) y[j] = WrapOne<D, false>(x[j]);
    return;
  }
  const auto narrow = WidenBits<D>(d, Narrow<D>(d, hn::Combine(d, CutToOdd(dd, high), CutToOdd(dd, low))));
  hn::StoreU(hn::PromoteTo(dd, hn::LowerHalf(half, narrow)), dd, y);
  hn::StoreU(hn::PromoteTo(dd, hn::UpperHalf(half, narrow)), dd, y + lanes);
}
template <DType D, bool kClamp, class T> void Wrap(const void* in, void* out, std::size_t n) {
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  std::size_t i = 0;
  if constexpr (kNarrows<D>) {
    const hn::ScalableTag<float> d;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      if constexpr (sizeof(T) == 4) hn::StoreU(WidenBits<D>(d, Narrow<D>(d, hn::LoadU(d, x + i))), d, y + i);
      else WrapDoubles<D>(x + i, y + i);
    }
  }
  for (; i < n; ++i) y[i] = WrapOne<D, kClamp>(x[i]);
}

/// Floats as integers of 8 or 16 bits, which saturate; NaN gives 0. Memory to memory.
template <DType D> void SaturateFloats(const void* const* args, void* out, std::size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<MemoryT<D>, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const auto* const x = static_cast<const float*>(args[0]);
  auto* const y = static_cast<MemoryT<D>*>(out);
  const auto most = hn::Set(d, hwy::LimitsMax<MemoryT<D>>());  // what is too low becomes the least by itself
  std::size_t i = 0;
  if constexpr (kJoinsBytes && sizeof(MemoryT<D>) == 1) {
    constexpr bool is_signed = D == DType::i8;
    for (; i + 4 * lanes <= n; i += 4 * lanes)
      StoreAsBytes<is_signed>(ForBytes<is_signed>(x + i), ForBytes<is_signed>(x + i + lanes),
                              ForBytes<is_signed>(x + i + 2 * lanes), ForBytes<is_signed>(x + i + 3 * lanes), y + i);
  }
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i), number = hn::IfThenZeroElse(hn::IsNaN(v), v);
    hn::StoreU(hn::DemoteTo(narrow, hn::ConvertTo(di, hn::Min(number, most))), narrow, y + i);
  }
  for (; i < n; ++i) y[i] = static_cast<MemoryT<D>>(WrapOne<D, true>(ConvertOne<std::int32_t>(x[i])));
}

template <DType D> HWY_INLINE CppType<WideType(D)> LoadOne(MemoryT<D> x) {
  if constexpr (D == DType::f16 || D == DType::bf16) return FromBits16(D, x);
  else return static_cast<CppType<WideType(D)>>(x);
}
template <DType D> HWY_INLINE MemoryT<D> StoreOne(CppType<WideType(D)> x) {
  if constexpr (D == DType::f16 || D == DType::bf16) return x == x ? ToBits16(D, x) : D == DType::f16 ? 0x7e00 : 0x7fc0;
  else return static_cast<MemoryT<D>>(x);
}
template <DType D> void Load(const void* in, void* out, std::size_t n) {
  const auto* x = static_cast<const MemoryT<D>*>(in);
  auto* y = static_cast<CppType<WideType(D)>*>(out);
  std::size_t i = 0;
  if constexpr (kNarrows<D>) {
    const hn::ScalableTag<float> d;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) hn::StoreU(Widen<D>(d, x + i), d, y + i);
  }
  for (; i < n; ++i) y[i] = LoadOne<D>(x[i]);
}
/// Every second number, as the parts of complex ones lie. What lies between is read, but not behind the last.
template <class T> HWY_INLINE std::size_t LoadEverySecond(const T* x, T* y, std::size_t n) {
  const hn::ScalableTag<T> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) < n; i += hn::Lanes(d)) {
    hn::Vec<decltype(d)> here, between;
    hn::LoadInterleaved2(d, x + 2 * i, here, between);
    hn::StoreU(here, d, y + i);
  }
  return i;
}
template <DType D> void LoadStrided(const void* in, std::int64_t stride, void* out, std::size_t n) {
  const auto* x = static_cast<const MemoryT<D>*>(in);
  auto* y = static_cast<CppType<WideType(D)>*>(out);
  std::size_t i = 0;
  if constexpr (std::is_same_v<MemoryT<D>, CppType<WideType(D)>>)
    if (stride == 2) i = LoadEverySecond(x, y, n);
  for (; i < n; ++i) y[i] = LoadOne<D>(x[static_cast<std::int64_t>(i) * stride]);
}
/// `kStream`: past the caches, from memory aligned to vectors.
template <DType D, bool kStream> HWY_INLINE void StoreRun(const void* in, void* out, std::size_t n) {
  using T = CppType<WideType(D)>;
  const auto* x = static_cast<const T*>(in);
  auto* y = static_cast<MemoryT<D>*>(out);
  std::size_t i = 0;
  const hn::ScalableTag<T> d;
  if constexpr (kNarrows<D>) {
    const hn::Rebind<std::uint16_t, decltype(d)> dh;
    if constexpr (kWide && D == DType::bf16) {
      const hn::Repartition<std::uint16_t, decltype(d)> dp;
      for (; i + hn::Lanes(dp) <= n; i += hn::Lanes(dp)) {
        const auto pair = NarrowPair(d, hn::LoadU(d, x + i), hn::LoadU(d, x + i + hn::Lanes(d)));
        if constexpr (kStream) hn::Stream(pair, dp, y + i);
        else hn::StoreU(pair, dp, y + i);
      }
    }
    if constexpr (kFourHalves && D == DType::f16) {
      const hn::Rebind<hwy::float16_t, decltype(d)> df;
      for (; i + 4 * hn::Lanes(d) <= n; i += 4 * hn::Lanes(d)) {
        const auto lane = [&](std::size_t k) HWY_ATTR { return hn::LoadU(d, x + i + k * hn::Lanes(d)); };
        const auto a = lane(0), b = lane(1), c = lane(2), e = lane(3);
        const auto put = [&](auto half, std::size_t k) HWY_ATTR {
          StoreOperand(dh, hn::BitCast(dh, half), y + i + k * hn::Lanes(d), kStream);
        };
        if (HWY_UNLIKELY(AnyNaN(a, b, c, e)))
          put(Narrow<D>(d, a), 0), put(Narrow<D>(d, b), 1), put(Narrow<D>(d, c), 2), put(Narrow<D>(d, e), 3);
        else
          put(hn::DemoteTo(df, a), 0), put(hn::DemoteTo(df, b), 1), put(hn::DemoteTo(df, c), 2),
              put(hn::DemoteTo(df, e), 3);
      }
    }
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      const auto half = Narrow<D>(d, hn::LoadU(d, x + i));
      if constexpr (kStream && hn::MaxLanes(dh) >= 8) hn::Stream(half, dh, y + i);
      else hn::StoreU(half, dh, y + i);
    }
    if (i == n) return;
    if constexpr (kWide) {
      const auto half = Narrow<D>(d, hn::MaskedLoad(hn::FirstN(d, n - i), d, x + i));
      hn::BlendedStore(half, hn::FirstN(dh, n - i), dh, y + i);
    } else {
      HWY_ALIGN T rest[hn::MaxLanes(d)] = {};
      HWY_ALIGN std::uint16_t narrow[hn::MaxLanes(d)];
      for (std::size_t j = 0; i + j < n; ++j) rest[j] = x[i + j];
      hn::StoreU(Narrow<D>(d, hn::Load(d, rest)), dh, narrow);
      for (std::size_t j = 0; i + j < n; ++j) y[i + j] = narrow[j];
    }
  } else {
    if constexpr (kStream && sizeof(T) == sizeof(MemoryT<D>))
      for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) hn::Stream(hn::LoadU(d, x + i), d, y + i);
    for (; i < n; ++i) y[i] = StoreOne<D>(x[i]);
  }
}
template <DType D> void Store(const void* in, void* out, std::size_t n) { StoreRun<D, false>(in, out, n); }
template <DType D> void StreamOut(const void* in, void* out, std::size_t n) { StoreRun<D, true>(in, out, n); }
/// To every second place. What lies between is not touched: another thread may write it.
template <class T> HWY_INLINE std::size_t StoreEverySecond(const T* x, T* y, std::size_t n) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN hn::TFromD<hn::RebindToSigned<decltype(d)>> twice[2 * hn::MaxLanes(d)];
  for (std::size_t j = 0; j < 2 * lanes; ++j) twice[j] = static_cast<std::remove_reference_t<decltype(*twice)>>(j / 2);
  const auto lower = hn::SetTableIndices(d, twice), upper = hn::SetTableIndices(d, twice + lanes);
  const auto even = hn::RebindMask(d, hn::Eq(hn::And(hn::Iota(du, 0), hn::Set(du, 1)), hn::Zero(du)));
  std::size_t i = 0;
  for (; i + lanes < n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    hn::BlendedStore(hn::TableLookupLanes(v, lower), even, d, y + 2 * i);
    hn::BlendedStore(hn::TableLookupLanes(v, upper), even, d, y + 2 * i + lanes);
  }
  return i;
}
template <DType D> void StoreStrided(const void* in, void* out, std::int64_t stride, std::size_t n) {
  const auto* x = static_cast<const CppType<WideType(D)>*>(in);
  auto* y = static_cast<MemoryT<D>*>(out);
  std::size_t i = 0;
  if constexpr (kWide && std::is_same_v<MemoryT<D>, CppType<WideType(D)>>)  // others would write what lies between
    if (stride == 2) i = StoreEverySecond(x, y, n);
  if constexpr (kNarrows<D>) {  // one by one 1.7 ns, which are mostly what finds NaN
    const hn::ScalableTag<float> d;
    HWY_ALIGN std::uint16_t narrow[hn::MaxLanes(d)];
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      hn::Store(Narrow<D>(d, hn::LoadU(d, x + i)), hn::Rebind<std::uint16_t, decltype(d)>(), narrow);
      for (std::size_t j = 0; j < hn::Lanes(d); ++j) y[static_cast<std::int64_t>(i + j) * stride] = narrow[j];
    }
  }
  for (; i < n; ++i) y[static_cast<std::int64_t>(i) * stride] = StoreOne<D>(x[i]);
}
template <class T> void Fill(const void* in, void* out, std::size_t n) {
  const T value = *static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) y[i] = value;
}

// ---- the table ----
template <Elementary L, int kArity> void AddElementary(KernelTable& t) {
  ElementaryFn* row = t.elementary[static_cast<int>(L)];
  row[0] = ElementaryKernel<L, kArity, ComputeType::f32>(), row[1] = ElementaryKernel<L, kArity, ComputeType::f64>();
  row[2] = ElementaryKernel<L, kArity, ComputeType::i32>(), row[3] = ElementaryKernel<L, kArity, ComputeType::u32>();
  row[4] = ElementaryKernel<L, kArity, ComputeType::i64>();
  t.fast[static_cast<int>(L)] = FastKernel<L, kArity>();
  ElementaryFn* bytes = t.predicates[static_cast<int>(L)];
  bytes[0] = PredicateKernel<L, kArity, ComputeType::f32>(), bytes[1] = PredicateKernel<L, kArity, ComputeType::f64>();
  bytes[2] = PredicateKernel<L, kArity, ComputeType::i32>(), bytes[3] = PredicateKernel<L, kArity, ComputeType::u32>();
  bytes[4] = PredicateKernel<L, kArity, ComputeType::i64>();
}
template <Elementary L, ComputeType type> constexpr JoinFn JoinKernel() {
  if constexpr (((SimdFunction<L>::kTypes >> static_cast<unsigned>(type)) & 1u) == 0) return nullptr;
  else return &JoinRows<SimdFunction<L>, CppType<type>>;
}
template <Elementary L, ComputeType type> constexpr GroupsFn GroupsKernel() {
  if constexpr (((SimdFunction<L>::kTypes >> static_cast<unsigned>(type)) & 1u) == 0) return nullptr;
  else return &ReduceGroups<SimdFunction<L>, CppType<type>>;
}
template <Elementary L, ComputeType type> void AddReduction(KernelTable& t) {
  t.reduce_rows[static_cast<int>(L)][static_cast<int>(type)] = ReduceKernel<L, type, true>();
  t.reduce_columns[static_cast<int>(L)][static_cast<int>(type)] = ReduceKernel<L, type, false>();
  t.reduce_groups[static_cast<int>(L)][static_cast<int>(type)] = GroupsKernel<L, type>();
  t.join_rows[static_cast<int>(L)][static_cast<int>(type)] = JoinKernel<L, type>();
}
template <Elementary L, DType D> void AddHalfReduction(KernelTable& t) {
  using S = SimdFunction<L>;
  using H = Half<D>;
  if constexpr (kNarrows<D> && (S::kTypes & 1u) != 0)
    t.reduce_half[static_cast<int>(L)][D == DType::bf16] = {&ReduceRows<S, float, H>, &ReduceColumns<S, float, H>,
                                                            &JoinRows<S, float, H>};
}
template <Elementary L> void AddReductions(KernelTable& t) {
  AddReduction<L, ComputeType::f32>(t), AddReduction<L, ComputeType::f64>(t), AddReduction<L, ComputeType::i32>(t);
  AddReduction<L, ComputeType::u32>(t), AddReduction<L, ComputeType::i64>(t);
  AddHalfReduction<L, DType::f16>(t), AddHalfReduction<L, DType::bf16>(t);
}
template <ComputeType From> void AddConversions(KernelTable& t) {
  BlockFn* row = t.convert[static_cast<int>(From)];
  row[0] = &Convert<CppType<From>, float>, row[1] = &Convert<CppType<From>, double>,
  row[2] = &Convert<CppType<From>, std::int32_t>;
  row[3] = &Convert<CppType<From>, std::uint32_t>, row[4] = &Convert<CppType<From>, std::int64_t>;
}
template <DType D> void AddMemory(KernelTable& t) {
  constexpr int i = static_cast<int>(D);
  t.load[i] = &Load<D>, t.store[i] = &Store<D>, t.stream[i] = &StreamOut<D>, t.load_strided[i] = &LoadStrided<D>,
  t.store_strided[i] = &StoreStrided<D>;
}
template <DType D> void AddNarrow(KernelTable& t) {
  t.wrap[static_cast<int>(ComputeType::i32)][static_cast<int>(D)] = &Wrap<D, false, std::int32_t>;
  t.clamp[static_cast<int>(ComputeType::i32)][static_cast<int>(D)] = &Wrap<D, true, std::int32_t>;
  t.saturate[static_cast<int>(D)] = &SaturateFloats<D>;
}
template <DType D> void AddHalf(KernelTable& t) {
  t.wrap[static_cast<int>(ComputeType::f32)][static_cast<int>(D)] = &Wrap<D, false, float>;
  t.wrap[static_cast<int>(ComputeType::f64)][static_cast<int>(D)] = &Wrap<D, false, double>;
}

/// Of the time, in turn, one thread, Zen 4, softmax, log_softmax, layer norm and variance in f32 and bf16, with masks:
/// rows of 16 0.85 to 0.98, 20 0.94 to 1.12, 31 0.85 and 0.88, 40 0.90 to 1.01, 64 0.84 to 0.96, 100 0.91 to 1.02, 201
/// 0.85 to 1.03, 256 0.78 to 0.88; softmax and layer norm with AVX2, where a rest goes through memory: 100 1.12
/// to 1.20, 128 0.77 to 0.89, 201 0.94 to 0.96.
inline constexpr std::int64_t kLoopRow = kWide ? 32 : 192;

template <class F> void AddKnown(KernelTable& t, KnownFunction function) {
  ElementaryFn* const row = t.known[static_cast<int>(function)];
  row[0] = &ElementaryLoop<F, 1, float>, row[1] = &ElementaryLoop<F, 1, double>;
}

void FillTable(KernelTable& t) {
  t.target = hwy::TargetName(HWY_TARGET);
  t.loop_row = kLoopRow;
  t.split_columns = &SplitColumns, t.join_columns = &JoinColumns;
  t.transpose[0] = &TransposeMatrix<std::int32_t>, t.transpose[1] = &TransposeMatrix<std::int64_t>;
  t.pairs = {.product = {&ProductsOfPairs<float, false>, &ProductsOfPairs<double, false>},
             .conjugate_product = {&ProductsOfPairs<float, true>, &ProductsOfPairs<double, true>},
             .quotient = {&QuotientsOfPairs<float>, &QuotientsOfPairs<double>},
             .modulus = {&ModuliOfPairs<float>, &ModuliOfPairs<double>}};
  t.logaddexp[0] = &ElementaryLoop<LogAddExp, 2, float>, t.logaddexp[1] = &ElementaryLoop<LogAddExp, 2, double>;
  AddKnown<AsinKernel>(t, KnownFunction::asin), AddKnown<AcosKernel>(t, KnownFunction::acos);
  AddKnown<SinhKernel>(t, KnownFunction::sinh), AddKnown<CoshKernel>(t, KnownFunction::cosh);
  AddKnown<AsinhKernel>(t, KnownFunction::asinh), AddKnown<AcoshKernel>(t, KnownFunction::acosh);
  AddKnown<AtanhKernel>(t, KnownFunction::atanh);
  FillPhilox(t.philox);
  AddCentredSquares<float>(t.centred_squares[0]), AddCentredSquares<double>(t.centred_squares[1]);
  AddProductSums<float>(t.product_sums[0]), AddProductSums<double>(t.product_sums[1]);
#define TERN_ELEMENTARY(name, arity) AddElementary<Elementary::name, arity>(t);
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_SLOPE(name, arity) AddElementary<Elementary::name, arity>(t);
#define TERN_ELEMENTARY_REDUCE(name) AddReductions<Elementary::name>(t);
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
  AddConversions<ComputeType::f32>(t), AddConversions<ComputeType::f64>(t), AddConversions<ComputeType::i32>(t),
      AddConversions<ComputeType::u32>(t), AddConversions<ComputeType::i64>(t);
  AddMemory<DType::boolean>(t), AddMemory<DType::u8>(t), AddMemory<DType::i8>(t), AddMemory<DType::i16>(t);
  AddMemory<DType::i32>(t), AddMemory<DType::u32>(t), AddMemory<DType::i64>(t), AddMemory<DType::f16>(t);
  AddMemory<DType::bf16>(t), AddMemory<DType::f32>(t), AddMemory<DType::f64>(t);
  AddNarrow<DType::boolean>(t), AddNarrow<DType::u8>(t), AddNarrow<DType::i8>(t), AddNarrow<DType::i16>(t);
  AddHalf<DType::f16>(t), AddHalf<DType::bf16>(t);
  AddNarrowLoops<std::uint8_t>(t, DType::u8), AddNarrowLoops<std::int8_t>(t, DType::i8);
  AddNarrowLoops<std::int16_t>(t, DType::i16);
  AddMoments<float>(t, ComputeType::f32), AddMoments<double>(t, ComputeType::f64);
  AddShortRows<float, float>(t, DType::f32), AddShortRows<double, double>(t, DType::f64);
  AddShortRows<float, Half<DType::f16>>(t, DType::f16), AddShortRows<float, Half<DType::bf16>>(t, DType::bf16);
  AddPlaces<float>(t, ComputeType::f32), AddPlaces<double>(t, ComputeType::f64);
  AddPlaces<std::int32_t>(t, ComputeType::i32), AddPlaces<std::uint32_t>(t, ComputeType::u32);
  AddPlaces<std::int64_t>(t, ComputeType::i64);
  AddScans<ComputeType::f32, float>(t), AddScans<ComputeType::f64, double>(t);
  AddScans<ComputeType::i32, std::int32_t>(t), AddScans<ComputeType::u32, std::uint32_t>(t);
  AddScans<ComputeType::i64, std::int64_t>(t);
  t.divide_by_number[0] = &DivideByNumber<float>, t.divide_by_number[1] = &DivideByNumber<double>;
  t.fill[0] = &Fill<float>, t.fill[1] = &Fill<double>, t.fill[2] = &Fill<std::int32_t>,
  t.fill[3] = &Fill<std::uint32_t>, t.fill[4] = &Fill<std::int64_t>;
  t.repeat[0] = &Repeat<std::uint32_t>, t.repeat[1] = &Repeat<std::uint64_t>, t.repeat_halves = &RepeatHalves;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
