// First, second and third derivatives of the fused operations against central differences.
#include "every_device/gradients/derivatives.hpp"
#include "every_device/products/linear_reference.hpp"

namespace tern::test {
namespace {

class FusedGradients : public InDouble {};
TERN_EVERY_DEVICE_IN_DOUBLE(FusedGradients);

struct Linear { const char* name; Shape a, b; };
const Linear kLinear[] = {{"2-D", {2, 3}, {3, 2}},
                          {"batched", {2, 2, 2}, {2, 2, 2}},
                          {"shared b", {2, 2, 2}, {2, 2}},
                          {"broadcast batch", {1, 2, 2}, {2, 2, 2}},
                          {"shared a", {2, 2}, {2, 2, 2}}};

TEST_P(FusedGradients, MatmulBiasActivation) {
  for (const Linear& c : kLinear)
    for (const Activation& act : activations())
      check_three_orders(
          std::string(c.name) + " " + act.name,
          [&](const Var& a, const Var& b, const Var& bias) { return matmul_bias_activation(a, b, bias, act.formula); },
          random(c.a), random(c.b), random({c.b.back()}));
}
TEST_P(FusedGradients, MatmulBiasActivationFarFromZero) {
  for (const Activation& act : activations())
    check_three_orders(
        act.name,
        [&](const Var& a, const Var& b, const Var& bias) { return matmul_bias_activation(a, b, bias, act.formula); },
        random({2, 3}, -2, 2), random({3, 2}, -2, 2), random({2}, -2, 2));
}
TEST_P(FusedGradients, RegisteredFormulasAsActivations) {
  for (const Pointwise<>& act : {op::gelu_erf, op::elu, op::leaky_relu, op::softplus, op::square, op::exp, op::erf,
                                 op::erfc, op::sin, op::expm1})
    check_three_orders(
        act.name(),
        [&](const Var& a, const Var& b, const Var& bias) { return matmul_bias_activation(a, b, bias, act); },
        random({2, 2}), random({2, 2}), random({2}, 0.2, 1));
}
TEST_P(FusedGradients, OneOperandAtATime) {
  const Tensor a = random({2, 3}), b = random({3, 2}), bias = random({2});
  for (const Activation& act : activations()) {
    check_three_orders(act.name, [&](const Var& x) { return matmul_bias_activation(x, b, bias, act.formula); }, a);
    check_three_orders(act.name, [&](const Var& x) { return matmul_bias_activation(a, x, bias, act.formula); }, b);
    check_three_orders(act.name, [&](const Var& x) { return matmul_bias_activation(a, b, x, act.formula); }, bias);
  }
}
TEST_P(FusedGradients, TheSameVariableTwice) {
  for (const Activation& act : activations())
    check_three_orders(
        act.name,
        [&](const Var& x) { return matmul_bias_activation(x, x, x.slice(0, 0, 1).reshape({2}), act.formula); },
        random({2, 2}));
}
TEST_P(FusedGradients, TheOtherProducts) {
  for (const Linear& c : kLinear) {
    const Tensor a = random(c.a), b = random(c.b), bias = random({2}), residual = random({2, 2});
    check_three_orders("matmul", [](const Var& x, const Var& y) { return matmul(x, y) * matmul(x, y); }, a, b);
    check_three_orders(
        "matmul_bias", [](const Var& x, const Var& y, const Var& z) { return exp(matmul_bias(x, y, z)); }, a, b, bias);
    check_three_orders(
        "matmul_activation", [](const Var& x, const Var& y) { return matmul_activation(x, y, op::gelu); }, a, b);
    check_three_orders(
        "matmul_bias_residual",
        [](const Var& x, const Var& y, const Var& z, const Var& r) { return tanh(matmul_bias_residual(x, y, z, r)); },
        a, b, bias, residual);
  }
}
TEST_P(FusedGradients, ResidualThatBroadcasts) {
  for (const Shape& shape : {Shape{2}, Shape{2, 1}, Shape{}, Shape{2, 1, 1}})
    check_three_orders(
        to_string(shape),
        [](const Var& a, const Var& b, const Var& z, const Var& r) { return sin(matmul_bias_residual(a, b, z, r)); },
        random({2, 2, 2}), random({2, 2}), random({2}), random(shape));
}
TEST_P(FusedGradients, TwoLayers) {
  const Tensor x = random({2, 3});
  check_three_orders("mlp", [&](const Var& w1, const Var& b1, const Var& w2, const Var& b2) {
    return matmul_bias_activation(matmul_bias_activation(x, w1, b1, op::gelu), w2, b2, op::tanh);
  }, random({3, 2}), random({2}), random({2, 2}), random({2}));
}

TEST_P(FusedGradients, Gated) {
  const std::pair<Shape, Shape> shapes[] = {{{5}, {5}},       {{2, 3}, {3}}, {{3}, {2, 3}},
                                            {{2, 1}, {1, 2}}, {{}, {3}},     {{3}, {}}};
  for (const Pointwise<>& f : {op::silu_mul, op::gelu_mul, op::relu_mul, op::sigmoid_mul})
    for (const auto& [a, b] : shapes)
      check_three_orders(
          std::string(f.name()) + to_string(a) + to_string(b), [&](const Var& x, const Var& y) { return f(x, y); },
          random(a, 0.1, 2), random(b));
}
TEST_P(FusedGradients, GatedOfNegativeValues) {
  for (const Pointwise<>& f : {op::silu_mul, op::gelu_mul, op::relu_mul, op::sigmoid_mul})
    check_three_orders(
        f.name(), [&](const Var& x, const Var& y) { return f(x, y); }, random({6}, -3, -0.1), random({6}));
}
TEST_P(FusedGradients, GatedLayer) {
  check_three_orders(
      "silu_mul(x·g, x·u)",
      [](const Var& x, const Var& g, const Var& u) { return silu_mul(matmul(x, g), matmul(x, u)); }, random({2, 2}),
      random({2, 2}), random({2, 2}));
}

TEST_P(FusedGradients, SoftmaxAndLogSoftmax) {
  for (const int axis : {-1, 0, 1}) {
    check_three_orders("softmax", [=](const Var& x) { return softmax(x, axis); }, random({3, 4}, -2, 2));
    check_three_orders("log_softmax", [=](const Var& x) { return log_softmax(x, axis); }, random({3, 4}, -2, 2));
  }
  check_three_orders("softmax of 1-D", [](const Var& x) { return softmax(x); }, random({5}));
}
TEST_P(FusedGradients, Logsumexp) {
  for (const Axes& axes : {Axes{}, Axes{0}, Axes{1}, Axes{-1, 0}})
    check_three_orders("logsumexp", [&](const Var& x) { return logsumexp(x, axes); }, random({2, 3}, -2, 2));
}
TEST_P(FusedGradients, Norm) {
  for (const Axes& axes : {Axes{}, Axes{0}, Axes{1}, Axes{-1, 0}})
    check_three_orders("norm", [&](const Var& x) { return norm(x, axes); }, random({2, 3}, -2, 2));
}
TEST_P(FusedGradients, CrossEntropy) {
  const Tensor labels = tensor({2, 0, 1});
  check_three_orders("cross_entropy", [&](const Var& x) { return cross_entropy(x, labels); }, random({3, 4}, -2, 2));
  check_three_orders(
      "cross_entropy of a layer",
      [&](const Var& w, const Var& b) {
        return cross_entropy(matmul_bias(Tensor(ones({3, 2}, f64)), w, b), labels);
      },
      random({2, 3}), random({3}));
}
TEST_P(FusedGradients, RmsNorm) {
  check_three_orders(
      "rms_norm", [](const Var& x, const Var& w) { return rms_norm(x, w); }, random({2, 4}), random({4}));
  check_three_orders(
      "rms_norm, eps 0.1", [](const Var& x, const Var& w) { return rms_norm(x, w, 0.1); }, random({3}), random({3}));
  const Tensor w = random({3});
  check_three_orders("rms_norm of x", [&](const Var& x) { return rms_norm(x, w); }, random({2, 2, 3}));
}
TEST_P(FusedGradients, LayerNorm) {
  check_three_orders(
      "layer_norm", [](const Var& x, const Var& w, const Var& b) { return layer_norm(x, w, b); }, random({2, 4}),
      random({4}), random({4}));
  const Tensor x = random({2, 3}), w = random({3}), b = random({3});
  check_three_orders("layer_norm of x", [&](const Var& v) { return layer_norm(v, w, b); }, x);
  check_three_orders("layer_norm of weight", [&](const Var& v) { return layer_norm(x, v, b) * v; }, w);
}
TEST_P(FusedGradients, AUsersRowFormula) {
  constexpr Pointwise norm{"l2", [](auto x, auto scale) { return x * rsqrt(sum(x * x) + 0.25) * scale; }};
  check_three_orders(
      "row_formula", [&](const Var& x, const Var& s) { return row_formula(norm, x, s); }, random({2, 3}), random({3}));
  const double eps = 0.5;
  const Pointwise captured{"l2", [eps](auto x) { return x * rsqrt(mean(x * x) + eps); }};
  check_three_orders(
      "row_formula with a capture", [&](const Var& x) { return row_formula(captured, x); }, random({2, 3}));
}
/// A reduction counts what has one element along the row as often as the row has elements; so does its gradient.
TEST_P(FusedGradients, ReductionsOfWhatIsReduced) {
  constexpr Pointwise sums{"sums", [](auto x, auto w) { return x + sum(sin(mean(x * w))) * w; }},
      means{"means", [](auto x, auto w) { return mean(exp(sum(x * w)) * sum(w)); }},
      largest{"largest", [](auto x, auto w) { return x * max(sum(x * w) + 2); }};
  for (const Pointwise<>& formula : {sums, means, largest})
    check_three_orders(
        formula.name(), [&](const Var& x, const Var& w) { return row_formula(formula, x, w); }, random({2, 3}),
        random({3}));
  check_three_orders(
      "of rows and of columns",
      [](const Var& a, const Var& b, const Var& c) {
        const auto rows = [](auto y, auto z) { return z * sum(sin(sum(y, -1)) * sum(z, -1), -1); };
        const auto columns = [](auto y, auto z) { return z / (4 + sum(sin(sum(y * z, -2)), -2)); };
        return matmul_epilogue(a, b, rows, c) * matmul_epilogue(a, b, columns, c);
      },
      random({2, 3}), random({3, 2}), random({2, 2}));
}
TEST_P(FusedGradients, UsersFormulas) {
  const double slope = 0.3;
  check_three_orders(
      "mish", [](const Var& x) { return users_mish(x); }, random({5}, -3, 3));
  const Pointwise bent{"bent", [slope](auto x, auto y) { return slope * x * y + exp(-x * x); }};
  check_three_orders("bent", [&](const Var& x, const Var& y) { return bent(x, y); }, random({2, 3}), random({3}));
}
TEST_P(FusedGradients, FormulasWithSeveralOutputs) {
  constexpr Pointwise polar{"polar", [](auto r, auto phi) { return std::array{r * cos(phi), r * sin(phi)}; }};
  check_three_orders("both outputs", [&](const Var& r, const Var& phi) {
    const auto [x, y] = polar(r, phi);
    return x * x * y;
  }, random({3}, 0.5, 2), random({3}));
  check_three_orders(
      "only the second", [&](const Var& r, const Var& phi) { return polar(r, phi)[1]; }, random({2, 2}, 0.5, 2),
      random({2}));
}

}  // namespace
}  // namespace tern::test
