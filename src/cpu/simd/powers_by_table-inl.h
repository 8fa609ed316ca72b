// e^x, 2^x, e^x - 1, sinh(x) and cosh(x) of f32 by tables of 2^(j/32), for targets with kWide: polynomials of degree 3
// are left, and no branch. Stands after by_table-inl.h; math-inl.h says how coefficients were fitted. (No include
// guard: once per target file.)
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// x = n·ln 2 + r, n in 32nds and |r| <= ln 2/64. The last five bits of `rounded` say which root of 2 it is.
template <class D> struct TablePower {
  hn::Vec<D> rounded, n, r;
};
struct TableOfPowers {
  static constexpr double kMagic = 0x1.8p18;  // x + this: x rounded to 32nds

  /// n is at most 128 - 1/32, whose power is finite; what is larger has a larger r.
  template <class D, class V> static HWY_INLINE TablePower<D> Split(D d, V x) {
    using R = Traits<D>;
    const V magic = Num(d, kMagic);
    const V rounded = AtMost(d, hn::MulAdd(x, Num(d, 1.4426950408889634), magic), kMagic + 128 - 1. / 32);
    const V n = hn::Sub(rounded, magic);
    return {rounded, n, hn::NegMulAdd(n, Num(d, R::kLn2Low), hn::NegMulAdd(n, Num(d, R::kLn2High), x))};
  }
  template <class D, class V> static HWY_INLINE V Exp(D d, V x) {
    const TablePower<D> p = Split(d, x);
    const V root = LookUp(kRoots, p.rounded), q = Horner(d, p.r, 1, 0.50000405f, 0.16666766f);  // e^r within 2^-33.2
    return ScaleOrZero(Vanishing(d, x), hn::MulAdd(hn::Mul(root, p.r), q, root), p.n);
  }
  /// e^x for x <= 0 within 0.6 units instead of 1.02: with what the root lacks, an instruction more.
  template <class D, class V> static HWY_INLINE V CloseExp(D d, V x) {
    const TablePower<D> p = Split(d, x);
    const V root = LookUp(kRoots, p.rounded), q = Horner(d, p.r, 1, 0.50000405f, 0.16666766f);
    const V expm1 = hn::MulAdd(p.r, q, LookUp(kLacking, p.rounded));
    return ScaleOrZero(Vanishing(d, x), hn::MulAdd(root, expm1, root), p.n);
  }
  /// By the 32nd below x and what x is above it.
  template <class D, class V> static HWY_INLINE V Exp2(D d, V x) {
    const V r = AboveParts32(x), root = LookUp(kRoots, AddDown(x, Num(d, kMagic)));
    const V q = Horner(d, r, 0.69314724f, 0.24021506f, 0.05610904f);  // 2^r within 2^-33.2
    return ScaleOrZero(NotLe(x, Num(d, -150)), hn::MulAdd(hn::Mul(root, r), q, root), x);  // by the integer below x
  }
  /// 2^(x + low) for |x + low| < 126.
  template <class D, class V> static HWY_INLINE V Exp2(D d, V x, V low) {
    const V magic = Num(d, kMagic), rounded = hn::Add(hn::Add(x, low), magic), n = hn::Sub(rounded, magic);
    const V r = hn::Add(hn::Sub(x, n), low), root = LookUp(kRoots, rounded);
    return Scale(hn::MulAdd(hn::Mul(root, r), Horner(d, r, 0.6931472f, 0.2402285f, 0.05549658f), root), n);
  }
  /// s·e^r - 1 = (s - 1) + s·(e^r - 1): what s, a rounded root times a power of two, lacks is added to the latter.
  /// Below -20 it is -1.
  template <class D, class V> static HWY_INLINE V Expm1(D d, V x) {
    const V low = AtLeast(d, x, -20);
    const TablePower<D> p = Split(d, low);
    const V s = Scale(LookUp(kRoots, p.rounded), p.n), lacking = LookUp(kLacking, p.rounded);
    const V q = Horner(d, p.r, 0.5000037f, 0.16666745f);  // e^r - 1 within 2^-26.2
    const V expm1 = hn::Add(p.r, hn::MulAdd(hn::Mul(p.r, p.r), q, lacking));
    return hn::CopySign(hn::MulAdd(s, expm1, hn::Sub(s, Num(d, 1))), x);  // of -0 it is -0
  }
  /// 2^(j/32), and what that is over its f32, less 1.
  alignas(64) static constexpr float kRoots[32] = {
      1, 0x1.059b0ep0f, 0x1.0b5586p0f, 0x1.11301ep0f, 0x1.172b84p0f, 0x1.1d4874p0f, 0x1.2387a6p0f, 0x1.29e9ep0f,
      0x1.306fep0f, 0x1.371a74p0f, 0x1.3dea64p0f, 0x1.44e086p0f, 0x1.4bfdaep0f, 0x1.5342b6p0f, 0x1.5ab07ep0f,
      0x1.6247ecp0f, 0x1.6a09e6p0f, 0x1.71f75ep0f, 0x1.7a1148p0f, 0x1.82589ap0f, 0x1.8ace54p0f, 0x1.93737cp0f,
      0x1.9c4918p0f, 0x1.a5503cp0f, 0x1.ae89fap0f, 0x1.b7f77p0f, 0x1.c199bep0f, 0x1.cb720ep0f, 0x1.d5818ep0f,
      0x1.dfc974p0f, 0x1.ea4afap0f, 0x1.f50766p0f};
  alignas(64) static constexpr float kLacking[32] = {
      0, -0x1.947414p-25f, 0x1.8d96d4p-25f, -0x1.dda2fcp-25f, -0x1.9c0c22p-27f, -0x1.a2fbb2p-25f, 0x1.964904p-25f,
      -0x1.2b0dbcp-25f, 0x1.125002p-25f, -0x1.cde8cep-26f, 0x1.370be4p-25f, 0x1.336de2p-30f, -0x1.0a355p-25f,
      -0x1.c541b4p-26f, -0x1.00d8acp-27f, -0x1.6cb284p-25f, 0x1.26055cp-26f, 0x1.8b2bb8p-26f, -0x1.05cb44p-25f,
      -0x1.1c2142p-26f, 0x1.67a1cap-28f, -0x1.348e56p-25f, 0x1.a3b5e4p-28f, -0x1.0b7ec8p-25f, -0x1.f9c304p-27f,
      -0x1.e4c886p-26f, -0x1.6961b4p-28f, -0x1.b5151ep-28f, -0x1.a5217cp-28f, -0x1.ab7132p-26f, 0x1.61428ep-28f,
      -0x1.2ad5f8p-27f};
};

