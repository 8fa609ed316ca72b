// Everyday functions of more than one argument, with parameters, or with a boolean result: values written by hand.
#include <cmath>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

constexpr float kFloatInf = std::numeric_limits<float>::infinity(), kFloatNaN = std::numeric_limits<float>::quiet_NaN();
using Predicates = std::vector<bool>;

class Functions : public EveryDevice {};
TERN_EVERY_DEVICE(Functions);

Predicates predicates(const Tensor& t) { return t.to_vector<bool>(); }

TEST_P(Functions, WhatKindOfNumber) {
  const Tensor x = tensor({1.0f, -0.0f, kFloatInf, -kFloatInf, kFloatNaN});
  EXPECT_EQ(predicates(isnan(x)), (Predicates{false, false, false, false, true}));
  EXPECT_EQ(predicates(isinf(x)), (Predicates{false, false, true, true, false}));
  EXPECT_EQ(predicates(x.isfinite()), (Predicates{true, true, false, false, false}));
  EXPECT_EQ(predicates(signbit(tensor({1.0f, -0.0f, 0.0f, -kFloatInf, -3.0f}))),
            (Predicates{false, true, false, true, true}));
  const Tensor whole = tensor({-2, 0, 3});
  EXPECT_EQ(predicates(isnan(whole)), (Predicates{false, false, false}));
  EXPECT_EQ(predicates(isinf(whole)), (Predicates{false, false, false}));
  EXPECT_EQ(predicates(isfinite(whole)), (Predicates{true, true, true}));
  EXPECT_EQ(predicates(signbit(whole)), (Predicates{true, false, false}));
  static_assert(std::same_as<decltype(isnan(Var())), Tensor>);
}

TEST_P(Functions, Logical) {
  const Tensor a = tensor({0.0f, 0.0f, 2.0f, -1.0f}), b = tensor({0.0f, 3.0f, 0.0f, 0.5f});
  EXPECT_EQ(predicates(logical_and(a, b)), (Predicates{false, false, false, true}));
  EXPECT_EQ(predicates(logical_or(a, b)), (Predicates{false, true, true, true}));
  EXPECT_EQ(predicates(logical_xor(a, b)), (Predicates{false, true, true, false}));
  EXPECT_EQ(predicates(logical_not(tensor({0, 7}))), (Predicates{true, false}));
  EXPECT_EQ(predicates(logical_and(tensor({true, false}), tensor({true, true}))), (Predicates{true, false}));
}

TEST_P(Functions, LogicalOperators) {
  const Tensor x = tensor({-1.0, 0.0, 0.25, 2.0});
  expect_values(x > 0 && x < 1, {4}, {0, 0, 1, 0});
  expect_values(x < 0 || !(x < 1), {4}, {1, 0, 0, 1});
  expect_values(!x, {4}, {0, 1, 0, 0});
  expect_values(+x, {4}, {-1, 0, 0.25, 2});
  constexpr Pointwise inside{"inside", [](auto v) { return where(v > 0 && !(v > 1), +v, 0); }};
  expect_values(inside(x), {4}, {0, 0, 0.25, 0});
  const Var v(x);
  expect_values(backward(sum(inside(v)))[v], {4}, {0, 0, 1, 0});
}

TEST_P(Functions, RemaindersOfC) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> a{-3.5, 3.5, -3.5, 3.5, -0.0, -3, inf, 1, nan, 4}, b{2, -2, -2, 2, 3, inf, 1, 0, 1, 0.25};
  std::vector<double> want;
  for (std::size_t i = 0; i < a.size(); ++i) want.push_back(std::fmod(a[i], b[i]));
  const auto got = fmod(tensor(a, f32), tensor(b, f32)).to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(want[i])) EXPECT_TRUE(std::isnan(got[i])) << i;
    else EXPECT_EQ(got[i], static_cast<float>(want[i])) << i;
  }
  EXPECT_TRUE(std::signbit(got[4]));
}

