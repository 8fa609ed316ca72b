// Calls whose operands are tensors of one shape without gaps, and numbers: the CPU runs them without a request from the
// second call on (primitives/fused/operation_direct.hpp). Each is made several times, and beside operands that lie
// otherwise, which no such call takes; and what is almost such a call is refused, copied or recorded as ever.
#include <functional>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class AlikeOperands : public EveryDevice {
 protected:
  /// The same elements two apart.
  static Tensor apart(const Tensor& x) { return stack({x, x}, -1).slice(-1, 0, 1).squeeze(-1); }
  static Tensor values(Shape shape, DType dtype, int seed) {
    std::vector<double> list;
    for (std::int64_t i = 0; i < shape.numel(); ++i) list.push_back(static_cast<double>((i * 7 + seed * 5) % 23) - 9);
    if (is_complex(dtype)) {
      const DType part = real_dtype(dtype);
      return make_complex(make(list, shape, part, default_device()), make(list, shape, part, default_device()) * 2 + 1);
    }
    if (dtype == u8)
      for (double& value : list) value += 9;
    return make(list, shape, dtype, default_device());
  }
  static void expect_same(const Tensor& a, const Tensor& b, const std::string& what) {
    ASSERT_EQ(a.dtype(), b.dtype()) << what;
    ASSERT_EQ(a.shape(), b.shape()) << what;
    const auto numbers = [](const Tensor& x) { return doubles(is_complex(x.dtype()) ? view_as_real(x) : x); };
    const std::vector<double> x = numbers(a), y = numbers(b);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(x[i] == y[i] || (x[i] != x[i] && y[i] != y[i])) << what << " at " << i << ": " << x[i] << " " << y[i];
  }
  using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;
  static void expect_alike(const std::string& what, const Tensor& a, const Tensor& b, const Binary& f) {
    const Tensor want = f(apart(a), apart(b));
    for (int call = 0; call < 3; ++call) expect_same(f(a, b), want, what + ", call " + std::to_string(call));
    expect_same(f(a, apart(b)), want, what + " with one that lies otherwise");
  }
};
TERN_EVERY_DEVICE(AlikeOperands);

constexpr Pointwise two_results{"two_results", [](auto a, auto b) { return std::array{a * b, a - 2.5 * b}; }};

TEST_P(AlikeOperands, GiveWhatOthersGive) {
  for (const DType dtype : dtypes_of(device(), {u8, i16, i32, i64, f16, f32, f64, c64, c128}))
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{4097}, Shape{3, 1, 23456}}) {
      if (left_out(device(), 3)) continue;
      const Tensor a = values(shape, dtype, 1), b = values(shape, dtype, 2);
      const std::string of = std::string(to_string(dtype)) + to_string(shape) + " ";
      expect_alike(of + "+", a, b, [](const Tensor& x, const Tensor& y) { return x + y; });
      expect_alike(of + "*", a, b, [](const Tensor& x, const Tensor& y) { return x * y; });
      expect_alike(of + "x·x", a, b, [](const Tensor& x, const Tensor&) { return x * x; });
      expect_alike(of + "2x + 3y", a, b, [](const Tensor& x, const Tensor& y) { return 2 * x + y * 3; });
      expect_alike(of + "x - 3", a, b, [](const Tensor& x, const Tensor&) { return x - 3; });
      expect_alike(of + "==", a, b, [](const Tensor& x, const Tensor& y) { return x == y; });
      expect_alike(of + "abs", a, b, [](const Tensor& x, const Tensor&) { return abs(x); });
      if (!is_complex(dtype)) {
        expect_alike(of + "<", a, b, [](const Tensor& x, const Tensor& y) { return x < y; });
        expect_alike(of + "maximum", a, b, [](const Tensor& x, const Tensor& y) { return maximum(x, y); });
      }
      if (is_integer(dtype)) continue;
      expect_alike(of + "/", a, b, [](const Tensor& x, const Tensor& y) { return x / y; });
      if (is_complex(dtype)) continue;
      expect_alike(of + "hypot", a, b, [](const Tensor& x, const Tensor& y) { return hypot(x, y); });
      expect_alike(of + "where", a, b, [](const Tensor& x, const Tensor& y) { return where(x > y, x, y); });
      expect_alike(of + "second result", a, b, [](const Tensor& x, const Tensor& y) { return two_results(x, y)[1]; });
    }
}

