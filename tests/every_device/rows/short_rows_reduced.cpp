// Rows and groups of a few elements, of which many are reduced at once: every length about what is done otherwise,
// every dtype, in memory and as a formula, at any place among the others.
#include <array>
#include <cmath>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class ShortRowsReduced : public EveryDevice {};
TERN_EVERY_DEVICE(ShortRowsReduced);

/// Of powers of two (and ±), whose products are exact for a few.
Tensor whole_values(const Shape& shape, DType dtype, Device device) {
  return round(Random(shape.numel()).tensor(shape, f32, device, -3, 3)).to(dtype);
}
struct Reduction {
  const char* name;
  Tensor (*run)(const Tensor&, const Axes&);
  double start;
  double (*join)(double, double);
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
const std::array<Reduction, 4> kReductions{{
    {"sum", [](const Tensor& x, const Axes& axes) { return sum(x, axes); }, 0,
     [](double a, double b) { return a + b; }},
    {"max", [](const Tensor& x, const Axes& axes) { return max(x, axes); }, -kInfinity, larger},
    {"min", [](const Tensor& x, const Axes& axes) { return min(x, axes); }, kInfinity, smaller},
    {"prod", [](const Tensor& x, const Axes& axes) { return prod(x, axes); }, 1,
     [](double a, double b) { return a * b; }},
}};

/// Of [groups, length, width] along axis 1.
std::vector<double> expected_of_groups(const Reduction& r, const std::vector<double>& x, std::int64_t length,
                                       std::int64_t width) {
  std::vector<double> result(x.size() / static_cast<std::size_t>(length), r.start);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t w = static_cast<std::size_t>(width), g = i / (w * static_cast<std::size_t>(length));
    double& to = result[g * w + i % w];
    to = r.join(to, x[i]);
  }
  return result;
}
/// As they lie, within wider rows, as a formula's operand (x + 0 in blocks), and with the axes the other way around.
void check_reductions(const Tensor& x, const std::string& what) {
  const std::vector<double> all = doubles(x);
  const std::int64_t length = x.size(1), width = x.size(2);
  const Tensor wide = concatenate({x, x}, 0).slice(0, x.size(0) / 2, x.size(0) / 2 + x.size(0));
  for (const Reduction& r : kReductions) {
    if (r.join(2, 3) == 6 && length > (dtype_size(x.dtype()) == 2 ? 4 : 8)) continue;  // inexact
    const auto test = [&](const Tensor& of, const std::vector<double>& values, const char* how) {
      expect_same(doubles(r.run(of, {1})), expected_of_groups(r, values, length, width), r.name + (", " + what) + how);
    };
    test(x, all, "");
    if (x.device() != cpu()) continue;  // each layout is a kernel to compile
    test(wide, doubles(wide), ", in the middle of memory");
    test(x.transpose(0, 1).contiguous().transpose(0, 1), all, ", transposed");
    const Tensor part = concatenate({x, x}, 1).slice(1, 0, length);
    test(part, all, ", part of longer rows");
  }
  const auto twice = Pointwise("twice_squared", [](auto u) { return u * u + u; });
  const Tensor formula = row_formula([](auto u) { return sum(u * u + u); }, x.transpose(1, 2).contiguous());
  expect_same(doubles(formula.reshape({-1})), expected_of_groups(kReductions[0], doubles(twice(x)), length, width),
              "sum of a formula, " + what);
}

