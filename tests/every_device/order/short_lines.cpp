// Lines side by side whose neighbours in memory are few: running sums, sorts, batches of small products, rows by index.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "every_device/formulas/short_runs.hpp"

namespace tern::test {
namespace {

class ShortLines : public EveryDevice {};
TERN_EVERY_DEVICE(ShortLines);

TEST_P(ShortLines, RunningSumsAlongBothAxes) {
  for (const DType dtype : {f32, f64, f16, i32, i64})
    for (const std::int64_t c : {1, 2, 3, 4, 7, 16, 127, 128, 300}) {
      if (!has(dtype) || left_out(device(), 3)) continue;
      const std::int64_t n = dtype == f16 ? 40 : 1100;
      const Tensor x = small_wholes({n, c}, dtype);
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
      EXPECT_EQ(doubles(cumsum(small_wholes({c, n}, dtype).transpose(0, 1), 0)),
                doubles(cumsum(small_wholes({c, n}, dtype).transpose(0, 1).contiguous(), 0)))
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
TEST_P(ShortLines, SortsAndFirstResultsOfLinesOfEveryLength) {
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

/// m, k, n
constexpr std::array<std::int64_t, 3> kSmallProducts[] = {
    {1, 1, 1}, {2, 2, 2}, {3, 3, 1}, {3, 3, 3}, {4, 4, 4}, {2, 3, 4}, {4, 2, 3}, {1, 16, 1}, {5, 1, 7}, {4, 4, 1},
    {1, 3, 3}, {5, 5, 5}, {6, 6, 6}, {8, 8, 8}, {12, 12, 12}, {15, 15, 15}, {16, 4, 16}, {7, 5, 13}, {16, 16, 4},
    {17, 4, 16}, {100, 1, 2}, {300, 4, 4}, {64, 16, 4}};
/// A batch of products of small matrices, in many layouts of both operands.
struct ShortProducts {
  DType dtype;
  std::int64_t m, k, n, count = m * n <= 20 ? 203 : 37;
  std::string at =
      std::string(to_string(dtype)) + " " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  Tensor a = small_wholes({count, m, k}, dtype), b = small_wholes({count, k, n}, dtype);

  double ax(std::int64_t i, std::int64_t r, std::int64_t p) const { return value_at((i * m + r) * k + p); }
  double by(std::int64_t i, std::int64_t p, std::int64_t s) const { return value_at((i * k + p) * n + s); }
  /// Of elements x(batch, row, p) and y(batch, p, column).
  template <class X, class Y> std::vector<double> expected(const X& x, const Y& y) const {
    std::vector<double> result;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t r = 0; r < m; ++r)
        for (std::int64_t s = 0; s < n; ++s) {
          double total = 0;
          for (std::int64_t p = 0; p < k; ++p) total += x(i, r, p) * y(i, p, s);
          result.push_back(total);
        }
    return result;
  }
  void check() const;
};
void ShortProducts::check() const {
  const auto ax = [&](auto i, auto r, auto p) { return this->ax(i, r, p); };
  const auto by = [&](auto i, auto p, auto s) { return this->by(i, p, s); };
  const auto first_b = [&](auto, auto p, auto s) { return value_at(p * n + s); };
  const std::vector<double> each = expected(ax, by);
  EXPECT_EQ(doubles(matmul(a, b)), each) << at;
  EXPECT_EQ(doubles(matmul(a, b.slice(0, 0, 1))), expected(ax, first_b)) << at << " shared";
  const Tensor at_turned = small_wholes({count, k, m}, dtype).transpose(1, 2),
               b_turned = small_wholes({count, n, k}, dtype).transpose(1, 2);
  EXPECT_EQ(doubles(matmul(at_turned, b_turned)),
            expected([&](auto i, auto r, auto p) { return value_at((i * k + p) * m + r); },
                     [&](auto i, auto p, auto s) { return value_at((i * n + s) * k + p); }))
      << at << " transposed";
  const Tensor wide = small_wholes({count, m, 2 * k}, dtype).slice(2, 0, 2 * k, 2);
  EXPECT_EQ(doubles(matmul(wide, b)),
            expected([&](auto i, auto r, auto p) { return value_at((i * m + r) * 2 * k + 2 * p); }, by))
      << at << " strided";
  EXPECT_EQ(doubles(matmul(a.slice(0, 0, 1), b)),
            expected([&](auto, auto r, auto p) { return value_at(r * k + p); }, by))
      << at << " shared a";
  const Tensor part = small_wholes({count, k + 1, n + 2}, dtype).slice(1, 1, k + 1).slice(2, 1, n + 1);
  EXPECT_EQ(doubles(matmul(a, part)),
            expected(ax, [&](auto i, auto p, auto s) { return value_at((i * (k + 1) + p + 1) * (n + 2) + s + 1); }))
      << at << " part of a wider b";
  EXPECT_EQ(doubles(matmul(a.slice(0, 3, 9), b.slice(0, 3, 9))),
            std::vector<double>(each.begin() + 3 * m * n, each.begin() + 9 * m * n))
      << at << " a few";
  if (dtype == i32) return;
  const Tensor bias = small_wholes({n}, dtype);
  std::vector<double> with_bias = each;
  for (std::size_t i = 0; i < with_bias.size(); ++i)
    with_bias[i] = std::max(0., with_bias[i] + value_at(static_cast<std::int64_t>(i) % n));
  EXPECT_EQ(doubles(matmul_bias_activation(a, b, bias, op::relu)), with_bias) << at << " epilogue";
}
TEST_P(ShortLines, BatchesOfSmallProducts) {
  std::size_t turn = 0;
  for (const DType dtype : {f32, f64, f16, i32})
    for (const auto& [m, k, n] : kSmallProducts)
      if (has(dtype) && (turn++ % 11 == 0 || !in_software(device()))) ShortProducts{dtype, m, k, n}.check();
}

TEST_P(ShortLines, RowsTakenAndScattered) {
  for (const DType dtype : {f32, f16, u8, i32})
    for (const std::int64_t c : {1, 2, 3, 4, 5, 16, 40}) {
      if (!has(dtype)) continue;
      const std::int64_t n = 700;
      const Tensor x = small_wholes({50, c}, dtype);
      std::vector<std::int32_t> at(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = static_cast<std::int32_t>(i * 13 % 50) - (i % 3 == 0 ? 50 : 0);
      const Tensor where = tensor(at);
      const auto row = [&](std::int64_t i) { return i * 13 % 50; };
      EXPECT_EQ(doubles(take(x, where)),
                matrix(n, c, [&](auto i, auto j) { return value_at(row(i) * c + j, dtype != u8); }))
          << c;
      if (dtype == f16 || dtype == u8) continue;
      const Tensor added = scatter_add(zeros({50, c}, {.dtype = dtype}), where, small_wholes({n, c}, dtype));
      std::vector<double> sums(static_cast<std::size_t>(50 * c));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < c; ++j) sums[static_cast<std::size_t>(row(i) * c + j)] += value_at(i * c + j);
      EXPECT_EQ(doubles(added), sums) << c;
      const Tensor across = scatter_add(zeros({c, 50}, {.dtype = dtype}), where, small_wholes({c, n}, dtype), 1);
      std::vector<double> turned(static_cast<std::size_t>(50 * c));
      for (std::int64_t j = 0; j < c; ++j)
        for (std::int64_t i = 0; i < n; ++i) turned[static_cast<std::size_t>(j * 50 + row(i))] += value_at(j * n + i);
      EXPECT_EQ(doubles(across), turned) << c;
    }
}

}  // namespace
}  // namespace tern::test
