// Building blocks of the elementary functions, for the target being compiled: error-free sums and products,
// polynomials, and the exponential, logarithm, sine and complementary error function that several elementary functions
// share. Part of elementary-inl.h (no include guard: once per target file). V is a float or double vector, T its lane
// type. (Longer than other files: these blocks call each other, and each says where its coefficients and bound come
// from.)
//
// All polynomial coefficients were fitted for this library with 90-digit arithmetic: least squares at Chebyshev nodes,
// reweighted towards the minimax error (Lawson), weighted by the error they make in the function's own relative error;
// then rounded one by one from the lowest power up, each time fitting the rest again. Beside each stands its error.
#include <cmath>

#include <hwy/highway.h>

#include "cpu/simd/huge_angles.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether hn::MulAdd rounds once. (The x86 targets before AVX2 have larger numbers than AVX2.)
#if (HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2) || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || \
    defined(HWY_DISABLE_BMI2_FMA)
inline constexpr bool kFusedMulAdd = false;
#else
inline constexpr bool kFusedMulAdd = true;
#endif

/// The layout of a float type, and constants that differ between the two.
template <class T> struct FloatTraits;
template <> struct FloatTraits<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kBias = 127;
  static constexpr Bits kMantissaMask = 0x007FFFFFu;
  static constexpr Bits kSqrtHalfBits = 0x3F3504F3u;            // the least m of a split 2^k·m
  static constexpr Bits kHighHalfMask = 0xFFFFF000u;            // keeps the upper 12 of 24 bits
  static constexpr float kRoundingMagic = 0x1.8p23f;            // x + this: x rounded to an integer, in the low bits
  static constexpr float kMinNormal = 0x1p-126f;
  static constexpr float kSubnormalScale = 0x1p25f, kSubnormalShift = 25;
  static constexpr float kLn2High = 0x1.62e4p-1f;               // 15 bits: its products with exponents are exact
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kExpLowest = -104.0f, kExpHighest = 89.0f;  // e^x is 0 below and inf above
};
template <> struct FloatTraits<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kBias = 1023;
  static constexpr Bits kMantissaMask = 0x000FFFFFFFFFFFFFu;
  static constexpr Bits kSqrtHalfBits = 0x3FE6A09E667F3BCDu;
  static constexpr Bits kHighHalfMask = 0xFFFFFFFFF8000000u;    // keeps the upper 26 of 53 bits
  static constexpr double kRoundingMagic = 0x1.8p52;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kSubnormalScale = 0x1p54, kSubnormalShift = 54;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;        // 42 bits
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kExpLowest = -746.0, kExpHighest = 710.0;
};
template <class D> using Traits = FloatTraits<hn::TFromD<D>>;
template <class D> using UnsignedOf = hn::Vec<hn::RebindToUnsigned<D>>;
template <class D> inline constexpr bool kSingle = sizeof(hn::TFromD<D>) == 4;

