// Running sums along lines of a few elements, of which many are summed at once on the CPU, and along few longer ones:
// every length about what is done otherwise, forward and from the end, wherever the lines lie.
#include <cmath>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

Tensor small_integers(const Shape& shape, DType dtype) {
  return round(Random(shape.numel()).tensor(shape, f32, cpu(), -3, 3)).to(dtype);
}
std::vector<double> running_sums_of_lines(const std::vector<double>& x, std::size_t n, bool from_end) {
  std::vector<double> sums = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t at = from_end ? x.size() - 1 - i : i;
    if (i % n > 0) sums[at] += sums[from_end ? at + 1 : at - 1];
  }
  return sums;
}

TEST(ShortLineSumsOnCpu, OfEveryLength) {
  for (const DType dtype : {f32, f64, f16, bf16, i32, i64})
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 127, 129, 600})
      for (const std::int64_t lines : {0, 1, 2, 3, 15, 16, 17, 65, 341, 1001}) {
        if (n > 17 && lines > 3) continue;
        const auto length = static_cast<std::size_t>(n);
        Tensor wide = small_integers({lines, n + 2}, dtype);
        if (is_floating(dtype) && lines > 1)
          wide.slice(0, lines / 2, lines / 2 + 1).slice(1, 1, 2).copy_from(
              full({1, 1}, std::numeric_limits<double>::quiet_NaN(), {.dtype = dtype}));
        const Tensor part = wide.slice(1, 1, n + 1), turned = part.transpose(0, 1).contiguous().transpose(0, 1);
        const std::string what =
            std::to_string(lines) + " lines of " + std::to_string(n) + " " + std::string(to_string(dtype));
        for (const Tensor& x : {part, part.contiguous(), turned}) {
          expect_same(cumsum(x, 1), running_sums_of_lines(doubles(x), length, false), what);
          expect_same(cummax(x, 1).values, doubles(cummax(part.contiguous(), 1).values), what + ", largest");
          if (!is_floating(dtype)) continue;
          const Tensor weights = x;
          expect_same(
              grad([&](const Var& v) { return sum(cumsum(v, 1) * weights); })(zeros({lines, n}, {.dtype = dtype})),
              running_sums_of_lines(doubles(weights), length, true), what + ", from the end");
        }
      }
}

}  // namespace
}  // namespace tern::test
