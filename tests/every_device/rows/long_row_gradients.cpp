// Gradients of rows: a sum that is divided by another of its pass takes none of its own. Around the length up to which
// rows are kept whole, at extreme values, and to the third order.
#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

class LongRowGradients : public EveryDevice {};
TERN_EVERY_DEVICE(LongRowGradients);

/// Relative: as of the softmax itself (long_rows.cpp), and once more for the sum.
double softmax_gradient_tolerance(DType dtype, double distance) {
  return 2 * work_epsilon(dtype) * (256 + 4 * distance);
}

/// y (g - sum(g y)) of each row, and what its errors are relative to: those of y times |g| + sum(|g| y).
struct SoftmaxGradient {
  std::vector<double> value, y, gain, distance;

  double error(std::size_t i, DType dtype, const Device& device) const {
    const double smallest = device == cpu() ? tiniest(dtype == f64 ? f64 : f32) : 0x1p-126;  // GPUs may flush
    return (softmax_gradient_tolerance(dtype, distance[i]) * y[i] + smallest) * gain[i] +
           epsilon(dtype) * std::abs(value[i]) + tiniest(dtype) + smallest;
  }
};
SoftmaxGradient softmax_gradient(const std::vector<double>& x, const std::vector<double>& g, std::size_t length) {
  SoftmaxGradient r{x, x, x, x};
  for (std::size_t row = 0; row < x.size(); row += length) {
    const auto begin = x.begin() + static_cast<long>(row);
    const double top = *std::max_element(begin, begin + static_cast<long>(length));
    double total = 0, dot = 0, norm = 0;
    for (std::size_t i = row; i < row + length; ++i) r.value[i] = std::exp(x[i] - top), total += r.value[i];
    for (std::size_t i = row; i < row + length; ++i)
      dot += g[i] * r.value[i] / total, norm += std::abs(g[i]) * r.value[i] / total;
    for (std::size_t i = row; i < row + length; ++i) {
      r.y[i] = r.value[i] / total, r.gain[i] = std::abs(g[i]) + norm, r.distance[i] = top - x[i];
      r.value[i] = r.y[i] * (g[i] - dot);
    }
  }
  return r;
}
void expect_gradient(const Tensor& x, const Tensor& g, int axis, const std::string& what) {
  const auto rows = [axis](const Tensor& t) { return doubles(t.transpose(axis, -1).contiguous()); };
  const Var v(x), y = softmax(v, axis);
  const std::vector<double> got = rows(backward(y, g)[v]);
  const SoftmaxGradient want = softmax_gradient(rows(x), rows(g), static_cast<std::size_t>(x.size(axis)));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want.value[i], want.error(i, x.dtype(), x.device()))
        << what << " at " << i << " in " << to_string(x.dtype());
}