/// Whether the target multiplies by 2^n, rounding once, in one instruction, and estimates reciprocals to 2^-14.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
inline constexpr bool kWide = true;
HWY_INLINE hn::Vec512<float> ScaleOrZero(hn::Mask512<float> keep, hn::Vec512<float> v, hn::Vec512<float> n) {
  return hn::Vec512<float>{_mm512_maskz_scalef_ps(keep.raw, v.raw, n.raw)};
}
HWY_INLINE hn::Vec512<float> Scale(hn::Vec512<float> v, hn::Vec512<float> n) {
  return hn::Vec512<float>{_mm512_scalef_ps(v.raw, n.raw)};
}
HWY_INLINE hn::Vec512<double> ScaleOrZero(hn::Mask512<double> keep, hn::Vec512<double> v, hn::Vec512<double> n) {
  return hn::Vec512<double>{_mm512_maskz_scalef_pd(keep.raw, v.raw, n.raw)};
}
/// x = m·2^k with 1 <= m < 2 (f32) or 3/4 <= m < 3/2 (f64), where k is the Exponent, and one more where m < 1. Of 0 and
/// inf m is 1 (of -0 -1) and k -inf and inf; of x < 0 m is NaN.
HWY_INLINE hn::Vec512<float> Mantissa(hn::Vec512<float> x) {
  return hn::Vec512<float>{_mm512_getmant_ps(x.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan)};
}
HWY_INLINE hn::Vec512<double> Mantissa(hn::Vec512<double> x) {
  return hn::Vec512<double>{_mm512_getmant_pd(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
}
HWY_INLINE hn::Vec512<float> Exponent(hn::Vec512<float> x) { return hn::Vec512<float>{_mm512_getexp_ps(x.raw)}; }
HWY_INLINE hn::Vec512<double> Exponent(hn::Vec512<double> x) { return hn::Vec512<double>{_mm512_getexp_pd(x.raw)}; }
/// An element of a table for each lane; of `at` its last bits count.
HWY_INLINE hn::Vec512<float> LookUp(const float (&table)[32], hn::Vec512<std::int32_t> at) {
  return hn::Vec512<float>{_mm512_permutex2var_ps(_mm512_load_ps(table), at.raw, _mm512_load_ps(table + 16))};
}
HWY_INLINE hn::Vec512<float> LookUp(const float (&table)[32], hn::Vec512<float> at) {
  return LookUp(table, hn::Vec512<std::int32_t>{_mm512_castps_si512(at.raw)});
}
HWY_INLINE hn::Vec512<float> LookUp(const float (&table)[16], hn::Vec512<std::int32_t> at) {
  return hn::Vec512<float>{_mm512_permutexvar_ps(at.raw, _mm512_load_ps(table))};
}
HWY_INLINE hn::Vec512<double> LookUp(const double (&table)[16], hn::Vec512<std::uint64_t> at) {
  return hn::Vec512<double>{_mm512_permutex2var_pd(_mm512_load_pd(table), at.raw, _mm512_load_pd(table + 8))};
}
/// What a sum rounded down gives, and what is above the largest multiple of 1/32 that is not larger; of infinities 0.
HWY_INLINE hn::Vec512<float> AddDown(hn::Vec512<float> a, hn::Vec512<float> b) {
  return hn::Vec512<float>{_mm512_add_round_ps(a.raw, b.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
HWY_INLINE hn::Vec512<float> AboveParts32(hn::Vec512<float> x) {
  return hn::Vec512<float>{_mm512_reduce_ps(x.raw, 5 << 4 | _MM_FROUND_TO_NEG_INF)};
}
/// x, where its magnitude is larger the bound with x's sign; of NaN the bound.
HWY_INLINE hn::Vec512<float> Within(hn::Vec512<float> x, hn::Vec512<float> bound) {
  return hn::Vec512<float>{_mm512_range_ps(x.raw, bound.raw, 2)};
}
/// Where the mask is set c - a·b, b - a, a + b, else a, a and b; a·b + c where it is set, else 0.
HWY_INLINE hn::Vec512<float> NegMulAddWhere(hn::Mask512<float> where, hn::Vec512<float> a, hn::Vec512<float> b,
                                            hn::Vec512<float> c) {
  return hn::Vec512<float>{_mm512_mask_fnmadd_ps(a.raw, where.raw, b.raw, c.raw)};
}
HWY_INLINE hn::Vec512<float> SubFromWhere(hn::Mask512<float> where, hn::Vec512<float> a, hn::Vec512<float> b) {
  return hn::Vec512<float>{_mm512_mask_sub_ps(a.raw, where.raw, b.raw, a.raw)};
}
HWY_INLINE hn::Vec512<float> AddWhere(hn::Mask512<float> where, hn::Vec512<float> a, hn::Vec512<float> b) {
  return hn::Vec512<float>{_mm512_mask_add_ps(b.raw, where.raw, a.raw, b.raw)};
}
HWY_INLINE hn::Vec512<float> MulAddOrZero(hn::Mask512<float> where, hn::Vec512<float> a, hn::Vec512<float> b,
                                          hn::Vec512<float> c) {
  return hn::Vec512<float>{_mm512_maskz_fmadd_ps(where.raw, a.raw, b.raw, c.raw)};
}
/// !(a <= b), as one instruction.
HWY_INLINE hn::Mask512<float> NotLe(hn::Vec512<float> a, hn::Vec512<float> b) {
  return hn::Mask512<float>{_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_NLE_UQ)};
}
HWY_INLINE hn::Mask512<double> NotLe(hn::Vec512<double> a, hn::Vec512<double> b) {
  return hn::Mask512<double>{_mm512_cmp_pd_mask(a.raw, b.raw, _CMP_NLE_UQ)};
}
/// 1/sqrt(x) to 2^-14.
HWY_INLINE hn::Vec512<float> EstimatedRoot(hn::Vec512<float> x) { return hn::ApproximateReciprocalSqrt(x); }
HWY_INLINE hn::Vec512<double> EstimatedRoot(hn::Vec512<double> x) {
  return hn::Vec512<double>{_mm512_rsqrt14_pd(x.raw)};
}
#else
inline constexpr bool kWide = false;
#endif

/// Shorthand: the vector of one number, and of a bit pattern.
template <class D> HWY_INLINE hn::Vec<D> Num(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}
template <class D> HWY_INLINE UnsignedOf<D> Bits(D, typename Traits<D>::Bits bits) {
  return hn::Set(hn::RebindToUnsigned<D>(), bits);
}
template <class D, class V> HWY_INLINE UnsignedOf<D> ToBits(D, V x) {
  return hn::BitCast(hn::RebindToUnsigned<D>(), x);
}

/// min(x, bound) and max(x, bound) that keep a NaN in x: x86 returns the second argument of an unordered pair; Arm's
/// minnm would return the bound.
template <class D, class V> HWY_INLINE V AtMost(D d, V x, double bound) {
  const V limit = Num(d, bound);
  if constexpr (HWY_ARCH_X86) return hn::Min(limit, x);
  else return hn::IfThenElse(hn::Gt(x, limit), limit, x);
}
template <class D, class V> HWY_INLINE V AtLeast(D d, V x, double bound) {
  const V limit = Num(d, bound);
  if constexpr (HWY_ARCH_X86) return hn::Max(limit, x);
  else return hn::IfThenElse(hn::Lt(x, limit), limit, x);
}

/// c0 + c1·x + c2·x² + …, in two interleaved Horner chains (x2 = x²).
template <class D, class V> HWY_INLINE V PolynomialOf(D d, V, V, double c0) { return Num(d, c0); }
template <class D, class V> HWY_INLINE V PolynomialOf(D d, V x, V, double c0, double c1) {
  return hn::MulAdd(x, Num(d, c1), Num(d, c0));
}
template <class D, class V, class... C> HWY_INLINE V PolynomialOf(D d, V x, V x2, double c0, double c1, C... higher) {
  return hn::MulAdd(x2, PolynomialOf(d, x, x2, higher...), hn::MulAdd(x, Num(d, c1), Num(d, c0)));
}
template <class D, class V, class... C> HWY_INLINE V Polynomial(D d, V x, C... coefficients) {
  return PolynomialOf(d, x, hn::Mul(x, x), coefficients...);
}

/// The same in one chain, an instruction less: with many vectors under way that counts, and not how long one takes.
template <class D, class V> HWY_INLINE V Horner(D d, V, double c0) { return Num(d, c0); }
template <class D, class V, class... C> HWY_INLINE V Horner(D d, V x, double c0, C... higher) {
  return hn::MulAdd(x, Horner(d, x, higher...), Num(d, c0));
}

// --- numbers of twice the precision: hi + lo, |lo| at most half a unit of hi ---

template <class V> struct Pair { V hi, lo; };

/// a + b exactly, for |a| >= |b| or a = 0.
template <class V> HWY_INLINE Pair<V> FastTwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}
/// a + b exactly (Knuth).
template <class V> HWY_INLINE Pair<V> TwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V b_part = hn::Sub(sum, a);
  return {sum, hn::Add(hn::Sub(a, hn::Sub(sum, b_part)), hn::Sub(b, b_part))};
}
/// a·b exactly; without fused multiply-add by splitting both factors in halves (Dekker; f64 to within 2^-106).
template <class D, class V> HWY_INLINE Pair<V> TwoProduct(D d, V a, V b) {
  const V product = hn::Mul(a, b);
  if constexpr (kFusedMulAdd) {
    return {product, hn::MulSub(a, b, product)};
  } else {
    const V mask = hn::BitCast(d, Bits(d, Traits<D>::kHighHalfMask));
    const V ah = hn::And(a, mask), bh = hn::And(b, mask);
    const V al = hn::Sub(a, ah), bl = hn::Sub(b, bh);
    const V rest = hn::Add(hn::Add(hn::Sub(hn::Mul(ah, bh), product), hn::Mul(ah, bl)), hn::Mul(al, bh));
    return {product, hn::Add(rest, hn::Mul(al, bl))};
  }
}
/// c - a·b where that is representable.
template <class D, class V> HWY_INLINE V ExactNegMulAdd(D d, V a, V b, V c) {
  if constexpr (kFusedMulAdd) {
    return hn::NegMulAdd(a, b, c);
  } else {
    const Pair<V> product = TwoProduct(d, a, b);
    return hn::Sub(hn::Sub(c, product.hi), product.lo);
  }
}

/// a·b in nearly twice the precision.
template <class D, class V> HWY_INLINE Pair<V> Multiply(D d, const Pair<V>& a, const Pair<V>& b) {
  const Pair<V> product = TwoProduct(d, a.hi, b.hi);
  return {product.hi, hn::MulAdd(a.hi, b.lo, hn::MulAdd(a.lo, b.hi, product.lo))};
}
/// 1/x in nearly twice the precision.
template <class D, class V> HWY_INLINE Pair<V> Reciprocal(D d, const Pair<V>& x) {
  const V one = Num(d, 1);
  const V inverse = hn::Div(one, x.hi);
  const V remainder = hn::NegMulAdd(inverse, x.lo, ExactNegMulAdd(d, inverse, x.hi, one));
  return {inverse, hn::Mul(remainder, inverse)};
}
/// 1/x for 1 <= x <= 2 to 6%: for corrections of first order.
template <class D, class V> HWY_INLINE V RoughReciprocal(D d, V x) {
  return hn::NegMulAdd(Num(d, 0.47058824), x, Num(d, 1.4117647));
}

// --- exponential ---

/// e^x = 2^n·(1 + r + tail), |r| <= ln 2 / 2; `exponent` holds n + 2·bias in its low bits.
template <class D> struct ExpParts {
  UnsignedOf<D> exponent;
  hn::Vec<D> n, r, tail, polynomial;
};

/// (e^r - 1 - r)/r² for |r| <= 0.3475. Relative error of e^r - 1: f32 2^-26.1, f64 2^-61.5.
template <class D, class V> HWY_INLINE V ExpPolynomial(D d, V r) {
  if constexpr (kSingle<D>) {
    return Polynomial(d, r, 0.49999997f, 0.16666542f, 0.0416675f, 0.008366725f, 0.0013865138f);
  } else {
    return Polynomial(d, r, 0.5, 0.16666666666666677, 0.04166666666666661, 0.008333333333321397, 0.0013888888888923853,
                      0.00019841269886778013, 2.4801587237523398e-05, 2.7557243494322213e-06, 2.755735271327675e-07,
                      2.5109305998389805e-08, 2.0889634532979944e-09);
  }
}

/// The parts of e^(x + low), kExpLowest <= x <= kExpHighest, |low| at most a few units of x.
template <class D, class V> HWY_INLINE ExpParts<D> SplitExp(D d, V x, V low) {
  using R = Traits<D>;
  const V magic = Num(d, R::kRoundingMagic + 2 * static_cast<int>(R::kBias));
  const V rounded = hn::MulAdd(x, Num(d, 1.4426950408889634), magic);
  const V n = hn::Sub(rounded, magic);
  const V coarse = hn::NegMulAdd(n, Num(d, R::kLn2High), x);  // exact
  const V fine = hn::NegMulAdd(n, Num(d, R::kLn2Low), low);
  const V r = hn::Add(coarse, fine);
  const V lost = hn::Sub(fine, hn::Sub(r, coarse));
  const V polynomial = ExpPolynomial(d, r);
  return {ToBits(d, rounded), n, r, hn::MulAdd(hn::Mul(r, r), polynomial, lost), polynomial};
}
/// Those of e^x, the tail without what r lost in rounding; of any x but infinities.
template <class D, class V> HWY_INLINE ExpParts<D> SplitExp(D d, V x) {
  using R = Traits<D>;
  const V magic = Num(d, R::kRoundingMagic + 2 * static_cast<int>(R::kBias));
  const V rounded = hn::MulAdd(x, Num(d, 1.4426950408889634), magic);
  const V n = hn::Sub(rounded, magic);
  const V r = hn::NegMulAdd(n, Num(d, R::kLn2Low), hn::NegMulAdd(n, Num(d, R::kLn2High), x));
  const V polynomial = ExpPolynomial(d, r);
  return {ToBits(d, rounded), n, r, hn::Mul(hn::Mul(r, r), polynomial), polynomial};
}

/// 2^(n + shift), -bias < n + shift <= bias.
template <class D> HWY_INLINE hn::Vec<D> PowerOfTwo(D d, UnsignedOf<D> exponent, int shift) {
  using R = Traits<D>;
  const auto bias = Bits(d, static_cast<typename R::Bits>(shift - static_cast<int>(R::kBias)) << R::kMantissaBits);
  return hn::BitCast(d, hn::Add(hn::ShiftLeft<R::kMantissaBits>(exponent), bias));
}

/// Where e^x is 0, for ScaleUnless; kWide: where it is not.
template <class D, class V> HWY_INLINE auto Vanishing(D d, V x) {
  if constexpr (kWide) return NotLe(x, hn::Set(d, Traits<D>::kExpLowest));
  else return hn::Le(x, hn::Set(d, Traits<D>::kExpLowest));
}
/// v·2^n, or 0 where it vanishes, whatever v and n are there. Without an instruction for it by two factors, so that
/// neither overflows and a subnormal result is rounded once. An underflow costs a hundred cycles, and masked attention
/// scores are -inf: where the result is 0 it is made, not computed.
template <class D, class V, class M> HWY_INLINE V ScaleUnless(D d, M vanishing, V v, const ExpParts<D>& e) {
  if constexpr (kWide) {
    return ScaleOrZero(vanishing, v, e.n);
  } else {
    constexpr int kBits = Traits<D>::kMantissaBits;
    const auto first = hn::ShiftLeft<kBits>(hn::ShiftRight<1>(e.exponent));
    const auto second = hn::Sub(hn::ShiftLeft<kBits>(e.exponent), first);
    return hn::Mul(hn::Mul(hn::IfThenZeroElse(vanishing, v), hn::BitCast(d, first)), hn::BitCast(d, second));
  }
}
/// x where e^x does not vanish, for SplitExp: ScaleUnless of two factors multiplies by them everywhere.
template <class D, class V> HWY_INLINE V NotTooLow(D d, V x) {
  if constexpr (kWide) return x;
  else return AtLeast(d, x, Traits<D>::kExpLowest);
}

/// e^x for x <= kExpHighest or NaN.
template <class D, class V> HWY_INLINE V ExpUpTo(D d, V x) {
  const ExpParts<D> e = SplitExp(d, NotTooLow(d, x));
  const V expm1 = hn::MulAdd(hn::Mul(e.r, e.r), e.polynomial, e.r);
  return ScaleUnless(d, Vanishing(d, x), hn::Add(Num(d, 1), expm1), e);
}

/// The same with what e^x lost in rounding, for functions that magnify the error.
template <class D, class V> HWY_INLINE Pair<V> ExpPairUpTo(D d, V x) {
  const ExpParts<D> e = SplitExp(d, AtLeast(d, x, Traits<D>::kExpLowest), hn::Zero(d));
  const Pair<V> head = FastTwoSum(Num(d, 1), e.r);
  const Pair<V> value = FastTwoSum(head.hi, hn::Add(head.lo, e.tail));
  const auto vanishing = Vanishing(d, x);
  return {ScaleUnless(d, vanishing, value.hi, e), ScaleUnless(d, vanishing, value.lo, e)};
}

/// (e^x - 1)·2^shift for e = SplitExp(x), with n + shift within the exponent range.
template <class D> HWY_INLINE Pair<hn::Vec<D>> ScaledExpm1(D d, const ExpParts<D>& e, int shift) {
  using V = hn::Vec<D>;
  const V power = PowerOfTwo(d, e.exponent, shift);
  const V unit = PowerOfTwo(d, Bits(d, 2 * Traits<D>::kBias), shift);
  const Pair<V> head = FastTwoSum(hn::Sub(power, unit), hn::Mul(power, e.r));
  return FastTwoSum(head.hi, hn::MulAdd(power, e.tail, head.lo));
}

// --- logarithm ---

/// x = 2^k·(1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
template <class D> struct LogParts { hn::Vec<D> k, f; };

/// The same for positive normal x, as bits: those of x moved so that the exponent field steps at sqrt(1/2).
template <class D> HWY_INLINE UnsignedOf<D> MovedBits(D d, hn::Vec<D> x) {
  using R = Traits<D>;
  return hn::Add(ToBits(d, x), Bits(d, (R::kBias << R::kMantissaBits) - R::kSqrtHalfBits));
}
template <class D> HWY_INLINE LogParts<D> PartsOfMoved(D d, UnsignedOf<D> moved, hn::Vec<D> extra_bias) {
  using R = Traits<D>;
  constexpr hn::TFromD<D> kTwoToMantissa = static_cast<hn::TFromD<D>>(R::kMantissaMask + 1);
  const auto field = hn::ShiftRight<R::kMantissaBits>(moved);
  const auto as_float = hn::BitCast(d, hn::Or(field, ToBits(d, hn::Set(d, kTwoToMantissa))));  // the sum
  const auto mantissa = hn::Add(hn::And(moved, Bits(d, R::kMantissaMask)), Bits(d, R::kSqrtHalfBits));
  return {hn::Sub(as_float, hn::Add(hn::Set(d, kTwoToMantissa + R::kBias), extra_bias)),
          hn::Sub(hn::BitCast(d, mantissa), Num(d, 1))};
}

/// The parts of any finite x > 0.
template <class D, class V> HWY_INLINE LogParts<D> SplitLog(D d, V x) {
  using R = Traits<D>;
  const auto subnormal = hn::Lt(x, hn::Set(d, R::kMinNormal));
  const V normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, R::kSubnormalScale)), x);
  return PartsOfMoved(d, MovedBits(d, normal), hn::IfThenElseZero(subnormal, hn::Set(d, R::kSubnormalShift)));
}

