// Statistics, running results, order and sets where the samples of their entries do not go: ties, NaN, infinities,
// zeros, integers, long lines, both sides of thresholds. (Longer than other files: their edges are the same.)
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Statistics : public EveryDevice {};
TERN_EVERY_DEVICE(Statistics);
class Sets : public EveryDevice {};
TERN_EVERY_DEVICE(Sets);

Tensor floats(const std::vector<double>& values) { return tensor(std::vector<float>(values.begin(), values.end())); }
std::vector<double> draws(std::int64_t count) {
  Generator generator{5};
  return doubles(rand({count}, generator).to(cpu()));
}

// ---- reductions ----
TEST_P(Statistics, NaNIsLeftOutOrStays) {
  const Tensor x = floats({1, kNaN, 3, kNaN, kNaN, kNaN}).reshape({2, 3});
  expect_same(nansum(x, 1), {4, 0});
  expect_same(nanmean(x, 1), {2, kNaN});
  expect_same(count_nonzero(x, 1), {3, 3});
  expect_same(ptp(x, 1), {kNaN, kNaN});
  expect_same(max_with_indices(x).indices, {1, 0});
  expect_same(median(x, 1), {kNaN, kNaN});
  expect_same(quantile(floats({kInf, 1, -kInf, 2}), floats({0, 0.5, 1})), {-kInf, 1.5, kInf});
  expect_same(median(floats({-kInf, 5})), {-kInf});
  expect_same(median(floats({kInf, kInf})), {kInf});
  const Var v(x);
  expect_same(backward(sum(nansum(v, 1)))[v], {1, 0, 1, 0, 0, 0});
}
/// What is left out may be NaN or infinite, in values and in gradients.
TEST_P(Statistics, MaskedElementsCountNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Tensor x = tensor({{1.f, nan, 3.f}, {inf, 5.f, nan}}),
               mask = tensor({{true, false, true}, {false, true, false}});
  const Where which{mask};
  expect_values(sum(x, {1}, false, which), {2}, {4, 5});
  expect_values(mean(x, {}, false, which), {}, {3});
  expect_values(prod(x, {0}, true, which), {1, 3}, {1, 5, 3});
  expect_values(max(x, {0}, false, which), {3}, {1, 5, 3});
  expect_values(min(x, {}, false, which), {}, {1});
  expect_values(var(x, {}, false, which), {}, {4});
  expect_values(std(x, {}, false, which, 0), {}, {std::sqrt(8.f / 3)});
  expect_values(any(x, {0}, false, which).to(f32), {3}, {1, 1, 1});
  expect_values(count_nonzero(x, {1}, false, which).to(f32), {2}, {2, 1});
  const Where none{tensor({false})};
  EXPECT_EQ(doubles(sum(x, {}, false, none))[0], 0);
  EXPECT_EQ(doubles(prod(x, {}, false, none))[0], 1);
  EXPECT_EQ(doubles(max(x, {}, false, none))[0], -inf);
  EXPECT_EQ(doubles(min(x.to(i32), {}, false, none).to(f32))[0], 2147483648.0);
  EXPECT_TRUE(std::isnan(doubles(mean(x, {}, false, none))[0]) && std::isnan(doubles(var(x, {}, false, none))[0]));
  EXPECT_EQ(doubles(all(x, {}, false, none).to(f32))[0], 1);
  EXPECT_EQ(doubles(any(x, {}, false, none).to(f32))[0], 0);
  for (const DType dtype : {i32, i8, u8, i16}) {
    if (dtype != i32 && device() != cpu()) continue;  // which not every device has
    const Tensor whole = tensor({{100, 2, 100}, {4, 100, 6}}).to(dtype);
    EXPECT_EQ(doubles(sum(whole, {}, false, which).to(f32))[0], 300);
    EXPECT_EQ(doubles(mean(whole, {}, false, which))[0], 100);
    EXPECT_EQ(doubles(var(whole, {}, false, which))[0], 0);
    EXPECT_EQ(max(whole, {}, false, which).dtype(), dtype);
  }
  const Var v(x);
  expect_values(backward(mean(v, {}, false, which))[v], {2, 3}, {1.f / 3, 0, 1.f / 3, 0, 1.f / 3, 0});
  expect_values(backward(max(v, {1}, false, which)[0])[v], {2, 3}, {0, 0, 1, 0, 0, 0});
  expect_values(backward(var(v, {}, false, which))[v], {2, 3}, {-2, 0, 0, 0, 2, 0});
}
TEST_P(Statistics, NormsOfEveryOrder) {
  const Tensor x = floats({3, -4, 0, 1e30, 1e30, 0}).reshape({2, 3});
  expect_same(norm(x, {1}, false, 0), {2, 2});
  expect_same(norm(x.slice(0, 0, 1), 1, false, 1), {7});
  expect_same(norm(x, {1}, false, kInf), {4, static_cast<double>(1e30f)});
  expect_same(norm(x, {1}, false, -kInf), {0, 0});
  const std::vector<double> cubes = doubles(norm(x, {1}, false, 3));
  EXPECT_NEAR(cubes[0], std::cbrt(91.0), 1e-5);
  EXPECT_NEAR(cubes[1] / 1e30, std::cbrt(2.0), 1e-5) << "no power overflows";
  expect_same(norm(zeros({3}), {}, false, 3), {0});
  const Var none(zeros({3}));
  expect_same(backward(norm(none, {}, false, 3))[none], {0, 0, 0});
  expect_same(backward(linalg::vector_norm(none, 3))[none], {0, 0, 0});
  const Var some(floats({0, 4, -1}));
  for (const auto& [order, want] : {std::pair{0.5, std::vector<double>{0, 1.5, -3}}, {-1., {0, 0, 0}}}) {
    const std::vector<double> got = doubles(backward(norm(some, {}, false, order))[some]);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << order;
  }
  EXPECT_NEAR(doubles(linalg::vector_norm(x.slice(0, 1), 3))[0] / 1e30, std::cbrt(2.0), 1e-5);
  expect_error(ErrorKind::value, {"norm", "NaN"}, [&] { norm(x, {1}, false, kNaN); });
  expect_error(ErrorKind::shape, {"norm", "f32[2, 0]"}, [&] { norm(ones({2, 0}), 1, false, kInf); });
  if (refuses_f64(device())) return;
  const Tensor at = tensor(std::vector<double>{0.5, -1.25, 2});
  EXPECT_TRUE(gradcheck([](Var v) { return norm(v, {}, false, 3); }, at).ok);
  EXPECT_TRUE(gradgradcheck([](Var v) { return norm(v, {}, false, 2.5); }, at).ok);
}
TEST_P(Statistics, Corrections) {
  const Tensor x = floats({1, 2, 3, 6});
  expect_same(var(x, {}, false, 0), {3.5});
  expect_same(var(x, {}, false, 2), {7});
  expect_same(tern::std(floats({1, 3}), {}, false, 0), {1});
  expect_same(var(floats({1}), {}, false, 1), {kNaN});
  expect_same(cov(x.unsqueeze(0), 0), {3.5});
  for (const double r : doubles(corrcoef(floats({1, 2, 3, 2, 4, 6}).reshape({2, 3})))) {
    EXPECT_NEAR(r, 1, 1e-6);
    EXPECT_LE(r, 1);
  }
}
TEST_P(Statistics, QuantilesBetweenElements) {
  const Tensor x = floats({7, 1, 5, 2});  // 1, 2, 5, 7: 0.4 lies at 1.2, 0.5 at 1.5
  const auto at = [&](double q, Interpolation i) { return doubles(quantile(x, q, {}, false, i))[0]; };
  EXPECT_NEAR(at(0.4, Interpolation::linear), 2.6, 1e-6);
  EXPECT_EQ(at(0.4, Interpolation::lower), 2);
  EXPECT_EQ(at(0.4, Interpolation::higher), 5);
  EXPECT_EQ(at(0.4, Interpolation::midpoint), 3.5);
  EXPECT_EQ(at(0.4, Interpolation::nearest), 2);
  EXPECT_EQ(at(0.5, Interpolation::nearest), 5) << "of both the one with an even position";
  EXPECT_EQ(quantile(x.reshape({2, 2}), floats({0, 0.5, 1}), 0).shape(), Shape({3, 2}));
  EXPECT_EQ(quantile(x.reshape({2, 2}), floats({0, 1}).reshape({2, 1}), 1, true).shape(), Shape({2, 1, 2, 1}));
  expect_same(median(tensor({1, 2, 3, 4})), {2.5});
  expect_same(median(floats({-0x1.8p127, 0x1.8p127})), {0}, "whose difference is infinite");
  expect_same(quantile(floats({-0x1.8p127, 0x1.8p127}), 0.75), {0x1.8p126});
  const Var v(x);
  const std::vector<double> g = doubles(backward(quantile(v, 0.4))[v]);
  EXPECT_EQ(g[0], 0);
  EXPECT_EQ(g[1], 0);
  EXPECT_NEAR(g[2], 0.2, 1e-6);
  EXPECT_NEAR(g[3], 0.8, 1e-6);
}
TEST_P(Statistics, AverageAlongAnAxis) {
  const Tensor x = floats({1, 2, 3, 4, 5, 6}).reshape({2, 3});
  expect_same(average(x, floats({3, 1}), 0), {1.75, 2.75, 3.75});
  expect_same(average(x, floats({1, 1, 2}), 1), {2.25, 5.25});
  expect_same(average(tensor({1, 4}), tensor({1, 2})), {3});
}

