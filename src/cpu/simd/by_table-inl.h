// Logarithms of f32 by tables, roots and reciprocals by estimates, for targets with kWide: what several elementary
// functions share (powers and angles: powers_by_table-inl.h, angles_by_table-inl.h). Stands after math-inl.h, whose
// header says how coefficients were fitted. (No include guard: once per target file.)
#include <hwy/highway.h>

#include "cpu/simd/math-inl.h"
HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sqrt(z) for finite z within 0.6 units of f32, NaN below 0. With kWide from an estimate: a root takes 12 cycles a
/// vector there, this 4. The bound, which keeps NaN, is for 0, whose estimate is infinite.
template <class D, class V> HWY_INLINE V NearSqrt(D d, V z) {
  if constexpr (kWide && kSingle<D>) {
    const V estimate = AtMost(d, hn::ApproximateReciprocalSqrt(z), 0x1p100);
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

/// x = 2^k·m with 1 <= m < 2, of which 32 intervals have a factor that takes m to 1 + z, -0.017 <= z <= 1/32: the first
/// 1 and the last 1/2, so that near 1 z is exact. The logarithms of the inverse factors are nearly f32, and the last is
/// what k is multiplied by: the sum of both, base, is 0 near 1 from below, too. Logarithms made of them have their
/// edges: of 0 and inf z is 0 (of -0 -2) and k -inf and inf, of x < 0 z is NaN.
template <class D> struct TableParts {
  hn::Vec<D> m, k;
  hn::Vec<hn::RebindToSigned<D>> interval;
};
template <class D, class V> HWY_INLINE TableParts<D> SplitForTable(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V m = Mantissa(x);
  return {m, Exponent(x), hn::BitCast(di, hn::ShiftRight<18>(ToBits(d, m)))};
}

/// log2(x) of any f32: log2(1 + z)/z within 2^-26.1.
struct TableOfLog2 {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const TableParts<D> p = SplitForTable(d, x);
    const V z = hn::MulSub(p.m, LookUp(kFactors, p.interval), Num(d, 1));
    const V base = hn::Add(p.k, LookUp(kLogarithms, p.interval));
    return hn::MulAdd(z, Horner(d, z, 1.442695f, -0.7213481f, 0.48102763f, -0.35544705f), base);
  }
  alignas(64) static constexpr float kFactors[32] = {
      1, 0x1.e901bap-1f, 0x1.daad52p-1f, 0x1.cd4ccap-1f, 0x1.c0ac1p-1f, 0x1.b4d4c6p-1f, 0x1.a95724p-1f, 0x1.9edc2ep-1f,
      0x1.9460e4p-1f, 0x1.8abf1cp-1f, 0x1.819b04p-1f, 0x1.78a438p-1f, 0x1.703228p-1f, 0x1.67fa7cp-1f, 0x1.606114p-1f,
      0x1.58c806p-1f, 0x1.519234p-1f, 0x1.4b142cp-1f, 0x1.446a9ap-1f, 0x1.3e567cp-1f, 0x1.37e96ep-1f, 0x1.3211bap-1f,
      0x1.2c9a9ep-1f, 0x1.270ae2p-1f, 0x1.21be36p-1f, 0x1.1d1c0ap-1f, 0x1.183446p-1f, 0x1.1341cp-1f, 0x1.0eb32cp-1f,
      0x1.0a9d2cp-1f, 0x1.0613ccp-1f, 0x1p-1f};
  alignas(64) static constexpr float kLogarithms[32] = {
      0, 0x1.0f8586p-4f, 0x1.bf45f2p-4f, 0x1.34192ep-3f, 0x1.861b92p-3f, 0x1.d521a6p-3f, 0x1.11f252p-2f,
      0x1.36cdaep-2f, 0x1.5c9bacp-2f, 0x1.8038f4p-2f, 0x1.a2d5a2p-2f, 0x1.c5953p-2f, 0x1.e71614p-2f, 0x1.043726p-1f,
      0x1.13f9c6p-1f, 0x1.24139cp-1f, 0x1.33b008p-1f, 0x1.42084p-1f, 0x1.510c4ep-1f, 0x1.5f0506p-1f, 0x1.6e1534p-1f,
      0x1.7c0cep-1f, 0x1.895bf6p-1f, 0x1.972734p-1f, 0x1.a48a9ap-1f, 0x1.b07306p-1f, 0x1.bd44c4p-1f, 0x1.ca6d56p-1f,
      0x1.d6c216p-1f, 0x1.e1fe12p-1f, 0x1.eeab6p-1f, 1};
};

/// log10(x) of any f32: lg 2 and the logarithms in units of 1 + 2^-24.2, of which lg 2 is an f32, and what that makes
/// of their sum is added. log10(1 + z)/z within 2^-25.3.
struct TableOfLog10 {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const TableParts<D> p = SplitForTable(d, x);
    const V z = hn::MulSub(p.m, LookUp(kFactors, p.interval), Num(d, 1));
    const V base = hn::MulAdd(p.k, Num(d, 0x1.344134p-2f), LookUp(kLogarithms, p.interval));
    const V log = hn::Mul(z, Horner(d, z, 0.4342945f, -0.21714732f, 0.14475186f, -0.10609189f));
    return hn::Add(base, hn::MulAdd(base, Num(d, 5.142787884437894e-08), log));
  }
  alignas(64) static constexpr float kFactors[32] = {
      1, 0x1.e8d396p-1f, 0x1.daa8eep-1f, 0x1.cd4a34p-1f, 0x1.c0a9f6p-1f, 0x1.b4afb4p-1f, 0x1.a9500cp-1f,
      0x1.9e8a6ep-1f, 0x1.94527cp-1f, 0x1.8a8e5ep-1f, 0x1.814208p-1f, 0x1.787fdap-1f, 0x1.6ff9bcp-1f, 0x1.67d6a2p-1f,
      0x1.6034c2p-1f, 0x1.58b7e6p-1f, 0x1.51a3bcp-1f, 0x1.4ace4cp-1f, 0x1.443088p-1f, 0x1.3de56ap-1f, 0x1.37d92ep-1f,
      0x1.320c52p-1f, 0x1.2c748ap-1f, 0x1.272104p-1f, 0x1.21d2b8p-1f, 0x1.1cc09cp-1f, 0x1.17d4bcp-1f, 0x1.1323a6p-1f,
      0x1.0ea866p-1f, 0x1.0a7eb4p-1f, 0x1.05e5bep-1f, 0x1p-1f};
  alignas(64) static constexpr float kLogarithms[32] = {
      0, 0x1.49915p-6f, 0x1.0d69f2p-5f, 0x1.7310b6p-5f, 0x1.d5cd32p-5f, 0x1.1b08f8p-4f, 0x1.49fafcp-4f, 0x1.779d4ap-4f,
      0x1.a40376p-4f, 0x1.cf8216p-4f, 0x1.f9ee64p-4f, 0x1.116b68p-3f, 0x1.25c9a6p-3f, 0x1.39ad3ap-3f, 0x1.4cbeb2p-3f,
      0x1.5fdb96p-3f, 0x1.724ff8p-3f, 0x1.847fbep-3f, 0x1.9677eap-3f, 0x1.a7e796p-3f, 0x1.b8fd18p-3f, 0x1.c9bp-3f,
      0x1.da1786p-3f, 0x1.ea0028p-3f, 0x1.fa22ecp-3f, 0x1.04eaf8p-2f, 0x1.0cabcep-2f, 0x1.1430ccp-2f, 0x1.1b7e68p-2f,
      0x1.22630ep-2f, 0x1.2a2044p-2f, 0x1.344134p-2f};
};

