// Tensor::to(DType) between all dtypes: rounding, saturation, NaN, overflow, subnormals.
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Conversions : public EveryDevice {};
TERN_EVERY_DEVICE(Conversions);

struct IntegerRange { DType dtype; double low, high; };
std::vector<IntegerRange> integer_ranges(Device device) {
  std::vector<IntegerRange> list;
  for (const IntegerRange& r : {IntegerRange{u8, 0, 255},
                                {i8, -128, 127},
                                {i16, -32768, 32767},
                                {i32, -2147483648.0, 2147483647},
                                {u32, 0, 4294967295.0},
                                {i64, -0x1p63, 0x1p63}})
    if (supports(device, r.dtype)) list.push_back(r);
  return list;
}
const std::vector<double> kNumbers{0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   -0.5,
                                   1.5,
                                   2.5,
                                   -2.5,
                                   3.7,
                                   -3.7,
                                   127,
                                   128,
                                   -128,
                                   -129,
                                   254.6,
                                   255,
                                   256,
                                   300,
                                   -300,
                                   32767,
                                   32768,
                                   65504,
                                   65519,
                                   65520,
                                   65536,
                                   1e9,
                                   -1e9,
                                   2147483520.0,
                                   2147483648.0,
                                   -2147483648.0,
                                   -2147484000.0,
                                   4294967040.0,
                                   4294967296.0,
                                   1e15,
                                   -1e15,
                                   1e19,
                                   -1e19,
                                   1e30,
                                   -1e30};