// ---- counts ----
TEST_P(Statistics, HistogramsCountEachEdgeOnce) {
  const Histogram h = histogram(floats({0, 1, 1, 2, 3, 4, -1, 5, kNaN, kInf}), 4, std::pair{0.0, 4.0});
  expect_same(h.counts, {1, 2, 1, 2});
  expect_same(h.edges, {0, 1, 2, 3, 4});
  expect_same(histogram(floats({2, 2}), 2).edges, {1.5, 2, 2.5});
  expect_same(histogram(floats({1, 4, 9}), floats({0, 1, 5})).counts, {0, 2});
  expect_error(ErrorKind::value, {"histogram", "finite"}, [] { histogram(floats({1, kInf})); });
  expect_same(bincount(tensor({3, 1, 1})), {0, 2, 0, 1});
  expect_same(bincount(tensor({0}), 3), {1, 0, 0});
  EXPECT_EQ(bincount(zeros({0}, i32)).shape(), Shape({0}));
}
/// Evenly spaced edges are computed with, others are searched: both say the same of numbers on edges and beside them.
TEST_P(Statistics, HistogramsOfEvenEdgesAreThoseOfTheEdges) {
  std::vector<float> values{-1,
                            1,
                            -1.5f,
                            1.5f,
                            0,
                            -0.f,
                            std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()};
  for (const std::int64_t bins : {1, 7, 10, 1000}) {
    const Histogram none = histogram(tensor(values), bins, std::pair{-1.0, 1.0});
    std::vector<float> all = values;
    for (const double e : doubles(none.edges)) {
      const auto edge = static_cast<float>(e);
      for (const float v : {edge, std::nextafter(edge, 2.f), std::nextafter(edge, -2.f)}) all.push_back(v);
    }
    const Tensor twice = repeat(tensor(all), 2, 0).slice(0, {}, {}, 2);
    const Histogram even = histogram(twice, bins, std::pair{-1.0, 1.0});
    EXPECT_EQ(doubles(even.counts), doubles(histogram(twice, even.edges).counts)) << bins;
    const Histogram density = histogram(twice, bins, std::pair{-1.0, 1.0}, true);
    EXPECT_NEAR(doubles(sum(density.counts) * (2.0 / static_cast<double>(bins)))[0], 1, 1e-5);
  }
  const Histogram narrow = histogram(tensor({1.f, std::nextafter(1.f, 2.f)}), 5);
  EXPECT_EQ(doubles(sum(narrow.counts))[0], 2) << "edges that are hardly apart";
  EXPECT_EQ(doubles(narrow.counts), doubles(histogram(tensor({1.f, std::nextafter(1.f, 2.f)}), narrow.edges).counts));
}
/// Both sides of how narrow parts may be (64 of f32's numbers) for an element to be looked for where it would lie; and
/// ranges of which a dtype cannot say how wide they are, or how many parts one of its numbers has.
TEST_P(Statistics, HistogramsOfNarrowAndWidePartsAreThoseOfTheEdges) {
  Generator g{3};
  const auto check = [&](std::int64_t bins, double begin, double end, DType dtype) {
    const Tensor chance = rand({9000}, g, {.dtype = dtype}), drawn = chance * end + (1 - chance) * begin;
    const Histogram none = histogram(drawn, bins, std::pair{begin, end});
    const Tensor x = concatenate({drawn, none.edges, none.edges.slice(0, {}, {}, 3) * (1 + 0x1p-23)});
    const Histogram even = histogram(x, bins, std::pair{begin, end});
    EXPECT_TRUE(even.counts.to_vector<std::int32_t>() == histogram(x, even.edges).counts.to_vector<std::int32_t>())
        << bins << " from " << begin << " to " << end << ", " << dtype;
  };
  for (const std::int64_t bins : {65535, 65536, 65537}) check(bins, 1, 2, f32);
  for (const DType dtype : dtypes_of(device(), {f32, f64})) {
    check(30, -1.6e38, 1.6e38, dtype), check(1000, -3, 5, dtype), check(30, 0.1, 0.7, dtype);
  }
}
/// Densities are weights over a sum of weights: Σ over the parts of density·width is 1, whatever the weights.
TEST_P(Statistics, HistogramsOfWeightsHaveGradients) {
  const Tensor x = tensor({0.f, 1.f, 1.5f, 3.f, 9.f}), edges = tensor({0.f, 1.f, 2.f, 4.f});
  const Var w(tensor({1.f, 2.f, 3.f, 4.f, 5.f}));
  const Var sums = histogram(x, edges, false, w).counts, density = histogram(x, edges, true, w).counts;
  expect_values(sums.value(), {3}, {1, 5, 4}), expect_values(density.value(), {3}, {0.1f, 0.5f, 0.2f});
  const Tensor scale = tensor({1.f, 10.f, 100.f});
  expect_values(backward(sum(sums * scale))[w], {5}, {1, 10, 10, 100, 0});
  // d/dw of s/(S·width) with S = 10: scale/(S·width) less the density's whole, 25.1, over S.
  expect_values(backward(sum(density * scale))[w], {5}, {0.1f - 2.51f, 1 - 2.51f, 1 - 2.51f, 5 - 2.51f, 0});
  expect_values(histogram(x, edges, true).counts, {3}, {0.25f, 0.5f, 0.125f});
}
/// Of long lines the elements are selected: as sorting has them, with ties, zeros of both signs, and NaN.
TEST_P(Statistics, QuantilesOfLongLinesAreThoseOfTheSortedOnes) {
  Generator g{5};
  const Tensor numbers = randn({2, 20000}, g), ties = round(numbers * 2);
  for (const Tensor& x : {numbers, ties, device() == cpu() ? ties.to(f16) : ties})
    for (const double q : {0.0, 0.1, 0.5, 0.77, 1.0}) {
      const Tensor in_order = sort(x).values;
      const auto low = static_cast<std::int64_t>(std::floor(q * 19999)),
                 high = static_cast<std::int64_t>(std::ceil(q * 19999));
      expect_values(quantile(x, q, {1}, false, Interpolation::lower), {2}, doubles(in_order.slice(1, low, low + 1)));
      expect_values(quantile(x, q, {1}, false, Interpolation::higher), {2}, doubles(in_order.slice(1, high, high + 1)));
      const Var v(x.to(f32));
      const Tensor slope = backward(sum(quantile(v, q, {1}, false, Interpolation::lower)))[v];
      const Tensor place = argsort(x).slice(1, low, low + 1);
      expect_values(gather(slope, place, 1), {2, 1}, {1, 1});
      EXPECT_EQ(doubles(sum(slope))[0], 2);
    }
  const Tensor holed = where(arange(0, 20000) == 77, std::numeric_limits<float>::quiet_NaN(), numbers);
  EXPECT_TRUE(std::isnan(doubles(median(holed, {1}))[0]));
}
/// Sets of whole numbers are looked up in a table where their range is small.
TEST_P(Sets, MembershipOfSmallAndLargeRanges) {
  for (const DType dtype : {u8, i8, i16, i32, u32, i64}) {
    if (dtype != i32 && device() != cpu()) continue;  // which not every device has
    const Tensor x = tensor({0, 1, 2, 3, 100, 127, 5}).to(dtype);
    EXPECT_EQ(doubles(isin(x, tensor({3, 1, 127}).to(dtype)).to(f32)), (std::vector<double>{0, 1, 0, 1, 0, 1, 0}));
    EXPECT_EQ(doubles(isin(x, tensor({3, 1, 127}).to(dtype), true).to(f32)),
              (std::vector<double>{1, 0, 1, 0, 1, 0, 1}));
  }
  const Tensor far = tensor({-2147483647, 0, 2147483647});
  EXPECT_EQ(doubles(isin(tensor({-2147483647, 1, 2147483647, 0, -1}), far).to(f32)),
            (std::vector<double>{1, 0, 1, 1, 0}));
  EXPECT_EQ(doubles(isin(tensor({-5, 4, 7}), tensor({-5, -4})).to(f32)), (std::vector<double>{1, 0, 0}));
}
TEST_P(Statistics, Differences) {
  expect_same(diff(tensor({true, true, false})), {0, 1});
  EXPECT_EQ(diff(ones({2, 3}), 5).shape(), Shape({2, 0}));
  expect_same(diff(floats({1, 4}), 0), {1, 4});
  expect_same(trapezoid(ones({2, 1})), {0, 0});
  expect_same(trapezoid(ones({2, 0})), {0, 0});
}

