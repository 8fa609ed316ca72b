// Many products of small matrices: every small size, batches that are whole, shared, transposed or strided, and
// epilogues. Small whole numbers, whose sums are exact, beside plain loops in f64; what 16 bits round, they round
// alike.
#include <functional>
#include <string>

#include "every_device.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class SmallProducts : public EveryDevice {};
TERN_EVERY_DEVICE(SmallProducts);

constexpr std::int64_t kBatches = 523;  // no multiple of a workgroup

Tensor wholes_in_steps(const Shape& shape, DType dtype, std::int64_t step = 7) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<std::int64_t>(i) * step % 11 - 5);
  return tensor(values, shape, cpu()).to(dtype).to(default_device());
}
/// a[batch, m, k] · b[batch, k, n] and what `finish` makes of each sum, in f64, then rounded to the dtype.
using Finish = std::function<double(double sum, std::int64_t batch, std::int64_t row, std::int64_t column)>;
std::vector<double> expected_products(const Tensor& a, const Tensor& b, DType dtype, const Finish& finish = {}) {
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  const std::int64_t batches = std::max(a.numel() / (m * k), b.numel() / (k * n));
  const std::vector<double> x = doubles(a), y = doubles(b);
  const bool one_a = a.numel() == m * k, one_b = b.numel() == k * n;
  std::vector<double> sums;
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += x[static_cast<std::size_t>(((one_a ? 0 : batch) * m + i) * k + l)] *
                 y[static_cast<std::size_t>(((one_b ? 0 : batch) * k + l) * n + j)];
        sums.push_back(finish ? finish(sum, batch, i, j) : sum);
      }
  const std::int64_t count = static_cast<std::int64_t>(sums.size());
  std::vector<float> narrow(sums.begin(), sums.end());
  return doubles(tensor(narrow, {count}, cpu()).to(dtype));
}
struct Size { std::int64_t m, k, n; };
const Size kSmallSizes[] = {{2, 2, 2},   {3, 3, 1},    {1, 3, 3},  {3, 3, 3},  {4, 4, 2}, {4, 4, 4},
                            {5, 7, 3},   {2, 1, 5},    {6, 8, 6},  {7, 16, 9}, {1, 2, 1}, {8, 8, 8},
                            {1, 16, 16}, {16, 16, 16}, {9, 17, 4}, {4, 4, 17}};
std::string name_of_size(const Size& s, DType dtype) {
  const std::string size = std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n);
  return size + " " + std::string(to_string(dtype));
}
std::vector<DType> dtypes(Device device) {
  std::vector<DType> list = all_floats(device);
  list.push_back(i32);
  return list;
}
/// Of all sizes, those of a dtype: GPUs compile a kernel for each, and each layout, so those of f32 alone are all
/// there, in software a seventh.
std::vector<Size> sizes_of(DType dtype, Device device) {
  const std::size_t step = device == cpu() || full_test() ? 1 : (dtype == f32 ? 1 : 4) * (in_software(device) ? 7 : 1);
  std::vector<Size> list;
  for (std::size_t i = step == 1 ? 0 : 1; i < std::size(kSmallSizes); i += step) list.push_back(kSmallSizes[i]);
  return list;
}
/// The same elements, stored as the transposed matrices.
Tensor stored_transposed(const Tensor& x) { return x.transpose(-1, -2).contiguous().transpose(-1, -2); }
/// The same elements, every other one of a larger tensor along the last axis, behind one element.
Tensor spread_out(const Tensor& x) {
  Tensor wide = zeros({x.size(0), x.size(1), 2 * x.size(2) + 1}, {.dtype = x.dtype()});
  Tensor view = wide.slice(2, 1, 2 * x.size(2) + 1, 2);
  view.copy_from(x);
  return view;
}

