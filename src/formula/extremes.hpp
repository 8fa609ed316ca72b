// The least and the largest that a dtype has (what a largest or a smallest element begins with), and numbers by name.
#pragma once
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

#include "tern/dtype.hpp"
#include "tern/error.hpp"
#include "tern/formula.hpp"

namespace tern::detail {

inline constexpr double kPi = std::numbers::pi, kInfinity = std::numeric_limits<double>::infinity(),
                        kNone = std::numeric_limits<double>::quiet_NaN();

/// Of floats the infinities, of booleans false and true.
inline Number extreme_of(DType dtype, bool largest) {
  const auto of = [&]<class T>(T) {
    return Number(static_cast<std::int64_t>(largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min()));
  };
  switch (dtype) {
    case DType::boolean: return Number(largest ? 1 : 0);
    case DType::u8: return of(std::uint8_t{});
    case DType::i8: return of(std::int8_t{});
    case DType::i16: return of(std::int16_t{});
    case DType::i32: return of(std::int32_t{});
    case DType::u32: return of(std::uint32_t{});
    case DType::i64: return of(std::int64_t{});
    default: break;
  }
  return Number(largest ? kInfinity : -kInfinity);
}

/// Sizes of axes multiplied and added: what 64 bits do not hold throws shape, naming op.
inline std::int64_t size_times(const char* op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  throw Error(ErrorKind::shape, std::string(op) + ": " + std::to_string(a) + " times " + std::to_string(b) +
                                    " elements along an axis are more than 2^63-1");
}
inline std::int64_t size_plus(const char* op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  throw Error(ErrorKind::shape, std::string(op) + ": " + std::to_string(a) + " and " + std::to_string(b) +
                                    " elements along an axis are more than 2^63-1");
}

}  // namespace tern::detail
