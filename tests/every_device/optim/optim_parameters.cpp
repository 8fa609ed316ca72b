// What optimisers take: parameters in containers and their gradients, steps counted for each, gradients clipped before.
#include <limits>
#include <optional>

#include "every_device/reference.hpp"
#include "folder.hpp"

namespace tern::test {

template <class T> struct Affine {
  T weight, bias;
};
template <class T> struct MaybeBiased {
  T weight;
  std::optional<T> bias;
};
template <class T> struct Perceptron {
  std::vector<Affine<T>> layers;
  T scale;
};

}  // namespace tern::test

template <class T> struct tern::Fields<tern::test::Affine<T>> {
  static auto tie(auto& a) { return std::tie(a.weight, a.bias); }
};
TERN_FIELDS(tern::test::MaybeBiased, weight, bias)
template <class T> struct tern::Fields<tern::test::Perceptron<T>> {
  static auto tie(auto& p) { return std::tie(p.layers, p.scale); }
};

namespace tern::test {
namespace {

class OptimParameters : public EveryDevice {};
TERN_EVERY_DEVICE(OptimParameters);

/// An empty optional is no leaf, for transforms, optimisers and files; an undefined Var is one that is missing.
TEST_P(OptimParameters, WhatIsLeftOutIsAnEmptyOptional) {
  const Folder folder;
  for (const bool biased : {false, true}) {
    const auto made = [&](double value) {
      MaybeBiased<Var> m{parameter(full({2}, value)), {}};
      if (biased) m.bias = parameter(full({2}, 2 * value));
      return m;
    };
    const MaybeBiased<Var> model = made(1), other = made(3);
    const auto [value, gradients] = value_and_grad([](const MaybeBiased<Var>& m) {
      const Var squares = sum(square(m.weight));
      return m.bias ? squares + sum(*m.bias) : squares;
    })(model);
    EXPECT_EQ(gradients.bias.has_value(), biased);
    optim::SGD sgd(model, {.learning_rate = 0.25});
    sgd.step(gradients);
    EXPECT_EQ(doubles(model.weight), std::vector<double>(2, 0.5));
    if (biased) {
      EXPECT_EQ(doubles(*model.bias), std::vector<double>(2, 1.75));
    }
    EXPECT_EQ(io::named(model).size(), biased ? 2u : 1u);
    io::save(folder / "m", model);
    io::load(folder / "m", other);
    EXPECT_EQ(doubles(other.weight), doubles(model.weight));
    if (biased) {
      EXPECT_EQ(doubles(*other.bias), doubles(*model.bias));
    }
  }
  const Affine<Var> undefined{parameter(ones({2})), Var()};
  expect_error(ErrorKind::shape, {"SGD", "parameter 1 is undefined", "std::optional"},
               [&] { optim::SGD all(undefined); });
  expect_error(ErrorKind::shape, {"AdamW", "parameter 1 is undefined", "std::optional"},
               [&] { optim::AdamW all(undefined); });
}

// ---- AdamW's counts ----

/// One whose gradient comes late is updated as one that begins then.
TEST_P(OptimParameters, AdamWCountsTheStepsOfEachParameter) {
  for (const DType d : all_floats(device())) {
    const Var early(ones({2}, d)), late(tensor({1.f, -2.f}).to(d)), alone(tensor({1.f, -2.f}).to(d));
    optim::AdamW both({early, late}, {.learning_rate = 0.125}), one({alone}, {.learning_rate = 0.125});
    for (int i = 0; i < 10; ++i) both.step(backward(sum(early * early)));
    for (int i = 0; i < 5; ++i) {
      both.step(backward(sum(early) + sum(late * late)));
      one.step(backward(sum(alone * alone)));
      EXPECT_EQ(doubles(late), doubles(alone)) << to_string(d) << ", step " << i;
      if (i == 2) both.step(backward(sum(early)));  // no gradient, no step
    }
  }
}
TEST_P(OptimParameters, TheFirstStepOfAdamWIsTheRate) {
  const Var early(ones({2})), late(tensor({1.f, -2.f}));
  optim::AdamW adam({early, late}, {.learning_rate = 0.25, .weight_decay = 0});
  for (int i = 0; i < 20; ++i) adam.step(backward(sum(early)));
  adam.step(backward(sum(late * late)));
  const std::vector<double> moved = doubles(late);
  EXPECT_NEAR(moved[0], 0.75, 1e-6);
  EXPECT_NEAR(moved[1], -1.75, 1e-6);
}
TEST_P(OptimParameters, AStepOfAdamWIsOneCallForUpTo16Parameters) {
  std::vector<Var> list;
  Var loss(zeros({}), false);
  for (int i = 0; i < 16; ++i) list.emplace_back(ones({3})), loss = loss + sum(list.back() * list.back());
  optim::AdamW adam(list);
  const Gradients g = backward(loss);
  const std::int64_t before = trace_counts().calls;
  adam.step(g);
  EXPECT_EQ(trace_counts().calls - before, 1);
}

// ---- containers ----

Perceptron<Var> network() {
  Generator dice{3};
  Perceptron<Var> net{{}, Var(ones({1}))};
  for (int i = 0; i < 2; ++i) net.layers.push_back({Var(randn({4, 4}, dice)), Var(zeros({4}))});
  return net;
}
Var loss_of(const Perceptron<Var>& net) {
  Var h(full({2, 4}, 0.5), false);
  for (const Affine<Var>& layer : net.layers) h = matmul_bias_activation(h, layer.weight, layer.bias, op::tanh);
  return sum(square(h * net.scale - 0.25));
}
template <class Optimizer> void train_both_ways() {
  const Perceptron<Var> by_variable = network(), by_container = network();
  Optimizer first(leaves_of(by_variable)), second(by_container);
  for (int i = 0; i < 4; ++i) {
    first.step(backward(loss_of(by_variable)));
    const auto [value, gradients] = value_and_grad(loss_of)(by_container);
    EXPECT_EQ(doubles(value), doubles(loss_of(by_container)));
    second.step(gradients);
    const std::vector<Var> a = leaves_of(by_variable), b = leaves_of(by_container);
    ASSERT_EQ(a.size(), 5u);
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(doubles(a[k]), doubles(b[k])) << k << ", step " << i;
  }
}
TEST_P(OptimParameters, AStepTakesWhatValueAndGradReturns) {
  train_both_ways<optim::SGD>(), train_both_ways<optim::AdamW>();
}
TEST_P(OptimParameters, PlainTensorsOfAContainerAreGradientsToo) {
  const Perceptron<Var> net = network();
  Perceptron<Tensor> values{{}, net.scale.value()};
  for (const Affine<Var>& layer : net.layers) values.layers.push_back({layer.weight.value(), layer.bias.value()});
  const Perceptron<Tensor> gradients = grad(loss_of)(values);
  const std::vector<double> before = doubles(net.layers[0].weight), moved = doubles(gradients.layers[0].weight);
  optim::SGD(net, {.learning_rate = 0.5}).step(gradients);
  const std::vector<double> after = doubles(net.layers[0].weight);
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i] - 0.5 * moved[i], 1e-6);
}
TEST_P(OptimParameters, OtherContainers) {
  const Var a(ones({2})), b(ones({3}));
  optim::SGD of_tuple(std::tuple{a, std::vector{b}}, {.learning_rate = 1});
  of_tuple.step(std::pair{ones({2}), full({3}, 2)});
  expect_values(a.value(), {2}, {0, 0}), expect_values(b.value(), {3}, {-1, -1, -1});
  of_tuple.step(std::vector<Tensor>{Tensor(), ones({3})});  // none for the first
  expect_values(a.value(), {2}, {0, 0}), expect_values(b.value(), {3}, {-2, -2, -2});
  optim::SGD of_one({a}, {.learning_rate = 1});
  of_one.step(ones({2}));
  expect_values(a.value(), {2}, {-1, -1});
}
TEST_P(OptimParameters, GradientsInContainersMustBeLikeTheParameters) {
  const Var a(ones({2})), b(ones({3}));
  optim::SGD sgd({a, b}, {.learning_rate = 1});
  expect_error(ErrorKind::shape, {"SGD", "2 parameters", "got 1"}, [&] { sgd.step(std::vector{ones({2})}); });
  expect_error(ErrorKind::shape, {"SGD", "gradient 1", "f32[3]", "f32[1]"}, [&] {
    sgd.step(std::pair{ones({2}), ones({1})});
  });
  expect_error(ErrorKind::dtype, {"SGD", "gradient 0", "i32[2]"}, [&] {
    sgd.step(std::pair{ones({2}, i32), ones({3})});
  });
  expect_values(a.value(), {2}, {1, 1});
  expect_error(ErrorKind::autograd, {"AdamW", "leaf"}, [&] { optim::AdamW(std::vector<Tensor>{ones({2})}); });
}

