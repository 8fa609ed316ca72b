// Statistics of integers that f32 does not tell apart: beyond 2^24.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class WideIntegers : public EveryDevice {
 protected:
  bool exact() const { return supports(device(), f64); }
  std::vector<DType> integers() const { return dtypes_of(device(), {i32, u32, i64}); }
};
TERN_EVERY_DEVICE(WideIntegers);

constexpr std::int32_t kBase = 1 << 24;

TEST_P(WideIntegers, QuantilesAreElements) {
  for (const DType d : integers()) {
    const Tensor x = tensor({kBase + 5, kBase + 1, kBase + 3, kBase + 7, kBase + 9}, device()).to(d);
    EXPECT_EQ(median(x).dtype(), exact() ? f64 : f32);
    const auto rounded = [&](std::int32_t v) {
      return exact() ? static_cast<double>(v) : static_cast<double>(static_cast<float>(v));
    };
    EXPECT_EQ(doubles(median(x))[0], rounded(kBase + 5)) << to_string(d);
    EXPECT_EQ(doubles(quantile(x, 0.25))[0], rounded(kBase + 3));
    if (exact()) {
      EXPECT_EQ(doubles(median(x.slice(0, 0, 4)))[0], kBase + 4.0);
      EXPECT_EQ(doubles(quantile(x, 0.125))[0], kBase + 2.0);
    }
    const Tensor many = arange(0, 1001, 1, {.dtype = d, .device = device()}) + kBase;  // which are selected
    EXPECT_EQ(doubles(median(many))[0], rounded(kBase + 500));
  }
  for (const DType d : dtypes_of(device(), {boolean, u8, i8, i16}))
    EXPECT_EQ(median(tensor({1, 0, 1}, device()).to(d)).dtype(), f32);
}
TEST_P(WideIntegers, HistogramsTellThemApart) {
  if (!exact()) return;
  for (const DType d : integers()) {
    const Tensor x = tensor({kBase, kBase + 1, kBase + 1, kBase + 2, kBase + 3, kBase + 4}, device()).to(d);
    const auto [counts, edges] = histogram(x, 4);
    EXPECT_EQ(counts.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 1, 2})) << to_string(d);
    EXPECT_EQ(edges.dtype(), f64);
    EXPECT_EQ(doubles(edges)[1], kBase + 1.0);
    EXPECT_EQ(histogram(x, 4, {}, true).counts.dtype(), f32);
    const Tensor given = tensor({kBase + 0.5, kBase + 1.5, kBase + 2.5}, f64, device());
    EXPECT_EQ(histogram(x, given).counts.to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 1}));
    const Tensor narrow = tensor({static_cast<double>(kBase), kBase + 2.0, kBase + 4.0}, f32, device());
    EXPECT_EQ(histogram(x, narrow).counts.to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, 3}));
  }
}
TEST_P(WideIntegers, MeansAndVariancesOfThemAreRight) {
  if (!exact()) return;
  for (const DType d : integers()) {
    const Tensor x = tensor({kBase, kBase + 1, kBase + 2, kBase + 3}, device()).to(d), even = ones({4}, d);
    EXPECT_EQ(var(x).dtype(), f32);
    EXPECT_NEAR(var(x).item<float>(), 5.0 / 3, 1e-6) << to_string(d);
    EXPECT_NEAR(std(x).item<float>(), std::sqrt(5.0 / 3), 1e-6);
    EXPECT_NEAR(var(x, {}, false, 0.0).item<float>(), 1.25, 1e-6);
    EXPECT_NEAR(std(x, {}, false, 0.0).item<float>(), std::sqrt(1.25), 1e-6);
    EXPECT_NEAR(cov(x).item<float>(), 5.0 / 3, 1e-6);
    EXPECT_EQ(average(x - kBase + (kBase + 1), even).dtype(), f32);
    EXPECT_NEAR(corrcoef(stack(std::vector<Tensor>{x, x}))[0][1].item<float>(), 1, 1e-6);
    EXPECT_EQ(trapezoid(x, 1).item<float>(), 3.0f * kBase + 4);
    EXPECT_EQ(trapezoid(x, x).item<float>(), 3.0f * kBase + 4);
  }
}
TEST_P(WideIntegers, NormsAndVariancesTakeIntegers) {
  const Tensor x = tensor({3, -4, 0}, device());
  EXPECT_EQ(norm(x).dtype(), f32);
  EXPECT_EQ(norm(x).item<float>(), 5);
  EXPECT_EQ(norm(x, {}, false, 1).item<float>(), 7);
  EXPECT_EQ(norm(x, {}, false, 0).item<float>(), 2);
  EXPECT_EQ(norm(x, {}, false, kInf).item<float>(), 4);
  EXPECT_NEAR(var(x).item<float>(), 37.0 / 3, 1e-5);
  EXPECT_NEAR(var(tensor({true, false, true, false}, device())).item<float>(), 1.0 / 3, 1e-6);
  EXPECT_EQ(std(x.reshape({3, 1}), {0}, true).shape(), (Shape{1, 1}));
  expect_error(ErrorKind::shape, {"var", "undefined"}, [] { var(Tensor()); });
}

}  // namespace
}  // namespace tern::test
