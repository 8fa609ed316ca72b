// matmul_bias_activation_bwd on plain tensors, and that autograd gives the same.
#include "every_device/products/linear_reference.hpp"

namespace tern::test {
namespace {

class FusedLinearBackward : public EveryDevice {};
TERN_EVERY_DEVICE(FusedLinearBackward);

bool usable(const Activation& act, const Array& pre) { return std::string(act.name) != "relu" || kink_free(pre); }

TEST_P(FusedLinearBackward, RecomputesThePreActivation) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 11);
      const Array pre = reference_pre(t);
      for (const Activation& act : activations_of(c, device()))
        if (usable(act, pre))
          expect_gradients(matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, act.formula),
                           reference_backward(t, act, pre), label(c, act.name, dtype));
    }
}

TEST_P(FusedLinearBackward, BelievesTheGivenPreActivation) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 12);
      const Tensor given = Random(13).tensor(t.grad.shape(), dtype, device(), -4, 4);  // nothing to do with a·b + bias
      const Tensor passed = c.strided ? strided(given) : given;
      for (const Activation& act : activations_of(c, device()))
        expect_gradients(matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, act.formula, {.pre_activation = passed}),
                         reference_backward(t, act, Array(given)), label(c, act.name, dtype));
    }
}

TEST_P(FusedLinearBackward, AutogradGivesTheSame) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 14);
      const Array pre = reference_pre(t);
      for (const Activation& act : activations_of(c, device())) {
        if (!usable(act, pre) || dtype_size(dtype) == 2) continue;
        const Var a(t.a), b(t.b), bias(t.bias);
        const Gradients g = backward(matmul_bias_activation(a, b, bias, act.formula), t.grad);
        expect_gradients({g[a], g[b], g[bias]}, reference_backward(t, act, pre), label(c, act.name, dtype));
      }
    }
}

/// In 16 bits autograd starts from the saved, rounded pre-activation or output.
TEST_P(FusedLinearBackward, AutogradInSixteenBits) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16}))
    for (const LinearCase& c : linear_cases(dtype, device())) {
      const LinearTensors t = linear_tensors(c, dtype, device(), 15);
      const Array pre = stored(reference_pre(t), dtype);
      for (const Activation& act : activations_of(c, device())) {
        const std::string name = act.name;
        if (!kink_free(pre) || name == "tanh" || name == "sigmoid") continue;  // those start from a rounded output
        const Var a(t.a), b(t.b), bias(t.bias);
        const Gradients g = backward(matmul_bias_activation(a, b, bias, act.formula), t.grad);
        expect_gradients({g[a], g[b], g[bias]}, reference_backward(t, act, pre), label(c, act.name, dtype));
      }
    }
}

TEST_P(FusedLinearBackward, OnlyTheWanted) {
  const LinearTensors t = linear_tensors(linear_cases()[5], f32, device(), 16);
  const MatmulBiasActivationGrads all = matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::gelu);
  for (int mask = 0; mask < 8; ++mask) {
    const Wanted wanted{(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0};
    const auto [d_a, d_b, d_bias] = matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::gelu, {.wanted = wanted});
    ASSERT_EQ(d_a.defined(), wanted.d_a);
    ASSERT_EQ(d_b.defined(), wanted.d_b);
    ASSERT_EQ(d_bias.defined(), wanted.d_bias);
    if (d_a.defined()) {
      EXPECT_EQ(doubles(d_a), doubles(all.d_a));
    }
    if (d_b.defined()) {
      EXPECT_EQ(doubles(d_b), doubles(all.d_b));
    }
    if (d_bias.defined()) {
      EXPECT_EQ(doubles(d_bias), doubles(all.d_bias));
    }
  }
}

/// A batched b gets its own gradient per batch; others put the sum into slot 0 and zeros elsewhere.
TEST_P(FusedLinearBackward, ABatchedOperandGetsItsOwnGradientPerBatch) {
  const LinearTensors t = linear_tensors({"batched", {3, 4, 5}, {3, 5, 6}}, f32, device(), 17);
  const Tensor d_b = matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::silu).d_b;
  const Array pre = reference_pre(t);
  for (int i = 0; i < 3; ++i) {
    const LinearTensors one{t.a.slice(0, i, i + 1), t.b.slice(0, i, i + 1), t.bias, t.grad.slice(0, i, i + 1)};
    expect_within(d_b.slice(0, i, i + 1), reference_backward(one, activations()[3], reference_pre(one)).d_b,
                  "batch " + std::to_string(i));
  }
}

