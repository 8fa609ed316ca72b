// Products of few rows with a B of 16 bits, which the CPU reads in place and widens: sizes that fill no vector, rows
// that are not aligned, what lies behind B, and the same bits for any number of threads.
#include <cmath>
#include <cstring>

#include "contract/compare.hpp"
#include "contract/guarded.hpp"

namespace tern::contract {
namespace {

template <class S> class ThinProducts : public testing::Test {};
using Halves = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(ThinProducts, Halves);

/// A row-major matrix of small numbers, `gap` elements between its rows and `offset` before the first.
template <class S>
Tensor gapped_matrix(std::int64_t rows, std::int64_t cols, std::int64_t gap, std::int64_t offset, std::uint64_t seed) {
  std::vector<S> values;
  for (std::int64_t i = 0; i < offset + rows * (cols + gap); ++i)
    values.emplace_back(static_cast<float>(moderate(seed + static_cast<std::uint64_t>(i))));
  return tensor(values, {values.size()}).slice(0, offset, offset + rows * (cols + gap))
      .reshape({rows, cols + gap}).slice(1, 0, cols);
}

/// Against sums in f64, within k roundings of f32 of the sum of magnitudes and one of S.
template <class S>
void expect_half_product(const Tensor& got, const Tensor& a, const Tensor& b, const std::string& what) {
  const std::vector<double> want = matmul(a.to(f64), b.to(f64)).template to_vector<double>();
  const std::vector<double> size = matmul(abs(a.to(f64)), abs(b.to(f64))).template to_vector<double>();
  const std::vector<S> values = got.template to_vector<S>();
  const double unit = std::is_same_v<S, float16> ? 0x1p-11 : 0x1p-8;
  Report report(what);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double allowed = static_cast<double>(a.size(-1)) * 0x1p-24 * size[i] + unit * std::fabs(want[i]) + 0x1p-24;
    if (!(std::fabs(real(values[i]) - want[i]) <= allowed))
      report.add([&] { return std::to_string(i) + ": " + hex(real(values[i])) + ", want " + hex(want[i]); });
  }
}

/// The product by one thread, after the same by others gave the same bits.
template <class S> Tensor product(const Tensor& a, const Tensor& b, const std::string& what) {
  const int before = num_threads();
  set_num_threads(1);
  const Tensor one = matmul(a, b);
  const std::vector<S> bits = one.template to_vector<S>();
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    const std::vector<S> others = matmul(a, b).template to_vector<S>();
    EXPECT_EQ(std::memcmp(bits.data(), others.data(), bits.size() * sizeof(S)), 0)
        << what << ": " << threads << " threads";
  }
  set_num_threads(before);
  return one;
}

TYPED_TEST(ThinProducts, OfEverySize) {
  for (const std::int64_t m : {1, 2, 3, 4, 5, 7, 8, 9})
    for (const std::int64_t k : {1, 2, 5, 33, 130})
      for (const std::int64_t n : {1, 2, 15, 16, 17, 31, 33, 65, 130, 300, 1030}) {
        const std::string what = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
        for (const std::int64_t gap : {0, 3}) {
          const Tensor a = gapped_matrix<TypeParam>(m, k, gap, 0, 1), b = gapped_matrix<TypeParam>(k, n, gap, gap, 2);
          const Tensor y = product<TypeParam>(a, b, what);
          expect_half_product<TypeParam>(y, a, b, what);
          // The epilogue reads the same sums.
          const Tensor finished = matmul_bias_activation(a, b, zeros({n}, b.dtype()), op::identity);
          EXPECT_EQ(y.to(f32).template to_vector<float>(), finished.to(f32).template to_vector<float>()) << what;
        }
        const Tensor turned = gapped_matrix<TypeParam>(k, m, 0, 0, 1).transpose(0, 1),
                     b = gapped_matrix<TypeParam>(k, n, 0, 0, 2);
        expect_half_product<TypeParam>(product<TypeParam>(turned, b, what + " t"), turned, b, what + " t");
      }
}

