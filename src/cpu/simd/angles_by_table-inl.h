// Sines, cosines and arc tangents of f32 by tables, for targets with kWide. Stands after by_table-inl.h; math-inl.h
// says how coefficients were fitted. (No include guard: once per target file.)
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sines and cosines at the 32 parts of a turn: no quadrants and no signs are left. x = n·pi/16 + r, |r| <= pi/32:
/// sin(x) = s + (c·sin(r) + s·(cos(r) - 1)), s = sin(n·pi/16) in two parts, c = cos(n·pi/16). Without the second part,
/// and what r has lost, the sine is 2.3 units off instead of 1.8, and takes 0.8 of the time.
struct TableOfTurn {
  template <class D, class V> static HWY_INLINE V Sin(D d, V x) {
    const TurnAngle<D> p = Split(d, x);
    const V s = LookUp(kSines, p.part), rest = Rest(d, p, s, LookUp(kSinesLow, p.part), LookUp(kCosines, p.part));
    const hn::RebindToUnsigned<D> du;
    const auto far = hn::RebindMask(d, hn::TestBit(hn::BitCast(du, p.part), hn::Set(du, 31)));
    return AddWhere(far, s, rest);  // of -0 it is -0
  }
  template <class D, class V> static HWY_INLINE V Cos(D d, V x) {
    const TurnAngle<D> p = Split(d, x);
    const V s = LookUp(kCosines, p.part);
    return hn::Add(s, Rest(d, p, s, LookUp(kCosinesLow, p.part), LookUp(kNegativeSines, p.part)));
  }

