// Every number of f16 and bf16, where kernels take other ways than for f32: packing, bounds, sigmoid.
#include <bit>
#include <cmath>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class SixteenBits : public EveryDevice {};
TERN_EVERY_DEVICE(SixteenBits);

/// All 2^16 numbers of a dtype, and their values.
template <class T> std::vector<T> all_numbers() {
  std::vector<T> list(1 << 16);
  for (std::uint32_t i = 0; i < list.size(); ++i) list[i] = std::bit_cast<T>(static_cast<std::uint16_t>(i));
  return list;
}
/// The distance of neighbours at y.
double distance_of_neighbours(DType dtype, double y) {
  const int mantissa = dtype == DType::f16 ? 10 : 7, lowest = dtype == DType::f16 ? -14 : -126;
  return std::ldexp(1, std::max(y == 0 ? lowest : std::ilogb(y), lowest) - mantissa);
}

template <class T> void sigmoids(DType dtype) {
  const std::vector<T> x = all_numbers<T>();
  const std::vector<double> values = doubles(tensor(x)), s = doubles(sigmoid(tensor(x))), y = doubles(silu(tensor(x)));
  const bool flushes = default_device().kind() == DeviceKind::webgpu;
  double worst = 0;
  const auto note = [&](double off) { worst = off <= worst ? worst : off; };  // NaN stays
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(values[i])) {
      ASSERT_TRUE(std::isnan(s[i]) && std::isnan(y[i])) << i;
      continue;
    }
    const double want =
        values[i] < 0 ? std::exp(values[i]) / (1 + std::exp(values[i])) : 1 / (1 + std::exp(-values[i]));
    // WebGPU's devices may take f32's subnormal numbers for zeros: an H200 does, on the way to silu, too.
    const auto vanished = [&](double got, double exact) {
      return flushes && got == 0 && (std::abs(exact) < 0x1p-126 || want < 0x1p-126);
    };
    if (!vanished(s[i], want)) note(std::abs(s[i] - want) / distance_of_neighbours(dtype, want));
    const double product = std::isinf(values[i]) ? std::max(values[i], 0.0) : values[i] * want;
    if (std::isinf(product)) ASSERT_EQ(y[i], product) << values[i];
    else if (!vanished(y[i], product)) note(std::abs(y[i] - product) / distance_of_neighbours(dtype, product));
  }
  EXPECT_LE(worst, 0.52) << "rounding once, and 2 % for what f32 neglects";
  EXPECT_GT(worst, 0.49);
}
TEST_P(SixteenBits, SigmoidIsRoundedOnce) { sigmoids<float16>(f16), sigmoids<bfloat16>(bf16); }

/// Copies keep every bit but the payload of a NaN; bounds keep NaN and what lies between them.
template <class T> void bounds() {
  const std::vector<T> x = all_numbers<T>();
  const std::vector<double> values = doubles(tensor(x));
  const Pointwise<> between("between", [](auto v) { return minimum(maximum(v, -3.5), 2.25); });
  const Pointwise<> above("above", [](auto v) { return maximum(v, 0.5); });
  const Pointwise<> below("below", [](auto v) { return minimum(v, -0.5); });
  const Pointwise<> same("same", [](auto v) { return v * 1.0; });
  for (const std::int64_t skipped : {0, 1, 2, 7}) {  // words and vectors that begin elsewhere
    const Tensor t = tensor(x).slice(0, skipped, 1 << 16);
    const std::vector<double> b = doubles(between(t)), a = doubles(above(t)), c = doubles(below(t)),
                              s = doubles(same(t));
    for (std::size_t i = 0; i < b.size(); ++i) {
      const double v = values[i + static_cast<std::size_t>(skipped)];
      if (std::isnan(v)) {
        ASSERT_TRUE(std::isnan(a[i]) && std::isnan(b[i]) && std::isnan(c[i]) && std::isnan(s[i])) << i;
        continue;
      }
      ASSERT_EQ(b[i], std::clamp(v, -3.5, 2.25)) << v;
      ASSERT_EQ(a[i], std::max(v, 0.5)) << v;
      ASSERT_EQ(c[i], std::min(v, -0.5)) << v;
      ASSERT_TRUE(s[i] == v && std::signbit(s[i]) == std::signbit(v)) << v;
    }
  }
}
TEST_P(SixteenBits, BoundsAndCopies) { bounds<float16>(), bounds<bfloat16>(); }

