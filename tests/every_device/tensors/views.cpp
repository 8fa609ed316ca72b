// Views of tensors and of variables: values, shapes, shared memory.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Views : public EveryDevice {
 protected:
  Tensor counted(const Shape& shape) { return arange(0, shape.numel(), 1, f32).reshape(shape); }
};
TERN_EVERY_DEVICE(Views);

bool shares(Tensor view, const Tensor& base) {
  const std::vector<double> before = doubles(base);
  view += 1;
  const bool changed = doubles(base) != before;
  view -= 1;
  return changed;
}

TEST_P(Views, WritesToCopiesThatNobodyHoldsAreErrors) {
  Tensor x = counted({2, 3});
  const Tensor before = x.clone();
  expect_error(ErrorKind::value, {"+=", "f32[6]", "name"}, [&] { x.T().flatten() += 1; });
  expect_error(ErrorKind::value, {"*=", "f32[2, 3]"}, [&] { x.clone() *= tensor({2.f}); });
  EXPECT_EQ(doubles(x), doubles(before));
  x.flatten() += 1, x.T()[0] -= 1, Tensor(x) *= 2;  // views, and another handle of the same tensor
  expect_values(x, {2, 3}, {0, 4, 6, 6, 10, 12});
}
TEST_P(Views, Reshape) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(x.reshape({6, 4}).shape(), Shape({6, 4}));
  EXPECT_EQ(x.reshape({-1}).shape(), Shape({24}));
  EXPECT_EQ(x.reshape({2, -1}).shape(), Shape({2, 12}));
  EXPECT_EQ(x.reshape({1, 24, 1, 1}).shape(), Shape({1, 24, 1, 1}));
  EXPECT_TRUE(shares(x.reshape({4, 6}), x));
  EXPECT_EQ(doubles(x.reshape({4, 6})), doubles(x));
  EXPECT_EQ(full({1}, 3).reshape({}).shape(), Shape());
  EXPECT_EQ(full({}, 3).reshape({1, 1}).shape(), Shape({1, 1}));
  EXPECT_EQ(zeros({0, 3}).reshape({3, 0}).shape(), Shape({3, 0}));
  EXPECT_EQ(zeros({2, 0}).reshape({-1, 5}).shape(), Shape({0, 5}));
}
TEST_P(Views, ReshapeOfStridedTensors) {
  const Tensor x = counted({4, 6});
  for (const Tensor& v : {x.transpose(0, 1), x.slice(1, 0, 4), x.slice(0, 0, 4, 2), x.slice(1, 1, 6, 2),
                          x.unsqueeze(1).transpose(0, 1), x.slice(0, 1, 2), x.slice(1, 2, 3)})
    for (const Shape& shape : {Shape{-1}, Shape{2, -1}, Shape{-1, 2}, Shape{1, -1, 1}}) {
      if (v.numel() % 2) continue;
      EXPECT_EQ(doubles(v.reshape(shape)), doubles(v)) << to_string(v.shape()) << " to " << to_string(shape);
    }
  EXPECT_TRUE(shares(x.slice(0, 0, 4, 2).reshape({2, 3, 2}), x));
  EXPECT_TRUE(shares(x.slice(1, 0, 4).reshape({4, 2, 2}), x));
  EXPECT_FALSE(shares(x.transpose(0, 1).reshape({24}), x));
  EXPECT_EQ(doubles(tensor({5.0f}).broadcast_to({4}).reshape({2, 2})), std::vector<double>(4, 5.0));
}
TEST_P(Views, TransposeAndPermute) {
  const Tensor x = counted({2, 3, 4});
  expect_values(x.slice(0, 0, 1).squeeze(0).transpose(0, 1), {4, 3}, {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  EXPECT_EQ(x.transpose(-1, 0).shape(), Shape({4, 3, 2}));
  EXPECT_EQ(x.permute({2, 0, 1}).shape(), Shape({4, 2, 3}));
  EXPECT_EQ(x.permute({-1, -3, -2}).shape(), Shape({4, 2, 3}));
  EXPECT_EQ(doubles(x.permute({2, 0, 1}).permute({1, 2, 0})), doubles(x));
  EXPECT_TRUE(shares(x.permute({2, 0, 1}), x));
  EXPECT_EQ(full({}, 1).permute({}).shape(), Shape());
  EXPECT_EQ(doubles(x.permute({2, 1, 0}).slice(0, 3, 4).reshape({6})), (std::vector<double>{3, 15, 7, 19, 11, 23}));
}
TEST_P(Views, Slice) {
  const Tensor x = counted({10});
  expect_values(x.slice(0, 2, 5), {3}, {2, 3, 4});
  expect_values(x.slice(0, 1, 10, 3), {3}, {1, 4, 7});
  expect_values(x.slice(0, 0, 10, 4), {3}, {0, 4, 8});
  expect_values(x.slice(0, -3, -1), {2}, {7, 8});
  expect_values(x.slice(-1, -3, 10), {3}, {7, 8, 9});
  expect_values(x.slice(0, 4, 4), {0}, {});
  expect_values(x.slice(0, 10, 10), {0}, {});
  expect_values(x.slice(0, 1, 9, 2).slice(0, 1, 4, 2), {2}, {3, 7});
  EXPECT_TRUE(shares(x.slice(0, 2, 5), x));
}
TEST_P(Views, SqueezeAndUnsqueeze) {
  const Tensor x = counted({2, 1, 3});
  EXPECT_EQ(x.squeeze(1).shape(), Shape({2, 3}));
  EXPECT_EQ(x.squeeze(-2).shape(), Shape({2, 3}));
  EXPECT_EQ(x.unsqueeze(0).shape(), Shape({1, 2, 1, 3}));
  EXPECT_EQ(x.unsqueeze(3).shape(), Shape({2, 1, 3, 1}));
  EXPECT_EQ(x.unsqueeze(-1).shape(), Shape({2, 1, 3, 1}));
  EXPECT_EQ(x.unsqueeze(-4).shape(), Shape({1, 2, 1, 3}));
  EXPECT_TRUE(x.unsqueeze(1).is_contiguous());
  EXPECT_EQ(full({}, 2).unsqueeze(0).shape(), Shape({1}));
}
TEST_P(Views, BroadcastTo) {
  const Tensor x = tensor({1.0f, 2.0f}, {2, 1});
  expect_values(x.broadcast_to({2, 3}), {2, 3}, {1, 1, 1, 2, 2, 2});
  expect_values(x.broadcast_to({2, 2, 2}), {2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2});
  EXPECT_EQ(x.broadcast_to({2, 3}).strides()[1], 0);
  EXPECT_EQ(x.broadcast_to({2, 0}).shape(), Shape({2, 0}));
  expect_values(full({}, 4).broadcast_to({2}), {2}, {4, 4});
}
TEST_P(Views, ViewsOfEveryDtype) {
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    const Tensor x = tensor({0, 1, 1, 0, 1, 0}, {2, 3}).to(d);
    expect_values(x.transpose(0, 1), {3, 2}, {0, 0, 1, 1, 1, 0}, std::string(to_string(d)));
    expect_values(x.slice(1, 0, 3, 2).clone(), {2, 2}, {0, 1, 0, 0}, std::string(to_string(d)));
    expect_values(x.slice(1, 1, 3).reshape({4}), {4}, {1, 1, 1, 0}, std::string(to_string(d)));
  }
}

// ---- of variables ----
template <class F> void check_view(const char* what, const Tensor& x, F view) {
  const Var v(x), y = view(v);
  const Tensor plain = view(x);
  EXPECT_EQ(y.shape(), plain.shape()) << what;
  EXPECT_EQ(doubles(y), doubles(plain)) << what;
  const Tensor weight = arange(1, 1 + y.numel(), 1, f32).reshape(y.shape());
  const Tensor g = backward(y, weight)[v];
  ASSERT_EQ(g.shape(), x.shape()) << what;
  // A view is linear: <g, t> = <weight, view(t)> for every t.
  Random random(81);
  const Tensor t = round(random.tensor(x.shape(), f32, x.device(), -9, 9));
  const Tensor seen = sum(weight * view(t));
  EXPECT_EQ(sum(g * t).item<float>(), seen.item<float>()) << what;
}
/// Copies whose neighbours lie along another axis take another way: in tiles, whose edges are partial here.
TEST_P(Views, LargeTransposedCopiesOfEveryDtype) {
  struct Case {
    Shape shape;
    Axes order;
  };
  const Case cases[] = {{{100, 70}, {1, 0}},       {{33, 1000}, {1, 0}},      {{1000, 9}, {1, 0}},
                        {{1025, 64}, {1, 0}},      {{3, 65, 40}, {0, 2, 1}},  {{40, 3, 65}, {2, 1, 0}},
                        {{17, 40, 33}, {1, 2, 0}}, {{17, 40, 33}, {2, 0, 1}}, {{2, 50, 3, 40}, {3, 2, 1, 0}}};
  for (const DType d : dtypes_of(device(), {boolean, i8, i16, i32, i64, f16, bf16, f32, f64}))
    for (const auto& [shape, order] : cases) {
      const Tensor x = (arange(0, shape.numel(), 1, {.dtype = i32}) % 127).to(d).reshape(shape),
                   view = x.permute(order);
      const std::vector<double> all = doubles(x);
      std::vector<double> want;
      const std::vector<std::int64_t> sizes(view.shape().begin(), view.shape().end());
      for (std::int64_t i = 0; i < view.numel(); ++i) {
        std::int64_t rest = i, at = 0;
        for (std::size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis])
          at += rest % sizes[axis] * view.strides()[axis];
        want.push_back(all[static_cast<std::size_t>(at)]);
      }
      SCOPED_TRACE(std::string(to_string(d)) + to_string(shape) + " in order " + to_string(view.shape()));
      EXPECT_TRUE(doubles(view.clone()) == want);
      // With an operand that lies along the result, and written over a transposed output.
      if (is_floating(d)) {
        EXPECT_TRUE(doubles(view + view.clone()) == doubles(view.clone() * 2));
      }
      const Tensor into = zeros(shape, d).permute(order);
      Tensor(into).copy_from(view.clone());
      EXPECT_TRUE(doubles(into) == want);
    }
}
TEST_P(Views, GradientsAreTransposes) {
  const Tensor x = counted({4, 3, 2});
  check_view("reshape", x, [](const auto& t) { return t.reshape({6, -1}); });
  check_view("reshape that copies", x, [](const auto& t) { return t.transpose(0, 2).reshape({-1}); });
  check_view("transpose", x, [](const auto& t) { return t.transpose(0, -1); });
  check_view("permute", x, [](const auto& t) { return t.permute({1, -1, 0}); });
  check_view("slice", x, [](const auto& t) { return t.slice(0, 1, 4, 2); });
  check_view("empty slice", x, [](const auto& t) { return t.slice(0, 2, 2); });
  check_view("unsqueeze", x, [](const auto& t) { return t.unsqueeze(1); });
  check_view("squeeze", counted({2, 1, 3}), [](const auto& t) { return t.squeeze(1); });
  check_view("broadcast_to", counted({2, 1}), [](const auto& t) { return t.broadcast_to({3, 2, 4}); });
  check_view("clone of a transpose", x, [](const auto& t) { return t.transpose(0, 1).clone(); });
  check_view("contiguous", x, [](const auto& t) { return t.transpose(0, 1).contiguous(); });
}
TEST_P(Views, OverlappingSlicesAddUp) {
  const Var x(counted({4}));
  expect_values(backward(sum(x.slice(0, 0, 3) + x.slice(0, 1, 4)))[x], {4}, {1, 2, 2, 1});
}

