// The fused linear layer and its backward in plain C++, with error bounds.
#pragma once
#include <optional>

#include "every_device/reference.hpp"

namespace tern::test {

/// An activation with its reference, its derivative's, and bounds of the error of either in units of epsilon.
struct Activation {
  const char* name;
  Pointwise<> formula;
  double (*value)(double);
  double (*derivative)(double);
};

inline double sigmoid_of(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
inline double gelu_inner(double x) { return 2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x); }
inline double identity_value(double x) { return x; }
inline double identity_derivative(double) { return 1; }
inline double relu_value(double x) { return x > 0 ? x : 0; }
inline double relu_derivative(double x) { return x > 0 ? 1 : 0; }
inline double gelu_value(double x) { return x * sigmoid_of(gelu_inner(x)); }
inline double gelu_derivative(double x) {
  const double s = sigmoid_of(gelu_inner(x));
  return s + x * s * sigmoid_of(-gelu_inner(x)) * 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}
inline double silu_value(double x) { return x * sigmoid_of(x); }
inline double silu_derivative(double x) { return sigmoid_of(x) + x * sigmoid_of(x) * sigmoid_of(-x); }
inline double sigmoid_derivative(double x) { return sigmoid_of(x) * sigmoid_of(-x); }
inline double tanh_value(double x) { return std::tanh(x); }
inline double tanh_derivative(double x) { return 1 / (std::cosh(x) * std::cosh(x)); }
inline double mish_value(double x) { return x * std::tanh(std::log1p(std::exp(x))); }
inline double mish_derivative(double x) {
  const double t = std::tanh(std::log1p(std::exp(x)));
  return t + x * (1 - t * t) * sigmoid_of(x);
}
inline double bent_value(double x) { return 0.75 * x + std::sin(x); }
inline double bent_derivative(double x) { return 0.75 + std::cos(x); }

inline constexpr Pointwise users_mish{"mish", [](auto x) { return x * tanh(softplus(x)); }};

inline std::vector<Activation> activations() {
  const double slope = 0.75;
  return {{"identity", op::identity, identity_value, identity_derivative},
          {"relu", op::relu, relu_value, relu_derivative},
          {"gelu", op::gelu, gelu_value, gelu_derivative},
          {"silu", op::silu, silu_value, silu_derivative},
          {"sigmoid", op::sigmoid, sigmoid_of, sigmoid_derivative},
          {"tanh", op::tanh, tanh_value, tanh_derivative},
          {"the user's mish", users_mish, mish_value, mish_derivative},
          {"a lambda", [](auto x) { return x * tanh(softplus(x)); }, mish_value, mish_derivative},
          {"a capturing lambda", [slope](auto x) { return slope * x + sin(x); }, bent_value, bent_derivative}};
}

/// Relative error of an activation built from exp: a few ULP, and the argument's own error times its size.
inline double activation_error(double x, double eps) {
  const double argument = 1.6 * std::abs(x) + 0.08 * std::abs(x * x * x);
  return eps * (8 + 6 * argument);
}
inline Array activate(const Array& pre, const Activation& act, double eps) {
  return map(pre, act.value,
             [&](double x) { return activation_error(x, eps) * std::max(std::abs(act.value(x)), tiniest(f32)); });
}
/// Its derivative is a sum of terms no larger than 1 + |x|.
inline Array activate_derivative(const Array& pre, const Activation& act, double eps) {
  return map(pre, act.derivative, [&](double x) { return activation_error(x, eps) * (1 + std::abs(x)); });
}

struct LinearCase {
  std::string name;
  Shape a, b;
  bool strided = false;
  std::size_t turn = 0;  // its place in the list
};
struct LinearTensors {
  Tensor a, b, bias, grad;
};
/// Operands of a case; no pre-activation is near the kink of relu (checked by kink_free).
inline LinearTensors linear_tensors(const LinearCase& c, DType dtype, Device device, std::uint64_t seed) {
  Random random(seed);
  LinearTensors t;
  t.a = random.tensor(c.a, dtype, device), t.b = random.tensor(c.b, dtype, device);
  t.bias = random.tensor({c.b.back()}, dtype, device);
  Shape out = broadcast_of(batch_part(c.a), batch_part(c.b));
  out.push_back(c.a[c.a.size() - 2]), out.push_back(c.b.back());
  t.grad = random.tensor(out, dtype, device);
  if (c.strided) t.a = strided(t.a), t.b = strided(t.b), t.grad = strided(t.grad), t.bias = strided(t.bias);
  return t;
}
inline Array reference_pre(const LinearTensors& t) {
  const double eps = work_epsilon(t.a.dtype());
  return add(matmul(Array(t.a), Array(t.b), eps), Array(t.bias), eps);
}
/// Whether relu's derivative is certain at every pre-activation.
inline bool kink_free(const Array& pre) {
  for (std::size_t i = 0; i < pre.size(); ++i)
    if (std::abs(pre.value[i]) <= pre.bound[i]) return false;
  return true;
}

struct LinearGradients {
  Array d_a, d_b, d_bias;
};
/// What matmul_bias_activation_bwd must give; `pre`: the pre-activation it starts from.
inline LinearGradients reference_backward(const LinearTensors& t, const Activation& act, const Array& pre) {
  const DType dtype = t.a.dtype();
  const double eps = work_epsilon(dtype);
  const Array g = mul(Array(t.grad), activate_derivative(pre, act, eps), eps);
  const Array kept = dtype_size(dtype) == 2 ? stored(g, dtype) : g;  // stored once in the inputs' dtype
  LinearGradients r;
  r.d_a = sum_to(matmul(kept, transposed(Array(t.b)), eps), t.a.shape(), eps);
  r.d_b = sum_to(matmul(transposed(Array(t.a)), kept, eps), t.b.shape(), eps);
  r.d_bias = sum_to(g, t.bias.shape(), eps);  // sums the unrounded values
  return r;
}
inline void expect_gradients(const MatmulBiasActivationGrads& got, const LinearGradients& want,
                             const std::string& what) {
  expect_within(got.d_a, want.d_a, what + ": d_a");
  expect_within(got.d_b, want.d_b, what + ": d_b");
  expect_within(got.d_bias, want.d_bias, what + ": d_bias");
}

inline const std::vector<LinearCase>& linear_cases() {
  static const std::vector<LinearCase> list = [] {
    std::vector<LinearCase> all{
        {"2-D", {5, 7}, {7, 6}},
        {"odd sizes", {33, 17}, {17, 35}},
        {"one row", {1, 40}, {40, 19}},
        {"one column", {21, 40}, {40, 1}},
        {"batched", {3, 4, 5}, {3, 5, 6}},
        {"shared b", {2, 3, 4, 5}, {5, 6}},
        {"broadcast batch of a", {1, 4, 5}, {3, 5, 6}},
        {"broadcast batch of b", {3, 4, 5}, {1, 5, 6}},
        {"shared a", {4, 5}, {2, 3, 5, 6}},
        {"both ways", {3, 1, 4, 5}, {1, 2, 5, 6}},
        {"strided", {19, 23}, {23, 17}, true},
        {"strided batched", {2, 7, 9}, {2, 9, 5}, true},
        {"strided, shared b", {2, 7, 9}, {9, 5}, true},
        {"K = 1", {9, 1}, {1, 11}},
    };
    for (std::size_t i = 0; i < all.size(); ++i) all[i].turn = i;
    return all;
  }();
  return list;
}
/// In software each of the dtypes has every sixth case.
inline std::vector<LinearCase> linear_cases(DType dtype, Device device) {
  std::vector<LinearCase> list = linear_cases();
  if (in_software(device))
    std::erase_if(list, [=](const LinearCase& c) { return (c.turn + static_cast<std::size_t>(dtype)) % 6 != 0; });
  return list;
}
/// What a case is tried with: every activation, or in software one, another for each case.
inline std::vector<Activation> activations_of(const LinearCase& c, Device device) {
  const std::vector<Activation> all = activations();
  if (!in_software(device)) return all;
  return {all[c.turn % all.size()]};
}
inline std::string label(const LinearCase& c, const char* activation, DType dtype) {
  return c.name + ", " + activation + ", " + std::string(to_string(dtype));
}

}  // namespace tern::test