/// log(x) of any f32. What k is multiplied by is 1.9e-9 too large, and so are the logarithms of the upper intervals, as
/// for k = -1 little of both is left; of other results it is less than 2^-28.
struct TableOfLog {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const TableParts<D> p = SplitForTable(d, x);
    const V z = hn::MulSub(p.m, LookUp(kFactors, p.interval), Num(d, 1));
    return hn::MulAdd(z, Series(d, z), Base(d, p.k, p.interval));
  }
  /// log(1 + z)/z within 2^-26.7.
  template <class D, class V> static HWY_INLINE V Series(D d, V z) {
    return Horner(d, z, 1, -0.5000012f, 0.33337724f, -0.24439342f);
  }
  template <class D, class V, class I> static HWY_INLINE V Base(D d, V k, I interval) {
    return hn::MulAdd(k, Num(d, 0x1.62e43p-1f), LookUp(kLogarithms, interval));
  }
  alignas(64) static constexpr float kFactors[32] = {
      1, 0x1.e8d396p-1f, 0x1.daaa56p-1f, 0x1.cd4a14p-1f, 0x1.c0f664p-1f, 0x1.b4f388p-1f, 0x1.a96d12p-1f, 0x1.9eaebp-1f,
      0x1.945664p-1f, 0x1.8ad852p-1f, 0x1.81720ap-1f, 0x1.78e298p-1f, 0x1.6ffa74p-1f, 0x1.681426p-1f, 0x1.601fap-1f,
      0x1.58bf2p-1f, 0x1.51b716p-1f, 0x1.4b0196p-1f, 0x1.4449c6p-1f, 0x1.3e329p-1f, 0x1.37e9c8p-1f, 0x1.321396p-1f,
      0x1.2cb5a4p-1f, 0x1.27237p-1f, 0x1.21fda4p-1f, 0x1.1cfcc8p-1f, 0x1.17e306p-1f, 0x1.1389f4p-1f, 0x1.0e8f7cp-1f,
      0x1.0a439ap-1f, 0x1.06131ep-1f, 0x1p-1f};
  alignas(64) static constexpr float kLogarithms[32] = {
      0, 0x1.7b6dc4p-5f, 0x1.362074p-4f, 0x1.ab3584p-4f, 0x1.0d13c2p-3f, 0x1.449d2ap-3f, 0x1.7b5bbp-3f, 0x1.afbe14p-3f,
      0x1.e37b2ep-3f, 0x1.0a113ap-2f, 0x1.22bd36p-2f, 0x1.39bcc6p-2f, 0x1.523a5p-2f, 0x1.687336p-2f, 0x1.7f53a8p-2f,
      0x1.9501e4p-2f, 0x1.aa1bd2p-2f, 0x1.bea7f2p-2f, 0x1.d3a716p-2f, 0x1.e71168p-2f, 0x1.fb7e7ap-2f, 0x1.076b2cp-1f,
      0x1.1079ep-1f, 0x1.1a0cf6p-1f, 0x1.230f38p-1f, 0x1.2bf868p-1f, 0x1.35378ap-1f, 0x1.3d3bacp-1f, 0x1.469184p-1f,
      0x1.4ec39ap-1f, 0x1.56e248p-1f, 0x1.62e43p-1f};
};

