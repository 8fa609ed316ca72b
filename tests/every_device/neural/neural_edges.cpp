// Edges of what neural networks are made of: elements that are no numbers where they must not spread, statistics that
// 16 bits do not hold, results that share no memory with what they come of, numbers out of reach.
#include <cstdlib>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class NeuralEdges : public EveryDevice {
 protected:
  /// A line of n elements 0, 1, …, of which the first is `first`, as [1, 1, n].
  Tensor line(std::int64_t n, double first) {
    std::vector<float> of(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < of.size(); ++i) of[i] = static_cast<float>(i);
    of[0] = static_cast<float>(first);
    return tensor(of, device()).reshape({1, 1, n});
  }
};
TERN_EVERY_DEVICE(NeuralEdges);

/// All but the first few are finite, and as they are without what is in the first place.
void expect_confined(const Tensor& got, const Tensor& plain, std::size_t first, const std::string& what) {
  const std::vector<double> x = doubles(got), y = doubles(plain);
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i < first) {
      EXPECT_FALSE(std::isfinite(x[i])) << what << " at " << i;
    } else {
      EXPECT_EQ(x[i], y[i]) << what << " at " << i;
    }
  }
}

TEST_P(NeuralEdges, SumsOfAnAxisReadTheirOwnElementsAlone) {
  for (const double bad : {kNaN, kInf}) {
    const auto check = [&](std::int64_t n, std::size_t first, const std::string& what, auto f) {
      expect_confined(f(line(n, bad)), f(line(n, 0)), first, what);
    };
    // Windows of one element, side by side, of up to 4, of up to 7.
    for (const auto& [from, to] : {std::pair{3, 3}, {12, 2}, {5, 3}, {23, 4}})
      check(from, 1, "to " + std::to_string(to), [to = to](const Tensor& x) { return adaptive_avg_pool(x, to); });
    check(12, 1, "smoothed", [](const Tensor& x) {
      return interpolate(x, 3, {.mode = Resampling::linear, .antialias = true});
    });
    check(3, 2, "linear", [](const Tensor& x) {
      return interpolate(x, 5, {.mode = Resampling::linear, .align_corners = true});
    });
  }
  EXPECT_EQ(doubles(adaptive_avg_pool(line(4, kInf), 2)), (std::vector<double>{kInf, 2.5}));
}

