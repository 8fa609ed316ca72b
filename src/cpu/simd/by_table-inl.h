// Logarithms of f32 by tables, roots and reciprocals by estimates, for targets with kWide: what several elementary
// functions share. Stands after math-inl.h, whose header says how coefficients were fitted. (No include guard: once per
// target file.)
#include <hwy/highway.h>

#include "cpu/simd/math-inl.h"
HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sqrt(z) for finite z within 0.6 units of f32, NaN below 0. With kWide from an estimate: a root takes 12 cycles a
/// vector there, this 4.
template <class D, class V> HWY_INLINE V NearSqrt(D d, V z) {
  if constexpr (kWide && kSingle<D>) {
    const V estimate = hn::IfThenZeroElse(hn::Eq(z, hn::Zero(d)), hn::ApproximateReciprocalSqrt(z));
    const V root = hn::Mul(z, estimate), half = hn::Mul(estimate, Num(d, 0.5));
    return hn::MulAdd(root, hn::NegMulAdd(root, half, Num(d, 0.5)), root);
  } else {
    return hn::Sqrt(z);
  }
}
/// 1/x of f32 within 0.6 units, for x > 0 whose reciprocal is a normal number.
template <class D, class V> HWY_INLINE V NearReciprocal(D d, V x) {
  const V estimate = hn::ApproximateReciprocal(x);
  return hn::MulAdd(estimate, hn::NegMulAdd(estimate, x, Num(d, 1)), estimate);
}

/// x = 2^k·m with 3/4 <= m < 3/2, of which 32 intervals, 1 between two of them, have a factor that takes m to 1 + z,
/// -0.021 <= z <= 1/32.
template <class D> struct TableParts {
  hn::Vec<D> m, k;
  hn::Vec<hn::RebindToSigned<D>> interval;
};
template <class D, class V> HWY_INLINE TableParts<D> SplitForTable(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V m = MantissaAroundOne(x), one = Num(d, 1);
  const V k = hn::Add(Exponent(x), hn::IfThenElseZero(hn::Lt(m, one), one));
  return {m, k, hn::BitCast(di, hn::ShiftRight<18>(ToBits(d, m)))};
}

/// (log(1 + z) - z)/z² for such z, within 2^-26.9 of log(1 + z).
template <class D, class V> HWY_INLINE V LogTailOfSmall(D d, V z) {
  return hn::MulAdd(z, hn::MulAdd(z, Num(d, -0.24401903f), Num(d, 0.33336657f)), Num(d, -0.5000012f));
}

/// log2(x) of any f32, with log2's edges: k + log2(c) + log2(1 + z). c are numbers whose logarithm is nearly an f32.
struct TableOfLog2 {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const TableParts<D> p = SplitForTable(d, x);
    const V z = hn::MulSub(p.m, LookUp(kFactors, p.interval), Num(d, 1));
    const V base = hn::Add(p.k, LookUp(kLogarithms, p.interval));
    V tail = hn::MulAdd(z, Num(d, -0.35202983f), Num(d, 0.48095316f));  // of log2(1 + z)/z - 1.442695: 2^-26.5
    tail = hn::MulAdd(z, hn::MulAdd(z, tail, Num(d, -0.72134936f)), Num(d, 1.685826e-08f));
    return hn::Add(base, hn::MulAdd(z, Num(d, 1.442695f), hn::Mul(z, tail)));
  }
  alignas(64) static constexpr float kFactors[32] = {
      1, 0x1.e92932p-1f, 0x1.daf51ep-1f, 0x1.cd74cep-1f, 0x1.c0ff1ep-1f, 0x1.b4d4c6p-1f, 0x1.a999cp-1f,
      0x1.9edc2ep-1f, 0x1.9484fep-1f, 0x1.8abf1cp-1f, 0x1.819b04p-1f, 0x1.78a438p-1f, 0x1.703228p-1f,
      0x1.67fa7cp-1f, 0x1.606114p-1f, 0x1.58ddbcp-1f, 0x1.51df0ap0f, 0x1.4b142cp0f, 0x1.446a9ap0f,
      0x1.3e2c44p0f, 0x1.380a42p0f, 0x1.322992p0f, 0x1.2c9a9ep0f, 0x1.2741fep0f, 0x1.21e8bep0f,
      0x1.1ce54cp0f, 0x1.17fb1ep0f, 0x1.13764ep0f, 0x1.0eb68ep0f, 0x1.0a721cp0f, 0x1.063d8p0f, 1};
  alignas(64) static constexpr float kLogarithms[32] = {
      0, 0x1.0da8a6p-4f, 0x1.bbc868p-4f, 0x1.3318ecp-3f, 0x1.83f8d4p-3f, 0x1.d521a6p-3f, 0x1.110b0ap-2f,
      0x1.36cdaep-2f, 0x1.5c17cep-2f, 0x1.8038f4p-2f, 0x1.a2d5a2p-2f, 0x1.c5953p-2f, 0x1.e71614p-2f,
      0x1.043726p-1f, 0x1.13f9c6p-1f, 0x1.23e51ap-1f, -0x1.99f00cp-2f, -0x1.7bef8p-2f, -0x1.5de764p-2f,
      -0x1.4131fap-2f, -0x1.24710cp-2f, -0x1.085952p-2f, -0x1.da9028p-3f, -0x1.a58adep-3f,
      -0x1.6f872ep-3f, -0x1.3bfc64p-3f, -0x1.089202p-3f, -0x1.b0fd26p-4f, -0x1.4a3928p-4f,
      -0x1.d8a962p-5f, -0x1.1ca20cp-5f, 0};
};

