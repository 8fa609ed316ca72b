// Tensors of the program's values: dtypes, shapes, nested braces, the default dtype, and dtypes that a device only
// keeps.
#include <thread>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Creation : public EveryDevice {};
TERN_EVERY_DEVICE(Creation);

const std::vector<double> kDoubles{100.0, 95.0, 0.1, -2.5};

TEST_P(Creation, ValuesWithADtype) {
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    SCOPED_TRACE(to_string(d));
    const Tensor braces = tensor({100.0, 95.0}, d), range = tensor(std::vector<double>{100.0, 95.0}, d);
    EXPECT_EQ(braces.dtype(), d);
    EXPECT_EQ(range.dtype(), d);
    expect_values(braces, {2}, d == boolean ? std::vector<double>{1, 1} : std::vector<double>{100, 95});
    expect_values(range, {2}, d == boolean ? std::vector<double>{1, 1} : std::vector<double>{100, 95});
    expect_values(tensor({1, 0, 1, 1}, {2, 2}, d), {2, 2}, {1, 0, 1, 1});
    expect_values(tensor(std::vector<bool>{true, false}, d), {2}, {1, 0});
    EXPECT_EQ(tensor({1.0}, d, cpu()).device(), cpu());
    EXPECT_EQ(tensor({1.0}, {1, 1}, d, device()).device(), device());
  }
  EXPECT_EQ(tensor({1.0, 2.0}, cpu()).device(), cpu());
  EXPECT_EQ(tensor({1.0, 2.0}, cpu()).dtype(), f32);
  EXPECT_EQ(tensor(std::vector<float>{1}, cpu()).device(), cpu());
}
TEST_P(Creation, DoublesKeepTheirDigits) {
  if (refuses_f64(device())) return;
  EXPECT_EQ(tensor({0.1, 1.0 / 3}, f64).to_vector<double>(), (std::vector<double>{0.1, 1.0 / 3}));
}
/// The host converts as the device does.
TEST_P(Creation, ConversionsAreThoseOfTo) {
  const std::vector<double> values{0,    -0.0,     1.5,       -1.5,        2.5,     255.7,
                                   -129, 65520,    1e10,      -1e10,       1e300,   -1e300,
                                   NAN,  INFINITY, -INFINITY, 1 + 0x1p-24, 0x1p-30, 1 + 0x1p-11 + 0x1p-40};
  const std::vector<std::int64_t> integers{
      0, 1, -1, 127, 128, 255, 256, -129, 70000, 1ll << 31, -(1ll << 31) - 1, (1ll << 24) + 1, 1ll << 40};
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})) {
    SCOPED_TRACE(to_string(d));
    const auto same = [&](const Tensor& got, const Tensor& want) {
      const std::vector<double> a = doubles(got), b = doubles(want);
      for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
            << "at " << i << ": " << a[i] << " for " << b[i];
    };
    // What is not a value of an integer dtype is an error: MissingValues.
    const auto held = [&](auto list) {
      if (!is_floating(d) && d != boolean)
        std::erase_if(list, [&](auto v) {
          const double size = std::ldexp(1.0, 8 * static_cast<int>(dtype_size(d))), whole = std::trunc(double(v));
          const bool is_signed = d != u8 && d != u32;
          return !(whole >= (is_signed ? -size / 2 : 0) && whole < (is_signed ? size / 2 : size));
        });
      EXPECT_GE(list.size(), 2u);
      return list;
    };
    same(tensor(held(values), d), tensor(held(values), cpu()).to(d));
    same(tensor(held(integers), d), tensor(held(integers), cpu()).to(d));
    const std::vector<float> floats = held(std::vector<float>{0.5f, -0.25f, -3, 70000});
    same(tensor(floats, d), tensor(floats, cpu()).to(d));
    same(tensor(std::vector<bfloat16>{bfloat16(1.5f)}, d), tensor(std::vector<bfloat16>{bfloat16(1.5f)}, cpu()).to(d));
  }
}
TEST_P(Creation, OneSizeMayBeOpen) {
  const std::vector<float> v{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(tensor(v, {2, -1}).shape(), Shape({2, 3}));
  EXPECT_EQ(tensor(v, {-1}).shape(), Shape({6}));
  EXPECT_EQ(tensor({1, 2, 3, 4}, {-1, 1, 2}).shape(), Shape({2, 1, 2}));
  EXPECT_EQ(tensor(std::vector<bool>(6), {3, -1}).shape(), Shape({3, 2}));
  EXPECT_EQ(tensor(std::vector<float>{}, {3, -1}).shape(), Shape({3, 0}));
  expect_error(ErrorKind::shape, {"tensor", "6 values", "[4, -1]"}, [&] { tensor(v, {4, -1}); });
  expect_error(ErrorKind::shape, {"tensor", "[-1, -1]"}, [&] { tensor(v, {-1, -1}); });
  expect_error(ErrorKind::shape, {"tensor", "[-2, -3]"}, [&] { tensor(v, {-2, -3}); });
  expect_error(ErrorKind::shape, {"tensor", "[0, -1]"}, [&] { tensor(v, {0, -1}); });
  expect_error(ErrorKind::shape, {"tensor", "6 values", "[5]"}, [&] { tensor(v, {5}); });
}
/// As NumPy and PyTorch write them.
TEST_P(Creation, SizesWithoutBraces) {
  EXPECT_EQ(zeros(3).shape(), (Shape{3}));
  EXPECT_EQ(zeros(std::size_t{3}, i32).dtype(), i32);
  EXPECT_EQ(full(2, 1.5).shape(), (Shape{2}));
  EXPECT_EQ(ones(2, 3).shape(), (Shape{2, 3}));
  EXPECT_EQ(empty(std::size_t{2}, 0, 4).shape(), (Shape{2, 0, 4}));
  const Tensor x = tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, 6), matrix = x.reshape(2, -1);
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_EQ(matrix.reshape(-1).shape(), (Shape{6}));
  EXPECT_EQ(doubles(matrix.permute(1, 0)), doubles(matrix.T()));
  const Var v = parameter(matrix);
  EXPECT_EQ(v.reshape(3, 2).shape(), (Shape{3, 2}));
  EXPECT_EQ(doubles(v.permute(1, 0).value()), doubles(matrix.T()));
  expect_error(ErrorKind::shape, {"[-1]"}, [] { zeros(-1); });
  expect_error(ErrorKind::shape, {"reshape", "[4, -1]"}, [&] { x.reshape(4, -1); });
}
TEST_P(Creation, NestedBraces) {
  expect_values(tensor({{1.0, 2.0}, {3.0, 4.0}}), {2, 2}, {1, 2, 3, 4});
  expect_values(tensor({{1, 2, 3}}), {1, 3}, {1, 2, 3});
  expect_values(tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}}), {3, 2, 2},
                {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(tensor({{1.0, 2.0}, {3.0, 4.0}}).dtype(), f32);
  EXPECT_EQ(tensor({{1, 2}, {3, 4}}).dtype(), i32);
  EXPECT_EQ(tensor({{true}, {false}}).dtype(), boolean);
  EXPECT_EQ(tensor({{1.0, 2.0}, {3.0, 4.0}}, f16).dtype(), f16);
  EXPECT_EQ(tensor({{1.0, 2.0}, {3.0, 4.0}}, cpu()).device(), cpu());
  EXPECT_EQ(tensor({{{1.0}, {3.0}}}, f32, cpu()).shape(), Shape({1, 2, 1}));
  expect_error(ErrorKind::shape, {"tensor", "rows", "[2]", "[1]"}, [] { tensor({{1.0, 2.0}, {3.0}}); });
  expect_error(ErrorKind::shape, {"tensor", "rows", "[2, 1]", "[1, 1]"}, [] { tensor({{{1}, {2}}, {{3}}}); });
  expect_error(ErrorKind::shape, {"tensor", "rows"}, [] { tensor({{{1, 2}, {3}}, {{4, 5}, {6}}}); });
  // Two pairs of braces are values and a shape.
  expect_values(tensor({1, 2, 3, 4}, {2, 2}), {2, 2}, {1, 2, 3, 4});
}

