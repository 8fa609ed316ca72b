// Operands whose neighbours in memory are few: short last axes, repeated rows and columns, permuted views. (Running
// sums, sorts, small products and rows by index: short_lines.cpp.)
#include <algorithm>
#include <cmath>
#include <limits>

#include "every_device/formulas/short_runs.hpp"

namespace tern::test {
namespace {

class ShortRuns : public EveryDevice {
 protected:
  /// Of rows: every short one and beyond.
  std::vector<std::int64_t> lengths() const {
    if (in_software(device())) return {2, 3, 8, 17};
    return {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 33};
  }
};
TERN_EVERY_DEVICE(ShortRuns);

/// As many as fill some blocks and no whole one.
std::int64_t rows_of(std::int64_t c) { return 2900 / c + 3; }

/// So many elements that GPUs take several rows as one (elementwise.cpp), and some rows that are left.
TEST_P(ShortRuns, ManyRowsThatRepeat) {
  for (const DType dtype : {f32, bf16, u8, i64}) {
    if (!has(dtype)) continue;
    for (const std::int64_t c : {3, 7, 33}) {
      if (in_software(device()) && c == 7) continue;
      const std::int64_t n = (1 << 20) / c + 5;
      const Tensor x = small_wholes({n, c}, dtype), row = small_wholes({c}, dtype), one = small_wholes({1}, dtype);
      const bool sign = dtype != u8;
      const auto v = [sign](std::int64_t i) { return value_at(i, sign); };
      const std::string at = std::string(to_string(dtype)) + " " + std::to_string(c);
      EXPECT_TRUE(doubles(x + row) == matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(j); })) << at;
      Tensor in_place = small_wholes({n, c}, dtype);
      in_place += row + one;
      EXPECT_TRUE(doubles(in_place) == matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(j) + v(0); })) << at;
      const Tensor part = small_wholes({n + 1, c}, dtype).slice(0, 1);
      EXPECT_TRUE(doubles(part + row) == matrix(n, c, [&](auto i, auto j) { return v(i * c + c + j) + v(j); })) << at;
    }
  }
}

TEST_P(ShortRuns, RepeatedRowsAndColumnsOfEveryLength) {
  for (const DType dtype : {f32, f64, f16, bf16, i32, u8, i64}) {
    if (!has(dtype)) continue;
    const bool sign = dtype != u8;
    for (const std::int64_t c : lengths()) {
      const std::int64_t n = rows_of(c);
      const Tensor x = small_wholes({n, c}, dtype), row = small_wholes({c}, dtype),
                   column = small_wholes({n, 1}, dtype), one = small_wholes({1}, dtype);
      const auto v = [sign](std::int64_t i) { return value_at(i, sign); };
      const std::string at = std::string(to_string(dtype)) + " " + std::to_string(c);
      EXPECT_EQ(doubles(x + row), matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(j); })) << at;
      EXPECT_EQ(doubles(row + x), matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(j); })) << at;
      EXPECT_EQ(doubles(x + column), matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(i); })) << at;
      EXPECT_EQ(doubles(row + column), matrix(n, c, [&](auto i, auto j) { return v(j) + v(i); })) << at;
      EXPECT_EQ(doubles(x + one), matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(0); })) << at;
      EXPECT_EQ(doubles(column + one.broadcast_to({n, c})), matrix(n, c, [&](auto i, auto) { return v(i) + v(0); }))
          << at;
    }
  }
}
TEST_P(ShortRuns, PartsOfWiderRowsAndTransposedViews) {
  for (const DType dtype : {f32, f64, f16, u8, i16}) {
    if (!has(dtype)) continue;
    const bool sign = dtype != u8;
    const auto v = [sign](std::int64_t i) { return value_at(i, sign); };
    for (const std::int64_t c : lengths()) {
      const std::int64_t n = rows_of(c);
      const Tensor x = small_wholes({n, c}, dtype), wide = small_wholes({n, c + 2}, dtype),
                   turned = small_wholes({c, n}, dtype);
      const Tensor every_second = small_wholes({n, 2 * c}, dtype).slice(1, 1, 2 * c, 2);
      const std::string at = std::string(to_string(dtype)) + " " + std::to_string(c);
      EXPECT_EQ(doubles(x + wide.slice(1, 1, c + 1)),
                matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(i * (c + 2) + j + 1); }))
          << at;
      EXPECT_EQ(doubles(x + turned.transpose(0, 1)),
                matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(j * n + i); }))
          << at;
      EXPECT_EQ(doubles(x + every_second),
                matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(i * 2 * c + 2 * j + 1); }))
          << at;
    }
  }
}
TEST_P(ShortRuns, ViewsAreChangedInPlace) {
  for (const std::int64_t c : lengths()) {
    const std::int64_t n = rows_of(c);
    Tensor wide = small_wholes({n, c + 2}), turned = small_wholes({c, n}), square = small_wholes({c + 60, n});
    Tensor part = wide.slice(1, 1, c + 1), view = turned.transpose(0, 1), large = square.transpose(0, 1);
    part += small_wholes({c});
    EXPECT_EQ(doubles(wide), matrix(n, c + 2, [&](auto i, auto j) {
                return value_at(i * (c + 2) + j) + (j >= 1 && j <= c ? value_at(j - 1) : 0);
              })) << c;
    view += small_wholes({c});
    EXPECT_EQ(doubles(turned), matrix(c, n, [&](auto i, auto j) { return value_at(i * n + j) + value_at(i); })) << c;
    large += 1;
    EXPECT_EQ(doubles(square), matrix(c + 60, n, [&](auto i, auto j) { return value_at(i * n + j) + 1; })) << c;
  }
}
TEST_P(ShortRuns, SmallMatricesTransposedInABatch) {
  for (const std::int64_t c : {2, 3, 4, 5})
    for (const std::int64_t d : {2, 3, 7}) {
      const std::int64_t n = 500;
      const Tensor x = small_wholes({n, c, d});
      std::vector<double> expected;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j)
          for (std::int64_t k = 0; k < c; ++k)
            expected.push_back(value_at((i * c + k) * d + j) + value_at((i * d + j) * c + k));
      EXPECT_EQ(doubles(x.transpose(1, 2) + small_wholes({n, d, c})), expected) << c << " " << d;
    }
}

