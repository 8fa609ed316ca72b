// What CUDA's kernels of blocks of large matrices compute, without a GPU and without the vendor's library: their texts
// on the host against the CPU in f64. (Every text is compiled in compile.cpp.)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include <cmath>

#include "host_gpu.hpp"
#include "primitives/linalg/operations/operation.hpp"

namespace tern::test {
namespace {

using namespace linalg;

Tensor irregular_pair(std::int64_t m, std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < 2 * m * n; ++i) values.push_back(std::sin(1.3 * static_cast<double>(i * i % 977)));
  return tensor(values, {2, m, n}, cpu());
}

class BlocksOnHost : public testing::Test {
 protected:
  /// f there and here, relative to the largest number.
  void expect(const char* what, const std::function<Tensor(const Tensors&)>& f, const Tensors& x, DType dtype) {
    Tensors given, exact;
    for (const Tensor& t : x) given.push_back(gpu_.from(t.to(dtype))), exact.push_back(t.to(dtype).to(f64));
    const Tensor got = HostGpu::to_cpu(f(given)).to(f64), want = f(exact).to(f64);
    const double eps = dtype == f32 ? 0x1p-23 : 0x1p-52;
    EXPECT_LE(max(abs(got - want)).item<double>(), 4000 * eps * max(abs(want)).item<double>()) << what;
  }
  void expect_all(DType dtype) {
    const std::int64_t n = 70;
    const Tensor a = irregular_pair(n, n), b = irregular_pair(n, 3), one = eye(n, f64);
    const Tensor regular = a + one * 9, definite = matmul(a, a.mT()) + one;
    expect(
        "cholesky", [](const Tensors& x) { return cholesky(x[0]); }, {definite}, dtype);
    expect(
        "lu", [](const Tensors& x) { return lu_factor(x[0]).lu; }, {regular}, dtype);
    expect(
        "pivots", [](const Tensors& x) { return lu_factor(x[0]).pivots; }, {a}, dtype);
    expect(
        "solve", [](const Tensors& x) { return solve(x[0], x[1]); }, {regular, b}, dtype);
    const auto f = lu_factor(regular.to(dtype));  // in the dtype, for both
    expect(
        "with the transpose",
        [&](const Tensors& x) {
          const Tensor pivots = x[0].device() == cpu() ? f.pivots : gpu_.from(f.pivots);
          return detail::lu_solve_tensor("solve", x[0], pivots, x[1], true, false);
        },
        {f.lu.contiguous().to(f64), b}, dtype);
    for (const bool upper : {false, true})
      expect(
          "a triangle", [&](const Tensors& x) { return solve_triangular(x[0], x[1], upper, true, upper); },
          {upper ? regular / 9 : regular, b}, dtype);
    const Tensor c = irregular_pair(n, 40);
    const auto product = [](const Qr<Tensor>& f) {
      return matmul(HostGpu::to_cpu(f.q).to(f64), HostGpu::to_cpu(f.r).to(f64));
    };
    for (const bool all : {false, true})
      expect(
          "q·r", [&](const Tensors& x) { return product(qr(x[0], all)); }, {c}, dtype);
  }
  HostGpu gpu_{false};
};

TEST_F(BlocksOnHost, OfFloats) { expect_all(f32); }
TEST_F(BlocksOnHost, OfDoubles) { expect_all(f64); }
TEST_F(BlocksOnHost, TellWhatFailed) {
  Tensor a = (irregular_pair(70, 70) + eye(70, f64) * 9).to(f32);
  assign(a[1].slice(1, 66, 67), 0);
  const auto info = [](const Tensor& t) { return HostGpu::to_cpu(t).to_vector<std::int32_t>(); };
  EXPECT_EQ(info(lu_factor_ex(gpu_.from(a)).info), (std::vector<std::int32_t>{0, 67}));
  EXPECT_EQ(info(cholesky_ex(gpu_.from(eye(70, f32) * -1)).info), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(info(cholesky_ex(gpu_.from(a / 0)).info), (std::vector<std::int32_t>{-1, -1}));
}

}  // namespace
}  // namespace tern::test

#endif
