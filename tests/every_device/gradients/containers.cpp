// Transforms over several variables and over containers, nested in every order, and Jacobians in both modes.
#include "every_device/gradients/derivatives.hpp"

namespace tern::test {

template <class T> struct Layer {
  T weight, bias;
  int width = 0;  // not a tensor: copied
};
struct Pendulum {  // no template: holds Vars
  Var angle, speed;
};
// By the macro, nested.
struct Pendulums {
  std::vector<Pendulum> all;
  std::array<Var, 2> ends;
};

}  // namespace tern::test

template <class T> struct tern::Fields<tern::test::Layer<T>> {
  static auto tie(auto& layer) { return std::tie(layer.weight, layer.bias); }
};
template <> struct tern::Fields<tern::test::Pendulum> {
  static auto tie(auto& p) { return std::tie(p.angle, p.speed); }
};
TERN_FIELDS(tern::test::Pendulums, all, ends)

namespace tern::test {
namespace {

class Containers : public InDouble {
 protected:
  Tensor of(const std::vector<double>& v, const Shape& s) { return make(v, s, f64, device()); }
};
TERN_EVERY_DEVICE_IN_DOUBLE(Containers);

TEST_P(Containers, GradOfVectorsArraysAndTuples) {
  const Tensor a = of({1, 2}, {2}), b = of({3}, {1});
  const auto vectors =
      grad([](const std::vector<Var>& v) { return sum(v[0] * v[0]) + sum(v[1] * v[0]); })(std::vector<Tensor>{a, b});
  expect_values(vectors[0], {2}, {5, 7}), expect_values(vectors[1], {1}, {3});
  const auto arrays = grad([](const std::array<Var, 2>& v) { return sum(v[0] * v[1]); })(std::array{a, b});
  EXPECT_TRUE((std::is_same_v<decltype(arrays), const std::array<Tensor, 2>>));
  expect_values(arrays[0], {2}, {3, 3});
  const auto [x, rest] = grad([](const Var& u, const std::pair<std::vector<Var>, Var>& p) {
    return sum(u * p.first[0] * p.second);
  })(a, std::pair{std::vector<Tensor>{a}, b});
  expect_values(x, {2}, {3, 6}), expect_values(rest.first[0], {2}, {3, 6}), expect_values(rest.second, {1}, {5});
  const auto [value, gradients] = value_and_grad(
      [](const std::tuple<Var, Var>& t) { return sum(std::get<0>(t) * std::get<1>(t)); })(std::tuple{a, b});
  expect_values(value, {}, {9}), expect_values(std::get<0>(gradients), {2}, {3, 3});
}
TEST_P(Containers, GradOfAggregates) {
  const Layer<Tensor> layer{of({1, 2}, {2}), of({3}, {1}), 7};
  const auto f = [](const Layer<Var>& l, const Var& x) { return sum(square(l.weight * x + l.bias)); };
  const auto [dl, dx] = grad(f)(layer, of({2, 1}, {2}));
  EXPECT_TRUE((std::is_same_v<std::remove_cvref_t<decltype(dl)>, Layer<Tensor>>));
  EXPECT_EQ(dl.width, 7);
  expect_values(dl.weight, {2}, {20, 10}), expect_values(dl.bias, {1}, {20}), expect_values(dx, {2}, {10, 20});
  const Pendulum p{Var(of({0.5}, {})), Var(of({2}, {}))};
  const auto energy = [](const Pendulum& q) { return q.speed * q.speed * q.angle; };
  const Pendulum g = grad(energy)(p), asked = grad(energy, {.create_graph = true})(p);
  expect_values(g.angle.value(), {}, {4}), expect_values(g.speed.value(), {}, {2});
  EXPECT_FALSE(g.angle.requires_grad());
  EXPECT_TRUE(asked.angle.requires_grad());
  const std::vector<Layer<Tensor>> layers{layer, layer};
  const auto all =
      grad([](const std::vector<Layer<Var>>& l) { return sum(l[0].weight * l[1].weight) + sum(l[1].bias); })(layers);
  expect_values(all[0].weight, {2}, {1, 2}), expect_values(all[0].bias, {1}, {0}), expect_values(all[1].bias, {1}, {1});
}
TEST_P(Containers, GradOfTypesThatTheMacroNames) {
  const auto v = [&](double value) { return Var(of({value}, {})); };
  const Pendulums p{{{v(2), v(3)}, {v(5), v(7)}}, {v(11), v(13)}};
  const auto f = [](const Pendulums& q) {
    return q.all[0].angle * q.all[0].speed * q.ends[1] + square(q.all[1].speed);
  };
  const Pendulums g = grad(f)(p);
  ASSERT_EQ(g.all.size(), 2u);
  expect_values(g.all[0].angle.value(), {}, {39}), expect_values(g.all[0].speed.value(), {}, {26});
  expect_values(g.all[1].angle.value(), {}, {0}), expect_values(g.all[1].speed.value(), {}, {14});
  expect_values(g.ends[0].value(), {}, {0}), expect_values(g.ends[1].value(), {}, {6});
  Pendulums moved = p;
  optim::SGD sgd(moved, {.learning_rate = 0.5});
  sgd.step(g);
  expect_values(moved.all[1].speed.value(), {}, {0});
}
TEST_P(Containers, GradOfOptionals) {
  using Part = std::pair<Layer<Tensor>, std::optional<Tensor>>;
  const Layer<Tensor> layer{of({1, 2}, {2}), of({3}, {1}), 7};
  const auto f = [](const std::pair<Layer<Var>, std::optional<Var>>& s) {
    const Var y = s.first.weight + s.first.bias;
    return sum(square(s.second ? y + *s.second : y));
  };
  const Part with = grad(f)(Part{layer, of({1}, {1})}), without = grad(f)(Part{layer, {}});
  expect_values(with.second.value(), {1}, {22}), expect_values(with.first.weight, {2}, {10, 12});
  EXPECT_FALSE(without.second.has_value());
  expect_values(without.first.weight, {2}, {8, 10});
}
/// Parameters in a container: plain gradients, unless they are asked for or are part of something that is
/// differentiated.
TEST_P(Containers, GradOfVarsInContainersIsPlainUnlessItIsDifferentiated) {
  const std::vector<Var> w{Var(of({1, 2}, {2})), Var(of({3}, {1}))};
  const auto f = [](const std::vector<Var>& v) { return sum(v[0] * v[0] * v[1]); };
  const auto [value, plain] = value_and_grad(f)(w);
  EXPECT_FALSE(value.requires_grad());
  EXPECT_FALSE(plain[0].requires_grad());
  expect_values(value.value(), {}, {15}), expect_values(plain[0].value(), {2}, {6, 12});
  const auto [tracked, asked] = value_and_grad(f, {.create_graph = true})(w);
  EXPECT_TRUE(tracked.requires_grad());
  EXPECT_TRUE(asked[0].requires_grad());
  expect_values(backward(sum(asked[0]))[w[1]], {1}, {6});
  const auto [du, dv] = grad([&](const Var& u, const std::vector<Var>& v) { return u * f(v); })(Var(of({2}, {})), w);
  EXPECT_TRUE(du.requires_grad());
  EXPECT_TRUE(dv[0].requires_grad()) << "a Var by itself asks";
  const std::vector<Var> made{w[0] * 2, w[1]};
  EXPECT_TRUE(grad(f)(made)[0].requires_grad()) << "an operation made one";
  // Inside a transform, also of what the function captures, and inside a recorded backward.
  const auto slope = [&](const Var& z) { return sum(grad([&](const std::vector<Var>& v) { return f(v) * z; })(w)[0]); };
  expect_values(grad(slope)(of({1}, {})), {}, {18});
  const auto total_slope = [&](const Var& z) { return sum(grad(f)(std::vector{z, w[1]})[0]); };
  expect_values(backward(checkpoint(total_slope)(w[0]))[w[0]], {2}, {6, 6});
  const auto doubled = custom_gradient([](const Tensor& t) { return t * t; }, [&](const Var& c, const Var& t) {
    return c * grad([](const std::vector<Var>& v) { return sum(v[0] * v[0]); })(std::vector{t})[0];
  });
  const Var t(of({3}, {}));
  const Gradients first = backward(doubled(t), {.create_graph = true});
  expect_values(backward(first.var(t))[t], {}, {2});
}
TEST_P(Containers, VjpAndJvpOfSeveralArgumentsAndResults) {
  const Tensor a = of({1, 2}, {2}), b = of({3, 4}, {2});
  const auto f = [](const Var& x, const Var& y) { return std::array{x * y, x + 2 * y, x * 1}; };
  const auto [value, gradient] =
      vjp(f, std::tuple{a, b}, std::array{of({1, 1}, {2}), of({1, 2}, {2}), of({0, 1}, {2})});
  expect_values(value[0], {2}, {3, 8});
  expect_values(std::get<0>(gradient), {2}, {4, 7}), expect_values(std::get<1>(gradient), {2}, {3, 6});
  const auto [same, change] = jvp(f, std::tuple{a, b}, std::tuple{of({1, 0}, {2}), of({0, 1}, {2})});
  expect_values(same[1], {2}, {7, 10});
  expect_values(change[0], {2}, {3, 2}), expect_values(change[1], {2}, {1, 2}), expect_values(change[2], {2}, {1, 0});
  const auto h = hvp([](const Var& x, const Var& y) { return sum(x * x * y); }, std::tuple{a, b},
                     std::tuple{of({1, 1}, {2}), of({1, 0}, {2})});
  expect_values(std::get<0>(h), {2}, {2 * 3 + 2, 2 * 4}), expect_values(std::get<1>(h), {2}, {2, 4});
  expect_error(ErrorKind::shape, {"vjp", "cotangent", "3", "1"}, [&] { vjp(f, std::tuple{a, b}, a); });
  expect_error(ErrorKind::shape, {"jvp", "tangent", "2", "1"}, [&] { jvp(f, std::tuple{a, b}, a); });
}
TEST_P(Containers, JacobiansAndHessiansOfContainers) {
  const Tensor a = of({1, 2}, {2}), b = of({3}, {1});
  const auto [ja, jb] = jacobian([](const Var& x, const Var& y) { return x * x * y; }, std::tuple{a, b});
  expect_values(ja, {2, 2}, {6, 0, 0, 12}), expect_values(jb, {2, 1}, {1, 4});
  const auto both = jacobian([](const Var& x) { return std::array{x * x, sum(x)}; }, a);
  expect_values(both[0], {2, 2}, {2, 0, 0, 4}), expect_values(both[1], {2}, {1, 1});
  const auto h = hessian([](const Var& x, const Var& y) { return sum(x * x * y); }, std::tuple{a, b});
  expect_values(std::get<0>(std::get<0>(h)), {2, 2}, {6, 0, 0, 6});
  expect_values(std::get<1>(std::get<0>(h)), {2, 1}, {2, 4});
  expect_values(std::get<0>(std::get<1>(h)), {1, 2}, {2, 4});
  expect_values(std::get<1>(std::get<1>(h)), {1, 1}, {0});
  const auto v = hessian([](const std::vector<Var>& x) { return sum(x[0] * x[1]); }, std::vector<Tensor>{a, a});
  expect_values(v[0][1], {2, 2}, {1, 0, 0, 1});
}

// ---- nesting ----
Var quartic(const Var& x) { return sum(pow(x, 4)) * sum(sin(x)); }
TEST_P(Containers, FourMixedOrdersAgree) {
  const Tensor x = random({4}), v = random({4});
  const std::vector<double> rows = doubles(hessian(quartic, x));
  const auto gradient = [](const Var& at) { return grad(quartic)(at); };
  const auto directional = [&](const Var& at) { return jvp(quartic, at, v).result; };
  const std::vector<std::pair<const char*, Tensor>> orders{
      {"reverse over reverse", hvp(quartic, x, v)},
      {"forward over reverse", jvp(gradient, x, v).result},
      {"reverse over forward", grad(directional)(x)},
  };
  std::vector<double> want(4);
  double twice = 0, size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) want[i] += rows[4 * i + j] * doubles(v)[j], size += std::abs(rows[4 * i + j]);
  for (std::size_t i = 0; i < 4; ++i) twice += want[i] * doubles(v)[i];
  const double tolerance = 64 * 0x1p-52 * (1 + size);
  for (const auto& [name, got] : orders)
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(doubles(got)[i], want[i], tolerance) << name;
  EXPECT_NEAR(jvp(directional, x, v).result.item<double>(), twice, 4 * tolerance) << "forward over forward";
}
TEST_P(Containers, TransformsOfTransformsAgainstDifferences) {
  const Tensor t = random({3}), w = random({3, 3});
  const auto f = [&](const Var& x) { return tanh(matmul(x, w)) * exp(x); };
  check_gradient("vjp", [&](const Var& x) { return weighted(vjp(f, x, t).result); }, random({3}));
  check_gradient("vjp in its cotangent", [&](const Var& c) { return weighted(vjp(f, Var(t), c).result); }, random({3}));
  check_gradient("jvp", [&](const Var& x) { return weighted(jvp(f, x, t).result); }, random({3}));
  check_gradient("jvp in its tangent", [&](const Var& c) { return weighted(jvp(f, Var(t), c).result); }, random({3}));
  check_gradient(
      "jvp of jvp",
      [&](const Var& x) { return weighted(jvp([&](const Var& y) { return jvp(f, y, t).result; }, x, t).result); },
      random({3}));
  check_gradient(
      "vjp of jvp",
      [&](const Var& x) { return weighted(vjp([&](const Var& y) { return jvp(f, y, t).result; }, x, t).result); },
      random({3}));
  for (const Mode mode : {Mode::forward, Mode::reverse}) {
    check_gradient("jacobian", [&](const Var& x) { return weighted(jacobian(f, x, mode)); }, random({3}));
    check_gradient(
        "hessian", [&](const Var& x) { return weighted(hessian([&](const Var& y) { return sum(f(y)); }, x, mode)); },
        random({3}));
  }
  check_gradient("value_and_grad", [&](const Var& x) {
    const auto [value, g] = value_and_grad([&](const Var& y) { return sum(f(y)); })(x);
    return weighted(g) * value;
  }, random({3}));
}
TEST_P(Containers, ForwardAndReverseJacobiansAgree) {
  const Tensor m = random({5, 3}), x = random({3});
  const auto f = [&](const Var& t) { return sin(matmul(m, t)); };
  const std::vector<double> forward = doubles(jacobian(f, x, Mode::forward)),
                            reverse = doubles(jacobian(f, x, Mode::reverse));
  ASSERT_EQ(forward.size(), 15u);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_NEAR(forward[i], reverse[i], 8 * 0x1p-52);
  const auto passes = [&](auto g, const Tensor& at, Mode mode) {
    const TraceCounts before = trace_counts();
    jacobian(g, at, mode);
    return trace_counts().calls - before.calls;
  };
  const auto tall = [](const Var& t) { return sin(t * ones({40, 1}, f64)); };  // 40 times as many rows as columns
  EXPECT_EQ(passes(tall, x, Mode::automatic), passes(tall, x, Mode::forward));
  EXPECT_LT(passes(tall, x, Mode::automatic), passes(tall, x, Mode::reverse));
  const auto wide = [](const Var& t) { return sum(t * t, Axes{}, true); };
  EXPECT_EQ(passes(wide, random({40}), Mode::automatic), passes(wide, random({40}), Mode::reverse));
}
TEST_P(Containers, BatchedJacobianTakesAPassAColumn) {
  const Tensor x = random({7, 3}), w = random({3, 4}), u = random({4, 2});
  const auto f = [&](const Var& t) { return tanh(matmul(tanh(matmul(t, w)), u)); };
  for (const Mode mode : {Mode::automatic, Mode::forward, Mode::reverse}) {
    const Tensor j = batched_jacobian(f, x, mode);
    ASSERT_EQ(j.shape(), Shape({7, 2, 3}));
    for (std::int64_t row = 0; row < 7; ++row) {
      const std::vector<double> want = doubles(jacobian(f, x.slice(0, row, row + 1))),
                                got = doubles(j.slice(0, row, row + 1));
      for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(got[i], want[i], 32 * 0x1p-52);
    }
  }
  const auto calls = [&](std::int64_t rows) {
    const Tensor many = random({rows, 3});
    const TraceCounts before = trace_counts();
    batched_jacobian(f, many);
    return trace_counts().calls - before.calls;
  };
  EXPECT_EQ(calls(5), calls(500)) << "passes follow the columns, not the rows";
  check_gradient("batched_jacobian", [&](const Var& at) { return weighted(batched_jacobian(f, at)); }, random({2, 3}));
  EXPECT_EQ(batched_jacobian([](const Var& t) { return t * 2; }, random({2, 2, 3})).shape(), Shape({2, 2, 3, 3}));
  expect_error(ErrorKind::shape, {"batched_jacobian", "f64[7, 3]"},
               [&] { batched_jacobian([](const Var& t) { return sum(t); }, x); });
}
TEST_P(Containers, EmptyJacobians) {
  EXPECT_EQ(jacobian([](const Var& x) { return x; }, of({}, {0})).shape(), Shape({0, 0}));
  EXPECT_EQ(jacobian([](const Var& x) { return sum(x); }, of({}, {0})).shape(), Shape({0}));
}

// ---- checks of gradients ----
TEST_P(Containers, GradcheckOfContainers) {
  const Layer<Tensor> layer{random({3, 2}), random({2})};
  const auto f = [](const Layer<Var>& l, const Var& x) {
    return std::array{tanh(matmul_bias(x, l.weight, l.bias)), exp(x)};
  };
  EXPECT_TRUE(gradcheck(f, layer, random({2, 3}))) << gradcheck(f, layer, random({2, 3})).message;
  EXPECT_TRUE(gradgradcheck(f, layer, random({2, 3}))) << gradgradcheck(f, layer, random({2, 3})).message;
}
TEST_P(Containers, GradcheckAndGradgradcheckOfEveryTransform) {
  const Tensor x = random({3}), v = random({3}), rows = random({2, 3}), w = random({3, 2});
  const auto f = [](const Var& t) { return sum(t * t * sin(t)) * sum(t); };
  const auto g = [](const Var& t) { return exp(t) * sum(t * t); };
  const auto check = [](const char* what, const auto& transform, const auto&... at) {
    const GradCheck first = gradcheck(transform, at...), second = gradgradcheck(transform, at...);
    EXPECT_TRUE(first) << what << ", gradcheck: " << first.message;
    EXPECT_TRUE(second) << what << ", gradgradcheck: " << second.message;
  };
  check("grad", [&](const Var& t) { return grad(f)(t); }, x);
  check("value_and_grad", [&](const Var& t) {
    const auto [value, gradient] = value_and_grad(f)(t);
    return std::pair{value, gradient};
  }, x);
  check("vjp", [&](const Var& t, const Var& c) { return vjp(g, t, c).result; }, x, v);
  check("vjp in its cotangent", [&](const Var& c) { return vjp(g, Var(x), c).result; }, v);
  check("jvp", [&](const Var& t, const Var& c) { return jvp(g, t, c).result; }, x, v);
  check("jvp in its tangent", [&](const Var& c) { return jvp(g, Var(x), c).result; }, v);
  check("hvp", [&](const Var& t, const Var& c) { return hvp(f, t, c); }, x, v);
  for (const Mode mode : {Mode::automatic, Mode::forward, Mode::reverse}) {
    check("jacobian", [&](const Var& t) { return jacobian(g, t, mode); }, x);
    check("hessian", [&](const Var& t) { return hessian(f, t, mode); }, x);
    check("batched_jacobian", [&](const Var& t) {
      return batched_jacobian([&](const Var& s) { return tanh(matmul(s * s, w)); }, t, mode);
    }, rows);
  }
  const auto cube = custom_gradient("cube", [](const Tensor& t) { return t * t * t; },
                                    [](const Var& c, const Var& t) { return 3 * c * t * t; });
  check("custom_gradient", cube, x);
  check("checkpoint", checkpoint(f), x);
}
TEST_P(Containers, GradgradcheckFindsAWrongSecondDerivative) {
  // The first derivative is right at every point, but told as a constant in one place.
  const auto half = custom_gradient([](const Tensor& x) { return x * x * x; },
                                    [](const Var& g, const Var& x) { return g * 3 * x * x.detach(); });
  EXPECT_TRUE(gradcheck(half, random({3}, 1, 2)));
  const GradCheck second = gradgradcheck(half, random({3}, 1, 2));
  EXPECT_FALSE(second);
  EXPECT_GT(second.worst, 1);
  expect_error(ErrorKind::dtype, {"gradgradcheck", "f32[2]"},
               [] { gradgradcheck([](const Var& x) { return x; }, ones({2})); });
}

/// Three steps of gradient descent on ½a(p - c)², differentiated by the learning rate:
/// p₃ - c = (1 - ra)³ (p₀ - c), so d/dr ½a(p₃ - c)² = -3a² (1 - ra)⁵ (p₀ - c)².
TEST_P(Containers, MetaGradientThroughThreeSteps) {
  const double a = 1.5, c = 0.75, start = 2, rate = 0.2;
  const auto loss = [=](const Var& p) { return sum(0.5 * a * square(p - c)); };
  const auto after_training = [&](const Var& r) {
    Var p(of({start}, {1}), false);
    for (int i = 0; i < 3; ++i) p = p - r * grad(loss)(p);
    return loss(p);
  };
  const double got = grad(after_training)(of({rate}, {1})).item<double>();
  const double shrunk = 1 - rate * a, want = -3 * a * a * std::pow(shrunk, 5) * (start - c) * (start - c);
  EXPECT_NEAR(got, want, 32 * 0x1p-52 * std::abs(want));
  const double s = 1 - rate * a, second = 15 * a * a * a * std::pow(s, 4) * (start - c) * (start - c);
  EXPECT_NEAR(grad(grad(after_training))(of({rate}, {1})).item<double>(), second, 64 * 0x1p-52 * second);
}

}  // namespace
}  // namespace tern::test