/// log(1 + f) - f. Error in log(1 + f): f32 2^-27.3, f64 2^-59.5.
/// f32: f²·(-1/2 + f·Q(f)). f64: with s = f/(2 + f), log(1 + f) = 2s + s·z·W(z), z = s², and 2s = f - f²/2 + s·f²/2.
template <class D, class V> HWY_INLINE V LogTail(D d, V f, V add) {
  const V f2 = hn::Mul(f, f);
  if constexpr (kSingle<D>) {
    const V q = Polynomial(d, f, 0.3333333f, -0.25000823f, 0.20001243f, -0.16623321f, 0.14201511f, -0.13160315f,
                           0.12762855f, -0.076354176f);
    return hn::MulAdd(f2, hn::MulAdd(f, q, Num(d, -0.5)), add);
  } else {
    const V s = hn::Div(f, hn::Add(Num(d, 2), f));
    const V z = hn::Mul(s, s);
    const V half = hn::Mul(Num(d, 0.5), f2);
    const V w = Polynomial(d, z, 0.6666666666666734, 0.3999999999941664, 0.2857142874203517, 0.22222198603450163,
                           0.18183562981872123, 0.15314080324997228, 0.14795689805034154);
    return hn::Sub(hn::MulAdd(s, hn::MulAdd(z, w, half), add), half);
  }
}