/// log(1 + x) of f32 for -1 < x < 2^126: z is taken of 1 + x as it is, not rounded. Near 0 the factor is 1 and z is x.
struct TableOfLog1p {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const Log1pParts<D> p = Split(d, x);
    return hn::MulAdd(p.z, TableOfLog::Series(d, p.z), p.base);
  }
  /// The same of x + low, |low| at most half a unit of x.
  template <class D, class V> static HWY_INLINE V RunPair(D d, V x, V low) {
    const Log1pParts<D> p = Split(d, x);
    return hn::Add(p.base, hn::MulAdd(low, p.factor, hn::Mul(p.z, TableOfLog::Series(d, p.z))));
  }
  /// The same for 0 <= x <= 1, of which 1 + x has no power of two: with less, and more exact near 0, within 2^-26.9.
  template <class D, class V> static HWY_INLINE V OfShare(D d, V x) {
    const V one = Num(d, 1), sum = AtMost(d, hn::Add(x, one), 2 - 0x1p-23);
    const hn::RebindToSigned<D> di;
    const auto interval = hn::BitCast(di, hn::ShiftRight<18>(ToBits(d, sum)));
    const V factor = LookUp(TableOfLog::kFactors, interval), z = hn::MulAdd(x, factor, hn::Sub(factor, one));
    const V log = hn::MulAdd(hn::Mul(z, z), Horner(d, z, -0.5000012f, 0.33336657f, -0.24401903f), z);
    return hn::Add(LookUp(TableOfLog::kLogarithms, interval), log);
  }
  /// Whether Run() may be called.
  template <class D, class V> static HWY_INLINE auto Covers(D d, V x) {
    const auto sum = ToBits(d, hn::Add(x, Num(d, 1)));
    return hn::RebindMask(d, hn::Lt(hn::Sub(sum, Bits(d, 1)), Bits(d, 0x7e800000u)));
  }

 private:
  template <class D> struct Log1pParts {
    hn::Vec<D> z, base, factor;
  };
  /// The factors are multiplied by 2^-k as bits.
  template <class D, class V> static HWY_INLINE Log1pParts<D> Split(D d, V x) {
    const hn::RebindToSigned<D> di;
    const V one = Num(d, 1), sum = hn::Add(x, one);
    const auto bits = ToBits(d, sum);
    const auto interval = hn::BitCast(di, hn::ShiftRight<18>(bits));
    const auto power = hn::And(bits, Bits(d, 0xff800000u));
    const V factor = hn::BitCast(d, hn::Sub(ToBits(d, LookUp(kFactors, interval)), power));
    return {hn::MulAdd(x, factor, hn::Sub(factor, one)), TableOfLog::Base(d, Exponent(sum), interval), factor};
  }
  /// Those of TableOfLog, times 2^127.
  alignas(64) static constexpr float kFactors[32] = {
      0x1p127f, 0x1.e8d396p126f, 0x1.daaa56p126f, 0x1.cd4a14p126f, 0x1.c0f664p126f, 0x1.b4f388p126f, 0x1.a96d12p126f,
      0x1.9eaebp126f, 0x1.945664p126f, 0x1.8ad852p126f, 0x1.81720ap126f, 0x1.78e298p126f, 0x1.6ffa74p126f,
      0x1.681426p126f, 0x1.601fap126f, 0x1.58bf2p126f, 0x1.51b716p126f, 0x1.4b0196p126f, 0x1.4449c6p126f,
      0x1.3e329p126f, 0x1.37e9c8p126f, 0x1.321396p126f, 0x1.2cb5a4p126f, 0x1.27237p126f, 0x1.21fda4p126f,
      0x1.1cfcc8p126f, 0x1.17e306p126f, 0x1.1389f4p126f, 0x1.0e8f7cp126f, 0x1.0a439ap126f, 0x1.06131ep126f, 0x1p126f};
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