// ---- accumulation ----

Array plus(const Array& a, const Tensor& b, double eps) { return add(a, Array(b), eps); }

void check_accumulation(const LinearTensors& t, const std::string& what, DType accumulators) {
  Random random(18);
  const Device device = t.a.device();
  MatmulBiasActivationGrads into{random.tensor(t.a.shape(), accumulators, device),
                                 random.tensor(t.b.shape(), accumulators, device),
                                 random.tensor(t.bias.shape(), accumulators, device)};
  const MatmulBiasActivationGrads before{into.d_a.clone(), into.d_b.clone(), into.d_bias.clone()}, handles = into;
  const MatmulBiasActivationGrads got =
      matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::gelu, {.accumulate_into = &into});
  const double eps = work_epsilon(t.a.dtype());
  const LinearGradients fresh = reference_backward(t, activations()[2], reference_pre(t));
  const LinearGradients want{plus(fresh.d_a, before.d_a, eps), plus(fresh.d_b, before.d_b, eps),
                             plus(fresh.d_bias, before.d_bias, eps)};
  expect_gradients(got, want, what + ", returned");
  expect_gradients(into, want, what + ", in the struct");
  expect_gradients(handles, want, what + ", in the given tensors");
}
TEST_P(FusedLinearBackward, AccumulatesIntoGivenTensors) {
  for (const DType dtype : all_floats(device()))
    for (const LinearCase& c : linear_cases(dtype, device()))
      check_accumulation(linear_tensors(c, dtype, device(), 19), label(c, "accumulating", dtype), dtype);
}
TEST_P(FusedLinearBackward, SixteenBitsAccumulateIntoSingle) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16}))
    for (const LinearCase& c : linear_cases(dtype, device()))
      if (!left_out(device(), 2))
        check_accumulation(linear_tensors(c, dtype, device(), 20), label(c, "into f32", dtype), f32);
}

/// Three rows whose sum in f32 is far from a value of the 16-bit type.
TEST_P(FusedLinearBackward, TheBiasGradientIsAddedBeforeRounding) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16})) {
    const Tensor grad = make({1, 0x1p-6, 0x1p-12, 0x1p-12}, {4, 1}, dtype, device());
    const Tensor a = zeros({4, 1}, dtype), b = zeros({1, 1}, dtype), bias = zeros({1}, dtype);
    MatmulBiasActivationGrads into{{}, {}, zeros({1}, f32)};
    matmul_bias_activation_bwd(grad, a, b, bias, op::identity, {.accumulate_into = &into});
    EXPECT_EQ(into.d_bias.item<float>(), 1 + 0x1p-6 + 0x1p-11) << to_string(dtype);
  }
}
TEST_P(FusedLinearBackward, TheProductsAreAddedBeforeRounding) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16})) {
    const Tensor grad = make({1, 0x1p-6, 0x1p-12, 0x1p-12}, {4, 1}, dtype, device());
    const Tensor a = ones({4, 1}, dtype), b = zeros({1, 1}, dtype), bias = zeros({1}, dtype);
    MatmulBiasActivationGrads into{{}, zeros({1, 1}, f32), {}};
    matmul_bias_activation_bwd(grad, a, b, bias, op::identity, {.accumulate_into = &into});
    EXPECT_EQ(into.d_b.item<float>(), 1 + 0x1p-6 + 0x1p-11) << to_string(dtype);
  }
}

