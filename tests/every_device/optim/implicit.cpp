// Implicit differentiation: linear solvers, roots and least squares, their values and derivatives.
#include <random>

#include "every_device.hpp"

namespace tern::test {
namespace {

class Implicit : public EveryDevice {
 protected:
  bool has_f64() const { return !device().to_string().starts_with("webgpu"); }
  DType wide() const { return has_f64() ? DType::f64 : DType::f32; }
  double bound() const { return has_f64() ? 1e-7 : 1e-3; }
  Tensor numbers(const Shape& shape) {
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (double& v : values) v = normal(random_);
    return tensor(values, cpu()).reshape(shape).to(wide()).to(device());
  }
  Tensor one(std::int64_t n) { return eye(n).to(wide()); }
  Tensor positive(std::int64_t n) {
    const Tensor a = numbers({n, n});
    return matmul(a, a.transpose(0, 1)) + one(n);
  }
  template <class F, class... T> void expect_gradients(const F& f, const T&... x) {
    if (!has_f64()) return;
    const GradCheck first = gradcheck(f, x...), second = gradgradcheck(f, x...);
    EXPECT_TRUE(first) << first.message;
    EXPECT_TRUE(second) << second.message;
  }
  double worst(const Tensor& x) { return max(abs(x)).to(cpu()).to(DType::f64).item<double>(); }
  std::mt19937 random_{5};
};
TERN_EVERY_DEVICE(Implicit);

const auto batched_product = [](const Var& x, const Var& a) { return matmul(a, x.unsqueeze(-1)).squeeze(-1); };

TEST_P(Implicit, EverySolverSolves) {
  const Tensor a = positive(6), b = numbers({6}), general = numbers({6, 6}) + 4 * one(6);
  IterativeOptions options;
  for (const bool preconditioned : {false, true}) {
    if (preconditioned) options.preconditioner = [](const Var& v) { return v * 0.25; };
    const auto cg = custom_linear_solve(batched_product, conjugate_gradients(options));
    EXPECT_LT(worst(batched_product(Var(cg(b, a)), Var(a)).value() - b), bound());
    for (const LinearMethod& method : {gmres(options), bicgstab(options)})
      EXPECT_LT(
          worst(batched_product(Var(custom_linear_solve(batched_product, method)(b, general)), Var(general)).value() -
                b),
          bound());
  }
  const Tensor zero = custom_linear_solve(batched_product, gmres())(b * 0, general);
  EXPECT_EQ(worst(zero), 0);
}
TEST_P(Implicit, BatchesAreSystemsOfTheirOwn) {
  const Tensor a = tensor({2.f, 3.f, 5.f}).to(wide()).reshape({3, 1}), b = numbers({3, 4});
  const auto scaled = [](const Var& x, const Var& a) { return x * a; };
  for (const LinearMethod& method : {conjugate_gradients({.batched = true}), bicgstab({.batched = true})})
    EXPECT_LT(worst(custom_linear_solve(scaled, method)(b, a) - b / a), bound());
  const Tensor none = zeros({0, 4}).to(wide());
  for (const LinearMethod& method : {conjugate_gradients({.batched = true}), bicgstab({.batched = true})})
    EXPECT_EQ(custom_linear_solve(scaled, method)(none, a.slice(0, 0, 0)).shape(), none.shape());
}
/// Of right-hand sides whose squares are beyond the dtype's range; what is not finite is no solution.
TEST_P(Implicit, RightHandSidesOfAnySizeAreSolvedFor) {
  const Tensor b = tensor({1.f, 2.f, -3.f}, device()), a = eye(3) * 2;
  const auto map = [](const Var& x, const Var& a) { return matmul(a, x.unsqueeze(-1)).squeeze(-1); };
  for (const LinearMethod& method : {conjugate_gradients(), gmres(), bicgstab()}) {
    for (const float size : {1e30f, 1e-30f}) {
      const std::vector<double> x = doubles(custom_linear_solve(map, method)(b * size, a) / size), want = doubles(b);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[i], want[i] / 2, 1e-5) << size;
    }
    if (in_software(device())) return;  // each of their kernels takes a second there
    expect_error(ErrorKind::linalg, {"not finite after"}, [&] {
      custom_linear_solve(map, method)(b * std::numeric_limits<float>::infinity(), a);
    });
  }
  const std::vector<double> of_large = doubles(custom_linear_solve(map, gmres())(b, a * 1e25f) * 1e25f);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(of_large[i], doubles(b)[i] / 2, 1e-5) << "of a map of large numbers";
  const Tensor rows = stack(std::vector<Tensor>{b * 1e30f, b * 1e-30f, b}, 0);
  const auto scaled = [](const Var& x, const Var& a) { return x * a; };
  for (const LinearMethod& method : {conjugate_gradients({.batched = true}), bicgstab({.batched = true})}) {
    const Tensor x = custom_linear_solve(scaled, method)(rows, full({}, 2.f));
    for (const double v : doubles(x / rows)) EXPECT_NEAR(v, 0.5, 1e-5);
  }
}
/// The residual that an iteration carries along falls below any limit, whatever x is: of a map that is nearly singular
/// x was one of residual 12 |b|, and of what is not linear it was anything.
TEST_P(Implicit, SolutionsAreToldByTheirOwnResiduals) {
  const Tensor v = tensor({1., -2., 0.5, 3., 1.5}, cpu()), b = tensor({1.f, 0.3f, -2.f, 0.7f, 1.1f}, cpu());
  const Tensor turn = eye(5, {.dtype = f64, .device = cpu()}) - outer(v, v) * (2 / 16.5);
  const Tensor sizes = tensor({1., 1e-2, 1e-4, 1e-6, 1e-8}, cpu());
  const Tensor a = matmul(turn * sizes, turn.mT()).to(f32).to(device());
  for (const LinearMethod& method : {conjugate_gradients(), bicgstab(), gmres()}) {
    try {
      const Tensor x = custom_linear_solve(batched_product, method)(b.to(device()), a);
      const Tensor left = matmul(a.to(cpu()).to(f64), x.to(cpu()).to(f64)) - b.to(f64);
      EXPECT_LT(norm(left).item<double>(), 4e-3 * norm(b).item<float>());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::linalg);
    }
    if (in_software(device())) return;
  }
  for (const LinearMethod& method : {conjugate_gradients(), bicgstab()})
    expect_error(ErrorKind::linalg, {"converge"}, [&] {
      custom_linear_solve([](const Var& x) { return x * 2 + 1; }, method)(ones({3}, f32).to(device()));
    });
}
TEST_P(Implicit, SolutionsHaveGradients) {
  const Tensor a = positive(4), b = numbers({4}), general = numbers({4, 4}) + 3 * one(4);
  const auto symmetric = [](const Var& x, const Var& a) { return batched_product(x, a + a.transpose(0, 1)); };
  const auto cg = custom_linear_solve(symmetric, conjugate_gradients({.tolerance = has_f64() ? 1e-14 : 1e-5}));
  expect_gradients([&](const Var& b, const Var& a) { return cg(b, a); }, b, a);
  const auto other = custom_linear_solve(batched_product, gmres({.tolerance = has_f64() ? 1e-14 : 1e-5}));
  expect_gradients([&](const Var& b, const Var& a) { return other(b, a); }, b, general);
  const auto preconditioned = custom_linear_solve(
      batched_product,
      bicgstab({.tolerance = has_f64() ? 1e-13 : 1e-5, .preconditioner = [](const Var& v) { return v * 0.3; }}));
  expect_gradients([&](const Var& b, const Var& a) { return preconditioned(b, a); }, b, general);
  const auto [y, tangent] = jvp([&](const Var& a) { return other(Var(b), a); }, general, one(4));
  EXPECT_LT(worst(tangent + other(other(b, general), general)), 10 * bound());
}
TEST_P(Implicit, ComplexNumbersAmongWhatElseTheMapTakesHaveGradients) {
  const Tensor b = numbers({3}), x0 = zeros({3}).to(wide());
  const Var z(make_complex(abs(numbers({3})) + 1, numbers({3})));
  const auto scaled = [](const Var& x, const Var& z) { return square(abs(z)) * x; };
  const auto equation = [](const Var& x, const Var& z) { return square(abs(z)) * x - 2; };
  const auto largest = [](const Tensor& z) { return max(abs(z)).to(cpu()).to(DType::f64).item<double>(); };
  const Tensor of_solution = backward(sum(custom_linear_solve(scaled)(b, z)))[z];
  EXPECT_LT(largest(of_solution - backward(sum(b / square(abs(z))))[z]), bound());
  const Tensor of_root = backward(sum(custom_root(equation, Newton())(x0, z)))[z];
  EXPECT_LT(largest(of_root - backward(sum(2 / square(abs(z))))[z]), bound());
}
TEST_P(Implicit, RootsHaveGradients) {
  const auto f = [](const Var& x, const Var& a, const Var& b) { return x * x * x + a * x - b; };
  const auto root = custom_root(f, Newton());
  const Tensor a = abs(numbers({5})) + 1, b = numbers({5}), x0 = zeros({5}).to(wide());
  const Tensor x = root(x0, a, b);
  EXPECT_LT(worst(x * x * x + a * x - b), bound());
  const Var va(a), vb(b);
  const Gradients g = backward(sum(root(x0, va, vb)));
  EXPECT_LT(worst(g[vb] - 1 / (3 * x * x + a)), 10 * bound());
  const auto exact =
      custom_root(f, Newton({.tolerance = 1e-13, .method = gmres({.tolerance = 1e-13})}), gmres({.tolerance = 1e-13}));
  expect_gradients([&](const Var& a, const Var& b) { return exact(x0, a, b); }, a, b);
}
TEST_P(Implicit, AFixedPointOfOwnIteration) {
  const auto f = [](const Var& x, const Var& a) { return cos(x) * a - x; };
  const auto iterate = [](const auto& g, Tensor x) {
    for (int i = 0; i < 200; ++i) x = x + 0.7 * g(x);
    return x;
  };
  const auto root = custom_root(f, iterate, gmres({.tolerance = 1e-13}));
  const Tensor a = tensor({0.5f, 0.9f}).to(wide());
  expect_gradients([&](const Var& a) { return root(zeros({2}).to(DType::f64), a); }, a);
  EXPECT_LT(worst(f(Var(root(a * 0, a)), Var(a)).value()), bound());
}
TEST_P(Implicit, LeastSquaresFitsEveryRow) {
  const Tensor rates = tensor({0.5f, 1.f, 2.f}).to(wide()).reshape({3, 1}), t = linspace(0, 2, 9).to(wide());
  const Tensor data = 3 * exp(-rates * t) + 0.25 * rates;
  const auto model = [&](const Var& x) {
    return x.slice(-1, 0, 1) * exp(-x.slice(-1, 1, 2) * t) + x.slice(-1, 2, 3) - data;
  };
  const auto fit = optim::least_squares(model, ones({3, 3}).to(wide()));
  EXPECT_LT(worst(fit.x.slice(-1, 1, 2) - rates), has_f64() ? 1e-5 : 1e-2);
  EXPECT_TRUE(all(fit.converged).to(cpu()).item<bool>());
  EXPECT_EQ(fit.cost.shape(), (Shape{3}));
  EXPECT_LT(fit.iterations, 60);
  const auto wide_fit = optim::least_squares([&](const Var& x) { return x * x - 4; }, ones({2, 15}).to(wide()));
  EXPECT_LT(worst(wide_fit.x - 2), 1e-3);
  const auto wider = optim::least_squares([&](const Var& x) { return x * x - 4; }, ones({2, 40}).to(wide()));
  EXPECT_LT(worst(wider.x - 2), 1e-3);
  // Fewer residuals than unknowns: one of the points where they vanish.
  const auto few = [&](const Var& x) { return x.slice(-1, 0, 2) * x.slice(-1, 2, 4) - 4; };
  const auto point = optim::least_squares(few, ones({3, 5}).to(wide()));
  EXPECT_LT(worst(few(Var(point.x)).value()), 1e-3);
}
/// Where roundings hide what is left: the gradient of large residuals in f32 is never below its bound.
TEST_P(Implicit, LeastSquaresEndWithLargeResiduals) {
  const Tensor t = linspace(0, 2, 20), data = (3 * exp(t * -0.7) + 0.2 * cos(t * 9)) * 1000;
  const auto model = [&](const Var& x) {
    return x.slice(-1, 0, 1) * exp(-x.slice(-1, 1, 2) * t) * 1000 - data;
  };
  const auto fit = optim::least_squares(model, ones({4, 2}));
  EXPECT_TRUE(all(fit.converged).to(cpu()).item<bool>());
  EXPECT_LT(fit.iterations, 60);
  EXPECT_NEAR(doubles(fit.x)[0], 3, 0.3);
}
/// One residual of several unknowns, on the last of which it does not depend, and unknowns that are 10⁶ and 10⁻⁶.
TEST_P(Implicit, LeastSquaresOfUnknownsOfAnyScale) {
  const auto one = [](const Var& x) { return sum(x * x, {-1}, true) - 3; };
  const auto point = optim::least_squares(one, tensor({{1.f, 5.f, 0.f}, {-10.f, 50.f, 0.f}}).to(wide()));
  EXPECT_LT(worst(one(Var(point.x)).value()), 1e-3);
  EXPECT_TRUE(all(point.converged).to(cpu()).item<bool>());
  if (!has_f64()) return;
  const auto badly_scaled = [](const Var& x) {  // Brown's
    const Var a = x.slice(-1, 0, 1), b = x.slice(-1, 1, 2);
    return concatenate(std::vector<Var>{a - 1e6, b - 2e-6, a * b - 2}, -1);
  };
  EXPECT_LT(worst(optim::least_squares(badly_scaled, ones({1, 2}, f64)).cost), 1e-10);
}
/// Residuals whose squares are beyond the dtype's range.
TEST_P(Implicit, LeastSquaresOfResidualsOfAnySize) {
  for (const double size : {1e30, 1e-12, 1e-25}) {
    const auto fit = optim::least_squares([&](const Var& x) { return (x - 2) * size; }, full({2, 3}, 3.f),
                                          {.gradient = 0});
    EXPECT_LT(worst(fit.x - 2), 1e-4) << size;
    EXPECT_TRUE(all(fit.converged).to(cpu()).item<bool>()) << size;
    if (in_software(device())) return;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto lost = optim::least_squares([&](const Var& x) { return x * nan; }, ones({2, 3}), {.iterations = 3});
  EXPECT_FALSE(any(lost.converged).to(cpu()).item<bool>());
  EXPECT_EQ(worst(lost.x - 1), 0);
}
/// The method's preconditioner is Newton's, too.
TEST_P(Implicit, NewtonTakesAllOfItsMethod) {
  const auto f = [](const Var& x, const Var& a) { return x * x - a; };
  int calls = 0;
  const auto counted = [&](const Var& v) { return ++calls, v * 0.5; };
  const Tensor x = custom_root(f, Newton({.method = gmres({.preconditioner = counted})}))(ones({2}), full({2}, 4.f));
  EXPECT_LT(worst(x - 2), 1e-4);
  EXPECT_GT(calls, 0);
  EXPECT_EQ(custom_root(f, Newton())(ones({0}), ones({0})).shape(), (Shape{0}));
  expect_error(ErrorKind::dtype, {"Newton", "x0", "i32"}, [&] { custom_root(f, Newton())(ones({2}, i32), ones({2})); });
  expect_error(ErrorKind::linalg, {"Newton", "nan after 0 iterations"}, [&] {
    custom_root(f, Newton())(full({2}, std::numeric_limits<float>::quiet_NaN()), ones({2}));
  });
}
TEST_P(Implicit, WhatIsWrongIsSaid) {
  const Tensor a = numbers({3, 3}), b = numbers({3});
  expect_error(ErrorKind::shape, {"custom_linear_solve", "map"},
               [&] { custom_linear_solve([](const Var& x) { return sum(x); })(b); });
  expect_error(ErrorKind::dtype, {"custom_linear_solve", "i32"}, [&] {
    custom_linear_solve(batched_product)(tensor({1, 2, 3}), a);
  });
  expect_error(ErrorKind::linalg, {"gmres", "converge"},
               [&] { custom_linear_solve(batched_product, gmres())(b, a * 0); });
  expect_error(ErrorKind::linalg, {"conjugate_gradients", "2 iterations"}, [&] {
    custom_linear_solve(batched_product, conjugate_gradients({.tolerance = 1e-15, .iterations = 2}))(numbers({6}),
                                                                                                     positive(6));
  });
  expect_error(ErrorKind::value, {"bicgstab", "iterations"}, [&] { bicgstab({.iterations = 0}); });
  expect_error(ErrorKind::linalg, {"Newton", "converge"}, [&] {
    custom_root([](const Var& x, const Var& a) { return x * x + a; }, Newton())(b, ones({3}).to(wide()));
  });
  expect_error(ErrorKind::shape, {"least_squares", "x0"},
               [&] { optim::least_squares([](const Var& x) { return x; }, full({}, 1.f)); });
  expect_error(ErrorKind::shape, {"least_squares", "a row for each row of x0"},
               [&] { optim::least_squares([](const Var& x) { return sum(x); }, ones({3})); });
  expect_error(ErrorKind::dtype, {"least_squares", "i32"},
               [&] { optim::least_squares([](const Var& x) { return x.to(i32); }, ones({3})); });
  expect_error(ErrorKind::value, {"least_squares", "damping"},
               [&] { optim::least_squares([](const Var& x) { return x; }, ones({3}), {.damping = -1}); });
}

}  // namespace
}  // namespace tern::test
