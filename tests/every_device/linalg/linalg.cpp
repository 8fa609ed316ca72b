// Linear algebra: factors give their matrix again, and are orthogonal, at k·n·eps, on every kind of matrix, size and
// layout; singular, indefinite and non-finite matrices; gradients of complex numbers and where eigenvalues meet.
// (Longer than other files: each factorisation is held to the same kinds of matrices.)
#include <functional>
#include <limits>

#include "every_device/complex/complex_numbers.hpp"
#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

using namespace linalg;

std::vector<DType> factorised_dtypes(Device device) {
  std::vector<DType> list{f32};
  for (const DType dtype : {f64, c64, c128}) {
    try {
      cholesky(eye(1, {.dtype = dtype, .device = device}));
      synchronize(device);
      list.push_back(dtype);
    } catch (const Error&) {
    }
  }
  return list;
}

/// Whether the device has this factorisation: what it lacks must say so before anything runs.
template <class F> bool is_there(F f) {
  try {
    f();
    synchronize(default_device());
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::unsupported)) << e.what();
    return false;
  }
}

double largest_element(const Tensor& x) {
  double most = 0;
  for (const double v : doubles(is_complex(x.dtype()) ? view_as_real(x.reshape({-1})) : x))
    most = std::isnan(v) ? v : std::max(most, std::abs(v));
  return most;
}

struct Kind {
  const char* name;
  std::function<double(std::int64_t, std::int64_t, std::int64_t)> at;  // (i, j, n)
};
double sine_noise(std::int64_t i, std::int64_t j) { return std::sin(1.3 * static_cast<double>(i * 37 + j * 101 + 5)); }
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list{
      {"random", [](auto i, auto j, auto) { return sine_noise(i, j); }},
      {"graded",
       [](auto i, auto j, auto) {
         return sine_noise(i, j) * std::pow(0.5, static_cast<double>(std::min<std::int64_t>(i + j, 60)));
       }},
      {"of rank 1", [](auto i, auto j, auto) { return sine_noise(i, 1) * sine_noise(2, j); }},
      {"zero", [](auto, auto, auto) { return 0.0; }},
      {"Hilbert", [](auto i, auto j, auto) { return 1.0 / static_cast<double>(i + j + 1); }},
      {"Wilkinson",
       [](auto i, auto j, auto n) {
         return i == j ? std::abs(static_cast<double>(2 * i - n + 1)) / 2 : std::abs(i - j) == 1 ? 1.0 : 0.0;
       }},
      {"Toeplitz", [](auto i, auto j, auto) { return 1.0 / static_cast<double>(1 + std::abs(i - j)); }},
      {"Kahan",
       [](auto i, auto j, auto) { return j < i ? 0.0 : std::pow(0.9, static_cast<double>(i)) * (i == j ? 1 : -0.4); }},
      {"huge", [](auto i, auto j, auto) { return sine_noise(i, j) * 1e15; }},
      {"tiny", [](auto i, auto j, auto) { return sine_noise(i, j) * 1e-15; }},
  };
  return list;
}
Tensor matrix_of_kind(const Kind& kind, std::int64_t m, std::int64_t n, DType dtype, Device device) {
  std::vector<double> re, im;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      re.push_back(kind.at(i, j, n)), im.push_back(kind.at(i, j, n) * sine_noise(j, i));
  const DType part = real_dtype(dtype);
  const Tensor x = make(re, {m, n}, part, device);
  return is_complex(dtype) ? make_complex(x, make(im, {m, n}, part, device)) : x;
}
Tensor adjoint(const Tensor& x) { return is_complex(x.dtype()) ? conj(x).mT() : x.mT(); }

