// Results under the limits this process was given (TERN_WEBGPU_LIMITS, TERN_WEBGPU_BINDING_BYTES) against the CPU's:
// tensors larger than a binding, more operands than bindings, more workgroups than one dimension holds.
#include "../every_device/reference.hpp"

namespace tern::test {
namespace {

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_present(webgpu())) << "no WebGPU device: install Mesa's mesa-vulkan-drivers (script/setup)";
  }
  static bool is_present(Device device) {
    for (const DeviceInfo& info : devices())
      if (info.device == device) return info.available;
    return false;
  }
  /// f of tensors on the CPU and of their copies on the GPU; `factor` times the rounding of f32 may lie between.
  template <class F> void compare(const char* what, double factor, F f, const std::vector<Tensor>& x) {
    std::vector<Tensor> moved;
    for (const Tensor& t : x) moved.push_back(t.to(webgpu()));
    const std::vector<double> want = doubles(f(x)), got = doubles(f(moved));
    ASSERT_EQ(got.size(), want.size()) << what;
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_LE(std::abs(got[i] - want[i]), factor * epsilon(f32) * (1 + std::abs(want[i])))
          << what << ", element " << i;
  }
  Tensor random(const Shape& shape) { return randn(shape, generator_); }
  Generator generator_{5};
};

