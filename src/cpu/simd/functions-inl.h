// Formulas of elementary functions that have a kernel of their own (cpu/tape/known_functions.hpp): what they are is in
// include/tern/formulas.inc, and how exact they must be in tests/contract/truths.hpp. f32 where kWide is computed in
// another way, everything else as the formula says. Stands after elementary-inl.h. (No include guard: once per target
// file.)
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Elementary L, class D, class V> HWY_INLINE V Call(D d, V x) { return SimdFunction<L>::Run(d, x); }

/// asin(a) for 0 <= a <= 1/2, and what is above as pi/2 - 2·asin(sqrt((1 - a)/2)): of `root` and its excess.
template <class D> struct AsinParts {
  hn::Vec<D> a, root, excess;
  hn::Mask<D> far;
};
/// asin(r)/r - 1 of z = r²: f32 2^-27.6; f64 the formula's coefficients.
template <class D, class V> HWY_INLINE AsinParts<D> SplitAsin(D d, V x) {
  const V a = hn::Abs(x), half = Num(d, 0.5);
  const auto far = hn::Gt(a, half);
  const V z = hn::IfThenElse(far, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
  const V root = hn::IfThenElse(far, NearSqrt(d, z), a);
  V p;
  if constexpr (kSingle<D>) {
    p = Horner(d, z, 0.16666754f, 0.07495252f, 0.045476038f, 0.02415213f, 0.042211708f);
  } else {
    p = Polynomial(d, z, 0.16666666666665408, 0.07500000000336965, 0.0446428568283655, 0.030381959135545547,
                   0.022371758082362154, 0.017359704307554964, 0.013885239773143494, 0.012169184343285424,
                   0.006528089899356913, 0.019527959520730696, -0.01622378426143257, 0.0319119555818058);
  }
  return {a, root, hn::Mul(hn::Mul(root, z), p), far};
}
/// pi/2 in two parts, the first of which is an f32.
inline constexpr double kHalfPiHigh = 1.5707963705062866, kHalfPiLow = -4.371139000186241e-08;

struct AsinKernel {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const AsinParts<D> p = SplitAsin(d, x);
    const V two = Num(d, 2), high = Num(d, kHalfPiHigh), low = Num(d, kHalfPiLow);
    if constexpr (kWide && kSingle<D>) {
      return hn::CopySign(
          hn::Add(NegMulAddWhere(p.far, p.root, two, high), NegMulAddWhere(p.far, p.excess, two, low)), x);
    }
    const V far = hn::Add(hn::NegMulAdd(two, p.root, high), hn::NegMulAdd(two, p.excess, low));
    return hn::CopySign(hn::IfThenElse(p.far, far, hn::Add(p.root, p.excess)), x);
  }
};
struct AcosKernel {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const AsinParts<D> p = SplitAsin(d, x);
    const V y = hn::Add(p.root, p.excess);
    const V rest = hn::Sub(Num(d, kHalfPiLow), hn::IfThenElse(p.far, y, hn::CopySign(y, x)));
    const V q = hn::Add(Num(d, kHalfPiHigh), rest);
    const V of_far = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), y, q);
    return hn::IfThenElse(p.far, hn::Add(of_far, of_far), q);
  }
};

struct SinhKernel {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    if constexpr (kWide && kSingle<D>) {
      return TableOfHyperbolics::Sinh(d, x);
    } else {
      const V y = hn::Abs(x);
      const auto far = hn::Ge(y, Num(d, 20));
      const V one = Num(d, 1), e = Call<Elementary::expm1>(d, hn::IfThenElse(far, hn::Sub(y, one), y));
      const V more = hn::Add(e, one), near = hn::Mul(Num(d, 0.5), hn::Add(e, hn::Div(e, more)));
      return hn::CopySign(hn::IfThenElse(far, hn::Mul(Num(d, 1.3591409142295225), more), near), x);
    }
  }
};
struct CoshKernel {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    if constexpr (kWide && kSingle<D>) {
      return TableOfHyperbolics::Cosh(d, x);
    } else {
      const V y = hn::Abs(x);
      const auto far = hn::Ge(y, Num(d, 20));
      const V half = Num(d, 0.5), e = Call<Elementary::exp>(d, hn::IfThenElse(far, hn::Sub(y, Num(d, 1)), y));
      const V near = hn::Add(hn::Mul(half, e), hn::Div(half, e));
      return hn::IfThenElse(far, hn::Mul(Num(d, 1.3591409142295225), e), near);
    }
  }
};