class Linalg : public EveryDevice {
 protected:
  std::vector<std::int64_t> sizes() const {
    if (device() == cpu()) return {1, 2, 3, 31, 32, 33, 64, 65};
    return full_test() ? std::vector<std::int64_t>{1, 2, 3, 31, 33, 65} : std::vector<std::int64_t>{1, 3, 33};
  }
  std::vector<DType> dtypes() const {
    const std::vector<DType> all = factorised_dtypes(device());
    return device() == cpu() || full_test() ? all : std::vector{all[0]};
  }
  template <class F> void for_each_matrix(bool rectangular, F f) {
    for (const DType dtype : dtypes())
      for (const Kind& kind : kinds())
        for (const std::int64_t n : sizes())
          for (const std::int64_t m : rectangular ? std::vector{n, n + 3, n / 2 + 1} : std::vector{n}) {
            if (left_out(device(), 3)) continue;
            SCOPED_TRACE(std::string(kind.name) + " " + std::to_string(m) + "x" + std::to_string(n) + " " +
                         std::string(to_string(dtype)));
            f(matrix_of_kind(kind, m, n, dtype, device()));
          }
  }
  /// ‖got - want‖ ≤ 10·n·eps·size in every element.
  void expect_close(const char* what, const Tensor& got, const Tensor& want, double size, double n) const {
    const double bound = 10 * n * epsilon_of(want.dtype()) * size;
    EXPECT_LE(largest_element(got - want), bound) << what;
  }
  void expect_orthonormal(const char* what, const Tensor& q) const {
    const Tensor one = eye(q.size(-1), {.dtype = q.dtype(), .device = device()});
    expect_close(what, matmul(adjoint(q), q), one, 1, static_cast<double>(q.size(-2)));
  }
  static double size_of(const Tensor& a) { return largest_element(matrix_norm(a)); }
};
TERN_EVERY_DEVICE(Linalg);

double order(const Tensor& a) { return static_cast<double>(std::max(a.size(-1), a.size(-2))); }

TEST_P(Linalg, LuGivesTheMatrix) {
  for_each_matrix(true, [&](const Tensor& a) {
    const auto f = lu(a);
    expect_close("p·l·u", matmul(f.p, matmul(f.l, f.u)), a, size_of(a) * order(a), 1);
    EXPECT_LE(largest_element(f.l), 1.5) << "pivots are not the largest";
  });
}
TEST_P(Linalg, CholeskyGivesTheMatrix) {
  for_each_matrix(false, [&](const Tensor& x) {
    const double size = size_of(x) * size_of(x) + 1e-3;
    const Tensor a = matmul(x, adjoint(x)) + eye(x.size(-1), {.dtype = x.dtype(), .device = device()}) * size;
    const Tensor l = cholesky(a), u = cholesky(a, true);
    expect_close("l·lᴴ", matmul(l, adjoint(l)), a, 2 * size, order(a));
    expect_close("uᴴ·u", matmul(adjoint(u), u), a, 2 * size, order(a));
    EXPECT_EQ(largest_element(triu(l, 1)), 0);
  });
}
TEST_P(Linalg, QrGivesTheMatrix) {
  if (!is_there([] { qr(ones({2, 2})); })) return;
  for_each_matrix(true, [&](const Tensor& a) {
    for (const bool complete : {false, true}) {
      const auto f = qr(a, complete);
      expect_close("q·r", matmul(f.q, f.r), a, size_of(a), order(a));
      expect_orthonormal("q", f.q);
      EXPECT_EQ(largest_element(tril(f.r, -1)), 0);
    }
  });
}
TEST_P(Linalg, EighGivesTheMatrix) {
  if (!is_there([] { eigh(ones({2, 2})); })) return;
  for_each_matrix(false, [&](const Tensor& x) {
    const Tensor a = x + adjoint(x);
    const auto f = eigh(a);
    expect_close("v·w·vᴴ", matmul(f.eigenvectors * f.eigenvalues.unsqueeze(-2), adjoint(f.eigenvectors)), a, size_of(a),
                 order(a));
    expect_orthonormal("v", f.eigenvectors);
    expect_close("values alone", eigvalsh(a), f.eigenvalues, size_of(a), order(a));
  });
}
TEST_P(Linalg, SvdGivesTheMatrix) {
  if (!is_there([] { svd(ones({2, 2})); })) return;
  for_each_matrix(true, [&](const Tensor& a) {
    const auto f = svd(a, false);
    expect_close("u·s·vh", matmul(f.u * f.s.unsqueeze(-2), f.vh), a, size_of(a), order(a));
    expect_orthonormal("u", f.u), expect_orthonormal("v", adjoint(f.vh));
    const auto whole = svd(a);
    expect_orthonormal("all of u", whole.u), expect_orthonormal("all of v", adjoint(whole.vh));
    expect_close("values", whole.s, f.s, size_of(a), order(a));
  });
}
TEST_P(Linalg, EigGivesTheMatrix) {
  if (!is_there([] { eig(ones({2, 2})); })) return;
  for_each_matrix(false, [&](const Tensor& a) {
    const auto f = eig(a);
    const Tensor av = matmul(a.to(f.eigenvectors.dtype()), f.eigenvectors);
    expect_close("v·w", f.eigenvectors * f.eigenvalues.unsqueeze(-2), av, size_of(a), order(a));
  });
}
/// The residual, as Wilkinson bounds it.
TEST_P(Linalg, SolvesEquations) {
  for_each_matrix(false, [&](const Tensor& x) {
    const double size = size_of(x) + 1e-20;
    const Tensor a = x * (1 / size) + eye(x.size(-1), {.dtype = x.dtype(), .device = device()}) * 2;
    const Tensor b = matrix_of_kind(kinds()[0], x.size(-1), 3, x.dtype(), device());
    expect_close("a·x", matmul(a, solve(a, b)), b, 10, order(a));
    expect_close("a·a⁻¹", matmul(a, inv(a)), eye(x.size(-1), {.dtype = x.dtype(), .device = device()}), 10, order(a));
    const Tensor one = b.slice(-1, 0, 1).squeeze(-1);
    expect_close("a vector", solve(a, one), solve(a, b).slice(-1, 0, 1).squeeze(-1), 10, order(a));
    expect_close("a triangle", matmul(tril(a), solve_triangular(a, b, false)), b, 10, order(a));
    expect_close("from the right", matmul(solve_triangular(a, b.mT(), true, false), triu(a)), b.mT(), 10, order(a));
  });
}
TEST_P(Linalg, OfThreeHundred) {
  if (!(device() == cpu())) return;
  for (const DType dtype : dtypes()) {
    const Tensor a = matrix_of_kind(kinds()[0], 300, 300, dtype, device()), s = a + adjoint(a);
    const auto f = svd(a), g = svd(a, false);
    expect_close("svd", matmul(g.u * g.s.unsqueeze(-2), g.vh), a, size_of(a), 300);
    const auto e = eigh(s);
    expect_close("eigh", matmul(e.eigenvectors * e.eigenvalues.unsqueeze(-2), adjoint(e.eigenvectors)), s, size_of(s),
                 300);
    const auto q = qr(a);
    expect_close("qr", matmul(q.q, q.r), a, size_of(a), 300);
    expect_orthonormal("q", q.q), expect_orthonormal("u", f.u), expect_orthonormal("v", e.eigenvectors);
  }
}

