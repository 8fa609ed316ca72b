// Complex numbers: functions against those of std::complex<long double>, edges, gradients, and what moves elements.
#include <complex>
#include <sstream>

#include "reference.hpp"
#include "tern/trace.hpp"
#include "tern/transforms.hpp"

namespace tern::test {
namespace {

using Wide = std::complex<long double>;
using C64 = std::complex<float>;
using C128 = std::complex<double>;
constexpr double kInf = HUGE_VAL;

class ComplexNumbers : public EveryDevice {
 protected:
  std::vector<DType> dtypes() const { return dtypes_of(device(), {c64, c128}); }
};
TERN_EVERY_DEVICE(ComplexNumbers);

std::vector<Wide> values(const Tensor& z) {
  std::vector<Wide> list;
  const std::vector<double> parts = doubles(view_as_real(z.reshape({-1})));
  for (std::size_t i = 0; i < parts.size(); i += 2) list.emplace_back(parts[i], parts[i + 1]);
  return list;
}
Tensor numbers(const std::vector<C128>& list, DType dtype, Device device) { return tensor(list, dtype, device); }
double epsilon_of(DType dtype) { return epsilon(real_dtype(dtype)); }

/// Numbers of every direction and of many sizes, and real and imaginary ones.
std::vector<C128> spread(double largest) {
  std::vector<C128> list;
  for (const double size : {1e-6, 0.03, 0.4, 0.9, 1.0, 1.1, 2.5, 7.0, 30.0})
    for (int i = 0; i < 16; ++i)
      if (size <= largest) list.push_back(std::polar(size, 0.11 + i * 0.3927));
  for (const double x : {-0.75, -0.25, 0.125, 0.625}) list.push_back({x, 0}), list.push_back({0, x});
  return list;
}
/// f of each number within so many units of its absolute value.
template <class F, class R>
void expect_function(const char* name, const std::vector<DType>& dtypes, Device device, F f, R reference, double units,
                     double largest = 30) {
  SCOPED_TRACE(name);
  for (const DType dtype : dtypes) {
    const Tensor z = numbers(spread(largest), dtype, device);
    const std::vector<Wide> got = values(f(z)), at = values(z);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Wide want = reference(at[i]);
      EXPECT_LE(std::abs(got[i] - want), units * epsilon_of(dtype) * std::abs(want))
          << to_string(dtype) << " at " << at[i] << ": " << got[i] << ", expected " << want;
    }
  }
}
#define TERN_EXPECT_FUNCTION(name, units, ...)                                  \
  expect_function(                                                              \
      #name, dtypes(), device(), [](const Tensor& z) { return tern::name(z); }, \
      [](const Wide& z) { return std::name(z); }, units __VA_OPT__(, ) __VA_ARGS__)
TEST_P(ComplexNumbers, FunctionsAreThoseOfTheStandardLibrary) {
  TERN_EXPECT_FUNCTION(exp, 4);
  TERN_EXPECT_FUNCTION(log, 4);
  TERN_EXPECT_FUNCTION(log10, 5);
  TERN_EXPECT_FUNCTION(sqrt, 6);
  TERN_EXPECT_FUNCTION(sin, 6);
  TERN_EXPECT_FUNCTION(cos, 6);
  TERN_EXPECT_FUNCTION(sinh, 6);
  TERN_EXPECT_FUNCTION(cosh, 6);
  TERN_EXPECT_FUNCTION(tan, 16);
  TERN_EXPECT_FUNCTION(tanh, 16);
  TERN_EXPECT_FUNCTION(conj, 0);
}
TEST_P(ComplexNumbers, InverseFunctions) {
  TERN_EXPECT_FUNCTION(asin, 16);
  TERN_EXPECT_FUNCTION(acos, 16);
  TERN_EXPECT_FUNCTION(atan, 16);
  TERN_EXPECT_FUNCTION(asinh, 16);
  TERN_EXPECT_FUNCTION(acosh, 16);
  TERN_EXPECT_FUNCTION(atanh, 16);
}
TEST_P(ComplexNumbers, FunctionsTheStandardLibraryLacks) {
  const auto expect = [&](const char* name, auto f, auto reference, double units, double largest = 30) {
    expect_function(name, dtypes(), device(), f, reference, units, largest);
  };
  const long double ln2 = std::log(2.0L);
  expect(
      "square", [](const Tensor& z) { return square(z); }, [](Wide z) { return z * z; }, 3);
  expect(
      "reciprocal", [](const Tensor& z) { return reciprocal(z); }, [](Wide z) { return 1.0L / z; }, 5);
  expect(
      "rsqrt", [](const Tensor& z) { return rsqrt(z); }, [](Wide z) { return 1.0L / std::sqrt(z); }, 10);
  expect(
      "exp2", [](const Tensor& z) { return exp2(z); }, [=](Wide z) { return std::exp(z * ln2); }, 40);
  expect(
      "log2", [](const Tensor& z) { return log2(z); }, [=](Wide z) { return std::log(z) / ln2; }, 6);
  // Of small numbers exp(z) - 1 and log(1 + z) lose digits; of long doubles fewer than are compared.
  expect(
      "expm1", [](const Tensor& z) { return expm1(z); },
      [](Wide z) {
        return std::abs(z) < 1e-3L ? z + z * z / 2.0L + z * z * z / 6.0L + z * z * z * z / 24.0L : std::exp(z) - 1.0L;
      },
      8);
  expect(
      "log1p", [](const Tensor& z) { return log1p(z); },
      [](Wide z) {
        return std::abs(z) < 1e-3L ? z - z * z / 2.0L + z * z * z / 3.0L - z * z * z * z / 4.0L : std::log(1.0L + z);
      },
      8, 0.9);
  expect(
      "sigmoid", [](const Tensor& z) { return sigmoid(z); }, [](Wide z) { return 1.0L / (1.0L + std::exp(-z)); }, 16,
      2.5);
  expect(
      "sign", [](const Tensor& z) { return sign(z); }, [](Wide z) { return z / std::abs(z); }, 4);
  expect(
      "pow(z, 3)", [](const Tensor& z) { return pow(z, 3); }, [](Wide z) { return z * z * z; }, 60);
  expect(
      "pow(z, -0.5)", [](const Tensor& z) { return pow(z, -0.5); }, [](Wide z) { return std::pow(z, -0.5L); }, 16);
  expect(
      "pow(2, z)", [](const Tensor& z) { return pow(2, z); }, [](Wide z) { return std::pow(2.0L, z); }, 40);
  expect(
      "a formula",
      [](const Tensor& z) {
        return Pointwise([](auto x) { return conj(x) * x + real(x) * C128(0, 1) - exp(imag(x) * C128(0, 2)); })(z);
      },
      [](Wide z) { return std::conj(z) * z + z.real() * Wide(0, 1) - std::exp(z.imag() * Wide(0, 2)); }, 1e3);
  for (const DType dtype : dtypes()) {
    const Tensor z = numbers(spread(30), dtype, device());
    const std::vector<double> size = doubles(abs(z)), turn = doubles(angle(z));
    for (std::size_t i = 0; i < size.size(); ++i) {
      const Wide at = values(z)[i];
      EXPECT_NEAR(size[i], std::abs(at), 4 * epsilon_of(dtype) * std::abs(at));
      EXPECT_NEAR(turn[i], std::arg(at), 2 * epsilon_of(dtype) * std::abs(std::arg(at)));
    }
    EXPECT_EQ(abs(z).dtype(), real_dtype(dtype));
  }
}

TEST_P(ComplexNumbers, ArithmeticOfTwo) {
  for (const DType dtype : dtypes()) {
    const std::vector<C128> list = spread(30);
    const Tensor z = numbers(list, dtype, device()), w = roll(z, 7) * C128(0.5, 2);
    const std::vector<Wide> a = values(z), b = values(w), sum = values(z + w), difference = values(z - w),
                            product = values(z * w), quotient = values(z / w), turned = values(-z);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const long double unit = epsilon_of(dtype);
      EXPECT_LE(std::abs(sum[i] - (a[i] + b[i])), unit * std::abs(a[i] + b[i]));
      EXPECT_LE(std::abs(difference[i] - (a[i] - b[i])), unit * std::abs(a[i] - b[i]));
      EXPECT_LE(std::abs(product[i] - a[i] * b[i]), 2 * unit * std::abs(a[i] * b[i]));
      EXPECT_LE(std::abs(quotient[i] - a[i] / b[i]), 5 * unit * std::abs(a[i] / b[i]));
      EXPECT_EQ(turned[i], -a[i]);
    }
  }
}

