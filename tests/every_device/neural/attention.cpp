// Attention by a kernel of its own against the decomposed computation (`.rows_at_once`) in f64: lengths around tiles,
// every kind of mask, formulas, layouts, extreme scores, and memory. (Longer than other files: one table of cases and
// one comparison serve all of these.)
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "every_device/neural/attention_formulas.hpp"
#include "every_device/products/epilogues.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

/// By the kernel of its own wherever there is one.
class Attention : public EveryDevice {
 protected:
  void SetUp() override { EveryDevice::SetUp(), setenv("TERN_ATTENTION_KERNEL", "1", 1); }
  void TearDown() override { unsetenv("TERN_ATTENTION_KERNEL"), EveryDevice::TearDown(); }
};
TERN_EVERY_DEVICE(Attention);

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct AttentionCase {
  std::int64_t batch = 1, heads = 2, groups = 2, rows = 1, columns = 1, depth = 16, width = 16;
  AttentionOptions options = {};
  std::function<BlockMask()> blocks = {};  // made on the default device
};
struct Results {
  std::vector<Tensor> of;  // the result, the gradients of q, k and v, exp(logsumexp)
};
Results run(const AttentionCase& c, const std::vector<Tensor>& of, bool decomposed, const Call& call) {
  AttentionOptions o = c.options;
  if (decomposed) o.rows_at_once = c.rows + 1;
  if (c.blocks) o.block_mask = c.blocks();
  Generator generator{5};
  o.generator = &generator;
  const Var q = parameter(of[0]), k = parameter(of[1]), v = parameter(of[2]);
  const Var y = call(q, k, v, o);
  const Gradients g = backward(y, of[3]);
  Tensor logs;
  o.logsumexp = &logs;
  const NoGrad off;
  call(q, k, v, o);
  return {{y.value(), g[q], g[k], g[v], logs}};
}

/// In units of what the dtype stores, with `terms` roundings of f32 (f64) in each sum.
void expect_alike(const AttentionCase& c, const Results& got, const Results& want, DType type, const std::string& what,
                  double scores) {
  const char* const names[] = {"result", "q", "k", "v", "logsumexp"};
  for (std::size_t i = 0; i < got.of.size(); ++i) {
    const std::vector<double> x = doubles(got.of[i]), y = doubles(want.of[i]);
    ASSERT_EQ(x.size(), y.size());
    double largest = 1;
    for (const double e : y) largest = std::isfinite(e) ? std::max(largest, std::abs(e)) : largest;
    // A score's rounding is relative to its size, and an error of its exponential's.
    const double sums =
        std::max(8.0, scores) * std::sqrt(static_cast<double>(c.columns + c.rows + c.depth)) * work_epsilon(type);
    // What is stored in 16 bits is rounded three times on its way to a gradient in the decomposed products, once here.
    const double eps = sums + (dtype_size(type) == 2 ? 2 * epsilon(type) : 0);
    for (std::size_t e = 0; e < x.size(); ++e)
      if (x[e] != y[e])  // infinities
      {
        ASSERT_NEAR(x[e], y[e], eps * largest) << what << " " << to_string(type) << " " << names[i] << " at " << e;
      }
  }
}
void expect_decomposed(const AttentionCase& c, const std::string& what, const Call& call = plain,
                       const std::vector<DType>& types = {f32, f16, bf16, f64}, double by = 1) {
  if (left_out(default_device(), 4)) return;
  for (const DType type : types) {
    if (in_software(default_device()) && type != types.front()) continue;
    if (type == f64 && default_device().kind() == DeviceKind::webgpu) continue;
    Random random(7);
    std::vector<Tensor> of;
    for (const Shape& shape : {Shape{c.batch, c.heads, c.rows, c.depth}, Shape{c.batch, c.groups, c.columns, c.depth},
                               Shape{c.batch, c.groups, c.columns, c.width}, Shape{c.batch, c.heads, c.rows, c.width}})
      of.push_back((random.tensor(shape, f32, cpu()) * by).to(type));
    std::vector<Tensor> here, exact;
    for (const Tensor& t : of) here.push_back(t.to(default_device())), exact.push_back(t.to(f64));
    const Results got = run(c, here, false, call);
    const Device device = default_device();
    set_default_device(cpu());
    AttentionCase on_cpu = c;
    if (on_cpu.options.lengths.defined()) on_cpu.options.lengths = c.options.lengths.to(cpu());
    for (auto& operand : on_cpu.options.mask_operands)
      if (operand.tensor.defined()) operand.tensor = operand.tensor.to(cpu());
    const Results want = run(on_cpu, exact, true, call);
    set_default_device(device);
    expect_alike(c, got, want, type, what, by * by);
  }
}

