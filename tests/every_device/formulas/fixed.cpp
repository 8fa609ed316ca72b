// Formulas of fixed-size vectors and matrices: values, derivatives, one kernel, errors.
#include <functional>
#include <random>

#include "every_device.hpp"
#include "primitives/linalg/operations/operation_small.hpp"

namespace tern::test {
namespace {

class Fixed : public EveryDevice {
 protected:
  /// f64 where the device has it.
  DType wide() const { return device() == cpu() || device().to_string().starts_with("cuda") ? DType::f64 : DType::f32; }
  bool has_f64() const { return wide() == DType::f64; }
  Tensor numbers(const Shape& shape, DType dtype) {
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (double& v : values) v = normal(random_);
    return tensor(values, cpu()).reshape(shape).to(dtype).to(device());
  }
  Tensor numbers(const Shape& shape) { return numbers(shape, DType::f32); }
  /// Gradients of both orders where there is f64.
  template <class F, class... T> void expect_gradients(const F& f, const T&... x) {
    if (!has_f64()) return;
    const GradCheck first = gradcheck(f, x...), second = gradgradcheck(f, x...);
    EXPECT_TRUE(first) << first.message;
    EXPECT_TRUE(second) << second.message;
  }
  double worst(const Tensor& a, const Tensor& b) {
    const std::vector<double> x = doubles(a), y = doubles(b);
    EXPECT_EQ(a.shape(), b.shape());
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
    return most;
  }
  std::mt19937 random_{17};
};
TERN_EVERY_DEVICE(Fixed);

const auto pose = formula("pose", [](Vec<3> p, Vec<4> q, Vec<3> t) { return rotate(q, p) + t; });

TEST_P(Fixed, APoseIsWhatItsMatrixGives) {
  const Tensor p = numbers({7, 3}), t = numbers({3});
  const auto unit = formula("unit", [](Vec<4> q) { return normalize(q); });
  const auto matrix = formula("matrix", [](Vec<4> q) { return quaternion_to_matrix(q); });
  const Tensor q = unit(numbers({7, 4}));
  const Tensor expected = matmul(matrix(q), p.unsqueeze(-1)).squeeze(-1) + t;
  EXPECT_LT(worst(pose(p, q, t), expected), 2e-6);
  EXPECT_LT(worst(matmul(matrix(q), matrix(q).transpose(-1, -2)), eye(3).broadcast_to({7, 3, 3})), 1e-6);
}
TEST_P(Fixed, TheAxesInFrontBroadcastAndMayBeEmptyOrAbsent) {
  const Tensor q = numbers({4});
  EXPECT_EQ(pose(numbers({2, 1, 3}), numbers({5, 4}), numbers({3})).shape(), (Shape{2, 5, 3}));
  EXPECT_EQ(pose(numbers({3}), q, numbers({3})).shape(), (Shape{3}));
  EXPECT_EQ(pose(numbers({0, 3}), q, numbers({3})).shape(), (Shape{0, 3}));
  const Tensor p = numbers({3, 6}).transpose(0, 1), t = numbers({6, 8}).slice(1, 1, 7, 2);  // strided
  EXPECT_EQ(worst(pose(p, q, t), pose(p.contiguous(), q, t.contiguous())), 0);
}
/// Rows of N elements, beside each other and among others, of lengths about blocks and vectors.
template <int N> void expect_rows_moved(const std::function<Tensor(const Shape&)>& numbers) {
  const auto f = formula([](Vec<N> v) {
    Vec<N> reversed;
    for (int i = 0; i < N; ++i) reversed[i] = v[N - 1 - i] * 2;
    return std::tuple(reversed, v[0]);
  });
  for (const std::int64_t rows : {1, 31, 32, 33, 1000, 1025, 3001}) {
    const Tensor close = numbers({rows, N}), wide = numbers({rows, N + 3}).slice(1, 2, N + 2),
                 apart = numbers({rows, 2 * N}).slice(1, 0, 2 * N, 2), turned = numbers({N, rows}).transpose(0, 1);
    const Tensor among = numbers({rows, N + 4}), behind = among.slice(1, 4, N + 4), amid = among.slice(1, 1, N + 1);
    for (const Tensor& x : {close, wide, apart, turned, behind, amid, close.slice(0, 0, {}, 3)}) {
      const auto [y, first] = f(x);
      EXPECT_EQ(doubles(y), doubles(flip(x, {1}) * 2)) << N << " of " << rows;
      EXPECT_EQ(doubles(first), doubles(x.slice(1, 0, 1).squeeze(1))) << N << " of " << rows;
    }
  }
}
TEST_P(Fixed, RowsOfAnyLengthAreReadAndWritten) {
  const auto make = [this](const Shape& shape) { return numbers(shape); };
  expect_rows_moved<3>(make), expect_rows_moved<16>(make);
  if (has_f64()) {
    const auto doubled = [this](const Shape& shape) { return numbers(shape, DType::f64); };
    expect_rows_moved<2>(doubled), expect_rows_moved<4>(doubled), expect_rows_moved<9>(doubled);
  }
  if (!in_software(device())) {
    expect_rows_moved<2>(make), expect_rows_moved<4>(make), expect_rows_moved<5>(make);
    expect_rows_moved<7>(make), expect_rows_moved<9>(make);
  }
  const auto sum_of = formula([](Vec<6> v, Expr scale) { return v * scale; });  // a sum over rows in the derivative
  const Var x(numbers({2500, 6})), scale(full({}, 1.5));
  const Gradients g = backward(sum(sum_of(x, scale)));
  EXPECT_NEAR(g[scale].item<float>(), sum(x).item<float>(), 0.05);
  EXPECT_EQ(doubles(g[x]), std::vector<double>(15000, 1.5));
}
TEST_P(Fixed, DerivativesAreRightToSecondOrder) {
  const DType d = wide();
  expect_gradients(pose, numbers({3, 3}, d), numbers({3, 4}, d), numbers({3}, d));
  expect_gradients(pose, numbers({2, 1, 3}, d), numbers({4}, d), numbers({2, 3, 3}, d));
  expect_gradients(formula([](Vec<3> axis, Expr angle, Vec<3> p) {
                     const Vec<3> unit = normalize(axis);
                     return std::tuple(rotation(unit, angle) * p, norm(cross(axis, p)), outer(p, axis),
                                       quaternion_from_matrix(rotation(unit, angle)));
                   }),
                   numbers({3, 3}, d), numbers({3}, d), numbers({3, 3}, d));
  expect_gradients(formula([](Mat<4> a, Mat<4> b) { return a * transpose(b) - 2 * a; }), numbers({2, 4, 4}, d),
                   numbers({4, 4}, d));
}
TEST_P(Fixed, AndToThirdOrder) {
  if (!has_f64()) return;
  const auto second = [](const Var& p, const Var& q, const Var& t) {
    auto [a, b] = grad([&](const Var& p, const Var& q) { return sum(square(pose(p, q, t))); })(p, q);
    return sum(a * a * a) + sum(b * b);
  };
  const GradCheck check = gradgradcheck(second, numbers({2, 3}, wide()), numbers({4}, wide()), numbers({2, 3}, wide()));
  EXPECT_TRUE(check) << check.message;
}
TEST_P(Fixed, SmallMatricesAreFactored) {
  for (int n = 1; n <= 4; ++n) {
    const Tensor a = numbers({5, n, n}, wide()), b = numbers({5, n, 2}, wide());
    const Tensor one = eye(n).to(wide()).to(device()).broadcast_to({5, n, n}),
                 spd = matmul(a, a.transpose(-1, -2)) + one;
    const double bound = has_f64() ? 1e-12 : 1e-4;
    EXPECT_LT(worst(matmul(spd, detail::small_inv(spd).value), one), bound) << n;
    EXPECT_LT(worst(matmul(spd, detail::small_solve(spd, b, false).value), b), bound) << n;
    const Tensor l = detail::small_cholesky(spd).value;
    EXPECT_LT(worst(matmul(l, l.transpose(-1, -2)), spd), bound) << n;
    EXPECT_LT(worst(detail::small_det(spd) / square(detail::small_det(l)), ones({5}).to(wide())), bound) << n;
    expect_gradients([](const Var& x) { return detail::small_inv(x).value; }, a);
    expect_gradients([](const Var& x) { return detail::small_det(x); }, a);
    expect_gradients([](const Var& x, const Var& y) { return detail::small_solve(x, y, false).value; }, a, b);
    expect_gradients([](const Var& x, const Var& y) { return detail::small_solve(x, y, true).value; }, a,
                     numbers({n}, wide()));
    expect_gradients(  // its gradient is symmetric, so of a symmetric argument
        [](const Var& x) { return detail::small_cholesky((x + x.transpose(-1, -2)) * 0.5).value; }, spd);
  }
}
TEST_P(Fixed, SingularOnesAreTold) {
  const Tensor a = tensor({1.f, 2.f, 2.f, 4.f, 0.f, 0.f, 0.f, 1.f, 0.f, 1.f, 1.f, 0.f}).reshape({3, 2, 2});
  EXPECT_EQ(detail::small_inv(a).info.to(cpu()).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 1, 0}));
  EXPECT_EQ(detail::small_cholesky(a).info.to(cpu()).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 1, 1}));
  EXPECT_EQ(doubles(detail::small_det(a)), (std::vector<double>{0, 0, -1}));
  EXPECT_EQ(detail::small_solve(a, numbers({3, 2, 20}), false).value.shape(), (Shape{3, 2, 20}));
  // The gradient of a determinant is right where the matrix is singular.
  const Var x(numbers({3, 3}) * tensor({1.f, 1.f, 0.f}));
  const Tensor cofactors = backward(detail::small_det(x))[x];
  const std::vector<double> v = doubles(x.value()), c = doubles(cofactors);
  EXPECT_NEAR(c[2], v[3] * v[7] - v[4] * v[6], 1e-5);
}
TEST_P(Fixed, AFormulaAndItsDerivativeAreOneKernelEach) {
  const Var p(numbers({100, 3})), q(numbers({100, 4})), t(numbers({100, 3}));
  const Tensor seed = ones({100, 3});
  const std::int64_t before = trace_counts().calls;
  const Var y = pose(p, q, t);
  EXPECT_EQ(trace_counts().calls, before + 1);
  backward(y, seed);
  EXPECT_EQ(trace_counts().calls, before + 2) << explain([&] { backward(pose(p, q, t), seed); });
}
TEST_P(Fixed, NumbersAndOtherFormulasStandInside) {
  const float scale = 3;
  const auto scaled = formula("scaled", [scale](Vec<2> v, Expr by) { return std::tuple(scale * v * by, sum(v)); });
  const auto [y, s] = scaled(tensor({1.f, 2.f}), 2);
  EXPECT_EQ(doubles(y), (std::vector<double>{6, 12}));
  EXPECT_EQ(doubles(s), (std::vector<double>{3}));
  const auto twice = formula([](Vec<3> p, Vec<4> q) { return pose(pose(p, q, Vec<3>::zero()), q, p); });
  const Tensor p = numbers({3}), q = numbers({4}), zero = zeros({3});
  EXPECT_LT(worst(twice(p, q), pose(pose(p, q, zero), q, p)), 1e-4);
}
TEST_P(Fixed, IntegersAndConstantsBesideFloats) {
  const auto f = formula([](Vec<2> v, Expr k) { return Vec<3>{v[0] * k, 1, k}; });
  const Tensor y = f(tensor({0.5f, 1.f}), tensor({4}));
  EXPECT_EQ(doubles(y), (std::vector<double>{2, 1, 4}));
}
TEST_P(Fixed, WhatIsWrongIsSaid) {
  const Tensor p = numbers({5, 3}), q = numbers({5, 4}), t = numbers({3});
  expect_error(ErrorKind::shape, {"pose", "argument 2", "[..., 4]", "f32[5, 3]"}, [&] { pose(p, p, t); });
  expect_error(ErrorKind::shape, {"pose", "argument 1", "[..., 3]", "a number"}, [&] { pose(1, q, t); });
  expect_error(ErrorKind::shape, {"pose", "[5]", "[4]"}, [&] { pose(p, numbers({4, 4}), t); });
  expect_error(ErrorKind::shape, {"pose", "argument 3"}, [&] { pose(p, q, Tensor()); });
  expect_error(ErrorKind::index, {"bad", "index 3", "3"}, [&] { formula("bad", [](Vec<3> v) { return v[3]; }); });
  expect_error(ErrorKind::shape, {"empty", "result 2"}, [&] {
    formula("empty", [](Vec<2> v) {
      Vec<2> w;
      w[0] = v[0];
      return w;
    });
  });
}

}  // namespace
}  // namespace tern::test
