// Epilogues of results of many shapes: whichever way a device takes its tiles' rows and columns, the values are those
// of the passes one by one.
#include <array>
#include <cmath>
#include <functional>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class EpilogueRows : public EveryDevice {};
TERN_EVERY_DEVICE(EpilogueRows);

struct Operands {
  Tensor a, b, row, column, tile;
  Tensor product() const { return matmul(a, b); }
};
Operands operands(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype, Device device, bool views) {
  Random random(static_cast<std::uint64_t>(m * 1000 + n));
  const auto make = [&](const Shape& shape) {
    const Tensor t = random.tensor(shape, dtype, device);
    return views ? strided(t) : t;
  };
  return {make({m, k}), make({k, n}), make({n}), make({m, 1}), make({m, n})};
}

/// One op; one loop; several results, the accumulator among them; an operand of every kind; a coordinate.
void check_epilogues(const Operands& o, const std::function<void(const Tensor&, const Tensor&, const char*)>& same) {
  const Tensor product = o.product();
  same(matmul_epilogue(o.a, o.b, [](auto acc, auto z) { return acc + z; }, o.row), product + o.row, "acc + row");
  same(matmul_epilogue(
           o.a, o.b, [](auto acc, auto z) { return acc * z; }, o.column),
       product * o.column, "acc * column");
  same(matmul_epilogue(
           o.a, o.b, [](auto acc, auto z) { return maximum(z, acc); }, o.tile),
       maximum(o.tile, product), "max(tile, acc)");
  same(matmul_epilogue(o.a, o.b, [](auto acc) { return abs(acc); }), abs(product), "abs(acc)");
  same(matmul_epilogue(
           o.a, o.b, [](auto acc, auto z) { return relu(acc + z); }, o.row),
       relu(product + o.row), "relu(acc + row)");
  const auto [kept, sum] = matmul_epilogue(o.a, o.b, [](auto acc, auto z) { return std::array{acc, acc + z}; }, o.row);
  same(kept, product, "acc, beside acc + row");
  same(sum, product + o.row, "acc + row, beside acc");
  same(matmul_epilogue(
           o.a, o.b, [](auto acc, auto r, auto c, auto t) { return maximum(maximum(acc + r, c), t); }, o.row, o.column,
           o.tile),
       maximum(maximum(product + o.row, o.column), o.tile), "max(acc + row, column, tile)");
  same(matmul_epilogue(o.a, o.b, [](auto acc) { return where(tern::index(acc, -1) % 3 == 0, acc, -acc); }),
       where(arange(0, o.b.size(1), 1, {.dtype = i32, .device = o.a.device()}) % 3 == 0, product, -product),
       "a coordinate");
}

using EpilogueSizes = std::vector<std::array<std::int64_t, 3>>;

/// On a GPU, whose kernels do not take a tile's rows one after the other, a few of them.
template <class F> void for_each_size(Device device, const EpilogueSizes& sizes, const F& f) {
  for (const auto& [m, n, k] : device == cpu() ? sizes : EpilogueSizes{{40, 33, 20}})
    for (const bool views : {false, true}) f(m, n, k, views);
}

