// Division by one number, which multiplies where that gives the bits of a division: it always does.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu {
namespace {

template <class T> using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// What may go wrong: zeros, subnormal numbers and their neighbours, ties among them, the largest, infinities, NaN;
/// then any bits, and numbers of usual size.
template <class T> std::vector<T> numerators() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> list{
      0, 1, 3, Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN(), Limits::epsilon()};
  for (int i = 1; i < 300; ++i) {
    list.push_back(static_cast<T>(i) * Limits::denorm_min());
    list.push_back(Limits::min() * (1 + static_cast<T>(i - 150) * Limits::epsilon()));
    list.push_back(Limits::min() * static_cast<T>(i) / 8);
    list.push_back(Limits::max() * (1 - static_cast<T>(i) * Limits::epsilon()));
  }
  std::mt19937_64 engine(3);
  for (int i = 0; i < 30'000; ++i) {
    list.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(engine())));
    list.push_back(std::ldexp(static_cast<T>(engine() >> 11), static_cast<int>(engine() % 40) - 60));
    list.push_back(static_cast<T>(engine() >> 12) * Limits::denorm_min());
  }
  for (std::size_t i = 0, n = list.size(); i < n; ++i) list.push_back(-list[i]);
  return list;
}

template <class T> void check(ComputeType type) {
  using Limits = std::numeric_limits<T>;
  const ElementaryFn divide = kernels().divide_by_number[static_cast<int>(type)];
  ASSERT_NE(divide, nullptr);
  std::vector<T> x = numerators<T>(), y(x.size());
  std::vector<T> by{0,
                    -0.f,
                    0.5f,
                    0.1f,
                    1.5f,
                    -1,
                    -3,
                    -4,
                    1e30f,
                    65535,
                    65536,
                    65537,
                    98304,
                    Limits::max(),
                    Limits::min(),
                    Limits::min() / 2,
                    Limits::denorm_min(),
                    Limits::infinity(),
                    Limits::quiet_NaN()};
  for (int c = 1; c < 70; ++c) by.push_back(static_cast<T>(c));
  for (int c : {96, 100, 255, 1000, 1023, 4095, 5000, 12345, 65534}) by.push_back(static_cast<T>(c));
  for (int e = -30; e < 30; ++e) by.push_back(std::ldexp(T{1}, e));
  by.push_back(std::ldexp(T{1}, Limits::max_exponent - 1)), by.push_back(std::ldexp(T{1}, Limits::min_exponent - 1));
  for (const T number : by) {
    const void* const args[] = {x.data(), &number, nullptr};
    divide(args, y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T expected = x[i] / number;
      if (std::isnan(expected) ? !std::isnan(y[i])
                               : std::bit_cast<BitsOf<T>>(y[i]) != std::bit_cast<BitsOf<T>>(expected)) {
        ADD_FAILURE() << x[i] << " / " << number << ": " << y[i] << " instead of " << expected;
        return;
      }
    }
  }
}
TEST(ByNumber, GivesTheBitsOfADivision) {
  check<float>(ComputeType::f32);
  check<double>(ComputeType::f64);
}
/// Any length, in place: elements behind it stay.
TEST(ByNumber, OfAnyLength) {
  for (const double c : {3., 4., 6., 0.3})
    for (std::size_t n = 0; n < 70; ++n) {
      std::vector<double> x(n + 1, 5), number(n + 1, c);
      const void* const args[] = {x.data(), number.data(), nullptr};
      kernels().divide_by_number[static_cast<int>(ComputeType::f64)](args, x.data(), n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(x[i], 5 / c) << n;
      ASSERT_EQ(x[n], 5);
    }
}
/// By every length of a short row, every significand.
TEST(ByNumber, OfEverySignificand) {
  const ElementaryFn divide = kernels().divide_by_number[static_cast<int>(ComputeType::f32)];
  constexpr std::uint32_t kCount = 1u << 16;
  std::vector<float> x(kCount), y(kCount);
  for (const float c : {3.f, 5.f, 6.f, 7.f, 9.f, 10.f, 11.f, 12.f, 13.f, 14.f, 15.f})
    for (std::uint32_t high = 0; high < 1u << 8; ++high) {  // of two binades
      for (std::uint32_t i = 0; i < kCount; ++i) x[i] = std::bit_cast<float>(0x3f800000u + (high * kCount + i));
      const void* const args[] = {x.data(), &c, nullptr};
      divide(args, y.data(), kCount);
      bool same = true;
      for (std::uint32_t i = 0; i < kCount; ++i) same &= y[i] == x[i] / c;
      ASSERT_TRUE(same) << "by " << c << " from " << x[0];
    }
}

}  // namespace
}  // namespace tern::detail_cpu