// ---- running results ----
std::vector<double> running_results(std::vector<double> x, double (*f)(double, double)) {
  for (std::size_t i = 1; i < x.size(); ++i) x[i] = f(x[i - 1], x[i]);
  return x;
}
TEST_P(Statistics, RunningResultsOfLinesOfEveryLength) {
  for (const std::int64_t n : {1, 2, 255, 256, 257, 511, 512, 513, 1025, 16384, 20000, 70001}) {
    const std::vector<double> x = draws(n);
    if (left_out(device(), 3)) continue;
    const Tensor t = floats(x), below = floats(x) - 3;  // below 0: nothing may come from the identity of sums
    expect_same(cummax(below, 0).values,
                running_results(doubles(below), [](double a, double b) { return std::max(a, b); }));
    expect_same(cummin(t + 3, 0).values,
                running_results(doubles(t + 3), [](double a, double b) { return std::min(a, b); }));
    const std::vector<double> sums = doubles(logcumsumexp(t * 100 - 50, 0)),
                              wanted = running_results(doubles(t * 100 - 50), [](double a, double b) {
                                return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
                              });
    for (std::size_t i = 0; i < sums.size(); i += 97) ASSERT_NEAR(sums[i], wanted[i], 2e-5 * 50) << n << " at " << i;
    const std::vector<double> products = doubles(cumulative_prod(1 + (t - 0.5) / 1000, 0)),
                              right = running_results(doubles(1 + (t - 0.5) / 1000),
                                                      [](double a, double b) { return a * b; });
    for (std::size_t i = 0; i < products.size(); i += 97)
      ASSERT_NEAR(products[i], right[i], 1e-3 * right[i]) << n << " at " << i;
  }
}
TEST_P(Statistics, RunningResultsOfColumnsAndIntegers) {
  const Tensor x = floats(draws(40 * 2500)).reshape({40, 2500}) - 2;
  expect_same(cummax(x, 0).values, doubles(cummax(x.mT().contiguous(), 1).values.mT()));
  expect_same(cumprod(x, 0).slice(0, 0, 1), doubles(x.slice(0, 0, 1)));
  expect_same(cumprod(tensor({2, -3, 0, 5}), 0), {2, -6, -6 * 0, 0});
  expect_same(cummax(tensor({-5, -7, -2}), 0).values, {-5, -5, -2});
  expect_same(cummin(tensor({5, 7, 2}, i8), 0).values, {5, 5, 2});
  expect_same(cumprod(tensor({true, false, true}), 0), {1, 0, 0});
  expect_error(ErrorKind::dtype, {"logcumsumexp", "i32"}, [] { logcumsumexp(tensor({1, 2}), 0); });
}
TEST_P(Statistics, RunningExtremesKeepNaNAndTheLastPosition) {
  const Sorted<Tensor> top = cummax(floats({1, 3, 3, 2, kNaN, 9}), 0);
  expect_same(top.values, {1, 3, 3, 3, kNaN, kNaN});
  expect_same(top.indices, {0, 1, 2, 2, 4, 4});
  expect_same(logcumsumexp(floats({-kInf, -kInf, 0, kInf, 1}), 0), {-kInf, -kInf, 0, kInf, kInf});
  // In a long line, whose parts are taken side by side, and in columns.
  std::vector<double> x(3000, -kInf), wanted(3000, -kInf);
  x[700] = 1, x[1500] = kInf, x[2900] = kNaN;
  for (std::size_t i = 700; i < x.size(); ++i) wanted[i] = i < 1500 ? 1 : i < 2900 ? kInf : kNaN;
  expect_same(logcumsumexp(floats(x), 0), wanted);
  const Tensor columns = stack({floats(x), floats(x)}, 1);
  expect_same(logcumsumexp(columns, 0).slice(1, 1, 2), wanted);
}
TEST_P(Statistics, GradientsOfRunningProductsDivideByNothing) {
  const Var x(floats({2, 0, 3, 0, 5}));
  const Var y = cumulative_prod(x, 0);
  expect_same(backward(sum(y))[x], {1, 8, 0, 0, 0});
  if (refuses_f64(device())) return;
  for (const std::vector<double>& at : {std::vector<double>{0.5, 0, -2, 3, 0, 1.5, 2}, {0, 0, 1}, {-1.5}}) {
    EXPECT_TRUE(gradcheck([](Var v) { return sum(square(cumulative_prod(v, 0))); }, tensor(at)).ok);
    EXPECT_TRUE(gradgradcheck([](Var v) { return sum(square(cumulative_prod(v, 0))); }, tensor(at)).ok);
  }
}

