// Arithmetic of integers of 8 and 16 bits, which the CPU computes as they lie in memory where it can: every value of
// u8 and i8 with every other, sizes on both sides of a block, numbers, in place.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "every_device.hpp"

namespace tern {
namespace {

class NarrowIntegers : public test::EveryDevice {};

template <class M> void check_pairs(DType dtype, const Device& device, std::int64_t count) {
  std::vector<std::int32_t> x(static_cast<std::size_t>(count)), y = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<M>(i * 257 + i / 256), y[i] = static_cast<M>(i / 256 * 259 + 3);
  }
  const Tensor a = tensor(x).to(dtype).to(device), b = tensor(y).to(dtype).to(device);
  const auto expect = [&](const char* op, const Tensor& got, auto f) {
    ASSERT_EQ(got.dtype(), dtype) << op;
    const auto values = got.to(cpu()).to(i32).to_vector<std::int32_t>();
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(values[i], static_cast<M>(f(x[i], y[i]))) << op << " of " << x[i] << " and " << y[i];
  };
  expect("+", a + b, [](int p, int q) { return p + q; });
  expect("-", a - b, [](int p, int q) { return p - q; });
  expect("*", a * b, [](int p, int q) { return p * q; });
  expect("maximum", maximum(a, b), [](int p, int q) { return std::max(p, q); });
  expect("minimum", minimum(a, b), [](int p, int q) { return std::min(p, q); });
  expect("+ 100", a + 100, [](int p, int) { return p + 100; });
  expect("7 -", 7 - a, [](int p, int) { return 7 - p; });
  expect("* 3", a * 3, [](int p, int) { return p * 3; });
  expect("maximum of 100", maximum(a, 100), [](int p, int) { return std::max(p, 100); });
  Tensor c = a.clone();
  c += b;
  expect("+=", c, [](int p, int q) { return p + q; });
  c *= 5;
  expect("*= 5", c, [](int p, int q) { return (p + q) * 5; });
}

TEST_P(NarrowIntegers, ArithmeticWrapsWhereverItIsComputed) {
  for (const std::int64_t count : {1, 7, 1024, 2047, 65536, 300001}) {
    check_pairs<std::uint8_t>(u8, device(), count);
    check_pairs<std::int8_t>(i8, device(), count);
    check_pairs<std::int16_t>(i16, device(), count);
  }
}
TERN_EVERY_DEVICE(NarrowIntegers);

}  // namespace
}  // namespace tern
