// Element types: the enumeration every tensor carries, and the C++ types behind it.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace tern {

/// The type of a tensor's elements. c64 and c128 are complex: pairs of f32 and f64, the real part first.
enum class DType : std::uint8_t { boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int kDTypeCount = 13;

inline constexpr DType boolean = DType::boolean, u8 = DType::u8, i8 = DType::i8, i16 = DType::i16,
                       i32 = DType::i32, u32 = DType::u32, i64 = DType::i64, f16 = DType::f16,
                       bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64, c64 = DType::c64, c128 = DType::c128;

namespace detail {
constexpr std::uint16_t float_to_half_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)  // NaN: quiet, keep the top payload bits
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to inf
  if (magnitude < 0x38800000u) {  // subnormal half: add 0.5 so that the FPU rounds at the right bit
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}
constexpr float half_bits_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 0x1fu, mantissa = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}
constexpr std::uint16_t float_to_bfloat_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
/// double → float with round-to-odd: a second rounding to 16 bits then gives the correctly rounded value.
constexpr float narrow_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if ((bits & 0x7f800000u) == 0x7f800000u) return nearest;
  const bool away = (value < 0) ? static_cast<double>(nearest) < value : static_cast<double>(nearest) > value;
  if (away) bits -= 1;
  return std::bit_cast<float>(bits | 1u);
}
}  // namespace detail

/// IEEE 754 binary16. Arithmetic happens in float: convert, compute, convert back (round to nearest even).
struct float16 {
  std::uint16_t bits = 0;
  constexpr float16() = default;
  constexpr explicit float16(float value) : bits(detail::float_to_half_bits(value)) {}
  constexpr explicit float16(double value) : float16(detail::narrow_to_odd(value)) {}
  template <class I> requires std::is_integral_v<I>
  constexpr explicit float16(I value) : float16(static_cast<double>(value)) {}
  constexpr operator float() const { return detail::half_bits_to_float(bits); }
};

/// bfloat16: the upper half of a float.
struct bfloat16 {
  std::uint16_t bits = 0;
  constexpr bfloat16() = default;
  constexpr explicit bfloat16(float value) : bits(detail::float_to_bfloat_bits(value)) {}
  constexpr explicit bfloat16(double value) : bfloat16(detail::narrow_to_odd(value)) {}
  template <class I> requires std::is_integral_v<I>
  constexpr explicit bfloat16(I value) : bfloat16(static_cast<double>(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

/// Bytes of one element.
constexpr std::size_t dtype_size(DType dtype) {
  constexpr std::size_t sizes[kDTypeCount] = {1, 1, 1, 2, 4, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(dtype)];
}
/// "f32", "boolean", …
constexpr std::string_view to_string(DType dtype) {
  constexpr std::string_view names[kDTypeCount] = {"boolean", "u8",   "i8",  "i16", "i32", "u32", "i64",
                                                   "f16",     "bf16", "f32", "f64", "c64", "c128"};
  return names[static_cast<int>(dtype)];
}
/// Prints "f32".
std::ostream& operator<<(std::ostream& stream, DType dtype);
constexpr bool is_floating(DType dtype) { return dtype >= DType::f16 && dtype <= DType::f64; }
constexpr bool is_complex(DType dtype) { return dtype >= DType::c64; }
/// Whether tensors of it have gradients: floating and complex ones.
constexpr bool is_differentiable(DType dtype) { return dtype >= DType::f16; }
/// The dtype of the real and imaginary parts of a complex one; others are their own.
constexpr DType real_dtype(DType dtype) {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}
/// The complex dtype whose parts hold values of this one: c128 of f64 and c128, else c64.
constexpr DType complex_dtype(DType dtype) { return real_dtype(dtype) == DType::f64 ? DType::c128 : DType::c64; }
constexpr bool is_integer(DType dtype) { return dtype >= DType::u8 && dtype <= DType::i64; }
constexpr bool is_unsigned(DType dtype) { return dtype == DType::u8 || dtype == DType::u32; }

/// The dtype that tensors of these two dtypes are computed in together: of one kind the smallest that holds every value
/// of both (i8 and u8: i16, i32 and u32: i64, f16 and bf16: f32), of a float and an integer the float's, of a boolean
/// and anything the other's, of a complex one and another the complex one of what real numbers of both become.
constexpr DType promote_types(DType a, DType b) {
  if (is_complex(a) || is_complex(b)) return complex_dtype(promote_types(real_dtype(a), real_dtype(b)));
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  const DType wider = dtype_size(a) >= dtype_size(b) ? a : b, other = wider == a ? b : a;
  if (is_floating(a)) return dtype_size(a) == dtype_size(b) ? DType::f32 : wider;
  if (is_unsigned(a) == is_unsigned(b) || (!is_unsigned(wider) && dtype_size(wider) > dtype_size(other))) return wider;
  return dtype_size(wider) == 1 ? DType::i16 : DType::i64;  // the unsigned one is as wide or wider
}

namespace detail {
template <class T> struct DTypeOf {};
template <> struct DTypeOf<bool> { static constexpr DType value = DType::boolean; };
template <> struct DTypeOf<std::uint8_t> { static constexpr DType value = DType::u8; };
template <> struct DTypeOf<std::int8_t> { static constexpr DType value = DType::i8; };
template <> struct DTypeOf<std::int16_t> { static constexpr DType value = DType::i16; };
template <> struct DTypeOf<std::int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<std::uint32_t> { static constexpr DType value = DType::u32; };
template <> struct DTypeOf<long> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<long long> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<float16> { static constexpr DType value = DType::f16; };
template <> struct DTypeOf<bfloat16> { static constexpr DType value = DType::bf16; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
/// std::complex<float> or <double>, recognised by its shape: to parse <complex> takes a third of what tern.hpp does.
template <class T>
concept ComplexNumber = requires(const T& z) {
  typename T::value_type;
  requires std::is_same_v<typename T::value_type, float> || std::is_same_v<typename T::value_type, double>;
  requires std::is_same_v<std::remove_cvref_t<decltype(z.real())>, typename T::value_type>;
  requires std::is_same_v<std::remove_cvref_t<decltype(z.imag())>, typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};
template <ComplexNumber T> struct DTypeOf<T> {
  static constexpr DType value = sizeof(T) == 8 ? DType::c64 : DType::c128;
};
}  // namespace detail

/// C++ types that can be elements of a tensor.
template <class T>
concept Element = requires { detail::DTypeOf<std::remove_cv_t<T>>::value; };
template <Element T>
inline constexpr DType dtype_of = detail::DTypeOf<std::remove_cv_t<T>>::value;

/// A plain number as an operand: it takes the dtype of the tensor it meets.
struct Number {
  double real = 0;
  std::int64_t integer = 0;
  bool is_integer = true;  // false also of integers beyond int64_t, which no tensor of integers can meet
  constexpr Number() = default;
  template <class T> requires std::is_integral_v<T>
  constexpr Number(T value)
      : real(static_cast<double>(value)), integer(fits(value) ? static_cast<std::int64_t>(value) : 0),
        is_integer(fits(value)) {}
  template <class T> requires(std::is_floating_point_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
  constexpr Number(T value) : real(static_cast<double>(static_cast<double>(value))), is_integer(false) {}

 private:
  template <class T> static constexpr bool fits(T value) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) return value <= T{INT64_MAX};
    else return true;
  }
};

}  // namespace tern
