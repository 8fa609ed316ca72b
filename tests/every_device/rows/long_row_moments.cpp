// Variances of rows that are longer than what a kernel holds: mean(x) and sums of weight · (x - mean(x))^n take one
// read together, whatever the order and the size of what is read.
#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

class LongRowMoments : public EveryDevice {};
TERN_EVERY_DEVICE(LongRowMoments);

/// A row's mean, variance and Σ weight · (x - mean)^n, in f64, with what their errors are relative to.
struct Moments {
  double mean = 0, variance = 0, size = 0;         // size: the mean of |x|
  double first = 0, second = 0, first_norm = 0, second_norm = 0, weights = 0;
};
Moments moments(const double* x, const double* w, std::size_t n) {
  Moments m;
  for (std::size_t i = 0; i < n; ++i)
    m.mean += x[i] / static_cast<double>(n), m.size += std::abs(x[i]) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double d = x[i] - m.mean;
    m.variance += d * d, m.first += w[i] * d, m.second += w[i] * d * d;
    m.first_norm += std::abs(w[i] * d), m.second_norm += std::abs(w[i]) * d * d, m.weights += std::abs(w[i]);
  }
  if (n > 1) m.variance /= static_cast<double>(n - 1);
  return m;
}
/// Relative: no thread and no block adds more than 256 terms in a row, and as much again for the joins.
double moments_tolerance(DType dtype) { return 512 * work_epsilon(dtype); }

void expect_moments(const Tensor& x, const Tensor& w, int axis, const std::string& what) {
  const auto rows = [axis](const Tensor& t) { return doubles(t.transpose(axis, -1).contiguous()); };
  const std::vector<double> in = rows(x), weights = rows(w), variances = doubles(var(x, axis));
  const Tensor xr = x.transpose(axis, -1), wr = w.transpose(axis, -1);
  const std::vector<double> first = doubles(row_formula([](auto u, auto v) { return sum(v * (u - mean(u))); }, xr, wr)),
                            second = doubles(row_formula(
                                [](auto u, auto v) {
                                  auto c = u - mean(u);
                                  return sum(v * c * c);
                                },
                                xr, wr));
  const auto length = static_cast<std::size_t>(x.size(axis));
  const double eps = moments_tolerance(x.dtype()), stored = epsilon(x.dtype());
  for (std::size_t r = 0; r < variances.size(); ++r) {
    const Moments want = moments(in.data() + r * length, weights.data() + r * length, length);
    const double off = eps * want.size;  // of the mean
    const double spread = std::sqrt(want.variance), flushed = 1e-36;
    if (length > 1) {
      ASSERT_NEAR(variances[r], want.variance, (eps + stored) * want.variance + off * off + flushed)
          << what << " in " << to_string(x.dtype());
    }
    ASSERT_NEAR(
        first[r], want.first,
        eps * (want.first_norm + want.weights * spread) + off * want.weights + stored * std::abs(want.first) + flushed)
        << what << " in " << to_string(x.dtype());
    ASSERT_NEAR(second[r], want.second,
                eps * (want.second_norm + want.weights * want.variance) + 2 * off * want.first_norm +
                    off * off * want.weights + stored * std::abs(want.second) + flushed)
        << what << " in " << to_string(x.dtype());
  }
}

