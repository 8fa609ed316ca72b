// The reference expressions of the files of elementary functions (TERN_ELEMENTARY_REFERENCE), compiled for three real
// types: __float128, which is the truth, and double and long double, which are quick and decide the points that are not
// close.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "contract/quad.hpp"
#include "formula/elementary.hpp"

namespace tern::contract {

/// The inverse of erf, by Halley's steps from Winitzki's approximation; of erfc near the ends.
inline Quad erfinvq(Quad x) {
  const Quad a = fabsq(x), c = 1 - a, slope = 1.12837916709551257389615890312154517Q;
  if (!(a < 1)) return a == 1 ? x / 0.0Q : nanq("");
  if (a == 0) return x;
  const Quad w = logq(c * (1 + a)), b = 4.33074675078797Q + w / 2;
  Quad y = sqrtq(sqrtq(b * b - w / 0.147Q) - b);
  for (int i = 0; i < 4; ++i) {
    const Quad off = (a < 0.5Q ? erfq(y) - a : c - erfcq(y)) / (slope * expq(-y * y));
    y -= off / (1 + y * off);
  }
  return copysignq(y, x);
}

#define TERN_ELEMENTARY_REFERENCE

namespace in_quad {
#define TERN_REFERENCE(name) inline Quad at_##name([[maybe_unused]] const Quad* x)
#include "elementary_all.inc"
#undef TERN_REFERENCE
}  // namespace in_quad

// The names of libquadmath for other types. A reference that uses a function not listed here calls libquadmath itself.
#define TERN_QUICK_FUNCTIONS(T)                                \
  inline T expq(T v) { return std::exp(v); }                   \
  inline T expm1q(T v) { return std::expm1(v); }               \
  inline T logq(T v) { return std::log(v); }                   \
  inline T log1pq(T v) { return std::log1p(v); }               \
  inline T sqrtq(T v) { return std::sqrt(v); }                 \
  inline T powq(T a, T b) { return std::pow(a, b); }           \
  inline T sinq(T v) { return std::sin(v); }                   \
  inline T cosq(T v) { return std::cos(v); }                   \
  inline T tanhq(T v) { return std::tanh(v); }                 \
  inline T tanq(T v) { return std::tan(v); }                   \
  inline T atanq(T v) { return std::atan(v); }                 \
  inline T atan2q(T a, T b) { return std::atan2(a, b); }       \
  inline T exp2q(T v) { return std::exp2(v); }                 \
  inline T log2q(T v) { return std::log2(v); }                 \
  inline T log10q(T v) { return std::log10(v); }               \
  inline T erfq(T v) { return std::erf(v); }                   \
  inline T erfcq(T v) { return std::erfc(v); }                 \
  inline T erfinvq(T v) { return static_cast<T>(contract::erfinvq(static_cast<Quad>(v))); } \
  inline T fmodq(T a, T b) { return std::fmod(a, b); }         \
  inline T copysignq(T a, T b) { return std::copysign(a, b); } \
  inline T fabsq(T v) { return std::fabs(v); }                 \
  inline T floorq(T v) { return std::floor(v); }               \
  inline T ceilq(T v) { return std::ceil(v); }                 \
  inline T rintq(T v) { return std::nearbyint(v); }            \
  inline T ldexpq(T v, int n) { return std::ldexp(v, n); }     \
  inline bool isnanq(T v) { return v != v; }

namespace in_double {
TERN_QUICK_FUNCTIONS(double)
#define TERN_REFERENCE(name) inline double at_##name([[maybe_unused]] const double* x)
#include "elementary_all.inc"
#undef TERN_REFERENCE
}  // namespace in_double

namespace in_extended {
TERN_QUICK_FUNCTIONS(long double)
#define TERN_REFERENCE(name) inline long double at_##name([[maybe_unused]] const long double* x)
#include "elementary_all.inc"
#undef TERN_REFERENCE
}  // namespace in_extended

#undef TERN_QUICK_FUNCTIONS
#undef TERN_ELEMENTARY_REFERENCE

template <class Real> using Reference = Real (*)(const Real*);

#define TERN_ELEMENTARY(name, arity) &at_##name,
#define TERN_ELEMENTARY_INNER(name, arity) &at_##name,
#define TERN_ELEMENTARY_REDUCE(name) &at_##name,
namespace in_quad {
inline constexpr Reference<Quad> table[] = {
#include "tern/elementary.inc"
};
}  // namespace in_quad
namespace in_double {
inline constexpr Reference<double> table[] = {
#include "tern/elementary.inc"
};
}  // namespace in_double
namespace in_extended {
inline constexpr Reference<long double> table[] = {
#include "tern/elementary.inc"
};
}  // namespace in_extended
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE

inline Quad reference(detail::Elementary elementary, const Quad* x) {
  return in_quad::table[static_cast<int>(elementary)](x);
}
inline double reference(detail::Elementary elementary, const double* x) {
  return in_double::table[static_cast<int>(elementary)](x);
}
inline long double reference(detail::Elementary elementary, const long double* x) {
  return in_extended::table[static_cast<int>(elementary)](x);
}

/// The sum of the terms of pow_partial's factor, or of their magnitudes.
inline Quad factor_of_pow_partial(Quad b, Quad log_a, int k, int m, bool magnitudes) {
  return in_quad::pow_partial_factor(b, log_a, k, m, magnitudes);
}
inline double factor_of_pow_partial(double b, double log_a, int k, int m, bool magnitudes) {
  return in_double::pow_partial_factor(b, log_a, k, m, magnitudes);
}
inline long double factor_of_pow_partial(long double b, long double log_a, int k, int m, bool magnitudes) {
  return in_extended::pow_partial_factor(b, log_a, k, m, magnitudes);
}
// What the evaluation needs of each real type. `kDoubt`: a relative error larger than that of the references.
inline bool is_nan(Quad v) { return v != v; }
inline bool is_nan(double v) { return v != v; }
inline bool is_nan(long double v) { return v != v; }
inline bool negative(Quad v) { return signbitq(v) != 0; }
inline bool negative(double v) { return std::signbit(v); }
inline bool negative(long double v) { return std::signbit(v); }
inline int exponent_of(Quad v) { return ilogbq(v); }
/// Of numbers that are not 0; subnormal ones count as the smallest exponent.
inline int exponent_of(double v) { return static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52 & 2047) - 1023; }
inline int exponent_of(long double v) { return std::ilogb(v); }
inline Quad power_of_two(Quad, int e) { return ldexpq(1, e); }
inline double power_of_two(double, int e) {
  return e < -1022 ? std::ldexp(1.0, e) : std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}
inline long double power_of_two(long double, int e) { return std::ldexp(1.0L, e); }
template <class Real> struct Doubt { static constexpr double value = 0; };
template <> struct Doubt<double> { static constexpr double value = 0x1p-48; };
template <> struct Doubt<long double> { static constexpr double value = 0x1p-60; };

}  // namespace tern::contract
