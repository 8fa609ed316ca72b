// Sizes whose sums and products 64 bits do not hold, and those that no memory does.
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class SizeEdges : public EveryDevice {};
TERN_EVERY_DEVICE(SizeEdges);

constexpr std::int64_t kMost = INT64_MAX, kLeast = INT64_MIN, kHuge = std::int64_t{1} << 40;

TEST_P(SizeEdges, PadsAndRepeats) {
  const Tensor x = ones({2}), none = zeros({0, kHuge, kHuge});
  for (const PadMode mode : {PadMode::constant, PadMode::wrap, PadMode::reflect, PadMode::edge}) {
    expect_error(ErrorKind::shape, {"pad"}, [&] { pad(x, {{0, kMost}}, mode); });
    expect_error(ErrorKind::shape, {"pad"}, [&] { pad(x, {{kMost, kMost}}, mode); });
    expect_error(ErrorKind::shape, {"pad"}, [&] { pad(x, {{kMost, 0}}, mode); });
  }
  expect_error(ErrorKind::shape, {"pad", "2^31-1"}, [&] { pad(x, {{0, kHuge}}, PadMode::wrap); });
  expect_error(ErrorKind::shape, {"repeat"}, [&] { repeat(x, kMost, 0); });
  expect_error(ErrorKind::shape, {"tile"}, [&] { tile(x, {kMost}); });
  expect_error(ErrorKind::shape, {"elements"}, [&] { tile(x, {kHuge, kHuge}); });
  expect_error(ErrorKind::shape, {"kron"}, [&] { kron(none, none); });
  EXPECT_EQ(repeat(none, 2, 0).shape()[0], 0);
}
TEST_P(SizeEdges, RepeatsAndRollsOfEach) {
  const Tensor x = arange(0, 6, 1, {.dtype = f32, .device = device()}).reshape({2, 3});
  expect_values(repeat(x, tensor({2, 0, 1}), 1), {2, 3}, {0, 0, 2, 3, 3, 5});
  expect_values(repeat(x, tensor({0, 0}), 0), {0, 3}, {});
  const Var v(x);
  expect_values(backward(sum(repeat(v, tensor({2, 0, 1}), 1)))[v], {2, 3}, {2, 0, 1, 2, 0, 1});
  expect_error(ErrorKind::shape, {"repeat", "i32[2]", "axis 1"}, [&] { repeat(x, tensor({1, 2}), 1); });
  expect_error(ErrorKind::value, {"repeat", "-1"}, [&] { repeat(x, tensor({1, -1}), 0); });
  expect_error(ErrorKind::dtype, {"repeat", "f32"}, [&] { repeat(x, ones({2}), 0); });
  expect_values(roll(x, {1, -1}, {0, 1}), {2, 3}, {4, 5, 3, 1, 2, 0});
  expect_values(roll(x, {1, 1}, {1, 1}), {2, 3}, doubles(roll(x, 2, 1)));
  expect_error(ErrorKind::shape, {"roll", "2 shifts"}, [&] { roll(x, {1, 2}, {0}); });
}
TEST_P(SizeEdges, Diagonals) {
  const Tensor v = ones({2}), m = ones({2, 3});
  for (const std::int64_t k : {kLeast, kMost, kLeast + 1}) {
    expect_error(ErrorKind::shape, {}, [&] { diag(v, k); });
    EXPECT_EQ(diag(m, k).shape(), Shape{0});
    EXPECT_EQ(diagonal(m, k).shape(), Shape{0});
    EXPECT_EQ(trace(m, k).item<float>(), 0);
    EXPECT_EQ(doubles(sum(eye(2, 3, k)))[0], 0);
    EXPECT_EQ(doubles(tril(m, k))[0], k > 0 ? 1 : 0);
  }
  expect_values(diag(m, -1), {1}, {1});
}
TEST_P(SizeEdges, PositionsOfNothing) {
  const Tensor none = zeros({0, kHuge, kHuge}, boolean);
  const std::vector<Tensor> at = nonzero(none);
  ASSERT_EQ(at.size(), 3u);
  for (const Tensor& each : at) EXPECT_EQ(each.shape(), Shape{0});
  EXPECT_EQ(nonzero(zeros({kHuge, 0}))[1].shape(), Shape{0});
}
TEST_P(SizeEdges, CountsThatAreMade) {
  expect_error(ErrorKind::value, {"histogram", "bins"}, [] { histogram(ones({2}), kMost); });
  expect_error(ErrorKind::value, {"histogram", "bins"}, [] { histogram(ones({2}), kLeast); });
  expect_error(ErrorKind::shape, {"sobol", "2^31-1"}, [] { sobol({std::int64_t{1} << 31, 1024}); });
  expect_error(ErrorKind::shape, {"sobol"}, [] { sobol({std::int64_t{1} << 31, 1024}, Generator(1)); });
  const Tensor square = tensor({2.0f, 0.0f, 0.0f, 2.0f}, {2, 2}, device());
  expect_values(matrix_power(square, -2), {2, 2}, {0.25, 0, 0, 0.25});
}

}  // namespace
}  // namespace tern::test