TEST_P(LongRowGradients, AroundTheLengthThatFits) {
  for (const std::int64_t length : {1, 2, 511, 1023, 1024, 1025, 2048, 2049, 70001})
    for (const DType dtype : all_floats(device())) {
      Random random(static_cast<unsigned>(length));
      const Shape shape{length > 3000 ? 1 : 3, length};
      const Tensor x = random.tensor(shape, dtype, device(), -8, 8), g = random.tensor(shape, dtype, device());
      expect_gradient(x, g, -1, "rows of " + std::to_string(length));
      expect_gradient(x.transpose(0, 1).contiguous(), g.transpose(0, 1).contiguous(), 0,
                      "columns of " + std::to_string(length));
    }
}
/// The maximum grows with every element, never, once: at ±1e4; gradients of either sign, and large ones.
TEST_P(LongRowGradients, AtLargeValuesInAnyOrder) {
  for (const std::int64_t length : resident_and_not(device(), 2600))
    for (const DType dtype : all_floats(device()))
      for (const double size : {1.0, 6e4}) {
        const int n = static_cast<int>(length);
        std::vector<double> rising, falling, last(static_cast<std::size_t>(n), -1e4), first = last, gradient;
        for (int i = 0; i < n; ++i) rising.push_back(-1e4 + 2e4 * i / n), falling.push_back(1e4 - 2e4 * i / n);
        for (int i = 0; i < n; ++i) gradient.push_back(size * std::sin(3 * i));
        last.back() = 1e4, first[0] = 1e4;
        const Tensor g = make(gradient, {1, n}, dtype, device());
        for (const auto& row : {rising, falling, last, first})
          expect_gradient(make(row, {1, n}, dtype, device()), g, -1, "a row");
      }
}
/// Masked scores have weight 0 whatever they were; a NaN spoils its row and no other.
TEST_P(LongRowGradients, MaskedAndNanRows) {
  for (const std::int64_t n : resident_and_not(device(), 2100)) {
    std::vector<double> plain, gradient;
    for (int i = 0; i < n; ++i) plain.push_back(std::sin(i)), gradient.push_back(std::cos(5 * i));
    std::vector<double> head = plain, tail = plain, all_but_one = plain, poisoned = plain;
    std::fill(head.begin(), head.begin() + 1500, -INFINITY);
    std::fill(tail.begin() + 600, tail.end(), -INFINITY);
    std::fill(all_but_one.begin() + 1, all_but_one.end(), -INFINITY);
    poisoned[1700] = std::nan("");
    std::vector<double> all, gradients;
    for (const auto& row : {plain, head, poisoned, tail, all_but_one}) {
      all.insert(all.end(), row.begin(), row.end());
      gradients.insert(gradients.end(), gradient.begin(), gradient.end());
    }
    for (const DType dtype : {f32, f16}) {
      const Tensor x = make(all, {5, n}, dtype, device()), g = make(gradients, {5, n}, dtype, device());
      const Var v(x), y = softmax(v);
      const std::vector<double> got = doubles(backward(y, g)[v]), in = doubles(x);
      const SoftmaxGradient want = softmax_gradient(in, doubles(g), n);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (i / static_cast<std::size_t>(n) == 2) ASSERT_TRUE(std::isnan(got[i])) << i;
        else if (std::isinf(in[i])) ASSERT_EQ(got[i], 0) << i;
        else ASSERT_NEAR(got[i], want.value[i], want.error(i, dtype, device())) << i;
      }
    }
  }
}

/// Fused on the device against operation by operation in f64, relative to the largest of what is there.
TEST_P(LongRowGradients, ToTheThirdOrder) {
  const auto top = [](const Var& v) { return max(v.value(), {-1}, true); };
  const auto plain = [top](const Var& v) { const Var e = exp(v - top(v)); return e / sum(e, -1, true); };
  const auto rows = [](const Var& v, const Var& w) {
    return row_formula(
        [](auto x, auto y) {
          auto e = exp(x - detach(max(x)));
          return sum(-(e * y) / 3) / sum(e);
        },
        v, w);
  };
  std::vector<std::int64_t> lengths = resident_and_not(device(), 1500);
  lengths.push_back(700);
  for (const std::int64_t length : lengths)
    for (const DType dtype : wide_floats(device())) {
      Random random(7);
      const Shape shape{2, length};
      const Tensor x = random.tensor(shape, dtype, device(), -3, 3), w = random.tensor(shape, dtype, device());
      const Tensor exact_w = w.to(cpu()).to(f64);
      const auto check = [&](const char* what, const Function& fused, const Function& unfused) {
        if (left_out(device(), 2)) return;
        expect_orders(what, fused, unfused, x, w, 1, 3, softmax_gradient_tolerance(dtype, 6));
      };
      check("softmax", [](const Var& v) { return softmax(v); }, plain);
      check("log_softmax", [](const Var& v) { return log_softmax(v); }, [=](const Var& v) { return log(plain(v)); });
      check("expectation", [=](const Var& v) { return rows(v, Var(w, false)); },
            [=](const Var& v) { return sum(plain(v) * exact_w, -1, true) * (-1.0 / 3); });
      const Tensor row = w.slice(0, 0, 1).reshape({length}), exact_row = row.to(cpu()).to(f64);
      const auto centred = [](const Var& v) { return v - mean(v, -1, true); };
      const auto norm = [=](const Var& v) {
        return centred(v) / sqrt(mean(square(centred(v)), -1, true) + 1e-5) * exact_row;
      };
      check("layer_norm", [=](const Var& v) { return layer_norm(v, row, row) - row; }, norm);
      const Tensor labels = tensor({3, 17}, {2}, cpu()), hot = one_hot(labels, length, f64);
      check(
          "smoothed cross_entropy",
          [&](const Var& v) { return cross_entropy(v, labels.to(device()), {.smoothing = 0.1}) * Var(w, false); },
          [=](const Var& v) {
            return -sum(log(plain(v)) * (hot * 0.9 + 0.1 / static_cast<double>(length))) * 0.5 * Var(exact_w, false);
          });
    }
}