/// Rows of B of 2 KiB and more are streamed, a tile for each thread, and by tiles of 8192 columns.
TYPED_TEST(ThinProducts, OfLongRows) {
  for (const std::int64_t m : {1, 2, 4, 5, 8})
    for (const std::int64_t n : {1024, 1500, 4096, 8200, 17000}) {
      const std::string what = std::to_string(m) + "x70x" + std::to_string(n);
      const Tensor a = gapped_matrix<TypeParam>(m, 70, 0, 0, 3), b = gapped_matrix<TypeParam>(70, n, 1, 1, 4);
      expect_half_product<TypeParam>(product<TypeParam>(a, b, what), a, b, what);
    }
}

TYPED_TEST(ThinProducts, OfBatches) {
  const Tensor a = gapped_matrix<TypeParam>(6, 40, 0, 0, 5).reshape({3, 2, 40}),
               b = gapped_matrix<TypeParam>(120, 70, 0, 0, 6).reshape({3, 40, 70});
  expect_half_product<TypeParam>(product<TypeParam>(a, b, "batch"), a, b, "batch");
  const Var x(a), shared(b.slice(0, 0, 1).reshape({40, 70}));
  const Tensor grad = gapped_matrix<TypeParam>(6, 70, 0, 0, 7).reshape({3, 2, 70});
  const Gradients g = backward(matmul(x, shared), grad);  // that of the shared operand: a sum over several segments
  expect_half_product<TypeParam>(g[shared], a.reshape({6, 40}).transpose(0, 1), grad.reshape({6, 70}), "shared");
}

TYPED_TEST(ThinProducts, OfNothing) {
  for (const std::int64_t m : {1, 4}) {
    const Tensor y = matmul(zeros({m, 0}, dtype_of<TypeParam>), zeros({0, 1100}, dtype_of<TypeParam>));
    EXPECT_EQ(y.to(f32).template to_vector<float>(), std::vector<float>(static_cast<std::size_t>(m) * 1100, 0.0f));
  }
}

TYPED_TEST(ThinProducts, KeepInfinitiesNaNAndSubnormals) {
  std::vector<TypeParam> values(2 * 40, TypeParam(0.0f));
  values[1] = TypeParam(HUGE_VALF), values[2] = TypeParam(-HUGE_VALF), values[3] = TypeParam(std::nanf(""));
  values[4].bits = 1;
  values[5] = TypeParam(65504.0f), values[40 + 5] = TypeParam(-65504.0f);
  const Tensor b = tensor(values, {2, 40}), a = tensor(std::vector<TypeParam>(2, TypeParam(1.0f)), {1, 2});
  const std::vector<TypeParam> y = product<TypeParam>(a, b, "specials").template to_vector<TypeParam>();
  EXPECT_EQ(real(y[1]), HUGE_VAL);
  EXPECT_EQ(real(y[2]), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(real(y[3])));
  EXPECT_EQ(y[4].bits, 1) << "a subnormal number";
  EXPECT_EQ(real(y[0]), 0);
  EXPECT_EQ(real(y[5]), 0);
}

/// B ends where its memory does: a vector that reached beyond would end the program.
TYPED_TEST(ThinProducts, ReadNothingBehindB) {
  for (const std::int64_t n : {1, 8, 15, 17, 33, 47, 127, 129, 1023, 1025})
    for (const std::int64_t m : {1, 3, 8}) {
      constexpr std::int64_t k = 3;
      const Guarded memory(static_cast<std::size_t>(k * n) * sizeof(TypeParam));
      auto* const data = memory.as<TypeParam>();
      std::fill_n(data, k * n, TypeParam(1.0f));
      const Tensor y = matmul(ones({m, k}, dtype_of<TypeParam>), Tensor::view(data, {k, n}));
      EXPECT_EQ(y.to(f32).template to_vector<float>(), std::vector<float>(static_cast<std::size_t>(m * n), 3.0f))
          << m << " " << n;
    }
}

}  // namespace
}  // namespace tern::contract