/// Of a vector all of whose numbers the other way covers that way's result, else the formula's where it does not.
template <class D, class M, class V, class F> HWY_INLINE V WhereCovered(D d, M covered, V value, const F& formula) {
  if (HWY_LIKELY(hn::AllTrue(d, covered))) return value;
  return hn::IfThenElse(covered, value, formula());
}

struct AsinhKernel {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const V y = hn::Abs(x), most = Num(d, 268435456);
    if constexpr (kWide && kSingle<D>) {
      const V square = hn::Mul(y, y), one = Num(d, 1);
      const V root = NearSqrt(d, hn::MulAdd(y, y, one));
      const V inverse = NearReciprocal(d, hn::Add(root, one)), more = hn::MulAdd(square, inverse, y);
      const V lost = hn::MulAdd(square, inverse, hn::Sub(y, more));  // without it 2.05 units off, which is too much
      return WhereCovered(d, hn::Lt(y, most), hn::CopySign(TableOfLog1p::RunPair(d, more, lost), x),
                          [&]() HWY_ATTR { return Formula(d, x, y, most); });
    } else {
      return Formula(d, x, y, most);
    }
  }
  template <class D, class V> static HWY_INLINE V Formula(D d, V x, V y, V most) {
    const auto far = hn::Ge(y, most);
    const V one = Num(d, 1), n = hn::IfThenZeroElse(far, y), square = hn::Mul(n, n);
    const V more = hn::Add(n, hn::Div(square, hn::Add(one, hn::Sqrt(hn::Add(one, square)))));
    const V log = Call<Elementary::log1p>(d, hn::IfThenElse(far, hn::Sub(y, one), more));
    return hn::CopySign(hn::IfThenElse(far, hn::Add(log, Num(d, 0.6931471805599453)), log), x);
  }
};
struct AcoshKernel {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const V most = Num(d, 268435456), one = Num(d, 1);
    if constexpr (kWide && kSingle<D>) {
      const V t = hn::Sub(x, one), more = hn::Add(t, NearSqrt(d, hn::MulAdd(t, t, hn::Add(t, t))));
      return WhereCovered(d, hn::And(hn::Ge(x, one), hn::Lt(x, most)), TableOfLog1p::Run(d, more),
                          [&]() HWY_ATTR { return Formula(d, x, most, one); });
    } else {
      return Formula(d, x, most, one);
    }
  }
  template <class D, class V> static HWY_INLINE V Formula(D d, V x, V most, V one) {
    const auto far = hn::Ge(x, most);
    const V rest = hn::Sub(x, one), t = hn::IfThenZeroElse(far, rest);
    const V more = hn::Add(t, hn::Sqrt(hn::Mul(t, hn::Abs(hn::Add(t, Num(d, 2))))));
    const V log = Call<Elementary::log1p>(d, hn::IfThenElse(far, rest, more));
    return hn::IfThenElse(far, hn::Add(log, Num(d, 0.6931471805599453)), log);
  }
};
struct AtanhKernel {
  template <class D, class V> static HWY_INLINE V Run(D d, V x) {
    const V y = hn::Abs(x), one = Num(d, 1), twice = hn::Add(y, y), half = Num(d, 0.5);
    const auto formula = [&]() HWY_ATTR {
      const V log = Call<Elementary::log1p>(d, hn::Div(twice, hn::Sub(one, y)));
      return hn::CopySign(hn::Mul(half, log), x);
    };
    if constexpr (kWide && kSingle<D>) {
      const V more = hn::MulAdd(hn::Mul(twice, y), NearReciprocal(d, hn::Sub(one, y)), twice);
      const V log = TableOfLog1p::Run(d, more);
      return WhereCovered(d, hn::Lt(y, one), hn::CopySign(hn::Mul(half, log), x), formula);
    } else {
      return formula();
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
