// The text of a tuning file: what is written is read, and whatever is damaged is refused as a whole. Choices named by
// their shapes.
#include <gtest/gtest.h>

#include <array>

#include "backend/instruments/tuning.hpp"

namespace tern::detail {
namespace {

TEST(TuningFile, WhatIsWrittenIsRead) {
  const TunedValues values{{{"cpu AVX3, L2 2048 KiB", "gemm.tile_rows"}, {112}},
                           {{"cuda sm_90", "gemm f32, m <= 64"}, {-3, {1, 0.957, 1.25}}}};
  const auto read = parse_tuned(to_text(values));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, values);
  EXPECT_EQ(parse_tuned(to_text({})), TunedValues{});
}
TEST(TuningFile, DamagedTextIsRefused) {
  const std::string good = to_text({{{"cpu", "key"}, {112}}, {{"cpu", "other"}, {5, {1, 2}}}});
  ASSERT_TRUE(parse_tuned(good));
  EXPECT_FALSE(parse_tuned(""));
  for (std::size_t cut = 1; cut < good.size(); ++cut)  // cut off anywhere but between two lines
    EXPECT_EQ(parse_tuned(good.substr(0, cut)).has_value(), good[cut - 1] == '\n') << cut;
  for (const char* line : {"cpu\tkey\t", "cpu\tkey", "cpu\t12", "\tkey\t1", "cpu\tkey\t1x", "cpu\tkey\t1.5",
                           "cpu\tkey\t99999999999999999999", "", "cpu key 1", "cpu\tkey\t1\t", "cpu\tkey\t1\t1.0 x",
                           "cpu\tkey\t1\t1.0  2", "cpu\tkey\t1\t-1", "cpu\tkey\t1\tnan", "cpu\tkey\t1\t1\t1"})
    EXPECT_FALSE(parse_tuned("tern tuning 1\n" + std::string(line) + "\n")) << line;
  EXPECT_FALSE(parse_tuned("tern tuning 2\ncpu\tkey\t1\n"));
  EXPECT_FALSE(parse_tuned(std::string("\0\xff\x80", 3)));
}
TEST(Choices, OfOneNameAreOne) {
  const Choice& first = choice_of("no such device", "tests.choice", {3, 4});
  EXPECT_EQ(first(), 3);
  EXPECT_EQ(&choice_of(std::string("no such ") + "device", std::string("tests.") + "choice", {3, 4}), &first);
  EXPECT_NE(&choice_of("no such device", "tests.other", {3, 4}), &first);
  EXPECT_NE(&choice_of("another device", "tests.choice", {3, 4}), &first);
}
TEST(Choices, SizesBetweenTheSamePowersOfTwoAreAlike) {
  EXPECT_EQ(size_classes(std::array<std::int64_t, 4>{1, 2, 3, 4}), " 2^0 2^1 2^1 2^2");
  EXPECT_EQ(size_classes(std::array<std::int64_t, 3>{8191, 8192, std::int64_t{1} << 62}), " 2^12 2^13 2^62");
  EXPECT_EQ(size_classes({}), "");
}

}  // namespace
}  // namespace tern::detail