/// log(2^k·(1 + f)).
template <class D> HWY_INLINE hn::Vec<D> LogOfParts(D d, const LogParts<D>& p) {
  const auto tail = LogTail(d, p.f, hn::Mul(p.k, Num(d, Traits<D>::kLn2Low)));
  return hn::MulAdd(p.k, Num(d, Traits<D>::kLn2High), hn::Add(p.f, tail));
}

/// log(1 + x) for finite x > -1: the rounding error of 1 + x is added to f. Tiny x is the result (no slow underflow).
template <class D, class V> HWY_INLINE V Log1pInRange(D d, V x) {
  using R = Traits<D>;
  const V one = Num(d, 1);
  const auto tiny = hn::Lt(hn::Abs(x), Num(d, kSingle<D> ? 0x1p-25 : 0x1p-54));
  const V plain = hn::IfThenZeroElse(tiny, x);
  const Pair<V> sum = FastTwoSum(hn::Max(one, plain), hn::Min(one, plain));
  const auto moved = MovedBits(d, sum.hi);
  LogParts<D> p = PartsOfMoved(d, moved, hn::Zero(d));
  const auto power = hn::AndNot(Bits(d, R::kMantissaMask), moved);
  const auto inverse = hn::Sub(Bits(d, (2 * R::kBias + 1) << R::kMantissaBits), power);  // 2^(1-k): 0 for the largest k
  p.f = hn::MulAdd(hn::Mul(Num(d, 0.5), sum.lo), hn::BitCast(d, inverse), p.f);
  return hn::IfThenElse(tiny, x, LogOfParts(d, p));
}

