// Products met before: GPUs remember how a request was carried out, and do the same with other memory and other
// numbers.
#include "every_device.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class RepeatedProducts : public EveryDevice {
 protected:
  /// Small integers, other ones each time: their products are exact in f32.
  Tensor integers(const Shape& shape, DType dtype = f32) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (float& v : values) v = static_cast<float>(static_cast<int>(next_ = next_ * 1664525u + 1013904223u) >> 30);
    return tensor(values, shape).to(dtype);
  }
  /// Three times the same call with other arguments, beside the processor's.
  void expect_same(const std::string& what, const std::vector<std::pair<Shape, DType>>& arguments,
                   const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& call) {
    std::vector<std::vector<Tensor>> kept;  // so that memory is other memory
    for (int round = 0; round < 3; ++round) {
      std::vector<Tensor> here, there;
      for (const auto& [shape, dtype] : arguments)
        there.push_back(integers(shape, dtype).to(cpu())), here.push_back(there.back().to(device()));
      const std::vector<Tensor> got = call(here);
      set_default_device(cpu());
      const std::vector<Tensor> want = call(there);
      set_default_device(device());
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(doubles(got[i]), doubles(want[i])) << what << ", round " << round << ", result " << i;
      kept.push_back(here), kept.push_back(got);
    }
  }
  std::uint32_t next_ = 1;
};

TEST_P(RepeatedProducts, PlainInEveryLayout) {
  for (const DType d : {f32, bf16, f16}) {
    const std::string name(to_string(d));
    expect_same(name, {{{64, 48}, d}, {{48, 40}, d}}, [](const auto& x) { return std::vector{matmul(x[0], x[1])}; });
    expect_same(name + " transposed", {{{48, 64}, d}, {{40, 48}, d}},
                [](const auto& x) { return std::vector{matmul(x[0].transpose(0, 1), x[1].transpose(0, 1))}; });
    expect_same(name + " batched", {{{3, 17, 8}, d}, {{3, 8, 24}, d}},
                [](const auto& x) { return std::vector{matmul(x[0], x[1])}; });
    expect_same(name + " with itself", {{{32, 32}, d}}, [](const auto& x) { return std::vector{matmul(x[0], x[0])}; });
    expect_same(name + " of parts", {{{64, 96}, d}, {{96, 40}, d}}, [](const auto& x) {
      return std::vector{matmul(x[0].slice(1, 0, 48), x[1].slice(0, 0, 48)),
                         matmul(x[0].slice(1, 48, 96), x[1].slice(0, 48, 96))};
    });
  }
  expect_same("deep", {{{8, 8192}, f32}, {{8192, 16}, f32}},
              [](const auto& x) { return std::vector{matmul(x[0], x[1])}; });
}

TEST_P(RepeatedProducts, WithEpilogues) {
  for (const DType d : {f32, bf16}) {
    const std::string name(to_string(d));
    expect_same(name + " relu", {{{64, 48}, d}, {{48, 40}, d}, {{40}, d}},
                [](const auto& x) { return std::vector{matmul_bias_activation(x[0], x[1], x[2], op::relu)}; });
    expect_same(name + " residual", {{{64, 48}, d}, {{48, 40}, d}, {{40}, d}, {{64, 40}, d}},
                [](const auto& x) { return std::vector{matmul_bias_residual(x[0], x[1], x[2], x[3])}; });
    expect_same(name + " backward", {{{64, 48}, d}, {{48, 40}, d}, {{40}, d}, {{64, 40}, d}}, [](const auto& x) {
      Var a(x[0]), b(x[1]), bias(x[2]);
      const auto g = backward(matmul_bias_activation(a, b, bias, op::relu), x[3]);
      return std::vector<Tensor>{g[a], g[b], g[bias]};
    });
  }
}

TEST_P(RepeatedProducts, WithOtherNumbers) {
  const Tensor a = integers({33, 16}), b = integers({16, 24}), one = matmul(a, b);
  for (const int factor : {2, 3, -5}) {
    const Tensor scaled = matmul_epilogue(a, b, [factor](auto x) { return x * factor; });
    EXPECT_EQ(doubles(scaled), doubles(one * factor)) << factor;
  }
  for (const float p : {0.5f, 2.0f}) {
    const Tensor scaled = matmul_epilogue(a, b, [p](auto x) { return x * p + 1; });
    EXPECT_EQ(doubles(scaled), doubles(one * p + 1)) << p;
  }
}

TEST_P(RepeatedProducts, IntoMemoryThatIsGivenAndReadAgain) {
  const Tensor a = integers({24, 16}), b = integers({16, 24});
  Tensor x = a;
  std::vector<Tensor> chain;
  for (int i = 0; i < 4; ++i) chain.push_back(x = matmul(x, b).slice(1, 0, 16).contiguous() * 0.25);
  Tensor y = a.to(cpu());
  set_default_device(cpu());
  for (int i = 0; i < 4; ++i) {
    y = matmul(y, b.to(cpu())).slice(1, 0, 16).contiguous() * 0.25;
    EXPECT_EQ(doubles(chain[static_cast<std::size_t>(i)]), doubles(y)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RepeatedProducts, testing::ValuesIn(present_devices()), device_name);

}  // namespace
}  // namespace tern::test
