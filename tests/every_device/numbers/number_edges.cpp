// Numbers at the edges of their dtypes: random ones, those that are created, sums, shifts, comparisons.
#include <algorithm>
#include <limits>

#include "every_device/random/philox.hpp"
#include "every_device/reference.hpp"
#include "ops/random/random.hpp"

namespace tern::test {
namespace {

class NumberEdges : public EveryDevice {};
TERN_EVERY_DEVICE(NumberEdges);

constexpr std::uint64_t kSeed = 0x123456789abcdef0ull, kBlock = 0xfffffff0ull;  // the block's number grows past 32 bits
std::uint32_t word(std::size_t i) { return philox(kBlock + i / 4, kSeed)[i % 4]; }
Generator generator() { return {kSeed, kBlock}; }

int bits_of(DType d) { return d == f16 ? 11 : d == bf16 ? 8 : d == f32 ? 24 : 53; }

// ---- random numbers ----
TEST_P(NumberEdges, UniformsStayBelowOne) {
  for (const DType d : all_floats(device())) {
    const std::vector<double> x = doubles(rand({1 << 20}, Generator{3}, d));
    double sum = 0;
    for (const double v : x) {
      ASSERT_GE(v, 0) << to_string(d);
      ASSERT_LT(v, 1) << to_string(d);
      ASSERT_EQ(std::ldexp(v, bits_of(d)), std::floor(std::ldexp(v, bits_of(d)))) << to_string(d);
      sum += v;
    }
    EXPECT_NEAR(sum / 0x1p20, 0.5 - std::ldexp(0.5, -bits_of(d)), 5 * 0.289 / 0x1p10) << to_string(d);
    EXPECT_GE(*std::max_element(x.begin(), x.end()), 1 - std::max(std::ldexp(1.0, -bits_of(d)), 0x1p-16))
        << to_string(d);
  }
}
TEST_P(NumberEdges, UniformsAreWordsRoundedDown) {
  constexpr std::size_t n = 300;
  for (const DType d : all_floats(device())) {
    const std::vector<double> x = doubles(rand({n}, generator(), d));
    for (std::size_t i = 0; i < n; ++i) {
      const double wide =
          (static_cast<double>(word(2 * i) >> 5) * 0x1p26 + static_cast<double>(word(2 * i + 1) >> 6)) * 0x1p-53;
      const double narrow = static_cast<double>(word(i) >> 8) * 0x1p-24;
      const std::uint32_t half = i % 2 == 0 ? word(i / 2) >> 16 : word(i / 2) & 0xffff;
      const double halved = std::ldexp(static_cast<double>(half >> (16 - std::min(bits_of(d), 16))), -bits_of(d));
      ASSERT_EQ(x[i], d == f64 ? wide : d == f32 ? narrow : halved) << to_string(d) << " " << i;
    }
  }
}
TEST_P(NumberEdges, NormalsAreThoseOfTheirWords) {
  constexpr std::size_t n = 300;
  const double turn = 6.283185307179586;
  const std::vector<double> narrow = doubles(randn({n}, generator()));
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t a = word(i / 2 * 2), b = word(i / 2 * 2 + 1);
    const auto u =
        static_cast<float>(static_cast<double>(a >> 8) * 0x1p-24 + static_cast<float>((a & 255) + 0.5) * 0x1p-32);
    const double r = std::sqrt(-2 * std::log(static_cast<double>(u)));
    const double angle = turn / 4 * ((static_cast<std::int32_t>(b << 2) >> 8) + 0.5) * 0x1p-24;
    const bool swapped = b >> 30 & 1;
    const double along = b >> 31 ? -std::cos(angle) : std::cos(angle);
    const double want = r * (swapped == (i % 2 == 1) ? along : std::sin(angle));
    // Roundings of the logarithm, the root and the polynomials, of a few units each: of the number itself.
    ASSERT_NEAR(narrow[i], want, 5 * 0x1p-24 * std::abs(want)) << i;
  }
  if (!supports(device(), f64)) return;
  const std::vector<double> wide = doubles(randn({n}, generator(), f64));
  for (std::size_t i = 0; i < n; ++i) {
    const auto w = philox(kBlock + i, kSeed);
    const double u = w[0] * 0x1p-32 + (w[1] + 0.5) * 0x1p-64, v = ((w[2] >> 5) * 0x1p26 + (w[3] >> 6)) * 0x1p-53;
    const double r = std::sqrt(-2 * std::log(u));
    ASSERT_NEAR(wide[i], r * std::cos(turn * v), 16 * 0x1p-53 * (r + 1)) << i;
  }
}
TEST_P(NumberEdges, NormalsReachTheirTails) {
  // No search finds the words 0: the formula is given them.
  const std::vector<std::uint32_t> least{0, 0, 0xffffffffu}, angles{0, 1u << 31, 0};
  const Tensor a = tensor(least), b = tensor(angles);
  constexpr Pointwise narrow{"narrow", [](auto x, auto y) { return detail::normal_pair(x, y)[0]; }};
  const std::vector<double> x = doubles(narrow(a, b));
  const double most = std::sqrt(-2 * std::log(0x1p-33));
  EXPECT_GT(most, 6.7);
  EXPECT_NEAR(x[0], most, 1e-5);
  EXPECT_NEAR(x[1], -most, 1e-5);
  EXPECT_NEAR(x[2], 0, 1e-3);
  if (!supports(device(), f64)) return;
  constexpr Pointwise wide{"wide", [](auto x, auto y) { return detail::wide_normal_of({x, x, y, y}); }};
  const std::vector<double> y = doubles(wide(a, b));
  const double wide_most = std::sqrt(-2 * std::log(0x1p-65));
  EXPECT_GT(wide_most, 9.4);
  EXPECT_NEAR(y[0], wide_most, 1e-13);
  EXPECT_NEAR(y[1], -wide_most, 1e-8) << "the angle's words are (2^31, 2^31): half a turn and 2^-27";
  EXPECT_NEAR(y[2], 0, 1e-7);
}
TEST_P(NumberEdges, DrawsUseNoWordTwice) {
  constexpr std::int64_t n = 1000;
  for (const DType d : all_floats(device())) {
    const std::uint64_t words = d == f64 ? 4 : 1;
    Generator g{5};
    randn({n}, g, d);
    EXPECT_GE(g.position, n * words / 4) << to_string(d);
    const std::uint64_t before = g.position;
    rand({n}, g, d);
    EXPECT_GE(g.position - before, n * dtype_size(d) / 2 / 8) << to_string(d) << ": 16 bits or more an element";
  }
}

struct Bounds {
  DType dtype;
  std::int64_t low, high;
};
TEST_P(NumberEdges, IntegersAreInTheirBounds) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  constexpr std::size_t n = 400;
  const std::vector<Bounds> list{{i32, 1, 7},
                                 {u8, 0, 256},
                                 {i8, -128, 128},
                                 {i16, -32768, 32768},
                                 {u32, 0, 1ll << 32},
                                 {i32, -(1ll << 31), 1ll << 31},
                                 {i32, -(1ll << 31), (1ll << 31) - 1},
                                 {u32, 3000000000, 4000000000},
                                 {i64, -5, 1000},
                                 {i64, -(1ll << 31), 1ll << 31},
                                 {i64, 1ll << 40, (1ll << 40) + 10},
                                 {i64, 0, 1ll << 32},
                                 {i64, -(1ll << 62), 1ll << 62},
                                 {i64, least, most},
                                 {i64, most - 1, most}};
  for (const Bounds& b : list) {
    if (!supports(device(), b.dtype)) continue;
    const std::string name =
        std::string(to_string(b.dtype)) + " from " + std::to_string(b.low) + " to " + std::to_string(b.high);
    const std::vector<std::int64_t> x =
        randint(b.low, b.high, {n}, generator(), {.dtype = b.dtype}).to(cpu()).to(i64).to_vector<std::int64_t>();
    const bool in_words = b.dtype != i64 || (b.low >= INT32_MIN && b.high <= std::int64_t{INT32_MAX} + 1);
    const unsigned __int128 range = static_cast<unsigned __int128>(static_cast<__int128>(b.high) - b.low);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t pair = word(2 * i) | static_cast<std::uint64_t>(word(2 * i + 1)) << 32;
      const auto offset = static_cast<std::uint64_t>(in_words ? word(i) * range >> 32 : pair * range >> 64);
      ASSERT_EQ(x[i], static_cast<std::int64_t>(static_cast<std::uint64_t>(b.low) + offset)) << name << " " << i;
      ASSERT_TRUE(x[i] >= b.low && x[i] < b.high) << name;
    }
  }
  Generator g{1};
  expect_error(ErrorKind::dtype, {"randint", "1000", "u8"}, [&] { randint(0, 1000, {2}, g, {.dtype = u8}); });
  expect_error(ErrorKind::dtype, {"randint", "u32"}, [&] { randint(-1, 5, {2}, g, {.dtype = u32}); });
  expect_error(ErrorKind::dtype, {"randint", "i32"}, [&] { randint(0, (1ll << 31) + 1, {2}, g); });
  EXPECT_EQ(g.position, 0u) << "a draw that failed";
}

