// Operands whose neighbours in memory are few: short last axes, repeated rows and columns, permuted views, batches of
// small products, lines side by side. Small whole numbers throughout, so that every order of a sum gives the same bits.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "reference.hpp"

namespace tern::test {
namespace {

class ShortRuns : public EveryDevice {};
TERN_EVERY_DEVICE(ShortRuns);

/// Element i of every operand here: 0 to 22, or -11 to 11.
double value_at(std::int64_t i, bool sign = true) { return static_cast<double>(i * 7 % 23) - (sign ? 11 : 0); }

Tensor counted(const Shape& shape, DType dtype = f32) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  const bool sign = dtype != u8 && dtype != boolean && dtype != u32;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_at(static_cast<std::int64_t>(i), sign);
  std::vector<float> narrow(values.begin(), values.end());
  return tensor(narrow, shape, cpu()).to(dtype).to(default_device());
}
bool has(DType dtype) {
  try {
    (void)zeros({1}, {.dtype = dtype});
    return true;
  } catch (const Error&) {
    return false;
  }
}
/// Calls f(i, j) for every element of an n × c matrix, row by row.
std::vector<double> matrix(std::int64_t n, std::int64_t c, const std::function<double(std::int64_t, std::int64_t)>& f) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < c; ++j) result.push_back(f(i, j));
  return result;
}
/// Rows of every short length and beyond, as many as fill some blocks and no whole one.
constexpr std::int64_t kLengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 33};
std::int64_t rows_of(std::int64_t c) { return 2900 / c + 3; }

/// So many elements that GPUs take several rows as one (elementwise.cpp), and some rows that are left.
TEST_P(ShortRuns, ManyRowsThatRepeat) {
  for (const DType dtype : {f32, bf16, u8, i64}) {
    if (!has(dtype)) continue;
    for (const std::int64_t c : {3, 7, 33}) {
      const std::int64_t n = (1 << 20) / c + 5;
      const Tensor x = counted({n, c}, dtype), row = counted({c}, dtype), one = counted({1}, dtype);
      const bool sign = dtype != u8;
      const auto v = [sign](std::int64_t i) { return value_at(i, sign); };
      const std::string at = std::string(to_string(dtype)) + " " + std::to_string(c);
      EXPECT_TRUE(doubles(x + row) == matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(j); })) << at;
      Tensor in_place = counted({n, c}, dtype);
      in_place += row + one;
      EXPECT_TRUE(doubles(in_place) == matrix(n, c, [&](auto i, auto j) { return v(i * c + j) + v(j) + v(0); })) << at;
      const Tensor part = counted({n + 1, c}, dtype).slice(0, 1);
      EXPECT_TRUE(doubles(part + row) == matrix(n, c, [&](auto i, auto j) { return v(i * c + c + j) + v(j); })) << at;
    }
  }
}