/// x = n·ln 2 + r, as above, and e^(x - r)/2 and e^(r - x)/2; of x beyond +-89.4 r is larger.
template <class D> struct TableHyperbolic {
  hn::Vec<D> r, rounded, up, down;
};
/// With a and b the sum and the difference of both: a·cosh(r) + b·sinh(r) = a + t·(b + a·t/2) within r^4/12, and
/// a·sinh(r) + b·cosh(r) = b + t·(a + b·t/2), t = r + r³/6.
struct TableOfHyperbolics {
  template <class D, class V> static HWY_INLINE V Cosh(D d, V x) {
    const TableHyperbolic<D> p = Split(d, x, kHalfRoots, kHalfInverses);
    const V t = Sinh3(d, p.r), a = hn::Add(p.up, p.down), b = hn::Sub(p.up, p.down);
    return hn::MulAdd(t, hn::MulAdd(hn::Mul(t, Num(d, 0.5)), a, b), a);
  }
  /// By roots that are not exact, but whose inverses nearly are f32, so that b is exact where it is small. (-b, so that
  /// of -0 it is -0.)
  template <class D, class V> static HWY_INLINE V Sinh(D d, V x) {
    const TableHyperbolic<D> p = Split(d, x, kHalfNear, kHalfNearInverses);
    const V t = Sinh3(d, hn::Add(p.r, LookUp(kOff, p.rounded))), a = hn::Add(p.up, p.down), b = hn::Sub(p.down, p.up);
    return hn::MulSub(t, hn::NegMulAdd(hn::Mul(t, Num(d, 0.5)), b, a), b);
  }