// ---- clipping ----

TEST_P(OptimParameters, ClipGradNorm) {
  for (const DType d : all_floats(device())) {
    const Var a(ones({2, 2}, d)), b(ones({3}, d)), none(ones({2}, d)), empty(ones({0}, d));
    const auto gradients = [&] {
      return backward(sum(a * full({2, 2}, 3, d)) + sum(b * full({3}, -4, d)) + sum(empty));
    };
    const double norm = std::sqrt(4 * 9 + 3 * 16.0), eps = epsilon(d) + 4 * work_epsilon(d);
    Gradients clipped = gradients();
    const Tensor before = optim::clip_grad_norm(clipped, {a, b, none, empty}, 2);
    EXPECT_EQ(before.shape(), Shape({}));
    EXPECT_EQ(before.dtype(), d == f64 ? f64 : f32);
    EXPECT_NEAR(doubles(before)[0], norm, eps * norm);
    const double factor = 2 / (norm + 1e-6);
    for (const double v : doubles(clipped[a])) EXPECT_NEAR(v, 3 * factor, 3 * eps);
    for (const double v : doubles(clipped[b])) EXPECT_NEAR(v, -4 * factor, 4 * eps);
    Gradients small = gradients();
    optim::clip_grad_norm(small, {a, b}, 100);
    EXPECT_EQ(doubles(small[a]), std::vector<double>(4, 3));
    Gradients one = gradients();
    optim::clip_grad_norm(one, {a}, 3);
    for (const double v : doubles(one[a])) EXPECT_NEAR(v, 3 * 3 / (6 + 1e-6), 2 * eps);
    EXPECT_EQ(doubles(one[b]), std::vector<double>(3, -4));
  }
}
TEST_P(OptimParameters, ClippingScalesWhatParametersShareOnce) {
  const Var x(ones({3})), a(ones({3})), b(ones({3}));
  Gradients g = backward(sum(square(x + a + b)));
  const double norm = optim::clip_grad_norm(g, {x, a, b, x}, 1).item<float>();
  EXPECT_NEAR(norm, 18, 1e-4);
  for (const Var& v : {x, a, b})
    for (const double e : doubles(g[v])) EXPECT_NEAR(e, 6 / norm, 1e-6);
  const Tensor mine = full({3}, 4);
  g.set(a, mine), g.set(b, mine);
  optim::clip_grad_value(g, {a, b}, 2);
  expect_values(g[a], {3}, {2, 2, 2}), expect_values(mine, {3}, {4, 4, 4});
}
TEST_P(OptimParameters, NormsOfLargeAndSmallGradients) {
  const Var a(ones({2}));
  for (const double scale : {1e-30, 1e-22, 1.0, 1e25, 1e38}) {
    Gradients g;
    g.set(a, full({2}, scale));
    EXPECT_NEAR(optim::clip_grad_norm(g, {a}, 1).item<float>() / scale, std::sqrt(2), 1e-6) << scale;
    for (const double v : doubles(g[a])) EXPECT_NEAR(v / std::min(scale, std::sqrt(0.5)), 1, 1e-5) << scale;
  }
  for (const double limit :
       {1e25, 1e35, std::numeric_limits<double>::infinity()}) {  // nothing, or a little, is clipped
    Gradients g;
    g.set(a, full({2}, 1e31));
    const double norm = optim::clip_grad_norm(g, {a}, limit).item<float>();
    for (const double v : doubles(g[a])) EXPECT_NEAR(v / (1e31 * std::min(1.0, limit / norm)), 1, 1e-5) << limit;
  }
  Gradients zero, infinite;
  zero.set(a, zeros({2})), infinite.set(a, tensor({1.f, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(optim::clip_grad_norm(zero, {a}, 1).item<float>(), 0);
  expect_values(zero[a], {2}, {0, 0});
  EXPECT_FALSE(std::isfinite(optim::clip_grad_norm(infinite, {a}, 1).item<float>()));
  Gradients nothing;
  EXPECT_EQ(optim::clip_grad_norm(nothing, {a}, 1).item<float>(), 0);
}
TEST_P(OptimParameters, ClipGradValue) {
  for (const DType d : all_floats(device())) {
    const Var a(ones({3}, d));
    Gradients g;
    g.set(a, tensor({-3.f, 0.25f, 2.f}).to(d));
    optim::clip_grad_value(g, std::pair{a, Var(ones({1}))}, 0.5);
    EXPECT_EQ(doubles(g[a]), (std::vector<double>{-0.5, 0.25, 0.5})) << to_string(d);
  }
  Gradients g;
  const Var a(ones({1}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double limit : {-1.0, nan}) {
    expect_error(ErrorKind::shape, {"clip_grad_norm", "limit"}, [&] { optim::clip_grad_norm(g, {a}, limit); });
    expect_error(ErrorKind::shape, {"clip_grad_value", "limit"}, [&] { optim::clip_grad_value(g, {a}, limit); });
  }
}
/// The gradients that value_and_grad gives are clipped and stepped with as they are.
TEST_P(OptimParameters, GradientsOfContainersAreClipped) {
  const Perceptron<Var> by_variable = network(), by_container = network();
  optim::SGD first(leaves_of(by_variable), {.learning_rate = 0.5}), second(by_container, {.learning_rate = 0.5});
  for (int i = 0; i < 2; ++i) {
    Gradients list = backward(loss_of(by_variable));
    const double norm = optim::clip_grad_norm(list, by_variable, 0.125).item<double>();
    optim::clip_grad_value(list, by_variable, 0.0625);
    first.step(list);
    const auto result = value_and_grad(loss_of)(by_container);
    EXPECT_EQ(optim::clip_grad_norm(result.gradients, 0.125).item<double>(), norm);
    EXPECT_GT(norm, 0.125);
    optim::clip_grad_value(result.gradients, 0.0625);
    second.step(result);
    const std::vector<Var> a = leaves_of(by_variable), b = leaves_of(by_container);
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(doubles(a[k]), doubles(b[k])) << k << ", step " << i;
  }
  EXPECT_EQ(optim::clip_grad_norm(std::vector<Tensor>{}, 1).item<float>(), 0);
  const MaybeBiased<Tensor> one{full({2}, 3), {}};
  optim::clip_grad_norm(one, 1);
  for (const double v : doubles(one.weight)) EXPECT_NEAR(v, std::sqrt(0.5), 1e-5);
}
TEST_P(OptimParameters, GradientsThatCannotBeClippedInPlaceAreErrors) {
  const Tensor g = full({4}, 3);
  const std::pair halves{g.slice(0, 0, 2), g.slice(0, 2, 4)};
  expect_error(ErrorKind::value, {"clip_grad_norm", "gradient 1", "gradient 0", "clone()"},
               [&] { optim::clip_grad_norm(halves, 1); });
  expect_error(ErrorKind::shape, {"clip_grad_value", "broadcast view"},
               [&] { optim::clip_grad_value(ones({1}).broadcast_to({3}), 0.5); });
  expect_error(ErrorKind::dtype, {"clip_grad_value", "gradient 0", "i32[2]"},
               [&] { optim::clip_grad_value(ones({2}, i32), 0.5); });
  const Var x(full({2}, 2));
  const auto cubes = [](const Var& t) { return sum(t * t * t); };
  expect_error(ErrorKind::autograd, {"clip_grad_norm", "gradient 0", "create_graph"},
               [&] { optim::clip_grad_norm(grad(cubes)(x), 1); });
  expect_error(ErrorKind::shape, {"clip_grad_norm", "0 or more", "-1"}, [&] { optim::clip_grad_norm(g, -1); });
  EXPECT_EQ(doubles(g), std::vector<double>(4, 3));
}
TEST_P(OptimParameters, ClippingIsRecorded) {
  const Var run(tensor({3.f, 4.f})), replayed(tensor({3.f, 4.f}));
  optim::SGD of_run({run}, {.learning_rate = 0.25}), of_replayed({replayed}, {.learning_rate = 0.25});
  const auto step = [](const Var& p, optim::SGD& sgd) {
    Gradients g = backward(sum(p * p));
    const Tensor norm = optim::clip_grad_norm(g, {p}, 1);
    sgd.step(g);
    return norm;
  };
  Tensor norm;
  const Graph graph = capture(device(), [&] { norm = step(replayed, of_replayed); });
  for (int i = 0; i < 3; ++i) {
    const Tensor now = step(run, of_run);
    graph.replay();
    EXPECT_EQ(doubles(norm), doubles(now));
    EXPECT_EQ(doubles(run), doubles(replayed));
  }
}

}  // namespace
}  // namespace tern::test
