// Rows that a kernel may keep in registers between its passes: lengths about every change of how many elements and how
// many invocations a row has, few rows and many.
#include <cstdlib>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class ResidentRows : public EveryDevice {};
TERN_EVERY_DEVICE(ResidentRows);

/// The same in f64 on the CPU, of the same (rounded) values. `condition`: how much larger errors of the parts are.
void expect_as_exact(const char* what, const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                     double condition) {
  const std::vector<double> got = doubles(f(x)), want = doubles(f(x.to(cpu()).to(f64)));
  double largest = 0;
  for (const double v : want) largest = std::max(largest, std::abs(v));
  const double off =
      (256 * work_epsilon(x.dtype()) * condition + 2 * epsilon(x.dtype())) * largest + tiniest(x.dtype());
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], off) << what << " of " << to_string(x.dtype()) << to_string(x.shape()) << " at " << i;
}
Tensor gradient(const std::function<Var(const Var&)>& f, const Tensor& x) {
  const Var v(x);
  return backward(sum(f(v) * Var(x * 0.5, false)))[v];
}
void expect_rows(const Tensor& x) {
  expect_as_exact("softmax", [](const Tensor& t) { return softmax(t, -1); }, x, 8);
  expect_as_exact("log_softmax", [](const Tensor& t) { return log_softmax(t, -1); }, x, 8);
  expect_as_exact("var", [](const Tensor& t) { return var(t, -1); }, x, 8);
  expect_as_exact(
      "a norm",
      [](const Tensor& t) {
        return row_formula(
            [](auto u) {
              auto c = u - mean(u);
              return c / (1 + mean(abs(c))) * exp(c * 0.1) / max(exp(c * 0.1));
            },
            t);
      },
      x, 64);
  expect_as_exact("a residual norm", [](const Tensor& t) {  // the first pass's values serve in every later one
    return row_formula([](auto u) {
      auto y = exp(u * 0.5), c = y - mean(y);
      return c / sqrt(mean(c * c) + 1) + y * tanh(c);
    }, t);
  }, x, 64);
  expect_as_exact("softmax's gradient", [](const Tensor& t) {
    return gradient([](const Var& v) { return softmax(v, -1); }, t);
  }, x, 64);
  expect_as_exact("layer_norm's gradient", [](const Tensor& t) {
    const Tensor row = t.slice(0, 0, 1).reshape({t.size(-1)});
    return gradient([&](const Var& v) { return layer_norm(v, row, row); }, t);
  }, x, 64);
}

TEST_P(ResidentRows, AboutEveryChangeOfLayout) {
  // A GPU's kernels change with the length, slowly.
  const std::vector<std::int64_t> lengths{4,    8,    32,   60,   64,   256,   264,   1000,
                                          1024, 1032, 4096, 8192, 8200, 16384, 16392, 32768};
  std::size_t turn = 0;
  for (const std::int64_t length : lengths) {
    std::vector<DType> dtypes = length % 1024 == 0 || length < 20 ? all_floats(device()) : std::vector<DType>{f32};
    // WebGPU keeps no rows in registers, and in software compiling each dtype's kernels takes longer than all else.
    if (device().kind() == DeviceKind::webgpu && !full_test()) dtypes = {dtypes[turn++ % dtypes.size()]};
    for (const DType dtype : dtypes) {
      if (left_out(device(), 3)) continue;
      expect_rows(Random(static_cast<unsigned>(length)).tensor({3, length}, dtype, device(), -4, 4));
    }
  }
}
TEST_P(ResidentRows, ManyRows) {
  for (const Shape& shape : {Shape{5000, 64}, Shape{700, 1024}, Shape{521, 2048}})
    if (!left_out(device(), 3)) expect_rows(Random(2).tensor(shape, f32, device(), -4, 4));
}
TEST_P(ResidentRows, OfSeveralOperands) {
  for (const std::int64_t length : {384, 16384}) {  // the longer do not fit
    const Shape shape{530, length};
    Random random(6);
    const Tensor a = random.tensor(shape, f32, device()), b = random.tensor(shape, f32, device()),
                 row = random.tensor({length}, f32, device()), column = random.tensor({530, 1}, f32, device());
    const auto f = [](auto u, auto v, auto w, auto z) {
      auto t = tanh(u) * w + sigmoid(v) * z, c = t - mean(t);
      return c / sqrt(mean(c * c + u * v) + 2) + max(abs(c)) * t;
    };
    const auto exact = [](const Tensor& t) { return t.to(cpu()).to(f64); };
    const std::vector<double> got = doubles(row_formula(f, a, b, row, column)),
                              want = doubles(row_formula(f, exact(a), exact(b), exact(row), exact(column)));
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4) << i;
  }
}
TEST_P(ResidentRows, OfIntegers) {
  const Tensor x = Random(3).tensor({70, 256}, f32, device(), -100, 100).to(i32);
  const auto distance = [](auto u) { return max(u) - u + min(u); };
  EXPECT_EQ(doubles(row_formula(distance, x)), doubles(row_formula(distance, x.to(cpu()))));
}
/// CUDA reads a row of vectors once, however many reductions wait for each other.
TEST_P(ResidentRows, AreReadOnce) {
  if (device().kind() != DeviceKind::cuda || std::getenv("TERN_TEST_ARCHIVED"))
    GTEST_SKIP() << "only CUDA keeps rows in registers";
  const Tensor x = Random(5).tensor({600, 1504}, f32, device(), -4, 4);
  for (const std::string& text : {explain([&] { softmax(x); }), explain([&] { var(x, -1); })})
    EXPECT_NE(text.find("1 pass, "), text.npos) << text;
}

}  // namespace
}  // namespace tern::test
