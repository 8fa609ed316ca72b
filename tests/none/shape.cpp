// Shapes and axis lists.
#include "tern/shape.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace tern {
namespace {

TEST(Shapes, FromAnyIntegers) {
  const std::vector<int> v(3);
  EXPECT_EQ(Shape({v.size(), 4}), Shape({3, 4}));
  EXPECT_EQ(Shape({std::uint8_t{2}, 3l, 4ull}), Shape({2, 3, 4}));
  EXPECT_EQ(Shape(std::vector<std::int64_t>{5, 6}), Shape({5, 6}));
  EXPECT_FALSE((std::is_constructible_v<detail::Dim, bool>));
  EXPECT_FALSE((std::is_constructible_v<detail::Dim, double>));
}
TEST(Shapes, TheDefaultIsZeroDimensional) {
  const Shape shape;
  EXPECT_EQ(shape.rank(), 0);
  EXPECT_EQ(shape.numel(), 1);
  EXPECT_EQ(shape, Shape({}));
  EXPECT_EQ(to_string(shape), "[]");
}
TEST(Shapes, IterableAndComparable) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(std::accumulate(shape.begin(), shape.end(), std::int64_t{0}), 9);
  EXPECT_EQ(shape.size(), 3u);
  EXPECT_EQ(shape[1], 3);
  EXPECT_NE(shape, Shape({2, 3}));
  EXPECT_NE(shape, Shape({2, 3, 5}));
  EXPECT_EQ(shape, (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(to_string(shape), "[2, 3, 4]");
}
TEST(Shapes, Counts) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Shape({2, 0, 3}).numel(), 0);
  EXPECT_EQ(Shape({0, most, most}).numel(), 0);
  EXPECT_EQ(Shape({most, 0, most}).numel(), 0);
  EXPECT_THROW(Shape({most, 2}).numel(), Error);
  EXPECT_THROW(Shape({-1}).numel(), Error);
  EXPECT_THROW(Shape({0, -1}).numel(), Error);
  EXPECT_THROW(Shape({std::numeric_limits<std::uint64_t>::max()}), Error);
}
TEST(Shapes, NineAxesAreTooMany) {
  EXPECT_EQ(Shape({1, 1, 1, 1, 1, 1, 1, 1}).rank(), kMaxRank);
  EXPECT_THROW(Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}), Error);
}
TEST(AxisLists, OneBareInteger) {
  const Axes axes = 3;
  EXPECT_EQ(axes.rank(), 1);
  EXPECT_EQ(axes[0], 3);
  EXPECT_EQ(Axes(-1)[0], -1);
  EXPECT_EQ(Axes({0, 1}).rank(), 2);
  EXPECT_FALSE((std::is_convertible_v<bool, Axes>));
}

}  // namespace
}  // namespace tern
