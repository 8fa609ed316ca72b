// A branch that a formula does not take contributes exactly 0 to its gradients, of every order, whatever the
// derivatives of what it computes are there.
#include <array>

#include "every_device.hpp"
#include "every_device/reference.hpp"

namespace tern {
namespace {

using test::kInf, test::kNaN;

class MaskedBranches : public test::EveryDevice {};

/// Derivatives of f at the points of x, of the first `orders` orders.
std::array<std::vector<double>, 3> derivatives(const Pointwise<>& f, const std::vector<double>& points, DType dtype,
                                               Device device, std::size_t orders) {
  const Var x(tensor(points, {points.size()}, cpu()).to(dtype).to(device));
  std::array<std::vector<double>, 3> result;
  Var y = f(x);
  for (std::size_t order = 0; order < orders; ++order) {
    const Gradients g = backward(sum(y), {.create_graph = true});
    const Tensor* found = g.get(x.id());
    result[order] = found ? test::doubles(*found) : std::vector<double>(points.size(), 0.0);
    if (!found || !g.var(x).requires_grad()) break;
    y = g.var(x);
  }
  for (auto& order : result) order.resize(points.size());  // 0 where there is nothing to derive
  return result;
}

struct MaskedCase {
  Pointwise<> formula;
  Pointwise<> branch;          // what it is at `open`
  std::vector<double> masked;  // where its derivatives are 0
  std::vector<double> open = {0.25, 1.5};
};
const std::vector<MaskedCase>& cases() {
  static const std::vector<MaskedCase> list{
      {{"sqrt", [](auto x) { return where(x > 0, sqrt(x), 0); }}, op::sqrt, {0, -0.0, -1, -kInf, kNaN}},
      {{"not_sqrt", [](auto x) { return where(x <= 0, 0, sqrt(x)); }}, op::sqrt, {0, -1, -kInf}},
      {{"rsqrt", [](auto x) { return where(x > 0, rsqrt(x), 7); }}, op::rsqrt, {0, -2, kNaN}},
      {{"log", [](auto x) { return where(x > 0, log(x), 0); }}, op::log, {0, -1, kNaN}},
      {{"x_log_x", [](auto x) { return where(x > 0, x * log(x), 0); }},
       {"own", [](auto x) { return x * log(x); }},
       {0, -1, -kInf}},
      {{"quotient", [](auto x) { return where(x != 0, sin(x) / x, 1); }},
       {"own", [](auto x) { return sin(x) / x; }},
       {0, -0.0}},
      {{"power", [](auto x) { return where(x > 0, pow(x, 0.3), 0); }},
       {"own", [](auto x) { return pow(x, 0.3); }},
       {0, -1}},
      {{"nested", [](auto x) { return where(x < 2, where(x > 0, sqrt(x) * log(x), 0) * exp(x), 3); }},
       {"own", [](auto x) { return sqrt(x) * log(x) * exp(x); }},
       {0, -1, 2, 3, kInf}},
      {{"large", [](auto x) { return where(x < 10, exp(x) * x, x * 0); }},
       {"own", [](auto x) { return exp(x) * x; }},
       {1000, kInf}},
      {{"shared",
        [](auto x) {
          auto s = sqrt(x);
          return where(x > 0, s, 0) + where(x > 1e-3, s * s * s, 0);
        }},
       {"own",
        [](auto x) {
          auto s = sqrt(x);
          return s + s * s * s;
        }},
       {0, -1}},
      {{"chained",
        [](auto x) {
          auto s = sqrt(x), t = log(s) + 1 / s;
          return where(x > 0, t * s, 0);
        }},
       {"own",
        [](auto x) {
          auto s = sqrt(x);
          return (log(s) + 1 / s) * s;
        }},
       {0, -1}},
      {{"maximum", [](auto x) { return maximum(log(x), -5); }}, op::log, {0, 1e-4}},
      {{"relu_log", [](auto x) { return relu(log(x)); }}, op::log, {0, 0.5}, {1.5, 3}},
      {{"call", [](auto x) { return where(x > 0, silu(log(x)), 0); }},
       {"own", [](auto x) { return silu(log(x)); }},
       {0, -1}},
      {{"softplus", [](auto x) { return where(x > 0, sqrt(softplus(-1 / x)), 0); }},
       {"own", [](auto x) { return sqrt(softplus(-1 / x)); }},
       {0}},
  };
  return list;
}

TEST_P(MaskedBranches, ContributeNothing) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
    for (const MaskedCase& c : cases()) {
      if (test::left_out(device(), 3)) continue;
      // Kernels of higher orders take a software GPU's compiler seconds each.
      const std::size_t orders = device() == cpu() ? 3 : dtype == DType::f32 ? 2 : 1;
      std::array<std::vector<double>, 3> masked, open, want;
      try {
        masked = derivatives(c.formula, c.masked, dtype, device(), orders);
        open = derivatives(c.formula, c.open, dtype, device(), orders);
        want = derivatives(c.branch, c.open, cpu() == device() ? dtype : DType::f64, cpu(), orders);
      } catch (const UnsupportedDType&) {
        continue;
      }
      for (std::size_t order = 0; order < orders; ++order) {
        const std::string what = std::string(c.formula.name()) + ", " + std::string(to_string(dtype)) + ", order " +
                                 std::to_string(order + 1);
        for (std::size_t i = 0; i < c.masked.size(); ++i)
          EXPECT_EQ(masked[order][i], 0) << what << " at " << c.masked[i];
        for (std::size_t i = 0; i < c.open.size(); ++i)
          EXPECT_NEAR(open[order][i], want[order][i],
                      (dtype == DType::f64   ? 1e-13
                       : dtype == DType::f32 ? 1e-5
                                             : 5e-2) *
                          (1 + std::fabs(want[order][i])))
              << what << " at " << c.open[i];
      }
    }
}

/// Two operands in one branch, and a branch beside what is always there.
TEST_P(MaskedBranches, OfSeveralOperands) {
  constexpr Pointwise ratio{"ratio",
                            [](auto a, auto b, auto c) { return where(b > 0, sqrt(a) * log(b) / b, 0) + a * b * c; }};
  const Var a(tensor({0.0f, 0.0f, 4.0f})), b(tensor({0.0f, -2.0f, 1.0f})), c(tensor({3.0f, 5.0f, 7.0f}));
  const Gradients g = backward(sum(ratio(a, b, c)), {.create_graph = true});
  EXPECT_EQ(test::doubles(g[a]), (std::vector<double>{0, -10, 7}));
  EXPECT_EQ(test::doubles(g[b]), (std::vector<double>{0, 0, 30}));
  const Gradients again = backward(sum(g.var(a) * g.var(b)));
  for (const Var& x : {a, b, c})
    for (const double v : test::doubles(again[x])) EXPECT_TRUE(std::isfinite(v));
}

/// In rows, and as the epilogue of a product.
TEST_P(MaskedBranches, InRowsAndEpilogues) {
  constexpr Pointwise entropy{"entropy", [](auto p) { return p * 0 - sum(where(p > 0, p * log(p), 0)); }};
  const Var p(tensor({0.0f, 0.25f, 0.75f, 1.0f, 0.0f, 0.0f}, {2, 3}));
  const Gradients g = backward(sum(row_formula(entropy, p)));
  const std::vector<double> got = test::doubles(g[p]);
  const double want[] = {0, -3 * (std::log(0.25) + 1), -3 * (std::log(0.75) + 1), -3, 0, 0};
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5);
  const Var x(tensor({0.0f, 1.0f, -1.0f, 4.0f}, {4, 1})), w(tensor({1.0f}, {1, 1}));
  const Var y = matmul_epilogue(x, w, [](auto acc) { return where(acc > 0, sqrt(acc), 0); });
  EXPECT_EQ(test::doubles(backward(sum(y))[x]), (std::vector<double>{0, 0.5, 0, 0.25}));
}

