// What CUDA's kernels of small matrices compute, without a GPU: their texts on the host against the CPU in f64. (Every
// text is compiled in compile.cpp.)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include <cmath>

#include "host_gpu.hpp"

namespace tern::test {
namespace {

using namespace linalg;

/// Matrices [count, m, n] of numbers without a pattern, with `diagonal` added.
Tensor irregular_matrices(std::int64_t count, std::int64_t m, std::int64_t n, double diagonal) {
  std::vector<double> values;
  for (std::int64_t l = 0; l < count; ++l)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        values.push_back(std::sin(1.3 * static_cast<double>(l * 77 + i * 37 + j * 101 + 5) +
                                  0.9 * static_cast<double>(i * j)) +
                         (i == j ? diagonal : 0));
  return tensor(values, {count, m, n}, cpu());
}

class SmallMatricesOnHost : public testing::Test {
 protected:
  /// f there and here, relative to the largest number.
  void expect(const char* what, double eps, const std::function<Tensor(const Tensors&)>& f, const Tensors& x) {
    const DType dtype = eps > 1e-10 ? f32 : f64;
    Tensors here, exact;
    for (const Tensor& t : x) here.push_back(gpu_.from(t.to(dtype))), exact.push_back(t.to(dtype).to(f64));
    const std::vector<double> got = HostGpu::to_cpu(f(here)).to(f64).to_vector<double>(),
                              want = f(exact).to(f64).to_vector<double>();
    ASSERT_EQ(got.size(), want.size()) << what;
    double most = 1e-30, worst = 0;
    for (const double v : want) most = std::max(most, std::abs(v));
    for (std::size_t i = 0; i < got.size(); ++i)  // NaN stays
      worst = std::abs(got[i] - want[i]) <= worst ? worst : std::abs(got[i] - want[i]);
    EXPECT_LE(worst, 200 * eps * most) << what;
  }
  void expect_all(std::int64_t n, double eps) {
    SCOPED_TRACE(n);
    const std::int64_t count = 5;
    const Tensor a = irregular_matrices(count, n, n, 0.1), regular = a + eye(n, f64) * static_cast<double>(n);
    const Tensor definite = matmul(a, a.mT()) + eye(n, f64) * 2, b = irregular_matrices(count, n, 35, 0);
    expect("lu", eps * static_cast<double>(n), [](const Tensors& x) { return lu_factor(x[0]).lu; }, {a});
    expect("pivots", eps, [](const Tensors& x) { return lu_factor(x[0]).pivots; }, {a});
    expect("cholesky", eps, [](const Tensors& x) { return cholesky(x[0]); }, {definite});
    expect("solve", eps, [](const Tensors& x) { return solve(x[0], x[1]); }, {regular, b});
    const Tensor vectors = b.slice(-1, 3, 4).squeeze(-1);
    expect("solve, a vector", eps, [](const Tensors& x) { return solve(x[0], x[1]); }, {regular, vectors});
    expect("solve, of columns", eps, [](const Tensors& x) { return solve(x[0].mT(), x[1]); }, {regular, b});
    for (const bool upper : {false, true})
      expect("a triangle", eps, [&](const Tensors& x) { return solve_triangular(x[0], x[1], upper, true, upper); },
             {regular, b});
    expect("expm", eps * static_cast<double>(n), [](const Tensors& x) { return expm(x[0]); }, {a});
    expect("expm of larger ones", eps * static_cast<double>(n), [](const Tensors& x) { return expm(x[0] * -3); },
           {definite / static_cast<double>(n)});
    expect("from the right", eps, [&](const Tensors& x) { return solve_triangular(x[0], x[1].mT(), true, false); },
           {regular, b});
  }
  /// What factors of these multiply to, and whether vectors are orthogonal.
  void expect_spectra(std::int64_t n, double eps) {
    SCOPED_TRACE(n);
    const std::int64_t count = 5;
    const double bound = eps * static_cast<double>(n);
    const Tensor a = irregular_matrices(count, n, n, 0.1), symmetric = a + a.mT();
    const auto gram = [](const Tensor& v) { return matmul(v.mT(), v); };
    for (const bool all : {false, true}) {
      const Tensor x = irregular_matrices(count, all ? std::min<std::int64_t>(n + 2, 32) : n / 2 + 1, n, 0.1);
      expect("q·r", bound, [&](const Tensors& t) { return product(qr(t[0], all)); }, {x});
      expect("qᵀ·q", bound, [&](const Tensors& t) { return gram(here(qr(t[0], all).q)); }, {x});
      expect("uᵀ·u", bound, [&](const Tensors& t) { return gram(here(svd(t[0], all).u)); }, {x});
      expect("vh·vhᵀ", bound, [&](const Tensors& t) { return gram(here(svd(t[0], all).vh).mT()); }, {x});
      expect("svdvals", bound, [](const Tensors& t) { return svdvals(t[0]); }, {x});
    }
    expect("u·s·vh", bound, [](const Tensors& t) { return product(svd(t[0], false)); }, {a});
    expect("v·w·vᵀ", bound, [](const Tensors& t) { return product(eigh(t[0])); }, {symmetric});
    expect("vᵀ·v", bound, [&](const Tensors& t) { return gram(here(eigh(t[0]).eigenvectors)); }, {symmetric});
    expect("eigvalsh", bound, [](const Tensors& t) { return eigvalsh(t[0]); }, {symmetric});
  }
  static Tensor here(const Tensor& t) { return HostGpu::to_cpu(t).to(f64); }
  static Tensor product(const Qr<Tensor>& f) { return matmul(here(f.q), here(f.r)); }
  static Tensor product(const Svd<Tensor>& f) { return matmul(here(f.u) * here(f.s).unsqueeze(-2), here(f.vh)); }
  static Tensor product(const Eigh<Tensor>& f) {
    const Tensor v = here(f.eigenvectors);
    return matmul(v * here(f.eigenvalues).unsqueeze(-2), v.mT());
  }
  HostGpu gpu_{false};
};

TEST_F(SmallMatricesOnHost, OfFiveAndSevenRows) { expect_all(5, 1.2e-7), expect_all(7, 1.2e-7); }
TEST_F(SmallMatricesOnHost, OfThirtyTwoInDouble) { expect_all(32, 2.3e-16); }
TEST_F(SmallMatricesOnHost, OfTwentySeven) { expect_all(27, 1.2e-7); }
TEST_F(SmallMatricesOnHost, SpectraOfFiveRows) { expect_spectra(5, 1.2e-7); }
TEST_F(SmallMatricesOnHost, SpectraOfTwoAndFour) {
  for (const std::int64_t n : {2, 4}) expect_spectra(n, 1.2e-7);
}
TEST_F(SmallMatricesOnHost, SpectraOfThirtyTwoInDouble) { expect_spectra(32, 2.3e-16); }
TEST_F(SmallMatricesOnHost, TellWhatFailed) {
  const Tensor a = gpu_.from(irregular_matrices(2, 3, 3, 3).to(f32));
  const auto info = [](const Tensor& t) { return HostGpu::to_cpu(t).to_vector<std::int32_t>(); };
  EXPECT_EQ(info(lu_factor_ex(a).info), (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(info(lu_factor_ex(a * 0).info), (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(info(lu_factor_ex(a / 0).info), (std::vector<std::int32_t>{-1, -1}));
}

}  // namespace
}  // namespace tern::test

#endif
