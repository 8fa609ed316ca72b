// Running sums and sorts of lines far longer than a workgroup, a block of the cache or a segment of a scan.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class LongLines : public EveryDevice {};
TERN_EVERY_DEVICE(LongLines);

/// Whole numbers that look random, below `bound` in magnitude.
std::vector<std::int32_t> numbers_below(std::int64_t count, std::int32_t bound) {
  std::vector<std::int32_t> list(static_cast<std::size_t>(count));
  std::uint32_t state = 12345;
  for (std::int32_t& x : list) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<std::int32_t>(state >> 8) % bound;
    if (state & 128u) x = -x;
  }
  return list;
}
/// What adding in order gives, modulo 2^32.
std::vector<std::int32_t> running_sums(const std::vector<std::int32_t>& x, bool reverse = false) {
  std::vector<std::int32_t> sums(x.size());
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t at = reverse ? x.size() - 1 - i : i;
    sum += static_cast<std::uint32_t>(x[at]);
    sums[at] = static_cast<std::int32_t>(sum);
  }
  return sums;
}

TEST_P(LongLines, RunningSumsOfIntegersAreExact) {
  for (const std::int64_t n : {16384, 16385, 24577, (1 << 22) - 3, 1 << 22, (1 << 22) + 300}) {
    const std::vector<std::int32_t> x = numbers_below(n, 2000000000);  // overflows over and over
    ASSERT_TRUE(cumsum(tensor(x), 0).to_vector<std::int32_t>() == running_sums(x)) << n;
  }
}
/// Numbers whose sums f32 holds exactly: every order of additions gives the same.
TEST_P(LongLines, RunningSumsBothWays) {
  const std::int64_t n = (1 << 22) + (device() == cpu() ? 1037 : 0);  // runs that begin with no line of memory
  const std::vector<std::int32_t> x = numbers_below(n, 4), forward = running_sums(x),
                                  backward_sums = running_sums(x, true);
  const Var v(tensor(x).to(f32));
  const Var y = cumsum(v, 0);
  EXPECT_TRUE(y.value().to_vector<float>() == std::vector<float>(forward.begin(), forward.end()));
  const Tensor gradient = backward(y, tensor(x).to(f32))[v];  // sums from the other end
  EXPECT_TRUE(gradient.to_vector<float>() == std::vector<float>(backward_sums.begin(), backward_sums.end()));
}
TEST_P(LongLines, SeveralLinesStridedAndOfEveryDtype) {
  const std::int64_t n = 40000;
  const std::vector<std::int32_t> x = numbers_below(3 * n, 2);  // -1, 0 and 1: sums that 16 bits hold
  std::vector<std::int32_t> want(x.size());
  for (std::size_t c = 0; c < 3; ++c) {
    std::int32_t sum = 0;
    for (std::size_t i = c; i < x.size(); i += 3) want[i] = sum += x[i];
  }
  const auto [low, high] = std::minmax_element(want.begin(), want.end());
  ASSERT_GT(*low, -2048);
  ASSERT_LT(*high, 2048);
  for (const DType dtype : {f32, f16, i8, i16, i32}) {
    const Tensor columns = tensor(x, {n, 3}).to(dtype), rows = columns.transpose(0, 1).contiguous();
    EXPECT_TRUE(cumsum(columns, 0).to(i32).to_vector<std::int32_t>() == want) << to_string(dtype);
    EXPECT_TRUE(cumsum(rows, 1).transpose(0, 1).to(i32).contiguous().to_vector<std::int32_t>() == want)
        << to_string(dtype);
    EXPECT_TRUE(cumsum(columns.transpose(0, 1), 1).transpose(0, 1).to(i32).contiguous().to_vector<std::int32_t>() ==
                want)
        << to_string(dtype);
  }
}
/// Lines that are columns, of which GPUs take 32 a workgroup, and their gradients, which run backwards.
TEST_P(LongLines, ManyColumns) {
  for (const Shape& shape : {Shape{1, 2048}, Shape{7, 2050}, Shape{64, 2048}, Shape{65, 2101}, Shape{200, 2090},
                             Shape{2, 130, 1100}, Shape{3, 70, 7, 100}}) {
    const auto outer = static_cast<std::size_t>(shape[0]), n = static_cast<std::size_t>(shape[1]);
    const bool batched = shape.rank() > 2;
    const int axis = batched ? 1 : 0;
    const std::size_t length = batched ? n : outer, lines = static_cast<std::size_t>(shape.numel()) / length,
                      inner = batched ? lines / outer : lines;
    const std::vector<std::int32_t> x = numbers_below(shape.numel(), 3);
    std::vector<std::int32_t> want(x.size()), back(x.size());
    for (std::size_t line = 0; line < lines; ++line) {
      const std::size_t first = line / inner * length * inner + line % inner;
      std::int32_t sum = 0, rest = 0;
      for (std::size_t i = 0; i < length; ++i) want[first + i * inner] = sum += x[first + i * inner];
      for (std::size_t i = length; i-- > 0;) back[first + i * inner] = rest += x[first + i * inner];
    }
    for (const DType dtype : {f32, bf16, i16, i32}) {
      const Tensor t = tensor(x, shape).to(dtype);
      EXPECT_TRUE(cumsum(t, axis).to(i32).to_vector<std::int32_t>() == want) << to_string(shape) << to_string(dtype);
      if (!is_floating(dtype)) continue;
      const Var v(t);
      EXPECT_TRUE(backward(cumsum(v, axis), t)[v].to(i32).to_vector<std::int32_t>() == back)
          << to_string(shape) << to_string(dtype);
    }
  }
}
/// Bits depend on the shape alone.
TEST_P(LongLines, RunningSumsHaveTheSameBitsEveryTime) {
  const Tensor x = randn({1 << 20}, Generator(3));
  const std::vector<float> first = cumsum(x, 0).to_vector<float>();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(cumsum(x.clone(), 0).to_vector<float>() == first);
  if (device() == cpu()) return;  // it adds in order
  double sum = 0, largest = 0;
  const std::vector<float> values = x.to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i], largest = std::max(largest, std::abs(sum));
    // At most 32 additions of an invocation, a tree of 8 levels, and as much for the 128 sums of segments and within
    // one.
    ASSERT_NEAR(first[i], sum, 128 * work_epsilon(f32) * (largest + 1)) << i;
  }
}
TEST_P(LongLines, SortsAreStable) {
  const std::int64_t n = (1 << 18) + 7;
  const std::vector<std::int32_t> x = numbers_below(n, 50);
  std::vector<std::int32_t> order(x.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return x[static_cast<std::size_t>(a)] < x[static_cast<std::size_t>(b)];
  });
  EXPECT_TRUE(sort(tensor(x), 0).indices.to_vector<std::int32_t>() == order);
}

}  // namespace
}  // namespace tern::test