/// Neither division nor abs overflows, or vanishes, where the result does not.
TEST_P(ComplexNumbers, NearTheEndsOfTheRange) {
  for (const DType dtype : dtypes()) {
    const bool wide = dtype == c128;
    const double huge = wide ? 0x1.8p1023 : 0x1.8p127, small = wide ? 0x1p-1020 : 0x1p-124;
    const std::vector<std::pair<C128, C128>> pairs{{{huge, huge}, {huge, huge}},  {{huge, huge}, {2, 2}},
                                                   {{huge, -huge}, {0, 4}},       {{small, small}, {small, small}},
                                                   {{small, 0}, {small, -small}}, {{1, 1}, {huge, huge}},
                                                   {{huge, 1}, {1, 0.5}},         {{huge, huge}, {1, 1}},
                                                   {{small, small}, {huge, 1}}};
    for (const auto& [a, b] : pairs) {
      const Wide want = Wide(a) / Wide(b);
      const Wide got = values(numbers({a}, dtype, device()) / numbers({b}, dtype, device()))[0];
      // Results below the smallest normal number have fewer digits, or are 0 on devices that flush them.
      const long double lost = wide ? 0x1p-1022L : 0x1p-126L;
      EXPECT_LE(std::abs(got - want), 6 * epsilon_of(dtype) * std::abs(want) + lost) << a << " / " << b << " " << got;
    }
    EXPECT_NEAR(doubles(abs(numbers({{huge / 2, huge / 2}}, dtype, device())))[0] / huge, std::sqrt(0.5),
                4 * epsilon_of(dtype));
    EXPECT_NEAR(doubles(abs(numbers({{small, small}}, dtype, device())))[0] / small, std::sqrt(2.0),
                8 * epsilon_of(dtype));
    const Wide root = values(sqrt(numbers({{huge, huge}}, dtype, device())))[0], exact = std::sqrt(Wide(huge, huge));
    EXPECT_LE(std::abs(root - exact), 6 * epsilon_of(dtype) * std::abs(exact));
    const Wide logarithm = values(log(numbers({{huge, huge}}, dtype, device())))[0];
    EXPECT_NEAR(static_cast<double>(logarithm.real()), std::log(huge) + std::log(2.0) / 2,
                4 * epsilon_of(dtype) * std::log(huge));
  }
}