TEST_P(ShortRuns, ReducedRowsColumnsAndMiddleAxes) {
  for (const DType dtype : {f32, f64, f16, i32, u8}) {
    if (!has(dtype)) continue;
    const bool sign = dtype != u8;
    const auto v = [sign](std::int64_t i) { return value_at(i, sign); };
    for (const std::int64_t c : lengths()) {
      if (left_out(device(), 2)) continue;
      const std::int64_t n = rows_of(c);
      const std::string at = std::string(to_string(dtype)) + " " + std::to_string(c);
      const Tensor x = small_wholes({n, c}, dtype), cube = small_wholes({n, 3, c}, dtype).to(dtype);
      EXPECT_EQ(doubles(sum(x, {1})), matrix(n, 1, [&](auto i, auto) {
                  double total = 0;
                  for (std::int64_t j = 0; j < c; ++j) total += v(i * c + j);
                  return total;
                })) << at;
      EXPECT_EQ(doubles(max(x, {1})), matrix(n, 1, [&](auto i, auto) {
                  double most = -100;
                  for (std::int64_t j = 0; j < c; ++j) most = std::max(most, v(i * c + j));
                  return most;
                })) << at;
      EXPECT_EQ(doubles(argmax(x, {1})), matrix(n, 1, [&](auto i, auto) {
                  std::int64_t best = 0;
                  for (std::int64_t j = 1; j < c; ++j)
                    if (v(i * c + j) > v(i * c + best)) best = j;
                  return static_cast<double>(best);
                })) << at;
      EXPECT_EQ(doubles(sum(cube, {1})), matrix(n, c, [&](auto i, auto j) {
                  return v(i * 3 * c + j) + v((i * 3 + 1) * c + j) + v((i * 3 + 2) * c + j);
                })) << at;
      EXPECT_EQ(doubles(sum(cube, {1, 2})), doubles(sum(sum(cube, {2}), {1}))) << at;
      if (dtype == f16) continue;  // such sums are rounded
      EXPECT_EQ(doubles(sum(x, {0})), matrix(1, c, [&](auto, auto j) {
                  double total = 0;
                  for (std::int64_t i = 0; i < n; ++i) total += v(i * c + j);
                  return total;
                })) << at;
    }
  }
}
TEST_P(ShortRuns, FormulasOfShortRows) {
  for (const std::int64_t c : lengths()) {
    const std::int64_t n = rows_of(c);
    const Tensor x = small_wholes({n, c}), weight = small_wholes({c});
    const auto centred = [](auto u, auto w) { return (u - max(u)) * w + sum(u); };
    const auto expected = matrix(n, c, [&](auto i, auto j) {
      double most = -100, total = 0;
      for (std::int64_t k = 0; k < c; ++k) most = std::max(most, value_at(i * c + k)), total += value_at(i * c + k);
      return (value_at(i * c + j) - most) * value_at(j) + total;
    });
    EXPECT_EQ(doubles(row_formula(centred, x, weight)), expected) << c;
    EXPECT_EQ(doubles(row_formula(centred, small_wholes({c, n}).transpose(0, 1).contiguous(), weight)),
              doubles(row_formula(centred, small_wholes({c, n}).transpose(0, 1), weight)))
        << c;
    // Into 16 bits, and with a gradient for each column: small, so that they are exact.
    const Tensor half = small_wholes({n, c}, f16);
    EXPECT_EQ(doubles(row_formula([](auto u) { return u + max(u); }, half)), matrix(n, c, [&](auto i, auto j) {
                double most = -100;
                for (std::int64_t k = 0; k < c; ++k) most = std::max(most, value_at(i * c + k));
                return value_at(i * c + j) + most;
              })) << c;
    const Tensor by_weight = grad(
        [&](const Var& w) { return sum(row_formula([](auto u, auto g) { return u * g + sum(u); }, x, w)); })(weight);
    EXPECT_EQ(doubles(by_weight), matrix(1, c, [&](auto, auto j) {
                double total = 0;
                for (std::int64_t i = 0; i < n; ++i) total += value_at(i * c + j);
                return total;
              })) << c;
  }
}
TEST_P(ShortRuns, RowsWithNaNAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<float> values(3 * 400, 1);
  values[4] = nan, values[9] = inf, values[16] = -inf, values[3 * 399 + 2] = nan;
  const Tensor x = tensor(values).reshape({400, 3});
  const std::vector<double> most = doubles(max(x, {1})), total = doubles(sum(x, {1}));
  for (std::size_t i = 0; i < 400; ++i) {
    const bool is_nan = i == 1 || i == 399;
    EXPECT_EQ(std::isnan(most[i]), is_nan) << i;
    EXPECT_EQ(std::isnan(total[i]), is_nan) << i;
    if (!is_nan) {
      EXPECT_EQ(total[i], i == 3 ? inf : i == 5 ? -inf : 3) << i;
    }
  }
}

