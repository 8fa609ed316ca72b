// Complex numbers computed as they lie in memory, a real part and an imaginary part in turn. What comes out is, to the
// bit, what the tape computes of parts taken from each other. Stands after halves-inl.h and transpose-inl.h. No include
// guard: once per target file.
#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <limits>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// a·b: (re·re - im·im, re·im + im·re), no two rounded as one.
template <class D, class V = hn::Vec<D>> HWY_INLINE V ProductOfPairs(D d, V a, V b) {
  const V t = hn::Mul(a, hn::DupEven(b)), u = hn::Mul(hn::Reverse2(d, a), hn::DupOdd(b));
  return hn::OddEven(hn::Add(t, u), hn::Sub(t, u));
}
/// a·conj(b).
template <class D, class V = hn::Vec<D>> HWY_INLINE V ConjugateProductOfPairs(D d, V a, V b) {
  return ProductOfPairs(d, a, hn::OddEven(hn::Neg(b), b));
}
/// Each number's |v|², twice.
template <class D, class V = hn::Vec<D>> HWY_INLINE V SquaresOfPairs(D d, V v) {
  const V square = hn::Mul(v, v);
  return hn::Add(square, hn::Reverse2(d, square));
}
/// Quotients of numbers whose larger parts are 2^-30 to 2^30, which src/formula/complex_rules.cpp's Quotient divides by
/// 1 only: `squares` is |b|² twice, and the rest all that is left of its steps.
template <class D, class V = hn::Vec<D>> HWY_INLINE V QuotientNearOne(D d, V a, V b, V squares) {
  const V t = hn::Mul(a, hn::DupEven(b)), u = hn::Mul(hn::Reverse2(d, a), hn::Neg(hn::DupOdd(b)));
  return hn::Div(hn::OddEven(hn::Add(t, u), hn::Sub(t, u)), squares);
}
/// Whether they are, in two vectors of each, by their squares: 2^-59 to 2^60 are of fewer numbers. As bits, with 2^31
/// off as well, they are one range of signed integers, beyond which NaN is.
template <class D, class V = hn::Vec<D>> HWY_INLINE bool AreNearOne(D, const V* squares_of_a, const V* squares_of_b) {
  using T = hn::TFromD<D>;
  using I = hwy::MakeSigned<T>;
  using U = hwy::MakeUnsigned<T>;
  const hn::RebindToSigned<D> di;
  const auto bits = [](T x) { return std::bit_cast<U>(x); };
  const U least = bits(T{0x1p-59}), lowest = U{1} << (8 * sizeof(U) - 1);
  const auto off = hn::Set(di, static_cast<I>(least + lowest));
  const auto above = [&](V x) HWY_ATTR { return hn::Sub(hn::BitCast(di, x), off); };
  const auto of_a = hn::Max(above(squares_of_a[0]), above(squares_of_a[1]));
  const auto of_b = hn::Max(above(squares_of_b[0]), above(squares_of_b[1]));
  const auto most = hn::Set(di, static_cast<I>(bits(T{0x1p60}) - least + lowest));
  return hn::AllFalse(di, hn::Gt(hn::Max(of_a, of_b), most));
}
/// All quotients by it, step by step: `re` and `im` of a, then those of a/b.
template <class D, class V = hn::Vec<D>> HWY_INLINE void DivideParts(D d, V& re, V& im, V c, V e) {
  using T = hn::TFromD<D>;
  const auto number = [&](double x) HWY_ATTR { return hn::Set(d, static_cast<T>(x)); };
  const V one = number(1), zero = hn::Zero(d), infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto larger = [&](V x, V y) HWY_ATTR {
    return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), hn::NaN(d), hn::Max(hn::Abs(x), hn::Abs(y)));
  };
  const auto moderating = [&](V size) HWY_ATTR {
    const V small = hn::IfThenElse(hn::Lt(size, number(0x1p-110)), number(0x1p110), one);
    return hn::IfThenElse(hn::Ge(size, one), number(0.5), small);
  };
  const V size = larger(c, e), size_of_z = larger(re, im), by_none = hn::Abs(c);
  const auto near_one = [&](V x) HWY_ATTR { return hn::And(hn::Ge(x, number(0x1p-30)), hn::Le(x, number(0x1p30))); };
  const auto near = hn::And(near_one(size_of_z), near_one(size));
  const V of_z = hn::IfThenElse(near, one, moderating(size_of_z)), of_w = hn::IfThenElse(near, one, moderating(size));
  const auto endless = hn::Or(hn::Eq(hn::Abs(c), infinity), hn::Eq(hn::Abs(e), infinity));
  const auto none = hn::Eq(size, zero);
  const auto moderate = hn::AndNot(near, hn::And(hn::Gt(size, zero), hn::Lt(size, infinity)));
  const V divisor = hn::IfThenElse(moderate, hn::Mul(size, of_w), one);
  const auto unit = [&](V part) HWY_ATTR {
    const V far = hn::CopySign(hn::IfThenElseZero(hn::Eq(hn::Abs(part), infinity), one), part);
    return hn::IfThenElse(endless, far, hn::Div(hn::Mul(part, of_w), divisor));
  };
  c = unit(c), e = unit(e);
  const V squares = hn::Add(hn::Mul(c, c), hn::Mul(e, e)), scale = hn::IfThenElse(endless, infinity, divisor);
  const V factor = hn::Div(of_w, of_z), a = hn::Mul(re, of_z), b = hn::Mul(im, of_z);
  const auto part = [&](V top, V of_none) HWY_ATTR {
    const V value = hn::Mul(hn::Div(hn::Div(top, squares), scale), factor);
    return hn::IfThenElse(none, hn::Div(of_none, by_none), value);
  };
  re = part(hn::Add(hn::Mul(a, c), hn::Mul(b, e)), re);
  im = part(hn::Sub(hn::Mul(b, c), hn::Mul(a, e)), im);
}
/// a·b or a·conj(b), a vector at a time.
template <class T, bool kConjugate>
void ProductsOfPairs(const void* a, const void* b, void* out, std::size_t n, bool stream) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d), count = 2 * n;
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* const to = static_cast<T*>(out);
  const auto product = [&](V v, V w)
                           HWY_ATTR { return kConjugate ? ConjugateProductOfPairs(d, v, w) : ProductOfPairs(d, v, w); };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    StoreOperand(d, product(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), to + i, stream);
  if (i == count) return;
  HWY_ALIGN T left[hn::MaxLanes(d)] = {}, right[hn::MaxLanes(d)] = {};
  __builtin_memcpy(left, x + i, (count - i) * sizeof(T));
  __builtin_memcpy(right, y + i, (count - i) * sizeof(T));
  hn::Store(product(hn::Load(d, left), hn::Load(d, right)), d, left);
  __builtin_memcpy(to + i, left, (count - i) * sizeof(T));
}
/// a/b, two vectors at a time; unless all are near 1, parts are taken from each other and joined in registers. Of 1000
/// numbers of f32 one takes 0.53 ns, divisions alone 0.42 (Emerald Rapids); with four vectors for a check 0.52 to 0.54.
template <class T> void QuotientsOfPairs(const void* dividends, const void* divisors, void* out, std::size_t n,
                                         bool stream) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const T *x = static_cast<const T*>(dividends), *y = static_cast<const T*>(divisors);
  T* const to = static_cast<T*>(out);
  HWY_ALIGN T joined[2 * hn::MaxLanes(d)], left[2 * hn::MaxLanes(d)] = {}, right[2 * hn::MaxLanes(d)] = {};
  const auto divide = [&](const T* z, const T* w) HWY_ATTR {
    V re, im, c, e;
    hn::LoadInterleaved2(d, z, re, im), hn::LoadInterleaved2(d, w, c, e);
    DivideParts(d, re, im, c, e);
    hn::StoreInterleaved2(re, im, d, joined);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V a[2], b[2], squares_of_a[2], squares[2];
    TERN_UNROLL for (std::size_t k = 0; k < 2; ++k) {
      a[k] = hn::LoadU(d, x + 2 * i + k * lanes), b[k] = hn::LoadU(d, y + 2 * i + k * lanes);
      squares_of_a[k] = SquaresOfPairs(d, a[k]), squares[k] = SquaresOfPairs(d, b[k]);
    }
    if (HWY_LIKELY(AreNearOne(d, squares_of_a, squares))) {
      TERN_UNROLL for (std::size_t k = 0; k < 2; ++k)
        StoreOperand(d, QuotientNearOne(d, a[k], b[k], squares[k]), to + 2 * i + k * lanes, stream);
      continue;
    }
    divide(x + 2 * i, y + 2 * i);
    StoreOperand(d, hn::Load(d, joined), to + 2 * i, stream);
    StoreOperand(d, hn::Load(d, joined + lanes), to + 2 * i + lanes, stream);
  }
  if (i == n) return;
  __builtin_memcpy(left, x + 2 * i, 2 * (n - i) * sizeof(T));
  __builtin_memcpy(right, y + 2 * i, 2 * (n - i) * sizeof(T));
  divide(left, right);
  __builtin_memcpy(to + 2 * i, joined, 2 * (n - i) * sizeof(T));
}