/// Operands of a user's formula of rows, and these in f64 on the CPU.
struct FormulaOperands {
  Tensor x, y, u, v;

  FormulaOperands(std::int64_t length, DType dtype, const Device& device) {
    Random random(9);
    x = random.tensor({3, length}, dtype, device, -4, 4), y = random.tensor({3, length}, dtype, device, -4, 4);
    u = x.to(cpu()).to(f64), v = y.to(cpu()).to(f64);
  }
  /// Results of one value a row; errors are relative to `norm`.
  void check(const char* what, const Tensor& got, const Tensor& want, const Tensor& norm) const {
    const std::vector<double> g = doubles(got), w = doubles(want), n = doubles(norm);
    ASSERT_EQ(g.size(), w.size()) << what;
    for (std::size_t i = 0; i < g.size(); ++i)
      ASSERT_NEAR(g[i], w[i], softmax_gradient_tolerance(x.dtype(), 8) * n[i])
          << what << " in rows of " << x.size(-1) << " in " << to_string(x.dtype());
  }
};
Tensor row_totals(const Tensor& t) { return sum(t, -1, true); }

std::vector<std::int64_t> lengths_of_formulas(const Device& device) {
  std::vector<std::int64_t> lengths = resident_and_not(device, 3000);
  lengths.push_back(300);
  return lengths;
}

/// Weights of every kind, and those that must wait.
TEST_P(LongRowGradients, WeightsOfUsersFormulas) {
  const auto total = row_totals;
  for (const std::int64_t length : lengths_of_formulas(device()))
    for (const DType dtype : wide_floats(device())) {
      const FormulaOperands rows(length, dtype, device());
      const Tensor &u = rows.u, &v = rows.v;
      const Tensor z = u / total(abs(u)) * 100, e = exp(u - max(u, {-1}, true)), f = exp(z - max(z, {-1}, true));
      const Tensor p = e / total(e), q = f / total(f),
                   places = arange(0, static_cast<double>(length), 1, {.dtype = f64, .device = cpu()}),
                   m = total(p * v);
      const auto of = [&](auto formula) { return row_formula(formula, rows.x, rows.y); };
      rows.check("booleans", of([](auto a, auto b) {
                   auto t = exp(a - max(a));
                   return sum((a > 0) * t * (b > 0) / sum(t));
                 }),
                 total(p * (u > 0) * (v > 0)), ones({3}));
      rows.check("places", of([](auto a, auto b) {
                   auto t = exp(a - max(a));
                   return sum(t * where(index(b, -1) < 100, b, 0) / sum(t));
                 }),
                 total(p * v * (places < 100)), total(p * abs(v)));
      rows.check("of an earlier pass", of([](auto a, auto b) {
                   auto c = 100 * a / sum(abs(a)), t = exp(c - max(c));
                   return sum(c * b * t / sum(t));
                 }),
                 total(z * v * q), total(abs(z * v) * q));
      rows.check("that waits", of([](auto a, auto b) {
                   auto t = exp(a - max(a)), c = t / sum(t), d = b - sum(c * b);
                   return sum(c * d * d);
                 }),
                 total(p * square(v - m)), total(p * square(v - m)));
      rows.check("divided and negative", of([](auto a, auto b) {
                   auto t = exp(a - max(a));
                   return sum(-(t / (b * b + 1)) / sum(t));
                 }),
                 -total(p / (v * v + 1)), ones({3}));
      rows.check("a square", of([](auto a, auto) {
                   auto t = exp(a - max(a));
                   return sum(t * t / sum(t));
                 }),
                 total(e * p), ones({3}));
      rows.check("by a power", of([](auto a, auto b) {
                   auto t = exp(a - max(a));
                   return sum(b / t / sum(t));
                 }),
                 total(v / e / total(e)), total(abs(v) / e / total(e)));
    }
}

