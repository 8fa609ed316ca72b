// tensor({1, 2.5}): braces that hold numbers of several types.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

void expect_typed_values(const Tensor& x, DType dtype, const Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(x.dtype(), dtype);
  EXPECT_EQ(x.shape(), shape);
  EXPECT_EQ(doubles(x), values);
}
TEST(MixedBraces, TakeTheDtypeOfTheFloatingNumbers) {
  expect_typed_values(tensor({1, 2.5}), f32, {2}, {1, 2.5});
  expect_typed_values(tensor({2.5, 1}), f32, {2}, {2.5, 1});
  expect_typed_values(tensor({1, 2.5f}), f32, {2}, {1, 2.5});
  expect_typed_values(tensor({1, 2.5, true}), f32, {3}, {1, 2.5, 1});
  expect_typed_values(tensor({{1, 2.5}, {3, 4}}), f32, {2, 2}, {1, 2.5, 3, 4});
  expect_typed_values(tensor({{1, 2}, {3, 4.5}}), f32, {2, 2}, {1, 2, 3, 4.5});
  expect_typed_values(tensor({{{1, 2}}, {{3, 4.5}}}), f32, {2, 1, 2}, {1, 2, 3, 4.5});
  const DefaultDType scope(f64);
  expect_typed_values(tensor({1, 0.1}), f64, {2}, {1, 0.1});
  expect_typed_values(tensor({1.0f, 0.5}), f64, {2}, {1, 0.5});
}
TEST(MixedBraces, OfIntegersAreIntegers) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(tensor({large, 1}).to_vector<std::int64_t>(), (std::vector<std::int64_t>{large, 1}));
  expect_typed_values(tensor({std::int8_t{-3}, 4}), i32, {2}, {-3, 4});
  expect_typed_values(tensor({4000000000u, -1}), i64, {2}, {4e9, -1});
  expect_typed_values(tensor({true, 3}), i32, {2}, {1, 3});
}
TEST(MixedBraces, TakeShapesDtypesAndDevices) {
  expect_typed_values(tensor({1, 2.5}, f64), f64, {2}, {1, 2.5});
  expect_typed_values(tensor({1, 2.5}, i32), i32, {2}, {1, 2});
  expect_typed_values(tensor({1, 2.5, 3, 4}, {2, 2}), f32, {2, 2}, {1, 2.5, 3, 4});
  expect_typed_values(tensor({1, 2.5, 3, 4}, {2, -1}, f16, cpu()), f16, {2, 2}, {1, 2.5, 3, 4});
  expect_typed_values(tensor({1, 2.5}, cpu()), f32, {2}, {1, 2.5});
  expect_error(ErrorKind::shape, {"rows", "[2]", "[1]"}, [] { tensor({{1, 2.5}, {3}}); });
}
TEST(MixedBraces, BracesOfOneTypeAreAsBefore) {
  expect_typed_values(tensor({1, 2}), i32, {2}, {1, 2});
  expect_typed_values(tensor({1.0, 2.0}), f32, {2}, {1, 2});
  expect_typed_values(tensor({{1}, {2}}), i32, {2, 1}, {1, 2});
  EXPECT_EQ(tensor({true, false}).dtype(), boolean);
  EXPECT_EQ(tensor({std::int8_t{1}, std::int8_t{2}}).dtype(), i8);
}

}  // namespace
}  // namespace tern::test