TEST_P(FusedLinearBackward, EmptyAccumulatorsAreReturnedFresh) {
  const LinearTensors t = linear_tensors(linear_cases()[0], f32, device(), 21);
  const MatmulBiasActivationGrads fresh = matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::tanh);
  MatmulBiasActivationGrads into{{}, ones(t.b.shape()), {}};
  const MatmulBiasActivationGrads got =
      matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::tanh, {.accumulate_into = &into});
  EXPECT_EQ(doubles(got.d_a), doubles(fresh.d_a));
  EXPECT_EQ(doubles(got.d_bias), doubles(fresh.d_bias));
  ASSERT_TRUE(into.d_a.defined() && into.d_bias.defined());
  EXPECT_EQ(doubles(into.d_a), doubles(fresh.d_a));
  EXPECT_EQ(doubles(into.d_bias), doubles(fresh.d_bias));
}
TEST_P(FusedLinearBackward, UnwantedAccumulatorsAreLeftAlone) {
  const LinearTensors t = linear_tensors(linear_cases()[0], f32, device(), 22);
  MatmulBiasActivationGrads into{ones(t.a.shape()), ones(t.b.shape()), ones(t.bias.shape())};
  matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::tanh,
                             {.accumulate_into = &into, .wanted = {false, false, true}});
  EXPECT_EQ(doubles(into.d_a), doubles(ones(t.a.shape())));
  EXPECT_EQ(doubles(into.d_b), doubles(ones(t.b.shape())));
  EXPECT_NE(doubles(into.d_bias), doubles(ones(t.bias.shape())));
}
TEST_P(FusedLinearBackward, AccumulatesIntoViews) {
  const LinearTensors t = linear_tensors({"2-D", {5, 7}, {7, 6}}, f32, device(), 23);
  const MatmulBiasActivationGrads fresh = matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::silu);
  const Tensor memory = zeros({9, 20});
  MatmulBiasActivationGrads into{memory.slice(0, 1, 6).slice(1, 2, 9), memory.slice(0, 1, 8).slice(1, 10, 16),
                                 memory.slice(0, 8, 9).slice(1, 0, 6).reshape({6})};
  matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::silu, {.accumulate_into = &into});
  EXPECT_EQ(doubles(memory.slice(0, 1, 6).slice(1, 2, 9)), doubles(fresh.d_a));
  EXPECT_EQ(doubles(memory.slice(0, 1, 8).slice(1, 10, 16)), doubles(fresh.d_b));
  EXPECT_EQ(doubles(memory.slice(0, 8, 9).slice(1, 0, 6).reshape({6})), doubles(fresh.d_bias));
  EXPECT_EQ(doubles(memory.slice(1, 16, 20)), std::vector<double>(36, 0.0));
}
TEST_P(FusedLinearBackward, OverlapWithAnInputIsAnError) {
  const LinearTensors t = linear_tensors({"square", {4, 4}, {4, 4}}, f32, device(), 24);
  const Tensor kept = t.a.clone();
  for (const Tensor& overlapping : {t.a, t.b, t.grad, t.a.transpose(0, 1)}) {
    MatmulBiasActivationGrads into{overlapping, {}, {}};
    expect_error(ErrorKind::shape, {"matmul_bias_activation_bwd", "d_a", "overlap"},
                 [&] { matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::relu, {.accumulate_into = &into}); });
  }
  MatmulBiasActivationGrads bias{{}, {}, t.bias};
  expect_error(ErrorKind::shape, {"matmul_bias_activation_bwd", "d_bias", "overlap"},
               [&] { matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::relu, {.accumulate_into = &bias}); });
  EXPECT_EQ(doubles(t.a), doubles(kept));
}
TEST_P(FusedLinearBackward, OverlapWithThePreActivationIsAnError) {
  const LinearTensors t = linear_tensors({"square", {4, 4}, {4, 4}}, f32, device(), 25);
  const Tensor pre = ones({4, 4});
  MatmulBiasActivationGrads into{{}, pre, {}};
  expect_error(ErrorKind::shape, {"matmul_bias_activation_bwd", "d_b", "overlap"}, [&] {
    matmul_bias_activation_bwd(t.grad, t.a, t.b, t.bias, op::relu, {.accumulate_into = &into, .pre_activation = pre});
  });
}

// ---- derivatives that are not finite ----

