// Row functions that are formulas: causal softmax, norms of a sum, cross-entropy with an ignored label and smoothing;
// and that large values do not overflow.
#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

class RowFunctions : public EveryDevice {};
class RowGradients : public InDouble {};
TERN_EVERY_DEVICE(RowFunctions);
TERN_EVERY_DEVICE_IN_DOUBLE(RowGradients);

/// One row of softmax over the first `seen` scores.
std::vector<double> softmax_row(const std::vector<double>& x, std::size_t seen) {
  double top = -INFINITY, total = 0;
  for (std::size_t j = 0; j < seen; ++j) top = std::max(top, x[j]);
  std::vector<double> y(x.size());
  for (std::size_t j = 0; j < seen; ++j) total += y[j] = std::exp(x[j] - top);
  for (double& v : y) v /= total;
  return y;
}

TEST_P(RowFunctions, CausalSoftmax) {
  for (const DType dtype : all_floats(device())) {
    const std::int64_t rows = 4, columns = 6;
    const Tensor x = Random(3).tensor({2, rows, columns}, dtype, device(), -4, 4), y = causal_softmax(x);
    const std::vector<double> in = doubles(x), out = doubles(y);
    for (std::int64_t r = 0; r < 2 * rows; ++r) {
      const std::vector<double> row(in.begin() + r * columns, in.begin() + (r + 1) * columns);
      const std::vector<double> want = softmax_row(row, static_cast<std::size_t>(r % rows + 1 + columns - rows));
      for (std::size_t j = 0; j < want.size(); ++j)
        EXPECT_NEAR(out[static_cast<std::size_t>(r * columns) + j], want[j],
                    16 * work_epsilon(dtype) + epsilon(dtype) * want[j]);
    }
    const Var v(x);
    const std::vector<double> g = doubles(backward(sum(causal_softmax(v) * v))[v]);
    EXPECT_EQ(g[5], 0) << "row 0 sees three columns: the last gets no gradient";
    for (const double d : g) EXPECT_TRUE(std::isfinite(d));
  }
  expect_error(ErrorKind::shape, {"causal_softmax", "f32[3, 2]"}, [] { causal_softmax(ones({3, 2})); });
  expect_error(ErrorKind::shape, {"causal_softmax", "f32[3]"}, [] { causal_softmax(ones({3})); });
}
TEST_P(RowFunctions, NormsOfASum) {
  for (const DType dtype : all_floats(device())) {
    Random random(4);
    const Tensor x = random.tensor({3, 8}, dtype, device()), r = random.tensor({3, 8}, dtype, device());
    const Tensor w = random.tensor({8}, dtype, device()), b = random.tensor({8}, dtype, device());
    const Tensor s = x.to(f32) + r.to(f32);
    const auto near = [&](const Tensor& got, const Tensor& want) {
      const std::vector<double> g = doubles(got), v = doubles(want);
      EXPECT_EQ(got.dtype(), dtype);
      for (std::size_t i = 0; i < g.size(); ++i)
        EXPECT_NEAR(g[i], v[i], 32 * work_epsilon(f32) * 4 + epsilon(dtype) * std::abs(v[i]));
    };
    const TraceCounts before = trace_counts();
    const auto [y, total] = add_rms_norm(x, r, w);
    EXPECT_EQ(trace_counts().calls - before.calls, 1);
    near(total, s), near(y, rms_norm(s, w.to(f32)));
    const auto [z, same] = add_layer_norm(x, r, w, b);
    near(same, s), near(z, layer_norm(s, w.to(f32), b.to(f32)));
  }
  expect_error(ErrorKind::shape, {"add_rms_norm", "residual", "f32[3]", "f32[2, 3]"}, [] {
    add_rms_norm(ones({2, 3}), ones({3}), ones({3}));
  });
  expect_error(ErrorKind::shape, {"add_layer_norm", "bias", "f32[2]"}, [] {
    add_layer_norm(ones({2, 3}), ones({2, 3}), ones({3}), ones({2}));
  });
}
TEST_P(RowFunctions, CrossEntropyOptions) {
  const std::vector<std::int32_t> labels{2, -100, 0, 3, -100};
  for (const DType dtype : all_floats(device()))
    for (const double smoothing : {0.0, 0.1}) {
      const Tensor x = Random(5).tensor({5, 4}, dtype, device(), -3, 3);
      const std::vector<double> v = doubles(x);
      double want = 0;
      for (const std::size_t r : {0, 2, 3}) {
        const std::vector<double> p =
            softmax_row({v.begin() + static_cast<long>(4 * r), v.begin() + static_cast<long>(4 * r + 4)}, 4);
        for (std::size_t j = 0; j < 4; ++j) {
          const double target = smoothing / 4 + (static_cast<std::int32_t>(j) == labels[r] ? 1 - smoothing : 0);
          want -= target * std::log(p[j]) / 3;
        }
      }
      const Tensor loss = cross_entropy(x, tensor(labels), {.ignored = -100, .smoothing = smoothing});
      EXPECT_NEAR(doubles(loss)[0], want, 64 * work_epsilon(dtype) * 8 + 2 * epsilon(dtype) * want) << to_string(dtype);
      const Var at(x);
      const std::vector<double> g =
          doubles(backward(cross_entropy(at, tensor(labels), {.ignored = -100, .smoothing = smoothing}))[at]);
      for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(g[4 + j], 0) << "an ignored row";
    }
  const Var at(ones({2, 3}));
  const Var nothing = cross_entropy(at, tensor({7, 7}), {.ignored = 7});
  EXPECT_EQ(nothing.item<float>(), 0);
  expect_values(backward(nothing)[at], {2, 3}, std::vector<double>(6, 0));
  expect_error(ErrorKind::index, {"cross_entropy", "8", "size 3"}, [&] {
    cross_entropy(at, tensor({7, 8}), {.ignored = 7});
  });
  expect_error(ErrorKind::shape, {"cross_entropy", "smoothing", "1.5"}, [&] {
    cross_entropy(at, tensor({0, 1}), {.smoothing = 1.5});
  });
}
/// Scores of ±1e4, whose exponentials overflow every type: values and gradients stay finite and right.
TEST_P(RowFunctions, StableAtLargeValues) {
  for (const DType dtype : all_floats(device())) {
    const Tensor x = make({1e4, -1e4, 9992, 0, 1e4, 1e4, -1e4, 9984}, {2, 4}, dtype, device());
    const std::vector<double> in = doubles(x);
    const auto finite = [&](const char* what, auto f) {
      const Var v(x);
      const Var y = f(v);
      const Tensor g = backward(sum(y * y))[v];
      for (const Tensor& t : {y.value(), g})
        for (const double d : doubles(t)) EXPECT_TRUE(std::isfinite(d)) << what << " in " << to_string(dtype);
      return doubles(y);
    };
    const std::vector<double> soft = finite("softmax", [](const Var& v) { return softmax(v); });
    const std::vector<double> log_soft = finite("log_softmax", [](const Var& v) { return log_softmax(v); });
    for (std::size_t r = 0; r < 2; ++r) {
      const std::vector<double> row(in.begin() + static_cast<long>(4 * r), in.begin() + static_cast<long>(4 * r + 4)),
          p = softmax_row(row, 4);
      const double top = *std::max_element(row.begin(), row.end());
      double total = 0;
      for (const double d : row) total += std::exp(d - top);
      for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_NEAR(soft[4 * r + j], p[j], 8 * work_epsilon(dtype) + epsilon(dtype) * p[j]);
        const double want = row[j] - top - std::log(total);
        EXPECT_NEAR(log_soft[4 * r + j], want, 8 * work_epsilon(dtype) + epsilon(dtype) * std::abs(want));
      }
    }
    finite("causal_softmax", [](const Var& v) { return causal_softmax(v); });
    finite("logsumexp", [](const Var& v) { return logsumexp(v, -1) * 1e-4; });
    finite("rms_norm", [&](const Var& v) { return rms_norm(v, ones({4}, {.dtype = v.dtype()})); });
    finite("layer_norm", [&](const Var& v) {
      return layer_norm(v, ones({4}, {.dtype = v.dtype()}), ones({4}, {.dtype = v.dtype()}));
    });
    finite("cross_entropy", [&](const Var& v) { return cross_entropy(v, tensor({0, 1})) * 1e-4; });
  }
}

