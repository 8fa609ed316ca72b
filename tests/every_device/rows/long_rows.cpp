// Rows that are longer than what a kernel holds: max(x) and sum(exp(x - max(x))) take one read together, whoever's the
// formula is, and give what short rows give at infinities and NaN.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class LongRows : public EveryDevice {};
TERN_EVERY_DEVICE(LongRows);

/// What the rows of x (along `axis`) are, in f64.
struct Softmax {
  std::vector<double> value, distance;  // distance: of x to its row's maximum
  std::vector<double> logsumexp;        // of each row
};
Softmax softmax_of(const Tensor& x, int axis) {
  const std::vector<double> in = doubles(x.transpose(axis, -1).contiguous());
  const auto length = static_cast<std::size_t>(x.size(axis));
  Softmax r{in, in, {}};
  for (std::size_t row = 0; row < in.size(); row += length) {
    const double top =
        *std::max_element(in.begin() + static_cast<long>(row), in.begin() + static_cast<long>(row + length));
    double total = 0;
    for (std::size_t i = row; i < row + length; ++i)
      r.distance[i] = top - in[i], total += r.value[i] = std::exp(in[i] - top);
    for (std::size_t i = row; i < row + length; ++i) r.value[i] /= total;
    r.logsumexp.push_back(top + std::log(total));
  }
  return r;
}
/// Relative: the difference of two numbers is rounded before exp takes it (twice, where a maximum was replaced), and
/// neither a thread nor a block adds more than 256 terms in a row.
double softmax_tolerance(DType dtype, double distance) { return work_epsilon(dtype) * (256 + 4 * distance); }

void expect_softmax(const Tensor& got, const Tensor& x, int axis, const std::string& what) {
  const Softmax want = softmax_of(x, axis);
  ASSERT_EQ(got.shape(), x.shape()) << what;
  const std::vector<double> values = doubles(got.transpose(axis, -1).contiguous());
  const double flushed = got.device() == cpu() ? 0 : 0x1p-126;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], want.value[i],
                (softmax_tolerance(x.dtype(), want.distance[i]) + epsilon(x.dtype())) * want.value[i] +
                    tiniest(x.dtype()) + flushed)
        << what << " at " << i << " in " << to_string(x.dtype());
}

struct RowsLayout {
  Shape shape;
  int axis;
};
const std::vector<RowsLayout>& layouts() {
  static const std::vector<RowsLayout> list{{{3, 1030}, -1}, {{2, 5000}, -1},  {{1, 70001}, -1},
                                            {{3000, 5}, 0},  {{1500, 200}, 0}, {{2, 1100, 7}, 1}};
  return list;
}

TEST_P(LongRows, Softmax) {
  for (const auto& [shape, axis] : layouts())
    for (const DType dtype : all_floats(device())) {
      if (left_out(device(), 2)) continue;
      const Tensor x = Random(1).tensor(shape, dtype, device(), -8, 8);
      expect_softmax(softmax(x, axis), x, axis, "softmax of " + to_string(shape));
      const Softmax want = softmax_of(x, axis);
      const std::vector<double> in = doubles(x.transpose(axis, -1).contiguous()), total = doubles(logsumexp(x, axis)),
                                logs = doubles(log_softmax(x, axis).transpose(axis, -1).contiguous());
      const auto length = static_cast<std::size_t>(x.size(axis));
      for (std::size_t r = 0; r < total.size(); ++r)
        EXPECT_NEAR(total[r], want.logsumexp[r],
                    softmax_tolerance(dtype, 0) + epsilon(dtype) * std::abs(want.logsumexp[r]));
      for (std::size_t i = 0; i < logs.size(); ++i) {
        const double log = in[i] - want.logsumexp[i / length];
        ASSERT_NEAR(logs[i], log,
                    softmax_tolerance(dtype, 0) + (epsilon(dtype) + 2 * work_epsilon(dtype)) * std::abs(log))
            << i;
      }
    }
}
/// The maximum grows with every element, never, and once: at ±1e4, which no exponential survives.
TEST_P(LongRows, StableAtLargeValuesInAnyOrder) {
  for (const std::int64_t n : resident_and_not(device(), 2600))
    for (const DType dtype : all_floats(device())) {
      std::vector<double> rising, falling, last(static_cast<std::size_t>(n), -1e4), first = last;
      for (int i = 0; i < n; ++i)
        rising.push_back(-1e4 + 2e4 * i / static_cast<double>(n)), falling.push_back(-rising.back());
      last.back() = 1e4, first[0] = 1e4;
      for (const auto& row : {rising, falling, last, first}) {
        const Tensor x = make(row, {1, n}, dtype, device());
        expect_softmax(softmax(x), x, -1, "a row");
        const Tensor column = x.reshape({n, 1}) + zeros({1, 3}, {.dtype = dtype});
        expect_softmax(softmax(column, 0), column, 0, "columns");
        const Var v(x);
        for (const double d : doubles(backward(sum(square(log_softmax(v) * 1e-3)))[v])) ASSERT_TRUE(std::isfinite(d));
      }
    }
}

