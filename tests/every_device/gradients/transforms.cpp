// grad, vjp, jvp, hvp, jacobian, hessian and gradcheck.
#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

class Transforms : public InDouble {
 protected:
  Tensor of(const std::vector<double>& v, const Shape& s) { return make(v, s, f64, device()); }
};
TERN_EVERY_DEVICE_IN_DOUBLE(Transforms);

Var rosenbrock(const Var& x) {
  const std::int64_t n = x.size(0);
  const Var a = x.slice(0, 0, n - 1), b = x.slice(0, 1, n);
  return sum(100 * square(b - a * a) + square(1 - a));
}
std::vector<double> rosenbrock_hessian(const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> h(n * n);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    h[i * n + i] += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2;
    h[i * n + i + 1] -= 400 * x[i], h[(i + 1) * n + i] -= 400 * x[i];
    h[(i + 1) * n + i + 1] += 200;
  }
  return h;
}
TEST_P(Transforms, HessianOfRosenbrock) {
  const std::vector<double> at = Random(51).values(10, -2, 2);
  const Tensor x = of(at, {10}), h = hessian(rosenbrock, x);
  ASSERT_EQ(h.shape(), Shape({10, 10}));
  const std::vector<double> got = doubles(h), want = rosenbrock_hessian(at);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(got[i], want[i], 16 * 0x1p-52 * 6000) << i;
  const std::vector<double> v = Random(52).values(10), product = doubles(hvp(rosenbrock, x, of(v, {10})));
  for (std::size_t i = 0; i < 10; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 10; ++j) sum += want[i * 10 + j] * v[j];
    EXPECT_NEAR(product[i], sum, 64 * 0x1p-52 * 6000) << i;
  }
}
TEST_P(Transforms, GradOfOneAndOfSeveral) {
  const Tensor x = of({2}, {1}), y = of({5}, {1});
  EXPECT_TRUE((std::is_same_v<decltype(grad([](const Var& v) { return sum(v); })(x)), Tensor>));
  const auto f = [](const Var& a, const Var& b) { return sum(a * a * b); };
  const auto [dx, dy] = grad(f)(x, y);
  expect_values(dx, {1}, {20}), expect_values(dy, {1}, {4});
  const auto [value, gradients] = value_and_grad(f)(x, y);
  expect_values(value, {}, {20}), expect_values(std::get<0>(gradients), {1}, {20});
  const Var nested = grad([](const Var& v) { return sum(v * v); })(Var(x));
  EXPECT_TRUE(nested.requires_grad());
}
TEST_P(Transforms, GradOfAnIndependentArgumentIsZero) {
  const auto [dx, dy] = grad([](const Var& a, const Var&) { return sum(a); })(of({1, 2}, {2}), of({3, 4, 5}, {3}));
  expect_values(dx, {2}, {1, 1}), expect_values(dy, {3}, {0, 0, 0});
}
TEST_P(Transforms, VjpAndJvpAgainstTheJacobian) {
  const Tensor m = random({3, 4}), x = random({4}), v = random({4}), u = random({3});
  const auto f = [&](const Var& t) { return tanh(matmul(m, t)); };
  const Tensor j = jacobian(f, x);
  ASSERT_EQ(j.shape(), Shape({3, 4}));
  const auto [y, forward] = jvp(f, x, v);
  const auto [z, reverse] = vjp(f, x, u);
  EXPECT_EQ(doubles(y), doubles(f(Var(x))));
  EXPECT_EQ(doubles(z), doubles(y));
  const double eps = 16 * 0x1p-52;
  const Array along = matmul(Array(j), Array({4, 1}, doubles(v)), eps),
              back = matmul(Array({1, 3}, doubles(u)), Array(j), eps);
  expect_within(forward.reshape({3, 1}), along, "jvp");
  expect_within(reverse.reshape({1, 4}), back, "vjp");
}
TEST_P(Transforms, JvpOfConstantsAndOfTheIdentity) {
  const Tensor x = of({1, 2}, {2}), t = of({3, 4}, {2});
  expect_values(jvp([](const Var& v) { return v; }, x, t).result, {2}, {3, 4});
  expect_values(jvp([](const Var&) { return Var(ones({3}, f64), false); }, x, t).result, {3}, {0, 0, 0});
  expect_values(jvp([](const Var& v) { return 2 * v; }, x, t).result, {2}, {6, 8});
}
TEST_P(Transforms, JacobianShapes) {
  const Tensor x = random({2, 3});
  EXPECT_EQ(jacobian([](const Var& v) { return sum(v); }, x).shape(), Shape({2, 3}));
  EXPECT_EQ(jacobian([](const Var& v) { return sum(v, 0); }, x).shape(), Shape({3, 2, 3}));
  EXPECT_EQ(hessian([](const Var& v) { return sum(v * v); }, x).shape(), Shape({2, 3, 2, 3}));
}
TEST_P(Transforms, JvpIsDifferentiable) {
  const Tensor t = random({3});
  check_gradient(
      "jvp", [&](const Var& x) { return weighted(jvp([](const Var& v) { return sin(v) * v; }, x, t).result); },
      random({3}));
  check_gradient(
      "hvp", [&](const Var& x) { return weighted(hvp([](const Var& v) { return sum(exp(v) * v); }, x, t)); },
      random({3}));
  check_gradient(
      "hessian",
      [](const Var& x) { return weighted(hessian([](const Var& v) { return sum(v * v * v) * sum(v); }, x)); },
      random({3}));
}
/// Never a silent zero: prod inside a formula has no derivative there (the operation prod has).
TEST_P(Transforms, AMissingDerivativeIsAnErrorThatNamesTheOperation) {
  const Tensor x = make({1, 2, 3, 4}, {2, 2}, f32, device()), one = ones({2, 2});
  const auto f = [](const Var& v) { return row_formula([](auto a) { return a * prod(a); }, v); };
  expect_values(f(Var(x, false)).value(), {2, 2}, {2, 4, 36, 48});
  const auto total = [&](const Var& v) { return sum(f(v)); };
  const std::vector<std::string> parts{"prod", "no derivative"};
  expect_error(ErrorKind::autograd, parts, [&] { backward(total(Var(x))); });
  expect_error(ErrorKind::autograd, parts, [&] { grad(total)(x); });
  expect_error(ErrorKind::autograd, parts, [&] { vjp(f, x, one); });
  expect_error(ErrorKind::autograd, parts, [&] { jvp(f, x, one); });
  expect_error(ErrorKind::autograd, parts, [&] { hvp(total, x, one); });
  expect_error(ErrorKind::autograd, parts, [&] { jacobian(f, x); });
  expect_error(ErrorKind::autograd, parts, [&] { hessian(total, x); });
}
/// What leads to a captured variable alone belongs to whoever made it: a transform does not run, hook or free it.
TEST_P(Transforms, GraphsOfCapturedVariablesAreLeftAlone) {
  const Var w0(of({1, 2}, {2}));
  const Var w = exp(w0);
  int calls = 0;
  w.register_hook([&](const Var&) { ++calls; });
  w.grad_fn()->register_hook([&](std::span<const Var>, std::span<const Var>) { ++calls; });
  const Tensor t = of({3, 4}, {2}), one = ones({2}, f64);
  const auto f = [&](const Var& x) { return x * x * w; };
  const auto total = [&](const Var& x) { return sum(f(x)); };
  const std::vector<double> want = doubles(2 * t * w.value());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(doubles(grad(total)(t)), want);
    EXPECT_EQ(doubles(value_and_grad(total)(t).gradients), want);
    EXPECT_EQ(doubles(vjp(f, t, one).result), want);
    EXPECT_EQ(doubles(jvp(f, t, one).result), want);
    EXPECT_EQ(doubles(hvp(total, t, one)), doubles(2 * w.value()));
    EXPECT_EQ(jacobian(f, t, Mode::forward).shape(), Shape({2, 2}));
    EXPECT_EQ(jacobian(f, t, Mode::reverse).shape(), Shape({2, 2}));
    EXPECT_EQ(hessian(total, t).shape(), Shape({2, 2}));
    EXPECT_EQ(doubles(batched_jacobian(f, t)).size(), 4u);
    EXPECT_TRUE(gradcheck(f, t));
    EXPECT_TRUE(gradgradcheck(f, t));
  }
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(doubles(backward(sum(w))[w0]), doubles(w.value()));
  EXPECT_EQ(calls, 2);
}
TEST_P(Transforms, OperationsInsideThatLeadToNoArgumentAreNotRun) {
  const Var w(of({1, 2}, {2}));
  int calls = 0;
  const auto watched = [&](const Var& v) {
    v.grad_fn()->register_hook([&](std::span<const Var>, std::span<const Var>) { ++calls; });
    return v;
  };
  const auto f = [&](const Var& x) { return sum(x * watched(exp(w))); };
  EXPECT_EQ(doubles(grad(f)(of({3, 4}, {2}))), doubles(exp(w.value())));
  EXPECT_EQ(calls, 0);
  // Once its value is what is asked for, it is run: here a variable that leads to another argument.
  const auto g = [&](const Var& x, const Var& y) { return sum(x * watched(exp(y))); };
  grad(g)(of({3, 4}, {2}), w.value());
  EXPECT_EQ(calls, 1);
}
TEST_P(Transforms, ProductsForCapturedWeightsAreSpared) {
  const Tensor x = random({8, 8}), w = random({8, 8}), bias = random({8});
  const auto flops = [&](const auto& weight) {
    return cost_of([&] {
             grad([&](const Var& v) {
               return sum(matmul(weight, matmul_bias_activation(matmul(v, weight), weight, bias, op::tanh)));
             })(x);
           })
        .flops;
  };
  EXPECT_EQ(flops(Var(w)), flops(w));
}
TEST_P(Transforms, FourthDerivative) {
  const auto f = [](const Var& v) { return sum(pow(v, 5)); };
  const auto d4 = grad([&](const Var& a) {
    return sum(grad([&](const Var& b) { return sum(grad([&](const Var& c) { return sum(grad(f)(c)); })(b)); })(a));
  });
  EXPECT_NEAR(d4(of({2}, {1})).item<double>(), 240, 240 * 64 * 0x1p-52);
}
TEST_P(Transforms, TheFunctionMustGiveOneElement) {
  const Tensor x = of({1, 2}, {2});
  const auto f = [](const Var& v) { return v; };
  const auto refuses = [&](const std::string& name, const std::function<void()>& call) {
    expect_error(ErrorKind::autograd, {name + ": the function must return one element", "[2]"}, call);
  };
  refuses("grad", [&] { grad(f)(x); });
  refuses("value_and_grad", [&] { value_and_grad(f)(x); });
  refuses("hvp", [&] { hvp(f, x, x); });
  refuses("hessian", [&] { hessian(f, x); });
}
TEST_P(Transforms, TheFunctionMustGiveAValue) {
  const Tensor x = of({1, 2}, {2});
  const auto f = [](const Var&) { return Var(); };
  const auto refuses = [&](const std::string& name, const std::function<void()>& call) {
    expect_error(ErrorKind::shape, {name + ": the function's result"}, call);
  };
  refuses("grad", [&] { grad(f)(x); });
  refuses("value_and_grad", [&] { value_and_grad(f)(x); });
  refuses("vjp", [&] { vjp(f, x, x); });
  refuses("jvp", [&] { jvp(f, x, x); });
  refuses("hvp", [&] { hvp(f, x, x); });
  refuses("hessian", [&] { hessian(f, x); });
  refuses("batched_jacobian", [&] { batched_jacobian(f, x); });
  refuses("gradcheck", [&] { gradcheck(f, x); });
  refuses("gradgradcheck", [&] { gradgradcheck(f, x); });
  for (const Mode mode : {Mode::automatic, Mode::forward, Mode::reverse})
    refuses("jacobian", [&] { jacobian(f, x, mode); });
}
TEST_P(Transforms, SeedsMustBeLikeWhatTheyAreFor) {
  const Tensor x = of({1, 2}, {2}), wrong = of({1, 2, 3}, {3});
  const auto f = [](const Var& v) { return v * v; };
  const auto total = [](const Var& v) { return sum(v * v); };
  const auto two = [](const Var& a, const Var& b) { return std::array{a * b, a + b}; };
  const std::string shapes = ": expected f64[2], got f64[3]";
  expect_error(ErrorKind::shape, {"vjp: cotangent 0 must have the shape of result 0" + shapes},
               [&] { vjp(f, x, wrong); });
  expect_error(ErrorKind::shape, {"jvp: tangent 0 must have the shape of argument 0" + shapes},
               [&] { jvp(f, x, wrong); });
  expect_error(ErrorKind::shape, {"hvp: vector 0 must have the shape of argument 0" + shapes},
               [&] { hvp(total, x, wrong); });
  expect_error(ErrorKind::shape, {"vjp: cotangent 1 must have the shape of result 1" + shapes}, [&] {
    vjp(two, std::tuple{x, x}, std::array{x, wrong});
  });
  expect_error(ErrorKind::shape, {"jvp: tangent 1 must have the shape of argument 1" + shapes}, [&] {
    jvp(two, std::tuple{x, x}, std::array{x, wrong});
  });
  const Tensor narrow = ones({2});
  expect_error(ErrorKind::dtype, {"vjp: cotangent 0 must have the dtype of result 0", "f32[2]"},
               [&] { vjp(f, x, narrow); });
  expect_error(ErrorKind::dtype, {"jvp: tangent 0 must have the dtype of argument 0", "f32[2]"},
               [&] { jvp(f, x, narrow); });
  expect_error(ErrorKind::dtype, {"hvp: vector 0 must have the dtype of argument 0", "f32[2]"},
               [&] { hvp(total, x, narrow); });
  expect_error(ErrorKind::shape, {"jvp", "tangent 0"}, [&] { jvp(f, x, Tensor()); });
}

// ---- gradcheck itself ----
TEST_P(Transforms, GradcheckAcceptsRightGradients) {
  EXPECT_TRUE(gradcheck([](const Var& x, const Var& y) { return exp(x) * y; }, random({2, 3}), random({3})));
  EXPECT_TRUE(
      gradcheck([](const Var& x) { return grad([](const Var& v) { return sum(v * v * v); })(x); }, random({3})));
}
TEST_P(Transforms, GradcheckFindsWrongGradients) {
  const Pointwise wrong{"wrong", [](auto x) { return x * x; }, [](auto x) { return 2.001 * x; }};
  const GradCheck check = gradcheck([&](const Var& x) { return wrong(x); }, random({3}, 1, 2));
  EXPECT_FALSE(check);
  EXPECT_GT(check.worst, 1);
  EXPECT_FALSE(check.message.empty());
  EXPECT_FALSE(gradcheck([](const Var& x) { return x * x.detach(); }, random({3}, 1, 2)));
}
TEST_P(Transforms, GradcheckNeedsDouble) {
  expect_error(ErrorKind::dtype, {"gradcheck", "f32[2]"}, [] { gradcheck([](const Var& x) { return x; }, ones({2})); });
}

}  // namespace
}  // namespace tern::test