TEST_P(RowGradients, ThreeOrders) {
  check_three_orders("causal_softmax", [](const Var& x) { return causal_softmax(x); }, random({3, 4}, -2, 2));
  check_three_orders(
      "causal_softmax, batched", [](const Var& x) { return causal_softmax(x); }, random({2, 2, 2}, -2, 2));
  check_three_orders("add_rms_norm", [](const Var& x, const Var& r, const Var& w) {
    const auto [y, s] = add_rms_norm(x, r, w);
    return y * s;
  }, random({2, 3}), random({2, 3}), random({3}));
  check_three_orders(
      "add_layer_norm, the norm only",
      [](const Var& x, const Var& r, const Var& w, const Var& b) { return add_layer_norm(x, r, w, b).result; },
      random({2, 3}), random({2, 3}), random({3}), random({3}));
  check_three_orders(
      "add_rms_norm, the sum only",
      [](const Var& x, const Var& r) { return add_rms_norm(x, r, ones({3}, f64)).sum * x; }, random({2, 3}),
      random({2, 3}));
  const Tensor labels = tensor({2, -1, 0});
  for (const double smoothing : {0.0, 0.2})
    check_three_orders(
        "cross_entropy",
        [&](const Var& x) { return cross_entropy(x, labels, {.ignored = -1, .smoothing = smoothing}); },
        random({3, 4}, -2, 2));
}

}  // namespace
}  // namespace tern::test