TEST_P(Functions, BetweenPoints) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor points = tensor({0.0, 1.0, 3.0}), values = tensor({10.0, 20.0, 0.0});
  const auto got = interp(tensor({-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0, nan}), points, values).to_vector<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end() - 1), (std::vector<float>{10, 10, 15, 20, 10, 0, 0}));
  EXPECT_TRUE(std::isnan(got.back()));
  expect_values(interp(tensor({-1.0, 9.0}), tensor({1.0}), tensor({7.0})), {2}, {7, 7});
  EXPECT_EQ(interp(zeros({0, 2}), points, values).shape(), Shape({0, 2}));
  const Var at(tensor({0.5, 2.0, 4.0, 0.0, 1.0, 3.0})), v(values), p(points);
  const Gradients g = backward(sum(interp(at, p, v)));
  expect_values(g[at], {6}, {10, -10, 0, 0, 10, -10});  // at a point that from the left
  expect_values(g[v], {3}, {1.5, 2, 2.5});
  expect_values(g[p], {3}, {-5, -10, 15});
}

TEST_P(Functions, Close) {
  const Tensor a = tensor({1.0f, 1.0f, kFloatInf, kFloatInf, kFloatNaN, 5.0f}),
               b = tensor({1.000001f, 1.1f, kFloatInf, -kFloatInf, kFloatNaN, kFloatInf});
  EXPECT_EQ(predicates(isclose(a, b)), (Predicates{true, false, true, false, false, false}));
  EXPECT_EQ(predicates(isclose(a, b, 0.2, 0)), (Predicates{true, true, true, false, false, false}));
  EXPECT_EQ(predicates(isclose(a, b, 0.2, 0, true)), (Predicates{true, true, true, false, true, false}));
  const Tensor low = tensor({0, INT32_MIN, INT32_MIN, 5}), high = tensor({1, INT32_MAX, INT32_MAX - 1, 3});
  EXPECT_EQ(predicates(isclose(low, high, 0, 1)), (Predicates{true, false, false, false}));
  EXPECT_EQ(predicates(isclose(high, low, 0, INT32_MAX)), (Predicates{true, false, false, true}));
  EXPECT_EQ(predicates(isclose(low.slice(0, 0, 1).to(u32), high.slice(0, 0, 1).to(u32), 0, 1)), (Predicates{true}));
  EXPECT_EQ(predicates(isclose(full({1}, 255, u8), full({1}, 250, u8), 0, 5)), (Predicates{true}));
  EXPECT_EQ(predicates(isclose(full({1}, -128, i8), full({1}, 127, i8), 0, 127)), (Predicates{false}));
}

TEST_P(Functions, NumbersForWhatIsNone) {
  const Tensor x = tensor({1.0f, kFloatNaN, kFloatInf, -kFloatInf});
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(nan_to_num(x).to_vector<float>(), (std::vector<float>{1, 0, most, -most}));
  EXPECT_EQ(nan_to_num(x, 2, 3, 4).to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(nan_to_num(x.to(f16)).to(f32).to_vector<float>(), (std::vector<float>{1, 0, 65504, -65504}));
  EXPECT_EQ(nan_to_num(tensor({-2, 5})).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-2, 5}));
}

TEST_P(Functions, AnglesAtTheEdges) {
  const std::vector<float> edges = {0.0f,       -0.0f,     1.0f,  -2.5f,  kFloatInf,
                                    -kFloatInf, kFloatNaN, 3e38f, -3e38f, 1.2e-38f};
  std::vector<float> ys, xs;
  for (const float y : edges)
    for (const float x : edges) ys.push_back(y), xs.push_back(x);
  const std::vector<float> got = atan2(tensor(ys), tensor(xs)).to_vector<float>();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float want = std::atan2(ys[i], xs[i]);
    SCOPED_TRACE(std::to_string(ys[i]) + ", " + std::to_string(xs[i]));
    if (want != want) {
      EXPECT_TRUE(got[i] != got[i]) << got[i];
    } else if (std::fabs(want) > 1e-37f || want == 0) {
      EXPECT_NEAR(got[i], want, 4e-7f * std::fabs(want));
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want));
    }
  }
}