/// Batches, broadcast batches, no matrices, matrices of nothing; and every layout.
TEST_P(Linalg, TakesBatchesAndLayouts) {
  const Kind& random = kinds()[0];
  const Tensor one = eye(5, f32) * 6;
  std::vector<Tensor> list;
  for (int i = 0; i < 6; ++i) list.push_back(matrix_of_kind(random, 5, 5, f32, device()) * (i + 1) + one);
  const Tensor a = stack(list, 0).reshape({2, 3, 5, 5}), b = matrix_of_kind(random, 5, 2, f32, device());
  const Tensor x = solve(a, b);
  EXPECT_EQ(x.shape(), (Shape{2, 3, 5, 2}));
  for (int i = 0; i < 6; ++i)
    expect_close("of a batch", x[i / 3][i % 3], solve(list[static_cast<std::size_t>(i)], b), 10, 5);
  EXPECT_EQ(solve(list[0], broadcast_to(b, {2, 3, 5, 2})).shape(), x.shape());
  EXPECT_EQ(doubles(det(a).reshape({-1})).size(), 6u);
  const Tensor turned = a.mT().clone().mT(), strided_a = strided(a);
  for (const Tensor& other : {turned, strided_a, a.permute({1, 0, 2, 3}).clone().permute({1, 0, 2, 3})}) {
    expect_close("solve", solve(other, strided(b)), x, 10, 5);
    expect_close("inv", inv(other), inv(a), 1, 5);
    expect_close("cholesky", cholesky(matmul(other, other.mT())), cholesky(matmul(a, a.mT())), 40, 5);
  }
  EXPECT_EQ(solve(zeros({0, 3, 3}), zeros({0, 3, 1})).shape(), (Shape{0, 3, 1}));
  EXPECT_EQ(inv(zeros({2, 0, 0})).shape(), (Shape{2, 0, 0}));
  EXPECT_EQ(doubles(det(zeros({2, 0, 0}))), (std::vector<double>{1, 1}));
  EXPECT_EQ(cholesky(zeros({0, 0})).shape(), (Shape{0, 0}));
}