std::string text(const Tensor& t) {
  std::ostringstream stream;
  stream << t;
  return stream.str();
}
TEST_P(ComplexNumbers, EdgesAreThoseOfC) {
  const auto one = [&](C64 z) { return tensor({z}, device()); };
  const float inf = HUGE_VALF, nan = std::nanf("");
  const auto expect = [&](const Tensor& got, double re, double im) {
    const Wide value = values(got)[0];
    const auto same = [](double a, double b) {
      return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
    };
    EXPECT_TRUE(same(static_cast<double>(value.real()), re) && same(static_cast<double>(value.imag()), im))
        << text(got) << ", expected " << re << ", " << im;
  };
  expect(exp(one({0, 0})), 1, 0);
  expect(exp(one({0, -0.0f})), 1, -0.0);
  expect(exp(one({inf, 0})), inf, 0);
  expect(exp(one({-inf, inf})), 0, 0);
  expect(log(one({0, 0})), -kInf, 0);
  expect(log(one({-0.0f, -0.0f})), -kInf, -M_PIf32);
  expect(log(one({inf, inf})), inf, static_cast<float>(M_PI / 4));
  expect(sqrt(one({0, 0})), 0, 0);
  expect(sqrt(one({-0.0f, -0.0f})), 0, -0.0);
  expect(sqrt(one({-4, 0})), 0, 2);
  expect(sqrt(one({-4, -0.0f})), 0, -2);
  expect(sqrt(one({-inf, 1})), 0, inf);
  expect(sqrt(one({1, -inf})), inf, -inf);
  expect(sqrt(one({nan, inf})), inf, inf);
  expect(one({1, 1}) / one({inf, 0}), 0, 0);
  expect(one({1, -1}) / one({0, 0}), inf, -inf);
  expect(one({nan, 1}) + one({1, 1}), nan, 2);
  expect(sign(one({0, 0})), 0, 0);
  expect(pow(one({0, 0}), 2), 0, 0);
  expect(pow(one({0, 0}), 0), 1, 0);
  EXPECT_EQ(abs(one({nan, -inf})).item<float>(), inf);
  EXPECT_TRUE(std::isnan(abs(one({nan, 1})).item<float>()));
  const Tensor z = tensor({C64(1, nan), C64(inf, 0), C64(0, 0)}, device());
  EXPECT_EQ(isnan(z).to_vector<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(isinf(z).to_vector<bool>(), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(isfinite(z).to_vector<bool>(), (std::vector<bool>{false, false, true}));
  EXPECT_EQ((z == z).to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ((z != 0).to_vector<bool>(), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(logical_not(z).to_vector<bool>(), (std::vector<bool>{false, false, true}));
}

TEST_P(ComplexNumbers, PromoteWithRealOnes) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4)}, device()), x = tensor({2.0f, 0.5f}, device()),
               n = tensor({2, 3}, device());
  EXPECT_EQ((z + x).dtype(), c64);
  EXPECT_EQ((z * n).dtype(), c64);
  EXPECT_EQ((z * x.to(bf16)).dtype(), c64);
  EXPECT_EQ((x * C64(0, 1)).dtype(), c64);
  EXPECT_EQ(text(z + x), "[ 3.+2.j, 3.5-4.j]");
  EXPECT_EQ(text(z * n), "[ 2.+4.j, 9.-12.j]");
  EXPECT_EQ(text(n / z), text(n.to(c64) / z));
  EXPECT_EQ(text(C64(0, 1) - z), "[-1.-1.j, -3.+5.j]");
  if (refuses_f64(device())) {
    EXPECT_THROW(zeros({1}, {.dtype = c128, .device = device()}), UnsupportedDType);
    return;
  }
  const Tensor third = full({2}, 1.0 / 3, {.dtype = f64, .device = device()});
  EXPECT_EQ((z + third).dtype(), c128);
  EXPECT_EQ(values(z + third)[0], Wide(1 + 1.0 / 3, 2));
  const Wide exact = std::exp(Wide(1 + 1.0 / 3, 2));
  const auto formula = Pointwise([](auto a, auto b) { return exp(a + b); });
  EXPECT_LE(std::abs(values(formula(z, third))[0] - exact), 4 * 0x1p-52L * std::abs(exact)) << "computed in f64";
  EXPECT_EQ(make_complex(x, third).dtype(), c128);
  EXPECT_EQ(make_complex(n, n).dtype(), c64);
}