/// Runs of neighbours that keep together, shorter and longer than a cache line, of every dtype, also as parts of longer
/// ones and past the caches.
TEST_P(Views, CopiesOfPermutedAxesKeepEveryElement) {
  const auto check = [](const Tensor& x, const Axes& order) {
    const Tensor view = x.permute(order), copy = view.contiguous();
    ASSERT_EQ(copy.shape(), view.shape());
    const std::vector<double> from = doubles(x.to(f32)), got = doubles(copy.to(f32));
    std::vector<std::int64_t> steps(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      steps[i] = 1;
      for (int k = static_cast<int>(order[i]) + 1; k < x.dim(); ++k) steps[i] *= x.size(k);
    }
    for (std::int64_t i = 0; i<copy.numel(); i += copy.numel()> 100000 ? 977 : 1) {
      std::int64_t rest = i, at = 0;
      for (std::size_t k = order.size(); k-- > 0;) {
        const std::int64_t size = copy.size(static_cast<int>(k));
        at += rest % size * steps[k], rest /= size;
      }
      ASSERT_EQ(got[static_cast<std::size_t>(i)], from[static_cast<std::size_t>(at)]) << to_string(x.shape()) << i;
    }
  };
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64}))
    for (const std::int64_t run : {3, 16, 40, 128, 1500}) {
      const Tensor numbers = (arange(0, 2 * 3 * 5 * run, 1, f32) % (d == boolean ? 2 : 101)).to(d);
      const Tensor x = numbers.reshape({2, 3, 5, run});
      check(x, {0, 2, 1, 3}), check(x, {2, 1, 0, 3}), check(x.slice(3, 1, run).contiguous(), {1, 0, 2, 3});
      const Tensor part = x.slice(3, 0, run - 1).permute({0, 2, 1, 3});
      EXPECT_TRUE(allclose(part.clone().to(f32), part.to(f32)));
    }
  if (device() == cpu()) check((arange(0, 33 * 8 * 512 * 64, 1, f32) % 8191).reshape({33, 8, 512, 64}), {0, 2, 1, 3});
}