TEST_P(Linalg, NamesWhatFailed) {
  const Tensor good = eye(3) * 2, bad = tensor({{1.f, 2.f, 0.f}, {2.f, 4.f, 0.f}, {0.f, 0.f, 1.f}}, device());
  const Tensor batch = stack(std::vector<Tensor>{good, bad, bad}, 0);
  const Tensor indefinite = stack(std::vector<Tensor>{good, good, -good}, 0);
  expect_error(ErrorKind::linalg, {"solve", "matrix 1 of the batch", "singular"}, [&] { solve(batch, ones({3})); });
  expect_error(ErrorKind::linalg, {"inv", "the matrix", "singular", "pivot 2"}, [&] { inv(bad); });
  expect_error(ErrorKind::linalg, {"cholesky", "matrix 2 of the batch", "order 1"}, [&] { cholesky(indefinite); });
  const auto info = [](const Tensor& t) { return t.to(cpu()).to_vector<std::int32_t>(); };
  EXPECT_EQ(info(solve_ex(batch, ones({3})).info), (std::vector<std::int32_t>{0, 2, 2}));
  EXPECT_EQ(info(inv_ex(batch).info), (std::vector<std::int32_t>{0, 2, 2}));
  EXPECT_EQ(info(lu_factor_ex(batch).info), (std::vector<std::int32_t>{0, 2, 2}));
  EXPECT_EQ(info(cholesky_ex(indefinite).info), (std::vector<std::int32_t>{0, 0, 1}));
  for (const float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const Tensor x = eye(3) + full({3, 3}, value, f32);
    EXPECT_EQ(info(lu_factor_ex(x).info), (std::vector<std::int32_t>{-1}));
    EXPECT_EQ(info(cholesky_ex(x).info), (std::vector<std::int32_t>{-1}));
    expect_error(ErrorKind::linalg, {"solve", "not finite"}, [&] { solve(x, ones({3})); });
    expect_error(ErrorKind::linalg, {"cholesky", "not finite"}, [&] { cholesky(x); });
    for (const auto& f :
         {+[](const Tensor& t) { eigh(t); }, +[](const Tensor& t) { svd(t); }, +[](const Tensor& t) { eig(t); }})
      if (is_there([&] { f(eye(3)); })) expect_error(ErrorKind::linalg, {"not finite"}, [&] { f(x); });
  }
  expect_error(ErrorKind::shape, {"solve", "rows"}, [&] { solve(good, ones({4})); });
}

/// In the replay of a recording, too.
TEST_P(Linalg, FailsInReplays) {
  const Tensor a = eye(3) * 2;
  Tensor x;
  const Graph graph = capture(device(), [&] { x = inv(a); });
  graph.replay();
  EXPECT_EQ(doubles(x)[0], 0.5);
  Tensor(a).copy_from(zeros({3, 3}));
  expect_error(ErrorKind::linalg, {"inv", "singular"}, [&] { graph.replay(); });
}

TEST_P(Linalg, OfSingularMatrices) {
  const Tensor a = tensor({{1.f, 2.f}, {2.f, 4.f}}, device());
  EXPECT_NEAR(doubles(det(a))[0], 0, 1e-6);
  const Var x(a);
  const std::vector<double> g = doubles(backward(det(x))[x]);
  const double want[] = {4, -2, -2, 1};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(g[static_cast<std::size_t>(i)], want[i], 1e-5);
  const Var none(zeros({3, 3}));
  for (const double v : doubles(backward(det(none))[none])) EXPECT_NEAR(v, 0, 1e-6);
  const auto d = slogdet(zeros({2, 2}));
  EXPECT_EQ(doubles(d.sign)[0], 0);
  EXPECT_EQ(doubles(d.logabsdet)[0], -std::numeric_limits<double>::infinity());
}

// ---- derivatives ----
class LinalgGradients : public InDouble {
 protected:
  Tensor spread(std::int64_t m, std::int64_t n) const {
    return matrix_of_kind(kinds()[0], m, n, f64, device()) +
           detail::shifted_eye(m, n, 0, {.dtype = f64, .device = device()}) * arange(3, 3 * n + 1, 3, {.dtype = f64});
  }
  void expect(const char* name, const std::function<Var(const Var&)>& f, const Tensor& x) const {
    SCOPED_TRACE(name);
    const GradCheck first = gradcheck(f, x), second = gradgradcheck(f, x);
    EXPECT_TRUE(first.ok) << first.message;
    EXPECT_TRUE(second.ok) << second.message;
  }
};
TERN_EVERY_DEVICE_IN_DOUBLE(LinalgGradients);

