// Matrices whose elements are near the dtype's limits, columns and rows of other sizes beside them, equal and vanishing
// singular values, and numbers that are not finite: what is finite is right there, and what is not known says so.
#include "every_device/complex/complex_numbers.hpp"
#include "every_device/gradients/derivatives.hpp"
#include "every_device/linalg/matrices.hpp"

namespace tern::test {
namespace {

using namespace linalg;

Tensor adjoint_of(const Tensor& x) { return is_complex(x.dtype()) ? conj(x).mT() : x.mT(); }
double largest_part(const Tensor& x) {
  double most = 0;
  for (const double v : doubles(is_complex(x.dtype()) ? view_as_real(x.reshape({-1})) : x))
    most = std::isnan(v) ? kInf : std::max(most, std::abs(v));
  return most;
}

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
          for (const std::int64_t n : {3, 5, 9, 12, 26, 33})
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

TEST_P(MatricesAtLimits, ConditionsOfSingularOnes) {
  const Tensor singular = tensor({{1.f, 2.f}, {2.f, 4.f}}, device()), none = zeros({2, 2});
  for (const Norm& norm : {Norm(1), Norm(-1), Norm("fro"), Norm("nuc"), Norm(kInf), Norm(2)}) {
    EXPECT_EQ(doubles(cond(none, norm))[0], kInf) << norm.text();
    if (!norm.named() && norm.p() == 2) continue;  // whose least singular value is a rounding
    EXPECT_EQ(doubles(cond(singular, norm))[0], kInf) << norm.text();
    EXPECT_EQ(doubles(cond(zeros({40, 40}), norm))[0], kInf) << norm.text();
  }
  const Tensor both = stack(std::vector<Tensor>{none, eye(2) * 3}, 0);
  EXPECT_EQ(doubles(cond(both, 1)), (std::vector<double>{kInf, 1}));
  EXPECT_EQ(doubles(cond(both)), (std::vector<double>{kInf, 1}));
  expect_error(ErrorKind::shape, {"cond", "[0, 0]"}, [] { cond(zeros({0, 0})); });
  expect_error(ErrorKind::value, {"cond", "no norm 3"}, [] { cond(eye(2), 3); });
  expect_error(ErrorKind::linalg, {"matrix_norm", "not finite"}, [] { matrix_norm(full({2, 2}, kNaN, f32), 2); });
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
}

}  // namespace
}  // namespace tern::test