TEST_P(ShortRuns, RepeatedRowsAndColumnsOfEveryLength) {
  for (const DType dtype : {f32, f64, f16, bf16, i32, u8, i64}) {
    if (!has(dtype)) continue;
    const bool sign = dtype != u8;
    for (const std::int64_t c : kLengths) {
      const std::int64_t n = rows_of(c);
      const Tensor x = counted({n, c}, dtype), row = counted({c}, dtype), column = counted({n, 1}, dtype),
                   one = counted({1}, dtype);
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
    for (const std::int64_t c : kLengths) {
      const std::int64_t n = rows_of(c);
      const Tensor x = counted({n, c}, dtype), wide = counted({n, c + 2}, dtype), turned = counted({c, n}, dtype);
      const Tensor every_second = counted({n, 2 * c}, dtype).slice(1, 1, 2 * c, 2);
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
  for (const std::int64_t c : kLengths) {
    const std::int64_t n = rows_of(c);
    Tensor wide = counted({n, c + 2}), turned = counted({c, n}), square = counted({c + 60, n});
    Tensor part = wide.slice(1, 1, c + 1), view = turned.transpose(0, 1), large = square.transpose(0, 1);
    part += counted({c});
    EXPECT_EQ(doubles(wide), matrix(n, c + 2, [&](auto i, auto j) {
                return value_at(i * (c + 2) + j) + (j >= 1 && j <= c ? value_at(j - 1) : 0);
              })) << c;
    view += counted({c});
    EXPECT_EQ(doubles(turned), matrix(c, n, [&](auto i, auto j) { return value_at(i * n + j) + value_at(i); })) << c;
    large += 1;
    EXPECT_EQ(doubles(square), matrix(c + 60, n, [&](auto i, auto j) { return value_at(i * n + j) + 1; })) << c;
  }
}
TEST_P(ShortRuns, SmallMatricesTransposedInABatch) {
  for (const std::int64_t c : {2, 3, 4, 5})
    for (const std::int64_t d : {2, 3, 7}) {
      const std::int64_t n = 500;
      const Tensor x = counted({n, c, d});
      std::vector<double> expected;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j)
          for (std::int64_t k = 0; k < c; ++k)
            expected.push_back(value_at((i * c + k) * d + j) + value_at((i * d + j) * c + k));
      EXPECT_EQ(doubles(x.transpose(1, 2) + counted({n, d, c})), expected) << c << " " << d;
    }
}

TEST_P(ShortRuns, ReducedRowsColumnsAndMiddleAxes) {
  for (const DType dtype : {f32, f64, f16, i32, u8}) {
    if (!has(dtype)) continue;
    const bool sign = dtype != u8;
    const auto v = [sign](std::int64_t i) { return value_at(i, sign); };
    for (const std::int64_t c : kLengths) {
      const std::int64_t n = rows_of(c);
      const std::string at = std::string(to_string(dtype)) + " " + std::to_string(c);
      const Tensor x = counted({n, c}, dtype), cube = counted({n, 3, c}, dtype).to(dtype);
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
  for (const std::int64_t c : kLengths) {
    const std::int64_t n = rows_of(c);
    const Tensor x = counted({n, c}), weight = counted({c});
    const auto centred = [](auto u, auto w) { return (u - max(u)) * w + sum(u); };
    const auto expected = matrix(n, c, [&](auto i, auto j) {
      double most = -100, total = 0;
      for (std::int64_t k = 0; k < c; ++k) most = std::max(most, value_at(i * c + k)), total += value_at(i * c + k);
      return (value_at(i * c + j) - most) * value_at(j) + total;
    });
    EXPECT_EQ(doubles(row_formula(centred, x, weight)), expected) << c;
    EXPECT_EQ(doubles(row_formula(centred, counted({c, n}).transpose(0, 1).contiguous(), weight)),
              doubles(row_formula(centred, counted({c, n}).transpose(0, 1), weight))) << c;
    // Into 16 bits, and with a gradient for each column: small, so that they are exact.
    const Tensor half = counted({n, c}, f16);
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
    if (!is_nan) EXPECT_EQ(total[i], i == 3 ? inf : i == 5 ? -inf : 3) << i;
  }
}

TEST_P(ShortRuns, ReductionsOfPermutedViews) {
  const std::int64_t a = 5, b = 33, c = 6, d = 19;
  const Tensor x = counted({a, b, c, d});
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
  const Tensor steps = counted({40, 50});
  EXPECT_EQ(doubles(argmax(steps.transpose(0, 1))), doubles(argmax(steps.transpose(0, 1).contiguous())));
  EXPECT_EQ(doubles(argmin(steps.transpose(0, 1), {0})), doubles(argmin(steps.transpose(0, 1).contiguous(), {0})));
}

TEST_P(ShortRuns, RunningSumsAlongBothAxes) {
  for (const DType dtype : {f32, f64, f16, i32, i64})
    for (const std::int64_t c : {1, 2, 3, 4, 7, 16, 127, 128, 300}) {
      if (!has(dtype)) continue;
      const std::int64_t n = dtype == f16 ? 40 : 1100;
      const Tensor x = counted({n, c}, dtype);
      std::vector<double> down, across;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < c; ++j) {
          const double v = value_at(i * c + j);
          down.push_back(v + (i > 0 ? down[static_cast<std::size_t>((i - 1) * c + j)] : 0));
          across.push_back(v + (j > 0 ? across.back() : 0));
        }
      const std::string at = std::string(to_string(dtype)) + " " + std::to_string(c);
      EXPECT_EQ(doubles(cumsum(x, 0)), down) << at;
      EXPECT_EQ(doubles(cumsum(x, 1)), across) << at;
      EXPECT_EQ(doubles(cumsum(counted({c, n}, dtype).transpose(0, 1), 0)),
                doubles(cumsum(counted({c, n}, dtype).transpose(0, 1).contiguous(), 0)))
          << at;
      if (dtype != f32) continue;
      const Tensor gradient = grad([](const Var& v) { return sum(cumsum(v, 0)); })(x);  // running sums from the end
      EXPECT_EQ(doubles(gradient), matrix(n, c, [&](auto i, auto) { return static_cast<double>(n - i); })) << at;
    }
}

/// Stable: NaN is larger than everything, zeros of both signs are equal.
std::vector<std::int32_t> sorted_places(const std::vector<double>& x, bool descending) {
  std::vector<std::int32_t> places(x.size());
  std::iota(places.begin(), places.end(), 0);
  const auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::stable_sort(places.begin(), places.end(), [&](std::int32_t a, std::int32_t b) {
    const double first = x[static_cast<std::size_t>(descending ? b : a)],
                 second = x[static_cast<std::size_t>(descending ? a : b)];
    return less(first, second);
  });
  return places;
}
TEST_P(ShortRuns, SortsAndFirstResultsOfLinesOfEveryLength) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const DType dtype : {f32, f64, f16, bf16, i32, u32, u8, i8, i16, i64, boolean})
    for (const std::int64_t n : {1, 2, 8, 63, 64, 65, 255, 256, 257, 513, 1500}) {
      // The CPU's thresholds; those of GPUs, where each dtype is another kernel, are Sorting's.
      const bool chosen = device() == cpu() || full_test() || (dtype == f32 && (n == 2 || n == 65));
      if (!has(dtype) || !chosen) continue;
      std::vector<float> values;
      const bool sign = dtype != u8 && dtype != u32 && dtype != boolean;
      for (std::int64_t i = 0; i < 3 * n; ++i)
        values.push_back(static_cast<float>(i * 7919 % 101) - (sign ? 50.f : 0.f));
      if (is_floating(dtype))
        for (std::size_t i = 0; i < values.size(); i += 11)
          values[i] = i % 5 == 0 ? nan : i % 5 == 1 ? -0.f : i % 5 == 2 ? 0.f : i % 5 == 3 ? inf : -inf;
      const Tensor x = tensor(values, {3, n}, cpu()).to(dtype).to(device());
      const std::vector<double> all = doubles(x);
      for (const bool descending : {false, true}) {
        std::vector<double> places;
        for (std::int64_t line = 0; line < 3; ++line)
          for (const std::int32_t place :
               sorted_places({all.begin() + line * n, all.begin() + (line + 1) * n}, descending))
            places.push_back(place);
        const std::string at =
            std::string(to_string(dtype)) + " " + std::to_string(n) + (descending ? " descending" : "");
        const Sorted<Tensor> sorted = sort(x, 1, descending);
        EXPECT_EQ(doubles(sorted.indices), places) << at;
        EXPECT_EQ(doubles(gather(x, sorted.indices, 1).to(f32)).size(), places.size());
        EXPECT_EQ(doubles(sort(x.transpose(0, 1).contiguous(), 0, descending).indices.transpose(0, 1)), places)
            << at << " along columns";
        for (const std::int64_t k : {std::int64_t{1}, n / 3, n / 2 + 1, n}) {
          if (k == 0 || k > n) continue;
          const Sorted<Tensor> top = topk(x, k, 1, descending);
          std::vector<double> first;
          for (std::int64_t line = 0; line < 3; ++line)
            first.insert(first.end(), places.begin() + line * n, places.begin() + line * n + k);
          EXPECT_EQ(doubles(top.indices), first) << at << " " << k;
          const std::vector<double> got = doubles(top.values);
          for (std::size_t i = 0; i < got.size(); ++i) {
            const double wanted =
                all[i / static_cast<std::size_t>(k) * static_cast<std::size_t>(n) + static_cast<std::size_t>(first[i])];
            EXPECT_TRUE(got[i] == wanted || (std::isnan(got[i]) && std::isnan(wanted))) << at;
          }
        }
      }
    }
}

TEST_P(ShortRuns, BatchesOfSmallProducts) {
  for (const DType dtype : {f32, f64, f16, i32}) {
    if (!has(dtype)) continue;
    for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{1, 1, 1},
                                  {2, 2, 2},
                                  {3, 3, 1},
                                  {3, 3, 3},
                                  {4, 4, 4},
                                  {2, 3, 4},
                                  {4, 2, 3},
                                  {1, 16, 1},
                                  {5, 1, 7},
                                  {4, 4, 1},
                                  {1, 3, 3},
                                  {5, 5, 5},
                                  {6, 6, 6},
                                  {8, 8, 8},
                                  {12, 12, 12},
                                  {15, 15, 15},
                                  {16, 4, 16},
                                  {7, 5, 13},
                                  {16, 16, 4},
                                  {17, 4, 16},
                                  {100, 1, 2},
                                  {300, 4, 4},
                                  {64, 16, 4}}) {
      const std::int64_t count = m * n <= 20 ? 203 : 37;
      const Tensor a = counted({count, m, k}, dtype), b = counted({count, k, n}, dtype);
      const auto expected = [&](auto x, auto y) {
        std::vector<double> result;
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t r = 0; r < m; ++r)
            for (std::int64_t s = 0; s < n; ++s) {
              double total = 0;
              for (std::int64_t p = 0; p < k; ++p) total += x(i, r, p) * y(i, p, s);
              result.push_back(total);
            }
        return result;
      };
      const auto ax = [&](auto i, auto r, auto p) { return value_at((i * m + r) * k + p); };
      const auto by = [&](auto i, auto p, auto s) { return value_at((i * k + p) * n + s); };
      const auto first_b = [&](auto, auto p, auto s) { return value_at(p * n + s); };
      const std::string at =
          std::string(to_string(dtype)) + " " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
      const std::vector<double> each = expected(ax, by);
      EXPECT_EQ(doubles(matmul(a, b)), each) << at;
      EXPECT_EQ(doubles(matmul(a, b.slice(0, 0, 1))), expected(ax, first_b)) << at << " shared";
      const Tensor at_turned = counted({count, k, m}, dtype).transpose(1, 2),
                   b_turned = counted({count, n, k}, dtype).transpose(1, 2);
      EXPECT_EQ(doubles(matmul(at_turned, b_turned)),
                expected([&](auto i, auto r, auto p) { return value_at((i * k + p) * m + r); },
                         [&](auto i, auto p, auto s) { return value_at((i * n + s) * k + p); }))
          << at << " transposed";
      const Tensor wide = counted({count, m, 2 * k}, dtype).slice(2, 0, 2 * k, 2);
      EXPECT_EQ(doubles(matmul(wide, b)),
                expected([&](auto i, auto r, auto p) { return value_at((i * m + r) * 2 * k + 2 * p); }, by))
          << at << " strided";
      EXPECT_EQ(doubles(matmul(a.slice(0, 0, 1), b)),
                expected([&](auto, auto r, auto p) { return value_at(r * k + p); }, by))
          << at << " shared a";
      const Tensor part = counted({count, k + 1, n + 2}, dtype).slice(1, 1, k + 1).slice(2, 1, n + 1);
      EXPECT_EQ(doubles(matmul(a, part)),
                expected(ax, [&](auto i, auto p, auto s) { return value_at((i * (k + 1) + p + 1) * (n + 2) + s + 1); }))
          << at << " part of a wider b";
      EXPECT_EQ(doubles(matmul(a.slice(0, 3, 9), b.slice(0, 3, 9))),
                std::vector<double>(each.begin() + 3 * m * n, each.begin() + 9 * m * n))
          << at << " a few";
      if (dtype == i32) continue;
      const Tensor bias = counted({n}, dtype);
      std::vector<double> with_bias = each;
      for (std::size_t i = 0; i < with_bias.size(); ++i)
        with_bias[i] = std::max(0., with_bias[i] + value_at(static_cast<std::int64_t>(i) % n));
      EXPECT_EQ(doubles(matmul_bias_activation(a, b, bias, op::relu)), with_bias) << at << " epilogue";
    }
  }
}