// ---- gradients ----
using Function = std::function<Var(const Var&)>;
/// The gradients of f by the parts of six numbers, to the third order, against differences.
void expect_gradients(const char* name, const Function& f, std::vector<double> parts, Device device) {
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
    expect_gradients(name, f, {0.3, -0.7, 1.2, 0.4, -0.6, -0.9}, device());
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
  expect_gradients(
      "log", [](const Var& z) { return log(z); }, {1.3, 0, 0.7, 0.7, 0, -2.5}, device());
  expect_gradients(
      "sqrt", [](const Var& z) { return sqrt(z); }, {1.3, 0, 0.7, 0.7, 0, -2.5}, device());
  expect_gradients(
      "exp", [](const Var& z) { return exp(z); }, {0, 0, 0.7, 0, 0, -2.5}, device());
  expect_gradients(
      "1 / z", [](const Var& z) { return 1 / z; }, {1, 0, 0.7, -0.7, 0, 1}, device());
  expect_gradients(
      "abs", [](const Var& z) { return abs(z); }, {1, 0, 0.7, -0.7, 0, 1}, device());
  expect_gradients(
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

// ---- what moves elements, and what reads them ----
TEST_P(ComplexNumbers, AreMadeAndRead) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4)}, device());
  EXPECT_EQ(z.dtype(), c64);
  EXPECT_EQ(z.to_vector<C64>(), (std::vector<C64>{{1, 2}, {3, -4}}));
  EXPECT_EQ(z[1].item<C64>(), C64(3, -4));
  EXPECT_EQ(z[1].item<C128>(), C128(3, -4));
  EXPECT_EQ(text(z), "[1.+2.j, 3.-4.j]");
  EXPECT_EQ(text(tensor({1, 2}, device()).to(c64)), "[1.+0.j, 2.+0.j]");
  EXPECT_EQ(text(tensor(std::vector<float>{1, 2}, c64, device())), "[1.+0.j, 2.+0.j]");
  EXPECT_EQ(text(zeros({2}, {.dtype = c64, .device = device()})), "[0.+0.j, 0.+0.j]");
  EXPECT_EQ(text(full({2}, C128(1, -1), {.dtype = c64, .device = device()})), "[1.-1.j, 1.-1.j]");
  EXPECT_EQ(text(full({}, 2, {.dtype = c64, .device = device()})), "2.+0.j");
  EXPECT_EQ(text(eye(2, {.dtype = c64, .device = device()})), "[[1.+0.j, 0.+0.j],\n [0.+0.j, 1.+0.j]]");
  EXPECT_EQ(text(arange(0, 3, 1, {.dtype = c64, .device = device()})), "[0.+0.j, 1.+0.j, 2.+0.j]");
  EXPECT_EQ(text(view_as_real(z)), "[[ 1.,  2.],\n [ 3., -4.]]");
  EXPECT_EQ(text(real(z)) + text(imag(z)), "[1., 3.][ 2., -4.]");
  EXPECT_EQ(text(imag(tensor({1.0f, 2.0f}, device()))), "[0., 0.]");
  EXPECT_EQ(text(zeros_like(z)) + text(ones_like(z[0])), "[0.+0.j, 0.+0.j]1.+0.j");
  EXPECT_EQ(z.to(cpu()).to(device()).to_vector<C64>(), z.to_vector<C64>());
  if (device() != cpu()) return;
  EXPECT_EQ(z.data_ptr<const C64>()[1], C64(3, -4));
}
TEST_P(ComplexNumbers, AreViewedStridedAndBroadcast) {
  std::vector<C64> list;
  for (int i = 0; i < 24; ++i) list.emplace_back(static_cast<float>(i), static_cast<float>(-i));
  const Tensor z = tensor(list, {2, 3, 4}, device());
  const Tensor turned = z.permute({2, 0, 1}).slice(0, {}, {}, -2);
  const auto at = [&](int i, int j, int k) { return list[static_cast<std::size_t>(i * 12 + j * 4 + k)]; };
  std::vector<C64> want, product;
  for (const int k : {3, 1})
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) want.push_back(at(i, j, k)), product.push_back(at(i, j, k) * at(0, j, 0));
  EXPECT_EQ(turned.to_vector<C64>(), want);
  EXPECT_EQ(turned.contiguous().to_vector<C64>(), want);
  EXPECT_EQ((turned * z(0, Slice(), 0)).to_vector<C64>(), product) << "a column, broadcast";
  EXPECT_EQ(turned.reshape({-1}).to_vector<C64>(), want);
  EXPECT_EQ(view_as_complex(view_as_real(turned)).strides(), turned.strides());
  const Tensor apart = ones({2, 5}, device()).transpose(0, 1);  // whose pairs do not lie beside each other
  EXPECT_EQ(text(view_as_complex(apart)[0]), "1.+1.j");
  EXPECT_EQ(sum(turned, {0, 2}).to_vector<C64>(), (std::vector<C64>{{36, -36}, {108, -108}}));
  EXPECT_EQ(mean(z, {0}).shape(), (Shape{3, 4}));
  for (const Shape& shape : {Shape{0}, Shape{2, 0, 3}}) {
    const Tensor none = zeros(shape, {.dtype = c64, .device = device()});
    EXPECT_EQ((none * none + exp(none)).shape(), shape);
    EXPECT_EQ(text(sum(none)), "0.+0.j");
    EXPECT_EQ(text(prod(none)), "1.+0.j");
    EXPECT_EQ(matmul(none.reshape({2, 0}), zeros({0, 2}, {.dtype = c64, .device = device()})).dtype(), c64);
  }
}
TEST_P(ComplexNumbers, AreWrittenInPlace) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4), C64(0, 1)}, device());
  Tensor w = z.clone();
  w *= z;
  EXPECT_EQ(text(w), text(z * z));
  w += 1;
  w -= tensor({1.0f}, device());
  EXPECT_EQ(text(w), text(z * z));
  w.slice(0, 0, 2).copy_from(z.slice(0, 1, 3));
  EXPECT_EQ(text(w), "[ 3.-4.j,  0.+1.j, -1.+0.j]");
  assign(w(tensor({true, false, true}, device())), 5);
  EXPECT_EQ(text(w), "[5.+0.j, 0.+1.j, 5.+0.j]");
  assign(w(tensor({1}, device())), tensor({C64(7, 8)}, device()));
  EXPECT_EQ(text(w), "[5.+0.j, 7.+8.j, 5.+0.j]");
  real(w).copy_from(zeros({3}, device()));
  EXPECT_EQ(text(w), "[0.+0.j, 0.+8.j, 0.+0.j]");
  Tensor x = ones({3}, device());
  expect_error(ErrorKind::dtype, {"mul", "f32[3]", "c64"}, [&] { x *= z; });
  expect_error(ErrorKind::dtype, {"copy_from", "c64[3]", "f32[3]"}, [&] { x.copy_from(z); });
}
TEST_P(ComplexNumbers, AreSelectedAndJoined) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4), C64(0, 1)}, device()), i = tensor({2, 0}, device());
  EXPECT_EQ(text(take(z, i)), "[0.+1.j, 1.+2.j]");
  EXPECT_EQ(text(z(i)), "[0.+1.j, 1.+2.j]");
  EXPECT_EQ(text(gather(z, i, -1)), "[0.+1.j, 1.+2.j]");
  EXPECT_EQ(text(scatter_add(z, i, z.slice(0, 0, 2))), "[4.-2.j, 3.-4.j, 1.+3.j]");
  EXPECT_EQ(text(z(abs(z) > 2)), "[1.+2.j, 3.-4.j]");
  EXPECT_EQ(text(concatenate({z.slice(0, 0, 1), ones({1}, device())}, -1)), "[1.+2.j, 1.+0.j]");
  EXPECT_EQ(text(stack({z.slice(0, 0, 1), z.slice(0, 2)}, 1)), "[[1.+2.j, 0.+1.j]]");
  EXPECT_EQ(text(where(tensor({true, false, true}, device()), z, 0)), "[1.+2.j, 0.+0.j, 0.+1.j]");
  EXPECT_EQ(text(masked_fill(z, tensor({true, false, false}, device()), 2)), "[2.+0.j, 3.-4.j, 0.+1.j]");
  EXPECT_EQ(text(cumsum(z, 0)), "[1.+2.j, 4.-2.j, 4.-1.j]");
  EXPECT_EQ(text(flip(z)) + text(roll(z, 1, 0)[0]), "[0.+1.j, 3.-4.j, 1.+2.j]0.+1.j");
  EXPECT_EQ(text(pad(z.slice(0, 0, 1), {{1, 0}})), "[0.+0.j, 1.+2.j]");
  EXPECT_EQ(text(diag(z.slice(0, 0, 2))), "[[1.+2.j, 0.+0.j],\n [0.+0.j, 3.-4.j]]");
  EXPECT_EQ(text(prod(z)), text(z[0] * z[1] * z[2]));
  EXPECT_EQ(text(var(z)), text(var(real(z)) + var(imag(z))));
  EXPECT_NEAR(norm(z).item<float>(), std::sqrt(31.0), 1e-5);
  EXPECT_TRUE(any(z).item<bool>() && all(z).item<bool>() && !any(zeros_like(z)).item<bool>());
  EXPECT_TRUE(allclose(z, z + 1e-9) && !allclose(z, conj(z)));
}
TEST_P(ComplexNumbers, ProductsOfMatrices) {
  Generator generator{3};
  const auto random = [&](const Shape& shape) {
    return make_complex(randn(shape, generator, device()), randn(shape, generator, device()));
  };
  const Tensor a = random({2, 5, 7}), b = random({7, 4}), c = random({4, 7}).mT();
  const auto expect = [&](const Tensor& got, const Tensor& x, const Tensor& y) {
    const Tensor want = sum(x.unsqueeze(-1) * y.unsqueeze(-3), {-2});
    ASSERT_EQ(got.shape(), want.shape());
    const std::vector<Wide> g = values(got), w = values(want);
    for (std::size_t i = 0; i < g.size(); ++i) ASSERT_LE(std::abs(g[i] - w[i]), 1e-5) << i;
  };
  expect(matmul(a, b), a, b);
  expect(matmul(a, c), a, c);
  expect(matmul(a.transpose(0, 1).contiguous().transpose(0, 1), b), a, b);
  expect(matmul(real(a), b), real(a), b);
  expect(matmul(a, imag(b)), a, imag(b));
  expect(einsum("bij,jk->bik", a, b), a, b);
  EXPECT_EQ(matmul(a[0], b.mT()[0]).shape(), (Shape{5}));
  EXPECT_EQ(matmul(b.mT()[0], b).shape(), (Shape{4}));
  expect(outer(b.mT()[0], b[0]), b.mT()[0].reshape({7, 1}), b[0].reshape({1, 4}));
  expect_error(ErrorKind::shape, {"matmul", "c64[2, 5, 7]", "c64[2, 5, 7]"}, [&] { matmul(a, a); });
  expect_error(ErrorKind::dtype, {"matmul", "i32", "c64"}, [&] {
    matmul(ones({5, 7}, {.dtype = i32, .device = device()}), b);
  });
}