 private:
  template <class D> struct TurnAngle {
    hn::Vec<D> part, r, square, low;  // the angle's rest is r - low
  };
  /// |x| <= 2^15. pi/16 in three parts, the first two below it, so that of -0 nothing becomes 0. What r lost is exact
  /// from 2^-10 on; below that it is left out, at most half a unit of r.
  template <class D, class V> static HWY_INLINE TurnAngle<D> Split(D d, V x) {
    const V magic = Num(d, Traits<D>::kRoundingMagic), second = Num(d, 0x1.4442dp-27);
    const V part = hn::MulAdd(x, Num(d, 5.092958178940651), magic), n = hn::Sub(part, magic);
    const V coarse = hn::NegMulAdd(n, Num(d, 0x1.921fb4p-3), x), r = hn::NegMulAdd(n, second, coarse);
    const V square = hn::Mul(r, r), lost = MulAddOrZero(hn::Ge(square, Num(d, 0x1p-20)), n, second, hn::Sub(r, coarse));
    return {part, r, square, hn::MulAdd(n, Num(d, 0x1.84698ap-51), lost)};
  }
  /// sin(r)/r within 2^-36.6, cos(r) within 2^-34.1.
  template <class D, class V> static HWY_INLINE V Rest(D d, const TurnAngle<D>& p, V s, V s_low, V c) {
    const V sine = hn::MulSub(p.r, Horner(d, p.square, 1, -0.16666666f, 0.008330355f), p.low);
    const V cosine = hn::Mul(p.square, Horner(d, p.square, -0.49999994f, 0.041647367f));
    return hn::MulAdd(c, sine, hn::MulAdd(s, cosine, s_low));
  }
  alignas(64) static constexpr float kSines[32] = {
      0, 0x1.8f8b84p-3f, 0x1.87de2ap-2f, 0x1.1c73b4p-1f, 0x1.6a09e6p-1f, 0x1.a9b662p-1f, 0x1.d906bcp-1f,
      0x1.f6297cp-1f, 1, 0x1.f6297cp-1f, 0x1.d906bcp-1f, 0x1.a9b662p-1f, 0x1.6a09e6p-1f, 0x1.1c73b4p-1f,
      0x1.87de2ap-2f, 0x1.8f8b84p-3f, 0, -0x1.8f8b84p-3f, -0x1.87de2ap-2f, -0x1.1c73b4p-1f, -0x1.6a09e6p-1f,
      -0x1.a9b662p-1f, -0x1.d906bcp-1f, -0x1.f6297cp-1f, -1, -0x1.f6297cp-1f, -0x1.d906bcp-1f, -0x1.a9b662p-1f,
      -0x1.6a09e6p-1f, -0x1.1c73b4p-1f, -0x1.87de2ap-2f, -0x1.8f8b84p-3f};
  alignas(64) static constexpr float kSinesLow[32] = {
      -0.0f, -0x1.cb2cfap-30f, 0x1.abaa58p-28f, -0x1.9465cep-27f, 0x1.9fcef4p-27f, 0x1.21d434p-26f, 0x1.e651a8p-26f,
      0x1.feeb96p-26f, 0, 0x1.feeb96p-26f, 0x1.e651a8p-26f, 0x1.21d434p-26f, 0x1.9fcef4p-27f, -0x1.9465cep-27f,
      0x1.abaa58p-28f, -0x1.cb2cfap-30f, 0, 0x1.cb2cfap-30f, -0x1.abaa58p-28f, 0x1.9465cep-27f, -0x1.9fcef4p-27f,
      -0x1.21d434p-26f, -0x1.e651a8p-26f, -0x1.feeb96p-26f, 0, -0x1.feeb96p-26f, -0x1.e651a8p-26f, -0x1.21d434p-26f,
      -0x1.9fcef4p-27f, 0x1.9465cep-27f, -0x1.abaa58p-28f, 0x1.cb2cfap-30f};
  alignas(64) static constexpr float kCosines[32] = {
      1, 0x1.f6297cp-1f, 0x1.d906bcp-1f, 0x1.a9b662p-1f, 0x1.6a09e6p-1f, 0x1.1c73b4p-1f, 0x1.87de2ap-2f,
      0x1.8f8b84p-3f, 0, -0x1.8f8b84p-3f, -0x1.87de2ap-2f, -0x1.1c73b4p-1f, -0x1.6a09e6p-1f, -0x1.a9b662p-1f,
      -0x1.d906bcp-1f, -0x1.f6297cp-1f, -1, -0x1.f6297cp-1f, -0x1.d906bcp-1f, -0x1.a9b662p-1f, -0x1.6a09e6p-1f,
      -0x1.1c73b4p-1f, -0x1.87de2ap-2f, -0x1.8f8b84p-3f, 0, 0x1.8f8b84p-3f, 0x1.87de2ap-2f, 0x1.1c73b4p-1f,
      0x1.6a09e6p-1f, 0x1.a9b662p-1f, 0x1.d906bcp-1f, 0x1.f6297cp-1f};
  alignas(64) static constexpr float kCosinesLow[32] = {
      0, 0x1.feeb96p-26f, 0x1.e651a8p-26f, 0x1.21d434p-26f, 0x1.9fcef4p-27f, -0x1.9465cep-27f, 0x1.abaa58p-28f,
      -0x1.cb2cfap-30f, 0, 0x1.cb2cfap-30f, -0x1.abaa58p-28f, 0x1.9465cep-27f, -0x1.9fcef4p-27f, -0x1.21d434p-26f,
      -0x1.e651a8p-26f, -0x1.feeb96p-26f, 0, -0x1.feeb96p-26f, -0x1.e651a8p-26f, -0x1.21d434p-26f, -0x1.9fcef4p-27f,
      0x1.9465cep-27f, -0x1.abaa58p-28f, 0x1.cb2cfap-30f, 0, -0x1.cb2cfap-30f, 0x1.abaa58p-28f, -0x1.9465cep-27f,
      0x1.9fcef4p-27f, 0x1.21d434p-26f, 0x1.e651a8p-26f, 0x1.feeb96p-26f};
  alignas(64) static constexpr float kNegativeSines[32] = {
      0, -0x1.8f8b84p-3f, -0x1.87de2ap-2f, -0x1.1c73b4p-1f, -0x1.6a09e6p-1f, -0x1.a9b662p-1f, -0x1.d906bcp-1f,
      -0x1.f6297cp-1f, -1, -0x1.f6297cp-1f, -0x1.d906bcp-1f, -0x1.a9b662p-1f, -0x1.6a09e6p-1f, -0x1.1c73b4p-1f,
      -0x1.87de2ap-2f, -0x1.8f8b84p-3f, 0, 0x1.8f8b84p-3f, 0x1.87de2ap-2f, 0x1.1c73b4p-1f, 0x1.6a09e6p-1f,
      0x1.a9b662p-1f, 0x1.d906bcp-1f, 0x1.f6297cp-1f, 1, 0x1.f6297cp-1f, 0x1.d906bcp-1f, 0x1.a9b662p-1f,
      0x1.6a09e6p-1f, 0x1.1c73b4p-1f, 0x1.87de2ap-2f, 0x1.8f8b84p-3f};
};

