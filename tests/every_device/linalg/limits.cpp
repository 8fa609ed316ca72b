// Matrices whose elements are near the dtype's limits, columns and rows of other sizes beside them, equal and vanishing
// singular values, and numbers that are not finite: what is finite is right there, and what is not known says so.
#include "every_device/complex/complex_numbers.hpp"
#include "every_device/gradients/derivatives.hpp"
#include "every_device/linalg/matrices.hpp"

namespace tern::test {
namespace {

using namespace linalg;

Tensor adjoint_of(const Tensor& x) { return is_complex(x.dtype()) ? conj(x).mT() : x.mT(); }

/// On the CPU alone: other devices have fewer dtypes, and what they lack is its work.
class MatricesAtLimits : public EveryDevice {
 protected:
  /// Of size 2^power; `graded`: each row a hundredth of the one above.
  static Tensor matrices(std::int64_t count, std::int64_t m, std::int64_t n, DType dtype, int power, bool graded) {
    Tensor x = noise_matrices(count, m, n, f64), y = noise_matrices(count, n, m, f64).mT();
    if (graded) {
      const Tensor by = exp(arange(0, m, 1, {.dtype = f64, .device = cpu()}) * -4.6).unsqueeze(-1);
      x = x * by, y = y * by;
    }
    const double size = std::ldexp(1.0, power);
    const DType part = real_dtype(dtype);
    const Tensor all = is_complex(dtype) ? make_complex((x * size).to(part), (y * size).to(part)) : (x * size).to(part);
    return count == 1 ? all[0] : all;
  }
  /// As c128, divided by 2^power.
  static Tensor scaled(const Tensor& x, int power) {
    const int half = power / 2;
    return x.to(c128) * std::ldexp(1.0, -half) * std::ldexp(1.0, half - power);
  }
  template <class F> void for_each(F f) const {
    if (!(device() == cpu())) return;
    for (const DType dtype : {f32, f64, c64, c128})
      for (const int part : {-1, 1})
        for (const bool graded : {false, true})
          for (const std::int64_t n : {3, 9, 20, 33})
            for (const std::int64_t count : {1, 9}) {
              const int most = real_dtype(dtype) == f64 ? 1015 : 120, power = part * most;
              SCOPED_TRACE(std::string(to_string(dtype)) + " 2^" + std::to_string(power) + (graded ? " graded " : " ") +
                           std::to_string(n) + " x" + std::to_string(count));
              f(dtype, power, graded, n, count);
            }
  }
  static void expect_near(const char* what, const Tensor& got, const Tensor& want, DType dtype, double n) {
    EXPECT_LE(largest_part(got - want), 20 * n * epsilon_of(dtype) * std::max(largest_part(want), 1e-3)) << what;
  }
};
TERN_EVERY_DEVICE(MatricesAtLimits);

TEST_P(MatricesAtLimits, AreFactorised) {
  for_each([](DType dtype, int power, bool graded, std::int64_t n, std::int64_t count) {
    for (const std::int64_t m : {n, n + 3}) {
      const Tensor a = matrices(count, m, n, dtype, power, graded), exact = scaled(a, power);
      const auto f = qr(a);
      const Tensor q = f.q.to(c128);
      expect_near("q·r", matmul(q, scaled(f.r, power)), exact, dtype, static_cast<double>(m));
      expect_near("qᴴ·q", matmul(adjoint_of(q), q), eye(n, {.dtype = c128}), dtype, static_cast<double>(m));
      const auto g = linalg::lu(a);
      expect_near("p·l·u", matmul(g.p.to(c128), matmul(g.l.to(c128), scaled(g.u, power))), exact, dtype,
                  static_cast<double>(m));
      const auto s = svd(a, false);
      expect_near("u·s·vh", matmul(s.u.to(c128) * scaled(s.s, power).unsqueeze(-2), s.vh.to(c128)), exact, dtype,
                  static_cast<double>(m));
    }
  });
}
TEST_P(MatricesAtLimits, HaveEigenvaluesAndSolutions) {
  for_each([](DType dtype, int power, bool graded, std::int64_t n, std::int64_t count) {
    if (graded) return;  // LAPACK balances such ones, and gives vectors of what it balanced
    const Tensor a = matrices(count, n, n, dtype, power, false), exact = scaled(a, power);
    const auto e = eig(a);
    const Tensor v = e.eigenvectors.to(c128);
    const Tensor values = scaled(e.eigenvalues, power).unsqueeze(-2);
    expect_near("a·v", matmul(exact, v), v * values, dtype, static_cast<double>(n));
    const auto h = eigh(a * 0.5 + adjoint_of(a) * 0.5);
    const Tensor w = h.eigenvectors.to(c128);
    expect_near("v·w·vᴴ", matmul(w * scaled(h.eigenvalues, power).unsqueeze(-2), adjoint_of(w)),
                exact * 0.5 + adjoint_of(exact) * 0.5, dtype, static_cast<double>(n));
    const double more = std::ldexp(1.0, power) * 4;
    const Tensor d = a + (eye(n, {.dtype = real_dtype(dtype)}) * more).to(dtype);
    const Tensor b = matrices(count, n, 2, dtype, power, false);
    const Tensor x = solve(d, b).to(c128), left = matmul(scaled(d, power), x);
    EXPECT_LE(largest_part(left - scaled(b, power)),
              50 * static_cast<double>(n) * epsilon_of(dtype) * std::max(1.0, largest_part(x)));
  });
}

/// OpenBLAS multiplies by the pivots' reciprocals, which subnormal ones have none of.
TEST_P(MatricesAtLimits, MayHaveSubnormalPivots) {
  if (!(device() == cpu())) return;
  for (const DType dtype : {f32, f64, c64, c128})
    for (const std::int64_t n : {26, 40}) {
      const double least = real_dtype(dtype) == f64 ? 0x1p-1060 : 0x1p-140;
      Tensor a = eye(n, {.dtype = real_dtype(dtype)});
      assign(a(Slice(), 2), 0.0), assign(a(2, 2), least), assign(a(3, 2), least);
      const auto f = linalg::lu(a.to(dtype));
      EXPECT_LE(largest_part(matmul(f.p, matmul(f.l, f.u)) - a.to(dtype)), least) << n;
      EXPECT_EQ(lu_factor_ex(a.to(dtype)).info.item<std::int32_t>(), 0);
    }
}

/// Nor have triangles of subnormal numbers, whose solutions were NaN.
TEST_P(MatricesAtLimits, MayBeSubnormalThroughout) {
  if (!(device() == cpu())) return;
  for (const DType dtype : {f32, f64, c64, c128})
    for (const std::int64_t n : {1, 9, 40}) {
      const int power = real_dtype(dtype) == f64 ? -1040 : -135;
      const Tensor one = eye(n, {.dtype = real_dtype(dtype)}) * std::ldexp(1.0, power);
      const Tensor a = matrices(1, n, n, dtype, power, false) * (0.25 / static_cast<double>(n)) + one.to(dtype);
      const Tensor b = matrices(1, n, 2, dtype, power, false), exact = scaled(a, power), right = scaled(b, power);
      const auto check = [&](const char* what, const Tensor& matrix, const Tensor& x) {
        EXPECT_LE(largest_part(matmul(matrix, x.to(c128)) - right), 0.01) << what << " of " << n;
      };
      check("solve", exact, solve(a, b));
      check("upper", triu(exact), solve_triangular(a, b, true));
      check("lower", tril(exact), solve_triangular(a.contiguous(), b, false));
      const Tensor left = solve_triangular(a, b.mT(), true, false).mT();
      check("left", triu(exact).mT(), left);
    }
}

/// Half of the values are 1, the others 0: Eigen's divide and conquer gave wrong vectors of some of them, and NaN.
TEST_P(MatricesAtLimits, ProjectionsHaveSingularValues) {
  if (!(device() == cpu())) return;
  for (const DType dtype : {f64, c128})
    for (const std::int64_t n : {17, 18, 20, 21, 23, 35}) {
      const Tensor whole = linalg::qr(matrices(50, n, n, dtype, 0, false)).q, q = whole.slice(-1, 0, n / 2);
      const Tensor a = matmul(q, adjoint_of(q));
      const auto f = svd(a);
      const double most = 20 * static_cast<double>(n) * epsilon_of(dtype);
      EXPECT_LE(largest_part(matmul(f.u * f.s.unsqueeze(-2), f.vh) - a), most) << n;
      EXPECT_LE(largest_part(matmul(adjoint_of(f.u), f.u) - unit(n)), most) << n;
      const Tensor want = (arange(0, n, 1, {.dtype = f64, .device = cpu()}) < n / 2).to(f64);
      EXPECT_LE(largest_part(svdvals(a) - want), most) << n;
    }
}

TEST_P(MatricesAtLimits, ConditionsOfSingularOnes) {
  const Tensor singular = tensor({{1.f, 2.f}, {2.f, 4.f}}, device()), none = zeros({2, 2});
  for (const Norm& norm : {Norm(1), Norm(-1), Norm("fro"), Norm("nuc"), Norm(kInf), Norm(2)}) {
    EXPECT_EQ(doubles(cond(none, norm))[0], kInf) << norm.text();
    if (!norm.named() && norm.p() == 2) continue;  // whose least singular value is a rounding
    EXPECT_EQ(doubles(cond(singular, norm))[0], kInf) << norm.text();
    if (in_software(device())) break;
    EXPECT_EQ(doubles(cond(zeros({40, 40}), norm))[0], kInf) << norm.text();
  }
  const Tensor both = stack(std::vector<Tensor>{none, eye(2) * 3}, 0);
  EXPECT_EQ(doubles(cond(both, 1)), (std::vector<double>{kInf, 1}));
  EXPECT_EQ(doubles(cond(both)), (std::vector<double>{kInf, 1}));
  expect_error(ErrorKind::shape, {"cond", "[0, 0]"}, [] { cond(zeros({0, 0})); });
  expect_error(ErrorKind::value, {"cond", "no norm 3"}, [] { cond(eye(2), 3); });
  expect_error(ErrorKind::value, {"pinv", "rtol"}, [] { pinv(eye(2), kNaN); });
  expect_error(ErrorKind::value, {"matrix_rank", "rtol"}, [] { matrix_rank(eye(2), kNaN); });
  expect_error(ErrorKind::value, {"lstsq", "rtol"}, [] { lstsq(eye(2), ones({2}), kNaN); });
  expect_error(ErrorKind::shape, {"lstsq", "[2]", "[3]"}, [] { lstsq(zeros({2, 2, 2}), ones({3, 2, 1})); });
  expect_error(ErrorKind::linalg, {"matrix_norm", "not finite"}, [] { matrix_norm(full({2, 2}, kNaN, f32), 2); });
}
/// The product of the first pivots is beyond the dtype, or too small for it, and the determinant is not.
TEST_P(MatricesAtLimits, DeterminantsWhosePartialProductsAreBeyondTheDtype) {
  std::vector<DType> dtypes = all_floats(device());
  for (const DType dtype : {c64, c128})
    if (supports(device(), dtype)) dtypes.push_back(dtype);
  for (const DType dtype : dtypes) {
    if (dtype_size(real_dtype(dtype)) == 2) continue;
    const bool wide = real_dtype(dtype) == f64;
    const double eps = epsilon(real_dtype(dtype)), far = wide ? 0x1p600 : 0x1p80;
    const auto of = [&](std::vector<double> diagonal) {
      const auto n = static_cast<std::int64_t>(diagonal.size());
      const Tensor d = tensor(diagonal, f64, cpu()), below = tril(ones({n, n}, {.dtype = f64, .device = cpu()}), -1);
      return (diag(d) + matmul(below, diag(d))).to(dtype).to(device());  // of ones below the diagonal, times it
    };
    const auto expect = [&](const std::vector<double>& diagonal, double want) {
      const double got = largest_part(det(of(diagonal)));
      const double bound = std::isinf(want) ? 0 : 4 * static_cast<double>(diagonal.size()) * eps * want;
      EXPECT_TRUE(got == want || std::abs(got - want) <= bound) << to_string(dtype) << " " << got << " " << want;
    };
    expect({far, far, 1.5, 1 / far, 1 / far}, 1.5);
    for (const double turn : {1.0, -1.0}) {  // three and four rows are eliminated in registers, or by a formula
      expect({far, turn * far, 1.5 / far}, 1.5 * far);
      expect({1 / far, 1.5 / far, turn * far}, 1.5 / far);
      expect({far, 1.5 * far, 1 / far, turn / far}, 1.5);
      expect({1 / far, 1 / far, turn * far, 3 * far}, 3);
      expect({1 / far, far, far, turn * 1.5 / far}, 1.5);
      expect({far, 2, far, turn * 1.5 / far}, 3 * far);
      expect({far, far, 0, 1}, 0);
      expect({far, far, far, turn}, kInf);
    }
    expect({1 / far, 1 / far, 1 / far, 3, 1.5, far, far, far}, 4.5);
    expect(std::vector<double>(40, 1.5), std::pow(1.5, 40));
    expect({far, far, far, 1, 1}, kInf);
    expect({1 / far, 1 / far, 1 / far, 1, 1}, 0);
    expect({far, far, 0, 1, 1}, 0);
    std::vector<double> many(300, 1.375);  // 1.375^300 is 2^138
    for (std::size_t i = 150; i < 300; ++i) many[i] = 0.75;
    expect(many, std::pow(1.375 * 0.75, 150));
    expect(std::vector<double>(300, 0.875), std::pow(0.875, 300));
  }
}
TEST_P(MatricesAtLimits, PivotsAreRows) {
  for (const std::int64_t n : {3, 12, 40}) {
    const auto f = lu_factor(eye(n) * 2);
    EXPECT_EQ(largest_part(lu_solve(f.lu, f.pivots, ones({n, 1})) - 0.5), 0);
    for (const int by : {1, -1})  // as of libraries that count from 1
      expect_error(ErrorKind::index, {"lu_solve", "pivots"}, [&] { lu_solve(f.lu, f.pivots + by, ones({n, 1})); });
  }
}
/// The residual is that of roundings, whatever the condition.
TEST_P(MatricesAtLimits, LeastSquaresOfIllConditionedOnes) {
  if (!(device() == cpu())) return;
  std::vector<double> powers;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 12; ++j) powers.push_back(std::pow(i / 39.0, j));
  const Tensor a = tensor(powers, f64, cpu()).reshape({40, 12}), b = matmul(a, ones({12, 2}, f64));
  EXPECT_LE(largest_part(matmul(a, lstsq(a, b).solution) - b), 1e-13);
  const Var x(a);
  EXPECT_LE(largest_part(matmul(a, lstsq(x, b).solution.value()) - b), 1e-13);
  const Tensor sizes = tensor({2e-309, 1e-307}, f64, cpu());  // of which the first has no inverse
  EXPECT_EQ(doubles(lstsq(diag(sizes), sizes).solution), (std::vector<double>{1, 1}));
}

// ---- where values meet ----
class ValuesMeet : public InDouble {
 protected:
  Tensor weights(std::int64_t m, std::int64_t n) const { return noise_matrices(1, m, n, f64)[0].to(device()); }
  Tensor of(const Shape& shape, const std::vector<double>& values) const {
    return tensor(values, f64, cpu()).reshape(shape).to(device());
  }
};
TERN_EVERY_DEVICE_IN_DOUBLE(ValuesMeet);

/// u·vh is the nearest orthogonal matrix, smooth where singular values are equal.
TEST_P(ValuesMeet, ThePolarFactorIsSmooth) {
  const Tensor turn = of({3, 3}, {0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1}), w = weights(3, 3);
  const auto polar = [](const Var& x) {
    const auto f = svd(x, false);
    return matmul(f.u, f.vh);
  };
  for (const double size : {1.0, 2.5}) {
    const Var x(turn * size);
    const Tensor inner = matmul(turn.mT(), w);
    const Tensor want = matmul(turn, inner - inner.mT()) * (0.5 / size);
    EXPECT_LE(largest_part(backward(sum(polar(x) * w))[x] - want), 1e-13);
    const Var z(x.value().to(c128));
    EXPECT_LE(largest_part(real(backward(sum(real(polar(z)) * w))[z]) - want), 1e-13);
  }
  for (const double apart : {1e-3, 1e-9, 1e-14}) {  // and near there
    const Tensor s = of({3, 3}, {2, 0, 0, 0, 2 + apart, 0, 0, 0, 1});
    const Var x(matmul(turn, s));
    const Tensor inner = matmul(turn.mT(), w), d = diagonal(s);
    const Tensor want = matmul(turn, (inner - inner.mT()) / (d.unsqueeze(0) + d.unsqueeze(1)));
    EXPECT_LE(largest_part(backward(sum(polar(x) * w))[x] - want), 1e-12) << apart;
  }
}
/// A singular value of 0 whose vectors the loss does not see, of complex matrices, too.
TEST_P(ValuesMeet, ASingularValueOfNothing) {
  for (const DType dtype : {f64, c128}) {
    const Tensor a = of({3, 2}, {1, 2, 2, 4, 3, 6});
    const Var x(a.to(dtype));
    const auto first = [&](const Var& x) {
      const auto f = svd(x, false);
      const Var u = f.u.slice(-1, 0, 1), v = f.vh.slice(-2, 0, 1) * f.s.slice(-1, 0, 1).unsqueeze(-1);
      return sum(real(matmul(u, v)) * weights(3, 2));
    };
    // Of a's best approximation of rank 1: the tangents of matrices of rank 1.
    const Tensor u = of({3, 1}, {1, 2, 3}) / std::sqrt(14.0), v = of({2, 1}, {1, 2}) / std::sqrt(5.0);
    const Tensor w = weights(3, 2);
    const Tensor out = w - matmul(u, matmul(u.mT(), w));
    const Tensor want = w - matmul(out, unit(2).to(device()) - matmul(v, v.mT()));
    EXPECT_LE(largest_part(real(backward(first(x))[x]) - want), 1e-12) << to_string(dtype);
  }
}
/// Functions of matrices have derivatives there that are not told by those of values and vectors: not a number, rather
/// than a wrong one. Those of values alone, and of whole spaces of vectors, are right.
TEST_P(ValuesMeet, WhatIsNotKnownIsNoNumber) {
  const Tensor one = eye(3, {.dtype = f64}), w = weights(3, 3);
  const auto has_nan = [](const Tensor& g) { return std::isnan(doubles(sum(g))[0]); };
  const Var x(one.clone());
  const auto e = eigh(x);
  const Var function = matmul(e.eigenvectors * e.eigenvalues.unsqueeze(-2), e.eigenvectors.mT());
  EXPECT_TRUE(has_nan(backward(sum(function * w))[x]));
  const Var low(of({3, 2}, {1, 2, 2, 4, 3, 6}));
  const auto f = svd(low, false);
  EXPECT_TRUE(has_nan(backward(sum(matmul(f.u * f.s.unsqueeze(-2), f.vh) * weights(3, 2)))[low]));
  const Tensor tangent = w + w.mT();
  const auto [value, moved] = jvp([](const Var& a) { return eigh(a).eigenvectors; }, one, tangent);
  for (const double v : doubles(moved)) EXPECT_FALSE(std::isfinite(v) && v != 0) << v;
  EXPECT_LE(largest_part(backward(sum(square(eigvalsh(x))))[x] - 2 * one), 1e-13);
}
/// Squares of singular values may be beyond the dtype's range.
TEST_P(ValuesMeet, HugeAndTinyValuesAreApart) {
  const Tensor a = of({3, 3}, {3, 1, 0, 0.5, 2, 1, 0, 1, 1});
  const auto by = [](const Var& x) {
    const Tensor w = arange(0, 3, 1, {.dtype = f64});
    return sum(square(svd(x, false).u).slice(-1, 0, 1).squeeze(-1) * w);
  };
  const Var same(a);
  const Tensor want = backward(by(same))[same];
  for (const double size : {0x1p+700, 0x1p-700}) {
    const Var x(a * size);
    EXPECT_LE(largest_part(backward(by(x))[x] * size - want), 1e-12) << size;
  }
}

}  // namespace
}  // namespace tern::test