void expect_as_in_short_rows(Device device, int n) {
  const double inf = INFINITY, nan = std::nan("");
  std::vector<double> plain(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) plain[static_cast<std::size_t>(i)] = std::sin(i);
  const auto with = [&](std::initializer_list<std::pair<int, int>> ranges, double value) {
    std::vector<double> row = plain;
    for (const auto& [begin, end] : ranges) std::fill(row.begin() + begin, row.begin() + end, value);
    return row;
  };
  const std::vector<std::vector<double>> rows{plain,
                                              with({{0, 1500}}, -inf),
                                              with({{600, n}}, -inf),
                                              with({{3, 4}, {1024, 2048}}, -inf),
                                              with({{0, n - 1}}, -inf),
                                              with({{0, n}}, -inf),
                                              with({{5, 6}}, inf),
                                              with({{n - 1, n}}, inf),
                                              with({{0, n}}, inf),
                                              with({{7, 8}}, nan),
                                              with({{n - 1, n}}, nan),
                                              with({{0, n}}, nan)};
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  for (const DType dtype : {f32, f16}) {
    const Tensor x = make(all, {static_cast<std::int64_t>(rows.size()), n}, dtype, device);
    for (const int axis : {1, 0}) {
      const Tensor t = axis == 1 ? x : x.transpose(0, 1).contiguous();
      const Tensor wide = t.to(f32), e = exp(wide - max(wide, {axis}, true));
      const std::vector<double> got = doubles(softmax(t, axis)), want = doubles(e / sum(e, axis, true));
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(std::isnan(got[i]), std::isnan(want[i])) << i << " along axis " << axis;
        if (std::isnan(want[i])) continue;
        ASSERT_NEAR(got[i], want[i], want[i] * (softmax_tolerance(f32, 2) + epsilon(dtype)) + tiniest(dtype)) << i;
      }
      const std::vector<double> totals = doubles(logsumexp(t, axis));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const double top = *std::max_element(rows[r].begin(), rows[r].end());
        const bool has_nan = std::any_of(rows[r].begin(), rows[r].end(), [](double v) { return std::isnan(v); });
        EXPECT_EQ(std::isnan(totals[r]), has_nan) << r;
        if (!has_nan) {
          EXPECT_EQ(std::isinf(totals[r]) ? totals[r] : 0, std::isinf(top) ? top : 0) << r;
        }
      }
    }
  }
}
TEST_P(LongRows, InfinitiesAndNanAreThoseOfShortRows) {
  for (const std::int64_t n : resident_and_not(device(), 2104)) expect_as_in_short_rows(device(), static_cast<int>(n));
}