/// The same for 0 <= x <= 1: beyond sqrt(2) - 1 k is 1 and f half of x - 1, and nothing is rounded.
template <class D, class V> HWY_INLINE V Log1pOfShare(D d, V x) {
  using R = Traits<D>;
  const auto doubled = hn::Gt(x, Num(d, 0.41421356237309503));
  const auto tiny = hn::Lt(x, Num(d, kSingle<D> ? 0x1p-25 : 0x1p-54));
  const V half = Num(d, 0.5), f = hn::IfThenElse(doubled, hn::MulSub(x, half, half), x);
  const V tail = LogTail(d, hn::IfThenZeroElse(tiny, f), hn::IfThenElseZero(doubled, Num(d, R::kLn2Low)));
  return hn::Add(hn::IfThenElseZero(doubled, Num(d, R::kLn2High)), hn::Add(f, tail));
}

/// ((log(1 + f)/s - 2)/z - 2/3)/z with z = s², s = f/(2 + f). Error in log(1 + f): f32 2^-36.8, f64 2^-73.5.
template <class D, class V> HWY_INLINE V PairLogSeries(D d, V z) {
  if constexpr (kSingle<D>) {
    return Polynomial(d, z, 0.40000153f, 0.28547096f, 0.2341939f);
  } else {
    return Polynomial(d, z, 0.3999999999999998, 0.2857142857144379, 0.22222222217807144, 0.18181818841587347,
                      0.15384558598744885, 0.13336257955550007, 0.1167591095003232, 0.11980700783437967);
  }
}

/// s = f/(2 + f) in twice the precision, from one division.
template <class D, class V> HWY_INLINE Pair<V> LogQuotient(D d, V f) {
  const Pair<V> below = FastTwoSum(Num(d, 2), f);
  const V inverse = hn::Div(Num(d, 1), below.hi);
  const V s = hn::Mul(f, inverse);
  const V remainder = hn::NegMulAdd(s, below.lo, ExactNegMulAdd(d, s, below.hi, f));
  return {s, hn::Mul(remainder, inverse)};
}

/// log(x) in nearly twice the precision, for finite x > 0: log(1 + f) = 2s + s·z·(2/3 + z·Q(z)), own fit.
template <class D, class V> HWY_INLINE Pair<V> PairLog(D d, V x) {
  const LogParts<D> p = SplitLog(d, x);
  const Pair<V> s = LogQuotient(d, p.f);
  Pair<V> z = TwoProduct(d, s.hi, s.hi);
  z.lo = hn::MulAdd(hn::Add(s.hi, s.hi), s.lo, z.lo);
  const Pair<V> two_thirds = {Num(d, kSingle<D> ? 0x1.555556p-1 : 0x1.5555555555555p-1),
                              Num(d, kSingle<D> ? -0x1.555556p-26 : 0x1.5555555555555p-55)};
  Pair<V> a = FastTwoSum(two_thirds.hi, hn::Mul(z.hi, PairLogSeries(d, z.hi)));
  a.lo = hn::Add(a.lo, two_thirds.lo);
  const Pair<V> b = Multiply(d, z, a);
  Pair<V> c = FastTwoSum(Num(d, 2), b.hi);
  c.lo = hn::Add(c.lo, b.lo);
  const Pair<V> log = Multiply(d, s, c);
  const Pair<V> sum = FastTwoSum(hn::Mul(p.k, Num(d, Traits<D>::kLn2High)), log.hi);
  const V low = hn::Add(sum.lo, hn::MulAdd(p.k, Num(d, Traits<D>::kLn2Low), log.lo));
  return FastTwoSum(sum.hi, low);
}