// ---- numbers that integers cannot hold ----
TEST_P(NumberEdges, NumbersBeyondTheDtypeAreErrors) {
  const double inf = INFINITY;
  for (const DType d : dtypes_of(device(), {u8, i8, i16, i32, u32, i64})) {
    const std::string name(to_string(d));
    expect_error(ErrorKind::dtype, {"full", "18446744073709551616", name}, [&] { full({2}, UINT64_MAX, d); });
    expect_error(ErrorKind::dtype, {"full", name}, [&] { full({2}, inf, d); });
    expect_error(ErrorKind::dtype, {"full"}, [&] { full({2}, std::nan(""), d); });
    const Tensor x = ones({2}, d);
    expect_error(ErrorKind::dtype, {"add", "9223372036854775808", name}, [&] { x + (std::uint64_t{1} << 63); });
    expect_error(ErrorKind::dtype, {"less"}, [&] { x < UINT64_MAX; });
    expect_error(ErrorKind::dtype, {"add"}, [&] { Tensor(x) += UINT64_MAX; });
    expect_error(ErrorKind::dtype, {}, [&] { Pointwise([](auto v) { return v * Number(UINT64_MAX); })(x); });
  }
  expect_error(ErrorKind::dtype, {"full", "300", "u8"}, [&] { full({2}, 300, u8); });
  expect_error(ErrorKind::dtype, {"full", "-1", "u32"}, [&] { full({2}, -1, u32); });
  EXPECT_EQ(full({}, UINT64_MAX).item<float>(), 0x1p64f);
  EXPECT_EQ(doubles(ones({1}) * UINT64_MAX)[0], 0x1p64);
  EXPECT_TRUE(full({}, UINT64_MAX, boolean).item<bool>());
  if (!supports(device(), i64)) return;
  EXPECT_EQ(full({}, std::uint64_t{INT64_MAX}, i64).item<std::int64_t>(), INT64_MAX);
  EXPECT_EQ(full({}, -0x1p63, i64).item<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(full({}, 0x1.fffffffffffffp62, i64).item<std::int64_t>(), 0x7ffffffffffffc00);
}

// ---- arange, linspace ----
TEST_P(NumberEdges, IntegersAreCountedExactly) {
  EXPECT_EQ(arange(0, 3.5, 1).numel(), 4);
  EXPECT_EQ(arange(0, 3.5).dtype(), f32);
  expect_values(arange(3), {3}, {0, 1, 2});
  expect_values(arange(3, u8), {3}, {0, 1, 2});
  expect_values(arange(1, 3, f32), {2}, {1, 2});
  expect_values(arange(1, {.dtype = f32}), {1}, {0});
  expect_values(arange(0, 1, 0.25), {4}, {0, 0.25, 0.5, 0.75});
  EXPECT_EQ(arange(0, -3.5, -1).numel(), 4);
  EXPECT_EQ(arange(5, 5).numel(), 0);
  EXPECT_EQ(arange(5, 0).numel(), 0);
  expect_values(arange(10, 0, -3, u8), {4}, {10, 7, 4, 1});
  expect_values(arange(0, 5, 1000, i8), {1}, {0});
  expect_values(arange(4294967295u, 4294967290u, -2, u32), {3}, {4294967295.0, 4294967293.0, 4294967291.0});
  EXPECT_EQ(arange(0, 256, 1, u8).numel(), 256);
  expect_error(ErrorKind::dtype, {"arange", "u8", "300"}, [&] { arange(0, 300, 1, u8); });
  expect_error(ErrorKind::dtype, {"arange", "u8"}, [&] { arange(0.0, 300.0, 1.0, u8); });
  expect_error(ErrorKind::dtype, {"arange", "i32"}, [&] { arange(INT32_MAX - 1, std::int64_t{INT32_MAX} + 2); });
  expect_error(ErrorKind::dtype, {"arange", "0.5"}, [&] { arange(0, 3, 0.5, i32); });
  for (const Number& end : {Number(INFINITY), Number(UINT64_MAX), Number(std::nan(""))})
    expect_error(ErrorKind::shape, {"arange"}, [&] { arange(0, end); });
  expect_values(arange(0, 1e-300, 1e300, f32), {1}, {0});
  EXPECT_EQ(arange(1.0, 0.0, 0.5, f32).numel(), 0);
  expect_error(ErrorKind::shape, {"arange", "finite"}, [&] { arange(0, 5, INFINITY, f32); });
  expect_error(ErrorKind::shape, {"arange", "finite"}, [&] { arange(-INFINITY, 5, 1, f32); });
  if (!supports(device(), i64)) return;
  const std::int64_t large = std::int64_t{1} << 53;
  EXPECT_EQ(arange(large, large + 5, 1, i64).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{large, large + 1, large + 2, large + 3, large + 4}));
  EXPECT_EQ(arange(large + 1, large + 2, 1, i64).to_vector<std::int64_t>(), (std::vector<std::int64_t>{large + 1}));
  EXPECT_EQ(arange(INT64_MIN, INT64_MAX, INT64_MAX, i64).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(arange(INT64_MIN, INT64_MAX, std::int64_t{1} << 62, i64).numel(), 4);
  expect_error(ErrorKind::shape, {"arange"}, [&] { arange(INT64_MIN, INT64_MAX, 1, i64); });
}
TEST_P(NumberEdges, PositionsOfHalvesAreNotRounded) {
  constexpr std::int64_t n = 70001;  // more than f16 has integers
  for (const DType d : dtypes_of(device(), {f16, bf16})) {
    // Half a unit of the result, and what f32 rounds before.
    const double half_unit = d == f16 ? 0x1p-11 : 0x1p-8;
    const std::vector<double> line = doubles(linspace(0, 1, n, d)), steps = doubles(arange(0, 1, 1.0 / n, d));
    ASSERT_EQ(steps.size(), static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const double at = static_cast<double>(i) / (n - 1), step = static_cast<double>(i) / n;
      ASSERT_NEAR(line[static_cast<std::size_t>(i)], at, at * half_unit * 1.01 + 0x1p-25) << to_string(d) << " " << i;
      ASSERT_NEAR(steps[static_cast<std::size_t>(i)], step, step * half_unit * 1.01 + 0x1p-25)
          << to_string(d) << " " << i;
    }
  }
}

// ---- comparisons ----
TEST_P(NumberEdges, AllcloseOfIntegersHonoursItsTolerances) {
  const auto close = [](auto a, auto b, double rtol, double atol) {
    using T = decltype(a);
    return allclose(tensor(std::vector<T>{a}), tensor(std::vector<T>{b}), rtol, atol);
  };
  EXPECT_TRUE(close(100, 101, 0, 1));
  EXPECT_FALSE(close(100, 102, 0, 1.9));
  EXPECT_TRUE(close(100, 110, 0.1, 0));
  EXPECT_FALSE(close(100, 89, 0.1, 0)) << "of the second";
  EXPECT_TRUE(close(INT32_MIN, INT32_MAX, 0, 4294967295.0));
  EXPECT_FALSE(close(INT32_MIN, INT32_MAX, 0, 4294967294.0)) << "the distance does not wrap to -1";
  EXPECT_FALSE(close(INT32_MAX, INT32_MAX - 0x40000000, 0.5, 0)) << "1073741824 > 1073741823.5";
  EXPECT_FALSE(close(0u, 4000000000u, 0, 1e9));
  EXPECT_TRUE(close(0u, 4000000000u, 0, 4e9));
  EXPECT_TRUE(close(std::uint8_t{0}, std::uint8_t{255}, 1, 0));
  EXPECT_FALSE(close(std::uint8_t{255}, std::uint8_t{0}, 1, 0));
  EXPECT_TRUE(close(std::int8_t{-128}, std::int8_t{127}, 0, 255));
  EXPECT_FALSE(close(std::int8_t{-128}, std::int8_t{127}, 0, 254));
  EXPECT_TRUE(allclose(full({2}, 255, i32), full({2}, 255, u8)));
  EXPECT_FALSE(allclose(full({2}, 256, i32), full({2}, 0, u8)));
  if (!supports(device(), i64)) return;
  const std::int64_t large = std::int64_t{1} << 53;
  EXPECT_FALSE(close(large + 1, std::int64_t{0}, 0, 0x1p53));
  EXPECT_TRUE(close(large, std::int64_t{0}, 0, 0x1p53));
  EXPECT_FALSE(close(std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}, 0, 0x1p63));
  EXPECT_TRUE(close(std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}, 0, 0x1p64));
  EXPECT_FALSE(close(std::int64_t{INT64_MAX}, std::int64_t{INT64_MAX - 1}, 0, 0));
}
TEST_P(NumberEdges, NothingIsCloseToAnInfinityButItself) {
  const float inf = INFINITY;
  EXPECT_TRUE(allclose(tensor({inf, -inf}), tensor({inf, -inf})));
  EXPECT_TRUE(allclose(Var(tensor({1.0f})), tensor({1.0f})));
  EXPECT_FALSE(allclose(tensor({1.0f}), Var(tensor({2.0f}))));
  EXPECT_FALSE(allclose(tensor({1.0f}), tensor({inf})));
  EXPECT_FALSE(allclose(tensor({inf}), tensor({-inf})));
  EXPECT_FALSE(allclose(tensor({inf}), tensor({1.0f})));
}