// ---- the default dtype ----
TEST_P(Creation, DefaultDtype) {
  EXPECT_EQ(default_dtype(), f32);
  {
    DefaultDType scope(bf16);
    EXPECT_EQ(default_dtype(), bf16);
    {
      DefaultDType inner(f16);
      EXPECT_EQ(ones({2}).dtype(), f16);
      std::thread([] { EXPECT_EQ(default_dtype(), f32); }).join();
    }
    for (const Tensor& t : {zeros({2}), ones({2}), full({2}, 3), linspace(0, 1, 2), eye(2), rand({2}, Generator{1}),
                            randn({2}, Generator{1}), one_hot(tensor({0, 1}), 2), zeros({2}, device()), zeros({2}, {}),
                            zeros({2}, {.device = device()}), tensor({1.0, 2.0}), tensor({{1.0, 2.0}})})
      EXPECT_EQ(t.dtype(), bf16);
    // What has a dtype keeps it.
    EXPECT_EQ(tensor({1, 2}).dtype(), i32);
    EXPECT_EQ(tensor({1.0f}).dtype(), f32);
    EXPECT_EQ(tensor(std::vector<float>{1}).dtype(), f32);
    EXPECT_EQ(arange(0, 3).dtype(), i32);
    EXPECT_EQ(randint(0, 3, {2}, Generator{1}).dtype(), i32);
    EXPECT_EQ(zeros({2}, f32).dtype(), f32);
    EXPECT_EQ(mean(tensor({1, 2})).dtype(), f32);
  }
  EXPECT_EQ(default_dtype(), f32);
  EXPECT_EQ(ones({2}).dtype(), f32);
  expect_error(ErrorKind::dtype, {"DefaultDType", "i32"}, [] { DefaultDType scope(i32); });
  EXPECT_EQ(default_dtype(), f32);
}
/// Nothing inside the library depends on it.
TEST_P(Creation, OperationsIgnoreTheDefaultDtype) {
  const Tensor x = tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}),
               w = tensor(std::vector<float>{1, 0, 2, 1, 1, 3}, {3, 2});
  const auto run = [&] {
    const Var a(x), b(w);
    const Var loss =
        cross_entropy(matmul_bias_activation(a, b, Var(tensor(std::vector<float>{1, 2})), op::gelu), tensor({1, 0}));
    const Gradients g = backward(loss);
    const Tensor h = hessian([&](const Var& v) { return sum(softmax(v * v)); }, x);
    Tensor p = x.clone();
    optim::AdamW adam({Var(p)}, {});
    return std::vector<Tensor>{loss.value(),
                               g[a],
                               g[b],
                               h,
                               std::get<0>(std::tuple(sort(x).values)),
                               cumsum(x, 0),
                               prod(x),
                               scatter_add(x, tensor({0}), x.slice(0, 0, 1))};
  };
  const std::vector<Tensor> want = run();
  DefaultDType scope(f16);
  const std::vector<Tensor> got = run();
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].dtype(), want[i].dtype()) << i;
    EXPECT_EQ(doubles(got[i]), doubles(want[i])) << i;
  }
}

