// Creation of a function, of powers, of rows in containers; and methods that stand for functions.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class MoreCreation : public EveryDevice {};
TERN_EVERY_DEVICE(MoreCreation);

TEST_P(MoreCreation, OfAFunctionOfTheCoordinates) {
  expect_values(from_function([](auto i, auto j) { return 1 / (i + j + 1); }, {2, 2}), {2, 2},
                {1, 0.5, 0.5, static_cast<double>(1.0f / 3)});
  const double by = 10;
  expect_values(from_function([&](auto i) { return by * i; }, {3}), {3}, {0, 10, 20});
  const Tensor counts = from_function([](auto i, auto j) { return i * 3 + j; }, {2, 3}, {.dtype = i32});
  EXPECT_EQ(counts.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  const Tensor halves = from_function([](auto i) { return i; }, {5000}, {.dtype = f16});
  EXPECT_EQ(doubles(halves)[2049], 2048) << "the nearest of f16, from a position in f32";
  expect_error(ErrorKind::shape, {"from_function", "2 coordinates", "[3]"},
               [] { from_function([](auto i, auto j) { return i + j; }, {3}); });
}
TEST_P(MoreCreation, PowersBetweenTwoEnds) {
  expect_values(logspace(0, 3, 4), {4}, {1, 10, 100, 1000});
  expect_values(logspace(3, 1, 3, 2), {3}, {8, 4, 2});
  expect_values(geomspace(-1, -16, 3), {3}, {-1, -4, -16});
  expect_values(geomspace(5, 7, 1), {1}, {5});
  EXPECT_EQ(geomspace(1, 2, 0).shape(), Shape({0}));
  EXPECT_EQ(doubles(geomspace(0.1, 0.7, 9)).back(), static_cast<double>(0.7f));
  expect_error(ErrorKind::shape, {"geomspace", "sign"}, [] { geomspace(-1, 1, 3); });
  expect_error(ErrorKind::shape, {"geomspace", "sign"}, [] { geomspace(0, 1, 3); });
  expect_error(ErrorKind::shape, {"logspace", "negative"}, [] { logspace(0, 1, -1); });
  expect_error(ErrorKind::dtype, {"logspace", "i32"}, [] { logspace(0, 1, 3, 10, {.dtype = i32}); });
}
TEST_P(MoreCreation, OnesOnADiagonal) {
  expect_values(eye(2, 3), {2, 3}, {1, 0, 0, 0, 1, 0});
  expect_values(eye(2, 3, 1), {2, 3}, {0, 1, 0, 0, 0, 1});
  expect_values(eye(3, 2, -1), {3, 2}, {0, 0, 1, 0, 0, 1});
  expect_values(eye(2, 2, 5), {2, 2}, {0, 0, 0, 0});
  EXPECT_EQ(eye(2, 0).shape(), Shape({2, 0}));
  EXPECT_EQ(eye(2, {.dtype = f16}).dtype(), f16);
  EXPECT_EQ(empty({2, 3}).shape(), Shape({2, 3}));
  EXPECT_EQ(empty({2}, i32).dtype(), i32);
  expect_error(ErrorKind::shape, {"negative"}, [] { empty({-1}); });
}
TEST_P(MoreCreation, OfRowsInContainers) {
  expect_values(tensor(std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6}}).to(f32), {3, 2}, {1, 2, 3, 4, 5, 6});
  expect_values(tensor(std::vector<std::array<float, 2>>{{1, 2}, {3, 4}}), {2, 2}, {1, 2, 3, 4});
  expect_values(tensor(std::vector<std::vector<std::vector<float>>>{{{1}, {2}}}), {1, 2, 1}, {1, 2});
  EXPECT_EQ(tensor(std::vector<std::vector<bool>>{{true, false}}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(tensor(std::vector<std::vector<float>>{{1, 2}}, f16).dtype(), f16);
  expect_error(ErrorKind::shape, {"different shapes", "[2]", "[1]"}, [] {
    tensor(std::vector<std::vector<float>>{{1, 2}, {3}});
  });
}
TEST_P(MoreCreation, MethodsThatStandForFunctions) {
  const Tensor x = tensor({3.0f, -4.0f, 0.0f});
  EXPECT_EQ(x.norm().item<float>(), 5);
  expect_values(x.sort().values, {3}, {-4, 0, 3});
  expect_values(x.sort(0, true).values, {3}, {3, 0, -4});
  EXPECT_EQ(x.topk(1).indices.to_vector<std::int32_t>(), std::vector<std::int32_t>{0});
  expect_values(x.take(tensor({1, 1})), {2}, {-4, -4});
  expect_values(x.gather(tensor({2}), 0), {1}, {0});
  const Var v(x);
  expect_values(backward(sum(v.topk(1, 0, false).values))[v], {3}, {0, 1, 0});
  expect_values(backward(v.norm())[v], {3}, {static_cast<double>(0.6f), static_cast<double>(-0.8f), 0});
}

}  // namespace
}  // namespace tern::test
