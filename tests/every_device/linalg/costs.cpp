// What factorisations are counted as: the FLOPs that textbooks give (Golub and Van Loan), of each matrix. The entries'
// samples make their matrices first, so that theirs cannot say.
#include "every_device.hpp"

namespace tern::test {
namespace {

class FactorisationCosts : public EveryDevice {};
TERN_EVERY_DEVICE(FactorisationCosts);

TEST_P(FactorisationCosts, AreThoseOfTextbooks) {
  constexpr std::int64_t count = 2, n = 6, m = 11, right = 3;
  const Options like{.dtype = f32, .device = device()};
  const Tensor a = (eye(n, like) * 9 + ones({n, n}, like)).broadcast_to({count, n, n}).clone();
  const Tensor tall = (eye(m, n, 0, like) + ones({m, n}, like)).broadcast_to({count, m, n}).clone();
  const Tensor b = ones({count, n, right}, like);
  const auto flops = [](auto call) { return cost_of([&] { call(); }).flops; };
  EXPECT_EQ(flops([&] { linalg::cholesky(a); }), count * n * n * n / 3);
  EXPECT_EQ(flops([&] { linalg::lu_factor(a); }), count * 2 * n * n * n / 3);
  EXPECT_EQ(flops([&] { linalg::solve_triangular(a, b, true); }), count * n * n * right);
  EXPECT_EQ(flops([&] { linalg::solve(a, b); }), count * (2 * n * n * n / 3 + 2 * n * n * right));
  // R, and as much for Q.
  EXPECT_EQ(flops([&] { linalg::qr(tall); }), count * 2 * (2 * n * n * (3 * m - n) / 3));
}

}  // namespace
}  // namespace tern::test