TEST_P(Statistics, CountsBeyondI32AreRefused) {
  const Tensor many = ones({1}).broadcast_to({std::int64_t{1} << 16, std::int64_t{1} << 16}),
               line = ones({1}).broadcast_to({std::int64_t{1} << 32});
  expect_error(ErrorKind::shape, {"count_nonzero", "4294967296"}, [&] { count_nonzero(many); });
  expect_error(ErrorKind::shape, {"quantile", "2^31-1"}, [&] { quantile(many, 0.5); });
  expect_error(ErrorKind::shape, {"histogram", "2^31-1"}, [&] { histogram(many, 3, std::pair{0.0, 1.0}); });
  expect_error(ErrorKind::shape, {"bincount", "2^31-1"}, [&] { bincount(zeros({1}, i32).broadcast_to(line.shape())); });
  expect_error(ErrorKind::shape, {"cummax", "2^31-1"}, [&] { cummax(line, 0); });
  expect_error(ErrorKind::shape, {"argsort", "2^31-1"}, [&] { argsort(line); });
  expect_error(ErrorKind::shape, {"searchsorted", "2^31-1"}, [&] { searchsorted(line, ones({1})); });
  expect_error(ErrorKind::shape, {"unique_values", "2^31-1"}, [&] { unique_values(many); });
  expect_error(ErrorKind::shape, {"isin", "2^31-1"}, [&] { isin(ones({1}), many); });
}