/// One graph, of operands of other dtypes, numbers and complex numbers in turn.
TEST_P(AlikeOperands, OfOtherTypesInTurn) {
  const Tensor a = values({37}, f32, 1), b = values({37}, f32, 2), n = values({37}, i32, 3);
  for (int call = 0; call < 3; ++call) {
    expect_same(a + b, apart(a) + b, "tensors");
    expect_same(a + 1.5, apart(a) + 1.5, "a number");
    expect_same(1.5 + a, 1.5 + apart(a), "a number first");
    expect_same(a + n, apart(a) + n, "integers");
    expect_same(n + 2, apart(n) + 2, "integers and a number");
    const Tensor z = a + std::complex<float>(1, 2);
    expect_same(real(z), a + 1, "a complex number's real part");
    expect_same(imag(z), full_like(a, 2), "a complex number's imaginary part");
    EXPECT_THROW(n + 0.5, Error);
    EXPECT_THROW(a + values({36}, f32, 2), Error);
  }
}

TEST_P(AlikeOperands, WrittenInPlaceOrRefused) {
  const Tensor start = values({5000}, f32, 1), other = values({5000}, f32, 2);
  for (int call = 0; call < 3; ++call) {
    Tensor x = start.clone(), y = x;
    x += other;
    expect_same(y, apart(start) + other, "in place");
    x *= 0.5;
    expect_same(y, (apart(start) + other) * 0.5, "in place by a number");
    x += x;
    expect_same(y, apart(start) + other, "with itself");
    Tensor moved = start.clone();
    moved.slice(0, 1, 5000) += moved.slice(0, 0, 4999);  // of memory that is written: as if read before
    expect_same(moved.slice(0, 1, 5000), start.slice(0, 1, 5000) + apart(start).slice(0, 0, 4999), "what overlaps");
    Tensor wide = zeros({1, 4}).broadcast_to({3, 4});
    EXPECT_THROW(wide += ones({3, 4}), Error);
    Tensor whole = ones({3}, {.dtype = i32});
    EXPECT_THROW(whole += ones({3}), Error);
  }
  if (!(device() == cpu())) return;
  const float constant[] = {1, 2, 3};
  Tensor lent = Tensor::view(constant, {3});
  for (int call = 0; call < 3; ++call) {
    expect_same(lent + lent, lent * 2, "of constant memory");
    EXPECT_THROW(lent += ones({3}), Error);
  }
}

/// Calls are counted, explained, captured and refused before a replay as those before them.
TEST_P(AlikeOperands, AreSeenByWhoListens) {
  const Tensor x = values({100}, f32, 1), y = values({100}, f32, 2);
  const Tensor warm = x - y, again = x - y;
  const TraceCounts before = trace_counts();
  const Tensor counted = x - y;
  const TraceCounts after = trace_counts();
  EXPECT_EQ(after.calls - before.calls, 1);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 800);
  EXPECT_EQ(after.bytes_written - before.bytes_written, 400);
  EXPECT_NE(explain([&] { x - y; }).find("sub: fused"), std::string::npos) << explain([&] { x - y; });
  EXPECT_EQ(cost_of([&] { x - y; }).flops, 100);
  if (device() == cpu()) {
    const std::int64_t hits = cache_stats(device()).hits;
    const Tensor hit = x - y;
    EXPECT_EQ(cache_stats(device()).hits - hits, 1);
  }

  Tensor input = x.clone(), result;
  const Graph graph = capture(device(), [&] { result = input - y; });
  EXPECT_THROW(result - y, Error);  // not replayed yet
  graph.replay();
  expect_same(result, apart(x) - y, "replayed");
  input.copy_from(y);
  graph.replay();
  expect_same(result, zeros({100}), "replayed of other values");
  expect_same(result - y, -apart(y), "of what was replayed");
}

TEST_P(AlikeOperands, HaveGradients) {
  const Tensor x = values({50}, f32, 1), y = values({50}, f32, 2);
  for (int call = 0; call < 3; ++call) {
    const Var a = parameter(x), b = parameter(y);
    const Gradients g = backward(sum(a * b + a));
    expect_same(g[a], y + 1, "of the first");
    expect_same(g[b], x, "of the second");
  }
}

}  // namespace
}  // namespace tern::test