/// Zeros that fill up a kernel, or a window, are not multiplied by what the image's places do not meet.
TEST_P(NeuralEdges, AnInfiniteCotangentStaysInItsWindow) {
  struct Case {
    std::int64_t channels, kernel, stride, padding;
  };
  for (const Case& c : {Case{3, 7, 2, 3}, {3, 3, 2, 1}, {2, 4, 2, 2}, {2, 4, 2, 1}, {1, 2, 2, 0}, {8, 3, 2, 1}}) {
    const Var x = parameter(zeros({1, c.channels, 16, 16}, device()));
    const Var y = conv2d(x, ones({4, c.channels, c.kernel, c.kernel}, device()), {},
                         {.stride = {c.stride, c.stride}, .padding = {c.padding, c.padding}});
    Tensor cotangent = zeros(y.shape(), device());
    cotangent(0, 1, 3, 3).copy_from(full({}, INFINITY, device()));
    std::int64_t infinite = 0;
    for (const double v : doubles(backward(y, cotangent)[x])) {
      EXPECT_TRUE(v == 0 || v == INFINITY) << v << " by " << c.kernel << " and " << c.stride;
      infinite += v == INFINITY;
    }
    EXPECT_EQ(infinite, c.channels * c.kernel * c.kernel);
  }
}
TEST_P(NeuralEdges, ResultsAreCopies) {
  const Tensor x = line(5, 0), one = line(4, 0).reshape({1, 1, 2, 2});
  Tensor windows = unfold(x, 3), elements = unfold(one, 1), same = interpolate(x, 5);
  windows += 1, elements += 1, same += 1;
  EXPECT_EQ(doubles(x), (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_EQ(doubles(one), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(doubles(windows), (std::vector<double>{1, 2, 3, 2, 3, 4, 3, 4, 5}));
}
TEST_P(NeuralEdges, PlacesFarOutsideAreZeros) {
  const Var x(ones({1, 1, 2, 2}));
  const std::vector<float> far{INFINITY, 0, -INFINITY, 0, 0.25F, INFINITY, 1e30F, -1e30F};
  const Var grid(tensor(far, device()).reshape({1, 4, 1, 2}));
  for (const Resampling mode : {Resampling::nearest, Resampling::linear})
    EXPECT_EQ(doubles(grid_sample(x.value(), grid.value(), {.mode = mode})), std::vector<double>(4));
  const Gradients g = backward(sum(grid_sample(x, grid)));
  EXPECT_EQ(doubles(g[x]), std::vector<double>(4));
  EXPECT_EQ(doubles(g[grid]), std::vector<double>(8));
}
TEST_P(NeuralEdges, BatchNormTakesRunningStatisticsAsTheyAre) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16})) {
    if (!takes(device(), dtype)) continue;
    // The variance is beyond f16.
    const Tensor mean_of = tensor({100.25F}, device()), variance = tensor({1e6F}, device());
    const Var x(tensor({1000.0F, -1000.0F, 96.0F}, device()).reshape({3, 1}).to(dtype));
    const Var y = batch_norm(x, mean_of, variance);
    ASSERT_EQ(y.dtype(), dtype);
    const std::vector<double> got = doubles(y), of = doubles(x), slope = doubles(backward(sum(y))[x]);
    const double factor = 1 / std::sqrt(1e6 + 1e-5);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = (of[i] - 100.25) * factor;
      EXPECT_NEAR(got[i], want, epsilon(dtype) * std::abs(want)) << to_string(dtype) << " at " << i;
      EXPECT_NEAR(slope[i], factor, epsilon(dtype) * factor) << to_string(dtype) << " at " << i;
    }
  }
}
TEST_P(NeuralEdges, BatchNormOfNothingLeavesTheRunningStatistics) {
  const Tensor mean_of = zeros({2}), variance = ones({2});
  EXPECT_EQ(batch_norm(zeros({0, 2, 3}), mean_of, variance, {}, {}, {.training = true}).shape(), (Shape{0, 2, 3}));
  EXPECT_EQ(doubles(mean_of), std::vector<double>(2, 0));
  EXPECT_EQ(doubles(variance), std::vector<double>(2, 1));
}
TEST_P(NeuralEdges, BatchNormWritesBothStatisticsOrNone) {
  const Tensor mean_of = zeros({2}), variance = ones({1}).broadcast_to({2});
  expect_error(ErrorKind::shape, {"batch_norm", "broadcast view"},
               [&] { batch_norm(ones({3, 2}), mean_of, variance, {}, {}, {.training = true}); });
  EXPECT_EQ(doubles(mean_of), std::vector<double>(2, 0));
}
TEST_P(NeuralEdges, RunningStatisticsAreTwoTensors) {
  const Tensor both = zeros({4}), front = both.slice(0, 0, 2), middle = both.slice(0, 1, 3);
  const Tensor x = arange(0, 6, 1, {.dtype = f32}).reshape({3, 2});
  for (const Tensor& variance : {front, middle})
    expect_error(ErrorKind::value, {"batch_norm", "running_mean and running_variance", "share memory"},
                 [&] { batch_norm(x, front, variance, {}, {}, {.training = true}); });
  EXPECT_EQ(doubles(both), std::vector<double>(4, 0));
  batch_norm(x, front, both.slice(0, 2, 4), {}, {}, {.training = true, .momentum = 1});
  EXPECT_EQ(doubles(both), (std::vector<double>{2, 3, 4, 4}));
}
TEST_P(NeuralEdges, NormsOfOneValueAreErrors) {
  const Tensor mean_of = full({2}, 3), variance = full({2}, 4);
  const BatchNormOptions training{.training = true};
  for (const Shape& shape : {Shape{1, 2}, Shape{1, 2, 1}, Shape{1, 2, 1, 1}}) {
    const std::string what = to_string(shape);
    expect_error(ErrorKind::shape, {"batch_norm", "more than one value of each channel in training", what},
                 [&] { batch_norm(ones(shape), mean_of, variance, {}, {}, training); });
    expect_error(ErrorKind::shape, {"batch_norm", what},
                 [&] { batch_norm(Var(ones(shape)), Tensor(), Tensor(), ones({2}), {}, training); });
    expect_error(ErrorKind::shape, {"instance_norm", "more than one value of each channel and sample", what},
                 [&] { instance_norm(ones(shape)); });
    EXPECT_EQ(batch_norm(ones(shape), mean_of, variance).shape(), shape) << "by the running statistics it is one";
  }
  EXPECT_EQ(doubles(mean_of), std::vector<double>(2, 3));
  EXPECT_EQ(doubles(variance), std::vector<double>(2, 4));
  expect_error(ErrorKind::shape, {"instance_norm"}, [&] { instance_norm(ones({3, 2, 1})); });
  EXPECT_EQ(instance_norm(zeros({0, 2, 1})).shape(), (Shape{0, 2, 1}));
  EXPECT_EQ(instance_norm(zeros({3, 2, 0})).shape(), (Shape{3, 2, 0}));
  const Tensor two = tensor({1.0F, 3.0F}, device()).reshape({2, 1});
  Tensor mean_of_one = zeros({1}), of_one = zeros({1});
  batch_norm(two, mean_of_one, of_one, {}, {}, {.training = true, .momentum = 1});
  EXPECT_EQ(doubles(mean_of_one), (std::vector<double>{2}));
  EXPECT_EQ(doubles(of_one), (std::vector<double>{2})) << "unbiased";
}
TEST_P(NeuralEdges, EmbeddingSpeaksForItself) {
  const Tensor table = ones({3, 2});
  const auto refused = [&](ErrorKind kind, const std::vector<std::string>& texts, auto f) {
    expect_error(kind, texts, [&] { f(), synchronize(device()); });
  };
  refused(ErrorKind::index, {"embedding: ", "3", "f32[3, 2]"}, [&] { embedding(tensor({0, 3}), table); });
  refused(ErrorKind::index, {"embedding: ", "f32[3, 2]"}, [&] { embedding(tensor({0, -4}), Var(table)); });
  refused(ErrorKind::index, {"embedding: ", "f32[0, 2]"}, [&] { embedding(tensor({0}), zeros({0, 2})); });
  if (device() != cpu())
    refused(ErrorKind::device, {"embedding: "}, [&] { embedding(tensor({0}, cpu()), table); });
  const Var weight(table);
  const Var y = embedding(tensor({2, 0}), weight);
  EXPECT_EQ(y.grad_fn()->name(), std::string("EmbeddingBackward"));
  EXPECT_EQ(doubles(backward(sum(y))[weight]), (std::vector<double>{1, 1, 0, 0, 1, 1}));
}
TEST_P(NeuralEdges, ATargetOfZeroCountsZeroInKlDiv) {
  const auto check = [&](const std::vector<float>& targets, const KlOptions& o) {
    const Var x(tensor({-INFINITY, 0.0F, -1.0F}, device())), target(tensor(targets, device()));
    const Var y = kl_div(x, target, o);
    const Gradients g = backward(y);
    EXPECT_NEAR(doubles(y)[0], 0.5 * (std::log(0.5) + 1), 1e-6);
    const std::vector<double> of_x = doubles(g[x]), of_target = doubles(g[target]);
    EXPECT_EQ(of_x[0], 0);
    EXPECT_EQ(of_x[1], 0);
    EXPECT_NEAR(of_x[2], -0.5, 1e-6);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(of_target[i])) << i << " " << of_target[i];
  };
  check({0, 0, 0.5F}, {.reduction = Reduction::sum});
  check({-INFINITY, -INFINITY, std::log(0.5F)}, {.log_target = true, .reduction = Reduction::sum});
}
TEST_P(NeuralEdges, KlDivOfManyRowsFitsF16) {
  if (!supports(device(), f16) || !takes(device(), f16)) GTEST_SKIP() << "no f16";
  const Tensor x = full({1000, 100}, -5.0).to(f16), target = full({1000, 100}, 0.25).to(f16);
  const double want = 100 * 0.25 * (std::log(0.25) + 5);  // the sum over all rows is beyond f16
  EXPECT_NEAR(doubles(kl_div(x, target, {.per_row = true}))[0], want, epsilon(f16) * want);
}
TEST_P(NeuralEdges, NumbersOfWindowsBeyond32BitsAreErrors) {
  const Tensor x = ones({1, 1, 4, 4}), w = ones({1, 1, 3, 3});
  constexpr std::int64_t far = INT64_MAX;
  const auto refused = [&](const char* op, const char* argument, auto f) {
    expect_error(ErrorKind::shape, {op, argument, "2^31-1", std::to_string(far)}, f);
  };
  refused("conv2d", "dilation", [&] { conv2d(x, w, {}, {.dilation = far}); });
  refused("conv2d", "dilation", [&] { conv2d(x, w, {}, {.padding = "same", .dilation = far}); });
  refused("conv2d", "padding", [&] { conv2d(x, w, {}, {.padding = far}); });
  refused("conv_transpose2d", "padding", [&] { conv_transpose2d(x, w, {}, {.padding = far}); });
  refused("max_pool", "kernel", [&] { max_pool(x, far); });
  refused("unfold", "dilation", [&] { unfold(x, 2, {.dilation = far}); });
  refused("interpolate", "sizes", [&] { interpolate(x, far); });
}