// ---- what meets in one place ----
TEST_P(Sets, ReductionsOfManyToFewAndToMany) {
  for (const std::int64_t size : {3, 700})
    for (const std::int64_t count : {50, 5000}) {
      const std::vector<double> x = draws(size), source = draws(count);
      std::vector<std::int32_t> at;
      for (std::int64_t i = 0; i < count; ++i) at.push_back(static_cast<std::int32_t>(i * i * 7 % size));
      std::vector<double> most = x, least = x, last = x, product = x;
      for (std::size_t i = 0; i < source.size(); ++i) {
        const auto p = static_cast<std::size_t>(at[i]);
        most[p] = std::max(most[p], source[i] + 1), least[p] = std::min(least[p], source[i] - 1), last[p] = source[i];
        product[p] *= source[i] < 0.5 ? 1 : -1;
      }
      const Tensor places = tensor(at), s = floats(source), t = floats(x);
      expect_same(scatter_reduce(t, places, s, tern::Reduce::set), last);
      expect_same(scatter_reduce(t, places, where(s < 0.5, 1.0f, -1.0f), tern::Reduce::multiply), product);
      const std::vector<double> top = doubles(scatter_reduce(t, places, s + 1, tern::Reduce::maximum)),
                                low = doubles(scatter_reduce(t, places, s - 1, tern::Reduce::minimum));
      for (std::size_t i = 0; i < top.size(); ++i) {
        EXPECT_NEAR(top[i], most[i], 1e-6);
        EXPECT_NEAR(low[i], least[i], 1e-6);
      }
      expect_same(index_put(t, {places}, s), last);
      Tensor written = t.clone();
      assign(written(places), s);
      expect_same(written, last);
    }
}
TEST_P(Sets, ReductionsOfIntegersAndGradientsAtZeros) {
  expect_same(scatter_reduce(tensor({1, 5}), tensor({0, 0, 1}), tensor({4, -2, 9}), tern::Reduce::minimum), {-2, 5});
  expect_same(scatter_reduce(tensor({1, 5}, i8), tensor({0, 0, 1}), tensor({4, -2, 9}, i8), tern::Reduce::set),
              {-2, 9});
  expect_same(scatter_reduce(floats({1, 1}), tensor({0, 0}), floats({3, kNaN}), tern::Reduce::maximum), {kNaN, 1});
  expect_same(scatter_reduce(floats({1, 4}), tensor({0, 0}), floats({3, 5}), tern::Reduce::mean), {3, 4});
  if (refuses_f64(device())) return;
  const Tensor x = tensor(std::vector<double>{2, 3}), source = tensor(std::vector<double>{0, 5, 0.5, 0});
  const auto f = [](Var a, Var b) {
    return sum(square(scatter_reduce(a, tensor({0, 0, 1, 0}), b, tern::Reduce::multiply) + 1));
  };
  EXPECT_TRUE(gradcheck(f, x, source).ok);
  EXPECT_TRUE(gradgradcheck(f, x, source).ok);
}

