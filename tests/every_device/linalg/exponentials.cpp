// Exponentials of matrices: of all sizes, of norms that take no halving and many, beside Taylor's series; where powers
// cancel; in recordings; and what is not finite.
#include "every_device/gradients/derivatives.hpp"
#include "every_device/linalg/matrices.hpp"

namespace tern::test {
namespace {

using namespace linalg;

class Exponentials : public EveryDevice {
 protected:
  /// e^a in f64: Taylor's series of a halved to a norm below 1, squared as often.
  static Tensor by_taylor(const Tensor& a) {
    const double norm = max(sum(abs(a), {-2})).item<double>();
    const int halvings = std::max(0, static_cast<int>(std::ceil(std::log2(std::max(norm, 1e-30)))));
    const Tensor x = a * std::ldexp(1.0, -halvings);
    Tensor term = unit(a.size(-1)) + zeros(a.shape(), {.dtype = f64, .device = cpu()}), sum = term;
    for (int k = 1; k < 25; ++k) term = matmul(term, x) / k, sum = sum + term;
    for (int i = 0; i < halvings; ++i) sum = matmul(sum, sum);
    return sum;
  }
};
TERN_EVERY_DEVICE(Exponentials);

/// Of symmetric matrices e^a has the condition ‖a‖, and products of n terms n roundings. Padé's numerator is about
/// e^(a/2) of what was halved, and its denominator e^(-a/2): sums of terms as large as cosh(‖a‖/2), which cancel in one
/// of them down to e^(-‖a‖/2).
TEST_P(Exponentials, OfEverySize) {
  for (const DType dtype : all_floats(device())) {
    if (dtype_size(dtype) == 2) continue;
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33}) {
      if (in_software(device()) && n != 2 && n != 5) continue;
      const Tensor noisy = noise_matrices(19, n, n, f64), symmetric = (noisy + noisy.mT()) * 0.5;
      for (const double norm : {0.0, 0.01, 1.0, 5.3, 5.5, 40.0}) {
        const Tensor each = max(sum(abs(symmetric), {-2}, true), {-1}, true);
        // Norms differ within the batch, so that halvings do.
        const Tensor by = linspace(0.2, 1, 19, {.dtype = f64, .device = cpu()}).reshape({19, 1, 1}) * norm;
        const Tensor a = (symmetric / each * by).to(dtype), want = by_taylor(a.to(f64));
        const Tensor whole = a.to(device());
        const Tensor halved = by * std::ldexp(0.5, -static_cast<int>(std::max(0.0, std::ceil(std::log2(norm / 5.3)))));
        const Tensor bound = cosh(halved) * exp(halved) * (8 * epsilon(dtype) * (static_cast<double>(n) + norm));
        const auto expect = [&](const Tensor& got, const char* layout) {
          const Tensor off = abs(got.to(cpu()).to(f64) - want) / max(abs(want), {-2, -1}, true) / bound;
          EXPECT_LE(largest_part(off), 1) << n << " rows, norm " << norm << ", " << layout;
        };
        expect(expm(whole), "dense");
        expect(expm(whole.mT().clone().mT()), "by columns");
        expect(expm(concatenate({whole, whole}, -1).slice(-1, n, 2 * n)), "with gaps");
        expect(flip(expm(flip(whole, {0})), {0}), "backwards");
        for (const std::int64_t l : {0, 18}) {  // on the CPU large ones alone go another way
          const Tensor off = abs(expm(whole[l]).to(cpu()).to(f64) - want[l]) / max(abs(want[l])) / bound[l];
          EXPECT_LE(largest_part(off), 1) << n << " rows, norm " << norm << ", alone";
        }
      }
    }
  }
}
/// Small ones take one launch, whatever their norms.
TEST_P(Exponentials, TakeOneLaunch) {
  if (device() == cpu()) return;
  for (const double norm : {0.5, 100.0}) {
    const Tensor a = noise_matrices(9, 6, 6, f32).to(device()) * norm;
    expm(a);
    const std::string text = explain([&] { expm(a); });
    std::size_t launches = 0;
    for (std::size_t at = text.find("expm"); at != text.npos; at = text.find("expm", at + 1)) ++launches;
    EXPECT_EQ(launches, 1u) << text;
  }
}
/// exp([[1, x], [0, -1]]) is [[e, x·sinh 1], [0, 1/e]]: each squaring that the norm alone asks for costs it a bit.
TEST_P(Exponentials, OfMatricesThatAreNotNormal) {
  for (const DType dtype : all_floats(device())) {
    if (dtype_size(dtype) == 2) continue;
    const double eps = epsilon(dtype), sinh = std::sinh(1.0);
    for (const double x : {0.0, 10.0, 1e3, 1e6}) {
      const Var a(tensor({1.0, x, 0.0, -1.0}, cpu()).to(dtype).reshape({2, 2}).to(device()));
      const Var y = expm(a);
      const std::vector<double> got = doubles(y), want{std::exp(1.0), x * sinh, 0, std::exp(-1.0)};
      for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], want[i], 32 * eps * want[i]) << x << " at " << i;
      // The derivative along [0, 1] is the divided difference of exp, sinh 1, whatever x.
      const Tensor seed = tensor({0.0, 1.0, 0.0, 0.0}, cpu()).to(dtype).reshape({2, 2}).to(device());
      EXPECT_NEAR(doubles(backward(y, seed)[a])[1], sinh, 64 * eps * sinh) << x;
    }
    // Of x·[[1, -1], [1, -1]], whose square vanishes, it is 1 + a, with a condition of x²: a·e·a is of x²·|e|'s order.
    for (const double x : {1.0, 100.0}) {
      const Tensor a = tensor({x, -x, x, -x}, cpu()).to(dtype).reshape({2, 2}).to(device());
      const std::vector<double> got = doubles(expm(a)), want{1 + x, -x, x, 1 - x};
      for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], want[i], 4 * (8 + x * x) * eps * x) << x << " at " << i;
    }
  }
  // Each matrix of a batch by itself, zeros and large ones among them.
  const Tensor a = tensor({{0.f, 0.f}, {0.f, 0.f}}, device()), b = tensor({{1.f, 1e6f}, {0.f, -1.f}}, device()),
               c = tensor({{0.f, 1e30f}, {0.f, 0.f}}, device()), d = tensor({{0.f, -40.f}, {40.f, 0.f}}, device());
  const Tensor all = stack(std::vector<Tensor>{a, b, c, d}, 0);
  const std::vector<double> got = doubles(expm(all));
  std::vector<double> each;
  for (const Tensor& one : {a, b, c, d})
    for (const double v : doubles(expm(one))) each.push_back(v);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(got[i], each[i], 1e-5 * std::abs(each[i]) + 1e-6) << i;
  EXPECT_NEAR(got[9] / 1e30, 1, 32 * epsilon(f32));
  EXPECT_NEAR(got[12], std::cos(40.0), 64 * 40 * epsilon(f32));
  Tensor y;
  const Tensor copy = all.slice(0, 0, 2).clone();
  const Graph graph = capture(device(), [&] { y = expm(copy); });
  graph.replay();
  const std::vector<double> replayed = doubles(y);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(replayed[i], each[i], 1e-5 * std::abs(each[i])) << i;
}
TEST_P(Exponentials, NameTheMatrix) {
  const Tensor batch = stack(std::vector<Tensor>{eye(2), full({2, 2}, kNaN, f32)}, 0);
  expect_error(ErrorKind::linalg, {"expm", "matrix 1 of the batch", "not finite"}, [&] { expm(batch); });
  // What is not finite in an incoming gradient stays so, in its matrix alone.
  const Var x(zeros({2, 2, 2}));
  const Tensor seed = tensor({1.f, static_cast<float>(kNaN)}).reshape({2, 1, 1}).broadcast_to({2, 2, 2});
  const Tensor g = backward(expm(x), seed)[x];
  EXPECT_LE(largest_part(g[0] - 1), 1e-6);
  for (const double v : doubles(g[1])) EXPECT_TRUE(std::isnan(v));
  if (in_software(device())) return;
  for (const float size : {3e38f, 1e-36f}) {
    const Tensor by = backward(expm(x), full({2, 2, 2}, size, f32))[x];
    for (const double v : doubles(by)) EXPECT_NEAR(v / size, 1, 1e-5);
  }
}