// ---- attention ----
/// By the kernel of its own wherever there is one.
class AttentionEdges : public EveryDevice {
 protected:
  void SetUp() override { EveryDevice::SetUp(), setenv("TERN_ATTENTION_KERNEL", "1", 1); }
  void TearDown() override { unsetenv("TERN_ATTENTION_KERNEL"), EveryDevice::TearDown(); }
};
TERN_EVERY_DEVICE(AttentionEdges);

/// Columns that are not there may hold anything, as in a cache that was never filled.
TEST_P(AttentionEdges, ReadsNothingBeyondTheLengths) {
  Random random(4);
  const bool few = in_software(device());  // the smallest tiles, whose kernels compile soonest
  const std::int64_t columns = few ? 60 : 150, there = few ? 33 : 70;
  const auto with_behind = [&](const Tensor& t, double bad) {
    const Tensor all = full({2, 2, columns, 16}, bad);
    assign(all(ellipsis, Slice(0, there), Slice()), t);
    return all;
  };
  const Tensor of_k = random.tensor({2, 2, there, 16}, f32, device()),
               of_v = random.tensor({2, 2, there, 16}, f32, device());
  const Tensor lengths = full({2}, there).to(i32);
  for (const std::int64_t rows : few ? std::vector<std::int64_t>{20} : std::vector<std::int64_t>{1, 66})
    for (const std::int64_t at_once : {std::int64_t{0}, rows + 1}) {
      const std::string what = std::to_string(rows) + " rows, " + std::to_string(at_once) + " at once";
      const Var q(random.tensor({2, 4, rows, 16}, f32, device()));
      const Var k(with_behind(of_k, kNaN)), v(with_behind(of_v, kInf)), few_k(of_k), few_v(of_v);
      const AttentionOptions o{.lengths = lengths, .rows_at_once = at_once};
      const Tensor alone = attention(q.value(), k.value(), v.value(), o);
      const Var got = attention(q, k, v, o), want = attention(q, few_k, few_v, {.rows_at_once = at_once});
      const Gradients g = backward(sum(got * got)), h = backward(sum(want * want));
      const auto expect_alike = [&](const Tensor& x, const Tensor& y, const char* of) {
        const std::vector<double> a = doubles(x), b = doubles(y);
        for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << what << ", " << of << " at " << i;
      };
      expect_alike(alone, want.value(), "result alone");
      expect_alike(got.value(), want.value(), "result");
      expect_alike(g[q], h[q], "gradient of q");
      for (const auto& [all, few] : {std::pair{k, few_k}, {v, few_v}}) {
        expect_alike(g[all].slice(2, 0, there), h[few], "gradient of what is there");
        EXPECT_EQ(doubles(g[all].slice(2, there)), std::vector<double>(4 * (columns - there) * 16)) << what;
      }
    }
}
TEST_P(AttentionEdges, LengthsOutsideTheColumnsAreErrors) {
  const Tensor x = ones({2, 2, 7, 16});
  for (const std::int32_t bad : {1000, 8, -1})
    expect_error(ErrorKind::index, {"attention", "lengths", std::to_string(bad)},
                 [&] { attention(x, x, x, {.lengths = tensor({7, bad}, device())}); });
  if (!supports(device(), i64)) return;
  for (const std::int64_t bad : {std::int64_t{1} << 32, -(std::int64_t{1} << 40)})
    expect_error(ErrorKind::index, {"attention", "lengths"},
                 [&] { attention(x, x, x, {.lengths = tensor({std::int64_t{7}, bad}, device())}); });
}
TEST_P(AttentionEdges, AWindowMayBeAsWideAsItLikes) {
  Random random(8);
  const Tensor q = random.tensor({1, 2, 5, 16}, f32, device()), k = random.tensor({1, 2, 9, 16}, f32, device());
  for (const bool causal : {false, true})
    for (const std::int64_t at_once : {0, 2}) {
      if (in_software(device()) && !causal) continue;
      const std::vector<double> want = doubles(attention(q, k, k, {.causal = causal, .rows_at_once = at_once}));
      for (const std::int64_t window : {std::int64_t{1} << 31, std::int64_t{1} << 32, INT64_MAX}) {
        const Tensor got = attention(q, k, k, {.causal = causal, .window = window, .rows_at_once = at_once});
        const std::vector<double> values = doubles(got);
        for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(values[i], want[i], 1e-6) << window << " at " << i;
      }
    }
}
TEST_P(AttentionEdges, LogarithmsOfSumsKeepNoScores) {
  if (in_software(device())) GTEST_SKIP() << "a minute there";
  constexpr std::int64_t length = 2048, rows = 64;
  const Var x(full({1, length, 4}, 0.5F, device()));
  static_cast<void>(matmul(x.value()[0], x.value()[0].T()));
  release_memory(device());
  const std::int64_t before = memory_stats(device()).live;
  Tensor logs;
  backward(sum(attention(x, x, x, {.rows_at_once = rows, .logsumexp = &logs})));
  EXPECT_LT(memory_stats(device()).peak - before, length * length);
  // Equal scores: the largest, 4·0.25·½, and the logarithm of their number.
  EXPECT_NEAR(doubles(logs)[length - 1], 0.5 + std::log(static_cast<double>(length)), 1e-5);
}

TEST_P(NeuralEdges, OptionsThatNobodyMeans) {
  const Tensor q = ones({1, 1, 3, 4});
  for (const double scale : {std::nan(""), HUGE_VAL})
    expect_error(ErrorKind::value, {"attention", "scale", "finite"}, [&] { attention(q, q, q, {.scale = scale}); });
  for (const double base : {0.0, -2.0, std::nan("")})
    expect_error(ErrorKind::shape, {"rope_tables", "base", "positive"}, [&] { rope_tables(4, 4, {.base = base}); });
  expect_error(ErrorKind::shape, {"more elements than can be addressed"}, [] { rope_tables(INT64_MAX, 4); });
}
/// The sum of the weights is beyond f16, the density is not.
TEST_P(NeuralEdges, DensitiesOfManyWeightsOf16Bits) {
  const Tensor weights = ones({100000}, {.dtype = f16});
  EXPECT_EQ(doubles(histogram(ones({100000}), 1, {{0., 2.}}, true, weights).counts), std::vector<double>{0.5});
}

}  // namespace
}  // namespace tern::test