/// Scalars that must stay where they are.
TEST_P(LongRowGradients, ScalarsOfUsersFormulas) {
  const auto total = row_totals;
  for (const std::int64_t length : lengths_of_formulas(device()))
    for (const DType dtype : wide_floats(device())) {
      const FormulaOperands rows(length, dtype, device());
      const Tensor &u = rows.u, &v = rows.v;
      const auto of = [&](auto formula) { return row_formula(formula, rows.x, rows.y); };
      rows.check("scaled terms", of([](auto a, auto b) {
                   auto r = 1 / sum(abs(a)), s = sum(b);
                   return sum(a * r - b * b * s);
                 }),
                 total(u) / total(abs(u)) - total(v * v) * total(v), total(v * v) * total(abs(v)) + 1);
      const double huge = dtype == f64 ? 1e200 : 1e30;
      const Tensor norm = row_formula(
                              [](auto a) {
                                auto t = max(abs(a));
                                return sqrt(sum((a / t) * (a / t))) * (t / 1e20);
                              },
                              rows.x * huge) *
                          (1e20 / huge);
      rows.check("a divisor that keeps squares from overflowing", norm, sqrt(total(u * u)), sqrt(total(u * u)));
    }
}

/// As full values numbers would make results of one value an element, and passes that wait for them.
TEST_P(LongRowGradients, NumbersDoNotVaryAlongRows) {
  Random random(8);
  const Tensor x = random.tensor({3, 1200}, f32, device());
  const double scale = 2.5;
  const Var v(x), captured = row_formula([scale](auto u) { return scale * mean(u) + 1; }, v),
            given = row_formula([](auto u, auto number) { return number * mean(u) + 1; }, v, scale);
  for (const Var& y : {captured, given}) {
    ASSERT_EQ(y.shape(), (Shape{3, 1}));
    const std::vector<double> got = doubles(y.value()), want = doubles(mean(x, -1) * scale + 1);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], want[i], 16 * epsilon(f32));
    for (const double g : doubles(backward(sum(y))[v])) ASSERT_NEAR(g, scale / 1200, 4 * epsilon(f32) * scale / 1200);
  }
}

/// Gradients of two results, each with a number a row: those must last for all blocks of a row, and for all that is
/// computed of several rows at once. Whole numbers, so that the results are exact.
TEST_P(LongRowGradients, OfTwoResultsWithANumberARow) {
  const auto sums = [](auto x, auto w) { return std::array{sum(w * x), sum(x)}; };
  const auto difference = [](auto x, auto w) { return std::array{sum(x - w), x}; };
  for (const DType dtype : all_floats(device()))
    for (const std::int64_t n : {200, 255, 256, 300, 1024, 1025, 3000, 20000}) {
      const std::int64_t rows = n > 5000 ? 3 : 8;
      std::vector<float> small, large;
      for (std::int64_t i = 0; i < rows; ++i)
        small.push_back(static_cast<float>(i + 1)), large.push_back(static_cast<float>(10 * i + 10));
      const auto of = [&](const std::vector<float>& values) {
        return Var(tensor(values, {rows, 1}, device()).to(dtype), false);
      };
      const Var x(full({rows, n}, 1, device()).to(dtype)), w(full({rows, n}, 2, device()).to(dtype));
      const Var a = of(small), b = of(large), c(full({rows, n}, 100, device()).to(dtype), false);
      const auto ys = row_formula(sums, x, w), zs = row_formula(difference, x, w);
      const Gradients of_sums = backward(sum(ys[0] * a) + sum(ys[1] * b)),
                      of_difference = backward(sum(zs[0] * a) + sum(zs[1] * c));
      const std::vector<double> first = doubles(of_sums[x]), second = doubles(of_difference[x]),
                                third = doubles(of_difference[w]);
      for (std::size_t i = 0; i < first.size(); ++i) {
        const auto row = static_cast<double>(i / static_cast<std::size_t>(n));
        const std::string what =
            std::string(to_string(dtype)) + " rows of " + std::to_string(n) + ", element " + std::to_string(i);
        ASSERT_EQ(first[i], 2 * (row + 1) + 10 * (row + 1)) << what;
        ASSERT_EQ(second[i], 100 + (row + 1)) << what;
        ASSERT_EQ(third[i], -(row + 1)) << what;
      }
    }
}

}  // namespace
}  // namespace tern::test