/// Formulas that nobody registered: sums and means of exp(z - max(z)) of anything, two of them, other shifts.
TEST_P(LongRows, UsersFormulas) {
  const auto close = [&](const Tensor& got, const Tensor& want, const char* what) {
    const std::vector<double> g = doubles(got), w = doubles(want);
    ASSERT_EQ(g.size(), w.size()) << what;
    for (std::size_t i = 0; i < g.size(); ++i)
      ASSERT_NEAR(g[i], w[i], 2 * softmax_tolerance(got.dtype(), 16) * std::abs(w[i]) + tiniest(got.dtype()) + 0x1p-126)
          << what << " at " << i;
  };
  const auto top = [](const Tensor& t) { return max(t, {-1}, true); };
  const auto total = [](const Tensor& t) { return sum(t, -1, true); };
  for (const std::int64_t n : resident_and_not(device(), 4100))
    for (const DType dtype : wide_floats(device())) {
      Random random(2);
      const Tensor x = random.tensor({3, n}, dtype, device(), -4, 4), y = random.tensor({3, n}, dtype, device(), -4, 4);
      const Tensor row = random.tensor({3, 1}, dtype, device());
      constexpr Pointwise scaled{"scaled", [](auto u, auto v) {
                                   auto z = u * 2 + v, e = exp(z - max(z));
                                   return e / sum(e);
                                 }};
      const Tensor z = x * 2 + y, ez = exp(z - top(z));
      close(row_formula(scaled, x, y), ez / total(ez), "of a computed value");
      constexpr Pointwise both{"both", [](auto u, auto v) {
        auto e = exp(u - max(u)), f = exp(v - max(v));
        return std::array{e / sum(e) + f / sum(f), log(sum(e)) * sum(f)};
      }};
      const Tensor ex = exp(x - top(x)), ey = exp(y - top(y));
      const auto [mixed, product] = row_formula(both, x, y);
      close(mixed, ex / total(ex) + ey / total(ey), "two of them");
      close(product, log(total(ex)) * total(ey), "two reduced");
      constexpr Pointwise shifted{"shifted", [](auto u, auto r) { return mean(exp(u - (max(u) + 3 * r))); }};
      close(row_formula(shifted, x, row), total(exp(x - (top(x) + 3 * row))) / static_cast<double>(n), "another shift");
      constexpr Pointwise expected{"expected", [](auto u, auto v) {
                                     auto e = exp(u - max(u));
                                     return sum(e * square(v)) / sum(e);
                                   }};
      close(row_formula(expected, x, y), total(ex * square(y)) / total(ex), "a weighted sum");
    }
}
TEST_P(LongRows, Gradients) {
  if (refuses_f64(device())) return;
  Random random(3);
  const Tensor x = random.tensor({2, 3000}, f64, device(), -3, 3), w = random.tensor({2, 3000}, f64, device());
  const auto plain = [](const Var& v) {
    const Var e = exp(v - max(v.value(), {-1}, true));
    return e / sum(e, -1, true);
  };
  const auto check = [&](const char* what, auto fused, auto unfused) {
    const auto second = [&](auto f) {
      return [&, f](const Var& v) { return sum(grad([&](Var u) { return sum(f(u) * w); })(v) * w); };
    };
    for (const bool twice : {false, true}) {
      const std::vector<double> got =
          doubles(twice ? grad(second(fused))(x) : grad([&](Var v) { return sum(fused(v) * w); })(x));
      const std::vector<double> want =
          doubles(twice ? grad(second(unfused))(x) : grad([&](Var v) { return sum(unfused(v) * w); })(x));
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], want[i], 1e3 * epsilon(f64) * (std::abs(want[i]) + 1)) << what << " at " << i;
    }
  };
  check("softmax", [](const Var& v) { return softmax(v); }, plain);
  check("log_softmax", [](const Var& v) { return log_softmax(v); }, [&](const Var& v) { return log(plain(v)); });
  check(
      "logsumexp", [](const Var& v) { return logsumexp(v, -1, true); },
      [](const Var& v) {
        return log(sum(exp(v - max(v.value(), {-1}, true)), -1, true)) + max(v.value(), {-1}, true);
      });
}
TEST_P(LongRows, CrossEntropy) {
  for (const std::int64_t n : resident_and_not(device(), 3000))
    for (const DType dtype : all_floats(device())) {
      const Tensor x = Random(4).tensor({4, n}, dtype, device(), -4, 4);
      const Tensor labels = tensor({0, 2999, 17, -1}).to(device());
      const Softmax want = softmax_of(x, -1);
      const std::vector<double> in = doubles(x);
      double loss = 0;
      for (const auto& [row, label] : {std::pair{0, 0}, {1, 2999}, {2, 17}})
        loss += (want.logsumexp[static_cast<std::size_t>(row)] - in[static_cast<std::size_t>(row * n + label)]) / 3;
      EXPECT_NEAR(doubles(cross_entropy(x, labels, {.ignored = -1}))[0], loss,
                  (softmax_tolerance(dtype, 8) + 2 * epsilon(dtype)) * loss)
          << to_string(dtype);
    }
}

