// What the entries of neural networks cannot say: sizes of many blocks, layouts, what is written in place, rows that
// see nothing.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Neural : public EveryDevice {};
TERN_EVERY_DEVICE(Neural);

/// Within `eps` of the largest element, at least 1.
void expect_close(const Tensor& got, const Tensor& want, double eps, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> x = doubles(got), y = doubles(want);
  double largest = 1;
  for (const double v : y) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], eps * largest) << what << " at " << i;
}
/// [C, 1, kH, kW] as the dense weight [C, C, kH, kW] with zeros between channels.
Var dense(const Var& w) {
  const Tensor diagonal = eye(w.size(0), {.device = w.device()}).reshape({w.size(0), w.size(0), 1, 1});
  return w * diagonal;
}

TEST_P(Neural, ChannelsByThemselvesAreTheDenseConvolutionWithZeros) {
  Random random(5);
  for (const ConvOptions& o : {ConvOptions{.padding = "same", .groups = 3}, ConvOptions{.padding = {4, 1}, .groups = 3},
                               ConvOptions{.stride = {2, 3}, .padding = 3, .dilation = {1, 2}, .groups = 3}}) {
    const Var x(random.tensor({2, 3, 19, 41}, f32, device())), w(random.tensor({3, 1, 5, 7}, f32, device()));
    ConvOptions all = o;
    all.groups = 1;
    const Var one = conv2d(x, w, {}, o), other = conv2d(x, dense(w), {}, all);
    const double eps = 35 * 4 * work_epsilon(f32);
    expect_close(one.value(), other.value(), eps, "result");
    const Tensor seed = random.tensor(one.shape(), f32, device());
    const Gradients a = backward(one, seed), b = backward(other, seed);
    expect_close(a[x], b[x], eps, "gradient of x");
    expect_close(a[w], b[w], 2 * 19 * 41 * work_epsilon(f32), "gradient of the weight");
  }
}
TEST_P(Neural, ConvolutionsReadEveryLayout) {
  Random random(6);
  const Tensor first = random.tensor({2, 8, 9, 10}, f32, device()), w = random.tensor({4, 8, 3, 3}, f32, device());
  const Tensor last = first.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
  const Tensor want = conv2d(first, w, {}, {.padding = 1});
  EXPECT_EQ(doubles(conv2d(last, w, {}, {.padding = 1})), doubles(want));
  // Turned upside down the products of a sum come in another order.
  expect_close(conv2d(first.slice(2, {}, {}, -1), w.slice(2, {}, {}, -1), {}, {.padding = 1}),
               want.slice(2, {}, {}, -1), 72 * work_epsilon(f32), "turned");
}
TEST_P(Neural, BatchNormUpdatesTheRunningStatistics) {
  const Tensor x = tensor({1.0F, 2.0F, 3.0F, 6.0F}, device()).reshape({4, 1});
  const Tensor mean_of = zeros({1}), variance = ones({1});
  batch_norm(x, mean_of, variance, {}, {}, {.training = true, .momentum = 0.5});
  EXPECT_NEAR(doubles(mean_of)[0], 1.5, 1e-6);                    // half of 3
  EXPECT_NEAR(doubles(variance)[0], 0.5 + 0.5 * 14.0 / 3, 1e-6);  // Σ (x - 3)² / (4 - 1)
}
TEST_P(Neural, MaxPoolGivesTheGradientToTheFirstLargest) {
  const Var x(ones({1, 1, 2, 4}));
  EXPECT_EQ(doubles(backward(sum(max_pool(x, 2)))[x]), (std::vector<double>{1, 0, 1, 0, 0, 0, 0, 0}));
}
TEST_P(Neural, AttentionInBlocksIsTheWhole) {
  Random random(7);
  const auto part = [&](std::int64_t heads, std::int64_t rows) {
    return Var(random.tensor({2, heads, rows, 8}, f32, device()));
  };
  const Var q = part(4, 67), k = part(2, 130), v = part(2, 130);
  const Var slope(random.tensor({4, 1, 1}, f32, device())), add(random.tensor({67, 130}, f32, device()));
  const auto run = [&](AttentionOptions o, std::int64_t rows) {
    o.rows_at_once = rows;
    const Var y = attention(
        q, k, v, o,
        [](auto s, auto, auto, auto i, auto j, auto m, auto a) { return s + a - 0.01 * m * cast(i - j, f32); }, slope,
        add);
    const Gradients g = backward(sum(y * y));
    return std::vector<Tensor>{y.value(), g[q], g[k], g[v], g[slope], g[add]};
  };
  const Tensor lengths = tensor({130, 3}, device());
  for (const AttentionOptions& o :
       {AttentionOptions{.causal = true, .window = 20}, AttentionOptions{.window = 9, .lengths = lengths}}) {
    const std::vector<Tensor> want = run(o, 67), got = run(o, 16);
    // Sums of up to 2·4·67 terms (of a slope: 134·130) in another order.
    for (std::size_t i = 0; i < want.size(); ++i)
      expect_close(got[i], want[i], 600 * work_epsilon(f32), "result " + std::to_string(i));
  }
}
TEST_P(Neural, ARowThatSeesNothingGivesZeroAndNoGradient) {
  // Scores of 1e4: exp(score - logsumexp) is right to half a unit of them, twice where a product is fused with the sum.
  const double side = std::sqrt(1e4 / std::sqrt(2.0)), bound = 2 * 1e4 * std::numeric_limits<float>::epsilon();
  const Var q(full({1, 1, 3, 2}, side)), k(full({1, 1, 2, 2}, side)), v(ones({1, 1, 2, 2}));
  Tensor logs;
  const Var y = attention(q, k, v, {.causal = true, .logsumexp = &logs});  // row 0 of three sees none of two columns
  EXPECT_EQ(doubles(y.value()), (std::vector<double>{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(doubles(logs)[0], -std::numeric_limits<double>::infinity());
  const Gradients g = backward(sum(y * y));
  for (const double d : doubles(g[q])) EXPECT_EQ(d, 0);
  const std::vector<double> of_v = doubles(g[v]), want{3, 3, 1, 1};
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(of_v[i], want[i], want[i] * bound);
}
TEST_P(Neural, AttentionInBlocksKeepsNoScores) {
  constexpr std::int64_t length = 2048, rows = 64;
  const Var x(full({1, length, 4}, 0.5F, device()));
  // What products keep for good, on CUDA 32 MiB for cuBLASLt, is not attention's.
  static_cast<void>(matmul(x.value()[0], x.value()[0].T()));
  release_memory(device());
  const std::int64_t before = memory_stats(device()).live;
  backward(sum(attention(x, x, x, {.rows_at_once = rows})));
  // Fewer than a quarter of the scores, which are L² of f32: a block has L·rows, in a few copies.
  EXPECT_LT(memory_stats(device()).peak - before, length * length);
}

}  // namespace
}  // namespace tern::test