TEST_F(Limits, ElementwiseOfMoreThanABinding) {
  const Tensor a = random({1030, 1021}), b = random({1030, 1021}), row = random({1021}), column = random({1030, 1});
  compare("sum of both", 1, [](const auto& x) { return x[0] + x[1]; }, {a, b});
  compare("silu_mul", 16, [](const auto& x) { return silu_mul(x[0], x[1]); }, {a, b});
  compare("broadcasts", 8, [](const auto& x) { return x[0] * x[1] + x[2]; }, {a, row, column});
  compare("transposed", 1, [](const auto& x) { return (x[0].transpose(0, 1) + x[1].transpose(0, 1)).clone(); }, {a, b});
  compare("in place", 1,
          [](const auto& x) {
            Tensor y = x[0].clone();
            y += x[1];
            return y;
          },
          {a, b});
  compare("in place, of another part", 1,
          [](const auto& x) {
            Tensor y = x[0].clone();
            Tensor part = y.slice(0, 515, 1030);
            part.copy_from(y.slice(0, 0, 515));
            return y;
          },
          {a});
  compare("halves of numbers", 600, [](const auto& x) { return (x[0].to(bf16) + x[1].to(bf16)).to(f32); }, {a, b});
  compare("positions", 1,
          [](const auto& x) {
            return Pointwise(
                "ramp", [](auto v) { return v * 0 + cast(index(v, 0), f32) * 0.5 + cast(index(v, 1), f32); })(x[0]);
          },
          {a});
}
TEST_F(Limits, ReductionsOfMoreThanABinding) {
  const Tensor a = random({1030, 1021});
  compare("all", 2000, [](const auto& x) { return sum(x[0]); }, {a});
  // Half a unit of rounding for each of 1030 terms on either side; partial sums are about as large as 1 and the result.
  compare("rows", 1030, [](const auto& x) { return sum(x[0], {1}); }, {a});
  compare("columns", 1030, [](const auto& x) { return sum(x[0], {0}); }, {a});
  compare("softmax", 16, [](const auto& x) { return softmax(x[0]); }, {a});
  compare("softmax of columns", 16, [](const auto& x) { return softmax(x[0], 0); }, {a});
  compare("argmax", 0, [](const auto& x) { return argmax(x[0]); }, {a});
  compare("max of columns", 0, [](const auto& x) { return max(x[0], {0}); }, {a});
}
TEST_F(Limits, MoreOperandsThanBindings) {
  std::vector<Tensor> x;
  for (int i = 0; i < 12; ++i) x.push_back(random({37, 21}));
  const Pointwise total("total", [](auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h, auto i, auto j,
                                    auto k, auto l) { return a + b * c + d * e + f * g + h * i + j * k + l; });
  compare(
      "twelve", 16,
      [&](const auto& t) { return total(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11]); },
      x);
}
TEST_F(Limits, MoreResultsThanBindings) {
  const Pointwise<10> powers(
      "powers", [](auto x) { return std::array{x, x * 2, x * 3, x * 4, x * 5, x * 6, x * 7, x * 8, x * 9, x * 10}; });
  const Tensor x = random({123});
  const std::vector<double> want = doubles(x);
  const auto results = powers(x.to(webgpu()));
  for (std::size_t k = 0; k < 10; ++k) {
    const std::vector<double> got = doubles(results[k]);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_FLOAT_EQ(static_cast<float>(got[i]), static_cast<float>(want[i]) * static_cast<float>(k + 1));
  }
}
TEST_F(Limits, ProductsOfMoreThanABinding) {
  const Tensor a = random({530, 521}), b = random({521, 600}), bias = random({600});
  const auto within = [](std::int64_t k) { return 4.0 * static_cast<double>(k); };
  compare("product", within(521), [](const auto& x) { return matmul(x[0], x[1]); }, {a, b});
  compare("fused", within(521), [](const auto& x) { return matmul_bias_activation(x[0], x[1], x[2], op::gelu); },
          {a, b, bias});
  compare("transposed", within(530), [](const auto& x) { return matmul(x[0].transpose(0, 1), x[1].transpose(0, 1)); },
          {a, random({600, 530})});
  compare("batched", within(64), [](const auto& x) { return matmul(x[0], x[1]); },
          {random({70, 64, 64}), random({70, 64, 64})});
}
TEST_F(Limits, IndexOperationsOfMoreThanABinding) {
  const Tensor table = random({300, 1000}), rows = randint(0, 300, {700}, generator_);
  compare("take", 0, [](const auto& x) { return take(x[0], x[1].to(i32)); },
          {table.slice(0, 0, 200), randint(0, 200, {700}, generator_)});
  compare("cumsum", 3000, [](const auto& x) { return cumsum(x[0], 1); }, {table});
  // One line that no binding holds: windows of it, and of both ends.
  const Tensor line = randint(-1000, 1000, {(std::int64_t{1} << 19) + 5}, generator_);
  compare("cumsum of a line", 0, [](const auto& x) { return cumsum(x[0], 0); }, {line});
  compare("cumsum of every third", 0, [](const auto& x) { return cumsum(x[0].slice(0, 1, 1 << 19, 3), 0); }, {line});
  compare("cumsum backwards", 0,
          [](const auto& x) {
            const Var v(x[0]);
            return backward(cumsum(v, 0), x[0])[v];
          },
          {randint(-8, 8, {(std::int64_t{1} << 19) + 5}, generator_).to(f32)});
  compare("sort", 0, [](const auto& x) { return sort(x[0], 1).values; }, {table});
  compare("scatter_add", 40, [](const auto& x) { return scatter_add(x[0], x[1], x[2], 0); },
          {table, rows, random({700, 1000})});
}
/// With TERN_WEBGPU_STEPS=1000000, 360 kernels: more than a trace has timestamps for.
TEST_F(Limits, ProductsOfManyKernelsAreExplained) {
  const Tensor a = ones({300, 400}, {.device = webgpu()}), b = ones({400, 3000}, {.device = webgpu()});
  Tensor product;
  const std::string text = explain([&] { product = matmul(a, b); });
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  const char* steps = std::getenv("TERN_WEBGPU_STEPS");
  EXPECT_EQ(text.find(" and more") != text.npos, steps && text.find("on the device") != text.npos) << text;
  EXPECT_EQ(min(product).item<float>(), 400.0f);
  EXPECT_EQ(max(product).item<float>(), 400.0f);
}
TEST_F(Limits, MoreWorkgroupsThanOneDimensionHolds) {
  const Tensor x = ones({1 << 20, 18}, {.device = webgpu()}).slice(1, 0, 17);  // 17·2^20 elements, one an invocation:
  EXPECT_EQ(sum(x + 1).item<float>(), 2 * float(17 << 20));                    // 69,632 workgroups of 256
}

}  // namespace
}  // namespace tern::test
