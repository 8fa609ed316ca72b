// Statistics of complex numbers, and complex numbers that meet in one place.
#include "every_device/complex/complex_numbers.hpp"

namespace tern::test {
namespace {

class ComplexStatistics : public EveryDevice {
 protected:
  const std::vector<C64> list{{1, 2}, {3, -4}, {0, 0}, {-2, 1}};
  Tensor z() const { return tensor(list, device()); }
  static void expect_near(const Tensor& got, const std::vector<C128>& want, double bound = 1e-5) {
    const std::vector<C64> values = got.to(c64).to_vector<C64>();
    ASSERT_EQ(values.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_LE(std::abs(C128(values[i]) - want[i]), bound) << values[i] << " instead of " << want[i] << " at " << i;
  }
};
TERN_EVERY_DEVICE(ComplexStatistics);

TEST_P(ComplexStatistics, VariancesAreReal) {
  C128 mean = 0;
  for (const C64 v : list) mean += C128(v) / 4.0;
  double squares = 0;
  for (const C64 v : list) squares += std::norm(C128(v) - mean);
  for (const double correction : {0.0, 1.0, 2.0}) {
    const double want = squares / (4 - correction);
    const Tensor variance = var(z(), {}, false, correction), deviation = std(z(), {}, false, correction);
    EXPECT_EQ(variance.dtype(), f32);
    EXPECT_NEAR(variance.item<float>(), want, 1e-5);
    EXPECT_EQ(deviation.dtype(), f32);
    EXPECT_NEAR(deviation.item<float>(), std::sqrt(want), 1e-5);
  }
  EXPECT_EQ(var(z().reshape({2, 2}), {1}, true, 0.0).shape(), (Shape{2, 1}));
  const Var v(z());  // of Σ |z - m|²: 2 (z - m)
  expect_near(backward(var(v, {}, false, 3.0))[v],
              {2.0 * (C128(list[0]) - mean), 2.0 * (C128(list[1]) - mean), 2.0 * (C128(list[2]) - mean),
               2.0 * (C128(list[3]) - mean)});
}
TEST_P(ComplexStatistics, NormsAreReal) {
  const Tensor count = norm(z(), {}, false, 0);
  EXPECT_EQ(count.dtype(), f32);
  EXPECT_EQ(count.item<float>(), 3);
  for (const double order : {1.0, 3.0, kInf, -kInf}) EXPECT_EQ(norm(z(), {}, false, order).dtype(), f32) << order;
}
TEST_P(ComplexStatistics, NaNsAreSkipped) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor some = tensor({C64(1, 2), C64(nan, 1), C64(3, nan), C64(2, -4)}, device());
  EXPECT_EQ(nansum(some).item<C64>(), C64(3, -2));
  EXPECT_EQ(nanmean(some).item<C64>(), C64(1.5f, -1));
  const Var v(some);
  const std::vector<C64> grads = backward(sum(real(nanmean(v, {0}, true))))[v].to_vector<C64>();
  EXPECT_EQ(grads, (std::vector<C64>{{0.5f, 0}, {0, 0}, {0, 0}, {0.5f, 0}}));
}
TEST_P(ComplexStatistics, CovariancesAreHermitian) {
  const std::vector<C64> rows{{1, 2}, {3, -4}, {0, 1}, {0, 1}, {2, 2}, {-2, 0}};
  const Tensor x = tensor(rows, {2, 3}, device());
  C128 means[2] = {}, want[4];
  for (std::size_t i = 0; i < 6; ++i) means[i / 3] += C128(rows[i]) / 3.0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        want[2 * i + j] += (C128(rows[3 * i + k]) - means[i]) * std::conj(C128(rows[3 * j + k]) - means[j]) / 2.0;
  expect_near(cov(x), {want[0], want[1], want[2], want[3]});
  const C128 r = want[1] / std::sqrt(want[0].real() * want[3].real());
  expect_near(corrcoef(x), {1, r, std::conj(r), 1});
}
TEST_P(ComplexStatistics, WeightsAndIntegrals) {
  expect_near(average(z(), tensor({1.0f, 2.0f, 5.0f, 1.0f}, device())), {C128(5, -5) / 9.0});
  expect_near(average(tensor({1.0f, 2.0f}, device()), tensor({C64(1, 1), C64(0, 1)}, device())),
              {C128(1, 3) / C128(1, 2)});
  expect_near(trapezoid(z()), {C128(2.5, -2.5)});
  expect_near(trapezoid(z(), tensor({0.0f, 1.0f, 3.0f, 4.0f}, device())), {C128(4, -4.5)});
}

TEST_P(ComplexStatistics, RunningProducts) {
  const Tensor x = tensor({C64(1, 2), C64(3, -4), C64(0, 1), C64(-2, 1), C64(1, 1)}, device());
  std::vector<C128> want;
  C128 product = 1;
  for (const C64 v : x.to_vector<C64>()) want.push_back(product *= C128(v));
  expect_near(cumulative_prod(x, 0), want, 1e-4);
  expect_near(cumulative_prod(Var(x), -1).value(), want, 1e-4);
  expect_near(cumulative_prod(x.reshape({5, 1}), 0), want, 1e-4);
}

// ---- in one place ----
TEST_P(ComplexStatistics, AreSet) {
  const Tensor x = z(), at = tensor({2, 0, 2}, device());
  const Tensor values = tensor({C64(5, 6), C64(7, 8), C64(9, 1)}, device());
  const std::vector<C64> want{{7, 8}, {3, -4}, {9, 1}, {-2, 1}};
  EXPECT_EQ(put_along_axis(x, at, values, 0).to_vector<C64>(), want);
  EXPECT_EQ(scatter_reduce(x, at, values, Reduce::set).to_vector<C64>(), want);
  EXPECT_EQ(put_along_axis(Var(x), at, Var(values), 0).value().to_vector<C64>(), want);
  const Tensor rows = x.reshape({2, 2});
  EXPECT_EQ(put_along_axis(rows, tensor({1, 0}, {2, 1}, device()), C64(0, 1) * ones({1, 1}, c64)).to_vector<C64>(),
            (std::vector<C64>{{1, 2}, {0, 1}, {0, 1}, {-2, 1}}));
  EXPECT_EQ(scatter_reduce(rows, tensor({1}, device()), rows.slice(0, 0, 1), Reduce::set).to_vector<C64>(),
            (std::vector<C64>{{1, 2}, {3, -4}, {1, 2}, {3, -4}}))
      << "rows of a take's result";
  const Var v(x), w(values);
  const auto grads = backward(sum(abs(put_along_axis(v, at, w, 0) * C64(2, 0))));
  expect_near(abs(grads[v]), {0, 2, 0, 2}, 1e-6);
  EXPECT_NEAR(abs(grads[w])[1].item<float>(), 2, 1e-6);
  EXPECT_EQ(abs(grads[w])[0].item<float>(), 0) << "overwritten";
}
TEST_P(ComplexStatistics, AreMultipliedAndAveraged) {
  const Tensor x = z(), at = tensor({3, 0, 3, 2}, device());
  const std::vector<C64> given{{0, 1}, {2, 0}, {1, 1}, {4, 4}};
  const Tensor values = tensor(given, device());
  const std::vector<C128> products{C128(2, 4), C128(3, -4), 0, C128(-2, 1) * C128(0, 1) * C128(1, 1)};
  expect_near(scatter_reduce(x, at, values, Reduce::multiply), products);
  expect_near(scatter_reduce(Var(x), at, values, Reduce::multiply).value(), products);
  expect_near(scatter_reduce(x, at, values, Reduce::multiply, 0, false),
              {C128(2, 0), C128(3, -4), C128(4, 4), C128(0, 1) * C128(1, 1)});
  expect_near(scatter_reduce(x, at, values, Reduce::mean), {C128(1.5, 1), C128(3, -4), C128(2, 2), C128(-1, 3) / 3.0});
  expect_near(scatter_reduce(x, at, values, Reduce::mean, 0, false),
              {C128(2, 0), C128(3, -4), C128(4, 4), C128(0.5, 1)});
  expect_near(scatter_reduce(x, at, values, Reduce::add, 0, false),
              {C128(2, 0), C128(3, -4), C128(4, 4), C128(1, 2)});
  EXPECT_EQ(scatter_reduce(x, zeros({0}, i32), values.slice(0, 0, 0), Reduce::multiply).to_vector<C64>(), list);
  expect_error(ErrorKind::index, {"scatter_reduce", "7"},
               [&] { scatter_reduce(x, tensor({7}, device()), values.slice(0, 0, 1), Reduce::multiply); });
  if (!supports(device(), c128)) return;
  EXPECT_EQ(scatter_reduce(x.to(c128), at, values.to(c128), Reduce::set).dtype(), c128);
}

}  // namespace
}  // namespace tern::test