// ---- dtypes that the device has no kernels for ----
TEST_P(Creation, DoublesOfAnyDevice) {
  const Tensor x = tensor(kDoubles, {2, 2});
  EXPECT_EQ(x.dtype(), f64);
  EXPECT_EQ(x.device(), device());
  EXPECT_EQ(x.to_vector<double>(), kDoubles);
  EXPECT_EQ(x.to(cpu()).to_vector<double>(), kDoubles);
  for (const Tensor& t : {x.to(f32), tensor(kDoubles, {2, 2}, f32)}) {
    EXPECT_EQ(t.dtype(), f32);
    EXPECT_EQ(t.device(), device());
    EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{100.0f, 95.0f, 0.1f, -2.5f}));
    expect_values(t * 2, {2, 2}, {200, 190, 2 * static_cast<double>(0.1f), -5});
  }
  expect_values(x.transpose(0, 1).to(f32), {2, 2}, {100, static_cast<double>(0.1f), 95, -2.5});
  EXPECT_EQ(x.slice(0, 1).to_vector<double>(), (std::vector<double>{0.1, -2.5}));
  EXPECT_EQ(x.T().to_vector<double>(), (std::vector<double>{100.0, 0.1, 95.0, -2.5}));
  EXPECT_EQ(x[1][0].item<double>(), 0.1);
  EXPECT_EQ(x.slice(1, {}, {}, -1).to(cpu()).to_vector<double>(), (std::vector<double>{95.0, 100.0, -2.5, 0.1}));
  const Tensor labels = tensor(std::vector<std::int64_t>{3, -1});
  EXPECT_EQ(labels.to(i32).to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, -1}));
}
TEST_P(Creation, WhatIsOnlyKeptIsNotComputedWith) {
  if (!refuses_f64(device())) return;
  Tensor x = tensor(kDoubles), y = tensor(kDoubles);
  const auto refuses = [&](const char* op, const std::function<void()>& f) {
    expect_error(ErrorKind::unsupported, {op, "f64", device().to_string()}, f);
  };
  refuses("add", [&] { x + y; });
  refuses("greater", [&] { x > 0; });
  refuses("add", [&] { x += 1; });
  refuses("copy_from", [&] { x.copy_from(y); });
  refuses("sum", [&] { sum(x); });
  refuses("clone", [&] { x.clone(); });
  refuses("matmul", [&] { matmul(x, y); });
  refuses("", [&] { sort(x); });
  refuses("", [&] { take(x, tensor({0})); });
  refuses("add", [&] { capture(device(), [&] { x + y; }); });
  refuses("", [&] { backward(sum(square(Var(x)))); });
  EXPECT_EQ(x.to_vector<double>(), kDoubles);
}
TEST_P(Creation, InsideCaptures) {
  Tensor y = zeros({2}), z = zeros({2});
  const Graph g = capture(device(), [&] {
    y.copy_from(tensor({{1.5, 2.5}}, f32)[0] + y);
    z.copy_from(tensor(std::vector<double>{1, 2}, f32));
  });
  g.replay();
  g.replay();
  expect_values(y, {2}, {3, 5});
  expect_values(z, {2}, {1, 2});
}

}  // namespace
}  // namespace tern::test