/// What is combined is rounded once, whether its gradient is asked for or not.
TEST_P(SixteenBits, AreCombinedInF32) {
  Random random(9);
  for (const DType dtype : {f16, bf16}) {
    const Tensor x = random.tensor({37}, f32, device(), 0.8, 1.25).to(dtype), at = zeros({37}, i32);
    const std::vector<double> list = doubles(x);
    double product = 1;
    for (const double v : list) product *= v;
    const double one = distance_of_neighbours(dtype, product);
    const Tensor ready = prod(x), tracked = prod(Var(x)).value();
    EXPECT_EQ(tracked.dtype(), dtype);
    EXPECT_NEAR(doubles(tracked)[0], product, 0.51 * one);
    EXPECT_NEAR(doubles(ready)[0], product, 0.51 * one);
    EXPECT_NEAR(doubles(scatter_reduce(Var(ones({1}, dtype)), at, Var(x), Reduce::multiply))[0], product, 0.51 * one);
    const std::vector<double> running = doubles(cumulative_prod(Var(x), 0)), sums = doubles(logcumsumexp(Var(x), 0));
    double so_far = 1, sum = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      so_far *= list[i], sum += std::exp(list[i]);
      EXPECT_NEAR(running[i], so_far, 0.51 * distance_of_neighbours(dtype, so_far)) << i;
      EXPECT_NEAR(sums[i], std::log(sum), 0.51 * distance_of_neighbours(dtype, std::log(sum))) << i;
    }
    EXPECT_EQ(backward(prod(Var(x))).size(), 1u);
  }
}
TEST_P(SixteenBits, MeansOfManyAreRoundedOnce) {
  const std::int64_t n = 4001;  // more than f16 can count, and whose sum it cannot hold
  const Tensor x = full({n}, 20.25, f16), at = zeros({n}, i32);
  EXPECT_EQ(doubles(scatter_reduce(zeros({1}, f16), at, x, Reduce::mean, 0, false))[0], 20.25);
  EXPECT_EQ(doubles(scatter_reduce(full({1}, 20.25, f16), at, x, Reduce::mean))[0], 20.25);
  EXPECT_EQ(doubles(scatter_reduce(Var(full({1}, 20.25, f16)), at, Var(x), Reduce::mean))[0], 20.25);
  const Tensor two = tensor({1.0078125f, 1.0f}).to(bf16);  // whose mean is a tie
  EXPECT_EQ(doubles(scatter_reduce(ones({1}, bf16), zeros({2}, i32), two, Reduce::mean, 0, false))[0], 1);
}

/// Numbers in f32 between those of bf16: to the nearest, halves to even, NaN stays, the largest become infinite.
TEST_P(SixteenBits, RoundingToBf16) {
  std::vector<float> x;
  std::vector<std::uint16_t> want;
  for (std::uint32_t high = 0; high < 1 << 16; ++high)
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const std::uint32_t bits = high << 16 | low;
      const auto number = std::bit_cast<float>(bits);
      x.push_back(number);
      const bool up = low > 0x8000u || (low == 0x8000u && (high & 1));
      want.push_back(static_cast<std::uint16_t>(std::isnan(number) ? 0 : high + up));
    }
  const std::vector<bfloat16> got = tensor(x).to(bf16).to_vector<bfloat16>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto bits = std::bit_cast<std::uint16_t>(got[i]);
    if (std::isnan(x[i])) ASSERT_GT(bits & 0x7fff, 0x7f80) << i;
    else ASSERT_EQ(bits, want[i]) << x[i];
  }
}

/// As a column of a wider matrix, whose other columns keep what they have.
TEST_P(SixteenBits, AreRoundedIntoColumnsAsIntoRows) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16}))
    for (const std::int64_t n : {1, 15, 16, 33, 1000}) {
      const Tensor x = Random(n).tensor({n, 1}, f32, device());
      const double specials[] = {std::nan(""), std::numeric_limits<double>::infinity(), 65520};
      for (std::int64_t k = 0; n > 15 && k < 3; ++k) x.slice(0, k, k + 1).copy_from(full({1, 1}, specials[k]));
      Tensor wide = ones({n, 3}, {.dtype = dtype});
      wide.slice(1, 1, 2) *= x;
      const std::vector<double> got = doubles(wide.slice(1, 1, 2)), want = doubles(x.to(dtype));
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) << i << ": " << got[i];
      EXPECT_EQ(doubles(wide.slice(1, 0, 3, 2)), std::vector<double>(2 * static_cast<std::size_t>(n), 1.0));
    }
}

}  // namespace
}  // namespace tern::test
