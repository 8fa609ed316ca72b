// silu_mul and its relatives, their backward, and what autograd records of them.
#include "every_device/products/linear_reference.hpp"

namespace tern::test {
namespace {

class Gated : public EveryDevice {};
TERN_EVERY_DEVICE(Gated);

struct GatedOp {
  const char* name;
  const char* grad_fn;
  Pointwise<> formula;
  GatedGrads (*bwd)(const Tensor&, const Tensor&, const Tensor&);
  Activation act;
};
std::vector<GatedOp> gated_ops() {
  const std::vector<Activation> acts = activations();
  return {{"silu_mul", "SiluMulBackward", op::silu_mul, silu_mul_bwd, acts[3]},
          {"gelu_mul", "GeluMulBackward", op::gelu_mul, gelu_mul_bwd, acts[2]},
          {"relu_mul", "ReluMulBackward", op::relu_mul, relu_mul_bwd, acts[1]},
          {"sigmoid_mul", "SigmoidMulBackward", op::sigmoid_mul, sigmoid_mul_bwd, acts[4]}};
}

struct Shapes { Shape a, b; };
const std::vector<Shapes>& shape_pairs(Device device) {
  static const std::vector<Shapes> few{{{3, 50}, {3, 50}}, {{33, 65}, {65}}, {{4, 1}, {1, 5}}};
  if (in_software(device)) return few;
  static const std::vector<Shapes> list{
      {{7}, {7}}, {{3, 50}, {3, 50}}, {{33, 65}, {65}}, {{65}, {33, 65}}, {{4, 1}, {1, 5}},       {{2, 3, 4}, {3, 1}},
      {{}, {5}},  {{5}, {}},          {{}, {}},         {{1000, 3}, {3}}, {{2, 1, 3}, {2, 4, 3}}, {{1}, {300, 7}}};
  return list;
}
Shape result_shape(const Shapes& s) { return broadcast_of(s.a, s.b); }
std::string gated_label(const GatedOp& g, const Shapes& s, DType d) {
  return std::string(g.name) + " " + to_string(s.a) + to_string(s.b) + " " + std::string(to_string(d));
}

TEST_P(Gated, Forward) {
  for (const DType dtype : all_floats(device()))
    for (const Shapes& s : shape_pairs(device())) {
      Random random(31);
      const Tensor a = random.tensor(s.a, dtype, device(), -5, 5), b = random.tensor(s.b, dtype, device());
      for (const GatedOp& g : gated_ops()) {
        const double eps = work_epsilon(dtype);
        expect_within(g.formula(a, b), mul(activate(Array(a), g.act, eps), Array(b), eps), gated_label(g, s, dtype));
      }
    }
}

struct GatedReference { Array d_a, d_b; };
GatedReference gated_reference(const GatedOp& g, const Tensor& grad, const Tensor& a, const Tensor& b) {
  const double eps = work_epsilon(a.dtype());
  const Array seed(grad), x(a), y(b);
  return {sum_to(mul(mul(seed, y, eps), activate_derivative(x, g.act, eps), eps), a.shape(), eps),
          sum_to(mul(seed, activate(x, g.act, eps), eps), b.shape(), eps)};
}
TEST_P(Gated, Backward) {
  for (const DType dtype : all_floats(device()))
    for (const Shapes& s : shape_pairs(device())) {
      Random random(32);
      const Tensor a = random.tensor(s.a, dtype, device(), -5, 5), b = random.tensor(s.b, dtype, device()),
                   grad = random.tensor(result_shape(s), dtype, device());
      for (const GatedOp& g : gated_ops()) {
        const GatedReference want = gated_reference(g, grad, a, b);
        const auto [d_a, d_b] = g.bwd(grad, a, b);
        expect_within(d_a, want.d_a, gated_label(g, s, dtype) + ": d_a");
        expect_within(d_b, want.d_b, gated_label(g, s, dtype) + ": d_b");
      }
    }
}
TEST_P(Gated, BackwardOfStridedOperands) {
  Random random(33);
  const Tensor a = strided(random.tensor({9, 17}, f32, device())),
               b = strided(random.tensor({17, 9}, f32, device())).transpose(0, 1);
  const Tensor grad = random.tensor({9, 34}, f32, device()).slice(1, 0, 34, 2);
  for (const GatedOp& g : gated_ops()) {
    const GatedReference want = gated_reference(g, grad, a, b);
    const auto [d_a, d_b] = g.bwd(grad, a, b);
    expect_within(d_a, want.d_a, g.name), expect_within(d_b, want.d_b, g.name);
  }
}
TEST_P(Gated, AutogradGivesTheSame) {
  for (const DType dtype : all_floats(device()))
    for (const Shapes& s : shape_pairs(device())) {
      Random random(34);
      const Var a(random.tensor(s.a, dtype, device(), -5, 5)), b(random.tensor(s.b, dtype, device()));
      const Tensor grad = random.tensor(result_shape(s), dtype, device());
      for (const GatedOp& g : gated_ops()) {
        const GatedReference want = gated_reference(g, grad, a.value(), b.value());
        const Gradients got = backward(g.formula(a, b), grad);
        expect_within(got[a], want.d_a, gated_label(g, s, dtype) + ": d_a");
        expect_within(got[b], want.d_b, gated_label(g, s, dtype) + ": d_b");
      }
    }
}
TEST_P(Gated, EmptyOperands) {
  const Tensor none = zeros({0, 3}), row = ones({3});
  for (const GatedOp& g : gated_ops()) {
    const auto [d_a, d_b] = g.bwd(none, none, row);
    EXPECT_EQ(d_a.shape(), Shape({0, 3})) << g.name;
    expect_values(d_b, {3}, {0, 0, 0}, g.name);
  }
}

TEST_P(Gated, LimitsOfTheDerivative) {
  const double inf = INFINITY;
  const std::vector<double> at{-inf, -3e38, 3e38, inf};
  const std::vector<std::vector<double>> want{{0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0}};
  for (const DType dtype : wide_floats(device()))
    for (std::size_t i = 0; i < 4; ++i) {
      const GatedOp g = gated_ops()[i];
      const Tensor a = make(at, {4}, dtype, device()), one = ones({4}, dtype);
      expect_values(g.bwd(one, a, one).d_a, {4}, want[i], g.name);
    }
}
TEST_P(Gated, NanPropagates) {
  const Tensor a = tensor({std::nanf(""), 1.0f}), one = ones({2});
  for (const GatedOp& g : gated_ops()) {
    EXPECT_TRUE(std::isnan(doubles(g.formula(a, one))[0])) << g.name;
    const auto [d_a, d_b] = g.bwd(one, a, one);
    EXPECT_TRUE(std::isnan(doubles(d_b)[0])) << g.name;
    if (std::string(g.name) != "relu_mul") {
      EXPECT_TRUE(std::isnan(doubles(d_a)[0])) << g.name;
    }
    EXPECT_FALSE(std::isnan(doubles(d_a)[1]) || std::isnan(doubles(d_b)[1])) << g.name;
  }
}

// ---- the graph ----

TEST_P(Gated, NamesOfTheRecordedOperations) {
  const Var a(ones({3})), b(ones({3}));
  for (const GatedOp& g : gated_ops()) {
    const Var y = g.formula(a, b);
    ASSERT_TRUE(y.grad_fn()) << g.name;
    EXPECT_EQ(y.grad_fn()->name(), g.grad_fn);
    EXPECT_EQ(y.grad_fn()->inputs(), (std::vector<std::uint64_t>{a.id(), b.id()}));
  }
  EXPECT_EQ(matmul_bias_activation(Var(ones({2, 2})), ones({2, 2}), ones({2}), op::gelu).grad_fn()->name(),
            "MatmulBiasActivationBackward");
}
TEST_P(Gated, InputsAndTheirMakers) {
  const Var a(ones({3})), b(ones({3}));
  const Var y = silu_mul(exp(a), b);
  const auto makers = y.grad_fn()->input_grad_fns();
  ASSERT_EQ(makers.size(), 2u);
  ASSERT_TRUE(makers[0]);
  EXPECT_EQ(makers[0]->name(), "ExpBackward");
  EXPECT_FALSE(makers[1]);
  EXPECT_FALSE(a.grad_fn());
}
TEST_P(Gated, NoGraphWithoutAVariableThatRequiresAGradient) {
  const Var constant(ones({3}), false);
  const Tensor plain = ones({3});
  for (const GatedOp& g : gated_ops()) {
    const Var y = g.formula(constant, plain);
    EXPECT_FALSE(y.grad_fn()) << g.name;
    EXPECT_FALSE(y.requires_grad()) << g.name;
  }
  const Var z = matmul_bias_activation(Var(ones({2, 2}), false), ones({2, 2}), ones({2}), op::gelu);
  EXPECT_FALSE(z.requires_grad() || z.grad_fn());
}
TEST_P(Gated, NoGraphInsideNoGrad) {
  const Var a(ones({3})), b(ones({3}));
  const NoGrad guard;
  for (const GatedOp& g : gated_ops()) EXPECT_FALSE(g.formula(a, b).requires_grad()) << g.name;
  EXPECT_FALSE(matmul_bias_activation(Var(ones({2, 2})), ones({2, 2}), ones({2}), op::gelu).grad_fn());
}
TEST_P(Gated, OnlyTrackedOperandsGetGradients) {
  const Var a(ones({3}));
  const Var constant(ones({3}), false);
  const Gradients g = backward(sum(silu_mul(a, constant)));
  EXPECT_TRUE(g.get(a.id()));
  EXPECT_EQ(g.size(), 1u);
  expect_error(ErrorKind::autograd, {"gradient"}, [&] { g[constant]; });
}

// ---- what is saved ----

bool saves(const Var& y, const Tensor& t) {
  for (const Tensor& s : y.grad_fn()->saved_tensors())
    if (s.shape() == t.shape() && doubles(s) == doubles(t)) return true;
  return false;
}
struct FusedLayer {
  Var a, b, bias;
  Tensor pre;
};
FusedLayer layer(Device device) {
  Random random(35);
  FusedLayer l{Var(random.tensor({3, 4}, f32, device)),
               Var(random.tensor({4, 5}, f32, device)),
               Var(random.tensor({5}, f32, device)),
               {}};
  l.pre = matmul_bias(l.a.value(), l.b.value(), l.bias.value());
  return l;
}
TEST_P(Gated, ReluTanhAndSigmoidSaveTheOutputOnly) {
  const FusedLayer l = layer(device());
  for (const Pointwise<>& act : {op::relu, op::tanh, op::sigmoid}) {
    const Var y = matmul_bias_activation(l.a, l.b, l.bias, act);
    EXPECT_EQ(y.grad_fn()->saved_tensors().size(), 3u) << act.name();  // a, b and the output
    EXPECT_TRUE(saves(y, y.value())) << act.name();
    EXPECT_FALSE(saves(y, l.pre)) << act.name();
  }
}
TEST_P(Gated, OthersSaveThePreActivation) {
  const FusedLayer l = layer(device());
  for (const Pointwise<>& act : {op::gelu, op::silu, Pointwise<>(users_mish)}) {
    const Var y = matmul_bias_activation(l.a, l.b, l.bias, act);
    EXPECT_EQ(y.grad_fn()->saved_tensors().size(), 3u) << act.name();
    EXPECT_TRUE(saves(y, l.pre)) << act.name();
    EXPECT_FALSE(saves(y, y.value())) << act.name();
  }
}
TEST_P(Gated, IdentitySavesNoState) {
  const FusedLayer l = layer(device());
  EXPECT_EQ(matmul_bias_activation(l.a, l.b, l.bias, op::identity).grad_fn()->saved_tensors().size(), 2u);
  EXPECT_EQ(matmul_bias(l.a, l.b, l.bias).grad_fn()->saved_tensors().size(), 2u);
}
TEST_P(Gated, OperandsNobodyNeedsAreNotSaved) {
  const FusedLayer l = layer(device());
  EXPECT_EQ(matmul_bias_activation(l.a.value(), l.b.value(), l.bias, op::gelu).grad_fn()->saved_tensors().size(), 1u);
  EXPECT_EQ(matmul_bias_activation(l.a, l.b.value(), l.bias.value(), op::identity).grad_fn()->saved_tensors().size(),
            1u);
}
TEST_P(Gated, SavedTensorsAreFreedByBackward) {
  const FusedLayer l = layer(device());
  const Var h = matmul_bias_activation(l.a, l.b, l.bias, op::gelu), y = sum(h);
  const auto fn = h.grad_fn();
  backward(y, {.keep_graph = true});
  EXPECT_FALSE(fn->saved_tensors().empty());
  backward(y);
  EXPECT_TRUE(fn->saved_tensors().empty());
}
TEST_P(Gated, GradFnAppliesItsRule) {
  const Var a(tensor({0.5f, -1.0f})), b(tensor({2.0f, 3.0f}));
  const Var y = silu_mul(a, b);
  const Var seed(ones({2}), false);
  const std::vector<Var> g = y.grad_fn()->apply({&seed, 1});
  ASSERT_EQ(g.size(), 2u);
  const GatedGrads want = silu_mul_bwd(ones({2}), a.value(), b.value());
  EXPECT_EQ(doubles(g[0]), doubles(want.d_a));
  EXPECT_EQ(doubles(g[1]), doubles(want.d_b));
}

// ---- errors ----

TEST_P(Gated, BackwardChecksItsOperands) {
  const Tensor a = ones({2, 3}), b = ones({2, 3});
  expect_error(ErrorKind::shape, {"silu_mul_bwd", "[2, 3]", "[3]"}, [&] { silu_mul_bwd(ones({3}), a, b); });
  expect_error(ErrorKind::shape, {"gelu_mul_bwd", "[2, 4]"}, [&] { gelu_mul_bwd(a, a, ones({2, 4})); });
  expect_error(ErrorKind::dtype, {"relu_mul_bwd", "i32", "f32"}, [&] { relu_mul_bwd(a, a, ones({2, 3}, i32)); });
  expect_error(ErrorKind::dtype, {"sigmoid_mul_bwd", "i32"},
               [&] { sigmoid_mul_bwd(ones({3}, i32), ones({3}, i32), ones({3}, i32)); });
  expect_error(ErrorKind::shape, {"silu_mul_bwd", "undefined"}, [&] { silu_mul_bwd(Tensor(), a, b); });
  expect_error(ErrorKind::shape, {"silu_mul", "[2, 3]", "[4]"}, [&] { silu_mul(a, ones({4})); });
}

}  // namespace
}  // namespace tern::test