/// Floats to integers saturate, NaN gives 0; fractions go towards zero.
TEST_P(Conversions, FloatsToIntegers) {
  const double inf = INFINITY;
  std::vector<double> numbers = kNumbers;
  for (double v : {inf, -inf, std::nan("")}) numbers.push_back(v);
  for (const double edge : {127., 128., 129., 255., 256., 32767., 32768., 65535., 65536.})  // in each lane of a vector
    for (int lane = 0; lane < 17; ++lane) numbers.push_back(lane % 2 == 0 ? edge : -edge - 0.5);
  const Shape shape{numbers.size()};
  for (const DType from : all_floats(device()))
    for (const IntegerRange& to : integer_ranges(device())) {
      const Tensor x = make(numbers, shape, from, device());
      std::vector<double> want = doubles(x);
      for (double& v : want) v = std::isnan(v) ? 0 : std::clamp(std::trunc(v), to.low, to.high);
      const std::vector<double> got = doubles(x.to(to.dtype));
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(got[i], want[i]) << numbers[i] << " as " << to_string(from) << " to " << to_string(to.dtype);
    }
}
TEST_P(Conversions, SaturationOfWideIntegers) {
  if (!supports(device(), i64)) return;
  for (const DType from : wide_floats(device())) {
    const Tensor x = make({1e30, -1e30, 0x1p62}, {3}, from, device()).to(i64);
    EXPECT_EQ(x.to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 62}));
  }
}
TEST_P(Conversions, AnythingToBoolean) {
  for (const DType from : dtypes_of(device(), {u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    expect_values(tensor({0, 1, 2, 100}).to(from).to(boolean), {4}, {0, 1, 1, 1}, std::string(to_string(from)));
    expect_values(tensor({true, false}).to(from), {2}, {1, 0}, std::string(to_string(from)));
  }
  expect_values(tensor({std::nanf(""), -0.0f, 0.25f, INFINITY, 2e-38f}).to(boolean), {5}, {1, 0, 1, 1, 1});
  // GPUs may take subnormal numbers for zeros (WGSL, 15.7.2).
  if (device() == cpu()) expect_values(tensor({1e-45f}).to(boolean), {1}, {1});
}
/// Between integers: the value where it fits, else its low bits.
TEST_P(Conversions, IntegersToIntegers) {
  for (const IntegerRange& from : integer_ranges(device()))
    for (const IntegerRange& to : integer_ranges(device())) {
      const std::vector<double> values{0, 1, 77, 127};
      expect_values(make(values, {4}, from.dtype, device()).to(to.dtype), {4}, values,
                    std::string(to_string(from.dtype)) + " to " + std::string(to_string(to.dtype)));
    }
  expect_values(tensor({-1, -128}).to(i8), {2}, {-1, -128});
  expect_values(tensor({-1, 70000}).to(i16).to(i32), {2}, {-1, 70000 - 65536});
}
TEST_P(Conversions, IntegersToFloats) {
  const Tensor x = tensor({16777217, -16777219, 2049, 257, 65519, 65520, 2147483647});
  expect_values(x.to(f32), {7}, {16777216, -16777220, 2049, 257, 65519, 65520, 2147483648.0});
  expect_values(x.to(f16), {7}, {INFINITY, -INFINITY, 2048, 257, 65504, INFINITY, INFINITY});
  expect_values(x.slice(0, 2, 4).to(bf16), {2}, {2048, 256});
  expect_values(tensor(std::vector<std::uint32_t>{4294967295u, 3000000001u}).to(f32), {2},
                {4294967296.0, 3000000000.0});
  if (supports(device(), i64) && supports(device(), f64)) {
    expect_values(tensor(std::vector<std::int64_t>{(1ll << 53) + 1, -(1ll << 62)}).to(f64), {2}, {0x1p53, -0x1p62});
    expect_values(tensor(std::vector<std::int64_t>{(1ll << 60) + 1, (1ll << 24) + 1}).to(f32), {2}, {0x1p60, 16777216});
    // Twice rounded (to f64, then f32) this would be a tie that goes to even.
    expect_values(tensor(std::vector<std::int64_t>{(1ll << 60) + (1ll << 36) + 1}).to(f32), {1}, {0x1p60 + 0x1p37});
  }
}
TEST_P(Conversions, SixteenBitsRoundToNearestEven) {
  const std::vector<double> values{1 + 0x1p-11,
                                   1 + 3 * 0x1p-11,
                                   1 + 0x1p-11 + 0x1p-20,
                                   65519.99,
                                   65520,
                                   -65520,
                                   1e10,
                                   0x1p-24,
                                   0x1p-25,
                                   0x1p-25 * 1.0001,
                                   3 * 0x1p-25,
                                   0x1p-14,
                                   0x1p-15 + 0x1p-24,
                                   1 + 0x1p-8,
                                   1 + 3 * 0x1p-8,
                                   3.4e38,
                                   0x1p-133,
                                   0x1p-134,
                                   1e-40};
  const Tensor x = make(values, {values.size()}, f32, device());
  for (const DType to : dtypes_of(device(), {f16, bf16})) {
    std::vector<double> want;
    for (double v : values)
      want.push_back(to == f16 ? static_cast<double>(float16(static_cast<float>(v)))
                               : static_cast<double>(bfloat16(static_cast<float>(v))));
    expect_values(x.to(to), {values.size()}, want, std::string(to_string(to)));
  }
}
/// Not a number at each place among numbers: vectors are looked at several at a time.
TEST_P(Conversions, NaNAmongSixteenBits) {
  constexpr std::size_t n = 75;
  std::vector<float> x(n * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i / n == i % n ? -NAN : 0.25f * static_cast<float>(i % n);
  for (const DType to : {f16, bf16}) {
    if (!supports(device(), to)) continue;
    const std::vector<double> got = doubles(tensor(x, Shape{n * n}, device()).to(to));
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(std::isnan(x[i]) ? std::isnan(got[i]) : got[i] == x[i]) << to_string(to) << " " << i;
  }
}

TEST_P(Conversions, DoublesAreRoundedOnce) {
  if (refuses_f64(device())) return;
  const double near = 1 + 0x1p-11 + 0x1p-40, below = 1 + 0x1p-11 - 0x1p-40;
  expect_values(make({near, below, -near}, {3}, f64, device()).to(f16), {3}, {1 + 0x1p-10, 1, -1 - 0x1p-10}, "f16");
  const double b = 1 + 0x1p-8 + 0x1p-40;
  expect_values(make({b, -b, 1 + 0x1p-8 - 0x1p-40}, {3}, f64, device()).to(bf16), {3}, {1 + 0x1p-7, -1 - 0x1p-7, 1},
                "bf16");
  expect_values(make({1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-52, 1e300, 0x1p-149, 0x1p-151}, {5}, f64, device()).to(f32), {5},
                {1, 1 + 0x1p-23, INFINITY, 0x1p-149, 0}, "f32");
}
TEST_P(Conversions, EverySixteenBitPatternSurvives) {
  std::vector<float16> half(65536);
  std::vector<bfloat16> brain(65536);
  for (std::size_t i = 0; i < 65536; ++i) half[i].bits = brain[i].bits = static_cast<std::uint16_t>(i);
  for (const DType through : wide_floats(device())) {
    const auto h = tensor(half).to(through).to(f16).to_vector<float16>();
    const auto b = tensor(brain).to(through).to(bf16).to_vector<bfloat16>();
    for (std::size_t i = 0; i < 65536; ++i) {
      if (!std::isnan(static_cast<float>(half[i])))
        ASSERT_EQ(h[i].bits, half[i].bits) << "f16 through " << to_string(through);
      else ASSERT_TRUE(std::isnan(static_cast<float>(h[i])));
      if (!std::isnan(static_cast<float>(brain[i])))
        ASSERT_EQ(b[i].bits, brain[i].bits) << "bf16 through " << to_string(through);
      else ASSERT_TRUE(std::isnan(static_cast<float>(b[i])));
    }
  }
}
TEST_P(Conversions, OfViewsAndEmptyTensors) {
  const Tensor x = arange(0, 12, 1, f32).reshape({3, 4});
  expect_values(x.transpose(0, 1).slice(0, 1, 4, 2).to(i32), {2, 3}, {1, 5, 9, 3, 7, 11});
  EXPECT_EQ(zeros({0, 3}).to(i8).shape(), Shape({0, 3}));
  EXPECT_EQ(x.to(f32).impl(), x.impl()) << "itself where it has the dtype";
  EXPECT_EQ(cast(x, f16).dtype(), f16);
}

}  // namespace
}  // namespace tern::test
