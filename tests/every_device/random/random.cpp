// Random numbers: Philox against its published test vector, independence of calls, moments.
#include <algorithm>
#include <array>
#include <cstdint>

#include "every_device.hpp"
#include "every_device/random/philox.hpp"

namespace tern::test::random_numbers {  // in which its fixture is Random
namespace {

class Random : public EveryDevice {};

TEST_P(Random, PhiloxOfZero) {
  // Random123, kat_vectors: philox4x32 with 10 rounds, counter 0, key 0.
  const std::uint32_t words[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  const std::vector<double> got = doubles(rand({4}, Generator{0}));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(got[i], static_cast<double>(words[i] >> 8) * 0x1p-24);
}

/// At sizes on both sides of a vector and of a block, and where the position's lower word overflows.
TEST_P(Random, DrawsAreTheWordsOfTheirBlocks) {
  for (const std::uint64_t from : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 20})
    for (const std::int64_t n : {1, 3, 63, 64, 65, 67, 127, 130, 260, 1000, 4095, 4099, 9000, 70001}) {
      Generator g{(7ull << 40) + 3};
      g.position = from;
      const std::vector<double> got = doubles(rand({n}, g));
      ASSERT_EQ(got.size(), static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], static_cast<double>(philox(from + i / 4, g.seed)[i % 4] >> 8) * 0x1p-24) << i << " of " << n;
    }
}

TEST_P(Random, SeedsAndPositionsAreExact) {
  Generator a{1}, b{(1ull << 25) + 1}, c{1, (1ull << 25) + 1}, d{1, (1ull << 40)};
  const std::vector<double> first = doubles(rand({8}, a));
  for (Generator* other : {&b, &c, &d}) EXPECT_NE(doubles(rand({8}, *other)), first);
  EXPECT_NE(doubles(rand({8}, a)), first) << "a call advances the generator";
  EXPECT_EQ(doubles(rand({8}, Generator{1})), first);
  EXPECT_EQ(doubles(rand({2, 4}, Generator{1})), first) << "the shape does not matter";
}

TEST_P(Random, PositionCountsBlocksOfFourWords) {
  Generator g{1};
  const auto expect_step = [&](std::uint64_t blocks, const char* what) {
    EXPECT_EQ(g.position, blocks) << what;
    g.position = 0;
  };
  rand({8}, g), expect_step(2, "a word an element");
  rand({2, 5}, g), expect_step(3, "a block that is begun");
  randint(0, 7, {4}, g), expect_step(1, "a word an element");
  randn({8}, g), expect_step(2, "two words for two elements");
  randn({5}, g), expect_step(2, "a pair that is begun");
  rand({0}, g), expect_step(0, "nothing");
  // So no two draws overlap, and none leaves numbers out.
  const std::vector<double> all = doubles(rand({12}, Generator{5}));
  Generator parts{5};
  std::vector<double> joined;
  for (const std::int64_t n : {4, 8})
    for (const double v : doubles(rand({n}, parts))) joined.push_back(v);
  EXPECT_EQ(joined, all);
}
TEST_P(Random, CopiesGoTheirOwnWays) {
  Generator a(7), b = a, c{1};
  EXPECT_EQ(doubles(rand({4}, a)), doubles(rand({4}, b)));
  c = a;
  EXPECT_EQ(c.seed, 7u);
  EXPECT_EQ(c.position, 1u);
  rand({4}, c);
  EXPECT_EQ(a.position, 1u);
  EXPECT_EQ(c.position, 2u);
  const Generator moved = std::move(c);
  EXPECT_EQ(moved.position, 2u);
}

TEST_P(Random, Moments) {
  const std::int64_t n = 100000;
  const auto moments = [](const std::vector<double>& x) {
    double sum = 0, squares = 0;
    for (const double v : x) sum += v, squares += v * v;
    const double mean = sum / static_cast<double>(x.size());
    return std::pair(mean, squares / static_cast<double>(x.size()) - mean * mean);
  };
  // Five standard errors: 1/√n times the spread of the value (mean) and of its square (variance).
  const double five = 5 / std::sqrt(static_cast<double>(n));
  const auto [mean, variance] = moments(doubles(rand({n}, Generator{7})));
  EXPECT_NEAR(mean, 0.5, five * 0.289);
  EXPECT_NEAR(variance, 1.0 / 12, five * 0.075);
  const auto [normal_mean, normal_variance] = moments(doubles(randn({n}, Generator{7})));
  EXPECT_NEAR(normal_mean, 0, five);
  EXPECT_NEAR(normal_variance, 1, five * 1.42);
  const std::vector<double> dice = doubles(randint(1, 7, {n}, Generator{7}));
  EXPECT_EQ(*std::min_element(dice.begin(), dice.end()), 1);
  EXPECT_EQ(*std::max_element(dice.begin(), dice.end()), 6);
  EXPECT_NEAR(moments(dice).first, 3.5, five * 1.71);
}

/// Pairs share a radius and an angle: neither their product, nor that of their squares, may show it; nor the layout.
TEST_P(Random, NormalNumbersOfAPairAreIndependent) {
  const std::int64_t n = 1 << 17;
  for (const DType dtype : {f32, bf16}) {
    const std::vector<double> x = doubles(randn({n}, Generator{11}, {.dtype = dtype}));
    const double five = 5 / std::sqrt(static_cast<double>(n) / 2);
    double products = 0, squares = 0, fourth = 0, even = 0, negative = 0;
    for (std::size_t i = 0; i < x.size(); i += 2) {
      products += x[i] * x[i + 1], squares += (x[i] * x[i] - 1) * (x[i + 1] * x[i + 1] - 1);
      fourth += x[i] * x[i] * x[i] * x[i], even += x[i] * x[i], negative += (x[i] < 0) + (x[i + 1] < 0);
    }
    const double pairs = static_cast<double>(n) / 2;
    EXPECT_NEAR(products / pairs, 0, five);
    EXPECT_NEAR(squares / pairs, 0, 2 * five);
    EXPECT_NEAR(even / pairs, 1, 1.42 * five);
    EXPECT_NEAR(fourth / pairs, 3, 9.8 * five);
    EXPECT_NEAR(negative / (2 * pairs), 0.5, five);
    EXPECT_EQ(std::count(x.begin(), x.end(), 0.0), 0);
  }
  // Part of a longer draw, which a GPU computes by rows of several: the same numbers, but for rounding.
  const std::vector<double> all = doubles(randn({1000}, Generator{3})), few = doubles(randn({3}, Generator{3}));
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_NEAR(few[i], all[i], 4e-7 * std::abs(all[i]));
}

TEST_P(Random, DrawsAreOneCallThatReadsNothing) {
  Generator g{1};
  for (const std::int64_t n : {8, 4096}) {
    const std::string text = explain([&] { rand({n}, g), randn({n}, g), randint(0, 9, {n}, g); });
    EXPECT_EQ(text.find("clone"), text.npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  }
}

TEST_P(Random, Errors) {
  Generator g{1};
  expect_error(ErrorKind::dtype, {"rand", "i32"}, [&] { rand({2}, g, i32); });
  expect_error(ErrorKind::shape, {"randint"}, [&] { randint(3, 3, {2}, g); });
  expect_error(ErrorKind::dtype, {"randint", "f32"}, [&] { randint(0, 3, {2}, g, {.dtype = f32}); });
}

TERN_EVERY_DEVICE(Random);

}  // namespace
}  // namespace tern::test::random_numbers
