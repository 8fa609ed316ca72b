// Functions of complex numbers against those of std::complex<long double>; the ends of the range, edges, dtypes.
#include "every_device/complex/complex_numbers.hpp"

namespace tern::test {
namespace {

class ComplexNumbers : public EveryDevice {
 protected:
  std::vector<DType> dtypes() const { return dtypes_of(device(), {c64, c128}); }
};
TERN_EVERY_DEVICE(ComplexNumbers);

/// Numbers of every direction and of many sizes, and real and imaginary ones.
std::vector<C128> spread_numbers(double largest) {
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
    const Tensor z = numbers(spread_numbers(largest), dtype, device);
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
    const Tensor z = numbers(spread_numbers(30), dtype, device());
    const std::vector<double> size = doubles(abs(z)), turn = doubles(angle(z));
    for (std::size_t i = 0; i < size.size(); ++i) {
      const Wide at = values(z)[i];
      EXPECT_NEAR(size[i], std::abs(at), 4 * epsilon_of(dtype) * std::abs(at));
      EXPECT_NEAR(turn[i], std::arg(at), 2 * epsilon_of(dtype) * std::abs(std::arg(at)));
    }
    EXPECT_EQ(abs(z).dtype(), real_dtype(dtype));
  }
}

TEST_P(ComplexNumbers, RealOnesAreTheirOwnConjugates) {
  for (const DType dtype : {f32, f16, i32, boolean}) EXPECT_EQ(conj(ones({2}, dtype)).dtype(), dtype);
  const Var x(tensor({1.0F, -2.0F}));
  EXPECT_EQ(doubles(backward(sum(conj(x) * x))[x]), (std::vector<double>{2, -4}));
}
TEST_P(ComplexNumbers, ArithmeticOfTwo) {
  for (const DType dtype : dtypes()) {
    const std::vector<C128> list = spread_numbers(30);
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
  expect(exp(one({inf, inf})), inf, nan);
  expect(exp(one({inf, nan})), inf, nan);
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

/// f of zeros, ones and infinities as the standard library has it. C leaves signs open where a part is NaN and where
/// both parts of the argument are infinite.
template <class F, class R>
void expect_edges(const char* name, const std::vector<DType>& dtypes, Device device, F f, R reference) {
  SCOPED_TRACE(name);
  std::vector<C128> edges;
  for (const double re : {0.0, -0.0, 1.0, -1.0, kInf, -kInf})
    for (const double im : {0.0, -0.0, 1.0, -1.0, kInf, -kInf}) edges.push_back({re, im});
  for (const DType dtype : dtypes) {
    const std::vector<Wide> got = values(f(numbers(edges, dtype, device)));
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const C128 want = reference(edges[i]);
      const bool open = std::isnan(want.real()) || std::isnan(want.imag()) ||
                        (std::isinf(edges[i].real()) && std::isinf(edges[i].imag()));
      const auto same = [&](double a, double b) {
        if (std::isnan(b)) return std::isnan(a);
        if (std::isinf(b)) return std::isinf(a) && (open || (a > 0) == (b > 0));
        return std::abs(a - b) <= 8 * epsilon_of(dtype) && (open || std::signbit(a) == std::signbit(b));
      };
      EXPECT_TRUE(same(static_cast<double>(got[i].real()), want.real()) &&
                  same(static_cast<double>(got[i].imag()), want.imag()))
          << to_string(dtype) << " at " << edges[i] << ": " << got[i] << ", expected " << want;
    }
  }
}
#define TERN_EXPECT_EDGES(name)                                                 \
  expect_edges(                                                                 \
      #name, dtypes(), device(), [](const Tensor& z) { return tern::name(z); }, \
      [](const C128& z) { return std::name(z); })
TEST_P(ComplexNumbers, InfinitiesAreThoseOfTheStandardLibrary) {
  TERN_EXPECT_EDGES(exp);
  TERN_EXPECT_EDGES(log);
  TERN_EXPECT_EDGES(sqrt);
  TERN_EXPECT_EDGES(sin);
  TERN_EXPECT_EDGES(cos);
  TERN_EXPECT_EDGES(tan);
  TERN_EXPECT_EDGES(sinh);
  TERN_EXPECT_EDGES(cosh);
  TERN_EXPECT_EDGES(tanh);
  TERN_EXPECT_EDGES(asin);
  TERN_EXPECT_EDGES(acos);
  TERN_EXPECT_EDGES(atan);
  TERN_EXPECT_EDGES(asinh);
  TERN_EXPECT_EDGES(acosh);
  TERN_EXPECT_EDGES(atanh);
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

/// In place and into a part, at the dtype that is there.
TEST_P(ComplexNumbers, TakeComplexConstants) {
  for (const DType dtype : dtypes()) {
    const C128 a(1, 2), b(-0.5, 3), c(0.1, -0.2);
    Tensor z = numbers({a, b}, dtype, device());
    Var v(z.clone());
    z *= c, z += c, z -= C64(0, 1), z /= C128(0, 2);
    v *= c, v += c, v -= C64(0, 1), v /= C128(0, 2);
    const std::vector<Wide> got = values(z), recorded = values(v.value());
    const std::vector<C128> from{a, b};
    for (std::size_t i = 0; i < 2; ++i) {
      const Wide want = ((Wide(from[i]) * Wide(c) + Wide(c)) - Wide(0, 1)) / Wide(0, 2);
      EXPECT_LE(std::abs(got[i] - want), 4 * epsilon_of(dtype) * std::abs(want)) << to_string(dtype);
      EXPECT_LE(std::abs(recorded[i] - want), 4 * epsilon_of(dtype) * std::abs(want)) << to_string(dtype);
    }
    assign(z(1), C128(4, -7));
    EXPECT_EQ(values(z)[1], Wide(4, -7));
    EXPECT_EQ(values(z)[0], got[0]);
  }
  Tensor x = ones({2}, {.device = device()});
  expect_error(ErrorKind::dtype, {"mul", "f32[2]", "c64"}, [&] { x *= C64(0, 1); });
}
TEST_P(ComplexNumbers, PartsThatAreNumbers) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : dtypes()) {
    const double most = dtype == c64 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    const Tensor z = numbers({{1, nan}, {-inf, 2}, {nan, inf}}, dtype, device());
    EXPECT_EQ(values(nan_to_num(z)), (std::vector<Wide>{{1, 0}, {-most, 2}, {0, most}}));
    EXPECT_EQ(values(nan_to_num(Var(z)).value()), (std::vector<Wide>{{1, 0}, {-most, 2}, {0, most}}));
  }
}

}  // namespace
}  // namespace tern::test