// ---- shifts ----
template <class T> void check_shifts() {
  constexpr int width = 8 * sizeof(T);
  std::vector<T> values, counts, left, right;
  for (const int v : {1, 2, 3, 77, 127, -1, -2, -128, 32767, -32768})
    for (int count = -20; count <= 40; ++count) {
      const auto value = static_cast<T>(v);
      const int taken = count & (width - 1);
      values.push_back(value), counts.push_back(static_cast<T>(count));
      left.push_back(static_cast<T>(static_cast<unsigned>(static_cast<int>(value)) << taken));
      right.push_back(static_cast<T>(static_cast<int>(value) >> taken));
    }
  const Tensor x = tensor(values), n = tensor(counts);
  EXPECT_EQ((x << n).template to_vector<T>(), left);
  EXPECT_EQ((x >> n).template to_vector<T>(), right);
  constexpr Pointwise both{"both", [](auto v, auto c) { return (v << c) + (v >> (c + 1)) - (v >> (c + 1)); }};
  EXPECT_EQ(both(x, n).template to_vector<T>(), left);
  // A number as a parameter, and as a constant of a formula: 8 is 0 of 8 bits.
  const std::vector<T> shifted = (x << width).template to_vector<T>(),
                       nine = (x << (width + 1)).template to_vector<T>();
  const std::vector<T> constant = Pointwise([](auto v) { return v << 9; })(x).template to_vector<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(shifted[i], values[i]);
    EXPECT_EQ(nine[i], static_cast<T>(values[i] * 2));
    EXPECT_EQ(constant[i], static_cast<T>(static_cast<unsigned>(static_cast<int>(values[i])) << (9 & (width - 1))));
  }
}
TEST_P(NumberEdges, ShiftCountsAreTakenModuloTheWidth) {
  check_shifts<std::uint8_t>(), check_shifts<std::int8_t>(), check_shifts<std::int16_t>();
}

