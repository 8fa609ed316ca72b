// Comparisons, which the CPU makes bytes of where their operands lie: every one, of every dtype it is computed in, with
// numbers on either side, at sizes on both sides of a vector and a block, and of what does not lie so.
#include <cmath>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Comparisons : public EveryDevice {};
TERN_EVERY_DEVICE(Comparisons);

template <class F> void expect_each(const std::string& what, const Tensor& got, std::size_t count, F want) {
  ASSERT_EQ(got.dtype(), boolean) << what;
  const std::vector<double> values = doubles(got.to(f32));
  ASSERT_EQ(values.size(), count) << what;
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(values[i], want(i) ? 1 : 0) << what << " at " << i << " of " << count;
}

void check_comparisons(DType dtype, std::int64_t count) {
  const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
  std::vector<double> x, y;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool special = is_floating(dtype) && i % 11 == 3;
    x.push_back(special ? odd[i / 11 % 4] : static_cast<double>(i * 7 % 5)),
        y.push_back(static_cast<double>(i * 3 % 4));
  }
  const std::string what = std::string(to_string(dtype)) + ": ";
  const Tensor a = make(x, {count}, dtype, default_device()), b = make(y, {count}, dtype, default_device());
  const Tensor wide = stack({a, a}, 1), apart = wide.slice(1, 0, 1).squeeze(1);
  const auto n = static_cast<std::size_t>(count);
  const auto all = [&](const char* name, auto f) {
    expect_each(what + name, f(a, b), n, [&](std::size_t i) { return f(x[i], y[i]); });
    expect_each(what + name + " of what lies apart", f(apart, b), n, [&](std::size_t i) { return f(x[i], y[i]); });
    expect_each(what + name + " 2", f(a, 2), n, [&](std::size_t i) { return f(x[i], 2.0); });
    expect_each(what + "1 " + name, f(1, a), n, [&](std::size_t i) { return f(1.0, x[i]); });
  };
  all("<", [](const auto& p, const auto& q) { return p < q; });
  all("<=", [](const auto& p, const auto& q) { return p <= q; });
  all(">", [](const auto& p, const auto& q) { return p > q; });
  all(">=", [](const auto& p, const auto& q) { return p >= q; });
  all("==", [](const auto& p, const auto& q) { return p == q; });
  all("!=", [](const auto& p, const auto& q) { return p != q; });
  if (!is_floating(dtype)) return;
  expect_each(what + "isnan", isnan(a), n, [&](std::size_t i) { return std::isnan(x[i]); });
  expect_each(what + "isinf", isinf(a), n, [&](std::size_t i) { return std::isinf(x[i]); });
  expect_each(what + "isfinite", isfinite(a), n, [&](std::size_t i) { return std::isfinite(x[i]); });
  expect_each(what + "signbit", signbit(b - 1), n, [&](std::size_t i) { return y[i] < 1; });
}

TEST_P(Comparisons, OfEveryDTypeAndSize) {
  for (const DType dtype : dtypes_of(device(), {u8, i16, i32, u32, i64, f16, bf16, f32, f64}))
    for (const std::int64_t count : {1, 7, 16, 17, 63, 130, 1023, 1025, 5000})
      if (!left_out(device(), 3)) check_comparisons(dtype, count);
  if (device() == cpu()) check_comparisons(f32, 600001);
}

}  // namespace
}  // namespace tern::test