/// How often x is read, as the backend counts it: the CPU in bytes, GPUs in the passes of their kernels.
TEST_P(LongRows, AreReadOnceForTheMaximumAndTheSumAndOnceMoreForTheResult) {
  // CUDA holds rows of vectors, the CPU those of up to 8192.
  const std::int64_t length = device() == cpu() ? 9000 : device().kind() == DeviceKind::cuda ? 1501 : 1500, rows = 300;
  const Tensor x = Random(5).tensor({rows, length}, f32, device(), -4, 4), labels = zeros({rows}, i32);
  constexpr Pointwise own{"own", [](auto u) { auto z = u * 3, e = exp(z - max(z)); return e / sum(e); }};
  constexpr Pointwise scaled{"scaled", [](auto u) {
                               auto z = u * 3, e = exp(z - detach(max(z)));
                               return 2 * e / sum(e);
                             }};
  constexpr Pointwise norm{"norm", [](auto u) { auto c = u - mean(u); return c / sqrt(mean(c * c) + 1); }};
  constexpr Pointwise three{"three", [](auto u) { auto c = u - mean(u); return c / mean(abs(c)); }};
  const auto reads = [&](auto f) {
    if (device() == cpu()) {
      const TraceCounts before = trace_counts();
      f();
      return static_cast<double>(trace_counts().bytes_read - before.bytes_read) /
             static_cast<double>(rows * length * 4);
    }
    const std::string text = explain(f);
    double passes = 0;
    for (std::size_t at = text.find(" pass"); at != text.npos; at = text.find(" pass", at + 1))
      passes += text[at - 1] - '0';
    return passes;
  };
  const double labels_too = 0.01;
  EXPECT_NEAR(reads([&] { softmax(x); }), 2, labels_too);
  EXPECT_NEAR(reads([&] { log_softmax(x); }), 2, labels_too);
  EXPECT_NEAR(reads([&] { row_formula(own, x); }), 2, labels_too);
  EXPECT_NEAR(reads([&] { logsumexp(x, -1); }), 1, labels_too);
  EXPECT_NEAR(reads([&] { row_formula(three, x); }), 3, labels_too) << "what cannot be taken together is not";
  EXPECT_NEAR(reads([&] { row_formula(norm, x); }), 2, labels_too) << "the mean with the variance";
  EXPECT_NEAR(reads([&] { var(x, -1); }), 1, labels_too);
  const Var v(x), y = log_softmax(v), s = softmax(v), c = causal_softmax(v), u = row_formula(scaled, v);
  const double both = device() == cpu() ? 2 : 1;  // the result and its gradient, in the same passes
  EXPECT_NEAR(reads([&] { backward(y, x); }), 2 * both, labels_too);
  EXPECT_NEAR(reads([&] { backward(s, x); }), 2 * both, labels_too) << "what its sum is divided by is of the same pass";
  EXPECT_NEAR(reads([&] { backward(c, x); }), 2 * both, labels_too);
  EXPECT_NEAR(reads([&] { backward(u, x); }), 2 * both, labels_too);
  const Var n = rms_norm(v, x.slice(0, 0, 1).reshape({length}));
  EXPECT_NEAR(reads([&] { backward(n, x); }), 2 * both, labels_too) << "a number varies along no row";
  const Tensor row = x.slice(0, 0, 1).reshape({length});
  const Var l = layer_norm(v, row, row);
  EXPECT_NEAR(reads([&] { layer_norm(x, row, row); }), 2, labels_too);
  EXPECT_NEAR(reads([&] { backward(l, x); }), 2 * both, labels_too) << "the mean with what waits for it";
  const Var own_norm = row_formula(norm, v), spread = var(v, -1);
  EXPECT_NEAR(reads([&] { backward(own_norm, x); }), 2 * both, labels_too);
  EXPECT_NEAR(reads([&] { backward(spread, ones({rows}, {.dtype = f32, .device = device()})); }), 2, labels_too);
  if (device() != cpu()) return;
  EXPECT_NEAR(reads([&] { cross_entropy(x, labels); }), 1, labels_too);
  EXPECT_NEAR(reads([&] { softmax(x.transpose(0, 1), 0); }), 2, labels_too);
  const Var z = cross_entropy(v, labels), smooth = cross_entropy(v, labels, {.smoothing = 0.1});
  EXPECT_NEAR(reads([&] { backward(z); }), 2, labels_too);
  EXPECT_NEAR(reads([&] { cross_entropy(x, labels, {.smoothing = 0.1}); }), 1, labels_too);
  EXPECT_NEAR(reads([&] { backward(smooth); }), 2, labels_too);
  for (const std::int64_t fits : {1000, 1500, 8000})
    EXPECT_NEAR(reads([&] { softmax(x.slice(1, 0, fits)); }), static_cast<double>(fits) / 9000, labels_too)
        << "a row that fits is read once";
}
/// Many rows, of lengths on both sides of a block's and of several blocks: sums of whole numbers, in which no two
/// neighbouring rows agree.
TEST_P(LongRows, ManySumsAreExact) {
  const int before = num_threads();
  for (const Shape& shape :
       {Shape{900, 63}, {700, 1025}, {90, 8191}, {90, 8192}, {90, 8193}, {80, 9000}, {70, 16400}, {40, 70000}}) {
    const auto rows = static_cast<std::size_t>(shape[0]), length = static_cast<std::size_t>(shape[1]);
    std::vector<float> at(rows * length);
    std::vector<double> total(rows), largest(rows), average(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < length; ++j) {
        const auto value = static_cast<double>((5 * i + 3 * j) % 7 + i % 3);
        at[i * length + j] = static_cast<float>(value), total[i] += value, largest[i] = std::max(largest[i], value);
      }
      average[i] = total[i] / static_cast<double>(length);
    }
    const Tensor x = tensor(at, shape, device());
    for (const int threads : {1, 2, 4}) {
      set_num_threads(threads);
      const std::string what = to_string(shape) + " with " + std::to_string(threads) + " threads";
      EXPECT_EQ(doubles(sum(x, 1)), total) << what;
      EXPECT_EQ(doubles(max(x, {1})), largest) << what;
      const std::vector<double> mean_of = doubles(mean(x, 1));
      for (std::size_t i = 0; i < rows; ++i) EXPECT_NEAR(mean_of[i], average[i], 4 * epsilon(f32) * average[i]) << what;
    }
  }
  set_num_threads(before);
}

TEST_P(LongRows, ThreadsDoNotChangeBits) {
  if (device() != cpu()) return;
  const int before = num_threads();
  for (const auto& [shape, axis] : std::vector<RowsLayout>{
           {{1, 400000}, -1}, {{3, 150000}, -1}, {{40, 9000}, -1}, {{90000, 3}, 0}, {{5000, 150}, 0}}) {
    const Tensor x = Random(6).tensor(shape, f32, device(), -6, 6);
    std::vector<double> want;
    for (const int n : {1, 2, 3, 8}) {
      set_num_threads(n);
      std::vector<double> got = doubles(softmax(x, axis));
      for (const double v : doubles(logsumexp(x, axis))) got.push_back(v);
      for (const double v : doubles(var(x, axis))) got.push_back(v);
      const Var u(x);
      for (const double v : doubles(backward(softmax(u, axis), x)[u])) got.push_back(v);
      if (n == 1) want = got;
      EXPECT_EQ(got, want) << to_string(shape) << " with " << n << " threads";
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace tern::test