// ---- reductions ----
TEST_P(NumberEdges, VariancesOfNothingAndOfOneAreNaN) {
  for (const DType d : all_floats(device())) {
    for (const double v : doubles(var(zeros({3, 0}, d), 1))) EXPECT_TRUE(std::isnan(v)) << to_string(d);
    for (const double v : doubles(tern::std(zeros({0, 3}, d), 0))) EXPECT_TRUE(std::isnan(v)) << to_string(d);
    EXPECT_TRUE(std::isnan(doubles(var(ones({1}, d)))[0])) << to_string(d);
    EXPECT_EQ(doubles(var(ones({2}, d)))[0], 0) << to_string(d);
  }
}

/// The sum of a tensor of one narrow value, as the device has it.
double whole_sum(const Tensor& s) { return doubles(s)[0]; }
TEST_P(NumberEdges, SumsOfNarrowIntegersDoNotWrap) {
  const DType wide = supports(device(), i64) ? i64 : i32;
  const Tensor image = full({3000, 3000}, 255, u8);
  EXPECT_EQ(sum(image).dtype(), wide);
  EXPECT_EQ(cumsum(image.slice(0, 0, 1), 1).dtype(), wide);
  EXPECT_EQ(cumsum(ones({2}, boolean), 0).dtype(), i32);
  for (const Axes& axes : {Axes{0}, Axes{1}})
    for (const double v : doubles(sum(image, axes))) ASSERT_EQ(v, 3000.0 * 255);
  EXPECT_EQ(doubles(mean(image))[0], 255);
  if (wide != i64) {
    EXPECT_EQ(sum(image).item<std::int32_t>(), -1999967296) << "wraps, where there is no i64";
    return;
  }
  EXPECT_EQ(sum(image).item<std::int64_t>(), 2295000000);
  EXPECT_EQ(cumsum(image.flatten(), 0).slice(0, -1).item<std::int64_t>(), 2295000000);
  EXPECT_EQ(sum(image, {}, true).shape(), Shape({1, 1}));
  EXPECT_EQ(sum(image.transpose(0, 1).slice(0, 0, 2990)).item<std::int64_t>(), 2990ll * 3000 * 255);
  EXPECT_EQ(sum(full({70000, 3}, -32768, i16), 0).to_vector<std::int64_t>(),
            std::vector<std::int64_t>(3, -70000ll * 32768));
  EXPECT_EQ(sum(full({70001}, 32767, i16)).item<std::int64_t>(), 70001ll * 32767);
  EXPECT_EQ(sum(full({3, 70000}, -32768, i16), 1).to_vector<std::int64_t>(),
            std::vector<std::int64_t>(3, -70000ll * 32768));
  EXPECT_EQ(sum(full({1 << 12, 1 << 12, 2}, -128, i8)).item<std::int64_t>(), -(1ll << 32));
  EXPECT_EQ(sum(full({2, 300, 300, 2}, -32768, i16), {0, 1, 3}).to_vector<std::int64_t>(),
            std::vector<std::int64_t>(300, -1200ll * 32768));
  EXPECT_EQ(sum(full({300, 300, 300}, 32767, i16), {0, 2}).to_vector<std::int64_t>(),
            std::vector<std::int64_t>(300, 90000ll * 32767));
  // More along the other axes than i32 can sum; as many axes as there are; views of every kind.
  const Tensor low = full({1, 1, 1}, -32768, i16);
  EXPECT_EQ(sum(low.broadcast_to({300, 300, 300})).item<std::int64_t>(), -27000000ll * 32768);
  EXPECT_EQ(sum(low.broadcast_to({70000, 3, 70000}).slice(2, 0, 70000, 700), {0, 2}).to_vector<std::int64_t>(),
            std::vector<std::int64_t>(3, -7000000ll * 32768));
  EXPECT_EQ(sum(low.broadcast_to({1, 2, 1, 70000, 1, 1, 1, 1}), {1, 3}).item<std::int64_t>(), -140000ll * 32768);
  const Tensor counted = arange(0, 210000, 1, i32).to(i16).reshape({70000, 3});
  const std::vector<std::int16_t> values = counted.to_vector<std::int16_t>();
  std::vector<std::int64_t> want(3);
  for (std::size_t i = 0; i < values.size(); ++i) want[i % 3] += values[i];
  EXPECT_EQ(sum(counted, 0).to_vector<std::int64_t>(), want);
  EXPECT_EQ(sum(counted.transpose(0, 1), 1).to_vector<std::int64_t>(), want);
  EXPECT_EQ(sum(Var(counted, false), 0).value().to_vector<std::int64_t>(), want);
}
TEST_P(NumberEdges, TheDtypeOfASumIsTheCallers) {
  const Tensor bytes = full({300}, 255, u8), predicates = ones({300}, boolean), x = full({300}, 0.5);
  EXPECT_EQ(sum(bytes, {}, false, i32).item<std::int32_t>(), 76500);
  EXPECT_EQ(sum(bytes, 0, true, f32).shape(), Shape({1}));
  EXPECT_EQ(sum(bytes, 0, false, f32).item<float>(), 76500);
  EXPECT_EQ(sum(bytes, {}, false, u8).item<std::uint8_t>(), 76500 % 256);
  EXPECT_EQ(sum(bytes, {}, false, u32).item<std::uint32_t>(), 76500u);
  EXPECT_EQ(sum(predicates, {}, false, u8).item<std::uint8_t>(), 300 % 256);
  EXPECT_EQ(sum(predicates, {}, false, f16).dtype(), f16);
  EXPECT_EQ(sum(full({4}, 2147483647, i32), {}, false, f32).item<float>(), 0x1p33f);
  EXPECT_EQ(sum(x, {}, false, i32).item<std::int32_t>(), 0) << "converted first";
  EXPECT_EQ(mean(bytes, {}, false, f16).dtype(), f16);
  EXPECT_EQ(doubles(mean(full({70000}, 60000.0), {}, false, bf16))[0], 59904) << "60000 in bf16";
  const Var v(full({300}, 0.5, f16));
  const Var total = sum(v, {}, false, f32);
  EXPECT_EQ(total.dtype(), f32);
  EXPECT_EQ(backward(total)[v].dtype(), f16);
  EXPECT_EQ(doubles(backward(mean(v, {}, false, f32))[v])[0], static_cast<double>(float(float16(1.0f / 300))));
  expect_error(ErrorKind::dtype, {"sum", "boolean"}, [&] { sum(x, {}, false, boolean); });
  expect_error(ErrorKind::dtype, {"mean", "i32"}, [&] { mean(x, {}, false, i32); });
  if (!supports(device(), i64)) {
    EXPECT_THROW(sum(bytes, {}, false, i64), UnsupportedDType);
    return;
  }
  EXPECT_EQ(sum(predicates, {}, false, i64).item<std::int64_t>(), 300);
  EXPECT_EQ(sum(full({4}, 2147483647, i32), {}, false, i64).item<std::int64_t>(), 4 * 2147483647ll);
  EXPECT_EQ(whole_sum(sum(full({4}, 0.1f), {}, false, f64)), 4 * static_cast<double>(0.1f));
}
TEST_P(NumberEdges, MeansOfIntegersAreNotRoundedOnTheWay) {
  EXPECT_EQ(doubles(mean(tensor(std::vector<std::int16_t>{32767, -32768, 0, 0})))[0], -0.25);
  EXPECT_EQ(doubles(mean(ones({3}, boolean)))[0], 1);
  EXPECT_TRUE(std::isnan(doubles(mean(zeros({0}, u8)))[0]));
  if (!supports(device(), f64)) return;
  EXPECT_EQ(doubles(mean(tensor({16777217, -16777216})))[0], 0.5);
  EXPECT_EQ(doubles(mean(full({70000}, 16777217, i32), {}, false, f64))[0], 16777217);
  EXPECT_EQ(doubles(mean(tensor(std::vector<std::int64_t>{(1ll << 40) + 1, -(1ll << 40)})))[0], 0.5);
}
TEST_P(NumberEdges, MoreTruthsThanI32CountsAreAnError) {
  const Tensor predicates = ones({1, 1}, boolean).broadcast_to({1 << 16, 1 << 15});
  expect_error(ErrorKind::shape, {"sum", "2147483648", "i64"}, [&] { sum(predicates); });
  EXPECT_EQ(sum(predicates.slice(0, 0, 16), 0).shape(), Shape({1 << 15}));
}

}  // namespace
}  // namespace tern::test
