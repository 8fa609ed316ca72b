// x(…): NumPy's indexing, against the definition: element by element, over the coordinates of the operand.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Selecting : public EveryDevice {};
TERN_EVERY_DEVICE(Selecting);

// ---- in place ----
TEST_P(Selecting, InPlaceKeepsTheDtype) {
  const Tensor mask = tensor({true, false, true}), at = tensor({2, 0});
  const auto each = [&](DType dtype, const Tensor& wider, const Tensor& wider_two) {
    Tensor x = tensor({1, 2, 3}).to(dtype), y = x.clone(), z = x.clone();
    x(mask) += wider;
    y(Slice()) += wider;
    z(at) *= wider_two;
    EXPECT_EQ(x.dtype(), dtype);
    expect_values(x, {3}, {doubles(y)[0], 2, doubles(y)[2]});
    expect_values(z.slice(0, 1, 2), {1}, {2});
    EXPECT_EQ(doubles(z)[2], doubles((tensor({3}).to(dtype) * wider_two[0]).to(dtype))[0]);
  };
  each(f16, tensor({0.25f}), tensor({0.3f, 0.7f}));
  each(bf16, full({}, 0.5, f32), tensor({0.3f, 0.7f}));
  each(i8, tensor({100}), tensor({2, 3}));
  if (supports(device(), f64)) each(f32, full({}, 1e-3, f64), tensor({0.1, 0.2}, f64));
  Tensor x = tensor({1, 2, 3});
  expect_error(ErrorKind::dtype, {"add", "i32[2]", "keeps its dtype"}, [&] { x(mask) += ones({2}); });
}
TEST_P(Selecting, InPlaceGivesTheNewElements) {
  Tensor x = tensor({1, 2, 3, 4});
  const Tensor first = tensor({true, false, false, false});
  const Tensor y = x(tensor({3, 1})) += 10, z = x(first) -= tensor({5}), w = x(Slice(1, 3)) *= 2;
  expect_values(y, {2}, {14, 12});
  expect_values(z, {1}, {-4});
  expect_values(w, {2}, {24, 6});
  expect_values(x, {4}, {-4, 24, 6, 14});
}

// ---- views ----
TEST_P(Selecting, IntegersAndRangesAreViews) {
  Tensor x = counted({2, 3, 4});
  expect_values(x(1), {3, 4}, doubles(x[1]));
  expect_values(x(-1, Slice(), Slice{0, 4, 2}), {3, 2}, {12, 14, 16, 18, 20, 22});
  expect_values(x(ellipsis, 1), {2, 3}, {1, 5, 9, 13, 17, 21});
  expect_values(x(0, ellipsis, 2, Slice{.step = -1}), {4}, {11, 10, 9, 8});
  EXPECT_EQ(x(newaxis, ellipsis, newaxis).shape(), Shape({1, 2, 3, 4, 1}));
  EXPECT_EQ(x(newaxis, 1, newaxis).shape(), Shape({1, 1, 3, 4}));
  EXPECT_EQ(x(1, 2, 3).item<float>(), 23);
  EXPECT_EQ(x().shape(), x.shape());
  EXPECT_EQ(counted({})(ellipsis).shape(), Shape({}));

  x(0, Slice(), 0) += 100;
  assign(x(1, 2), tensor({1.0f, 2.0f, 3.0f, 4.0f}));
  assign(x(1, 0, Slice(1, 3)), -1);
  expect_values(x, {2, 3, 4}, {100, 1, 2, 3, 104, 5, 6, 7, 108, 9, 10, 11, 12, -1, -1, 15, 16, 17, 18, 19, 1, 2, 3, 4});
  Tensor row = x(0, 0);
  assign(row, 5);
  EXPECT_EQ(doubles(x)[3], 5) << "a view that has a name is written through";
}