TEST_P(ShortRuns, RowsTakenAndScattered) {
  for (const DType dtype : {f32, f16, u8, i32})
    for (const std::int64_t c : {1, 2, 3, 4, 5, 16, 40}) {
      if (!has(dtype)) continue;
      const std::int64_t n = 700;
      const Tensor x = counted({50, c}, dtype);
      std::vector<std::int32_t> at(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = static_cast<std::int32_t>(i * 13 % 50) - (i % 3 == 0 ? 50 : 0);
      const Tensor where = tensor(at);
      const auto row = [&](std::int64_t i) { return i * 13 % 50; };
      EXPECT_EQ(doubles(take(x, where)),
                matrix(n, c, [&](auto i, auto j) { return value_at(row(i) * c + j, dtype != u8); }))
          << c;
      if (dtype == f16 || dtype == u8) continue;
      const Tensor added = scatter_add(zeros({50, c}, {.dtype = dtype}), where, counted({n, c}, dtype));
      std::vector<double> sums(static_cast<std::size_t>(50 * c));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < c; ++j) sums[static_cast<std::size_t>(row(i) * c + j)] += value_at(i * c + j);
      EXPECT_EQ(doubles(added), sums) << c;
      const Tensor across = scatter_add(zeros({c, 50}, {.dtype = dtype}), where, counted({c, n}, dtype), 1);
      std::vector<double> turned(static_cast<std::size_t>(50 * c));
      for (std::int64_t j = 0; j < c; ++j)
        for (std::int64_t i = 0; i < n; ++i) turned[static_cast<std::size_t>(j * 50 + row(i))] += value_at(j * n + i);
      EXPECT_EQ(doubles(across), turned) << c;
    }
}

}  // namespace
}  // namespace tern::test