TEST_P(LinalgGradients, OfRectangularMatrices) {
  for (const auto& [m, n] : {std::pair{4, 2}, {2, 4}}) {
    const Tensor a = spread(m, n);
    expect(
        "lu", [](const Var& x) { return linalg::lu_factor(x).lu; }, a);
    expect(
        "q", [](const Var& x) { return qr(x).q; }, a);
    expect(
        "r", [](const Var& x) { return qr(x).r; }, a);
    expect(
        "u", [](const Var& x) { return svd(x, false).u; }, a);
    expect(
        "vh", [](const Var& x) { return svd(x, false).vh; }, a);
    expect(
        "pinv", [](const Var& x) { return pinv(x); }, a);
    expect(
        "lstsq", [m](const Var& x) { return lstsq(x, ones({m}, f64)).solution; }, a);
    expect(
        "nuc", [](const Var& x) { return matrix_norm(x, "nuc"); }, a);
  }
}
TEST_P(LinalgGradients, OfBatches) {
  const Tensor a = stack(std::vector<Tensor>{spread(3, 3), spread(3, 3) * -0.5}, 0);
  expect(
      "solve",
      [](const Var& x) {
        return solve(x, ones({3, 2}, f64));
      },
      a);
  expect(
      "det", [](const Var& x) { return det(x) * 0.01; }, a);
  expect(
      "slogdet", [](const Var& x) { return slogdet(x).logabsdet; }, a);
  expect(
      "expm", [](const Var& x) { return expm(x * 0.3); }, a);
  expect(
      "eigh", [](const Var& x) { return square(eigh(x + x.mT()).eigenvectors); }, a);
}
/// Functions of parts of complex matrices, whose gauge does not matter.
TEST_P(LinalgGradients, OfComplexMatrices) {
  const Tensor parts = make_complex(spread(3, 3), spread(3, 3).mT() * 0.2).contiguous();
  const Tensor x = view_as_real(parts).contiguous();
  const auto on = [&](const char* name, const std::function<Var(const Var&)>& f) {
    expect(
        name,
        [&](const Var& p) {
          const Var y = f(view_as_complex(p));
          return is_complex(y.dtype()) ? view_as_real(y) : y;
        },
        x);
  };
  const auto h = [](const Var& z) { return z + conj(z).mT(); };
  const auto size = [](const Var& z) { return real(z * conj(z)); };
  on("solve", [](const Var& z) { return solve(z, ones({3, 1}, c128)); });
  on("inv", [](const Var& z) { return inv(z); });
  on("det", [](const Var& z) { return det(z) * 0.01; });
  on("slogdet", [](const Var& z) { return slogdet(z).sign; });
  on("log", [](const Var& z) { return slogdet(z).logabsdet; });
  on("cholesky", [&](const Var& z) { return cholesky(h(z)); });
  on("lu", [](const Var& z) { return linalg::lu_factor(z).lu; });
  on("qr", [](const Var& z) { return qr(z).r; });
  on("eigvalsh", [&](const Var& z) { return eigvalsh(h(z)); });
  on("eigh", [&](const Var& z) { return size(eigh(h(z)).eigenvectors); });
  on("svd", [&](const Var& z) { return size(svd(z, false).u); });
  on("svdvals", [](const Var& z) { return svdvals(z); });
  on("eigvals", [](const Var& z) { return eigvals(z); });
  on("pinv", [](const Var& z) { return pinv(z.slice(-1, 0, 2)); });
  on("expm", [](const Var& z) { return expm(z * 0.2); });
}
/// The loss sees the space of two equal eigenvalues, not the vectors that were taken in it.
TEST_P(LinalgGradients, WhereEigenvaluesMeet) {
  const Var x(tensor({{2., 0., 0.}, {0., 2., 0.}, {0., 0., 5.}}, device()));
  const auto f = [](const Var& a) {
    const auto e = eigh(a);
    const Var v = e.eigenvectors.slice(-1, 0, 2);
    return sum(matmul(v, v.mT()) * matrix_of_kind(kinds()[0], 3, 3, f64, a.device())) + sum(e.eigenvalues);
  };
  for (const double g : doubles(backward(f(x))[x])) EXPECT_TRUE(std::isfinite(g)) << g;
  const Var one(eye(3, f64));
  for (const double g : doubles(backward(sum(eigvalsh(one) * eigvalsh(one)))[one])) EXPECT_TRUE(std::isfinite(g)) << g;
  for (const double g : doubles(backward(matrix_norm(one, "nuc"))[one])) EXPECT_TRUE(std::isfinite(g)) << g;
}

}  // namespace
}  // namespace tern::test
