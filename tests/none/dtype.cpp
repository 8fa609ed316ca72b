// float16 and bfloat16 against the definition of their formats, exhaustively where that is possible.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tern/dtype.hpp"

namespace tern {
namespace {

/// The value of a 16-bit pattern with this many exponent and mantissa bits.
double decoded(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int sign = bits >> 15, exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1),
            mantissa = bits & ((1 << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double v;
  if (exponent == (1 << exponent_bits) - 1) v = mantissa ? std::nan("") : INFINITY;
  else if (exponent == 0) v = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else v = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return sign ? -v : v;
}
template <class T> double reference(std::uint16_t bits) {
  if constexpr (std::is_same_v<T, float16>) return decoded(bits, 5, 10);
  else return decoded(bits, 8, 7);
}
template <class T> T pattern(std::uint16_t bits) {
  T v;
  v.bits = bits;
  return v;
}
template <class T> constexpr std::uint16_t kInfinity = std::is_same_v<T, float16> ? 0x7c00 : 0x7f80;

template <class T> class SixteenBits : public testing::Test {};
using SixteenBitTypes = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(SixteenBits, SixteenBitTypes);

TYPED_TEST(SixteenBits, EveryPatternDecodes) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double want = reference<TypeParam>(bits), got = static_cast<float>(pattern<TypeParam>(bits));
    if (std::isnan(want)) ASSERT_TRUE(std::isnan(got)) << i;
    else ASSERT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(want)) << i;
  }
}
TYPED_TEST(SixteenBits, EveryPatternRoundTrips) {
  for (int i = 0; i < 65536; ++i) {
    const auto v = pattern<TypeParam>(static_cast<std::uint16_t>(i));
    const float f = v;
    if (std::isnan(f)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(f)))) << i;
    } else {
      ASSERT_EQ(TypeParam(f).bits, v.bits);
      ASSERT_EQ(TypeParam(static_cast<double>(f)).bits, v.bits);
    }
  }
}
/// Between neighbours: below the middle down, above it up, the middle to the even pattern.
TYPED_TEST(SixteenBits, RoundsToNearestEven) {
  for (std::uint16_t low = 0; low < kInfinity<TypeParam>; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const double below = reference<TypeParam>(low);
    // The infinite neighbour counts as the next finite value would.
    const double above = high == kInfinity<TypeParam>
                             ? 2 * below - reference<TypeParam>(static_cast<std::uint16_t>(low - 1))
                             : reference<TypeParam>(high);
    const double middle = below + (above - below) / 2, step = (above - below) * 0x1p-20;
    ASSERT_EQ(TypeParam(middle).bits, low % 2 ? high : low) << low;
    ASSERT_EQ(TypeParam(middle - step).bits, low) << low;
    ASSERT_EQ(TypeParam(middle + step).bits, high) << low;
    ASSERT_EQ(TypeParam(-middle).bits, 0x8000 | (low % 2 ? high : low)) << low;
    const float as_float = static_cast<float>(middle);
    if (static_cast<double>(as_float) == middle) {
      ASSERT_EQ(TypeParam(as_float).bits, low % 2 ? high : low) << low;
      ASSERT_EQ(TypeParam(std::nextafterf(as_float, 0)).bits, low) << low;
      ASSERT_EQ(TypeParam(std::nextafterf(as_float, INFINITY)).bits, high) << low;
    }
  }
}
TYPED_TEST(SixteenBits, DoublesAreRoundedOnce) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 200000; ++i) {
    const auto low = static_cast<std::uint16_t>(engine() % (kInfinity<TypeParam> - 1));
    const double below = reference<TypeParam>(low), above = reference<TypeParam>(static_cast<std::uint16_t>(low + 1)),
                 middle = below + (above - below) / 2;
    const double v = std::nextafter(middle, engine() % 2 ? INFINITY : -INFINITY);
    ASSERT_EQ(TypeParam(v).bits, v > middle ? low + 1 : low);
  }
}
TYPED_TEST(SixteenBits, Extremes) {
  EXPECT_EQ(TypeParam(INFINITY).bits, kInfinity<TypeParam>);
  EXPECT_EQ(TypeParam(-1e300).bits, 0x8000 | kInfinity<TypeParam>);
  EXPECT_EQ(TypeParam(-0.0).bits, 0x8000);
  EXPECT_EQ(TypeParam(1e-300).bits, 0);
  EXPECT_EQ(static_cast<float>(TypeParam(7)), 7.0f);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::nan("")))));
}

TEST(DTypes, SizesAndNames) {
  const std::pair<DType, std::pair<std::size_t, const char*>> list[] = {
      {boolean, {1, "boolean"}}, {u8, {1, "u8"}},   {i8, {1, "i8"}},   {i16, {2, "i16"}},
      {i32, {4, "i32"}},         {u32, {4, "u32"}}, {i64, {8, "i64"}}, {f16, {2, "f16"}},
      {bf16, {2, "bf16"}},       {f32, {4, "f32"}}, {f64, {8, "f64"}}};
  for (const auto& [dtype, want] : list) {
    EXPECT_EQ(dtype_size(dtype), want.first);
    EXPECT_EQ(to_string(dtype), want.second);
  }
  EXPECT_TRUE(is_floating(f16) && is_floating(bf16) && is_floating(f32) && is_floating(f64) && !is_floating(i64) &&
              !is_floating(boolean));
  EXPECT_TRUE(is_integer(u8) && is_integer(i64) && !is_integer(boolean) && !is_integer(f16));
}

}  // namespace
}  // namespace tern