/// log(x)·factor, rounded once, for any x.
template <class D, class V> HWY_INLINE V LogScaled(D d, V x, const Pair<V>& factor) {
  const V inf = hn::Inf(d), zero = hn::Zero(d);
  const V outside = hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), x));
  const auto inside = hn::And(hn::Gt(x, zero), hn::Lt(x, inf));
  const Pair<V> log = Multiply(d, PairLog(d, hn::IfThenElse(inside, x, Num(d, 1))), factor);
  return hn::IfThenElse(inside, hn::Add(log.hi, log.lo), outside);
}

/// log2(x) of f32, for any x: k + (f + tail)·(1/ln 2). (kWide: TableOfLog2.)
template <class D, class V> HWY_INLINE V Log2Single(D d, V x) {
  const V inf = hn::Inf(d), zero = hn::Zero(d), high = Num(d, 0x1.715476p+0), low = Num(d, 0x1.4ae0cp-26);
  const V outside = hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), x));
  const auto inside = hn::And(hn::Gt(x, zero), hn::Lt(x, inf));
  const LogParts<D> p = SplitLog(d, x);
  const V rest = hn::MulAdd(LogTail(d, p.f, zero), high, hn::Mul(p.f, low));
  return hn::IfThenElse(inside, hn::Add(p.k, hn::MulAdd(p.f, high, rest)), outside);
}

// --- sine and cosine ---

/// Up to here pi/2 in three parts leaves the reduced argument accurate.
template <class T> inline constexpr T kTrigFast = sizeof(T) == 4 ? T(0x1p15) : T(0x1p30);

enum class Trig { sine, cosine, tangent };

/// The sine, cosine or tangent of 0 <= x <= 2^30 that is an f32: pi/2 in three parts, the first two of which times
/// n are exact, and series within 1e-13, which is far below what the rounding to f32 drops (huge_angles.cpp has it
/// by lanes).
template <Trig kWhich, class D, class V> HWY_INLINE V TrigInDouble(D d, V x) {
  const V magic = hn::Set(d, 0x1.8p52);
  const V rounded = hn::MulAdd(x, hn::Set(d, 0x1.45f306dc9c883p-1), magic), n = hn::Sub(rounded, magic);
  const V r = hn::NegMulAdd(n, hn::Set(d, 0x1.18469898cc517p-44),
                            hn::NegMulAdd(n, hn::Set(d, 0x1.5110b00000000p-22),
                                          hn::NegMulAdd(n, hn::Set(d, 0x1.921fb00000000p+0), x)));
  const V z = hn::Mul(r, r);
  const V sine = hn::MulAdd(hn::Mul(r, z), Polynomial(d, z, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800,
                                                      1. / 6227020800),
                            r);
  const V cosine = hn::MulAdd(z, Polynomial(d, z, -1. / 2, 1. / 24, -1. / 720, 1. / 40320, -1. / 3628800,
                                            1. / 479001600, -1. / 87178291200),
                              hn::Set(d, 1.0));
  const auto quadrant = hn::Add(ToBits(d, rounded), Bits(d, kWhich == Trig::cosine ? 1 : 0));
  const auto odd = hn::RebindMask(d, hn::TestBit(quadrant, Bits(d, 1)));
  if constexpr (kWhich == Trig::tangent)
    return hn::Div(hn::IfThenElse(odd, hn::Neg(cosine), sine), hn::IfThenElse(odd, sine, cosine));
  const auto sign = hn::ShiftLeft<63>(hn::ShiftRight<1>(quadrant));
  return hn::Xor(hn::IfThenElse(odd, cosine, sine), hn::BitCast(d, sign));
}

/// That of x where |x| is above kTrigFast or NaN, else y: f32 up to 2^30 in vectors of f64, what is larger one lane
/// at a time.
template <Trig kWhich, class D, class V> HWY_NOINLINE V TrigFallback(D d, V x, V y) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 4 && hn::MaxLanes(D()) >= 4) {
    const V magnitude = hn::Abs(x);
    if (hn::AllTrue(d, hn::Le(magnitude, hn::Set(d, 0x1p30f)))) {
      const hn::RepartitionToWide<D> wide;
      const hn::Half<D> half;
      const auto low = TrigInDouble<kWhich>(wide, hn::PromoteTo(wide, hn::LowerHalf(half, magnitude)));
      const auto high = TrigInDouble<kWhich>(wide, hn::PromoteTo(wide, hn::UpperHalf(half, magnitude)));
      V z = hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
      if constexpr (kWhich != Trig::cosine) z = hn::Xor(z, hn::And(x, hn::SignBit(d)));
      return hn::IfThenElse(hn::Le(magnitude, hn::Set(d, kTrigFast<T>)), y, z);
    }
  }
  constexpr auto kFunction = kWhich == Trig::sine     ? &sine_of_huge
                             : kWhich == Trig::cosine ? &cosine_of_huge
                                                      : &tangent_of_huge;
  HWY_ALIGN T xs[hn::MaxLanes(D())];
  HWY_ALIGN T ys[hn::MaxLanes(D())];
  hn::Store(x, d, xs);
  hn::Store(y, d, ys);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    const T magnitude = xs[i] < 0 ? -xs[i] : xs[i];
    if (!(magnitude <= kTrigFast<T>)) ys[i] = static_cast<T>(kFunction(static_cast<double>(xs[i])));
  }
  return hn::Load(d, ys);
}