TEST_P(FusedLinearBackward, NanPreActivationsContributeNothingByDefault) {
  const double nan = std::nan("");
  for (const DType dtype : all_floats(device()))
    for (const Activation& act : activations()) {
      const Tensor a = make({1, 2}, {2, 1}, dtype, device()), b = make({1, 1}, {1, 2}, dtype, device()),
                   bias = make({0, 0}, {2}, dtype, device());
      const Tensor grad = make({1, 2, 3, 4}, {2, 2}, dtype, device()),
                   pre = make({nan, 1, 1, nan}, {2, 2}, dtype, device());
      if (std::string(act.name) == "identity" || std::string(act.name) == "relu") continue;  // below
      const double d = act.derivative(1), eps = 32 * epsilon(dtype);
      const auto zero = matmul_bias_activation_bwd(grad, a, b, bias, act.formula, {.pre_activation = pre});
      const std::vector<double> d_a = doubles(zero.d_a), d_bias = doubles(zero.d_bias);
      EXPECT_NEAR(d_a[0], 2 * d, 2 * eps) << act.name << " " << to_string(dtype);
      EXPECT_NEAR(d_a[1], 3 * d, 3 * eps) << act.name << " " << to_string(dtype);
      EXPECT_NEAR(d_bias[0], 3 * d, 3 * eps) << act.name << " " << to_string(dtype);
      const auto propagated = matmul_bias_activation_bwd(grad, a, b, bias, act.formula,
                                                         {.pre_activation = pre, .nonfinite = NonFinite::propagate});
      EXPECT_TRUE(std::isnan(doubles(propagated.d_a)[0])) << act.name << " " << to_string(dtype);
      EXPECT_TRUE(std::isnan(doubles(propagated.d_bias)[1])) << act.name << " " << to_string(dtype);
    }
}
TEST_P(FusedLinearBackward, NanFromTheRecomputedProduct) {
  const Tensor a = tensor({std::nanf(""), 1.0f}, {2, 1}), b = ones({1, 1}), bias = zeros({1}), grad = ones({2, 1});
  const auto zero = matmul_bias_activation_bwd(grad, a, b, bias, op::silu, {.wanted = {true, false, true}});
  EXPECT_EQ(doubles(zero.d_a)[0], 0);
  EXPECT_NEAR(doubles(zero.d_bias)[0], silu_derivative(1), 8 * epsilon(f32));
  const auto propagated = matmul_bias_activation_bwd(grad, a, b, bias, op::silu, {.nonfinite = NonFinite::propagate});
  EXPECT_TRUE(std::isnan(doubles(propagated.d_bias)[0]));
}
TEST_P(FusedLinearBackward, AutogradPropagatesNan) {
  const Var a(tensor({std::nanf(""), 1.0f}, {2, 1})), b(ones({1, 1})), bias(zeros({1}));
  for (const Pointwise<>& act : {op::silu, op::gelu, op::tanh, op::sigmoid}) {
    const Gradients g = backward(sum(matmul_bias_activation(a, b, bias, act)));
    EXPECT_TRUE(std::isnan(doubles(g[bias])[0])) << act.name();
    EXPECT_FALSE(std::isnan(doubles(g[a])[1])) << act.name();
  }
}
TEST_P(FusedLinearBackward, DerivativesAtInfinity) {
  const double inf = INFINITY;
  const std::vector<double> at{-inf, inf};
  const std::vector<std::pair<Pointwise<>, std::vector<double>>> limits{
      {op::gelu, {0, 1}},    {op::silu, {0, 1}},     {op::relu, {0, 1}},    {op::tanh, {0, 0}},
      {op::sigmoid, {0, 0}}, {op::identity, {1, 1}}, {op::gelu_erf, {0, 1}}};
  for (const DType dtype : all_floats(device()))
    for (const auto& [act, want] : limits) {
      const Tensor pre = make(at, {1, 2}, dtype, device()), zero = zeros({1, 1}, dtype), row = zeros({1, 2}, dtype);
      const auto g = matmul_bias_activation_bwd(ones({1, 2}, dtype), zero, row, zeros({2}, dtype), act,
                                                {.pre_activation = pre, .nonfinite = NonFinite::propagate});
      expect_values(g.d_bias, {2}, want, std::string(act.name()) + " " + std::string(to_string(dtype)));
    }
}
TEST_P(FusedLinearBackward, ReluAtZeroIsZero) {
  for (const DType dtype : all_floats(device())) {
    const auto g = matmul_bias_activation_bwd(ones({1, 2}, dtype), zeros({1, 1}, dtype), zeros({1, 2}, dtype),
                                              zeros({2}, dtype), op::relu);
    expect_values(g.d_bias, {2}, {0, 0}, std::string(to_string(dtype)));
  }
}
TEST_P(FusedLinearBackward, EmptyOperands) {
  const auto k = matmul_bias_activation_bwd(ones({3, 2}), zeros({3, 0}), zeros({0, 2}), ones({2}), op::relu);
  EXPECT_EQ(k.d_a.shape(), Shape({3, 0}));
  EXPECT_EQ(k.d_b.shape(), Shape({0, 2}));
  expect_values(k.d_bias, {2}, {3, 3}, "K = 0");
  const auto m = matmul_bias_activation_bwd(zeros({0, 2}), zeros({0, 4}), zeros({4, 2}), zeros({2}), op::gelu);
  EXPECT_EQ(m.d_a.shape(), Shape({0, 4}));
  expect_values(m.d_b, {4, 2}, std::vector<double>(8, 0.0), "M = 0");
  expect_values(m.d_bias, {2}, {0, 0}, "M = 0");
}

}  // namespace
}  // namespace tern::test