struct TableOfAngles {
  /// Of |x| in 32 intervals, four an octave from 1/16 to 16, the first from 0 and the last to infinity, a number c each
  /// whose arc tangent is nearly an f32, and that of t = (|x| - c)/(1 + |x|·c), |t| <= 0.0782: t + t³·P(t²) within
  /// 2^-29.5.
  template <class D, class V> static HWY_INLINE V Of(D d, V x) {
    const hn::RebindToSigned<D> di;
    constexpr std::int32_t kFirst = 0x3d800000 >> 21;  // 1/16: an octave and a quarter of it, as bits
    const V a = AtMost(d, hn::Abs(x), 0x1p60);
    const auto octave = hn::BitCast(di, hn::ShiftRight<21>(ToBits(d, a)));
    const auto interval = hn::Min(hn::Max(octave, hn::Set(di, kFirst)), hn::Set(di, kFirst + 31));
    const V c = LookUp(kCentres, interval);
    const V t = hn::Mul(hn::Sub(a, c), NearReciprocal(d, hn::MulAdd(a, c, Num(d, 1)))), z = hn::Mul(t, t);
    const V tangent = hn::MulAdd(hn::Mul(t, z), Horner(d, z, -0.33333102f, 0.19878177f), t);
    return hn::CopySign(hn::Add(LookUp(kAngles, interval), tangent), x);
  }
  /// Of (x, y), as Covers() has it. The quotient of the less by the larger, in 32 intervals: what
  /// it is above the interval's begin, t, is one rounding off, and a polynomial of it within 2^-26.1.
  template <class D, class V> static HWY_INLINE V OfPoint(D d, V y, V x) {
    const V a = hn::Abs(y), b = hn::Abs(x), larger = hn::Max(a, b), less = hn::Min(a, b), magic = Num(d, 0x1.8p18);
    const V estimate = hn::ApproximateReciprocal(larger);
    const V inverse = hn::MulAdd(estimate, hn::NegMulAdd(estimate, larger, Num(d, 1)), estimate);
    const V interval = AtMost(d, AddDown(hn::Mul(less, estimate), magic), 0x1.8p18 + 31. / 32);
    const V t = hn::Mul(hn::NegMulAdd(hn::Sub(interval, magic), larger, less), inverse);
    V angle = LookUp(kSeries[3], interval);
    for (int k = 2; k >= 0; --k) angle = hn::MulAdd(angle, t, LookUp(kSeries[k], interval));
    angle = SubFromWhere(hn::Gt(a, b), angle, Num(d, 1.5707963267948966));
    const hn::RebindToSigned<D> di;
    const auto mirrored = hn::RebindMask(d, hn::Lt(hn::BitCast(di, x), hn::Zero(di)));
    return hn::CopySign(SubFromWhere(mirrored, angle, Num(d, 3.141592653589793)), y);
  }
  /// Their sum, which is NaN if one is, from 2^-63 to 2^65, so that the larger's reciprocal is a normal number.
  template <class D, class V> static HWY_INLINE auto Covers(D d, V y, V x) {
    const auto sum = ToBits(d, hn::Add(hn::Abs(y), hn::Abs(x)));
    return hn::RebindMask(d, hn::Lt(hn::Sub(sum, Bits(d, 0x20000000u)), Bits(d, 0x40000000u)));
  }