TEST_P(LongRowMoments, AroundTheLengthThatFits) {
  const std::vector<std::int64_t> all{1, 2, 511, 1023, 1024, 1025, 2048, 2049, 70001}, fewer{1, 1025, 70001};
  for (const std::int64_t length : device() == cpu() ? all : fewer)  // a GPU's kernels change with the length, slowly
    for (const DType dtype : all_floats(device())) {
      Random random(static_cast<unsigned>(length));
      const Shape shape{length > 3000 ? 1 : 3, length};
      const Tensor x = random.tensor(shape, dtype, device(), -8, 8), w = random.tensor(shape, dtype, device());
      expect_moments(x, w, -1, "rows of " + std::to_string(length));
      expect_moments(x.transpose(0, 1).contiguous(), w.transpose(0, 1).contiguous(), 0,
                     "columns of " + std::to_string(length));
    }
}
TEST_P(LongRowMoments, OverSeveralAxes) {
  for (const DType dtype : all_floats(device())) {
    const Tensor x = Random(5).tensor({70, 3, 50, 2}, dtype, device(), -8, 8);
    for (const Axes& axes : {Axes{0, 2}, Axes{1, 3}, Axes{0, 3}, Axes{0, 1, 2, 3}}) {
      const Tensor exact = x.to(cpu()).to(f64), centred = exact - mean(exact, axes, true);
      const std::vector<double> got = doubles(var(x, axes)), squares = doubles(mean(square(centred), axes));
      const double n = static_cast<double>(x.numel()) / static_cast<double>(squares.size()),
                   eps = moments_tolerance(dtype);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], squares[i] * n / (n - 1), (eps + epsilon(dtype)) * squares[i] + 64 * eps * eps)
            << to_string(dtype);
    }
  }
}
/// The mean of what was seen so far is far from the row's, or the mean is large, or nothing varies.
TEST_P(LongRowMoments, InAnyOrderAndFarFromZero) {
  for (const std::int64_t n : resident_and_not(device(), 2600))
    for (const DType dtype : wide_floats(device())) {
      std::vector<double> weight, rising, falling, far, last, halves, equal(static_cast<std::size_t>(n), 3.3);
      for (int i = 0; i < n; ++i) {
        weight.push_back(std::sin(3 * i)), rising.push_back(1000.0 * i / static_cast<double>(n));
        falling.push_back(-rising.back()), far.push_back(1e5 + std::cos(i)), last.push_back(std::cos(i));
        halves.push_back((i < n / 2 ? -1e3 : 1e3) + std::cos(i));
      }
      std::vector<double> first = last;
      last.back() = 1e4, first[0] = 1e4;
      const Tensor w = make(weight, {1, n}, dtype, device());
      const std::pair<const char*, std::vector<double>> all[] = {
          {"rising", rising}, {"falling", falling}, {"far", far},    {"last", last},
          {"first", first},   {"halves", halves},   {"equal", equal}};
      for (const auto& [what, row] : all) {
        const Tensor x = make(row, {1, n}, dtype, device());
        expect_moments(x, w, -1, what);
        expect_moments(x.reshape({n, 1}), w.reshape({n, 1}), 0, what);
      }
    }
}
/// As short rows have it, and no other row is touched.
TEST_P(LongRowMoments, NanAndInfinityStayInTheirRows) {
  for (const std::int64_t n : resident_and_not(device(), 2104))
    for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)})
      for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, n / 2, n - 1}) {
        std::vector<double> all(static_cast<std::size_t>(3 * n));
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::sin(static_cast<double>(i));
        all[static_cast<std::size_t>(n + at)] = bad;
        const Tensor x = make(all, {3, n}, f32, device());
        const std::vector<double> v = doubles(var(x, -1));
        const std::vector<double> y = doubles(layer_norm(x, ones({n}, {.dtype = f32, .device = device()}),
                                                         zeros({n}, {.dtype = f32, .device = device()})));
        EXPECT_TRUE(std::isnan(v[1])) << bad << " at " << at;
        EXPECT_TRUE(std::isnan(doubles(var(x.transpose(0, 1).contiguous(), 0))[1]))
            << bad << " at " << at << ", columns";
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_EQ(std::isnan(y[i]), i / static_cast<std::size_t>(n) == 1) << bad << " at " << at << ": " << i;
        EXPECT_NEAR(v[0], 0.5, 0.01);
        EXPECT_NEAR(v[2], 0.5, 0.01);
      }
}
/// A user's formula of rows, and the same operation by operation; `w` is a constant of both.
struct FormulaOfMoments {
  const char* what;
  std::function<Var(const Var& v, const Var& w)> fused, unfused;
};
Var centred(const Var& v) { return v - mean(v, -1, true); }

