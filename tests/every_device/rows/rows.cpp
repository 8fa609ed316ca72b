// Formulas with reductions along the last axis: values, and gradients of operands broadcast along it and across it.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Rows : public EveryDevice {};

/// A user's own norm: x over the root of its mean square, plus an offset.
constexpr Pointwise own_norm{"own_norm", [](auto x, auto offset) { return x * rsqrt(mean(x * x) + 0.5) + offset; }};

TEST_P(Rows, UsersNorm) {
  if (refuses_f64(device())) return;
  const std::vector<double> x{1, 2, 3, -1, 0.5, 4};
  const std::vector<double> got =
      doubles(row_formula(own_norm, tensor(x, {2, 3}), tensor(std::vector<double>{10, 20, 30})));
  for (std::size_t r = 0; r < 2; ++r) {
    double mean_square = 0;
    for (std::size_t i = 0; i < 3; ++i) mean_square += x[3 * r + i] * x[3 * r + i] / 3;
    for (std::size_t i = 0; i < 3; ++i)  // five roundings of values near 30
      EXPECT_NEAR(got[3 * r + i], x[3 * r + i] / std::sqrt(mean_square + 0.5) + 10.0 * static_cast<double>(i + 1),
                  5 * 30 * 1.2e-16);
  }
}

/// A reduced number counts once for each element, however long the rows are.
TEST_P(Rows, OfNumbers) {
  constexpr Pointwise ratio{"ratio", [](auto x, auto w) { return sum(x) / sum(w); }};
  for (const auto& [rows, length] : {std::pair{1000, 10}, {3, 1000}, {4, 4096}, {2, 20000}})
    expect_values(row_formula(ratio, ones({rows, length}), 2.0), {rows, 1},
                  std::vector<double>(static_cast<std::size_t>(rows), 0.5), std::to_string(length));
}
TEST_P(Rows, GradientsOfBroadcastOperandsToSecondOrder) {
  if (refuses_f64(device())) return;
  const Tensor x = tensor(std::vector<double>{0.3, -0.8, 1.1, 0.4, 0.9, -0.2}, {2, 3});
  const Tensor row = tensor(std::vector<double>{0.7, 1.3, -0.4}),
               column = tensor(std::vector<double>{0.6, 1.7}, {2, 1});
  for (const Tensor& other : {row, column, x}) {
    const auto f = [](Var a, Var b) { return row_formula(own_norm, a, b); };
    EXPECT_TRUE(gradcheck(f, x, other)) << gradcheck(f, x, other).message;
    EXPECT_TRUE(gradcheck(f, column, row));
    const auto mixed = [](Var a, Var b) {
      const Pointwise s{"s", [](auto u, auto v) { return sum(u * u * v + tanh(v)); }};
      const auto [g, h] = grad([&](Var p, Var q) { return sum(row_formula(s, p, q)); })(a, b);
      return sum(g * g) + sum(h * h * h);
    };
    EXPECT_TRUE(gradcheck(mixed, x, other)) << gradcheck(mixed, x, other).message;
    EXPECT_TRUE(gradcheck(mixed, column, row)) << gradcheck(mixed, column, row).message;
  }
}

TEST_P(Rows, AnOperandBroadcastAlongTheReducedAxisCountsOnceForEachElement) {
  const Pointwise s{"s", [](auto a, auto b) { return sum(a + b); }};
  const Var x{tensor({2.0, 3.0}, {2, 1})}, y{tensor({1.0, 2.0}, {1, 2})};
  const Gradients g = backward(sum(row_formula(s, x, y)));
  EXPECT_EQ(doubles(g[x]), (std::vector<double>{2, 2}));
  EXPECT_EQ(doubles(g[y]), (std::vector<double>{2, 2}));
}

TEST_P(Rows, BackwardOfAFormulaReadsEachInputOnce) {
  const Pointwise loss{"loss", [](auto x, auto bias, auto y) { return sum(silu(x + bias) * y); }};
  const Var x{rand({64, 32}, Generator{1})}, bias{rand({32}, Generator{2})}, y{rand({64, 32}, Generator{3})};
  const Var rows = row_formula(loss, x, bias, y);
  const Tensor seed = ones({64, 1});
  const TraceCounts before = trace_counts();
  backward(rows, seed);
  const TraceCounts after = trace_counts();
  // x, y and bias (and the seed of each row) once; the bias gradient is summed from a full one in a second call.
  EXPECT_LE(after.calls - before.calls, 2);
  EXPECT_LE(after.bytes_read - before.bytes_read, 4 * (3 * 64 * 32 + 32 + 64));
}

TERN_EVERY_DEVICE(Rows);

}  // namespace
}  // namespace tern::test
