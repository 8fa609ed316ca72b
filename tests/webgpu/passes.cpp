// How many kernels, submissions and waits a piece of work takes.
#include "../../examples/digits/model.hpp"
#include "../every_device/reference.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

class Passes : public testing::Test {
 protected:
  void SetUp() override { set_default_device(webgpu()); }
  void TearDown() override { set_default_device(cpu()); }
};

/// Kernels of f, submissions and waits up to the end of its work.
template <class F> detail_webgpu::QueueCounts counted(F f) {
  synchronize(webgpu());
  const detail_webgpu::QueueCounts before = detail_webgpu::queue_counts(0);
  const auto kept = f();  // results live until the work is done
  synchronize(webgpu());
  const detail_webgpu::QueueCounts after = detail_webgpu::queue_counts(0);
  return {after.submissions - before.submissions, after.waits - before.waits, after.kernels - before.kernels};
}

struct Size {
  std::int64_t m, k, n;
};
const std::vector<Size> sizes{{300, 200, 256}, {2048, 32, 512}, {129, 65, 67}};
const std::vector<Pointwise<>>& activations() {
  static const std::vector<Pointwise<>> list{op::identity, op::gelu, op::tanh};  // by nothing, the sum, the result
  return list;
}

TEST_F(Passes, ForwardIsOne) {
  for (const DType dtype : {f32, f16, bf16})
    for (const Size& s : sizes) {
      const Tensor a = ones({s.m, s.k}, dtype), b = ones({s.k, s.n}, dtype), bias = ones({s.n}, dtype);
      for (const Pointwise<>& f : activations()) {
        const auto counts = counted([&] { return matmul_bias_activation(a, b, bias, f); });
        EXPECT_EQ(counts.kernels, 1u) << f.name() << " " << to_string(dtype) << " " << s.m;
        EXPECT_EQ(counts.submissions, 1u);
        Tensor pre;
        EXPECT_EQ(counted([&] { return matmul_bias_activation(a, b, bias, f, {.save_pre_activation = &pre}); }).kernels,
                  1u);
      }
    }
}
/// The gradients of the pre-activation and of the bias in one or two (partial sums and their join), and two products.
TEST_F(Passes, LinearBackwardIsAtMostFourInOneSubmission) {
  for (const DType dtype : {f32, f16, bf16})
    for (const Size& s : sizes) {
      const Tensor a = ones({s.m, s.k}, dtype), b = ones({s.k, s.n}, dtype), bias = ones({s.n}, dtype);
      const Tensor grad = ones({s.m, s.n}, dtype), pre = ones({s.m, s.n}, dtype);
      for (const Pointwise<>& f : activations())
        for (const bool saved : {false, true}) {
          MatmulBwdOptions options;
          if (saved) options.pre_activation = pre;
          const auto counts = counted([&] { return matmul_bias_activation_bwd(grad, a, b, bias, f, options); });
          EXPECT_LE(counts.kernels, 4u) << f.name() << " " << to_string(dtype) << " " << s.m << " x " << s.n
                                        << (saved ? " saved" : "");
          EXPECT_EQ(counts.submissions, 1u);
          EXPECT_LE(counts.waits, 1u);
        }
    }
}
TEST_F(Passes, BatchedAndSharedAlike) {
  for (const DType dtype : {f32, bf16})
    for (const Shape& of_b : {Shape{32, 48}, Shape{4, 32, 48}}) {
      const Tensor a = ones({4, 100, 32}, dtype), b = ones(of_b, dtype), bias = ones({48}, dtype);
      const Tensor grad = ones({4, 100, 48}, dtype), pre = ones({4, 100, 48}, dtype);
      EXPECT_EQ(counted([&] { return matmul_bias_activation(a, b, bias, op::gelu); }).kernels, 1u);
      for (const bool saved : {false, true}) {
        MatmulBwdOptions options;
        if (saved) options.pre_activation = pre;
        const auto counts = counted([&] { return matmul_bias_activation_bwd(grad, a, b, bias, op::gelu, options); });
        EXPECT_LE(counts.kernels, 4u) << to_string(dtype) << ", b " << to_string(of_b) << (saved ? ", saved" : "");
        EXPECT_EQ(counts.submissions, 1u);
      }
    }
}
/// Where few rows or many columns make partial sums needless, both are one kernel's results, of packed types too.
TEST_F(Passes, PreActivationAndBiasGradientsAreOne) {
  for (const DType dtype : {f32, f16, bf16}) {
    const Tensor a = ones({256, 32}, dtype), b = ones({32, 64}, dtype), bias = ones({64}, dtype);
    const Tensor grad = ones({256, 64}, dtype), pre = ones({256, 64}, dtype);
    const auto counts =
        counted([&] { return matmul_bias_activation_bwd(grad, a, b, bias, op::silu, {.pre_activation = pre}); });
    EXPECT_EQ(counts.kernels, 3u) << to_string(dtype);
  }
}
/// Partial sums of many rows: they are joined by one more kernel, and what is full is written along with them.
TEST_F(Passes, ManyRowsAreReadOnce) {
  for (const DType dtype : {f32, f16, bf16}) {
    const Tensor a = full({20480, 8}, 0.25, dtype), b = full({8, 32}, 0.5, dtype), bias = zeros({32}, dtype);
    const Tensor grad = full({20480, 32}, 0.125, dtype), pre = zeros({20480, 32}, dtype);
    MatmulBiasActivationGrads grads;
    const auto counts = counted([&] {
      grads = matmul_bias_activation_bwd(grad, a, b, bias, op::sigmoid,
                                         {.pre_activation = pre, .wanted = {true, false, true}});
      return grads;
    });
    EXPECT_LE(counts.kernels, 3u) << to_string(dtype);
    EXPECT_EQ(doubles(grads.d_bias)[31], 20480 * 0.125 * 0.25) << to_string(dtype);
    EXPECT_EQ(doubles(grads.d_a)[19999 * 8 + 7], 32 * 0.125 * 0.25 * 0.5) << to_string(dtype);
  }
}
TEST_F(Passes, GatedActivationsAreOneEachWay) {
  for (const DType dtype : {f32, f16, bf16}) {
    const Tensor x = ones({300, 128}, dtype), y = ones({300, 128}, dtype), g = ones({300, 128}, dtype);
    const auto check = [&](const char* name, auto forward, auto backward) {
      EXPECT_EQ(counted([&] { return forward(x, y); }).kernels, 1u) << name << " " << to_string(dtype);
      EXPECT_EQ(counted([&] { return backward(g, x, y); }).kernels, 1u) << name << "_bwd " << to_string(dtype);
    };
    check(
        "silu_mul", [](auto... t) { return silu_mul(t...); }, [](auto... t) { return silu_mul_bwd(t...); });
    check(
        "gelu_mul", [](auto... t) { return gelu_mul(t...); }, [](auto... t) { return gelu_mul_bwd(t...); });
    check(
        "relu_mul", [](auto... t) { return relu_mul(t...); }, [](auto... t) { return relu_mul_bwd(t...); });
    check(
        "sigmoid_mul", [](auto... t) { return sigmoid_mul(t...); }, [](auto... t) { return sigmoid_mul_bwd(t...); });
    const auto recorded = counted([&] {
      const Var a{x}, b{y};
      return backward(silu_mul(a, b), g)[a];
    });
    EXPECT_EQ(recorded.kernels, 2u) << to_string(dtype);
  }
}
/// The program of examples/digits itself, between two of its steps.
TEST_F(Passes, ADigitsStepIsAtMostOneSubmissionAndOneWait) {
  digits::Digits some;
  for (int i = 0; i < 512; ++i) {
    std::vector<std::uint8_t> image(digits::kPixels);
    for (int p = 0; p < digits::kPixels; ++p)
      image[static_cast<std::size_t>(p)] = static_cast<std::uint8_t>((i * 7 + p * 5) % 17);
    some.append(image, i % 10);
  }
  const Options options{.device = webgpu()};
  const digits::Batch batch(some, options);
  digits::GatedMlp model(Generator(1), options);
  struct Step {
    int epoch;
    detail_webgpu::QueueCounts counts;
  };
  std::vector<Step> steps;
  digits::train(model, batch, batch, {.epochs = 3, .batch_size = 64},
                {.on_step =
                     [&](int epoch, double) {
                       steps.push_back({epoch, detail_webgpu::queue_counts(0)});
                     },
                 .on_epoch = {}});
  ASSERT_EQ(steps.size(), 24u);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].epoch != steps[i - 1].epoch) continue;  // accuracy was measured between them
    EXPECT_LE(steps[i].counts.submissions - steps[i - 1].counts.submissions, 1u) << "step " << i;
    EXPECT_LE(steps[i].counts.waits - steps[i - 1].counts.waits, 1u) << "step " << i;
  }
}

}  // namespace
}  // namespace tern::test
