// matmul_bias_activation and its relatives, forward, against plain loops.
#include "every_device/products/linear_reference.hpp"

namespace tern::test {
namespace {

class FusedLinear : public EveryDevice {};
TERN_EVERY_DEVICE(FusedLinear);

TEST_P(FusedLinear, EveryActivationShapeAndDtype) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 1);
      const Array pre = reference_pre(t);
      for (const Activation& act : activations_of(c, device()))
        expect_within(matmul_bias_activation(t.a, t.b, t.bias, act.formula), activate(pre, act, work_epsilon(dtype)),
                      label(c, act.name, dtype));
    }
}

TEST_P(FusedLinear, MatmulBiasAndMatmulActivation) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 2);
      const double eps = work_epsilon(dtype);
      expect_within(matmul_bias(t.a, t.b, t.bias), reference_pre(t), label(c, "bias only", dtype));
      const Array product = matmul(Array(t.a), Array(t.b), eps);
      for (const Activation& act : activations_of(c, device()))
        expect_within(matmul_activation(t.a, t.b, act.formula), activate(product, act, eps), label(c, act.name, dtype));
    }
}

TEST_P(FusedLinear, Residual) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 3);
      const Array want = add(reference_pre(t), Array(t.grad), work_epsilon(dtype));
      expect_within(matmul_bias_residual(t.a, t.b, t.bias, t.grad), want, label(c, "residual", dtype));
    }
}

TEST_P(FusedLinear, ResidualBroadcasts) {
  Random random(4);
  const Tensor a = random.tensor({2, 4, 3}, f32, device()), b = random.tensor({3, 5}, f32, device()),
               bias = random.tensor({5}, f32, device());
  const Array pre = add(matmul(Array(a), Array(b), epsilon(f32)), Array(bias), epsilon(f32));
  for (const Shape& shape : {Shape{5}, Shape{4, 5}, Shape{4, 1}, Shape{2, 1, 1}, Shape{}}) {
    const Tensor residual = random.tensor(shape, f32, device());
    expect_within(matmul_bias_residual(a, b, bias, residual), add(pre, Array(residual), epsilon(f32)),
                  to_string(shape));
  }
}

TEST_P(FusedLinear, SavesThePreActivation) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 5);
      Tensor pre;
      const Tensor y = matmul_bias_activation(t.a, t.b, t.bias, op::gelu, {.save_pre_activation = &pre});
      expect_within(pre, reference_pre(t), label(c, "pre-activation", dtype));
      EXPECT_EQ(pre.dtype(), dtype);
      EXPECT_EQ(doubles(y), doubles(matmul_bias_activation(t.a, t.b, t.bias, op::gelu))) << c.name;
    }
}

TEST_P(FusedLinear, SavesThePreActivationOfVariables) {
  const LinearTensors t = linear_tensors(linear_cases()[0], f32, device(), 6);
  for (const Activation& act : activations()) {
    Tensor pre, plain;
    const Var y = matmul_bias_activation(Var(t.a), t.b, t.bias, act.formula, {.save_pre_activation = &pre});
    matmul_bias_activation(t.a, t.b, t.bias, act.formula, {.save_pre_activation = &plain});
    EXPECT_EQ(doubles(pre), doubles(plain)) << act.name;
  }
}

TEST_P(FusedLinear, LambdasArePassedDirectly) {
  Random random(7);
  const Tensor a = random.tensor({3, 4}, f32, device()), b = random.tensor({4, 2}, f32, device()),
               bias = random.tensor({2}, f32, device());
  const float scale = 3;
  const Array pre = add(matmul(Array(a), Array(b), epsilon(f32)), Array(bias), epsilon(f32));
  const Array squared = mul(pre, pre, epsilon(f32)), scaled = mul(pre, Array({}, {3.0}), epsilon(f32));
  expect_within(matmul_bias_activation(a, b, bias, [](auto x) { return x * x; }), squared, "x * x");
  expect_within(matmul_bias_activation(a, b, bias, [scale](auto x) { return scale * x; }), scaled, "scale * x");
  expect_within(matmul_bias_activation(a, b, bias, op::square), squared, "square");
}

TEST_P(FusedLinear, EmptyOperands) {
  const Tensor bias = tensor({1.0f, -2.0f});
  expect_values(matmul_bias_activation(zeros({3, 0}), zeros({0, 2}), bias, op::relu), {3, 2}, {1, 0, 1, 0, 1, 0},
                "K = 0");
  EXPECT_EQ(matmul_bias_activation(zeros({0, 4}), zeros({4, 2}), bias, op::relu).shape(), Shape({0, 2}));
  EXPECT_EQ(matmul_bias_activation(zeros({3, 4}), zeros({4, 0}), zeros({0}), op::relu).shape(), Shape({3, 0}));
  EXPECT_EQ(matmul_bias_activation(zeros({0, 3, 4}), zeros({4, 2}), bias, op::relu).shape(), Shape({0, 3, 2}));
}

/// The mistake of others: 16-bit products accumulated in the storage type are off by 0.45 at K = 784.
TEST_P(FusedLinear, SixteenBitsAccumulateInSingle) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16})) {
    const LinearTensors t = linear_tensors({"K = 784", {8, 784}, {784, 10}}, dtype, device(), 8);
    expect_within(matmul_bias_activation(t.a, t.b, t.bias, op::identity), reference_pre(t),
                  std::string(to_string(dtype)));
  }
}

TEST_P(FusedLinear, LimitsOfActivations) {
  const double inf = INFINITY;
  const std::vector<double> bias{-inf, -3e38, -1e20, -300, 300, 1e20, 3e38, inf};
  const Tensor a = zeros({1, 1}), b = zeros({1, 8});
  for (const DType dtype : wide_floats(device())) {
    const Tensor pre = make(bias, {8}, dtype, device());
    const auto y = [&](const Pointwise<>& act) {
      return doubles(matmul_bias_activation(a.to(dtype), b.to(dtype), pre, act));
    };
    for (const Pointwise<>& act : {op::gelu, op::silu, op::relu}) {
      const std::vector<double> got = y(act), want = doubles(pre);
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_LE(std::abs(got[i]), i == 3 ? 1e-100 : 0) << act.name() << " of " << bias[i];
      for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(got[i], want[i]) << act.name() << " of " << bias[i];
    }
    EXPECT_EQ(y(op::tanh), std::vector<double>({-1, -1, -1, -1, 1, 1, 1, 1}));
  }
}

TEST_P(FusedLinear, TheActivationMayBeChosenAtRunTime) {
  const Tensor a = tensor({1.0f, 2.0f}, {1, 2}), b = tensor({1.0f, -1.0f}, {2, 1}), bias = tensor({0.5f});
  const std::vector<Pointwise<>> table{op::relu, op::identity, op::square};
  const std::vector<double> want{0, -0.5, 0.25};
  for (std::size_t i = 0; i < 3; ++i)
    expect_values(matmul_bias_activation(a, b, bias, table[i]), {1, 1}, {want[i]}, table[i].name());
}

}  // namespace
}  // namespace tern::test
