// Products of bf16 on the CPU (AMX, vdpbf16ps or f32 kernels, whichever runs here): every layout, sizes that fill no
// tile, batches that share an operand, and the same bits for any number of threads.
#include <cmath>
#include <cstring>

#include "contract/compare.hpp"

namespace tern::contract {
namespace {

struct Problem {
  std::int64_t batch, m, k, n;
  bool transposed_a, transposed_b, shared_b;
  std::int64_t padding;  // elements between the rows of a and b
};

std::vector<Problem> problems() {
  std::vector<Problem> list;
  const std::int64_t sizes[][3] = {{8, 32, 16},     {9, 33, 17},    {64, 784, 256}, {33, 515, 129},  {300, 64, 1100},
                                   {513, 1030, 40}, {40, 4700, 70}, {48, 544, 96},  {1040, 4160, 33}};
  for (const auto& s : sizes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const std::int64_t padding : {0, 3}) list.push_back({1, s[0], s[1], s[2], ta, tb, false, padding});
  list.push_back({5, 40, 65, 48, false, false, false, 0});
  list.push_back({5, 40, 65, 48, false, true, true, 1});
  return list;
}

/// [batch, rows, cols] of small bf16 numbers; rows (of the transposed matrix, where it is stored so) `padding` apart.
Tensor stored_matrix(std::int64_t batch, std::int64_t rows, std::int64_t cols, bool transposed, std::int64_t padding,
                     std::uint64_t seed) {
  const std::int64_t outer = transposed ? cols : rows, inner = transposed ? rows : cols;
  std::vector<bfloat16> values;
  for (std::int64_t i = 0; i < batch * outer * (inner + padding); ++i)
    values.emplace_back(static_cast<float>(moderate(seed + static_cast<std::uint64_t>(i))));
  const Tensor all = tensor(values, {batch, outer, inner + padding}).slice(2, 0, inner);
  return transposed ? all.transpose(1, 2) : all;
}

/// Against sums in f64, within k roundings of f32 of the sum of magnitudes and one of bf16.
void expect_bf16_product(const Tensor& got, const Tensor& a, const Tensor& b, const std::string& what) {
  const Tensor wide = matmul(a.to(f64), b.to(f64)), magnitude = matmul(abs(a.to(f64)), abs(b.to(f64)));
  const std::vector<double> want = wide.to_vector<double>(), size = magnitude.to_vector<double>();
  const std::vector<bfloat16> values = got.to_vector<bfloat16>();
  Report report(what);
  const double k = static_cast<double>(a.size(-1));
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double allowed = k * 0x1p-24 * size[i] + 0x1p-8 * std::fabs(want[i]) + 0x1p-133;
    if (!(std::fabs(real(values[i]) - want[i]) <= allowed))
      report.add([&] { return std::to_string(i) + ": " + hex(real(values[i])) + ", want " + hex(want[i]); });
  }
}

TEST(Pairs, MultiplyInEveryLayout) {
  for (const Problem& p : problems()) {
    const Tensor a = stored_matrix(p.batch, p.m, p.k, p.transposed_a, p.padding, 1);
    const Tensor b = stored_matrix(p.shared_b ? 1 : p.batch, p.k, p.n, p.transposed_b, p.padding, 2);
    const std::string what = std::to_string(p.batch) + " x " + std::to_string(p.m) + "x" + std::to_string(p.k) + "x" +
                             std::to_string(p.n) + (p.transposed_a ? " t" : " n") + (p.transposed_b ? "t" : "n") +
                             (p.padding ? " padded" : "") + (p.shared_b ? " shared" : "");
    const int threads = num_threads();
    set_num_threads(1);
    const Tensor one = matmul(a, b);
    set_num_threads(3);
    const Tensor three = matmul(a, b);
    set_num_threads(threads);
    expect_bf16_product(one, a, b, what);
    const std::vector<bfloat16> x = one.to_vector<bfloat16>(), y = three.to_vector<bfloat16>();
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(bfloat16)), 0) << what << ": other bits with 3 threads";
    // An epilogue reads the sums in f32, a plain product rounds them as they leave the kernel.
    const Tensor finished = matmul_bias_activation(a, b, zeros({p.n}, bf16), op::identity);
    EXPECT_EQ(one.to(f32).to_vector<float>(), finished.to(f32).to_vector<float>())
        << what << ": the epilogue has read other sums";
  }
}

/// The gradient of a shared operand sums over the batch: one product over several segments.
TEST(Pairs, SumOverABatch) {
  struct Size {
    std::int64_t batch, m, k, n;
  };
  for (const auto& [batch, m, k, n] : {Size{6, 40, 33, 48}, Size{3, 700, 40, 64}, Size{20, 530, 32, 48}}) {
    const Tensor a = stored_matrix(batch, m, k, false, 0, 3), b = stored_matrix(1, k, n, false, 0, 4).reshape({k, n});
    const Tensor grad = stored_matrix(batch, m, n, false, 1, 5);
    const Var x(a), w(b);
    const Gradients g = backward(matmul(x, w), grad);
    expect_bf16_product(g[x], grad, b.transpose(0, 1).broadcast_to({batch, n, k}), "gradient of a");
    const Tensor rows = a.reshape({batch * m, k}).transpose(0, 1), columns = grad.clone().reshape({batch * m, n});
    expect_bf16_product(g[w], rows, columns, "gradient of the shared operand");
  }
}

TEST(Pairs, KeepInfinitiesAndNaN) {
  Tensor a = full({16, 64}, 1.0, bf16), b = full({64, 32}, 1.0, bf16);
  std::vector<bfloat16> values = a.to_vector<bfloat16>();
  values[3] = bfloat16(HUGE_VALF), values[64] = bfloat16(std::nanf(""));
  const std::vector<bfloat16> y = matmul(tensor(values, {16, 64}), b).to_vector<bfloat16>();
  EXPECT_EQ(real(y[0]), HUGE_VAL);
  EXPECT_TRUE(std::isnan(real(y[32])));
  EXPECT_EQ(real(y[64]), 64);
  std::uint16_t bits = 0;
  std::memcpy(&bits, &y[32], sizeof bits);
  EXPECT_EQ(bits, 0x7fc0) << "the one NaN that every store gives";
}

}  // namespace
}  // namespace tern::contract
