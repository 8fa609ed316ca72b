// Entries of the gradients of gated activations, name_bwd(grad, a, b). The activations themselves are formulas.
#include <algorithm>

#include "ops/entry.hpp"

namespace tern::operations {
namespace {

/// An activation's value and derivative.
struct Slope {
  double value, derivative;
};
Slope sigmoid_at(double x) {
  const double s = 1 / (1 + std::exp(-x));
  return {s, s * (1 - s)};
}
Slope silu_at(double x) {
  const Slope s = sigmoid_at(x);
  return {x * s.value, s.value + x * s.derivative};
}
Slope relu_at(double x) { return {std::max(x, 0.0), x > 0 ? 1.0 : 0.0}; }
/// 0.5x(1 + tanh u), with u = √(2/π)·(x + 0.044715·x³).
Slope gelu_at(double x) {
  const double scale = std::sqrt(2 / std::acos(-1.0)), t = std::tanh(scale * (x + 0.044715 * x * x * x));
  return {0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x)};
}

template <class Backward, class Activation> Entry gated(const char* name, Backward backward, Activation activation) {
  const auto call = [backward](const auto& grad, const auto& a, const auto& b) {
    const GatedGrads grads = backward(elements(grad), elements(a), elements(b));
    return std::vector<Tensor>{grads.d_a, grads.d_b};
  };
  const auto reference = [activation](const std::vector<Values>& x) {
    std::vector<Values> grads{x[1], x[2]};
    for (std::size_t i = 0; i < x[0].of.size(); ++i) {
      const Slope at = activation(x[1].of[i]);
      grads[0].of[i] = x[0].of[i] * x[2].of[i] * at.derivative, grads[1].of[i] = x[0].of[i] * at.value;
    }
    return grads;
  };
  const auto shapes = [](Sizes s) { return std::vector<Shape>(3, Shape{s.rows, s.columns}); };
  const auto refused = [backward](auto make) {
    backward(elements(make({2, 3})), elements(make({2, 3})), elements(make({2, 4})));
  };
  return {.name = name,
          .family = Family::gated,
          .arguments = "grad, a, b",
          .says = "grad times the derivatives of name(a, b) by a and by b, in one pass",
          .differentiable = false,
          .tolerance = {16, "a sigmoid and products with it"},
          .samples = {{.shapes = shapes, .call = Call::of_one_type(call), .reference = reference, .kernel_calls = 1}},
          .bad = {{ErrorKind::shape, {name, "[2, 3]", "[2, 4]"}, refused}}};
}

const Entries gated_gradients{
    gated(
        "silu_mul_bwd", [](const auto&... x) { return silu_mul_bwd(x...); }, silu_at),
    gated(
        "gelu_mul_bwd", [](const auto&... x) { return gelu_mul_bwd(x...); }, gelu_at),
    gated(
        "relu_mul_bwd", [](const auto&... x) { return relu_mul_bwd(x...); }, relu_at),
    gated(
        "sigmoid_mul_bwd", [](const auto&... x) { return sigmoid_mul_bwd(x...); }, sigmoid_at),
};

}  // namespace
}  // namespace tern::operations
