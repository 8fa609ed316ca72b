// argmax and argmin, which read their operand once: ties, NaN and zeros anywhere, in every layout and length.
#include <cmath>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Places : public EveryDevice {};
TERN_EVERY_DEVICE(Places);

/// The first of the largest or the smallest, or the first NaN.
std::int64_t first(const std::vector<double>& v, bool most) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (std::isnan(v[i])) return static_cast<std::int64_t>(i);
    if (most ? v[i] > v[best] : v[i] < v[best]) best = i;
  }
  return static_cast<std::int64_t>(best);
}
/// Of the last axis of a contiguous copy.
std::vector<double> first_of_rows(const Tensor& x, bool most) {
  const std::vector<double> all = doubles(x.contiguous());
  const auto length = static_cast<std::size_t>(x.size(-1));
  std::vector<double> places;
  for (std::size_t at = 0; at < all.size(); at += length)
    places.push_back(static_cast<double>(
        first({all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + length)},
              most)));
  return places;
}
void check_places(const Tensor& x, const std::string& what) {
  if (left_out(x.device(), 4)) return;
  EXPECT_EQ(doubles(argmax(x, {-1})), first_of_rows(x, true)) << "argmax, " << what;
  EXPECT_EQ(doubles(argmin(x, {-1})), first_of_rows(x, false)) << "argmin, " << what;
  const Tensor line = x.contiguous().reshape({1, -1});
  EXPECT_EQ(doubles(argmax(x)), first_of_rows(line, true)) << "argmax of all, " << what;
}

TEST_P(Places, OfRowsAndColumnsOfEveryLength) {
  for (const std::int64_t n : {1, 2, 3, 16, 17, 100, 1023, 1025, 8193, 70'001}) {
    const std::int64_t rows = n > 2000 ? 3 : 40;
    const Tensor few = round(Random(n).tensor({rows, n}, f32, device(), -4, 4)),
                 turned = few.transpose(0, 1).contiguous();
    const std::string what = "rows of " + std::to_string(n);
    check_places(few, what);
    check_places(turned.transpose(0, 1), what + ", transposed");
    check_places(Random(n).tensor({rows, n}, f32, device(), -4, 4), what + ", no ties");
    check_places(Random(n).tensor({rows, 2 * n}, f32, device(), -4, 4).slice(1, 0, 2 * n, 2), what + ", strided");
    check_places(few.slice(0, 0, 1).broadcast_to({3, n}), what + ", repeated");
    check_places(zeros({2, n}), what + ", all the same");
  }
}
TEST_P(Places, OfSeveralAxesInAnyOrder) {
  const Tensor x = round(Random(5).tensor({6, 40, 5, 30}, f32, device(), -9, 9));
  for (const Axes& order : {Axes{0, 1, 2, 3}, Axes{3, 1, 0, 2}, Axes{2, 3, 1, 0}, Axes{0, 2, 1, 3}}) {
    const Tensor view = x.permute(order);
    check_places(view, "permuted");
    const Tensor flat = view.contiguous().reshape({view.size(0), view.size(1), -1});
    EXPECT_EQ(doubles(argmax(view, {2, 3})), first_of_rows(flat, true));
    EXPECT_EQ(doubles(argmin(view, {0, 1})),
              first_of_rows(view.permute({2, 3, 0, 1}).contiguous().reshape({view.size(2), view.size(3), -1}), false));
  }
}
TEST_P(Places, OfNanInfinitiesAndZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = INFINITY;
  for (const std::size_t n : {5u, 700u, 9000u, 200'000u})
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> v(n, 1.0f);
      v[n / 3] = inf, v[n / 4] = -inf, v[n - 2] = inf;
      const auto length = static_cast<std::int64_t>(n);
      check_places(tensor(v, {1, length}), "infinities");
      v[at] = nan, v[n - 1] = nan;
      check_places(tensor(v, {1, length}), "NaN at " + std::to_string(at));
      check_places(tensor(v, {length, 1}).broadcast_to({length, 3}).contiguous().transpose(0, 1), "columns with NaN");
      std::vector<float> zeros(n, -0.0f);
      zeros[at] = 0.0f;
      check_places(tensor(zeros, {1, length}), "zeros of both signs");
      check_places(tensor(std::vector<float>(n, -inf), {1, length}), "no more than -inf");
      std::vector<float> small(n, 1e-40f);
      small[at] = 2e-40f, small[n / 2] = small[at] == small[n / 2] ? 2e-40f : -3e-40f;
      check_places(tensor(small, {1, length}), "subnormal numbers");
      check_places(tensor(std::vector<float>(n, nan), {1, length}), "nothing but NaN");
    }
}
TEST_P(Places, OfEveryDtype) {
  for (const DType dtype : dtypes_of(device(), {f64, f16, bf16, i8, u8, i16, i32, i64, boolean}))
    for (const std::int64_t n : {3, 1000, 20'000})
      check_places(round(Random(n).tensor({7, n}, f32, device(), -5, 5)).abs().to(dtype),
                   std::string(to_string(dtype)));
}
/// A loss that is NaN has a gradient where the NaN came from.
TEST_P(Places, OfNaNGetTheGradient) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = tensor({1, nan, 3, nan, 2, 5, 5, 4, -1}, {3, 3}).to(f32);
  using Values = std::vector<double>;
  const auto gradient = [&](const auto& f) {
    const Var v(x);
    return doubles(backward(sum(f(v)))[v]);
  };
  EXPECT_EQ(gradient([](const Var& v) { return max(v, {1}); }), (Values{0, 1, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(gradient([](const Var& v) { return min(v, {1}); }), (Values{0, 1, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(gradient([](const Var& v) { return max(v, {0}); }), (Values{0, 1, 0, 1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(gradient([](const Var& v) { return max(v); }), (Values{0, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(gradient([](const Var& v) { return max_pool(v.reshape({1, 1, 9}), 3); }),
            (Values{0, 1, 0, 1, 0, 0, 1, 0, 0}));
}
/// Reads of what was read already are counted, too.
TEST_P(Places, AreTakenInOnePass) {
  const Tensor x = ones({300, 20'000});
  for (const Axes& axes : {Axes{}, Axes{0}, Axes{1}}) {
    const std::int64_t before = trace_counts().bytes_read;
    argmax(x, axes);
    EXPECT_EQ(trace_counts().bytes_read - before, 300 * 20'000 * 4);
  }
}

}  // namespace
}  // namespace tern::test
