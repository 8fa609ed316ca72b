// Derivatives beyond the third, and of formulas of many arguments: every order of modes, against what is known exactly.
#include "every_device/gradients/derivatives.hpp"
#include "formula/graph.hpp"
#include "tern/checkpoint.hpp"

namespace tern::test {
namespace {

class HighOrders : public EveryDevice {
 protected:
  bool everything() const { return device() == cpu(); }
};
TERN_EVERY_DEVICE(HighOrders);

using ScalarFunction = std::function<Var(const Var&)>;

/// The derivative by the only element, in forward mode (F) or as a gradient (R); the leftmost is the outermost.
ScalarFunction derivative_by_modes(ScalarFunction f, const std::string& modes) {
  for (auto mode = modes.rbegin(); mode != modes.rend(); ++mode) {
    if (*mode == 'F') f = [f](const Var& x) { return jvp(f, x, ones({1})).result; };
    else f = [f](const Var& x) { return sum(grad(f)(x)); };
  }
  return [f](const Var& x) { return sum(f(x)); };
}
std::vector<std::string> all_modes(int order) {
  std::vector<std::string> all{""};
  for (int i = 0; i < order; ++i) {
    std::vector<std::string> longer;
    for (const std::string& m : all) longer.push_back(m + 'F'), longer.push_back(m + 'R');
    all = std::move(longer);
  }
  return all;
}
/// Each a function with its exact derivative at 1. Devices that compile a kernel for every derivative take one mode.
void check_orders(const char* name, const ScalarFunction& f, int order, double want, bool everything) {
  const Var x(ones({1}));
  const auto n = static_cast<std::size_t>(order);
  std::vector<std::string> modes = all_modes(order);
  if (!everything) modes = {order % 2 ? std::string(n - 1, 'F') + 'R' : std::string(n - 1, 'R') + 'F'};
  for (const std::string& m : modes)
    EXPECT_NEAR(doubles(derivative_by_modes(f, m)(x))[0], want, 1e-4 * std::max(1.0, std::abs(want)))
        << name << " " << m;
}

TEST_P(HighOrders, OfProducts) {
  const int highest = everything() ? 5 : 4;
  double factor = 1;
  for (int order = 1; order <= highest; ++order) {
    factor *= 6 - order;
    check_orders(
        "x^5", [](const Var& x) { return x * x * x * x * x; }, order, factor, everything());
    check_orders(
        "x^6", [](const Var& x) { return square(x) * square(x) * square(x); }, order, 6 * factor / (6 - order),
        everything());
    check_orders(
        "clamped", [](const Var& x) { return clamp(x, -2, 2) * x * x * x * x; }, order, factor, everything());
  }
}
TEST_P(HighOrders, OfFormulas) {
  constexpr Pointwise lerp{"lerp", [](auto a, auto b, auto t) { return a * (1 - t) + b * t; }};
  constexpr Pointwise three{"three", [](auto a, auto b, auto c) { return a * b * c; }};
  double powers[2] = {1, 1};  // derivatives of x⁵ and x⁴ at 1; lerp's is x² - x⁴ + x⁵
  for (int order = 1; order <= (everything() ? 5 : 2); ++order) {
    powers[0] *= 6 - order, powers[1] *= order <= 4 ? 5 - order : 0;
    const double squares = order == 1 ? 2 : order == 2 ? 2 : 0;
    check_orders(
        "lerp", [&](const Var& x) { return lerp(x * x, x * x * x, x * x); }, order, squares - powers[1] + powers[0],
        everything());
    check_orders(
        "three", [&](const Var& x) { return three(x, x * x, x * x); }, order, powers[0], everything());
  }
}
TEST_P(HighOrders, OfRowsProductsAndQuotients) {
  // Derivatives of sin(x)/x at 1 (by its series), orders 1 to 4.
  const double quotient[] = {-0.30116867893975674, -0.23913362692838303, 0.17709857491700906, 0.13307668513986023};
  double factor = 1;
  for (int order = 1; order <= (everything() ? 4 : 3); ++order) {
    factor *= 6 - order;
    check_orders(
        "sin(x)/x", [](const Var& x) { return sin(x) / x; }, order, quotient[order - 1], everything());
    check_orders(
        "an epilogue",
        [](const Var& x) {
          return matmul_epilogue(
              x.reshape({1, 1}), x.reshape({1, 1}), [](auto acc, auto b) { return acc * acc * b; }, x);
        },
        order, factor, everything());
    check_orders(
        "rows",
        [](const Var& x) {
          constexpr Pointwise cubes{"cubes", [](auto a, auto b) { return sum(a * a * b) * a * b; }};
          return row_formula(cubes, x.reshape({1, 1}), x.reshape({1, 1}));
        },
        order, factor, everything());
    check_orders(
        "checkpoint", [](const Var& x) { return checkpoint([](const Var& v) { return v * v * v * v * v; })(x); }, order,
        factor, everything());
  }
}

template <class... A> auto product_of_all(A... a) { return (a * ...); }
TEST_P(HighOrders, OfManyArguments) {
  constexpr Pointwise six{
      "six", [](auto a, auto b, auto c, auto d, auto e, auto f) { return product_of_all(a, b, c, d, e, f); }};
  constexpr Pointwise twelve{
      "twelve", [](auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h, auto i, auto j, auto k, auto l) {
        return product_of_all(a, b, c, d, e, f, g, h, i, j, k, l);
      }};
  double of_sixth = 1, of_twelfth = 1;
  for (int order = 1; order <= (everything() ? 4 : 2); ++order) {
    of_sixth *= 7 - order, of_twelfth *= 13 - order;
    check_orders(
        "six", [&](const Var& x) { return six(x, x, x, x, x, x); }, order, of_sixth, everything());
    check_orders(
        "twelve", [&](const Var& x) { return twelve(x, x, x, x, x, x, x, x, x, x, x, x); }, order, of_twelfth,
        everything() && order < 4);
  }
}
TEST_P(HighOrders, OfManyCapturedNumbers) {
  std::array<double, 28> c{};
  double total = 0;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = 0.25 * static_cast<double>(i % 5 + 1), total += c[i];
  const Pointwise weighted{
      "weighted", [c](auto a, auto b, auto d, auto e, auto f, auto g, auto h, auto i, auto j, auto k, auto l, auto m) {
        const std::array all{a, b, d, e, f, g, h, i, j, k, l, m};
        auto sum_of = c[0] * all[0] * all[1] * all[2] * all[3];
        for (std::size_t n = 1; n < c.size(); ++n)
          sum_of = sum_of + c[n] * all[n % 12] * all[(n + 5) % 12] * all[(n + 3) % 12] * all[(n + 8) % 12];
        return sum_of;
      }};
  const double of_fourth[] = {4, 12, 24};
  for (int order = 1; order <= (everything() ? 3 : 2); ++order)
    check_orders(
        "weighted", [&](const Var& x) { return weighted(x, x, x, x, x, x, x, x, x, x, x, x); }, order,
        total * of_fourth[order - 1], everything());
}
/// To order 4 in each argument by one elementary function, beyond by that of lower ones.
TEST_P(HighOrders, OfPowers) {
  const double of_both[] = {1, 2, 3, 8, 10, 54};  // of x^x (OEIS A005727)
  double falling = 1;
  for (int order = 1; order <= (everything() ? 6 : 3); ++order) {
    falling *= 6.5 - order;
    const bool all = everything() && order <= 4;
    check_orders(
        "x^5.5", [](const Var& x) { return pow(x, 5.5); }, order, falling, all);
    check_orders(
        "2^x", [](const Var& x) { return pow(2, x); }, order, 2 * std::pow(std::log(2.0), order), all);
    check_orders(
        "x^x", [](const Var& x) { return pow(x, x); }, order, of_both[order - 1], all);
  }
}
/// An output that is the same number as a literal of another's derivative is not read in its place.
TEST_P(HighOrders, OfPowersBesideANumber) {
  constexpr Pointwise beside{"beside", [](auto x) {
                               auto t = tanh(x);
                               return std::array{t, pow(t, 2.5), decltype(t)(1)};
                             }};
  const double t = std::tanh(1.0), s = 1 - t * t;
  const double want[] = {2.5 * std::pow(t, 1.5) * s, 3.75 * std::sqrt(t) * s * s - 5 * std::pow(t, 2.5) * s};
  for (int order = 1; order <= 2; ++order)
    check_orders(
        "beside", [&](const Var& x) { return beside(x)[1]; }, order, want[order - 1], true);
}
/// Where a factor is 0 the derivative is, though the power is infinite.
TEST_P(HighOrders, OfPowersAtSmallNumbers) {
  const Tensor x = tensor({0., 1e-30, 1e-20, 0.5}).to(f32);
  for (const int exponent : {0, 1, 2, 3}) {
    const auto slope = [&](const Var& v) { return grad([&](const Var& u) { return sum(pow(u, exponent)); })(v); };
    const auto second = [&](const Var& v) { return grad([&](const Var& u) { return sum(slope(u)); })(v); };
    const Tensor third = grad([&](const Var& u) { return sum(second(u)); })(x);
    const double e = exponent;
    expect_values(third, {4}, std::vector<double>(4, e * (e - 1) * (e - 2)));
    // Of both arguments, along the base. (By both, 0^0 has an infinite one.)
    const Tensor positive = x + 0x1p-64;
    const auto along = hvp([](const Var& a, const Var& b) { return sum(pow(a, b)); },
                           std::tuple{positive, full({4}, e)}, std::tuple{ones({4}), zeros({4})});
    std::vector<double> want;
    for (const double v : doubles(positive)) want.push_back(exponent == 3 ? 6 * v : e * (e - 1));
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(doubles(std::get<0>(along))[i], want[i], 1e-6 * want[i]) << exponent;
  }
}
/// The n-th derivative of a function whose first is (1 - x²)^-1/2, or its kin, is P(x)·(1 - x²)^-power with a
/// polynomial P whose signs are alike, so that at the ends of the domain it is infinite.
struct InverseFunction {
  const char* name;
  ScalarFunction f;
  double first_power;  // of the first derivative
  bool outside;        // of x² - 1, for x of 1 and more
};
/// The polynomial of the n-th, and the power below it: P' · (1 - x²) + 2·power·x·P.
double inverse_derivative(const InverseFunction& of, int order, double x) {
  std::vector<double> p{1};
  double power = of.first_power;
  const double sign = of.outside ? -1 : 1;  // of 1 - x²
  for (int n = 1; n < order; ++n, power += 1) {
    std::vector<double> next(p.size() + 1, 0.0);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double slope = static_cast<double>(i) * p[i];
      if (i > 0) next[i - 1] += sign * slope;
      next[i + 1] += sign * (2 * power * p[i] - slope);
    }
    p = std::move(next);
  }
  double value = 0;
  for (std::size_t i = p.size(); i-- > 0;) value = value * x + p[i];
  return value / std::pow(of.outside ? (x - 1) * (x + 1) : (1 - x) * (1 + x), power);
}
TEST_P(HighOrders, OfInverseFunctionsUpToTheEnds) {
  const InverseFunction all[] = {{"asin", [](const Var& x) { return asin(x); }, 0.5, false},
                                 {"atanh", [](const Var& x) { return atanh(x); }, 1, false},
                                 {"acosh", [](const Var& x) { return acosh(x); }, 0.5, true}};
  for (const InverseFunction& of : all)
    for (int order = 1; order <= (everything() ? 6 : 5); ++order) {
      SCOPED_TRACE(std::string(of.name) + ", order " + std::to_string(order));
      const auto f = derivative_by_modes(of.f, std::string(static_cast<std::size_t>(order), 'R'));
      const auto at = [&](double x) { return doubles(f(Var(tensor({x}))))[0]; };
      for (const double inside : {0.25, -0.5, 0.75}) {
        const double x = of.outside ? 1 + std::abs(inside) : inside, want = inverse_derivative(of, order, x);
        EXPECT_NEAR(at(x), want, 1e-5 * order * std::abs(want)) << x;
      }
      EXPECT_EQ(at(1), of.outside && order % 2 == 0 ? -INFINITY : INFINITY);
      if (!of.outside) {
        EXPECT_EQ(at(-1), order % 2 == 0 ? -INFINITY : INFINITY);
      }
    }
}
/// What no longer fits is an error that says so, not a wrong derivative. (A sixth derivative of twelve arguments fits.)
TEST(FormulaInputs, MoreThanThereCanBeAreAnError) {
  const Expr x = detail::make_input(0);
  const int most = static_cast<int>(detail::kMostInputs);
  EXPECT_EQ(detail::make_graph({&x, 1}, most)->inputs, most);
  try {
    detail::make_graph({&x, 1}, most + 1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("lower order"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tern::test