TEST_P(ShortRuns, ReductionsOfPermutedViews) {
  const std::int64_t a = 5, b = 33, c = 6, d = 19;
  const Tensor x = small_wholes({a, b, c, d});
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
    return value_at(((i * b + j) * c + k) * d + l);
  };
  const Tensor view = x.permute({3, 1, 0, 2});
  EXPECT_EQ(doubles(sum(view)), doubles(sum(x)));
  EXPECT_EQ(doubles(max(view)), doubles(max(x)));
  std::vector<double> by_l, by_j;
  for (std::int64_t l = 0; l < d; ++l) {
    double total = 0;
    for (std::int64_t n = 0; n < a * b * c; ++n) total += at(n / (b * c), n / c % b, n % c, l);
    by_l.push_back(total);
  }
  EXPECT_EQ(doubles(sum(view, {1, 2, 3})), by_l);
  for (std::int64_t l = 0; l < d; ++l)
    for (std::int64_t j = 0; j < b; ++j) {
      double total = 0;
      for (std::int64_t i = 0; i < a; ++i)
        for (std::int64_t k = 0; k < c; ++k) total += at(i, j, k, l);
      by_j.push_back(total);
    }
  EXPECT_EQ(doubles(sum(view, {2, 3})), by_j);
  // The first of equal ones counts in the order of the view, not of the memory.
  const Tensor steps = small_wholes({40, 50});
  EXPECT_EQ(doubles(argmax(steps.transpose(0, 1))), doubles(argmax(steps.transpose(0, 1).contiguous())));
  EXPECT_EQ(doubles(argmin(steps.transpose(0, 1), {0})), doubles(argmin(steps.transpose(0, 1).contiguous(), {0})));
}

}  // namespace
}  // namespace tern::test