// ---- copies: where NumPy puts the axes ----
TEST_P(Selecting, PositionsBroadcastTogether) {
  const Tensor x = counted({3, 4, 5}), i = tensor({0, 2}, {2, 1}), j = tensor({1, -1, 0});
  const Tensor both = x(i, j);
  ASSERT_EQ(both.shape(), Shape({2, 3, 5}));
  const std::vector<double> got = doubles(both);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 5; ++c) {
        const int row = 2 * a, column = b == 0 ? 1 : b == 1 ? 3 : 0;
        EXPECT_EQ(got[static_cast<std::size_t>((a * 3 + b) * 5 + c)], row * 20 + column * 5 + c);
      }
  EXPECT_EQ(x(Slice(), i, j).shape(), Shape({3, 2, 3}));  // beside each other: in their place
  EXPECT_EQ(x(i, Slice(), j).shape(), Shape({2, 3, 4}));  // apart: in front
  EXPECT_EQ(x(0, Slice(), j).shape(), Shape({3, 4}));     // an integer counts as one of them
  EXPECT_EQ(x(Slice(), 0, j).shape(), Shape({3, 3}));
  EXPECT_EQ(x(i, newaxis, j).shape(), Shape({2, 3, 1, 5}));
  EXPECT_EQ(x(j, ellipsis, 0).shape(), Shape({3, 4}));
  EXPECT_EQ(x(ellipsis, j).shape(), Shape({3, 4, 3}));
  expect_values(x(0, Slice(), j), {3, 4}, {1, 6, 11, 16, 4, 9, 14, 19, 0, 5, 10, 15});
  if (supports(device(), i64)) expect_values(x(i.to(i64), j), {2, 3, 5}, got);
  EXPECT_EQ(x(zeros({0}, i32), j.slice(0, 0, 1)).shape(), Shape({0, 5}));
}
TEST_P(Selecting, Masks) {
  const Tensor x = counted({3, 4}), rows = tensor({true, false, true});
  expect_values(x(x > 8), {3}, {9, 10, 11});
  expect_values(x(rows), {2, 4}, {0, 1, 2, 3, 8, 9, 10, 11});
  expect_values(x(rows, tensor({3, 0})), {2}, {3, 8});
  expect_values(x(rows, Slice(1, 3)), {2, 2}, {1, 2, 9, 10});
  expect_values(x(Slice(), tensor({false, true, false, false})), {3, 1}, {1, 5, 9});
  EXPECT_EQ(x(x > 100).shape(), Shape({0}));
  EXPECT_EQ(counted({2, 3, 4})(0, x.slice(0, 0, 3) >= 0).shape(), Shape({12}));
  const std::vector<Tensor> at = nonzero(x > 8), same = where(x > 8);
  expect_values(at[0].to(f32), {3}, {2, 2, 2});
  expect_values(at[1].to(f32), {3}, {1, 2, 3});
  expect_values(same[1].to(f32), {3}, {1, 2, 3});
  expect_error(ErrorKind::unsupported, {}, [&] { capture(device(), [&] { x(rows); }); });
  Tensor filled;
  const Graph g = capture(device(), [&] { filled = masked_fill(x, x > 8, -1); });
  g.replay();
  EXPECT_EQ(doubles(filled)[11], -1);
}
/// As of NumPy, which lets one select nothing, or all, on a new axis; of a tensor without axes, too.
TEST_P(Selecting, MasksWithoutAxes) {
  const Tensor x = counted({2, 3}), yes = tensor({1.0f}).squeeze(0) > 0, no = yes != yes, one = counted({}) + 5;
  expect_values(x(yes), {1, 2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(x(no).shape(), Shape({0, 2, 3}));
  expect_values(x(Slice(), yes), {2, 1, 3}, {0, 1, 2, 3, 4, 5});
  expect_values(x(yes, tensor({1, 0})), {2, 3}, {3, 4, 5, 0, 1, 2});
  expect_values(one(one > 4), {1}, {5});
  EXPECT_EQ(one(one > 5).shape(), Shape({0}));
  Tensor written = x.clone();
  assign(written(yes, 1), tensor({7.0f, 8.0f, 9.0f})), assign(written(no), -1);
  expect_values(written, {2, 3}, {0, 1, 2, 7, 8, 9});
  const Var v(x);
  expect_values(backward(sum(square(v(yes, 0))))[v], {2, 3}, {0, 2, 4, 0, 0, 0});
}
/// More than one block of every kernel.
TEST_P(Selecting, LongMasksKeepTheOrder) {
  const Tensor x = counted({70001});
  const Tensor picked = x(x % 3 == 1);
  ASSERT_EQ(picked.numel(), 23334);
  EXPECT_TRUE(allclose(picked, arange(0, 23334, 1, f32) * 3 + 1));
}

// ---- writing to copies ----
TEST_P(Selecting, TemporariesAreWrittenBack) {
  Tensor x = counted({3, 4});
  const Tensor i = tensor({0, 2, 0}), j = tensor({1, 1, 1});
  x(x > 8) += 100;
  expect_values(x(2), {4}, {8, 109, 110, 111});
  assign(x(x > 100), 0);
  assign(x(i, j), tensor({1.0f, 2.0f, 3.0f}));
  expect_values(x, {3, 4}, {0, 3, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0});
  x(i, j) *= 2;  // each read once: 3·2, not 3·2·2
  EXPECT_EQ(doubles(x)[1], 6);
  x(tensor({1})) -= tensor({4.0f, 4.0f, 4.0f, 4.0f});
  expect_values(x(1), {4}, {0, 1, 2, 3});
  x(1, tensor({0, 3})) /= tensor({2.0f, 3.0f});
  expect_values(x(1), {4}, {0, 1, 2, 1});
  assign(x(Slice(), tensor({-1, -2})), counted({3, 2}));
  expect_values(x, {3, 4}, {0, 6, 1, 0, 0, 1, 3, 2, 8, 4, 5, 4});
  Tensor copy = x(i);
  copy += 1, assign(copy, 7);
  EXPECT_EQ(doubles(x)[0], 0) << "a copy that has a name is a tensor of its own";
  Tensor turned = x.transpose(0, 1);
  assign(turned(tensor({0}), 2), 9);
  EXPECT_EQ(doubles(x)[8], 9);
}
/// As NumPy assigns; `+=` and other axes in front are refused there, too.
TEST_P(Selecting, ValuesMayHaveMoreAxesOfSizeOne) {
  Tensor x = counted({3, 4});
  assign(x(1), ones({1, 1, 4})), assign(x(tensor({0}), 3), full({1, 1, 1}, 50)), assign(x(2, 0), ones({1}));
  expect_values(x, {3, 4}, {0, 1, 2, 50, 1, 1, 1, 1, 1, 9, 10, 11});
  expect_values(index_put(x, {tensor({1, 2}), 0}, full({1, 2}, 8)), {3, 4}, {0, 1, 2, 50, 8, 1, 1, 1, 8, 9, 10, 11});
  const Var values(full({1, 2}, 3));
  const Var put = index_put(Var(x), {tensor({1, 1}), 0}, values);
  expect_values(backward(sum(square(put)))[values], {1, 2}, {0, 6});
  expect_error(ErrorKind::shape, {"[2, 4]", "[4]"}, [&] { assign(x(1), ones({2, 4})); });
  expect_error(ErrorKind::shape, {"[2, 1, 4]", "[1, 4]"}, [&] { assign(x(tensor({1})), ones({2, 1, 4})); });
}
TEST_P(Selecting, WritingKeepsEveryBit) {
  Tensor x = tensor({-0.0f, 1.0f, 2.0f});
  assign(x(tensor({2, 1})), tensor({-0.0f, -INFINITY}));
  const std::vector<double> got = doubles(x);
  EXPECT_TRUE(std::signbit(got[0]) && std::signbit(got[2]));
  EXPECT_EQ(got[1], -INFINITY);
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    Tensor y = zeros({4}, d);
    assign(y(tensor({0, 3, 0})), ones({3}, d)), assign(y(y == 1), 0), assign(y(tensor({1})), 1);
    EXPECT_EQ(doubles(y.to(f32)), (std::vector<double>{0, 1, 0, 0})) << d;
  }
}
TEST_P(Selecting, RefusesBeforeItWrites) {
  Tensor x = counted({3, 4});
  expect_error(ErrorKind::shape, {"[3]", "[2, 4]"}, [&] { assign(x(tensor({0, 1})), ones({3})); });
  expect_error(ErrorKind::dtype, {"f32", "f16"}, [&] { assign(x(tensor({0, 1})), ones({4}, f16)); });
  expect_error(ErrorKind::index, {"5", "size 3"}, [&] { x(tensor({5})) += 1; });
  expect_error(ErrorKind::index, {"5"}, [&] { assign(x(tensor({0}), tensor({5})), 1); });
  expect_error(ErrorKind::index, {"size 0"}, [&] { counted({0, 3})(tensor({0})); });
  expect_error(ErrorKind::index, {"size 0"}, [&] { counted({2, 0})(tensor({0}), tensor({0})); });
  expect_error(ErrorKind::shape, {"mask"}, [&] { x(ones({3, 3}, boolean)); });
  expect_error(ErrorKind::shape, {"undefined"}, [] { Tensor()(0); });
  expect_error(ErrorKind::shape, {"undefined"}, [&] { x(Tensor()); });
  if (device() == cpu()) expect_values(x, {3, 4}, doubles(counted({3, 4})));  // GPUs find some when they write
}

// ---- gradients ----
TEST_P(Selecting, ReadingAndPuttingAreDifferentiable) {
  const Var x(counted({2, 3})), v(tensor({5.0f, 6.0f}));
  expect_values(backward(sum(square(x(tensor({0, 0}), tensor({1, 1})))))[x], {2, 3}, {0, 4, 0, 0, 0, 0});
  expect_values(backward(sum(square(x(x > 3))))[x], {2, 3}, {0, 0, 0, 0, 8, 10});
  expect_values(backward(sum(square(x(ellipsis, Slice{.step = -2}))))[x], {2, 3}, {0, 0, 4, 6, 0, 10});
  const Var put = index_put(x, {tensor({0, 0}), tensor({1, 1})}, v);
  expect_values(put.value(), {2, 3}, {0, 6, 2, 3, 4, 5});
  const Gradients g = backward(sum(square(put)));
  expect_values(g[x], {2, 3}, {0, 0, 4, 6, 8, 10});
  expect_values(g[v], {2}, {0, 12});
}

}  // namespace
}  // namespace tern::test