TEST_P(EpilogueRows, OfEveryWidthInSinglePrecision) {
  const EpilogueSizes sizes{{3, 31, 8},     {5, 32, 8},    {40, 33, 20},  {64, 100, 30},  {70, 256, 24},
                            {130, 300, 17}, {20, 1100, 9}, {9, 2100, 40}, {200, 65, 1100}};
  for_each_size(device(), sizes, [&](std::int64_t m, std::int64_t n, std::int64_t k, bool views) {
    check_epilogues(operands(m, n, k, f32, device(), views), [&](const Tensor& got, const Tensor& want,
                                                                 const char* what) {
      ASSERT_EQ(got.shape(), want.shape());
      EXPECT_EQ(doubles(got), doubles(want))
          << what << ", " << m << " x " << n << " x " << k << (views ? ", strided" : "");
    });
  });
}
/// Here the passes round the product, and each of themselves.
TEST_P(EpilogueRows, OfEveryWidthInSixteenBits) {
  const EpilogueSizes sizes{{3, 31, 8}, {40, 33, 20}, {64, 100, 40}, {70, 256, 64}, {130, 300, 33}, {20, 1100, 34}};
  for (const DType dtype : {f16, bf16})
    for_each_size(device(), sizes, [&](std::int64_t m, std::int64_t n, std::int64_t k, bool views) {
      if (left_out(device(), 2)) return;
      check_epilogues(operands(m, n, k, dtype, device(), views), [&](const Tensor& got, const Tensor& want,
                                                                     const char* what) {
        ASSERT_EQ(got.dtype(), want.dtype());
        const std::vector<double> x = doubles(got), y = doubles(want);
        // |acc| is below k; two roundings of it and one of the result, and the sum's k roundings in f32.
        const double bound =
            static_cast<double>(k) * (2 * epsilon(dtype) + static_cast<double>(k) * work_epsilon(f32)) + epsilon(dtype);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(x[i], y[i], bound) << what << " at " << i << ", " << m << " x " << n << " x " << k
                                         << (views ? ", strided" : "");
      });
    });
}
/// Formulas that do not read the product: what they give is that of a pass over their operands. On a GPU that is
/// another kernel, whose driver may contract otherwise: two results within an elementary function's budget and a
/// rounding of each.
TEST_P(EpilogueRows, OfOperandsAlone) {
  const int before = num_threads();
  for (const DType dtype : {f16, bf16, f32})
    for_each_size(device(), {{40, 200, 40}, {78, 300, 40}, {3, 33, 1}, {65, 513, 1}, {20, 20, 40}},
                  [&](std::int64_t m, std::int64_t n, std::int64_t k, bool views) {
      const Operands o = operands(m, n, k, dtype, device(), views);
      const auto same = [&](const Tensor& got, const Tensor& want) {
        const std::vector<double> x = doubles(got), y = doubles(want);
        const double bound = device() == cpu() ? 0 : 8 * epsilon(dtype);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_LE(std::abs(x[i] - y[i]), bound * std::abs(y[i]))
              << to_string(dtype) << " " << m << " x " << n << " at " << i;
      };
      for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        const Tensor moved = o.tile + o.row;
        same(matmul_epilogue(o.a, o.b, [](auto, auto z) { return tanh(z); }, o.tile), tanh(o.tile));
        same(matmul_epilogue(
                 o.a, o.b, [](auto, auto x, auto y) { return silu_mul(x, y); }, o.tile, moved),
             silu_mul(o.tile, moved));
      }
    });
  set_num_threads(before);
}
/// Batches of one b are rows of one product; a result may be wider than what a device takes at a time.
TEST_P(EpilogueRows, OfBatches) {
  Random random(4);
  for (const bool shared : {false, true}) {
    const Tensor a = random.tensor({6, 20, 30}, f32, device()),
                 b = random.tensor(shared ? Shape{30, 70} : Shape{6, 30, 70}, f32, device());
    const Tensor row = random.tensor({70}, f32, device()), tile = random.tensor({6, 20, 70}, f32, device());
    const Tensor got = matmul_epilogue(a, b, [](auto acc, auto r, auto t) { return maximum(acc + r, t); }, row, tile);
    EXPECT_EQ(doubles(got), doubles(maximum(matmul(a, b) + row, tile))) << (shared ? "shared" : "of its own");
  }
}

/// Where a kernel's loops are as long as parameters say, Mesa's software compiles it for those: what must be rounded as
/// written was not, and sigmoid(tanh(t)) off by 0.08.
TEST_P(EpilogueRows, FunctionsOfFunctionsAreThoseOfPasses) {
  for (const std::int64_t n : {1, 5, 31, 128}) {
    const Operands o = operands(15, n, 129, f32, default_device(), false);
    const Tensor column = tanh(o.column), product = o.product();
    const auto apart = [](const Tensor& x, const Tensor& y) { return max(abs(x - y)).item<double>(); };
    const Tensor sigmoids = matmul_epilogue(o.a, o.b, [](auto, auto t) { return sigmoid(tanh(t)); }, o.column),
                 gelus = matmul_epilogue(o.a, o.b, [](auto acc, auto t) { return acc + gelu(tanh(t)); }, o.column);
    EXPECT_LE(apart(sigmoids, expand(sigmoid(column), {15, n})), 1e-6) << n;
    EXPECT_LE(apart(gelus, product + gelu(column)), 1e-4) << n;  // sums of 129
  }
}

}  // namespace
}  // namespace tern::test