/// The formula hypot (include/tern/formulas.inc): where every number is near 1, without its divisions.
template <class D, class V = hn::Vec<D>> HWY_INLINE V Modulus(D d, V a, V b) {
  using T = hn::TFromD<D>;
  const auto number = [&](double x) HWY_ATTR { return hn::Set(d, static_cast<T>(x)); };
  const V x = hn::Abs(a), y = hn::Abs(b), least = number(0x1p-12), most = number(0x1p12);
  const auto near = hn::And(hn::Or(hn::Ge(x, least), hn::Ge(y, least)), hn::And(hn::Le(x, most), hn::Le(y, most)));
  if (HWY_LIKELY(hn::AllTrue(d, near))) return hn::Sqrt(hn::Add(hn::Mul(a, a), hn::Mul(b, b)));
  const V m = hn::Max(x, y), one = number(1), infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto far = hn::AndNot(near, hn::And(hn::Gt(m, hn::Zero(d)), hn::Lt(m, infinity)));
  const V s = hn::IfThenElse(far, m, one), p = hn::Div(a, s), q = hn::Div(b, s);
  const V value = hn::Mul(s, hn::Sqrt(hn::Add(hn::Mul(p, p), hn::Mul(q, q))));
  return hn::IfThenElse(hn::Or(hn::Eq(x, infinity), hn::Eq(y, infinity)), infinity, value);
}
/// Of complex numbers in a; or, unless b is null, of the real parts in a and the imaginary ones in b.
template <class T> void ModuliOfPairs(const void* a, const void* b, void* out, std::size_t n, bool stream) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d), parts = b ? 1 : 2;
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* const to = static_cast<T*>(out);
  const auto modulus = [&](const T* re_or_both, const T* im) HWY_ATTR {
    V re, imaginary;
    if (im) re = hn::LoadU(d, re_or_both), imaginary = hn::LoadU(d, im);
    else hn::LoadInterleaved2(d, re_or_both, re, imaginary);
    return Modulus(d, re, imaginary);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreOperand(d, modulus(x + parts * i, y ? y + i : nullptr), to + i, stream);
  if (i == n) return;
  HWY_ALIGN T rest[2 * hn::MaxLanes(d)] = {}, others[hn::MaxLanes(d)] = {};
  __builtin_memcpy(rest, x + parts * i, parts * (n - i) * sizeof(T));
  if (y) __builtin_memcpy(others, y + i, (n - i) * sizeof(T));
  hn::Store(modulus(rest, y ? others : nullptr), d, rest);
  __builtin_memcpy(to + i, rest, (n - i) * sizeof(T));
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