/// x = n·pi/2 + r.hi + r.lo, |r.hi| <= pi/4 and a little; n in the low bits of `quadrant`; 0 <= x <= kTrigFast.
template <class D> struct Angle {
  UnsignedOf<D> quadrant;
  Pair<hn::Vec<D>> r;
};
template <class D, class V> HWY_INLINE Angle<D> ReduceAngle(D d, V x) {
  constexpr double kFirst = kSingle<D> ? 0x1.921fb6p0 : 0x1.921fb54442d18p0;
  constexpr double kSecond = kSingle<D> ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54;
  constexpr double kThird = kSingle<D> ? -0x1.ee59dap-50 : -0x1.f1976b7ed8fbcp-110;
  const V magic = hn::Set(d, Traits<D>::kRoundingMagic);
  const V rounded = hn::MulAdd(x, Num(d, 0.6366197723675814), magic);
  const V n = hn::Sub(rounded, magic);
  const V coarse = ExactNegMulAdd(d, n, Num(d, kFirst), x);
  if constexpr (kFusedMulAdd) {  // 9 operations instead of 17
    const V r = hn::NegMulAdd(n, Num(d, kSecond), coarse), lost = hn::NegMulAdd(n, Num(d, kSecond), hn::Sub(coarse, r));
    // What r lost is exact from 2^-11 (f64: 2^-25) on. Below it is left out: at most half a unit of r.
    const auto exact = hn::Ge(hn::Mul(r, r), Num(d, kSingle<D> ? 0x1p-22 : 0x1p-50));
    return {ToBits(d, rounded), {r, hn::NegMulAdd(n, Num(d, kThird), hn::IfThenElseZero(exact, lost))}};
  }
  const Pair<V> second = TwoProduct(d, n, Num(d, kSecond));
  const Pair<V> difference = TwoSum(coarse, hn::Neg(second.hi));
  const V rest = hn::NegMulAdd(n, Num(d, kThird), hn::Sub(difference.lo, second.lo));
  return {ToBits(d, rounded), FastTwoSum(difference.hi, rest)};
}

/// sin(r) and cos(r) for |r| <= 0.8. Errors: f32 2^-27.7 and 2^-32.6, f64 2^-57.9 and 2^-63.9 (f64: |r| <= 0.7855).
template <class D, class V> HWY_INLINE void SinCosReduced(D d, const Pair<V>& r, V& sine, V& cosine) {
  const V one = Num(d, 1);
  const V z = hn::Mul(r.hi, r.hi);
  const V half = hn::Mul(Num(d, 0.5), z);
  const V head = hn::Sub(one, half);
  const V lost = hn::Sub(hn::Sub(one, head), half);
  V s, c;
  if constexpr (kSingle<D>) {
    s = Polynomial(d, z, -0.16666654f, 0.008332096f, -0.00019505699f);
    c = Polynomial(d, z, 0.04166664f, -0.0013887141f, 2.4414061e-05f);
  } else {
    s = Polynomial(d, z, -0.1666666666666663, 0.008333333333321917, -0.00019841269829456664, 2.7557313581572607e-06,
                   -2.505074221084539e-08, 1.589593734977563e-10);
    c = Polynomial(d, z, 0.041666666666666595, -0.001388888888887335, 2.480158728900958e-05, -2.75573142193766e-07,
                   2.0875705708736354e-09, -1.1358764438609347e-11);
  }
  sine = hn::Add(r.hi, hn::MulAdd(hn::Mul(r.hi, z), s, hn::Mul(r.lo, head)));
  cosine = hn::Add(head, hn::MulAdd(hn::Mul(z, z), c, hn::NegMulAdd(r.hi, r.lo, lost)));
}

/// sin(x + quarter_turns·pi/2) for 0 <= x <= kTrigFast.
template <class D, class V> HWY_INLINE V SinShifted(D d, V x, unsigned quarter_turns) {
  constexpr int kSignBit = sizeof(hn::TFromD<D>) * 8 - 1;
  const Angle<D> angle = ReduceAngle(d, x);
  V sine, cosine;
  SinCosReduced(d, angle.r, sine, cosine);
  const auto quadrant = hn::Add(angle.quadrant, Bits(d, quarter_turns));
  const auto odd = hn::RebindMask(d, hn::TestBit(quadrant, Bits(d, 1)));
  const auto sign = hn::ShiftLeft<kSignBit>(hn::ShiftRight<1>(quadrant));
  return hn::Xor(hn::IfThenElse(odd, cosine, sine), hn::BitCast(d, sign));
}

// --- arc tangent ---

