// Complex numbers computed as they lie in memory, a real part and an imaginary part in turn. What comes out is, to the
// bit, what the tape computes of parts taken from each other. No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>
#include <limits>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V> HWY_INLINE void StorePairs(D d, V v, hn::TFromD<D>* to, bool stream) {
  if (HWY_UNLIKELY(stream)) hn::Stream(v, d, to);
  else hn::StoreU(v, d, to);
}

/// a·b: (re·re - im·im, re·im + im·re), no two rounded as one.
template <class D, class V = hn::Vec<D>> HWY_INLINE V ProductOfPairs(D d, V a, V b) {
  const V t = hn::Mul(a, hn::DupEven(b)), u = hn::Mul(hn::Reverse2(d, a), hn::DupOdd(b));
  return hn::OddEven(hn::Add(t, u), hn::Sub(t, u));
}
template <class T> void ProductsOfPairs(const void* a, const void* b, void* out, std::size_t n, bool stream) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), count = 2 * n;
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* const to = static_cast<T*>(out);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    StorePairs(d, ProductOfPairs(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), to + i, stream);
  if (i == count) return;
  HWY_ALIGN T left[hn::MaxLanes(d)] = {}, right[hn::MaxLanes(d)] = {};
  __builtin_memcpy(left, x + i, (count - i) * sizeof(T));
  __builtin_memcpy(right, y + i, (count - i) * sizeof(T));
  hn::Store(ProductOfPairs(d, hn::Load(d, left), hn::Load(d, right)), d, left);
  __builtin_memcpy(to + i, left, (count - i) * sizeof(T));
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
  for (; i + lanes <= n; i += lanes) StorePairs(d, modulus(x + parts * i, y ? y + i : nullptr), to + i, stream);
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
