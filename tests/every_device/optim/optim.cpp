// SGD and AdamW against scalar references.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Optim : public EveryDevice {};
TERN_EVERY_DEVICE(Optim);

constexpr int kSteps = 12;
double gradient_at(double p, int step) { return 2 * p + 0.1 * step; }

/// The gradient of p² + 0.1·step·p, made by backward.
Gradients gradients_of(const Var& p, int step) { return backward(sum(p * p + 0.1 * step * p)); }

struct ScalarSgd {
  double velocity = 0;
  double step(double p, double g, const optim::SGDOptions& o) {
    velocity = o.momentum * velocity + g + o.weight_decay * p;
    return p - o.learning_rate * velocity;
  }
};
struct ScalarAdamW {
  double first = 0, second = 0;
  int steps = 0;
  double step(double p, double g, const optim::AdamWOptions& o) {
    ++steps;
    first = o.beta1 * first + (1 - o.beta1) * g, second = o.beta2 * second + (1 - o.beta2) * g * g;
    const double m = first / (1 - std::pow(o.beta1, steps)), v = second / (1 - std::pow(o.beta2, steps));
    return p - o.learning_rate * (m / (std::sqrt(v) + o.epsilon) + o.weight_decay * p);
  }
};
/// Runs the library and the references from the same stored parameter in each step, so that errors do not pile up in
/// the parameter; the moments drift by a few roundings a step.
template <class Optimizer, class Scalar, class Options>
void compare_steps(DType dtype, Device device, const Options& options, const char* what) {
  const std::vector<double> start{1, -2, 0.5, 3, -0.25};
  Var p(make(start, {5}, dtype, device));
  Optimizer optimizer({p}, options);
  std::vector<Scalar> scalars(5);
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<double> before = doubles(p);
    const Gradients g = gradients_of(p, step);
    const std::vector<double> used = doubles(g[p]);
    optimizer.step(g);
    const std::vector<double> after = doubles(p);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(used[i], gradient_at(before[i], step), 4 * epsilon(dtype) * (2 * std::abs(before[i]) + 0.1 * step));
      const double want = scalars[i].step(before[i], used[i], options);
      const double moved = std::abs(want - before[i]);
      const double bound =
          0.5 * epsilon(dtype) * std::abs(want) + (16 + 4 * step) * work_epsilon(dtype) * (std::abs(want) + moved);
      EXPECT_NEAR(after[i], want, bound) << what << " " << to_string(dtype) << ", step " << step << ", entry " << i;
    }
  }
}
TEST_P(Optim, Sgd) {
  for (const DType d : all_floats(device())) {
    compare_steps<optim::SGD, ScalarSgd>(d, device(), optim::SGDOptions{.learning_rate = 0.1}, "plain");
    compare_steps<optim::SGD, ScalarSgd>(d, device(), optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9},
                                         "momentum");
    compare_steps<optim::SGD, ScalarSgd>(
        d, device(), optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.1}, "decay");
  }
}
TEST_P(Optim, AdamW) {
  for (const DType d : all_floats(device())) {
    compare_steps<optim::AdamW, ScalarAdamW>(d, device(), optim::AdamWOptions{.learning_rate = 0.1}, "AdamW");
    compare_steps<optim::AdamW, ScalarAdamW>(
        d, device(),
        optim::AdamWOptions{.learning_rate = 0.1, .beta1 = 0.5, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.2},
        "AdamW, other options");
  }
}
TEST_P(Optim, ParametersWithoutAGradientAreLeftAlone) {
  const Var a(ones({2})), b(ones({2}));
  optim::SGD sgd({a, b}, {.learning_rate = 1});
  sgd.step(backward(sum(a)));
  expect_values(a.value(), {2}, {0, 0});
  expect_values(b.value(), {2}, {1, 1});
}
TEST_P(Optim, TheLearningRateCanChangeWithoutANewKernel) {
  const Var a(ones({2}));
  optim::SGD sgd({a}, {.learning_rate = 1});
  const Gradients g = backward(sum(a));
  sgd.step(g);
  const std::int64_t kernels = cache_stats(device()).kernels;
  for (int i = 1; i <= 20; ++i) {
    sgd.set_learning_rate(0.125 * i);
    EXPECT_EQ(sgd.learning_rate(), 0.125 * i);
    sgd.step(g);
  }
  EXPECT_EQ(cache_stats(device()).kernels, kernels);
  expect_values(a.value(), {2}, {-26.25, -26.25});
}
TEST_P(Optim, StridedParametersAreUpdatedInPlace) {
  const Tensor memory = ones({3, 4});
  const Var p(memory.slice(1, 1, 3));
  optim::SGD sgd({p}, {.learning_rate = 1});
  sgd.step(backward(sum(p)));
  expect_values(memory, {3, 4}, {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1});
}
TEST_P(Optim, TrainsATwoLayerNetwork) {
  Generator generator{7};
  const Tensor x = rand({64, 2}, generator), labels = (x.slice(1, 0, 1) > x.slice(1, 1, 2)).to(i32).reshape({64});
  Var w1(randn({2, 16}, generator)), b1(zeros({16})), w2(randn({16, 2}, generator) * 0.25), b2(zeros({2}));
  optim::AdamW adam({w1, b1, w2, b2}, {.learning_rate = 0.05});
  float first = 0, last = 0;
  for (int i = 0; i < 100; ++i) {
    const Var loss = cross_entropy(matmul_bias(matmul_bias_activation(x, w1, b1, op::gelu), w2, b2), labels);
    last = loss.item<float>();
    if (i == 0) first = last;
    adam.step(backward(loss));
  }
  EXPECT_LT(last, first / 4);
}
/// Parameters of many sizes, dtypes and layouts, more than one launch updates.
std::vector<Var> many_parameters(Device device) {
  Generator generator{3};
  std::vector<Var> list;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 10, 0, 255, 256, 257, 1000, 1023, 4096, 4099, 20000, 1, 7, 8})
    list.emplace_back(randn({n}, generator));
  list.emplace_back(randn({}, generator));
  list.emplace_back(randn({30, 17}, generator));
  list.emplace_back(randn({9}, generator).slice(0, 1, 9));
  list.emplace_back(randn({12, 8}, generator).transpose(0, 1));
  list.emplace_back(randn({12, 8}, generator).slice(1, 3, 5));
  for (const DType d : all_floats(device))
    for (const std::int64_t n : {3, 64, 1001}) list.emplace_back(randn({n}, generator, {.dtype = d}));
  return list;
}
template <class Optimizer, class Options> void expect_as_alone(Device device, const Options& options) {
  const std::vector<Var> together = many_parameters(device), alone = many_parameters(device);
  Optimizer all(together, options);
  std::vector<Optimizer> each;
  for (const Var& p : alone) each.emplace_back(std::vector<Var>{p}, options);
  const auto gradients = [](const std::vector<Var>& list) {
    Var loss(zeros({}), false);
    for (std::size_t i = 0; i < list.size(); ++i)
      loss = loss + sum(list[i] * list[i] * (0.1 * static_cast<double>(i))).to(f32);
    return backward(loss);
  };
  for (int step = 0; step < 3; ++step) {
    all.step(gradients(together));
    const Gradients g = gradients(alone);
    for (Optimizer& one : each) one.step(g);
    for (std::size_t i = 0; i < together.size(); ++i)
      EXPECT_EQ(doubles(together[i]), doubles(alone[i])) << "parameter " << i << ", step " << step;
  }
}
TEST_P(Optim, ManyParametersAreUpdatedAsEachAlone) {
  expect_as_alone<optim::SGD>(device(), optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.1});
  expect_as_alone<optim::AdamW>(device(), optim::AdamWOptions{.learning_rate = 0.1});
}
TEST_P(Optim, AParameterGivenTwiceIsAnError) {
  const Var a(ones({5})), b(ones({2}));
  const std::vector<std::string> parts{"parameter 2 is parameter 0 again", "f32[5]"};
  expect_error(ErrorKind::autograd, parts, [&] { optim::SGD({a, b, a}); });
  expect_error(ErrorKind::autograd, parts, [&] { optim::AdamW({a, b, a}); });
}
/// One after the other, as they were given, where one touches what another writes.
TEST_P(Optim, ParametersThatShareMemoryAreUpdatedInOrder) {
  const Tensor memory = ones({6});
  const Var front(memory.slice(0, 0, 4)), back(memory.slice(0, 2, 6));
  optim::SGD({front, back}, {.learning_rate = 1}).step(backward(sum(front) + sum(back)));
  expect_values(memory, {6}, {0, 0, -1, -1, 0, 0});

  const Var first(ones({3})), second(ones({3}));
  Gradients g = backward(sum(first) + sum(second));
  g.set(second, first.value());  // a copy
  optim::SGD({first, second}, {.learning_rate = 1}).step(g);
  expect_values(first.value(), {3}, {0, 0, 0});
  expect_values(second.value(), {3}, {0, 0, 0});
}
/// Found before anything is written; what stood before it is updated.
TEST_P(Optim, GradientsOfAnotherDeviceOrShape) {
  for (const DeviceInfo& info : devices()) {
    const Device other = info.device;
    if (!info.available || other == device()) continue;
    const Var first(ones({3})), moved(ones({3}));
    moved.register_hook([&](const Var& g) { return Var(g.value().to(other), false); });
    optim::SGD sgd({first, moved}, {.learning_rate = 1});
    const Gradients g = backward(sum(first) + sum(moved));
    expect_error(ErrorKind::device, {"SGD", device().to_string(), other.to_string()}, [&] { sgd.step(g); });
    expect_values(first.value(), {3}, {0, 0, 0}), expect_values(moved.value(), {3}, {1, 1, 1});
  }
  const Var second(ones({3})), wrong(ones({3}));
  Gradients g = backward(sum(second) + sum(wrong));
  for (const Shape& shape : {Shape{7}, Shape{1}, Shape{2, 3}}) {
    g.map()[wrong.id()] = Var(ones(shape), false);
    optim::AdamW adam({second, wrong});
    if (shape == Shape{1}) adam.step(g);  // one for all
    else expect_error(ErrorKind::shape, {"AdamW", "f32[3]"}, [&] { adam.step(g); });
  }
}
TEST_P(Optim, OnlyLeavesThatRequireAGradient) {
  const Var a(ones({2}));
  expect_error(ErrorKind::autograd, {"SGD"}, [&] { optim::SGD({a * 2}); });
  expect_error(ErrorKind::autograd, {"AdamW"}, [&] { optim::AdamW({Var(ones({2}), false)}); });
}
TEST_P(Optim, ParametersSavedForAnEarlierGraphAreNoticed) {
  const Var a(ones({2})), y = sum(a * a);
  optim::SGD sgd({a}, {.learning_rate = 1});
  sgd.step(backward(sum(a)));
  expect_error(ErrorKind::autograd, {"MulBackward"}, [&] { backward(y); });
}

}  // namespace
}  // namespace tern::test
