// Pointwise operations whose operands are rows of larger ones, or one row for all: the values are those of whole
// operands.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class ElementwiseRows : public EveryDevice {};
TERN_EVERY_DEVICE(ElementwiseRows);

/// One op, one loop, and more than one loop.
std::vector<std::pair<const char*, Tensor (*)(const Tensor&, const Tensor&)>> formulas() {
  return {{"add", [](const Tensor& x, const Tensor& y) { return x + y; }},
          {"maximum", [](const Tensor& x, const Tensor& y) { return maximum(x, y); }},
          {"less", [](const Tensor& x, const Tensor& y) { return x < y; }},
          {"silu_mul", [](const Tensor& x, const Tensor& y) { return silu_mul(x, y); }},
          {"a formula", [](const Tensor& x, const Tensor& y) {
             static constexpr Pointwise f{"several", [](auto a, auto b) { return abs(a) - maximum(a, b) * b; }};
             return f(x, y);
           }}};
}

void expect_like_whole(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  const std::vector<double> x = doubles(got), y = doubles(want);
  // Two texts of WGSL may round a product and a sum once here and twice there; of 16 bits that can tip a rounding.
  const double bound = got.device().kind() == DeviceKind::webgpu ? epsilon(got.dtype()) : 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(std::fabs(x[i] - y[i]), bound * std::max(1.0, std::fabs(y[i]))) << what << " at " << i;
}

/// A row for all, parts of matrices, both, a column and one number.
void check_rows_of_larger(std::int64_t rows, std::int64_t cols, DType dtype, Device device) {
  Random random(static_cast<std::uint64_t>(rows * 10000 + cols));
  const Shape shape{rows, cols};
  const Tensor x = random.tensor(shape, dtype, device);
  const Tensor row = random.tensor({cols}, dtype, device), column = random.tensor({rows, 1}, dtype, device),
               number = random.tensor({}, dtype, device);
  const Tensor parts = strided(x), part_of_row = strided(row);
  for (const auto& [name, f] : formulas()) {
    const std::string what = std::string(name) + " of " + std::to_string(rows) + " x " + std::to_string(cols) + " " +
                             std::string(to_string(dtype));
    for (const Tensor& y : {row, part_of_row, column, number}) {
      const Tensor whole = y.broadcast_to(shape).contiguous();
      expect_like_whole(f(x, y), f(x, whole), what + ", " + to_string(y.shape()));
      expect_like_whole(f(y, x), f(whole, x), what + ", the other way round, " + to_string(y.shape()));
      expect_like_whole(f(parts, y), f(x, whole), what + ", parts, " + to_string(y.shape()));
    }
    expect_like_whole(f(parts, x), f(x, x), what + ", parts");
  }
}

TEST_P(ElementwiseRows, HaveTheValuesOfWholeOperands) {
  using Sizes = std::vector<std::array<std::int64_t, 2>>;
  const Sizes every{{1, 40},   {2, 31},    {3, 32},   {65, 33},   {257, 32},
                    {9, 1000}, {17, 1024}, {9, 1025}, {65, 1000}, {100, 100}};
  for (const DType dtype : all_floats(device()))
    for (const auto& [rows, cols] : device() == cpu() ? every : Sizes{{65, 33}})
      check_rows_of_larger(rows, cols, dtype, device());
}
/// Of what repeats along short rows: its position and a number are not copies of it.
TEST_P(ElementwiseRows, PositionsAndNumbersOfWhatRepeats) {
  for (const std::int64_t columns : {2, 4, 6}) {
    const Tensor x = full({3000, 1}, 7, {.dtype = i32, .device = device()}).broadcast_to({3000, columns});
    const Tensor y = full({3000, 1}, 7, {.dtype = f32, .device = device()}).broadcast_to({3000, columns});
    static constexpr Pointwise position{"position", [](auto v) { return index(v, 1); }};
    static constexpr Pointwise number{"number", [](Expr) { return cast(Expr(2.0F), DType::f32); }};
    const std::vector<double> at = doubles(position(x)), two = doubles(number(y));
    for (std::size_t i = 0; i < at.size(); ++i) {
      ASSERT_EQ(at[i], static_cast<double>(i % static_cast<std::size_t>(columns))) << i;
      ASSERT_EQ(two[i], 2) << i;
    }
  }
}
/// Results that are parts of a matrix, too: what lies between them stays.
TEST_P(ElementwiseRows, WriteOnlyTheirOwn) {
  for (const DType dtype : all_floats(device()))
    for (const std::int64_t cols : {33, 100, 1000}) {
      Random random(7);
      Tensor around = full({20, cols + 7}, 5, {.dtype = dtype, .device = device()});
      Tensor part = around.slice(1, 3, 3 + cols);
      const Tensor x = random.tensor({20, cols}, dtype, device()), row = random.tensor({cols}, dtype, device());
      part.copy_from(x);
      part += row;
      expect_like_whole(part, x + row, "in place");
      expect_like_whole(around.slice(1, 0, 3), full({20, 3}, 5, {.dtype = dtype, .device = device()}), "before");
      expect_like_whole(around.slice(1, 3 + cols, cols + 7), full({20, 4}, 5, {.dtype = dtype, .device = device()}),
                        "behind");
    }
}
/// Batches of rows, each with one of its own: runs of rows end where a batch does.
TEST_P(ElementwiseRows, OfBatches) {
  Random random(11);
  for (const DType dtype : all_floats(device())) {
    const Tensor x = random.tensor({5, 7, 40}, dtype, device()), row = random.tensor({5, 1, 40}, dtype, device()),
                 last = random.tensor({7, 40}, dtype, device());
    for (const auto& [name, f] : formulas()) {
      expect_like_whole(f(x, row), f(x, row.broadcast_to({5, 7, 40}).contiguous()),
                        std::string(name) + ", a row a batch");
      expect_like_whole(f(last, x), f(last.broadcast_to({5, 7, 40}).contiguous(), x),
                        std::string(name) + ", a matrix for all");
      expect_like_whole(f(x.transpose(0, 1), last.unsqueeze(1)),
                        f(x.transpose(0, 1).contiguous(), last.unsqueeze(1).broadcast_to({7, 5, 40}).contiguous()),
                        std::string(name) + ", transposed batches");
    }
  }
}

}  // namespace
}  // namespace tern::test
