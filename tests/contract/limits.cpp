// Activations at the ends of the line: values and derivatives to order three stay finite for every pre-activation that
// is not NaN, and reach their limits exactly.
#include "contract/compare.hpp"

namespace tern::contract {
namespace {

struct Activation {
  const char* name;
  const Pointwise<>* op;
  double slope_left, slope_right;  // the derivative at -inf and inf
  bool vanishes_left;              // f(-inf) = 0
};
inline void PrintTo(const Activation& a, std::ostream* stream) { *stream << a.name; }

const Activation kActivations[] = {
    {"identity", &op::identity, 1, 1, false},
    {"relu", &op::relu, 0, 1, true},
    {"gelu", &op::gelu, 0, 1, true},
    {"silu", &op::silu, 0, 1, true},
    {"gelu_erf", &op::gelu_erf, 0, 1, true},
    {"sigmoid", &op::sigmoid, 0, 0, true},
    {"tanh", &op::tanh, 0, 0, false},
    {"softplus", &op::softplus, 0, 1, true},
    {"leaky_relu", &op::leaky_relu, 0.01, 1, false},
    {"elu", &op::elu, 0, 1, false},
    {"celu", &op::celu, 0, 1, false},
    {"selu", &op::selu, 0, 1.0507009873554805, false},
    {"mish", &op::mish, 0, 1, true},
    {"hardsigmoid", &op::hardsigmoid, 0, 0, true},
    {"hardswish", &op::hardswish, 0, 1, true},
    {"log_sigmoid", &op::log_sigmoid, 1, 0, false},
};

class Limits : public testing::TestWithParam<std::tuple<Device, Activation>> {
 protected:
  void SetUp() override { set_default_device(std::get<0>(GetParam())); }
  void TearDown() override { set_default_device(cpu()); }
  Device device() const { return std::get<0>(GetParam()); }
  const Activation& activation() const { return std::get<1>(GetParam()); }
};

/// f and its derivatives at x, as far as they depend on x; zeros after that.
template <class S>
std::vector<std::vector<S>> derivatives_at(const Pointwise<>& f, const std::vector<S>& x, int order, Device device) {
  const Var at(tensor(x, Shape{x.size()}, device));
  const Tensor one = ones(at.shape(), Options{dtype_of<S>, device});
  std::vector<std::vector<S>> result;
  Var y = f(at);
  for (int i = 0;; ++i) {
    result.push_back(y.to_vector<S>());
    if (i == order) return result;
    if (!y.requires_grad()) {
      while (static_cast<int>(result.size()) <= order) result.emplace_back(x.size(), S(0.0));
      return result;
    }
    const Gradients grads = backward(y, one, {.create_graph = true});
    y = grads.get(at.id()) ? grads.var(at) : Var(zeros(at.shape(), Options{dtype_of<S>, device}), false);
  }
}

template <class S> std::vector<S> far_inputs() {
  std::vector<S> x;
  for (const double v : {std::numeric_limits<double>::infinity(), 3e38, 1e20, 65000.0, 8000.0, 1000.0, 760.0})
    x.push_back(S(v)), x.push_back(S(-v));
  if (sizeof(S) == 8) x.push_back(S(1e308)), x.push_back(S(-1e308));
  return x;
}

template <class S> void check_far(const Activation& a, Device device) {
  const std::vector<S> x = far_inputs<S>();
  const std::vector<std::vector<S>> d = derivatives_at(*a.op, x, 3, device);
  Report report(std::string(a.name) + " " + std::string(to_string(dtype_of<S>)) + ", far out");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool left = real(x[i]) < 0;
    const double slope = real(S(left ? a.slope_left : a.slope_right)), got = real(d[1][i]);
    if (got != slope) report.add([&] { return "f'(" + hex(real(x[i])) + ") = " + hex(got) + ", want " + hex(slope); });
    for (const std::size_t order : {2, 3})
      if (real(d[order][i]) != 0)
        report.add([&] {
          return "derivative " + std::to_string(order) + " at " + hex(real(x[i])) + " = " + hex(real(d[order][i])) +
                 ", want 0";
        });
    if (left && a.vanishes_left && std::isinf(real(x[i])) && real(d[0][i]) != 0)
      report.add([&] { return "f(-inf) = " + hex(real(d[0][i])) + ", want 0"; });
  }
}
TEST_P(Limits, AreReachedExactly) {
  for_each_float([&](auto zero) { check_far<decltype(zero)>(activation(), device()); });
}

template <class S> std::vector<S> finite_inputs() {
  if constexpr (sizeof(S) == 2) {
    return unary_inputs<S>();
  } else {
    std::vector<S> x;
    using B = typename Bits<S>::type;
    for (std::uint64_t i = 0; i < 65536; ++i)
      x.push_back(
          from_bits<S>(static_cast<B>(i << (Layout<S>::kBits - 16) | random_bits(i) >> (80 - Layout<S>::kBits))));
    for (const auto& more : {edge_values<S>(), threshold_values<S>()}) x.insert(x.end(), more.begin(), more.end());
    return x;
  }
}
template <class S> void check_finite(const Activation& a, Device device) {
  const std::vector<S> x = finite_inputs<S>();
  const std::vector<std::vector<S>> d = derivatives_at(*a.op, x, 3, device);
  Report report(std::string(a.name) + " " + std::string(to_string(dtype_of<S>)) + ", finite derivatives");
  for (std::size_t order = 1; order <= 3; ++order)
    for (std::size_t i = 0; i < x.size(); ++i)
      if (real(x[i]) == real(x[i]) && !std::isfinite(real(d[order][i])))
        report.add([&] {
          return "derivative " + std::to_string(order) + " at " + hex(real(x[i])) + " = " + hex(real(d[order][i]));
        });
}
TEST_P(Limits, DerivativesToOrderThreeAreFiniteEverywhere) {
  for_each_float([&](auto zero) { check_finite<decltype(zero)>(activation(), device()); });
}

std::string activation_test_name(const testing::TestParamInfo<std::tuple<Device, Activation>>& info) {
  std::string name = std::get<0>(info.param).to_string() + "_" + std::get<1>(info.param).name;
  for (char& c : name)
    if (c == ':') c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Registry, Limits,
                         testing::Combine(testing::ValuesIn(test::present_devices()), testing::ValuesIn(kActivations)),
                         activation_test_name);

class Kinks : public test::EveryDevice {};
TEST_P(Kinks, GoToTheSecondArgument) {
  const auto slope_at_zero = [&](const Pointwise<>& f) {
    return real(derivatives_at(f, std::vector<float>{0.0f, -0.0f}, 1, device())[1][0]);
  };
  EXPECT_EQ(slope_at_zero(op::relu), 0);
  EXPECT_EQ(slope_at_zero(op::abs), 0);
  EXPECT_EQ(slope_at_zero(op::leaky_relu), static_cast<double>(0.01f));
}
TERN_EVERY_DEVICE(Kinks);

}  // namespace
}  // namespace tern::contract