/// log(1 + x) of f32 for any x but -1, inf and what has no logarithm: z is taken of 1 + x as it is, not rounded, which
/// factors of 16 bits make exact where it counts.
struct TableOfLog1p {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    return Run(d, x, [](V log, V) HWY_ATTR { return log; });
  }
  /// The same of x + low, |low| at most half a unit of x.
  template <class D, class V> static HWY_INLINE V RunPair(D d, V x, V low) {
    return Run(d, x, [low](V log, V factor) HWY_ATTR { return hn::MulAdd(low, factor, log); });
  }
  template <class D, class V, class F> static HWY_INLINE V Run(D d, V x, const F& with_rest) {
    const TableParts<D> p = SplitForTable(d, hn::Add(x, Num(d, 1)));
    const V factor = Scale(LookUp(kFactors, p.interval), hn::Neg(p.k));
    const V z = hn::MulAdd(x, factor, hn::Sub(factor, Num(d, 1)));
    const V log = with_rest(hn::MulAdd(hn::Mul(z, LogTailOfSmall(d, z)), z, z), factor);
    const V base = hn::MulAdd(p.k, Num(d, FloatTraits<float>::kLn2High), LookUp(kLogarithms, p.interval));
    return hn::Add(base, hn::MulAdd(p.k, Num(d, FloatTraits<float>::kLn2Low), log));
  }
  /// Whether x is in that range: 0 < 1 + x < inf.
  template <class D, class V> static HWY_INLINE auto Covers(D d, V x) {
    const auto sum = ToBits(d, hn::Add(x, Num(d, 1)));
    return hn::RebindMask(d, hn::Lt(hn::Sub(sum, Bits(d, 1)), Bits(d, 0x7f7fffffu)));
  }
  alignas(64) static constexpr float kFactors[32] = {
      1, 0x1.e92cp-1f, 0x1.d95ep-1f, 0x1.ce38p-1f, 0x1.c048p-1f, 0x1.b612p-1f, 0x1.a8d4p-1f, 0x1.9efp-1f,
      0x1.93b8p-1f, 0x1.8bd2p-1f, 0x1.8282p-1f, 0x1.799ap-1f, 0x1.711cp-1f, 0x1.68ep-1f, 0x1.5facp-1f,
      0x1.5a6p-1f, 0x1.5269p0f, 0x1.4ad4p0f, 0x1.43bcp0f, 0x1.3debp0f, 0x1.37fcp0f, 0x1.31c8p0f,
      0x1.2cebp0f, 0x1.2778p0f, 0x1.21b6p0f, 0x1.1d9bp0f, 0x1.184fp0f, 0x1.136ep0f, 0x1.0eb3p0f,
      0x1.0ad3p0f, 0x1.05f3p0f, 1};
  alignas(64) static constexpr float kLogarithms[32] = {
      0, 0x1.75a49ap-5f, 0x1.41583p-4f, 0x1.a2f706p-4f, 0x1.102fdep-3f, 0x1.3f6032p-3f, 0x1.7e3d16p-3f,
      0x1.ae7b9ep-3f, 0x1.e69e0ep-3f, 0x1.078a8p-2f, 0x1.1febb2p-2f, 0x1.37caeep-2f, 0x1.4f15cep-2f,
      0x1.663022p-2f, 0x1.80a41ep-2f, 0x1.902e9p-2f, -0x1.1dc776p-2f, -0x1.06935ep-2f, -0x1.e0c276p-3f,
      -0x1.bba124p-3f, -0x1.950b68p-3f, -0x1.6bea1p-3f, -0x1.4b1488p-3f, -0x1.25a75ep-3f,
      -0x1.fab35ep-4f, -0x1.c03dccp-4f, -0x1.73902ep-4f, -0x1.2ba482p-4f, -0x1.c95ddp-5f,
      -0x1.53409ap-5f, -0x1.7864aap-6f, 0};
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
