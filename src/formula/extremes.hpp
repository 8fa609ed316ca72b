// The least and the largest that a dtype has (what a largest or a smallest element begins with), and numbers by name.
#pragma once
#include <cstdint>
#include <limits>
#include <numbers>

#include "tern/formula.hpp"
#include "tern/dtype.hpp"

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

}  // namespace tern::detail
