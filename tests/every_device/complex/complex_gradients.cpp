// Gradients of complex numbers: against differences to the third order, and by which convention.
#include "every_device/complex/complex_numbers.hpp"
#include "every_device/gradients/derivatives.hpp"
#include "tern/transforms.hpp"

namespace tern::test {
namespace {

/// The gradients of f by the parts of six numbers, to the third order, against differences.
void expect_complex_gradients(const char* name, const Function& f, std::vector<double> parts, Device device) {
  SCOPED_TRACE(name);
  const Tensor x = tensor(parts, device).reshape({-1, 2});
  const auto real_of = [&](const Var& p) {
    const Var y = f(view_as_complex(p));
    return is_complex(y.dtype()) ? view_as_real(y) : y;
  };
  const auto loss = [&](const Var& p) { return sum(square(real_of(p))); };
  const auto slope = [&](const Var& p) { return sum(square(grad(loss)(p))); };
  const GradCheck first = gradcheck(real_of, x), second = gradgradcheck(real_of, x);
  const GradCheck third = gradcheck([&](const Var& p) { return grad(slope)(p); }, x);
  EXPECT_TRUE(first.ok) << first.message;
  EXPECT_TRUE(second.ok) << second.message;
  EXPECT_TRUE(third.ok) << third.message;
}
class ComplexGradients : public EveryDevice {
 protected:
  void expect(const char* name, const Function& f) const {
    expect_complex_gradients(name, f, {0.3, -0.7, 1.2, 0.4, -0.6, -0.9}, device());
  }
};
TERN_EVERY_DEVICE(ComplexGradients);
#define TERN_EXPECT_GRADIENT(...) expect(#__VA_ARGS__, [](const Var& z) { return __VA_ARGS__; })

TEST_P(ComplexGradients, OfFunctions) {
  if (refuses_f64(device())) return;
  TERN_EXPECT_GRADIENT(z * z + 1 / z);
  TERN_EXPECT_GRADIENT(z / (z * z + 3));
  TERN_EXPECT_GRADIENT(exp(z) - log(z) * sqrt(z));
  TERN_EXPECT_GRADIENT(pow(z, 2.5) * pow(2, z));
  TERN_EXPECT_GRADIENT(pow(z, z));
  TERN_EXPECT_GRADIENT(sin(z) * cos(z) + tan(z));
  TERN_EXPECT_GRADIENT(sinh(z) * cosh(z) + tanh(z));
  TERN_EXPECT_GRADIENT(asin(z) + acos(z) * atan(z));
  TERN_EXPECT_GRADIENT(asinh(z) + acosh(z) * atanh(z));
  TERN_EXPECT_GRADIENT(expm1(z) * log1p(z) + exp2(z) * log2(z));
  TERN_EXPECT_GRADIENT(rsqrt(z) * sigmoid(z) + sign(z));
  TERN_EXPECT_GRADIENT(conj(z) * z + make_complex(abs(z), angle(z)));
  TERN_EXPECT_GRADIENT(polar(abs(z), angle(z) * 2));
  TERN_EXPECT_GRADIENT(real(z) * imag(z));
}
/// Where values are computed by cases, derivatives know of none: on the axes, on diagonals, at 0.
TEST_P(ComplexGradients, OnAxesAndDiagonals) {
  if (refuses_f64(device())) return;
  expect_complex_gradients(
      "log", [](const Var& z) { return log(z); }, {1.3, 0, 0.7, 0.7, 0, -2.5}, device());
  expect_complex_gradients(
      "sqrt", [](const Var& z) { return sqrt(z); }, {1.3, 0, 0.7, 0.7, 0, -2.5}, device());
  expect_complex_gradients(
      "exp", [](const Var& z) { return exp(z); }, {0, 0, 0.7, 0, 0, -2.5}, device());
  expect_complex_gradients(
      "1 / z", [](const Var& z) { return 1 / z; }, {1, 0, 0.7, -0.7, 0, 1}, device());
  expect_complex_gradients(
      "abs", [](const Var& z) { return abs(z); }, {1, 0, 0.7, -0.7, 0, 1}, device());
  expect_complex_gradients(
      "tanh", [](const Var& z) { return tanh(z); }, {0, 0, 0.7, 0, 0, 1}, device());
  const Var zero(zeros({2}, {.dtype = c128, .device = device()}));
  EXPECT_EQ(values(backward(sum(abs(zero)))[zero]), (std::vector<Wide>{0, 0})) << "a subgradient";
  EXPECT_EQ(values(backward(sum(real(pow(zero, 2))))[zero]), (std::vector<Wide>{0, 0}));
}
TEST_P(ComplexGradients, OfOperations) {
  if (refuses_f64(device())) return;
  TERN_EXPECT_GRADIENT(sum(z * z) + mean(z) * prod(z));
  TERN_EXPECT_GRADIENT(var(z) * norm(z) + std(z));
  TERN_EXPECT_GRADIENT(cumsum(z * z, 0));
  TERN_EXPECT_GRADIENT(matmul(z.reshape({3, 1}), z.reshape({1, 3})));
  TERN_EXPECT_GRADIENT(matmul(z, z) * z);
  TERN_EXPECT_GRADIENT(matmul(real(z).reshape({3, 1}), z.reshape({1, 3})));
  TERN_EXPECT_GRADIENT(matmul(z.reshape({3, 1}), real(z).reshape({1, 3})));
  TERN_EXPECT_GRADIENT(einsum("i,j,j->i", z, z, z));
  TERN_EXPECT_GRADIENT(concatenate(std::vector<Var>{z, z * z}));
  TERN_EXPECT_GRADIENT(stack(std::vector<Var>{z, z * z}, 1));
  TERN_EXPECT_GRADIENT(take(z * z, tensor({2, 0, 2}), 0));
  TERN_EXPECT_GRADIENT(gather(z * z, tensor({2, 0, 2}), 0));
  TERN_EXPECT_GRADIENT(scatter_add(z, tensor({2, 0, 2}), z * z));
  TERN_EXPECT_GRADIENT(z(tensor({0, 2})) * z(Slice(0, 2)));
  TERN_EXPECT_GRADIENT(where(abs(z) > 1, z * z, z) * C128(0, 1));
  TERN_EXPECT_GRADIENT(z.slice(0, {}, {}, -1) / z);
  TERN_EXPECT_GRADIENT(z.reshape({3, 1}) * z);
  TERN_EXPECT_GRADIENT(z * tensor({1.0, 2.0, 3.0}).reshape({3, 1}).to(f64));
}

/// PyTorch's: of a real loss ∂/∂x + i·∂/∂y; of holomorphic f, the seed times the conjugate of f'.
TEST_P(ComplexGradients, AreConjugateWirtingerDerivatives) {
  const Tensor at = tensor({C64(1, 2), C64(-3, 0.5f)}, device());
  const Var z(at);
  const auto near = [](const Tensor& got, const Tensor& want) { EXPECT_TRUE(allclose(got, want)) << got << want; };
  near(backward(sum(square(abs(z))))[z], at * 2);
  near(backward(sum(real(z)))[z], ones({2}, {.dtype = c64, .device = device()}));
  near(backward(sum(imag(z)))[z], full({2}, C64(0, 1), {.dtype = c64, .device = device()}));
  near(backward(sum(real(z * z)))[z], conj(at * 2));
  near(backward(sum(abs(z)))[z], at / abs(at));
  near(backward(sum(angle(z)))[z], at * C64(0, 1) / square(abs(at)));
  const Tensor seed = tensor({C64(0.5f, -1), C64(2, 1)}, device());
  near(backward(exp(z), seed)[z], seed * conj(exp(at)));
  near(backward(1 / z, seed)[z], seed * conj(-1 / square(at)));
  near(backward(conj(z), seed)[z], conj(seed));
  const auto f = [](const Var& v) { return v * v; };
  near(jvp(f, at, seed).result, at * 2 * seed);
  const Var x(tensor({2.0f, 3.0f}, device()));
  const Tensor g = backward(sum(real(x * z)))[x];
  EXPECT_EQ(g.dtype(), f32) << "a real operand has a real gradient";
  near(g, real(at));
}
/// Those of a product are products themselves, which lie as the operands do: the bits of those, whoever asks for which,
/// at sizes on both sides of a vector and a block; what else a gradient meets is added to them.
TEST_P(ComplexGradients, OfProductsAreProducts) {
  for (const std::int64_t n : {1, 3, 17, 100, 5000, 70001}) {
    Generator dice{3};
    const auto draw = [&] { return make_complex(randn({n}, dice), randn({n}, dice)); };
    const Tensor a = draw(), b = draw(), seed = draw();
    const auto same = [&](const Tensor& got, const Tensor& want, const char* what) {
      ASSERT_EQ(got.dtype(), c64) << what;
      const std::vector<double> x = doubles(view_as_real(got)), y = doubles(view_as_real(want));
      // WGSL may fuse a product and a sum in one kernel and not in another: of factors below 6 a rounding of 36.
      const double fused = device().kind() == DeviceKind::webgpu ? 36 * 0x1p-22 : 0;
      ASSERT_EQ(x.size(), y.size());
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], fused) << what << " of " << n << " at " << i;
    };
    const Var x(a), y(b), z(a);
    const Gradients both = backward(x * y, seed);
    same(both[x], seed * conj(b), "x of both"), same(both[y], seed * conj(a), "y of both");
    same(backward(x * constant(b), seed)[x], seed * conj(b), "x");
    same(backward(constant(a) * y, seed)[y], seed * conj(a), "y");
    same(backward(z * z, seed)[z], seed * conj(a) + seed * conj(a), "of a square");
    const Gradients sums = backward(x * y + x, seed);
    same(sums[x], seed * conj(b) + seed, "x that is added, too");
    Tensor own = both[x];
    own += 1;
    same(both[y], seed * conj(a), "which is its own memory");
  }
}
TEST_P(ComplexGradients, StepsOfDescentFindRoots) {
  Var z(tensor({C64(1.5f, 0.7f), C64(-1, -2)}, device()));
  for (int i = 0; i < 200; ++i) {
    const Tensor g = backward(sum(square(abs(z * z + 1))))[z];
    z = Var(z.value() - 0.02 * g);
  }
  for (const Wide root : values(z.value())) EXPECT_LE(std::abs(root * root + 1.0L), 1e-3) << root;
}
TEST_P(ComplexGradients, NeedARealLoss) {
  const Var z(tensor({C64(1, 2)}, device()));
  expect_error(ErrorKind::autograd, {"backward", "real", "c64[1]"}, [&] { backward(z * z); });
  expect_error(ErrorKind::autograd, {"grad", "real", "c64"},
               [&] { grad([](const Var& v) { return sum(v); })(z.value()); });
}

}  // namespace
}  // namespace tern::test