// ---- order and sets ----
TEST_P(Sets, SearchFindsBothSidesAndNaNLast) {
  const Tensor sorted = floats({1, 2, 2, 3, kNaN}), values = floats({0, 1, 2, 2.5, 3, 4, kInf, kNaN, -kInf});
  expect_same(searchsorted(sorted, values), {0, 0, 1, 3, 3, 4, 4, 4, 0});
  expect_same(searchsorted(sorted, values, Side::right), {0, 1, 3, 3, 4, 4, 4, 5, 0});
  expect_same(searchsorted(zeros({0}), values.slice(0, 0, 2)), {0, 0});
  expect_same(searchsorted(tensor({1, 3}), tensor({3, 4}), Side::right), {2, 2});
  for (const std::int64_t n : {1, 2, 31, 32, 33, 1000}) {
    const std::vector<double> line = doubles(sort(floats(draws(n))).values), x = draws(77);
    std::vector<double> want;
    for (const double v : x) want.push_back(static_cast<double>(std::ranges::lower_bound(line, v) - line.begin()));
    expect_same(searchsorted(floats(line), floats(x)), want);
  }
}
TEST_P(Sets, SearchInARecordingIsThatOutsideOfIt) {
  const Tensor sorted = sort(floats(draws(100))).values, values = floats(draws(33));
  Tensor places;
  const Graph step = capture(device(), [&] { places = searchsorted(sorted, values, Side::right); });
  step.replay();
  expect_same(places, doubles(searchsorted(sorted, values, Side::right)));
}
TEST_P(Sets, DigitizesAlongBinsThatIncreaseOrDecrease) {
  const Tensor x = floats({3, 2, 0, 1, 9});
  expect_same(digitize(x, floats({1, 2, 3})), {3, 2, 0, 1, 3});
  expect_same(digitize(x, floats({1, 2, 3}), true), {2, 1, 0, 0, 3});
  expect_same(digitize(x, floats({3, 2, 1})), {0, 1, 3, 2, 0});
  expect_same(digitize(x, floats({3, 2, 1}), true), {1, 2, 3, 3, 0});
}
TEST_P(Sets, UniqueTellsWhereAndHowOften) {
  const Unique<Tensor> u = unique_all(tensor({{3, 1, 2}, {1, 1, 7}}));
  expect_same(u.values, {1, 2, 3, 7});
  expect_same(u.indices, {1, 2, 0, 5});
  expect_same(u.counts, {3, 1, 1, 1});
  EXPECT_EQ(u.inverse_indices.shape(), Shape({2, 3}));
  expect_same(u.inverse_indices, {2, 0, 1, 0, 0, 3});
  expect_same(unique_values(floats({kNaN, 0, -0.0, kNaN})), {0, kNaN, kNaN});
  expect_same(unique_counts(floats({kNaN, 0, -0.0, kNaN})).counts, {2, 1, 1});
  EXPECT_EQ(unique_all(zeros({0, 3})).counts.shape(), Shape({0}));
  const Tensor many = floor(floats(draws(3000)) * 100);
  std::map<double, double> counts;
  for (const double v : doubles(many)) counts[v] += 1;
  const Unique<Tensor> all = unique_counts(many);
  std::vector<double> keys, times;
  for (const auto& [key, count] : counts) keys.push_back(key), times.push_back(count);
  expect_same(all.values, keys), expect_same(all.counts, times);
  expect_same(take(all.values, unique_inverse(many).inverse_indices), doubles(many));
}
TEST_P(Sets, PlacesOfMasksOfEveryLength) {
  for (const std::int64_t n : {1, 7, 8, 9, 63, 64, 65, 1000, 5001})
    for (const double share : {0.0, 0.01, 0.5, 1.0}) {
      if (left_out(device(), 4)) continue;
      const std::vector<double> x = draws(n);
      std::vector<double> places, left;
      for (std::int64_t i = 0; i < n; ++i)
        if (x[static_cast<std::size_t>(i)] < share)
          places.push_back(static_cast<double>(i)), left.push_back(x[static_cast<std::size_t>(i)]);
      const Tensor t = floats(x), mask = t < share;
      expect_same(nonzero(mask)[0], places);
      expect_same(t(mask), left);
      Tensor written = t.clone();
      assign(written(mask), 7);
      expect_same(written, doubles(where(mask, 7.0f, t)));
    }
}
TEST_P(Sets, Membership) {
  const Tensor x = floats({1, kNaN, 3});
  expect_same(isin(x, floats({3, kNaN, 9})), {0, 0, 1});
  expect_same(isin(x, floats({3, kNaN, 9}), true), {1, 1, 0});
  expect_same(isin(x, zeros({0})), {0, 0, 0});
  const Sorted<Tensor> second = kthvalue(floats({5, 1, 1, 4}), 2);
  expect_same(second.values, {1}), expect_same(second.indices, {2});
}

}  // namespace
}  // namespace tern::test