/// Whole rows, by what is reduced, beneath single elements.
TEST_P(MaskedBranches, OfRowsWithinThoseOfElements) {
  constexpr Pointwise root{"root", [](auto x) { return where(x > 0, where(sum(x) > 0, x * sqrt(sum(x)), 1), 2); }};
  const Var x(tensor({1.0f, -2.0f, 0.0f, 0.0f, 1.0f, 3.0f}, {3, 2}));
  const Gradients first = backward(sum(row_formula(root, x)), {.create_graph = true});
  EXPECT_EQ(test::doubles(first[x]), (std::vector<double>{0, 0, 0, 0, 3, 3}));
  const Gradients second = backward(sum(first.var(x)));  // 2·1.5·√s by each of both
  EXPECT_EQ(test::doubles(second[x]), (std::vector<double>{0, 0, 0, 0, 0.75, 0.75}));
  constexpr Pointwise several{"several", [](auto x, auto y) {
                                const auto row = where(sum(y) > 0, x * sqrt(sum(y)), y);
                                return where(x > 0, where(y > 0, y * row, y), row);
                              }};
  const Var y(tensor({-1.0f, -2.0f, 0.0f, 0.0f, 1.0f, 3.0f}, {3, 2}));
  const Gradients g = backward(sum(row_formula(several, x, y)), {.create_graph = true});
  const Gradients again = backward(sum(g.var(x)) + sum(g.var(y)));
  for (const Gradients* order : {&g, &again})
    for (const Var& v : {x, y})
      for (const double value : test::doubles((*order)[v])) EXPECT_TRUE(std::isfinite(value));
}

/// matmul_bias_activation_bwd: only a derivative that is not finite counts as 0, a NaN that arrives stays.
TEST_P(MaskedBranches, NaNThatArrivesStays) {
  constexpr Pointwise root{"root", [](auto x) { return sqrt(x); }};
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    if (test::in_software(device()) && dtype != DType::f32) continue;
    Tensor pre, grad, a, b, bias;
    try {
      pre = tensor({0.0f, 0.0f, 1.0f, 1.0f, float(kNaN), float(kNaN), -1.0f, -1.0f}, {8, 1}).to(dtype);
      grad = tensor({2.0f, float(kNaN), 2.0f, float(kNaN), 2.0f, float(kNaN), 2.0f, float(kNaN)}, {8, 1}).to(dtype);
      a = ones({8, 1}, dtype), b = ones({1, 1}, dtype), bias = zeros({1}, dtype);
    } catch (const UnsupportedDType&) {
      continue;
    }
    for (const Pointwise<>* f :
         {&op::relu, &op::gelu, &op::silu, &op::elu, &op::tanh, &op::identity, &op::sigmoid, &root}) {
      const auto d = matmul_bias_activation_bwd(grad, a, b, bias, *f, {.pre_activation = pre});
      const std::vector<double> got = test::doubles(d.d_a);
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_EQ(std::isnan(got[i]), i % 2 == 1) << f->name() << " " << to_string(dtype) << " " << i << ": " << got[i];
      EXPECT_TRUE(f != &root || got[0] == 0) << "an infinite derivative counts as 0";
    }
  }
}
TERN_EVERY_DEVICE(MaskedBranches);

}  // namespace
}  // namespace tern