TEST_P(Functions, WithParameters) {
  const Tensor x = tensor({-1.0f, 2.0f});
  const auto near = [](const Tensor& got, double first, double second) {
    const std::vector<float> y = got.to_vector<float>();
    EXPECT_NEAR(y[0], first, 1e-6);
    EXPECT_NEAR(y[1], second, 1e-6);
  };
  near(elu(x), std::expm1(-1.0), 2), near(elu(x, 0.5), 0.5 * std::expm1(-1.0), 2);
  near(celu(x), std::expm1(-1.0), 2), near(celu(x, 2), 2 * std::expm1(-0.5), 2);
  near(leaky_relu(x), -0.01, 2), near(leaky_relu(x, 0.2), -0.2, 2);
  near(softplus(x), std::log1p(std::exp(-1.0)), std::log1p(std::exp(2.0)));
  near(softplus(x, 2), std::log1p(std::exp(-2.0)) / 2, std::log1p(std::exp(4.0)) / 2);
  near(prelu(x, tensor({0.25f, 0.5f})), -0.25, 2);
  near(lerp(x, tensor({3.0f, 4.0f}), 0.25), 0, 2.5);
  near(xlogy(tensor({0.0f, 2.0f}), tensor({0.0f, 3.0f})), 0, 2 * std::log(3.0));
  near(logaddexp(tensor({-kFloatInf, 1.0f}), tensor({2.0f, 3.0f})), 2, std::log(std::exp(1.0) + std::exp(3.0)));
  EXPECT_EQ(logaddexp(tensor({kFloatInf, -kFloatInf}), tensor({kFloatInf, -kFloatInf})).to_vector<float>(),
            (std::vector<float>{kFloatInf, -kFloatInf}));
  near(copysign(tensor({3.0f, -3.0f}), tensor({-0.0f, 2.0f})), -3, 3);
  expect_error(ErrorKind::shape, {"elu", "1", "3"}, [&] { (void)elu(x, 1, 2); });
}

TEST_P(Functions, DerivativesAtTheEndsAreInfiniteNotNaN) {
  if (refuses_f64(device())) return;
  const auto orders = [](const auto& f, double at) {
    std::vector<double> result;
    const Var x(tensor(std::vector<double>{at}));
    Var y = f(x);
    for (int i = 0; i < 3; ++i) {
      const Gradients g = backward(y, ones({1}, f64), {.create_graph = true});
      y = g.var(x);
      result.push_back(y.to_vector<double>()[0]);
    }
    return result;
  };
  const double inf = std::numeric_limits<double>::infinity();
  using Orders = std::vector<double>;
  EXPECT_EQ(orders([](const Var& x) { return asin(x); }, 1), (Orders{inf, inf, inf}));
  EXPECT_EQ(orders([](const Var& x) { return asin(x); }, -1), (Orders{inf, -inf, inf}));
  EXPECT_EQ(orders([](const Var& x) { return acos(x); }, 1), (Orders{-inf, -inf, -inf}));
  EXPECT_EQ(orders([](const Var& x) { return acosh(x); }, 1), (Orders{inf, -inf, inf}));
  EXPECT_EQ(orders([](const Var& x) { return atanh(x); }, 1), (Orders{inf, inf, inf}));
  EXPECT_EQ(orders([](const Var& x) { return cbrt(x); }, 0), (Orders{inf, -inf, inf}));
  const auto near = [](const Orders& got, const Orders& want) {
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-14) << "order " << i + 1;
  };
  near(orders([](const Var& x) { return sinh(x); }, 0), {1, 0, 1});
  near(orders([](const Var& x) { return cosh(x); }, 0), {0, 1, 0});
  near(orders([](const Var& x) { return atan(x); }, 0), {1, 0, -2});
  near(orders([](const Var& x) { return asinh(x); }, 0), {1, 0, -1});
  near(orders([](const Var& x) { return sinc(x); }, 0), {0, -3.289868133696453, 0});
}

TEST_P(Functions, HypotHasNoGradientAtNothing) {
  const Var a(tensor({0.0f, 3.0f})), b(tensor({0.0f, 4.0f}));
  const Gradients g = backward(hypot(a, b), ones({2}));
  EXPECT_EQ(g[a].to_vector<float>()[0], 0);
  EXPECT_NEAR(g[a].to_vector<float>()[1], 0.6, 1e-6);
}

}  // namespace
}  // namespace tern::test