 private:
  template <class D, class V>
  static HWY_INLINE TableHyperbolic<D> Split(D d, V x, const float (&roots)[32], const float (&inverses)[32]) {
    using R = Traits<D>;
    const V magic = Num(d, TableOfPowers::kMagic);
    const V rounded = hn::MulAdd(Within(x, Num(d, 89.3975f)), Num(d, 1.4426950408889634), magic);
    const V n = hn::Sub(rounded, magic);
    const V r = hn::NegMulAdd(n, Num(d, R::kLn2Low), hn::NegMulAdd(n, Num(d, R::kLn2High), x));
    return {r, rounded, Scale(LookUp(roots, rounded), n), Scale(LookUp(inverses, rounded), hn::Sub(magic, rounded))};
  }
  template <class D, class V> static HWY_INLINE V Sinh3(D d, V r) {
    return hn::MulAdd(hn::Mul(r, hn::Mul(r, r)), Num(d, 0.16666667f), r);
  }
  /// 2^(j/32)/2, and 2^(-j/32)/2 times what scaling by the integer below -n leaves out: 2 but for the first.
  alignas(64) static constexpr float kHalfRoots[32] = {
      0x1p-1f, 0x1.059b0ep-1f, 0x1.0b5586p-1f, 0x1.11301ep-1f, 0x1.172b84p-1f, 0x1.1d4874p-1f, 0x1.2387a6p-1f,
      0x1.29e9ep-1f, 0x1.306fep-1f, 0x1.371a74p-1f, 0x1.3dea64p-1f, 0x1.44e086p-1f, 0x1.4bfdaep-1f, 0x1.5342b6p-1f,
      0x1.5ab07ep-1f, 0x1.6247ecp-1f, 0x1.6a09e6p-1f, 0x1.71f75ep-1f, 0x1.7a1148p-1f, 0x1.82589ap-1f, 0x1.8ace54p-1f,
      0x1.93737cp-1f, 0x1.9c4918p-1f, 0x1.a5503cp-1f, 0x1.ae89fap-1f, 0x1.b7f77p-1f, 0x1.c199bep-1f, 0x1.cb720ep-1f,
      0x1.d5818ep-1f, 0x1.dfc974p-1f, 0x1.ea4afap-1f, 0x1.f50766p-1f};
  alignas(64) static constexpr float kHalfInverses[32] = {
      0x1p-1f, 0x1.f50766p-1f, 0x1.ea4afap-1f, 0x1.dfc974p-1f, 0x1.d5818ep-1f, 0x1.cb720ep-1f, 0x1.c199bep-1f,
      0x1.b7f77p-1f, 0x1.ae89fap-1f, 0x1.a5503cp-1f, 0x1.9c4918p-1f, 0x1.93737cp-1f, 0x1.8ace54p-1f, 0x1.82589ap-1f,
      0x1.7a1148p-1f, 0x1.71f75ep-1f, 0x1.6a09e6p-1f, 0x1.6247ecp-1f, 0x1.5ab07ep-1f, 0x1.5342b6p-1f, 0x1.4bfdaep-1f,
      0x1.44e086p-1f, 0x1.3dea64p-1f, 0x1.371a74p-1f, 0x1.306fep-1f, 0x1.29e9ep-1f, 0x1.2387a6p-1f, 0x1.1d4874p-1f,
      0x1.172b84p-1f, 0x1.11301ep-1f, 0x1.0b5586p-1f, 0x1.059b0ep-1f};
  /// The same of numbers near those whose inverses are within 2^-34.1 of an f32, and what their logarithms lack.
  alignas(64) static constexpr float kHalfNear[32] = {
      0x1p-1f, 0x1.059b0cp-1f, 0x1.0b557p-1f, 0x1.112f2ap-1f, 0x1.172c68p-1f, 0x1.1d47bp-1f, 0x1.238dccp-1f,
      0x1.29e828p-1f, 0x1.306fe6p-1f, 0x1.37188ap-1f, 0x1.3de732p-1f, 0x1.44dc6p-1f, 0x1.4bf862p-1f, 0x1.5343cp-1f,
      0x1.5ab0ccp-1f, 0x1.6244e2p-1f, 0x1.69f52cp-1f, 0x1.71fa8ap-1f, 0x1.7a10f2p-1f, 0x1.82576ap-1f, 0x1.8ad4ap-1f,
      0x1.9378a2p-1f, 0x1.9c4d3ep-1f, 0x1.a552d2p-1f, 0x1.ae89f2p-1f, 0x1.b7f9f8p-1f, 0x1.c19044p-1f, 0x1.cb7348p-1f,
      0x1.d5800ep-1f, 0x1.dfcb1ep-1f, 0x1.ea4b24p-1f, 0x1.f50768p-1f};
  alignas(64) static constexpr float kHalfNearInverses[32] = {
      0x1p-1f, 0x1.f50768p-1f, 0x1.ea4b24p-1f, 0x1.dfcb1ep-1f, 0x1.d5800ep-1f, 0x1.cb7348p-1f, 0x1.c19044p-1f,
      0x1.b7f9f8p-1f, 0x1.ae89f2p-1f, 0x1.a552d2p-1f, 0x1.9c4d3ep-1f, 0x1.9378a2p-1f, 0x1.8ad4ap-1f, 0x1.82576ap-1f,
      0x1.7a10f2p-1f, 0x1.71fa8ap-1f, 0x1.6a1ea2p-1f, 0x1.6244e2p-1f, 0x1.5ab0ccp-1f, 0x1.5343cp-1f, 0x1.4bf862p-1f,
      0x1.44dc6p-1f, 0x1.3de732p-1f, 0x1.37188ap-1f, 0x1.306fe6p-1f, 0x1.29e828p-1f, 0x1.238dccp-1f, 0x1.1d47bp-1f,
      0x1.172c68p-1f, 0x1.112f2ap-1f, 0x1.0b557p-1f, 0x1.059b0cp-1f};
  alignas(64) static constexpr float kOff[32] = {
      -0.0f, 0x1.2acd5cp-24f, 0x1.5d8052p-20f, 0x1.c76f2ap-17f, -0x1.a28dbap-17f, 0x1.5e20cep-17f, -0x1.59547cp-14f,
      0x1.798434p-16f, -0x1.209d78p-22f, 0x1.92c38cp-16f, 0x1.49a7dp-15f, 0x1.a27156p-15f, 0x1.05486cp-14f,
      -0x1.925212p-17f, -0x1.cdc5b4p-19f, 0x1.18bc78p-15f, 0x1.d513b2p-13f, -0x1.18bc6ep-15f, 0x1.cdc63p-19f,
      0x1.9251c4p-17f, -0x1.054878p-14f, -0x1.a27174p-15f, -0x1.49a7d2p-15f, -0x1.92c3b6p-16f, 0x1.20a1ccp-22f,
      -0x1.79841ap-16f, 0x1.59546ep-14f, -0x1.5e2108p-17f, 0x1.a28d4cp-17f, -0x1.c76efep-17f, -0x1.5d7efp-20f,
      -0x1.2af5ccp-24f};
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
