// Transforms and checkpoints at the edges of what they take: integers, nothing at all, functions that change their
// mind.
#include <limits>

#include "every_device/gradients/derivatives.hpp"
#include "tern/checkpoint.hpp"

namespace tern::test {
namespace {

class TransformEdges : public EveryDevice {};
TERN_EVERY_DEVICE(TransformEdges);

/// tensor({1, 2, 3}) is i32: a gradient of zeros would be a silent mistake.
TEST_P(TransformEdges, IntegersAloneHaveNoDerivative) {
  const Tensor x = tensor({1, 2, 3}), v = tensor({1, 0, 0});
  const auto squares = [](const Var& t) { return sum(t * t); };
  expect_error(ErrorKind::dtype, {"grad: the argument must be floating-point"}, [&] { grad(squares)(x); });
  expect_error(ErrorKind::dtype, {"value_and_grad: the argument"}, [&] { value_and_grad(squares)(x); });
  expect_error(ErrorKind::dtype, {"hvp: the argument"}, [&] { hvp(squares, x, v); });
  expect_error(ErrorKind::dtype, {"jvp: the argument"}, [&] { jvp(squares, x, v); });
  expect_error(ErrorKind::dtype, {"vjp: the argument"}, [&] { vjp(squares, x, tensor({1})); });
  expect_error(ErrorKind::dtype, {"jacobian: the argument"}, [&] { jacobian(squares, x); });
  expect_error(ErrorKind::dtype, {"jacobian: the argument"}, [&] { hessian(squares, x); });
  expect_error(ErrorKind::dtype, {"batched_jacobian: the argument"},
               [&] { batched_jacobian([](const Var& t) { return t * t; }, x); });
  const Tensor real = tensor({1., 2., 3.}).to(f32);
  const auto count = [](const Var& t) { return Var(argmax(t.value()), false); };
  expect_error(ErrorKind::dtype, {"grad: the function's result must be floating-point"}, [&] { grad(count)(real); });
  expect_error(ErrorKind::dtype, {"jacobian: the function's result"}, [&] { jacobian(count, real); });
}
TEST_P(TransformEdges, IntegersBesideFloatsGetZeros) {
  const Tensor x = tensor({0.5, 1., 2.}).to(f32), scale = tensor({1, 2, 3});
  const auto [g, none] = grad([](const Var& t, const Var& s) { return sum(t * s.to(f32)); })(x, scale);
  expect_values(g, {3}, {1, 2, 3});
  EXPECT_EQ(none.dtype(), i32);
  expect_values(none, {3}, {0, 0, 0});
}
/// What transforms hand out may be written to: the arguments stay as they are, also where f gives a view of them.
TEST_P(TransformEdges, ValuesShareNoMemoryWithArguments) {
  const Tensor x = full({1}, 3), v = ones({1}), rows = full({2, 2}, 3);
  const auto itself = [](const Var& t) { return t; };
  const auto viewed = [](const Var& t) { return t.reshape({}); };
  const auto filled_with = [](Tensor t) { t.copy_from(full(t.shape(), 7)); };
  filled_with(value_and_grad(itself)(x).value), filled_with(value_and_grad(viewed)(x).value);
  filled_with(vjp(itself, x, v).value), filled_with(jvp(itself, x, v).value);
  const auto twice = [](const Var& t) { return std::pair{t.slice(0, 0, 1), t * 2}; };
  const auto both = vjp(twice, rows, std::pair{ones({1, 2}), ones({2, 2})}).value;
  filled_with(both.first);
  expect_values(both.second, {2, 2}, {6, 6, 6, 6});
  const auto same = [](const Var& t) {
    const Var y = t * 2;
    return std::pair{y, y};
  };
  const auto two = vjp(same, x, std::pair{v, v}).value;
  filled_with(two.first);
  expect_values(two.second, {1}, {6});
  const Var variable(x);
  filled_with(value_and_grad(itself)(variable).value.value());
  expect_values(x, {1}, {3}), expect_values(rows, {2, 2}, {3, 3, 3, 3});
}
/// A model without free parameters: nothing else is traversed, hooked or freed.
TEST_P(TransformEdges, OfNothingLeaveOtherGraphsAlone) {
  const Var w(full({2}, 3));
  int called = 0;
  w.register_hook([&](const Var& g) { return ++called, g; });
  const Var h = w * w;
  const std::vector<Tensor> none;
  EXPECT_TRUE(grad([&](const std::vector<Var>&) { return sum(h * 2); })(none).empty());
  EXPECT_EQ(called, 0);
  expect_values(backward(sum(h))[w], {2}, {6, 6});
  EXPECT_EQ(called, 1);
}
TEST_P(TransformEdges, JacobiansHaveTheArgumentsDtype) {
  const Tensor x = tensor({0.5, 1.}).to(f16);
  const auto f = [](const Var& t) { return (t * t).to(f32); };
  for (const Mode mode : {Mode::reverse, Mode::forward, Mode::automatic}) {
    const Tensor j = jacobian(f, x, mode);
    EXPECT_EQ(j.dtype(), f16);
    expect_values(j, {2, 2}, {1, 0, 0, 2});
    EXPECT_EQ(batched_jacobian(f, x.reshape({1, 2}), mode).dtype(), f16);
  }
}
TEST_P(TransformEdges, CheckpointsThatDifferWhenRunAgainAreAnError) {
  const Var x(tensor({0.5, 1.}).to(f32));
  const auto run = [&](auto f) {
    const auto again = std::make_shared<bool>(false);
    const auto results = checkpoint([f, again](const Var& t) { return f(t, std::exchange(*again, true)); })(x);
    backward(sum(results[0]) + sum(results.back()));
  };
  using List = std::vector<Var>;
  Generator dice(7);
  const auto expect = [&](const char* text, auto f) { expect_error(ErrorKind::autograd, {text}, [&] { run(f); }); };
  expect("1 results, 2 before", [](const Var& t, bool again) { return again ? List{t * 2} : List{t * 2, sin(t)}; });
  expect("result 2 is f32[1], before f32[2]", [](const Var& t, bool again) {
    return List{t * 2, again ? sin(t).slice(0, 0, 1) : sin(t)};
  });
  expect("0 draws of random numbers, 1 before", [&](const Var& t, bool again) {
    return List{t * 2, again ? sin(t) : sin(t) * rand({2}, dice)};
  });
  expect("random numbers", [&](const Var& t, bool again) {
    return List{t * 2, again ? sin(t) * rand({2}, dice) : sin(t)};
  });
  expect_error(ErrorKind::shape, {"checkpoint: result 1 is an undefined Tensor"},
               [&] { checkpoint([](const Var&) { return Var(); })(x); });
}
TEST_P(TransformEdges, ResultsOfACheckpointThatDependOnNothingDoNotRequireGradients) {
  const Var x(tensor({0.5, 1.}).to(f32));
  const auto results = checkpoint([](const Var& t) { return std::vector<Var>{t * 2, Var(ones({2}), false)}; })(x);
  EXPECT_TRUE(results[0].requires_grad());
  EXPECT_FALSE(results[1].requires_grad());
  const auto numbers = checkpoint([](const Var& t) { return std::vector<Var>{exp(t), exp(t * 2).to(i32)}; })(x);
  EXPECT_EQ(numbers[1].dtype(), i32);
  EXPECT_EQ(numbers[1].grad_fn(), nullptr) << "it would keep alive what is computed again";
  expect_values(backward(sum(results[0] * results[1]))[x], {2}, {2, 2});
}
/// Rows that are not counted may hold anything.
TEST_P(TransformEdges, IgnoredRowsReachNoGradient) {
  for (const double smoothing : {0., 0.25}) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const Tensor clean = tensor({1., 2., 0., 0., 0., 0., 3., 1., 2., 0., 0., 0.}).reshape({4, 3}).to(f32);
    const Tensor dirty = tensor({1., 2., 0., nan, 0., 1., 3., 1., 2., inf, inf, 0.}).reshape({4, 3}).to(f32);
    const Tensor labels = tensor({1, -5, 0, -5});
    const CrossEntropyOptions options{.ignored = -5, .smoothing = smoothing};
    const auto loss = [&](const Var& t) { return cross_entropy(t, labels, options); };
    const auto [a, ga] = value_and_grad(loss)(clean);
    const auto [b, gb] = value_and_grad(loss)(dirty);
    EXPECT_EQ(doubles(a), doubles(b));
    EXPECT_EQ(doubles(ga), doubles(gb));
    for (const int row : {1, 3}) expect_values(gb.slice(0, row, row + 1), {1, 3}, {0, 0, 0});
  }
  expect_error(ErrorKind::index, {"cross_entropy (labels): index 3 is out of range for size 3"}, [] {
    cross_entropy(ones({1, 3}), tensor({3})).item<float>();  // GPUs see it when something is read
  });
}
/// The same kernels as for the indices before, which were right.
TEST_P(TransformEdges, IndicesAreCheckedEachTime) {
  const Tensor logits = tensor({1., 2., 0., 3., 1., 2.}).reshape({2, 3}).to(f32);
  const std::vector<double> label_logits{1, 2, 0};
  for (int round = 0; round < 3; ++round) {
    for (const int label : {0, 1, 2}) {
      const double row = std::log(std::exp(1.) + std::exp(2.) + 1) - label_logits[static_cast<std::size_t>(label)];
      const double next = std::log(std::exp(3.) + std::exp(1.) + std::exp(2.)) - 1;
      EXPECT_NEAR(cross_entropy(logits, tensor({label, 1})).item<float>(), (row + next) / 2, 1e-6);
      expect_values(
          take(logits, tensor({label}), 1), {2, 1},
          {doubles(logits)[static_cast<std::size_t>(label)], doubles(logits)[static_cast<std::size_t>(3 + label)]});
    }
    for (const int wrong : {3, -1})
      expect_error(ErrorKind::index,
                   {"cross_entropy (labels): index " + std::to_string(wrong) + " is out of range for size 3"}, [&] {
                     cross_entropy(logits, tensor({wrong, 1})).item<float>();
                   });
    for (const int wrong : {3, -4})
      expect_error(ErrorKind::index,
                   {"take: index " + std::to_string(wrong) + " is out of range for size 3", "axis 1 of f32[2, 3]"},
                   [&] { take(logits, tensor({wrong}), 1).to_vector<float>(); });
  }
}
TEST_P(TransformEdges, GradcheckTakesLabels) {
  if (!(device() == cpu())) return;  // in f64
  const Tensor logits = tensor({1., 2., 0., 3., 1., 2.}).reshape({2, 3}).to(f64), labels = tensor({1, 0});
  const auto f = [](const Var& t, const Var& l) { return cross_entropy(t, l); };
  EXPECT_TRUE(gradcheck(f, logits, labels)) << gradcheck(f, logits, labels).message;
  EXPECT_TRUE(gradgradcheck(f, logits, labels)) << gradgradcheck(f, logits, labels).message;
  expect_error(ErrorKind::dtype, {"gradcheck: arguments must be f64"},
               [&] { gradcheck([](const Var& l) { return l.to(f64); }, labels); });
}

}  // namespace
}  // namespace tern::test