 private:
  /// The first interval's at 12, as the bits have it.
  alignas(64) static constexpr float kCentres[32] = {
      0x1.1d089cp1f, 0x1.5d6f28p1f, 0x1.9dc12p1f, 0x1.de0222p1f, 0x1.1c9d12p2f, 0x1.5d2cf4p2f, 0x1.9d98ap2f,
      0x1.dde6fp2f, 0x1.1c7a68p3f, 0x1.5d2686p3f, 0x1.9d94d2p3f, 0x1.bfff52p4f, 0, 0x1.5ffa22p-4f, 0x1.9ff996p-4f,
      0x1.dff7a4p-4f, 0x1.1fee9cp-3f, 0x1.5feabep-3f, 0x1.9fe40ep-3f, 0x1.dfe3a2p-3f, 0x1.1fc53ep-2f, 0x1.5fb1eep-2f,
      0x1.9fa64p-2f, 0x1.df9da2p-2f, 0x1.1f251ap-1f, 0x1.5f11a8p-1f, 0x1.9f071p-1f, 0x1.defe2cp-1f, 0x1.1e04d4p0f,
      0x1.5e1a2cp0f, 0x1.9e3808p0f, 0x1.de5708p0f};
  alignas(64) static constexpr float kAngles[32] = {
      0x1.261244p0f, 0x1.383c3cp0f, 0x1.45515ap0f, 0x1.4f24e8p0f, 0x1.597ffcp0f, 0x1.63b78ep0f, 0x1.6ad272p0f,
      0x1.700b2p0f, 0x1.7572a4p0f, 0x1.7abap0f, 0x1.7e5b14p0f, 0x1.88fc1ep0f, 0, 0x1.5f1d52p-4f, 0x1.9e8dbcp-4f,
      0x1.ddc9d8p-4f, 0x1.1e0ea2p-3f, 0x1.5c836cp-3f, 0x1.9a4fb8p-3f, 0x1.d7627ap-3f, 0x1.1888e6p-2f, 0x1.52c506p-2f,
      0x1.8ad7c8p-2f, 0x1.c08aa4p-2f, 0x1.05b182p-1f, 0x1.33bd06p-1f, 0x1.5cc282p-1f, 0x1.8113bp-1f, 0x1.ae7384p-1f,
      0x1.e0fc8p-1f, 0x1.0468dp0f, 0x1.14538p0f};
  /// The arc tangents of the intervals' begins, and the coefficients of each power.
  alignas(64) static constexpr float kSeries[4][32] = {
      {0, 0x1.ffd55cp-6f, 0x1.ff55bcp-5f, 0x1.7ee182p-4f, 0x1.fd5baap-4f, 0x1.3d6eeep-3f, 0x1.7b97b4p-3f,
       0x1.b90d76p-3f, 0x1.f5b76p-3f, 0x1.18bf5ap-2f, 0x1.362774p-2f, 0x1.530adap-2f, 0x1.6f6194p-2f, 0x1.8b24d4p-2f,
       0x1.a64eecp-2f, 0x1.c0db4cp-2f, 0x1.dac67p-2f, 0x1.f40ddp-2f, 0x1.0657eap-1f, 0x1.1255dap-1f, 0x1.1e00bap-1f,
       0x1.2958e6p-1f, 0x1.345f02p-1f, 0x1.3f13fcp-1f, 0x1.4978fap-1f, 0x1.538f58p-1f, 0x1.5d5898p-1f, 0x1.66d664p-1f,
       0x1.700a7cp-1f, 0x1.78f6bcp-1f, 0x1.819d0cp-1f, 0x1.89ff6p-1f},
      {1, 0x1.ff8026p-1f, 0x1.fe020ap-1f, 0x1.fb8a1cp-1f, 0x1.f81f98p-1f, 0x1.f3cc5ep-1f, 0x1.ee9c9ep-1f,
       0x1.e89e8cp-1f, 0x1.e1e204p-1f, 0x1.da7826p-1f, 0x1.d272eep-1f, 0x1.c9e4dcp-1f, 0x1.c0e092p-1f, 0x1.b77884p-1f,
       0x1.adbea8p-1f, 0x1.a3c444p-1f, 0x1.9999b6p-1f, 0x1.8f4e48p-1f, 0x1.84f022p-1f, 0x1.7a8c3p-1f, 0x1.702e18p-1f,
       0x1.65e042p-1f, 0x1.5babdap-1f, 0x1.5198dap-1f, 0x1.47ae1ep-1f, 0x1.3df17p-1f, 0x1.3467ap-1f, 0x1.2b149cp-1f,
       0x1.21fb7cp-1f, 0x1.191e9ep-1f, 0x1.107fbep-1f, 0x1.081ffcp-1f},
      {-0x1.18a484p-18f, -0x1.ffa5c6p-6f, -0x1.fc9ec4p-5f, -0x1.79c7c6p-4f, -0x1.f0e6eep-4f, -0x1.313f7cp-3f,
       -0x1.66b90cp-3f, -0x1.986832p-3f, -0x1.c5f224p-3f, -0x1.ef144ep-3f, -0x1.09ceb4p-2f, -0x1.19becap-2f,
       -0x1.275b62p-2f, -0x1.32b0a4p-2f, -0x1.3bce68p-2f, -0x1.42d0d8p-2f, -0x1.47d92cp-2f, -0x1.4b0764p-2f,
       -0x1.4c850cp-2f, -0x1.4c7aaep-2f, -0x1.4b0e86p-2f, -0x1.48694cp-2f, -0x1.44b278p-2f, -0x1.400e56p-2f,
       -0x1.3aa13ep-2f, -0x1.348ac8p-2f, -0x1.2de87ap-2f, -0x1.26d7f2p-2f, -0x1.1f7054p-2f, -0x1.17c688p-2f,
       -0x1.0ff186p-2f, -0x1.07fe6cp-2f},
      {-0x1.5502f2p-2f, -0x1.511014p-2f, -0x1.4947p-2f, -0x1.3dbd82p-2f, -0x1.2f256ep-2f, -0x1.1d77f6p-2f,
       -0x1.094f6ap-2f, -0x1.e6a0eep-3f, -0x1.b7b1c6p-3f, -0x1.86b1cp-3f, -0x1.552c9ap-3f, -0x1.23a29cp-3f,
       -0x1.e5dd96p-4f, -0x1.87109ap-4f, -0x1.2d4f5p-4f, -0x1.b185eep-5f, -0x1.131738p-5f, -0x1.06ad7ep-6f,
       -0x1.82aaccp-16f, 0x1.d97fa4p-7f, 0x1.bdee2ap-6f, 0x1.3a68a8p-5f, 0x1.89b5d4p-5f, 0x1.ccf45ep-5f,
       0x1.02e88ep-4f, 0x1.1a3b6cp-4f, 0x1.2cb53cp-4f, 0x1.3b86b2p-4f, 0x1.46a466p-4f, 0x1.4dedc6p-4f, 0x1.531792p-4f,
       0x1.54efdcp-4f}};
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
