// Short rows that end where memory does: kernels read whole vectors of rows, and nothing behind the last one.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "contract/guarded.hpp"
#include "tern/tern.hpp"

namespace tern::contract {
namespace {

class ShortRowsAtPagesEnd : public testing::TestWithParam<DType> {};

TEST_P(ShortRowsAtPagesEnd, AreReducedAndMultiplied) {
  set_default_device(cpu());
  const DType dtype = GetParam();
  for (std::int64_t length = 2; length <= 17; ++length)  // 1027 of them are more than a block
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 1027}) {
      Generator generator(static_cast<std::uint64_t>(length));
      const Tensor values = (rand({rows, length}, generator) * 64 - 32).to(dtype), row = values[0].contiguous();
      const Guarded memory(static_cast<std::size_t>(values.numel()) * dtype_size(dtype));
      const Tensor there = guarded(memory, values);
      const auto same = [&](const Tensor& got, const Tensor& want, const char* what) {
        EXPECT_TRUE(all(got == want).item<bool>()) << what << " of " << rows << " rows of " << length;
      };
      same(sum(there, {-1}), sum(values, {-1}), "sums");
      same(mean(there, {-1}), mean(values, {-1}), "means");
      same(max(there, {-1}), max(values, {-1}), "maxima");
      same(min(there, {-1}), min(values, {-1}), "minima");
      same(argmax(there, -1), argmax(values, -1), "places");
      same(there * row, values * row, "products with a row");
      const Tensor column = values.slice(1, 0, 1).contiguous();
      const Guarded memory_of_column(static_cast<std::size_t>(rows) * dtype_size(dtype));
      same(there * guarded(memory_of_column, column), values * column, "products with a column");
      const auto variance = [](auto u) { return mean(square(u - mean(u))); };
      same(row_formula(variance, there), row_formula(variance, values), "variances");
      const auto normal = [](auto u) { return (u - mean(u)) / (1 + mean(square(u - mean(u)))); };
      same(row_formula(normal, there), row_formula(normal, values), "rows of variance 1");
    }
}
INSTANTIATE_TEST_SUITE_P(, ShortRowsAtPagesEnd, testing::Values(f32, f64, f16, bf16),
                         [](const auto& dtype) { return std::string(to_string(dtype.param)); });

}  // namespace
}  // namespace tern::contract
