// Running sums of lines of every length, number and layout: the CPU takes them a line in each lane, a run of 256
// elements after the other, or a few columns apart from each other.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class RunningSums : public EveryDevice {};
TERN_EVERY_DEVICE(RunningSums);

/// Lines around a run and blocks of it, few and many of them, and columns beside each other.
const Shape kShapes[] = {{1, 5000}, {1, 4096}, {3, 1023},  {2, 1024},  {16, 255}, {17, 257}, {33, 18}, {40, 600},
                         {9, 511},  {5, 17},   {700, 3},   {1500, 5},  {4096, 4}, {300, 15}, {257, 2}, {300, 16},
                         {600, 40}, {31, 32},  {16, 1000}, {5000, 10}, {1, 1},    {300, 1},  {1, 300}};

/// Small whole numbers, of which every dtype's running results are exact.
Tensor whole_numbers(const Shape& shape, DType dtype, Device device) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * i % 11) - 4;
  return tensor(values, shape, supports(device, f64) ? device : cpu()).to(dtype).to(device);
}

/// f(result so far, element) along the axis, from either end.
template <class F> std::vector<double> running(std::vector<double> x, const Shape& s, int axis, bool reverse, F f) {
  const std::int64_t lines = s.numel() / s[static_cast<std::size_t>(axis)], n = s[static_cast<std::size_t>(axis)];
  for (std::int64_t line = 0; line < lines; ++line) {
    const auto at = [&](std::int64_t i) -> double& {
      if (reverse) i = n - 1 - i;
      return x[static_cast<std::size_t>(axis == 1 ? line * n + i : i * lines + line)];
    };
    for (std::int64_t i = 1; i < n; ++i) at(i) = f(at(i - 1), at(i));
  }
  return x;
}

void check(const Shape& shape, int axis, DType dtype, Device device) {
  const Tensor x = whole_numbers(shape, dtype, device);
  const std::vector<double> values = x.to(cpu()).to(f64).to_vector<double>();
  const auto plus = [](double a, double b) { return a + b; };
  const auto greater = [](double a, double b) { return std::max(a, b); };
  const auto of = [](const Tensor& t) { return t.to(cpu()).to(f64).to_vector<double>(); };
  const std::string what = std::string(to_string(dtype)) + " of " + to_string(shape);
  EXPECT_EQ(of(cumsum(x, axis)), running(values, shape, axis, false, plus)) << what;
  EXPECT_EQ(of(cummax(x, axis).values), running(values, shape, axis, false, greater)) << what;
  const Tensor part = whole_numbers({shape[0], shape[1] + 3}, dtype, device).slice(1, 1, shape[1] + 1);
  EXPECT_EQ(of(cumsum(part, axis)), running(of(part), shape, axis, false, plus)) << what << ", a part of longer rows";
  if (!is_floating(dtype)) return;
  const Var v = parameter(x);
  const Tensor gradient = backward(cumsum(v, axis), x)[v];  // a running sum from the end
  EXPECT_EQ(of(gradient), running(values, shape, axis, true, plus)) << what << ", from the end";
}
TEST_P(RunningSums, AreExactOfWholeNumbers) {
  for (const Shape& shape : kShapes)
    for (const DType dtype : {f32, f64, i32, i64, f16})
      if (supports(device(), dtype))
        for (const int axis : {0, 1}) check(shape, axis, dtype, device());
}

/// GPUs take several short lines in a workgroup, of rows and of columns, up to lengths that fill it.
TEST_P(RunningSums, OfShortLinesOfEveryKindAreTheCpus) {
  if (device() == cpu()) return;
  std::vector<std::int64_t> lengths{3, 33};
  if (!in_software(device())) lengths = {1, 2, 3, 4, 5, 8, 9, 17, 63, 64, 65, 128, 129, 513, 1024, 1025};
  const auto same = [&](const Shape& shape, int axis) {
    const Tensor here = (arange(shape.numel(), {.device = cpu()}) * 7919 % 23 - 11).to(f32).reshape(shape) * 0.125,
                 there = here.to(device());
    const std::string at = to_string(shape) + " along " + std::to_string(axis);
    EXPECT_EQ(doubles(cumsum(there, axis)), doubles(cumsum(here, axis))) << at;
    EXPECT_EQ(doubles(cummax(there, axis).values), doubles(cummax(here, axis).values)) << at;
    EXPECT_EQ(doubles(cummax(there, axis).indices), doubles(cummax(here, axis).indices)) << at;
    EXPECT_TRUE(allclose(logcumsumexp(there, axis).to(cpu()), logcumsumexp(here, axis), 1e-5, 1e-5)) << at;
    EXPECT_EQ(doubles(cumsum(flip(there, {axis}), axis)), doubles(cumsum(flip(here, {axis}), axis))) << at;
  };
  for (const std::int64_t n : lengths) {
    same({67, n}, 1), same({n, 300}, 0);
    if (!in_software(device())) same({9, n, 2}, 1), same({n}, 0);
  }
}

/// The order of sums is that of a line, however it lies.
TEST_P(RunningSums, AreTheSameBitsOfRowsAndOfColumns) {
  if (device() != cpu()) return;
  for (const Shape& shape : kShapes) {
    const Tensor x = sin(arange(shape.numel()).to(f32)).reshape(shape), turned = x.T().contiguous();
    const std::vector<float> rows = cumsum(x, 1).to_vector<float>(),
                             columns = cumsum(turned, 0).T().contiguous().to_vector<float>();
    for (std::size_t i = 0; i < rows.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(rows[i]), std::bit_cast<std::uint32_t>(columns[i]))
          << to_string(shape) << " at " << i;
  }
}

}  // namespace
}  // namespace tern::test