TEST_P(ShortRowsReduced, OfEveryLength) {
  for (const DType dtype : dtypes_of(device(), {f32, f64, i32, i64, f16, bf16}))
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
      if (dtype != f32 && n > 40 && n % 2 == 1) continue;
      for (const std::int64_t rows : {33, 1, 5, 16, 400}) {
        if (device() != cpu() && (rows != 33 || dtype != f32)) break;
        check_reductions(whole_values({rows, n, 1}, dtype, device()),
                         std::to_string(rows) + " rows of " + std::to_string(n) + " " + std::string(to_string(dtype)));
      }
    }
}
TEST_P(ShortRowsReduced, InGroups) {
  for (const DType dtype : dtypes_of(device(), {f32, f64, i32, bf16}))
    for (const std::int64_t width : {2, 3, 4, 5, 8, 9, 16, 17, 33, 300, 600})
      for (const std::int64_t n : {1, 2, 3, 8}) {
        if (dtype == bf16 && n * width > 300) continue;
        for (const std::int64_t groups : {17, 2, 3, 130}) {
          if (device() != cpu() && (groups != 17 || dtype != f32)) break;
          check_reductions(whole_values({groups, n, width}, dtype, device()),
                           std::to_string(groups) + " groups of " + std::to_string(n) + " by " + std::to_string(width) +
                               " " + std::string(to_string(dtype)));
        }
      }
}
/// NaN, infinities and zeros at every place of a row, in every row of a vector.
TEST_P(ShortRowsReduced, SpecialNumbersAnywhere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : all_floats(device()))
    for (const std::int64_t n : {2, 3, 4, 6, 8, 11, 16, 20, 32, 40}) {
      std::vector<double> x(static_cast<std::size_t>(37 * n));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 5) - 1;
      for (std::size_t row = 0; row < 37; ++row) {
        const std::array<double, 5> special{nan, kInfinity, -kInfinity, -0., 1};
        x[row * static_cast<std::size_t>(n) + row % static_cast<std::size_t>(n)] = special[row % special.size()];
      }
      const std::vector<float> narrow(x.begin(), x.end());
      const Tensor rows = tensor(narrow, {37, n, 1}, device()).to(dtype);
      for (std::size_t r = 0; r < 3; ++r) {
        const Reduction& reduction = kReductions[r];
        expect_same(doubles(reduction.run(rows, {1})), expected_of_groups(reduction, x, n, 1),
                    reduction.name + (", rows of " + std::to_string(n)));
        for (const std::int64_t width : {2, 3}) {
          const Tensor groups = rows.broadcast_to({37, n, width}).contiguous();
          expect_same(doubles(reduction.run(groups, {1})), expected_of_groups(reduction, doubles(groups), n, width),
                      reduction.name + (", groups of " + std::to_string(n)));
        }
      }
    }
}
TEST_P(ShortRowsReduced, OfNothing) {
  for (const Shape& shape : {Shape{0, 3, 1}, Shape{5, 0, 1}, Shape{0, 0, 4}, Shape{5, 0, 4}, Shape{7, 2, 0}}) {
    const Tensor x = zeros(shape, {.device = device()});
    EXPECT_EQ(doubles(sum(x, {1})), std::vector<double>(static_cast<std::size_t>(shape[0] * shape[2]), 0.));
    EXPECT_EQ(doubles(prod(x, {1})), std::vector<double>(static_cast<std::size_t>(shape[0] * shape[2]), 1.));
  }
}
/// What is computed of a row and used along it: repeated by permutations, by vectors and by calls.
TEST_P(ShortRowsReduced, AndRepeated) {
  for (const DType dtype : wide_floats(device()))
    for (const std::int64_t n : {1, 2, 3, 5, 8, 9, 16, 17, 24, 25, 63, 64, 65})
      for (const std::int64_t rows : {1, 3, 16, 50, 333}) {
        const Tensor x = whole_values({rows, n}, dtype, device());
        const std::vector<double> all = doubles(x), sums = expected_of_groups(kReductions[0], all, n, 1);
        const Tensor given = whole_values({rows, 1}, dtype, device());
        const std::vector<double> column = doubles(given);
        std::vector<double> more(all.size()), times(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
          more[i] = all[i] + sums[i / static_cast<std::size_t>(n)];
          times[i] = all[i] * column[i / static_cast<std::size_t>(n)];
        }
        const std::string what = std::to_string(rows) + " rows of " + std::to_string(n);
        expect_same(doubles(row_formula([](auto u) { return u + sum(u); }, x)), more, what);
        expect_same(doubles(x * given), times, "times a column, " + what);
        expect_same(doubles(grad([&](const Var& v) { return sum(sum(v, {1}, true) * given); })(x)),
                    doubles(given.broadcast_to({rows, n}).contiguous()), "backward, " + what);
        const Tensor groups = x.reshape({rows, n, 1}).broadcast_to({rows, n, 3}).contiguous();
        const std::vector<double> in_groups = doubles(var(groups, {1})),
                                  of_columns = doubles(var(x.transpose(0, 1), {0}));
        for (std::size_t i = 0; i < in_groups.size() && n > 1; ++i)
          EXPECT_NEAR(in_groups[i], of_columns[i / 3], 32 * epsilon(dtype) * 9) << "variance in groups, " << what;
      }
}
/// Axes of one element change nothing: neither the bits nor, as columns stay columns, the time.
TEST(ShortRowsReducedOnCpu, AxesOfOneElementBetween) {
  for (const Shape& shape : {Shape{8, 1, 33}, Shape{64, 1, 819}, Shape{4, 1, 2000}}) {
    const Tensor x = Random(3).tensor(shape, f32, cpu(), -1, 1), flat = x.reshape({shape[0], shape[2]});
    EXPECT_TRUE(all(sum(x, {0, 1}) == sum(flat, {0})).item<bool>()) << shape;
    EXPECT_TRUE(all(var(x, {0, 1}) == var(flat, {0})).item<bool>()) << shape;
  }
}
/// The gradient of a sum, of 16 bits as well: pairs of elements are moved as one.
TEST(ShortRowsReducedOnCpu, RepeatedFromMemoryToMemory) {
  for (const DType dtype : {f16, bf16, i16, f32, i64})
    for (const std::int64_t n : {2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 63})
      for (const std::int64_t rows : {1, 15, 16, 33, 64, 333, 9001}) {
        const Tensor column = whole_values({rows, 1}, dtype, cpu()),
                     repeated = column.broadcast_to({rows, n}).contiguous();
        const std::vector<double> one = doubles(column), all = doubles(repeated);
        for (std::size_t i = 0; i < all.size(); ++i)
          ASSERT_EQ(all[i], one[i / static_cast<std::size_t>(n)]) << to_string(dtype) << " " << rows << " by " << n;
      }
}
/// Means have the bits of the sum, divided and then rounded once more where 16 bits are stored.
TEST(ShortRowsReducedOnCpu, MeansAreSumsDivided) {
  for (const DType dtype : {f16, bf16, f32, f64})
    for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 17, 24, 33})
      for (const std::int64_t rows : {1, 5, 16, 33, 333, 9001, 70'003}) {
        const Tensor x = whole_values({rows, n}, dtype, cpu()), wide = x.to(dtype == f64 ? f64 : f32);
        const Tensor sums = sum(wide, {1}).contiguous() + 0;
        const std::string what =
            std::to_string(rows) + " rows of " + std::to_string(n) + " " + std::string(to_string(dtype));
        const Tensor count = full({rows}, static_cast<double>(n), {.dtype = sums.dtype()});
        expect_same(doubles(mean(x, {1})), doubles((sums / count).to(dtype)), what);
        expect_same(doubles(sum(x, {1})), doubles(sums.to(dtype)), "sum of " + what);
      }
}
/// What is computed of a row in several steps has the bits of the steps one after the other, whatever the row's length,
/// wherever it lies, with NaN and infinities in it.
TEST(ShortRowsReducedOnCpu, StepByStep) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {f16, bf16, f32, f64})
    for (const std::int64_t n : {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17})
      for (const std::int64_t rows : {0, 1, 7, 33, 1001, 9001}) {
        const DType wide = dtype == f64 ? f64 : f32;
        Tensor part = Random(rows + n).tensor({rows, n + 2}, f32, cpu(), -3, 3).to(dtype).slice(1, 1, n + 1);
        if (rows > 30) {
          part[3].copy_from(full({n}, 0, {.dtype = dtype}));
          part[5].slice(0, 0, 1).copy_from(full({1}, nan, {.dtype = dtype}));
          part[7].slice(0, 1, 2).copy_from(full({1}, kInfinity, {.dtype = dtype}));
          part[9].slice(0, 1, 2).copy_from(full({1}, 1e-40, {.dtype = wide}).to(dtype));
        }
        const auto numbers = [&](double value) { return full({rows, 1}, value, {.dtype = wide}); };
        const std::string what =
            std::to_string(rows) + " rows of " + std::to_string(n) + " " + std::string(to_string(dtype));
        for (const Tensor& x : {part, part.contiguous()}) {
          const Tensor all = x.to(wide).contiguous(), count = numbers(static_cast<double>(n));
          const auto total = [](const Tensor& t) { return sum(t, {1}, true).contiguous(); };
          const auto repeated = [&](const Tensor& t) { return t.broadcast_to({rows, n}).contiguous(); };
          const Tensor centred = all - repeated(total(all) / count), one = numbers(1);
          const Tensor squares = total(centred * centred), means = total(all) / count;
          expect_same(doubles(var(x, {1}, true)), doubles((squares / numbers(static_cast<double>(n - 1))).to(dtype)),
                      "variance of " + what);
          const auto scaled = row_formula([](auto u) { return (u - mean(u)) * (1 / (mean(u * u) + 1)); }, x);
          const Tensor scale = one / (total(all * all) / count + one), by_rest = one / (squares / count + one);
          expect_same(doubles(scaled), doubles((centred * repeated(scale)).to(dtype)), "scaled, " + what);
          const auto normal = row_formula([](auto u) {
            const auto c = u - mean(u);
            return c * (1 / (mean(c * c) + 1));
          }, x);
          expect_same(doubles(normal), doubles((centred * repeated(by_rest)).to(dtype)), "normal, " + what);
          const auto of_computed = row_formula([](auto u) {
            const auto v = u * 2, c = v - mean(v);
            return c * (1 / (mean(c * c) + 1));
          }, x);
          const Tensor by_four = one / (squares * 4 / count + one);
          expect_same(doubles(of_computed), doubles((centred * 2 * repeated(by_four)).to(dtype)),
                      "of rows that are computed, " + what);
          // What stands between is read by others, too: the mean, the differences, the sum of their squares.
          const auto read = row_formula([](auto u) {
            const auto m = mean(u), c = u - m, s = sum(c * c);
            return c * s + (s / 3 + m);
          }, x);
          expect_same(doubles(read),
                      doubles((centred * repeated(squares) + repeated(squares / numbers(3) + means)).to(dtype)),
                      "read by others, " + what);
          const auto alone = row_formula([](auto u) { return sum((u - mean(u)) * (u - mean(u))) + mean(u); }, x);
          expect_same(doubles(alone), doubles((squares + means).to(dtype)), "of a row, " + what);
        }
      }
}
/// Scalar products of the rows of x and y, which lie anywhere, and what is computed with them.
void check_products(const Tensor& x, const Tensor& y, const std::string& what) {
  const std::int64_t rows = x.size(0), n = x.size(1);
  const DType wide = x.dtype() == f64 ? f64 : f32;
  const auto total = [](const Tensor& t) { return sum(t, {1}, true).contiguous(); };
  const auto repeated = [&](const Tensor& t) { return t.broadcast_to({rows, n}).contiguous(); };
  const auto numbers = [&](double value) { return full({rows, 1}, value, {.dtype = wide}); };
  const auto expect = [&](const auto& formula, const Tensor& wanted, const char* name) {
    expect_same(doubles(row_formula(formula, x, y)), doubles(wanted.to(x.dtype())), name + what);
  };
  const Tensor u = x.to(wide).contiguous(), v = y.to(wide).contiguous(), count = numbers(static_cast<double>(n));
  const Tensor product = total(u * v), of_u = total(u), of_v = total(v);
  expect([](auto a, auto b) { return sum(a * b); }, product, "scalar products of ");
  const Tensor with_one = u * repeated(product) + repeated(of_v);
  expect([](auto a, auto b) { return a * sum(a * b) + sum(b); }, with_one, "with the sum of one, ");
  const auto both = [](auto a, auto b) {
    const auto s = sum(a * b), m = mean(b), r = sqrt(s * s + sum(a) * sum(a));
    return a * (r - m) - b * ((s / 7 + r) * m);
  };
  const Tensor m = of_v / count, r = sqrt(product * product + of_u * of_u);
  expect(both, u * repeated(r - m) - v * repeated((product / numbers(7) + r) * m), "with both sums, ");
  // The product is read by others; a sum is read before there is a product.
  expect([](auto a, auto b) { return a * b + sum(a * b); }, u * v + repeated(product), "of products that are read, ");
  const auto of_rests = [](auto a, auto b) {
    const auto c = b - mean(a);
    return c * sum(a * c) + (sum(a) * sum(c) + sum(b * c));
  };
  const Tensor c = v - repeated(of_u / count);
  expect(of_rests, c * repeated(total(u * c)) + repeated(of_u * total(c) + total(v * c)), "of rests, ");
  const auto gradient = [](auto a, auto b) {
    const auto d = a - mean(a);
    return d * (sum(b * d) / (mean(d * d) + 1)) + (sum(d) - sum(b));
  };
  const Tensor d = u - repeated(of_u / count), scale = total(v * d) / (total(d * d) / count + numbers(1));
  expect(gradient, d * repeated(scale) + repeated(total(d) - of_v), "as a gradient, ");
}
/// The same of sums of products, beside those of what is multiplied, and of what is computed of a row's sums alone.
TEST(ShortRowsReducedOnCpu, ProductsStepByStep) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {f16, bf16, f32, f64})
    for (const std::int64_t n : {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17})
      for (const std::int64_t rows : {0, 1, 3, 7, 33, 1001, 9001}) {
        const auto random = [&](std::int64_t seed) {
          Tensor part = Random(rows + n + seed).tensor({rows, n + 2}, f32, cpu(), -3, 3).to(dtype).slice(1, 1, n + 1);
          if (rows > 30) {
            part[3 + seed].slice(0, 0, 1).copy_from(full({1}, nan, {.dtype = dtype}));
            part[7].slice(0, 1, 2).copy_from(full({1}, kInfinity, {.dtype = dtype}));
          }
          return part;
        };
        const Tensor x = random(0), y = random(1);
        const std::string what =
            std::to_string(rows) + " rows of " + std::to_string(n) + " " + std::string(to_string(dtype));
        check_products(x, y, what);
        check_products(x.contiguous(), y.contiguous(), what);
      }
}
/// An operation with a column has the bits that it has with the column written out, on either side and in place.
TEST(ShortRowsReducedOnCpu, WithAColumn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {f16, bf16, f32, f64})
    for (const std::int64_t n : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33})
      for (const std::int64_t rows : {1, 3, 7, 8, 9, 33, 333, 1500, 40'001}) {
        if (rows > 1500 && n % 4 != 1 && !full_test()) continue;
        const Tensor x = Random(rows).tensor({rows, n}, f32, cpu(), -3, 3).to(dtype);
        Tensor column = Random(n).tensor({rows, 1}, f32, cpu(), -3, 3).to(dtype);
        column.slice(0, rows / 2, rows / 2 + 1).copy_from(full({1, 1}, nan, {.dtype = dtype}));
        const Tensor all = column.broadcast_to({rows, n}).contiguous();
        const std::string what =
            std::to_string(rows) + " rows of " + std::to_string(n) + " " + std::string(to_string(dtype));
        expect_same(doubles(x + column), doubles(x + all), what + " +");
        expect_same(doubles(x * column), doubles(x * all), what + " *");
        expect_same(doubles(x - column), doubles(x - all), what + " -");
        expect_same(doubles(column - x), doubles(all - x), what + " - from");
        expect_same(doubles(x / column), doubles(x / all), what + " /");
        expect_same(doubles(column / x), doubles(all / x), what + " / of");
        Tensor y = x.clone(), first = x.clone();
        y *= column;
        expect_same(doubles(y), doubles(x * all), what + " *=");
        first -= first.slice(1, 0, 1);  // reads what it writes
        expect_same(doubles(first), doubles(x - x.slice(1, 0, 1).broadcast_to({rows, n}).contiguous()), what + " -=");
      }
}
/// What does not stay in the caches is written past them.
TEST(ShortRowsReducedOnCpu, LargerThanTheCaches) {
  const auto same = [](const Tensor& a, const Tensor& b) { return all(a == b).item<bool>(); };
  for (const DType dtype : {f32, bf16})
    for (const std::int64_t n : {3, 4}) {
      const std::int64_t rows = (dtype == f32 ? 18'000'001 : 36'000'001) / n;
      const Tensor column = whole_values({1001, 1}, dtype, cpu()).broadcast_to({1001, rows / 1001}).reshape({-1, 1}),
                   x = column.broadcast_to({column.size(0), n}).contiguous();
      for (const std::int64_t i : {std::int64_t{0}, n - 1}) EXPECT_TRUE(same(x.slice(1, i, i + 1), column)) << n;
      EXPECT_TRUE(same(sum(x, {1}, true), column * static_cast<float>(n))) << n;
      EXPECT_TRUE(same(mean(x, {1}, true), column)) << n;
      const Tensor squares = x * column;
      for (const std::int64_t i : {std::int64_t{0}, n - 1})
        EXPECT_TRUE(same(squares.slice(1, i, i + 1), column * column)) << n;
      EXPECT_TRUE(same(max(x, {1}, true), column)) << n;
      const Tensor rising = tensor(std::vector<float>{0, 1, 2, 3}).slice(0, 0, n).to(dtype),
                   last = argmax(x + rising, 1);
      EXPECT_EQ(min(last).item<int>(), static_cast<int>(n) - 1);
      EXPECT_EQ(max(last).item<int>(), static_cast<int>(n) - 1);
    }
}
/// The bits of a row depend neither on where it stands nor on the number of threads.
TEST(ShortRowsReducedOnCpu, OneOrderForEveryRow) {
  const int before = num_threads();
  for (const DType dtype : {f32, f64, bf16})
    for (const std::int64_t n : {3, 5, 7, 9, 13, 16, 21, 30, 45, 70})
      for (const std::int64_t seed : {1, 2, 3, 4}) {
        const Tensor row = Random(10 * n + seed).tensor({1, n}, f32, cpu(), -1, 1).to(dtype),
                     rows = row.broadcast_to({20'000, n}).contiguous(), one = sum(row, {1});
        for (const int threads : {1, 2}) {
          set_num_threads(threads);
          EXPECT_TRUE((sum(rows, {1}) == one).to(i32).min().item<int>() == 1) << n;
          EXPECT_TRUE((sum(rows.slice(0, 0, 1003), {1}) == one).to(i32).min().item<int>() == 1) << n;
        }
      }
  set_num_threads(before);
}

}  // namespace
}  // namespace tern::test