/// One kernel, which reads each number once and writes each result once.
TEST_P(ComplexNumbers, TakeOneKernel) {
  const Tensor z = ones({4, 5}, {.dtype = c64, .device = device()}), w = ones({5}, {.dtype = c64, .device = device()});
  const auto expect = [&](auto f, std::int64_t read, std::int64_t written) {
    const TraceCounts before = trace_counts();
    const Tensor y = f();
    const TraceCounts after = trace_counts();
    EXPECT_EQ(after.calls - before.calls, 1);
    EXPECT_EQ(after.bytes_read - before.bytes_read, read);
    EXPECT_EQ(after.bytes_written - before.bytes_written, written);
  };
  expect([&] { return z * w; }, 25 * 8, 20 * 8);
  expect([&] { return z + w; }, 25 * 8, 20 * 8);
  expect([&] { return Pointwise([](auto a, auto b) { return exp(a) / b; })(z, w); }, 25 * 8, 20 * 8);
  expect([&] { return abs(z); }, 20 * 8, 20 * 4);
  expect([&] { return sum(z, {0}); }, 20 * 8, 5 * 8);
}

TEST_P(ComplexNumbers, WhatHasNoMeaningIsRefused) {
  const Tensor z = tensor({C64(1, 2), C64(3, -4)}, device());
  const auto refused = [&](const char* name, auto f) { expect_error(ErrorKind::dtype, {name, "complex"}, f); };
  refused("less", [&] { z < z; });
  refused("greater_equal", [&] { z >= 1; });
  refused("maximum", [&] { maximum(z, z); });
  refused("max", [&] { max(z); });
  refused("argmin", [&] { argmin(z); });
  refused("sort", [&] { sort(z); });
  refused("topk", [&] { topk(z, 1); });
  refused("floor", [&] { floor(z); });
  refused("round", [&] { round(z); });
  refused("mod", [&] { z % z; });
  refused("relu", [&] { relu(z); });
  refused("hypot", [&] { hypot(z, z); });
  refused("softmax", [&] { softmax(z); });
  refused("logsumexp", [&] { logsumexp(z); });
  refused("rms_norm", [&] { rms_norm(z, ones({2}, device())); });
  refused("to", [&] { z.to(f32); });
  refused("my_formula", [&] { Pointwise("my_formula", [](auto x) { return erf(x) * 2; })(z); });
  refused("my_formula", [&] { Pointwise("my_formula", [](auto x) { return x & x; })(z); });
  EXPECT_THROW(z.item<double>(), Error);
  EXPECT_THROW(rand({2}, Generator(1), {.dtype = c64, .device = device()}), Error);
  EXPECT_THROW(linspace(0, 1, 3, {.dtype = c64, .device = device()}), Error);
  EXPECT_THROW(tensor({C64(1, 2)}, f32), Error);
  EXPECT_THROW(gradcheck([](const Var& v) { return sum(abs(v)); }, z), Error);
}

}  // namespace
}  // namespace tern::test