/// A replay takes norms that the recording did not know.
TEST_P(Exponentials, ExponentialsInReplays) {
  const Tensor a = zeros({2, 3, 3});
  const Var x(a);
  Tensor y, g;
  const Graph graph = capture(device(), [&] {
    const Var e = expm(x);
    y = e.value(), g = backward(sum(e))[x];
  });
  for (const double size : {0.1, 30.0}) {
    const Tensor b =
        stack(std::vector<Tensor>{noise_matrices(1, 3, 3, f32)[0].to(device()), zeros({3, 3})}, 0) * size;
    Tensor(a).copy_from(b);
    graph.replay();
    const Var z(b.clone());
    const Var want = expm(z);
    const double most = largest_part(want.value());
    EXPECT_LE(largest_part(y - want.value()), 1e-5 * most) << size;
    const Tensor exact = backward(sum(want))[z];
    EXPECT_LE(largest_part(g - exact), 1e-5 * largest_part(exact)) << size;
  }
  Tensor(a).copy_from(full({2, 3, 3}, 1e7f, f32));
  graph.replay();
  EXPECT_FALSE(std::isfinite(largest_part(y)));
  Tensor(a).copy_from(full({2, 3, 3}, std::numeric_limits<float>::infinity(), f32));
  expect_error(ErrorKind::linalg, {"expm", "not finite"}, [&] { graph.replay(); });
}

}  // namespace
}  // namespace tern::test
