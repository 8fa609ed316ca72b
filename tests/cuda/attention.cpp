// The kernels of attention on CUDA, without a GPU: each instance compiles alone, and what their texts compute on the
// host, matrix instructions included, is held against the decomposed computation in f64 on the CPU.
#include <cmath>
#include <functional>
#include <random>

#include "backend/tensor_impl.hpp"
#include "cuda/api.hpp"
#include "cuda/compiles.hpp"
#include "every_device/neural/attention_formulas.hpp"
#include "golden/printing.hpp"
#include "host_gpu.hpp"
#include "primitives/attention/cuda/cuda_plan.hpp"
#include "primitives/attention/operations/operation_fused.hpp"

namespace tern::test {
namespace {

/// A formula, a mask in blocks and dropout, as the operation hands them to the primitive.
detail::FusedAttention masked_call(const detail::AttentionSizes& sizes, const BlockMask& mask,
                                   const std::function<Tensor(const Tensor&)>& moved) {
  static const Pointwise<> formula(
      [](auto s, auto, auto h, auto i, auto j) { return 3 * tanh(s / 3) - cast((h + 1) * abs(i - j), f32) / 64; });
  detail::FusedAttention call;
  call.sizes = sizes, call.scale = 0.25;
  call.formulas.score = formula.graph(), call.formulas.mask = mask.mask().graph(), call.formulas.dropout = true;
  for (const int word : {1234567, 89}) call.tensors.push_back(moved(tensor({word}, cpu()).reshape({})));
  for (const double number : {0.0, 0.0, 0.25}) call.numbers.push_back(Number(number));
  call.tensors.push_back(Tensor());
  if (mask.blocks().numel() > 1) call.blocks = moved(mask.blocks());
  return call;
}
BlockMask sinks(std::int64_t rows, std::int64_t columns) {
  if (rows == 1) return block_mask([](auto, auto, auto, auto j) { return (j & 127) < 64; }, 1, 1, rows, columns);
  return block_mask([](auto, auto, auto i, auto j) { return ((j < 4) | (i - j < 40)) & (j <= i); }, 1, 1, rows,
                    columns);
}
/// Those that compile.cpp has not: f32, more than 64 elements, and by elements.
TEST(CudaAttention, EveryInstanceCompiles) {
  std::string reason;
  ASSERT_NE(detail_cuda::nvrtc(reason), nullptr) << reason << " (script/setup fetches it)";
  std::map<std::string, int> titles;
  Printing device(DeviceKind::cuda, [&](const detail_gpu::Launch&, const std::string& text) {
    if (text.find("attention on tensor cores") == text.npos && text.find("attention in f32") == text.npos) return;
    ++titles[text.substr(0, text.find('\n'))];
    expect_compiles(text, 90, "attention");
  });
  const auto call = [&](DType type, std::int64_t depth, std::int64_t width, const AttentionOptions& o, const Call& f) {
    const Var q(device.make({1, 2, 40, depth}, type)), k(device.make({1, 1, 40, depth}, type)),
        v(device.make({1, 1, 40, width}, type));
    backward(f(q, k, v, o), device.make({1, 2, 40, width}, type));
  };
  setenv("TERN_ATTENTION_KERNEL", "1", 1);
  call(DType::f16, 128, 128, {.causal = true, .window = 9, .lengths = device.make({1}, i32)}, soft_alibi);
  call(DType::bf16, 129, 70, {.scale = -1.0}, plain);  // by elements
  call(f32, 64, 70, {.causal = true}, plain);
  call(f32, 40, 64, {}, soft_alibi);
  call(f32, 256, 9, {}, plain);
  const detail::AttentionSizes sizes{
      .batch = 1, .heads = 2, .groups = 1, .rows = 200, .columns = 210, .depth = 64, .width = 33};
  const auto moved = [&](const Tensor& t) { return device.make(t.shape(), t.dtype()); };
  const Tensor q = device.make(sizes.of_q(), bf16), k = device.make(sizes.of_k(), bf16),
               v = device.make(sizes.of_v(), bf16), out = device.make(sizes.of_result(), bf16);
  Tensor rows;
  masked_call(sizes, sinks(200, 210), moved).backward(q, k, v, out, device.make({2, 1, 2, 200}), out);
  detail::AttentionSizes parts = sizes;
  parts.parts = 3;
  masked_call(parts, sinks(200, 210), moved).forward(q, k, v, &rows);
  unsetenv("TERN_ATTENTION_KERNEL");
  EXPECT_EQ(titles["// attention in f32"], 3);
  EXPECT_EQ(titles["// gradient of attention in f32, of q"], 3);
  EXPECT_EQ(titles["// gradients of attention in f32, of k and v"], 4);
  EXPECT_EQ(titles["// attention on tensor cores"], 3);
  EXPECT_EQ(titles["// gradient of attention on tensor cores, of q"], 3);
  EXPECT_EQ(titles["// gradients of attention on tensor cores, of k and v"], 4);  // those of 256 elements apart
}

/// Those of Hopper, and what falls to the others: few rows, stretches of columns, and rows that boxes cannot begin at.
/// (Longer than other functions: one list of instances.)
TEST(CudaAttention, EveryInstanceOfHopperCompiles) {
  std::string reason;
  ASSERT_NE(detail_cuda::nvrtc(reason), nullptr) << reason << " (script/setup fetches it)";
  std::map<std::string, int> titles;
  Printing device(DeviceKind::cuda, [&](const detail_gpu::Launch&, const std::string& text) {
    if (text.find("attention on Hopper") == text.npos) return;
    ++titles[text.substr(0, text.find('\n'))];
    expect_compiles(text, 90, "attention");
  });
  bool taken = false, taken_back = false;
  device.attend = [&](auto& backend, const detail::AttentionRequest& request) {
    return taken = detail_gpu::attention_by_wgmma(backend, request, {90, 4, 227 << 10});
  };
  int kept = 0;
  device.attend_backward = [&](auto& backend, const detail::AttentionBackwardRequest& request) {
    constexpr detail_cuda::MatrixUnits units{90, 4, 227 << 10};
    if (!detail_gpu::wgmma_keeps_shares(request, units))
      return taken_back = detail_gpu::attention_backward_by_wgmma(backend, request, units);
    ++kept;
    const Shape scores = request.sizes.of_scores();
    const Tensor shares = device.make(scores, request.q.dtype), slopes = device.make(scores, request.q.dtype);
    detail::AttentionBackwardRequest keeps = request;
    keeps.shares = detail::view_over(shares, scores), keeps.slopes = detail::view_over(slopes, scores);
    return taken_back = detail_gpu::attention_backward_by_wgmma(backend, keeps, units);
  };
  const auto call = [&](DType type, std::int64_t rows, std::int64_t depth, std::int64_t width,
                        const AttentionOptions& o, const Call& f) {
    const Var q(device.make({1, 2, rows, depth}, type)), k(device.make({1, 1, rows, depth}, type)),
        v(device.make({1, 1, rows, width}, type));
    taken = taken_back = false;
    backward(f(q, k, v, o), device.make({1, 2, rows, width}, type));
    EXPECT_EQ(taken_back, taken);
    return taken;
  };
  EXPECT_TRUE(
      call(DType::f16, 200, 128, 128, {.causal = true, .window = 9, .lengths = device.make({1}, i32)}, soft_alibi));
  EXPECT_TRUE(call(DType::bf16, 200, 64, 40, {.causal = true}, plain));
  EXPECT_TRUE(call(DType::bf16, 100, 64, 64, {}, soft_alibi));
  EXPECT_TRUE(call(DType::bf16, 100, 128, 128, {}, soft_alibi));
  EXPECT_TRUE(call(DType::bf16, 200, 128, 128, {.causal = true}, alibi));
  EXPECT_TRUE(call(DType::f16, 200, 64, 64, {}, alibi));
  EXPECT_TRUE(call(DType::bf16, 200, 128, 128, {}, soft_cap));
  EXPECT_TRUE(call(DType::bf16, 200, 64, 64, {.causal = true}, mixed));
  EXPECT_TRUE(call(DType::bf16, 100, 256, 72, {.scale = -1.0}, plain));
  EXPECT_TRUE(call(DType::bf16, 200, 256, 256, {.causal = true, .lengths = device.make({1}, i32)}, alibi));
  EXPECT_TRUE(call(DType::f16, 200, 192, 128, {}, soft_alibi));
  EXPECT_FALSE(call(DType::bf16, 64, 64, 64, {}, plain));
  EXPECT_FALSE(call(DType::bf16, 100, 60, 64, {}, plain));
  EXPECT_FALSE(call(f32, 100, 64, 64, {}, plain));
  detail::AttentionSizes sizes{
      .batch = 1, .heads = 2, .groups = 1, .rows = 200, .columns = 210, .depth = 64, .width = 128};
  const auto moved = [&](const Tensor& t) { return device.make(t.shape(), t.dtype()); };
  const Tensor q = device.make(sizes.of_q(), bf16), k = device.make(sizes.of_k(), bf16),
               v = device.make(sizes.of_v(), bf16);
  Tensor rows;
  masked_call(sizes, sinks(200, 210), moved).forward(q, k, v, &rows);
  EXPECT_TRUE(taken);
  sizes.parts = 3, taken = true;
  masked_call(sizes, sinks(200, 210), moved).forward(q, k, v, &rows);
  EXPECT_FALSE(taken);
  EXPECT_EQ(kept, 1);  // of more than 128 elements, where all columns are seen
  EXPECT_EQ(titles["// attention on Hopper"], 12);
  EXPECT_EQ(titles["// gradient of attention on Hopper, of q"], 11);
  EXPECT_EQ(titles["// gradients of attention on Hopper, of k and v"], 12);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

struct Case {
  std::int64_t batch = 1, heads = 1, groups = 1, rows = 1, columns = 1, depth = 16, width = 16;
  AttentionOptions options = {};
};
std::vector<double> values(const Tensor& t) { return t.to(f64).to_vector<double>(); }

class CudaAttentionOnHost : public testing::Test {
 protected:
  void SetUp() override { setenv("TERN_ATTENTION_KERNEL", "1", 1); }
  void TearDown() override { unsetenv("TERN_ATTENTION_KERNEL"); }
  Tensor random(const Shape& shape, DType dtype, float most = 1) {
    std::uniform_real_distribution<float> uniform(-most, most);
    std::vector<float> numbers(static_cast<std::size_t>(shape.numel()));
    for (float& n : numbers) n = uniform(engine_);
    return tensor(numbers, shape, cpu()).to(dtype);
  }
  /// The result, the logsumexp, and the gradients of q, k and v.
  static std::vector<Tensor> results(const Case& c, const std::vector<Tensor>& of, bool decomposed, const Call& call) {
    AttentionOptions o = c.options;
    if (decomposed) o.rows_at_once = c.rows + 1;
    const Var q(of[0]), k(of[1]), v(of[2]);
    std::vector<Tensor> all{call(q, k, v, o).value()};
    const Gradients g = backward(call(q, k, v, o), of[3]);
    Tensor logs;
    o.logsumexp = &logs;
    call(Var(q.value()), Var(k.value()), Var(v.value()), o);
    all.insert(all.end(), {logs, g[q], g[k], g[v]});
    return all;
  }
  void expect_decomposed(const std::string& what, const Case& c, const Call& call = plain, DType type = DType::bf16,
                         float most = 1) {
    std::vector<Tensor> here, exact;
    for (const Shape& shape : {Shape{c.batch, c.heads, c.rows, c.depth}, Shape{c.batch, c.groups, c.columns, c.depth},
                               Shape{c.batch, c.groups, c.columns, c.width}, Shape{c.batch, c.heads, c.rows, c.width}})
      exact.push_back(random(shape, type, most)), here.push_back(gpu_.from(exact.back()));
    for (Tensor& t : exact) t = t.to(f64);
    Case on_gpu = c;
    if (c.options.lengths.defined()) on_gpu.options.lengths = gpu_.from(c.options.lengths);
    const std::vector<Tensor> got = results(on_gpu, here, false, call), want = results(c, exact, true, call);
    const std::string how = type == f32 ? "in f32" : "on tensor cores";
    EXPECT_TRUE(type == f64 || (gpu_.ran("attention " + how) && gpu_.ran("gradient of attention " + how + ", of q") &&
                                gpu_.ran("gradients of attention " + how + ", of k and v")))
        << what;
    const char* const names[] = {"result", "logsumexp", "q", "k", "v"};
    // Of large scores one share is nearly 1, and its slope what rounding the result leaves.
    for (std::size_t i = 0; i < (most > 1 ? 2 : got.size()); ++i) {
      const std::vector<double> x = values(HostGpu::to_cpu(got[i])), y = values(want[i]);
      double largest = 1;
      for (const double e : y) largest = std::isfinite(e) ? std::max(largest, std::abs(e)) : largest;
      // What multiplies in 16 bits is rounded to them once, and what is stored.
      const double eps = (type == f64 ? 0x1p-40 : type == f32 ? 0x1p-19 : type == f16 ? 0x1p-10 : 0x1p-7);
      ASSERT_EQ(x.size(), y.size()) << what;
      for (std::size_t e = 0; e < x.size(); ++e)
        if (x[e] != y[e]) {
          ASSERT_NEAR(x[e], y[e], eps * largest) << what << ": " << names[i] << " at " << e;
        }
    }
  }
  std::mt19937 engine_{1};
  HostGpu gpu_{false};
};

TEST_F(CudaAttentionOnHost, LengthsAroundTiles) {
  for (const std::int64_t n : {1, 64, 65, 129})
    for (const DType type : {bf16, f32}) {
      if (type == f32 && n % 64 == 0) continue;
      expect_decomposed("square " + std::to_string(n), {.rows = n, .columns = n}, plain, type);
    }
  expect_decomposed("more columns, causal", {.heads = 2, .rows = 64, .columns = 71, .options = {.causal = true}});
  expect_decomposed("fewer columns, causal", {.rows = 150, .columns = 64, .options = {.causal = true}}, plain, f16);
}
TEST_F(CudaAttentionOnHost, DepthsAndWidths) {
  for (const auto& [depth, width] : {std::pair{1, 3}, {33, 70}, {128, 96}, {256, 16}})
    for (const DType type : {bf16, f32})
      expect_decomposed("depth " + std::to_string(depth),
                        {.heads = 2, .groups = 1, .rows = 40, .columns = 50, .depth = depth, .width = width}, plain,
                        type);
}
TEST_F(CudaAttentionOnHost, MasksAndFormulas) {
  Case c{.batch = 2, .heads = 2, .groups = 1, .rows = 70, .columns = 150};
  c.options = {.causal = true, .window = 30};
  expect_decomposed("causal window", c);
  c.options = {.window = 20, .lengths = tensor({0, 100})};
  expect_decomposed("window, lengths", c);
  c.options = {.scale = -0.5};
  expect_decomposed("a negative scale", c);
  c.options = {.causal = true, .lengths = tensor({80, 150})};
  expect_decomposed("formula", c, soft_alibi);
  for (const DType type : {f16, f32, f64}) expect_decomposed("formula", c, soft_alibi, type);
}
/// What formulas for 16 bits leave to the kernel: factors, and lines along the rows or the columns.
TEST_F(CudaAttentionOnHost, FormulasTakenApart) {
  Case c{.batch = 2, .heads = 2, .groups = 1, .rows = 70, .columns = 150};
  for (const Call& call : {Call(alibi), Call(soft_cap), Call(mixed)}) expect_decomposed("a formula", c, call);
  c.options = {.scale = -0.5, .causal = true};
  for (const Call& call : {Call(alibi), Call(mixed)}) expect_decomposed("a negative scale", c, call, f16);
  static const auto seen = Pointwise<>([](auto, auto, auto i, auto j) { return (j <= i) & (i - j < 33); });
  c.options = {.mask = seen};
  for (const Call& call : {Call(alibi), Call(soft_cap), Call(mixed)}) expect_decomposed("a mask", c, call);
}
/// Blocks of a mask, dropout, and columns in parts, against the same request on the CPU in f64.
TEST_F(CudaAttentionOnHost, BlocksDropoutAndParts) {
  const auto here = [&](const Tensor& t) { return gpu_.from(t); };
  const auto same = [](const Tensor& t) { return t; };
  for (const DType type : {bf16, f32, f64}) {
    for (const std::int64_t rows : {200, 1}) {
      const detail::AttentionSizes s{.batch = 1,
                                     .heads = 2,
                                     .groups = 1,
                                     .rows = rows,
                                     .columns = rows == 1 ? 1300 : 210,
                                     .depth = 16,
                                     .width = 20};
      const Tensor q = random(s.of_q(), type), k = random(s.of_k(), type), v = random(s.of_v(), type),
                   grad = random(s.of_result(), type);
      const BlockMask mask = sinks(s.rows, s.columns);
      const detail::FusedAttention on_gpu = masked_call(s, mask, here), on_cpu = masked_call(s, mask, same);
      Tensor rows_here, rows_there;
      const auto call = [&](const detail::FusedAttention& c, const Tensor& a, const Tensor& b, const Tensor& d,
                            Tensor* known) { return rows == 1 ? c.alone(a, b, d, known) : c.forward(a, b, d, known); };
      const Tensor y = call(on_gpu, here(q), here(k), here(v), &rows_here);
      const Tensor z = call(on_cpu, q.to(f64), k.to(f64), v.to(f64), &rows_there);
      std::vector<std::pair<Tensor, Tensor>> pairs{{HostGpu::to_cpu(y), z}};
      if (rows > 1) {
        const auto a = on_gpu.backward(here(q), here(k), here(v), y, rows_here, here(grad));
        const auto b = on_cpu.backward(q.to(f64), k.to(f64), v.to(f64), z, rows_there, grad.to(f64));
        for (std::size_t i = 0; i < 3; ++i) pairs.emplace_back(HostGpu::to_cpu(a[i]), b[i]);
      }
      const double eps = type == f64 ? 0x1p-40 : type == f32 ? 0x1p-19 : 0x1p-7;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::vector<double> got = values(pairs[i].first), want = values(pairs[i].second);
        double largest = 1;
        for (const double e : want) largest = std::max(largest, std::abs(e));
        for (std::size_t e = 0; e < got.size(); ++e)
          ASSERT_NEAR(got[e], want[e], eps * largest)
              << to_string(type) << ", " << rows << " rows: " << i << " at " << e;
      }
    }
  }
}
/// A stretch of columns that begins within a tile of 16-bit floats: what lies beyond its end belongs to the next.
/// Without scores that are far below 0 columns that do not exist would hardly show.
TEST_F(CudaAttentionOnHost, StretchesOfAWindow) {
  for (const std::int64_t window : {1230, 1260}) {
    const Tensor q = gpu_.from(full({1, 1, 1, 16}, -1, bf16)), k = gpu_.from(full({1, 1, 1300, 16}, 1, bf16));
    EXPECT_NEAR(values(HostGpu::to_cpu(attention(q, k, k, {.scale = 1.0, .window = window})))[0], 1, 0x1p-7) << window;
  }
}
TEST_F(CudaAttentionOnHost, LengthsBeyondTheColumns) {
  for (const DType type : {bf16, f32, f64}) {
    const Tensor q = gpu_.from(full({1, 1, 1, 16}, -1, type)), k = gpu_.from(full({1, 1, 100, 16}, 1, type)),
                 length = gpu_.from(tensor({120}, cpu()));
    EXPECT_NEAR(values(HostGpu::to_cpu(attention(q, k, k, {.scale = 1.0, .lengths = length})))[0], 1, 0x1p-7) << type;
  }
}
TEST_F(CudaAttentionOnHost, ScoresOfTenThousand) {
  expect_decomposed("large", {.rows = 40, .columns = 90, .depth = 64, .options = {.scale = 1.0}}, plain, f16, 12);
}

#endif

}  // namespace
}  // namespace tern::test
