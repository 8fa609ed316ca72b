// Rows of 1 to 16, which GPUs pass through workgroup memory where no vectors fit them: every dtype, odd counts, offsets
// that are no multiple of a word, weights and numbers of rows beside them, with gradients, beside the CPU.
#include <gtest/gtest.h>

#include <string>

#include "every_device.hpp"

namespace tern::test {
namespace {

class ShortRowsOfGpus : public EveryDevice {
 protected:
  /// The largest difference between a device's values and the CPU's.
  static double apart(const Tensor& ours, const Tensor& wanted) {
    return max(abs(ours.to(cpu()).to(f32) - wanted.to(f32))).item<double>();
  }
};

/// Sums, an extreme and exponentials of a row, and what each column and each row has.
constexpr auto kShortRowFormula = [](auto p, auto weight, auto number) {
  auto m = max(p);
  return exp(p - m) / sqrt(sum(p * p) + 0.5) * weight + number - sum(p) * 0.25;
};

struct ShortRowCase {
  DType dtype;
  std::int64_t length, rows, offset;
  std::string text() const {
    return std::string(to_string(dtype)) + " [" + std::to_string(rows) + ", " + std::to_string(length) + "] from " +
           std::to_string(offset);
  }
};

TEST_P(ShortRowsOfGpus, AreThoseOfTheCpu) {
  if (device() == cpu()) GTEST_SKIP() << "the CPU is what they are compared with";
  Generator generator(7);
  const auto check = [&](const ShortRowCase& c, double tolerance) {
    SCOPED_TRACE(c.text());
    const std::int64_t count = c.rows * c.length;
    const Tensor all = (2 * rand({count + 2}, generator, {.device = cpu()}) - 1).to(c.dtype);
    const Tensor weight = (rand({c.length}, generator, {.device = cpu()}) - 0.5).to(c.dtype);
    const Tensor number = rand({c.rows, 1}, generator, {.device = cpu()}).to(c.dtype);
    const auto view = [&](const Tensor& x) {
      return x.slice(0, c.offset, c.offset + count).reshape({c.rows, c.length});
    };
    const Tensor x = view(all), there = view(all.to(device()));
    const Tensor weight_there = weight.to(device()), number_there = number.to(device());
    EXPECT_LE(apart(row_formula(kShortRowFormula, there, weight_there, number_there),
                    row_formula(kShortRowFormula, x, weight, number)),
              tolerance);
    EXPECT_LE(apart(sum(there, {1}), sum(x, {1})), 8 * tolerance);
    EXPECT_LE(apart(softmax(there), softmax(x)), tolerance);
    const auto gradient = [](const Tensor& at, const Tensor& w, const Tensor& n) {
      const Var v(at);
      return backward(sum(square(row_formula(kShortRowFormula, v, w, n).to(f32))))[v];
    };
    const Tensor wanted = gradient(x, weight, number);
    EXPECT_LE(apart(gradient(there, weight_there, number_there), wanted),
              4 * tolerance * (1 + max(abs(wanted)).item<double>()));
  };
  // A unit of a value up to 8 in the dtype, and of what is computed from it.
  for (const auto& [dtype, tolerance] : {std::pair{f32, 2e-5}, {f16, 4e-3}, {bf16, 3e-2}}) {
    for (const std::int64_t length : {1, 2, 3, 5, 8, 15, 16})
      for (const std::int64_t rows : {1, 258, 1001})
        for (const std::int64_t offset : {0, 1}) check({dtype, length, rows, offset}, tolerance);
    check({dtype, 3, 300'001, 0}, tolerance);  // several rows an invocation
    check({dtype, 2, 400'000, 0}, tolerance);
  }
}

TERN_EVERY_DEVICE(ShortRowsOfGpus);

}  // namespace
}  // namespace tern::test
