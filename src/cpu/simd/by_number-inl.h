// Division of many by one number, with the bits of a division. Stands after math-inl.h. No include guard: once per
// target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A number to divide by. A vector of 64 bytes is divided in 3.3 (f32) or 5.3 ns (f64; Emerald Rapids), and a mean of
/// rows of two has one for each two vectors that it reads. Means from memory to memory, f64, one series after the other
/// (three each): rows of 3 1.9 to 2.7 of long rows' time by divisions and 1.4 to 1.7, f32 1.4 to 1.7 and 1.4 to 1.5.
///
/// By a power of two it is a product with its reciprocal, which is exact. By another integer 2^k m, m odd and of few
/// bits, r being 1 / m rounded: q = x r; its error e = q m - x is exact; q - e r is x / m but for 3 · 2^-p last places
/// (p: bits of a significand) before it is rounded, and x / m lies 1 / 2m last places or more off where that goes the
/// other way. It times 2^-k is exact unless it is subnormal. Vectors with such a lane or an infinity are divided.
template <class D> class ByNumber {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  HWY_INLINE ByNumber(D d, T number) : number_(hn::Set(d, number)) {
    const T size = number < 0 ? -number : number;
    T odd = number, power = 1;
    if (IsPowerOfTwo(size) && IsNormal(size) && IsNormal(1 / size)) {
      way_ = DivisionMethod::multiply;
    } else if (HWY_NATIVE_FMA && number >= 1 && number <= kMost) {
      auto integer = static_cast<std::int32_t>(number);
      if (static_cast<T>(integer) != number) integer = 1;
      for (; integer % 2 == 0; integer /= 2) power *= 2;
      odd = static_cast<T>(integer);
      if (integer > 1) way_ = power == 1 ? DivisionMethod::correct : DivisionMethod::correct_and_scale;
    }
    odd_ = hn::Set(d, odd), reciprocal_ = hn::Set(d, 1 / odd);
    power_ = hn::Set(d, power), scale_ = hn::Set(d, 1 / power);
  }
  HWY_INLINE V Run(D d, V x) const { return RunBy(d, x, way_); }
  /// By a number that is known when this is compiled.
  template <std::size_t kNumber> HWY_INLINE V RunBy(D d, V x) const {
    constexpr DivisionMethod kWay = kNumber % 2 != 0           ? DivisionMethod::correct
                                    : (kNumber & (kNumber - 1)) ? DivisionMethod::correct_and_scale
                                                                : DivisionMethod::multiply;
    return RunBy(d, x, HWY_NATIVE_FMA || kWay == DivisionMethod::multiply ? kWay : DivisionMethod::divide);
  }

 private:
  enum class DivisionMethod : std::uint8_t { divide, multiply, correct, correct_and_scale };
  HWY_INLINE V RunBy(D d, V x, DivisionMethod way) const {
    if (way == DivisionMethod::divide) return hn::Div(x, number_);
    const V q = hn::Mul(x, reciprocal_);
    if (way == DivisionMethod::multiply) return q;
    const V error = hn::MulSub(q, odd_, x), y = hn::NegMulAdd(error, reciprocal_, q);  // in this order -0 for -0
    if (way == DivisionMethod::correct) return hn::IfThenElse(hn::IsNaN(error), q, y);
    const V z = hn::Mul(y, scale_);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(hn::Mul(z, power_), y)))) return hn::Div(x, number_);
    return z;
  }
  static constexpr T kMost = 65536;
  static HWY_INLINE bool IsPowerOfTwo(T x) {  // of those that are normal
    hwy::MakeUnsigned<T> bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits << (sizeof(T) == 4 ? 9 : 12) == 0;
  }
  static HWY_INLINE bool IsNormal(T x) {
    return x >= std::numeric_limits<T>::min() && x <= std::numeric_limits<T>::max();
  }

  DivisionMethod way_ = DivisionMethod::divide;
  V number_, odd_, reciprocal_, power_, scale_;
};

/// As ElementaryFn of a division whose second argument is one number throughout.
template <class T> void DivideByNumber(const void* const* args, void* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const T *const x = static_cast<const T*>(args[0]), number = *static_cast<const T*>(args[1]);
  T* const to = static_cast<T*>(out);
  const ByNumber<decltype(d)> by(d, number);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) hn::StoreU(by.Run(d, hn::LoadU(d, x + i)), d, to + i);
  for (; i < n; ++i) to[i] = x[i] / number;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