/// The angle of the point (b, a) for a, b >= 0 or NaN, of (-b, a) where `mirrored`. Below pi/8, above 3/8 pi and
/// between the tangent is that of an angle from 0, pi/2 or pi/4: t = a/b, -b/a or (a - b)/(a + b), |t| <= tan(pi/8).
/// atan(t) = t + t·z·P(z), z = t²: f32 2^-30.4, f64 2^-59.4. pi/4 in two parts, the first of which times 3 is exact.
template <class D, class V, class M> HWY_INLINE V AngleOf(D d, V a, V b, M mirrored) {
  const V zero = hn::Zero(d), one = Num(d, 1);
  const auto low = hn::Lt(a, hn::Mul(Num(d, 0.41421356), b)), high = hn::Gt(a, hn::Mul(Num(d, 2.4142136), b));
  const V top = hn::IfThenElse(low, a, hn::IfThenElse(high, hn::Neg(b), hn::Sub(a, b)));
  const V below = hn::IfThenElse(low, b, hn::IfThenElse(high, a, hn::Add(a, b)));
  const V quarters = hn::IfThenElse(low, zero, hn::IfThenElse(high, Num(d, 2), one));
  const V t = hn::Div(top, below), z = hn::Mul(t, t);
  V p;
  if constexpr (kSingle<D>) {
    p = Polynomial(d, z, -0.333333164f, 0.199985266f, -0.142443478f, 0.105987765f, -0.0608892404f);
  } else {
    p = Polynomial(d, z, -0.333333333333332, 0.1999999999995359, -0.14285714280186101, 0.11111110782624986,
                   -0.09090897728061623, 0.07692059619588891, -0.06663096735793768, 0.058478331260939626,
                   -0.05039041297941361, 0.03805766398279237, -0.017899478767278088);
  }
  const V turned = hn::IfThenElse(mirrored, hn::Sub(Num(d, 4), quarters), quarters);
  const V sign = hn::IfThenElseZero(mirrored, hn::SignBit(d));
  const V high_part = hn::Mul(turned, Num(d, kSingle<D> ? 0x1.921fbp-1 : 0x1.921fb54442d18p-1));
  const V low_part = hn::Mul(turned, Num(d, kSingle<D> ? 0x1.5110b4p-23 : 0x1.1a62633145c07p-55));
  const V tail = hn::MulAdd(hn::Mul(hn::Xor(t, sign), z), p, low_part);
  return hn::Add(high_part, hn::Add(hn::Xor(t, sign), tail));
}

// --- error functions ---

/// erf(x)/x - 1 as a polynomial of z = x² <= 1. Error in erf(x): f32 2^-29.3, f64 2^-56.3.
template <class D, class V> HWY_INLINE V ErfPolynomial(D d, V z) {
  if constexpr (kSingle<D>) {
    return Polynomial(d, z, 0.12837917f, -0.37612626f, 0.11283583f, -0.026853692f, 0.005188074f, -0.0008007878f,
                      7.846108e-05f);
  } else {
    return Polynomial(d, z, 0.1283791670955126, -0.37612638903183876, 0.11283791670958747, -0.026866170645620805,
                      0.005223977629110918, -0.0008548327190593169, 0.00012055337816437729, -1.492573947475834e-05,
                      1.6463103111191172e-06, -1.637081109349503e-07, 1.478772248349494e-08, -1.1835150029020237e-09,
                      6.692549430617198e-11);
  }
}

/// e^(x²)·erfc(x)·(x + c) as a polynomial of t = (x - c)/(x + c), after Shepherd and Laframboise (1981); c is where
/// the value at t = 0 is nearly a machine number. f32: 0.75 <= x <= 10.1, 2^-29.0; f64: 0.75 <= x <= 27.25, 2^-58.3.
template <class D, class V> HWY_INLINE Pair<V> ErfcxPolynomial(D d, V t) {
  V higher;
  if constexpr (kSingle<D>) {
    higher = Polynomial(d, t, 0.43673244f, -0.15574244f, 0.020353513f, 0.009915481f, -0.0041065766f,
                        -0.0007590933f, 0.00058922195f);
  } else {
    higher = Polynomial(d, t, 0.7139490001238296, -0.4608819731695667, 0.2500300185207507,
                        -0.10988520513898925, 0.036116660690375675, -0.0068592468676422266, -0.0005789925032009563,
                        0.0008506431164642593, -0.00018156890315854275, -5.154867249758743e-05, 3.248210605812312e-05,
                        1.0133718349803784e-06, -4.496301197260656e-06, 3.375364462961549e-07, 6.248734034033753e-07,
                        -8.309211171072022e-08, -8.471237429692404e-08, 1.1898995395136019e-08,
                        7.0724265392739174e-09);
  }
  const Pair<V> slope = FastTwoSum(Num(d, kSingle<D> ? -0.7940206f : -0.9477197819708687), hn::Mul(t, higher));
  const Pair<V> rise = TwoProduct(d, t, slope.hi);
  const Pair<V> sum = FastTwoSum(Num(d, kSingle<D> ? 1.0512308f : 1.0893717655876112), rise.hi);
  return {sum.hi, hn::Add(sum.lo, hn::MulAdd(t, slope.lo, rise.lo))};
}

/// erfc(x) for x >= 0.75 or NaN: e^(-x²), x² in two parts, times the polynomial over x + c; 0 from where that rounds to
/// 0 (without the slow underflow). All factors are carried in twice the precision: the result is rounded once.
template <class D, class V> HWY_INLINE V ErfcFar(D d, V x) {
  constexpr double kCentre = kSingle<D> ? 2.4453125 : 3.61328125, kLargest = kSingle<D> ? 10.06 : 27.23;
  const V bounded = AtMost(d, x, kLargest);
  const V centre = Num(d, kCentre);
  const Pair<V> inverse = Reciprocal(d, TwoSum(bounded, centre));
  const V below = hn::Sub(bounded, centre);
  const Pair<V> p = ErfcxPolynomial(d, hn::MulAdd(below, inverse.hi, hn::Mul(below, inverse.lo)));
  const Pair<V> erfcx = Multiply(d, p, inverse);
  const Pair<V> square = TwoProduct(d, bounded, bounded);
  const ExpParts<D> e = SplitExp(d, hn::Neg(square.hi), hn::Neg(square.lo));
  Pair<V> power = FastTwoSum(Num(d, 1), e.r);
  power.lo = hn::Add(power.lo, e.tail);
  const Pair<V> product = Multiply(d, erfcx, power);
  const V result = hn::IfThenZeroElse(hn::Ge(x, Num(d, kLargest)), hn::Add(product.hi, product.lo));
  return ScaleUnless(d, Vanishing(d, hn::Neg(square.hi)), result, e);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