/// Few columns, each a run of memory: read and written row by row, whole rows and not, from the middle of them on.
TEST_P(Views, FewColumnsOfTransposedMatrices) {
  for (const DType dtype : dtypes_of(device(), {f32, f64, i32, bf16}))
    for (std::int64_t columns = 1; columns <= 25; ++columns)
      for (const std::int64_t rows : {1, 15, 67, 300}) {
        if (in_software(device()) && (columns % 6 != 1 || rows == 300)) continue;
        const Tensor memory = (arange(0, columns * (rows + 3), 1, f32) % 251).reshape({columns, rows + 3}).to(dtype);
        const std::vector<double> numbers = doubles(memory);
        const Tensor x = memory.slice(1, 2, rows + 2).transpose(0, 1);
        std::vector<double> want;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            want.push_back(numbers[static_cast<std::size_t>(j * (rows + 3) + i + 2)]);
        const std::string what =
            std::to_string(rows) + " of " + std::to_string(columns) + " " + std::string(to_string(dtype));
        ASSERT_EQ(doubles(x.clone()), want) << what;
        ASSERT_EQ(doubles(x + zeros({rows, columns}, {.dtype = dtype})), want) << what;
        Tensor written = zeros({columns, rows + 3}, {.dtype = dtype});
        written.slice(1, 2, rows + 2).transpose(0, 1).copy_from(x.clone());
        ASSERT_EQ(doubles(written.slice(1, 2, rows + 2).transpose(0, 1)), want) << what;
        ASSERT_EQ(doubles(written.slice(1, 0, 2)), std::vector<double>(2 * static_cast<std::size_t>(columns))) << what;
        ASSERT_EQ(doubles(written.slice(1, rows + 2, rows + 3)),
                  std::vector<double>(static_cast<std::size_t>(columns)))
            << what;
      }
}

/// What is no view is none where nothing changes, either.
TEST_P(Views, CopiesThatChangeNothingHaveTheirOwnMemory) {
  const Tensor x = arange(0, 9, 1, f32).reshape({3, 3});
  const std::vector<double> before = doubles(x);
  const Tensor copies[] = {roll(x, 0),   roll(x, 3),        roll(x, {0, 3}, {0, 1}), repeat(x, 1, 0),
                           tile(x, {1}), pad(x, {{0, 0}}),  diff(x, 0),              matrix_power(x, 1),
                           x.clone(),    tile(x, {1, 1, 1})};
  for (Tensor copy : copies) {
    copy += 100;
    EXPECT_EQ(doubles(x), before);
  }
  const Var v(x);
  for (const Var& copy : {roll(v, 0), repeat(v, 1, 0), tile(v, {1}), matrix_power(v, 1)}) {
    EXPECT_EQ(doubles(backward(sum(square(copy)))[v]), doubles(x * 2));
    Tensor value = copy.value();
    value.copy_from(zeros({3, 3}));
    EXPECT_EQ(doubles(x), before);
  }
}

}  // namespace
}  // namespace tern::test