void expect_to_the_third_order(const Device& device, const std::vector<FormulaOfMoments>& formulas) {
  std::vector<std::int64_t> lengths{700, 1501};
  if (device == cpu()) lengths.push_back(9001);
  for (const std::int64_t length : lengths)
    for (const DType dtype : wide_floats(device)) {
      Random random(7);
      const Tensor x = random.tensor({2, length}, dtype, device, -3, 3),
                   w = random.tensor({2, length}, dtype, device);
      const Var of_fused(w, false), of_unfused(w.to(cpu()).to(f64), false);
      const int most = device.kind() == DeviceKind::webgpu ? 2 : 3;  // seconds to compile a kernel of the third
      for (const FormulaOfMoments& formula : formulas) {
        if (left_out(device, 2)) continue;
        expect_orders(
            formula.what, [&](const Var& v) { return formula.fused(v, of_fused); },
            [&](const Var& v) { return formula.unfused(v, of_unfused); }, x, w, 0, most, moments_tolerance(dtype));
      }
    }
}

/// Gradients of a user's own norm, whose sums have scalars that wait for the variance; means of an earlier pass's
/// values.
TEST_P(LongRowMoments, UsersNormsToTheThirdOrder) {
  expect_to_the_third_order(
      device(),
      {{"own norm",
        [](const Var& v, const Var&) {
          return row_formula(
              [](auto u) {
                auto c = u - mean(u);
                return c / sqrt(mean(c * c) + 1);
              },
              v);
        },
        [](const Var& v, const Var&) { return centred(v) / sqrt(mean(square(centred(v)), -1, true) + 1.0); }},
       {"var", [](const Var& v, const Var&) { return var(v, -1, true) * v; },
        [](const Var& v, const Var&) {
          return sum(square(centred(v)), -1, true) * (1.0 / static_cast<double>(v.size(-1) - 1)) * v;
        }},
       {"of an earlier pass",
        [](const Var& v, const Var&) {
          return row_formula(
              [](auto u) {
                auto z = u / sqrt(mean(u * u)), c = z - mean(z);
                return c * mean(c * c);
              },
              v);
        },
        [](const Var& v, const Var&) {
          const Var z = v / sqrt(mean(square(v), -1, true)), c = centred(z);
          return c * mean(square(c), -1, true);
        }}});
}
/// What must take a pass of its own.
TEST_P(LongRowMoments, OtherMomentsToTheThirdOrder) {
  expect_to_the_third_order(
      device(),
      {{"a third power",
        [](const Var& v, const Var&) {
          return row_formula(
              [](auto u) {
                auto c = u - mean(u);
                return u * mean(c * c * c);
              },
              v);
        },
        [](const Var& v, const Var&) { return v * mean(square(centred(v)) * centred(v), -1, true); }},
       {"two means",
        [](const Var& v, const Var& w) {
          return row_formula(
              [](auto u, auto b) {
                auto c = u - mean(u), d = b - mean(b);
                return c * sum(c * d) / sum(d * d);
              },
              v, w);
        },
        [](const Var& v, const Var& w) {
          const Var c = centred(v), d = centred(w);
          return c * sum(c * d, -1, true) / sum(square(d), -1, true);
        }}});
}
/// What overflows is infinite, as in short rows.
TEST_P(LongRowMoments, WhatOverflowsIsAsInShortRows) {
  for (const std::int64_t n : {1000, 1501, 3000, 70000})
    for (const float value : {1e30f, 3e38f}) {
      if (value > 1e38f && device().kind() == DeviceKind::webgpu)
        continue;  // WGSL promises nothing of an infinite mean
      const Tensor x = full({1, n}, value, {.dtype = f32, .device = device()});
      const double v = doubles(var(x, -1))[0];
      EXPECT_TRUE(v == INFINITY || v < 1e54) << v << " for " << n << " of " << value;
    }
}
/// A scalar that keeps squares from overflowing stays where it is.
TEST_P(LongRowMoments, SquaresThatWouldOverflow) {
  for (const std::int64_t n : {300, 3000, 3001}) {
    const Tensor x = Random(3).tensor({2, n}, f32, device(), -4, 4);
    const std::vector<double> want = doubles(row_formula(
                                  [](auto u) {
                                    auto c = (u - mean(u)) / max(abs(u));
                                    return sum(c * c);
                                  },
                                  x)),
                              got = doubles(row_formula(
                                  [](auto u) {
                                    auto c = (u - mean(u)) / max(abs(u));
                                    return sum(c * c);
                                  },
                                  x * 1e30f));
    for (std::size_t r = 0; r < 2; ++r) EXPECT_NEAR(got[r], want[r], 1e-4 * want[r]);
  }
}

}  // namespace
}  // namespace tern::test