TEST_P(Attention, LengthsAroundTiles) {
  const std::vector<std::int64_t> every{1, 63, 64, 65, 127, 128, 129}, few{1, 64, 65, 129};
  for (const std::int64_t n : in_software(device()) ? few : every) {
    expect_decomposed({.rows = n, .columns = n}, "square " + std::to_string(n));
    expect_decomposed({.heads = 4, .rows = n, .columns = n + 7, .options = {.causal = true}}, "causal, more columns");
  }
  expect_decomposed({.rows = 70, .columns = 1}, "one column");
  expect_decomposed({.rows = 1, .columns = 300}, "one row");
  // A tile of the CPU's rows by lanes has up to 270 columns.
  for (const std::int64_t columns : {270, 271, 541})
    if (device().kind() == DeviceKind::cpu)
      expect_decomposed({.heads = 2, .rows = 67, .columns = columns, .options = {.causal = columns == 541}},
                        "tiles of " + std::to_string(columns) + " columns");
  // One of its gradients by lanes has 132, and a block eight of those; so many heads leave columns undivided.
  for (const std::int64_t columns : {132, 133, 1056, 1057})
    if (device().kind() == DeviceKind::cpu)
      expect_decomposed({.batch = 8, .rows = 17, .columns = columns, .options = {.causal = columns % 2 == 1}},
                        "gradients by tiles of " + std::to_string(columns) + " columns", plain, {f32, f64});
  if (full_test()) expect_decomposed({.rows = 1000, .columns = 1000, .options = {.causal = true}}, "1000");
}
TEST_P(Attention, DepthsAndWidths) {
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const Pairs every{{1, 3}, {3, 1}, {33, 17}, {64, 64}, {128, 96}, {256, 256}, {300, 20}},
      few{{33, 17}, {256, 256}};
  for (const auto& [depth, width] : in_software(device()) ? few : every)
    expect_decomposed({.heads = 2, .groups = 1, .rows = 70, .columns = 90, .depth = depth, .width = width},
                      "depth " + std::to_string(depth));
}
/// All scores are 0, so that every row is the mean of the rows of v that it sees.
TEST_P(Attention, OfNoDepthAverages) {
  for (const std::int64_t rows_at_once : {0, 2}) {
    const Var q = parameter(zeros({1, 2, 3, 0})), k = parameter(zeros({1, 1, 4, 0}));
    const Var v = parameter(tensor({1.0F, 2.0F, 3.0F, 6.0F}, device()).reshape({1, 1, 4, 1}));
    const auto check = [&](const AttentionOptions& o, const std::vector<double>& want) {
      const std::vector<double> got = doubles(attention(q.value(), k.value(), v.value(), o));
      const Var y = attention(q, k, v, o);
      const std::vector<double> recorded = doubles(y);
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(got[i], want[i % 3], 4 * epsilon(f32) * 3) << i;
        EXPECT_NEAR(recorded[i], want[i % 3], 4 * epsilon(f32) * 3) << i;
      }
      const Gradients g = backward(sum(y));
      EXPECT_EQ(g[q].shape(), q.shape());
      EXPECT_EQ(g[k].shape(), k.shape());
      EXPECT_NEAR(sum(g[v]).item<float>(), 6, 6 * 4 * epsilon(f32)) << "the shares of each row are 1 in all";
    };
    check({.rows_at_once = rows_at_once}, {3, 3, 3});
    check({.causal = true, .rows_at_once = rows_at_once}, {1.5, 2, 3});
    check({.scale = 0.5, .rows_at_once = rows_at_once}, {3, 3, 3});
  }
}
/// What blocks of rows give k, v and the formula's operands is added up in f32: each gradient of v is 4096/4.
TEST_P(Attention, GradientsOfBlocksAreRoundedOnce) {
  for (const DType dtype : dtypes_of(device(), {f16, bf16})) {
    const Options of{.dtype = dtype};
    const Var q = parameter(zeros({1, 1, 512, 4}, of)), k = parameter(zeros({1, 1, 4, 4}, of)),
              v = parameter(ones({1, 1, 4, 2}, of)), by = parameter(zeros({}, of));
    AttentionOptions o;
    o.rows_at_once = 4;
    const auto score = [](auto s, auto, auto, auto, auto column, auto by) { return s + by * cast(column, DType::f32); };
    const Gradients g = backward(sum(attention(q, k, v, o, score, by)));
    EXPECT_EQ(doubles(g[v]), std::vector<double>(8, 128)) << to_string(dtype);
    const Var late = parameter(arange(0, 4, 1).to(dtype).reshape({1, 1, 4, 1}));
    // Of the mean of 0 to 3, by the product of by and the column: the column's variance, 1.25, for each of 512 rows.
    EXPECT_EQ(backward(sum(attention(q, k, late, o, score, by)))[by].to(f32).item<float>(), 640) << to_string(dtype);
  }
}
TEST_P(Attention, EveryKindOfMask) {
  AttentionCase c{.batch = 2, .heads = 4, .groups = 2, .rows = 150, .columns = 290};
  const bool few = in_software(device());  // both of the first two are in the third
  c.options = {.causal = true};
  if (!few) expect_decomposed(c, "causal");
  c.options = {.window = 30};
  if (!few) expect_decomposed(c, "window");
  c.options = {.causal = true, .window = 30};
  expect_decomposed(c, "causal window");
  c.options = {.lengths = tensor({0, 200})};
  expect_decomposed(c, "lengths");
  c.options = {.mask = Pointwise<>([](auto b, auto h, auto i, auto j, auto document) {
                 return (document == b) & (j != i + h) & (i > 3);  // rows 0 to 3 see nothing
               }),
               .mask_operands = {tensor(std::vector<std::int32_t>(290, 1))}};
  expect_decomposed(c, "predicate");
  std::swap(c.rows, c.columns);
  c.options = {.causal = true};  // the first 140 rows see nothing
  expect_decomposed(c, "fewer columns than rows");
}
/// What lies beyond a sample's length may be NaN, in both directions, in sizes that Hopper's kernels take; in f32
/// AttentionEdges.ReadsNothingBeyondTheLengths.
TEST_P(Attention, WhatLiesBeyondLengthsIn16Bits) {
  if (in_software(device())) return;
  const Tensor lengths = tensor({100, 0}, device()), ends = lengths.reshape({2, 1, 1, 1});
  const Tensor beyond = arange(0, 200, 1, {.device = device()}).reshape({200, 1}) >= ends;
  for (const DType type : dtypes_of(device(), {f16, bf16}))
    for (const std::int64_t depth : {64, 200}) {
      Random random(3);
      const auto made = [&](std::int64_t heads, std::int64_t rows) {
        return random.tensor({2, heads, rows, depth}, f32, cpu()).to(type).to(device());
      };
      const Tensor of_q = made(2, 130), of_k = made(1, 200), of_v = made(1, 200), grad = made(2, 130);
      const auto results = [&](double with) {
        const Tensor fill = full({}, with, {.dtype = type, .device = device()});
        const Var q = parameter(of_q), k = parameter(where(beyond, fill, of_k)),
                  v = parameter(where(beyond, fill, of_v));
        const Var y = attention(q, k, v, {.lengths = lengths});
        const Gradients g = backward(y, grad);
        return std::vector<Tensor>{y.value(), g[q], g[k], g[v]};
      };
      const std::vector<Tensor> got = results(std::numeric_limits<double>::quiet_NaN()), want = results(0);
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(doubles(got[i]), doubles(want[i])) << to_string(type) << ", " << depth << ": " << i;
    }
}
TEST_P(Attention, FormulasOnScores) {
  AttentionCase c{.batch = 2, .heads = 4, .groups = 2, .rows = 130, .columns = 270, .width = 40};
  if (!in_software(device())) expect_decomposed(c, "formula", soft_alibi);
  c.options = {.causal = true, .lengths = tensor({100, 270})};
  expect_decomposed(c, "formula, causal, lengths", soft_alibi);
  const auto biased = [](const Shape& shape) {
    return [shape](const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
      Random random(9);
      const Tensor bias = random.tensor(shape, f32, cpu()).to(q.value().device());
      return attention(
          q, k, v, o, [](auto s, auto, auto, auto, auto, auto add) { return s + s * s * add / 16; }, bias);
    };
  };
  const std::vector<Shape> few{{130, 270}, {4, 1, 1}}, every{{},        {270},       {130, 1},     {130, 270},
                                                              {4, 1, 1}, {4, 1, 270}, {2, 1, 1, 1}, {2, 4, 130, 270}};
  for (const Shape& shape : in_software(device()) ? few : every)
    expect_decomposed(c, "bias " + to_string(shape), biased(shape), {f32});
}
/// As many workgroups as the larger tiles of GPUs are for, by widths.
TEST_P(Attention, ManyHeads) {
  AttentionCase c{.batch = 4, .heads = 16, .groups = 4, .rows = 70, .columns = 90, .depth = 20, .width = 40};
  expect_decomposed(c, "64 rows", plain, {f32, f16});
  if (in_software(device()) || few_test()) return;  // their kernels take it ten seconds each
  c.groups = 16, c.width = 72, c.options = {.causal = true};
  expect_decomposed(c, "128 rows", soft_alibi, {f32, f16});
  c.options = {};
  c.blocks = [] {  // one block of each kind in a tile of 128 rows
    return block_mask([](auto, auto, auto, auto j, auto n) { return j < n; }, 1, 1, 70, 90,
                      (arange(0, 70, 1) < 64).to(i32).reshape({70, 1}) * 50 + 30);
  };
  expect_decomposed(c, "blocks of a mask", plain, {f32});
  c.blocks = nullptr;
  c.groups = 4, c.width = 130, c.options = {.window = 30, .lengths = tensor({0, 20, 64, 90})};
  expect_decomposed(c, "a wide tile", plain, {f32, f16});
  c.depth = c.width = 128, c.rows = c.columns = 200, c.options = {.dropout = 0.25};
  expect_decomposed(c, "dropout in 128 rows", plain, {f32, f16});
  c.batch = 2, c.heads = 4, c.groups = 2, c.depth = c.width = 256;
  expect_decomposed(c, "dropout, 256 elements", plain, {f16});
  c.options = {}, c.columns = 333;
  c.blocks = [] {
    return block_mask([](auto, auto, auto i, auto j) { return (j <= i + 133) & (j > i - 90); }, 1, 1, 200, 333);
  };
  expect_decomposed(c, "blocks of a mask, 256 elements", plain, {bf16});
}
/// In sizes that Hopper's kernels take, with tiles at an edge and others: what formulas leave to a kernel.
void expect_taken_apart(const Call& call) {
  AttentionCase c{.groups = 1, .rows = 200, .columns = 330, .depth = 64, .width = 64, .options = {.causal = true}};
  expect_decomposed(c, "causal, 64 elements", call, {f16});
  if (in_software(default_device())) return;
  c.depth = c.width = 128, c.options = {};
  expect_decomposed(c, "128 elements", call, {bf16});
  c.depth = c.width = 256, c.columns = 328;  // in eights: shares are kept in backward
  expect_decomposed(c, "256 elements", call, {bf16});
  c.depth = 136, c.width = 72, c.columns = 330, c.options = {.causal = true, .window = 50};
  expect_decomposed(c, "136 and 72 elements", call, {f16});
}
TEST_P(Attention, NoFormulaInLargerTiles) { expect_taken_apart(plain); }
TEST_P(Attention, LinesAreAddedApart) {
  expect_taken_apart(alibi);
  expect_decomposed({.rows = 70, .columns = 90, .options = {.scale = -0.5}}, "a negative scale", alibi, {bf16});
}
TEST_P(Attention, FactorsAreMultipliedApart) { expect_taken_apart(soft_cap); }
TEST_P(Attention, WhatIsNotTakenApart) { expect_taken_apart(mixed); }
/// The base of a row's powers of two follows scores that grow along the columns, and those that jump.
TEST_P(Attention, ScoresThatGrow) {
  AttentionCase c{.groups = 1, .rows = 130, .columns = 700, .depth = 64, .width = 64};
  for (const double slope : {0.01, 0.25, -0.25}) {
    const Call growing = [slope](const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
      return attention(
          q, k, v, o, [](auto s, auto, auto, auto i, auto j, auto a) { return s + a * cast(j - i % 64 * 4, f32); },
          slope);
    };
    expect_decomposed(c, "slope " + std::to_string(slope), growing, {bf16, f16});
  }
}
/// Few rows to many columns: those are divided, and heads that share keys are rows of one.
TEST_P(Attention, Decoding) {
  AttentionCase c{.heads = 8, .groups = 1, .rows = 1, .columns = 1100, .depth = 32, .width = 48};
  expect_decomposed(c, "heads that share all keys");
  c.options = {.causal = true};
  const bool few = in_software(device());
  if (!few) expect_decomposed(c, "the same by a formula", soft_alibi, {f32});
  c = {.batch = 3, .heads = 4, .groups = 2, .rows = 1, .columns = 1100, .depth = 20};
  c.options = {.lengths = tensor({0, 600, 1100})};
  expect_decomposed(c, "lengths", soft_alibi);
  c.options = {.window = 600};
  if (!few) expect_decomposed(c, "a window", plain, {f32});
  c.options = {.mask = Pointwise<>([](auto b, auto h, auto, auto j, auto least) { return (j + b > least) | (h == 1); }),
               .mask_operands = {700}};
  expect_decomposed(c, "a mask", plain, {f32});
  const auto biased = [](const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
    Random random(9);
    const Tensor bias = random.tensor({4, 1, 1100}, f32, cpu()).to(q.value().device());
    return attention(
        q, k, v, o, [](auto s, auto, auto, auto, auto, auto add) { return s + add; }, bias);
  };
  c.options = {};
  expect_decomposed(c, "operands of heads", biased, {f32});
  expect_decomposed({.heads = 4, .groups = 2, .rows = 5, .columns = 1200, .depth = 20, .options = {.causal = true}},
                    "five rows", soft_alibi, {f32});
}
TEST_P(Attention, AppendsToACacheInPlace) {
  Random random(2);
  const Tensor q = random.tensor({2, 4, 1, 8}, f32, device()), k = random.tensor({2, 2, 9, 8}, f32, device()),
               v = random.tensor({2, 2, 9, 8}, f32, device());
  const Tensor keys = zeros({2, 2, 12, 8}), values = zeros({2, 2, 12, 8});
  for (std::int64_t n = 0; n < 9; ++n) {
    assign(keys(ellipsis, Slice(n, n + 1), Slice()), k(ellipsis, Slice(n, n + 1), Slice()));
    assign(values(ellipsis, Slice(n, n + 1), Slice()), v(ellipsis, Slice(n, n + 1), Slice()));
    const Tensor lengths = full({2}, n + 1).to(i32);
    const Tensor got = attention(q, keys, values, {.lengths = lengths});
    const Tensor want = attention(q, k.slice(2, 0, n + 1), v.slice(2, 0, n + 1));
    expect_near(got, want, 1e-6, "after " + std::to_string(n + 1));
  }
}
TEST_P(Attention, DropoutInsideTheKernel) {
  AttentionCase c{.batch = 2, .heads = 4, .groups = 2, .rows = 70, .columns = 150};
  c.options = {.dropout = 0.3};
  expect_decomposed(c, "dropout");
  c.options = {.causal = true, .lengths = tensor({100, 150}), .dropout = 0.5};
  expect_decomposed(c, "dropout and a formula", soft_alibi, {f32});
  c.rows = 1, c.columns = 1300, c.options = {.dropout = 0.5};
  expect_decomposed(c, "dropout, one row", plain, {f32});
  // Of equal scores and values of 1 a row's result is the share that was kept, over 1 - p.
  const Tensor none = zeros({2, 3, 64, 8}), ones_of = full({2, 3, 500, 4}, 1.0f), keys = zeros({2, 3, 500, 8});
  Generator generator{1};
  const Tensor first = attention(none, keys, ones_of, {.dropout = 0.25, .generator = &generator});
  const Tensor other = attention(none, keys, ones_of, {.dropout = 0.25, .generator = &generator});
  // 192,000 choices: the mean's deviation is 0.0013, that of a row of 500 is 0.026.
  EXPECT_NEAR(first.mean().item<double>(), 1, 6 * 0.0014);
  EXPECT_NEAR(std(first(ellipsis, 0).flatten()).item<double>(), 0.0258, 0.006);
  EXPECT_NE(doubles(first), doubles(other));
  Generator again{1};
  EXPECT_EQ(doubles(attention(none, keys, ones_of, {.dropout = 0.25, .generator = &again})), doubles(first));
  Tensor later;
  const Graph step =
      capture(device(), [&] { later = attention(none, keys, ones_of, {.dropout = 0.25, .generator = &again}); });
  step.replay();
  EXPECT_EQ(doubles(later), doubles(other));
  step.replay();
  EXPECT_NE(doubles(later), doubles(other));
}
TEST_P(Attention, MasksInBlocks) {
  AttentionCase c{.batch = 2, .heads = 4, .groups = 2, .rows = 200, .columns = 210};
  c.blocks = [] {
    const Tensor document = (arange(0, 210, 1) >= 100).to(i32);
    return block_mask([](auto, auto, auto i, auto j, auto a, auto b) { return (a == b) & (j <= i); }, 1, 1, 200, 210,
                      document.slice(0, 0, 200).reshape({200, 1}), document);
  };
  const BlockMask documents = c.blocks();
  EXPECT_EQ(documents.blocks().shape(), (Shape{1, 1, 4, 4}));
  EXPECT_EQ(doubles(documents.blocks()), (std::vector<double>{1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 2, 1}));
  EXPECT_EQ(documents.visited(), 8 / 16.0);
  c.options = {.dropout = 0.25};
  expect_decomposed(c, "documents, a formula and dropout", soft_alibi, {f32});
  c.options = {};
  const bool few = in_software(device());
  if (!few) expect_decomposed(c, "documents");
  c.columns = 330;
  c.blocks = [] {
    return block_mask(
        [](auto b, auto h, auto i, auto j, auto n) { return ((j < 4) | (i - j < n * (h + 1))) & (j <= i + b); }, 2, 4,
        200, 330, 32);
  };
  expect_decomposed(c, "sinks and a window of each head", plain, {f32, bf16});
  c.blocks = [] { return block_mask([](auto, auto, auto, auto j) { return j < 64; }, 1, 1, 200, 330); };
  EXPECT_EQ(doubles(c.blocks().blocks()(0, 0, 0)), (std::vector<double>{2, 0, 0, 0, 0, 0}));
  if (!few) expect_decomposed(c, "whole blocks", soft_alibi, {f32});
  c.rows = 1, c.columns = 1300;
  c.blocks = [] { return block_mask([](auto, auto, auto, auto j) { return (j & 127) >= 64; }, 1, 1, 1, 1300); };
  expect_decomposed(c, "one row", plain, {f32});
  const Tensor q = zeros({1, 2, 8, 4});
  EXPECT_THROW(attention(q, q, q, {.block_mask = c.blocks()}), Error);
  EXPECT_THROW(attention(q, q, q, {.dropout = 0.5}), Error);
  EXPECT_THROW(block_mask([](auto, auto, auto, auto j, auto n) { return j < n; }, 1, 1, 8, 8), Error);
}
TEST_P(Attention, MasksReadNumbersAndVariables) {
  AttentionCase c{.rows = 30, .columns = 31};
  c.options = {.mask = Pointwise<>([](auto, auto, auto i, auto j, auto n, auto t) { return (j < n) | (t < i); }),
               .mask_operands = {7, constant(arange(0, 31, 1).to(f32))}};
  expect_decomposed(c, "numbers and variables", plain, {f32});
}
/// The blocks that a replay visits are those of the operands that it reads.
TEST_P(Attention, ReplaysAskWhetherAMaskInBlocksHolds) {
  const Tensor x = Random(9).tensor({1, 1, 300, 4}, f32, device());
  Tensor end = tensor({20}, i32);
  const auto before = [](auto, auto, auto, auto j, auto n) { return j < n; };
  const auto made = [&] { return block_mask(before, 1, 1, 300, 300, end); };
  const BlockMask kept = made();
  Tensor result, anew;
  const Graph of_kept = capture(device(), [&] { result = attention(x, x, x, {.block_mask = kept}); });
  const Graph of_both = capture(device(), [&] { anew = attention(x, x, x, {.block_mask = made()}); });
  of_kept.replay(), of_both.replay();
  EXPECT_EQ(doubles(result), doubles(anew));
  end.copy_from(tensor({290}, i32));
  expect_error(ErrorKind::value, {"attention", "block_mask", "written to"}, [&] { of_kept.replay(); });
  of_both.replay();
  EXPECT_EQ(doubles(anew), doubles(attention(x, x, x, {.block_mask = made()})));
}
TEST_P(Attention, RefusesBeforeAnythingChanges) {
  const Tensor x = ones({1, 2, 5, 4});
  expect_error(ErrorKind::shape, {"mask", "undefined"}, [&] { attention(x, x, x, {.mask_operands = {Tensor()}}); });
  expect_error(ErrorKind::shape, {"attention", "mask_operands", "none without a mask", "1"},
               [&] { attention(x, x, x, {.mask_operands = {3}}); });
  const auto number = [](auto, auto, auto, auto j) { return j * 1.0; };
  expect_error(ErrorKind::dtype, {"where", "boolean"}, [&] { block_mask(number, 1, 1, 5, 5); });
  Tensor last = tensor({2, 3, 4, 4, 4}, i32);
  const BlockMask upto =
      block_mask([](auto, auto, auto, auto j, auto n) { return j <= n; }, 1, 1, 5, 5, last.reshape({5, 1}));
  attention(x, x, x, {.block_mask = upto});
  last.slice(0, 0, 1).copy_from(tensor({4}, i32));  // a view of the same memory
  EXPECT_FALSE(upto.current());
  expect_error(ErrorKind::value, {"attention", "block_mask", "written to"},
               [&] { attention(x, x, x, {.block_mask = upto}); });
  Generator generator{3};
  EXPECT_THROW(attention(x, x, x, {.mask = Pointwise<>(number), .dropout = 0.5, .generator = &generator}), Error);
  EXPECT_EQ(generator.position, 0u);
  if (device().kind() != DeviceKind::cpu) {
    const auto add = [](auto s, auto, auto, auto, auto, auto b) { return s + b; };
    expect_error(ErrorKind::device, {"attention"}, [&] { attention(x, x, x, {}, add, ones({5}, cpu())); });
  }
}
TEST_P(Attention, LengthsThatAreWrittenEndItsBackward) {
  const Var x(ones({1, 1, 40, 16}));
  Tensor lengths = tensor({30}, device());
  const Var y = sum(attention(x, x, x, {.lengths = lengths}));
  lengths += 1;
  EXPECT_THROW(backward(y), Error);
}
/// Relative positions: a table [heads, L + S - 1] of which score (i, j) reads element j - i + L - 1, as a view.
TEST_P(Attention, ReadsATableByRelativePosition) {
  Random random(3);
  const std::int64_t rows = 40, columns = 50;
  const Tensor of_q = random.tensor({1, 2, rows, 8}, f32, device()),
               of_k = random.tensor({1, 2, columns, 8}, f32, device());
  const Var table = parameter(random.tensor({2, rows + columns - 1}, f32, device()));
  const auto add = [](auto s, auto, auto, auto, auto, auto bias) { return s + bias; };
  const Var bias = flip(sliding_window_view(table, columns), {-2});
  EXPECT_EQ(bias.shape(), (Shape{2, rows, columns}));
  const Var y = attention(of_q, of_k, of_k, {}, add, bias);
  const Tensor places = (arange(0, columns, 1) - arange(0, rows, 1).unsqueeze(-1) + (rows - 1)).to(i32);
  const Var same = parameter(table.value());
  const Var want = attention(of_q, of_k, of_k, {}, add, take(same, places.flatten(), 1).reshape({2, rows, columns}));
  expect_near(y.value(), want.value(), 1e-6, "result");
  expect_near(backward(sum(y * y))[table], backward(sum(want * want))[same], 1e-5, "gradient of the table");
}
/// Whole, in blocks of rows, and made of other operations.
TEST_P(Attention, OperandsGetGradientsToSecondOrder) {
  Random random(3);
  const auto tensor_of = [&](const Shape& shape) { return random.tensor(shape, f32, device()); };
  const Var q = parameter(tensor_of({1, 2, 5, 4})), k = parameter(tensor_of({1, 1, 6, 4})),
            v = parameter(tensor_of({1, 1, 6, 3})), bias = parameter(tensor_of({2, 1, 6}));
  const auto result = [&](std::int64_t rows) {
    return attention(
        q, k, v, {.causal = true, .rows_at_once = rows},
        [](auto s, auto, auto, auto, auto, auto add) { return s + tanh(s) * add; }, bias);
  };
  const auto composed = [&] {
    const Var s = matmul(q, k.mT()) * 0.5, scores = s + tanh(s) * bias;
    const Tensor seen = arange(0, 6, 1) <= arange(0, 5, 1).unsqueeze(-1) + 1;
    return matmul(softmax(where(seen, scores, -1e30)), v);
  };
  std::vector<std::vector<double>> found[3];
  for (std::size_t way = 0; way < 3; ++way) {
    const Var y = way < 2 ? result(way == 0 ? 0 : 2) : composed();
    const Gradients g = backward(sum(y * y), {.create_graph = true});
    const Var second = sum(g.var(q) * g.var(q)) + sum(g.var(bias) * g.var(k).sum());
    const Gradients h = backward(second);
    for (const Var& x : {q, k, v, bias}) found[way].push_back(doubles(g[x])), found[way].push_back(doubles(h[x]));
  }
  for (const std::size_t way : {std::size_t{0}, std::size_t{1}})
    for (std::size_t i = 0; i < found[2].size(); ++i)
      for (std::size_t e = 0; e < found[2][i].size(); ++e)
        EXPECT_NEAR(found[way][i][e], found[2][i][e], 1e-4 * std::max(1.0, std::abs(found[2][i][e])))
            << "way " << way << ", " << i << " at " << e;
}
TEST_P(Attention, ExtremeScores) {
  expect_decomposed({.rows = 70, .columns = 90}, "scores of 1e4", plain, {f64}, 60);
  const Tensor q = full({1, 1, 3, 2}, 1e4f), k = tensor({1.0F, 0.0F, 0.0F, 0.0F, -1.0F, 0.0F}, device()),
               v = tensor({1.0F, 2.0F, 4.0F}, device()).reshape({1, 1, 3, 1});
  const Tensor keys = k.reshape({1, 1, 3, 2});
  EXPECT_EQ(doubles(attention(q, keys, v, {.scale = 1.0})), (std::vector<double>{1, 1, 1}));  // the others are e^-1e4
  const auto never = [](auto s, auto, auto, auto i, auto j, auto least) {
    return where((j == 0) | (i == 1), least, s * 0);
  };
  // A score of -inf counts as not seen; a row of them gives 0.
  EXPECT_EQ(doubles(attention(q, keys, v, {}, never, -kInfinite)), (std::vector<double>{3, 0, 3}));
}
TEST_P(Attention, ReadsEveryLayoutAndGivesTheSameBits) {
  Random random(4);
  const Tensor x = random.tensor({2, 70, 3, 2, 32}, f32, device());  // [batch, rows, q k v, heads, depth]
  const auto part = [&](std::int64_t i) { return x.permute({2, 0, 3, 1, 4})[i]; };
  const Tensor want = attention(part(0).contiguous(), part(1).contiguous(), part(2).contiguous(), {.causal = true});
  EXPECT_EQ(doubles(attention(part(0), part(1), part(2), {.causal = true})), doubles(want));
  EXPECT_EQ(doubles(attention(part(0), part(1), part(2), {.causal = true})), doubles(want));
}
TEST_P(Attention, LongSequencesTakeLinearMemory) {
  if (in_software(device())) GTEST_SKIP() << "minutes there";
  const bool on_cpu = device().kind() == DeviceKind::cpu;
  // A depth that the CPU's vectors divide: shorter ones are packed as if they were as long.
  const std::int64_t length = full_test() || !on_cpu ? 65536 : 8192, depth = 64;
  const Var x = parameter(full({1, 1, length, depth}, 0.125).to(on_cpu ? f32 : bf16));
  release_memory(device());
  const std::int64_t before = memory_stats(device()).live;
  backward(
      sum(attention(x, x, x, {.causal = true, .window = on_cpu ? std::optional<std::int64_t>(64) : std::nullopt})));
  constexpr std::int64_t tensors = 24;  // of x's size in f32; the CPU's scratch is counted, too
  EXPECT_LT(memory_stats(device()).peak - before, length * depth * 4 * tensors);
}

}  // namespace
}  // namespace tern::test