TEST_P(SmallProducts, OfEverySizeAndLayout) {
  for (const DType dtype : dtypes(device()))
    for (const Size& s : sizes_of(dtype, device())) {
      const Tensor a = wholes_in_steps({kBatches, s.m, s.k}, dtype),
                   b = wholes_in_steps({kBatches, s.k, s.n}, dtype, 3);
      const std::vector<double> want = expected_products(a, b, dtype);
      const std::string name = name_of_size(s, dtype);
      EXPECT_EQ(doubles(matmul(a, b)), want) << name;
      EXPECT_EQ(doubles(matmul(stored_transposed(a), b)), want) << name << ", a transposed";
      EXPECT_EQ(doubles(matmul(a, stored_transposed(b))), want) << name << ", b transposed";
      EXPECT_EQ(doubles(matmul(spread_out(a), spread_out(b))), want) << name << ", spread";
    }
}
TEST_P(SmallProducts, WithSharedSides) {
  for (const DType dtype : dtypes(device()))
    for (const Size& s : sizes_of(dtype, device())) {
      const Tensor a = wholes_in_steps({kBatches, s.m, s.k}, dtype),
                   b = wholes_in_steps({kBatches, s.k, s.n}, dtype, 3);
      const Tensor one_a = a[5], one_b = b[7];
      const std::string name = name_of_size(s, dtype);
      EXPECT_EQ(doubles(matmul(a, one_b)), expected_products(a, one_b, dtype)) << name << ", b shared";
      EXPECT_EQ(doubles(matmul(one_a, b)), expected_products(one_a, b, dtype)) << name << ", a shared";
      EXPECT_EQ(doubles(matmul(a, one_b.transpose(0, 1).contiguous().transpose(0, 1))),
                expected_products(a, one_b, dtype))
          << name << ", b shared and transposed";
      const Tensor rows = a.slice(0, 0, kBatches, 2), columns = b.slice(0, 1, kBatches, 2);
      const Tensor few = rows.slice(0, 0, columns.size(0));
      EXPECT_EQ(doubles(matmul(few, columns)), expected_products(few.contiguous(), columns.contiguous(), dtype))
          << name << ", every other batch";
    }
}
/// Of few results a product, whose operands lie too far apart for many to be one vector: nothing may be stored behind
/// what a thread computes, where another's results lie, or nobody's memory.
TEST_P(SmallProducts, OfLessThanHalfAVectorStayInTheirPlace) {
  const bool races = device() == cpu();  // the more often, the surer: one of five calls was wrong
  const std::int64_t count = races ? 20'000 : 600;
  for (const DType dtype : all_floats(device()))
    for (const Size& s : {Size{1, 5, 2}, Size{1, 5, 1}, Size{1, 3, 3}}) {
      const Tensor a = wholes_in_steps({count, s.m, s.k}, dtype), b = wholes_in_steps({count, s.k, s.n}, dtype, 3);
      const std::vector<double> want = expected_products(a, b, dtype);
      for (int call = 0; call < (races ? 6 : 1); ++call)
        ASSERT_TRUE(doubles(matmul(a, b)) == want) << name_of_size(s, dtype) << ", call " << call;
      const Tensor points = wholes_in_steps({count, 50}, dtype).slice(1, 0, s.k), turn = b[0];
      const std::vector<double> turned = expected_products(points.contiguous().reshape({count, 1, s.k}), turn, dtype);
      for (int call = 0; call < (races ? 6 : 1); ++call)
        ASSERT_TRUE(doubles(matmul(points, turn)) == turned) << name_of_size(s, dtype) << " of points, call " << call;
    }
}
TEST_P(SmallProducts, OverSeveralBatchAxes) {
  const Tensor a = wholes_in_steps({37, 5, 4, 3, 3}, f32).permute({1, 0, 2, 3, 4}),
               b = wholes_in_steps({37, 4, 3, 2}, f32, 3);
  const Tensor whole_b = b.unsqueeze(0).broadcast_to({5, 37, 4, 3, 2});
  const Tensor each_a = a.contiguous().reshape({-1, 3, 3}), each_b = whole_b.contiguous().reshape({-1, 3, 2});
  EXPECT_EQ(doubles(matmul(a, b)), expected_products(each_a, each_b, f32));
}
TEST_P(SmallProducts, WithEpilogues) {
  for (const DType dtype : all_floats(device()))
    for (const Size& s : sizes_of(dtype, device())) {
      const Tensor a = wholes_in_steps({kBatches, s.m, s.k}, dtype),
                   b = wholes_in_steps({kBatches, s.k, s.n}, dtype, 3);
      const Tensor bias = wholes_in_steps({s.n}, dtype), skip = wholes_in_steps({kBatches, s.m, s.n}, dtype, 5);
      const std::vector<double> w = doubles(bias), r = doubles(skip);
      const Finish finish = [&](double sum, std::int64_t batch, std::int64_t row, std::int64_t column) {
        return std::max(sum + w[static_cast<std::size_t>(column)], 0.0) +
               r[static_cast<std::size_t>((batch * s.m + row) * s.n + column)];
      };
      const auto formula = [](auto acc, auto one, auto other) { return relu(acc + one) + other; };
      const Tensor got = matmul_epilogue(a, b, formula, bias, skip);
      EXPECT_EQ(doubles(got), expected_products(a, b, dtype, finish)) << name_of_size(s, dtype);
    }
}
TEST_P(SmallProducts, GradientsAreThoseOfTheCpu) {
  for (const Size& s : sizes_of(f16, device())) {
    const auto gradients = [&](Device where) {
      set_default_device(where);
      const Var a(wholes_in_steps({kBatches, s.m, s.k}, f32)), b(wholes_in_steps({kBatches, s.k, s.n}, f32, 3));
      const Var shared(wholes_in_steps({s.k, s.n}, f32));
      const Gradients g = backward(matmul(a, b) + matmul(a, shared), wholes_in_steps({kBatches, s.m, s.n}, f32, 5));
      return std::vector{doubles(g[a]), doubles(g[b]), doubles(g[shared])};
    };
    const auto want = gradients(cpu()), got = gradients(device());
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[i], want[i]) << name_of_size(s, f32) << ", input " << i;
  }
}
/// GPUs take the kernel for such products up to 16 columns and a k of 16, and from 512 rows on.
TEST_P(SmallProducts, HaveAKernelOfTheirOwn) {
  if (device() == cpu()) GTEST_SKIP();
  const auto takes = [&](const Shape& a, const Shape& b, DType dtype = f32) {
    const Tensor x = wholes_in_steps(a, dtype), y = wholes_in_steps(b, dtype);
    const std::string text = explain([&] { (void)matmul(x, y); });
    return text.find("an invocation") != std::string::npos && text.find("a row of") != std::string::npos;
  };
  for (const DType dtype : dtypes(device())) EXPECT_TRUE(takes({128, 4, 4}, {128, 4, 4}, dtype)) << to_string(dtype);
  EXPECT_FALSE(takes({127, 4, 4}, {127, 4, 4}));
  EXPECT_TRUE(takes({512, 16}, {16, 16}));
  EXPECT_FALSE(takes({512, 17}, {17, 16}));
  EXPECT_FALSE(takes({512, 16}, {16, 17}));
}

}  // namespace
}  // namespace tern::test
