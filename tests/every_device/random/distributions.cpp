// Distributions (include/tern/random.hpp): each against its distribution function, with fixed seeds and bounds that a
// right one exceeds once in a thousand seeds; the same numbers on every device; gradients; replays; errors. (Longer
// than other files: a list of all distributions serves each of these.)
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "every_device/gradients/derivatives.hpp"

namespace tern::test {
namespace {

class Distributions : public EveryDevice {};
using Numbers = std::vector<double>;

/// f(x) of every number, in f64 on the CPU.
template <class F> Numbers each(const Numbers& x, F f) { return doubles(f(tensor(x, Shape{x.size()}, cpu()))); }
Tensor like(const Tensor& x, double value) { return full_like(x, value); }

/// Kolmogorov and Smirnov's largest distance times √n, which exceeds 1.95 once in a thousand.
void expect_distributed(const char* name, const Tensor& drawn, const std::function<Numbers(const Numbers&)>& cdf) {
  Numbers x = doubles(drawn);
  std::ranges::sort(x);
  const Numbers p = cdf(x);
  const double n = static_cast<double>(x.size());
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    most =
        std::max({most, std::abs(p[i] - static_cast<double>(i) / n), std::abs(p[i] - static_cast<double>(i + 1) / n)});
  EXPECT_LE(most * std::sqrt(n), 1.95) << name;
}
std::function<Numbers(const Numbers&)> every(double (*f)(double)) {
  return [f](Numbers x) {
    for (double& v : x) v = f(v);
    return x;
  };
}
/// Pearson's χ² of counts of whole numbers, by classes of at least 10 expected: in units of its deviation from its
/// degrees of freedom, which exceed 4 less than once in a thousand.
void expect_counts(const char* name, const Tensor& drawn, const std::function<double(double)>& log_probability) {
  const Numbers x = doubles(drawn);
  const double n = static_cast<double>(x.size()), largest = *std::ranges::max_element(x);
  Numbers counts(static_cast<std::size_t>(largest) + 1);
  for (const double v : x) {
    ASSERT_TRUE(v >= 0 && v == std::floor(v)) << name << " gave " << v;
    ++counts[static_cast<std::size_t>(v)];
  }
  double square = 0, classes = -1, expected = 0, seen = 0, left = n;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    expected += n * std::exp(log_probability(static_cast<double>(k))), seen += counts[k];
    if (expected < 10 || left - expected < 10) continue;
    square += (seen - expected) * (seen - expected) / expected, left -= expected, ++classes, expected = seen = 0;
  }
  square += (seen - left) * (seen - left) / left, ++classes;
  EXPECT_LE((square - classes) / std::sqrt(2 * classes), 4) << name << ": χ² " << square << " of " << classes;
}

const std::int64_t kDraws = full_test() ? 10000000 : 100000;
const Shape kShape{kDraws};

TEST_P(Distributions, OfUniformsAndNormals) {
  for (const DType dtype : {f32, f64}) {
    if (dtype == f64 && device().kind() == DeviceKind::webgpu) continue;
    expect_distributed("rand", rand(kShape, Generator{8}, {.dtype = dtype}), every([](double x) { return x; }));
    expect_distributed("randn", randn(kShape, Generator{9}, {.dtype = dtype}), every([](double x) {
                         return 0.5 * std::erfc(-x / std::sqrt(2.0));
                       }));
  }
  expect_counts("randint", randint(0, 100, kShape, Generator{10}).to(f32),
                [](double k) { return k < 100 ? -std::log(100.0) : -1e300; });
}
/// Where what decides about a proposal cancels but for its last digits.
TEST_P(Distributions, GammaOfLargeConcentrations) {
  for (const double concentration : {1e5, 1e8}) {
    const Numbers x = doubles(gamma(concentration, 1.0, kShape, Generator{51}));
    double mean = 0, square = 0;
    for (const double v : x) mean += (v - concentration) / static_cast<double>(kDraws);
    for (const double v : x) square += (v - concentration - mean) * (v - concentration - mean);
    const double deviation = std::sqrt(square / static_cast<double>(kDraws));
    // Besides the draws' own scatter, the rounding of a logarithm: 10^-6 of a number, 1 % of the deviation of 10^8.
    EXPECT_NEAR(mean / std::sqrt(concentration), 0, 0.02) << concentration;
    EXPECT_NEAR(deviation / std::sqrt(concentration), 1, 0.015) << concentration;
  }
}
TEST_P(Distributions, OfInverseTransforms) {
  expect_distributed("exponential", exponential(2.0, kShape, Generator{1}),
                     every([](double x) { return -std::expm1(-2 * x); }));
  expect_distributed("laplace", laplace(1.0, 3.0, kShape, Generator{2}), every([](double x) {
                       const double t = (x - 1) / 3;
                       return t < 0 ? 0.5 * std::exp(t) : 1 - 0.5 * std::exp(-t);
                     }));
  expect_distributed("gumbel", gumbel(-1.0, 2.0, kShape, Generator{3}),
                     every([](double x) { return std::exp(-std::exp(-(x + 1) / 2)); }));
  expect_distributed("cauchy", cauchy(1.0, 0.5, kShape, Generator{4}),
                     every([](double x) { return 0.5 + std::atan((x - 1) / 0.5) / 3.141592653589793; }));
  expect_distributed("lognormal", lognormal(0.5, 0.75, kShape, Generator{5}),
                     every([](double x) { return 0.5 * std::erfc(-(std::log(x) - 0.5) / 0.75 / std::sqrt(2.0)); }));
  expect_distributed("truncated_normal", truncated_normal(-1.0, 2.5, kShape, Generator{6}), every([](double x) {
                       const auto phi = [](double t) { return 0.5 * std::erfc(-t / std::sqrt(2.0)); };
                       return (phi(x) - phi(-1)) / (phi(2.5) - phi(-1));
                     }));
  // The mean of 0 and 1, to four deviations.
  EXPECT_NEAR(doubles(mean(bernoulli(0.3, kShape, Generator{7})))[0], 0.3, 4 * std::sqrt(0.21 / kDraws));
  EXPECT_EQ(doubles(sum(bernoulli(0.0, kShape, Generator{7})))[0], 0);
  EXPECT_EQ(doubles(sum(bernoulli(1.0, kShape, Generator{7})))[0], kDraws);
}

TEST_P(Distributions, OfGammaAndItsRelatives) {
  for (const double a : {0.1, 0.7, 1.0, 3.5, 250.0}) {
    expect_distributed("gamma", gamma(a, 2.0, kShape, Generator{11}), [a](const Numbers& x) {
      return each(x, [a](const Tensor& t) { return gammainc(like(t, a), 2 * t); });
    });
    expect_distributed("beta", beta(a, 2.0, kShape, Generator{12}), [a](const Numbers& x) {
      return each(x, [a](const Tensor& t) { return betainc(like(t, a), like(t, 2), t); });
    });
  }
  for (const double f : {1.0, 4.5, 30.0})
    expect_distributed("student_t", student_t(f, kShape, Generator{13}), [f](const Numbers& x) {
      return each(x, [f](const Tensor& t) {
        const Tensor half = 0.5 * betainc(like(t, f / 2), like(t, 0.5), f / (f + t * t));
        return where(t < 0, half, 1 - half);
      });
    });
  // Each part of Dirichlet's is a beta number, and all add up to 1.
  const Tensor d = dirichlet(tensor({0.5f, 1.5f, 3.0f}), {kDraws, 3}, Generator{14});
  for (const double s : doubles(sum(d, -1))) ASSERT_NEAR(s, 1, 1e-6);
  expect_distributed("dirichlet", d.slice(1, 1, 2), [](const Numbers& x) {
    return each(x, [](const Tensor& t) { return betainc(like(t, 1.5), like(t, 3.5), t); });
  });
}

TEST_P(Distributions, OfCounts) {
  for (const double rate : {0.2, 9.5, 10.5, 180.0})
    expect_counts("poisson", poisson(rate, kShape, Generator{21}),
                  [rate](double k) { return k * std::log(rate) - rate - std::lgamma(k + 1); });
  for (const auto& [n, p] : {std::pair{7.0, 0.4}, {30.0, 0.25}, {100.0, 0.35}, {400.0, 0.8}, {2000.0, 0.001}})
    expect_counts("binomial", binomial(n, p, kShape, Generator{22}), [n = n, p = p](double k) {
      return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
             (n - k) * std::log1p(-p);
    });
  // Rates that differ, some by inversion and some by rejection.
  const Tensor mixed = poisson(tensor({3.0f, 30.0f}), {kDraws, 2}, Generator{23});
  for (const int i : {0, 1}) {
    const double rate = i ? 30 : 3;
    EXPECT_NEAR(doubles(mean(mixed.slice(1, i, i + 1)))[0], rate, 4 * std::sqrt(rate / kDraws)) << rate;
  }
}

TEST_P(Distributions, OfChoices) {
  const std::vector<double> weights{1, 2, 3, 4};
  const Tensor w = tensor({1.0f, 2.0f, 3.0f, 4.0f});
  const auto log_weight = [&](double k) {
    return k < 4 ? std::log(weights[static_cast<std::size_t>(k)] / 10) : -1e300;
  };
  expect_counts("categorical", categorical(log(w), kShape, Generator{31}).to(f32), log_weight);
  expect_counts("multinomial", multinomial(w, kDraws, true, Generator{32}).to(f32), log_weight);
  // Without replacement: of 4, 2 in order (i, j) have w[i]·w[j]/(10 - w[i])/10.
  const Numbers pairs = doubles(multinomial(w.broadcast_to({kDraws, 4}), 2, false, Generator{33}).to(f32));
  Numbers counts(16);
  for (std::size_t i = 0; i < pairs.size(); i += 2) ++counts[static_cast<std::size_t>(4 * pairs[i] + pairs[i + 1])];
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const double p = i == j ? 0 : weights[i] / 10 * weights[j] / (10 - weights[i]);
      EXPECT_NEAR(counts[4 * i + j], kDraws * p, 4 * std::sqrt(kDraws * p * (1 - p))) << i << ", " << j;
    }
}

TEST_P(Distributions, OfOrders) {
  for (const std::int64_t n : {1, 2, 1000, 70000}) {
    Numbers order = doubles(permutation(n, Generator{41}, device()).to(f32));
    std::ranges::sort(order);
    for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<double>(i)) << n;
  }
  EXPECT_EQ(permutation(0, Generator{41}, device()).shape(), Shape({0}));
  EXPECT_EQ(permutation(zeros({0, 2}), Generator{41}).shape(), Shape({0, 2}));
  const Tensor x = arange(0, 12).to(f32).reshape({4, 3});
  const Numbers rows = doubles(sum(permutation(x, Generator{43}), 0));
  EXPECT_EQ(rows, doubles(sum(x, 0)));
  const Numbers some = doubles(choice(10, {5}, Generator{44}, false).to(f32));
  EXPECT_EQ(std::set<double>(some.begin(), some.end()).size(), 5u);
  EXPECT_EQ(choice(x, {2, 5}, Generator{45}).shape(), (Shape{2, 5, 3}));
  // All 6 orders of 3 as often as each other, to four deviations. (The numbers are the same on every device.)
  if (in_software(device())) return;
  Generator g{42};
  std::vector<int> counts(27);
  constexpr int kTimes = 3000;
  for (int i = 0; i < kTimes; ++i) {
    const Numbers p = doubles(permutation(3, g, device()).to(f32));
    ++counts[static_cast<std::size_t>(9 * p[0] + 3 * p[1] + p[2])];
  }
  for (const int at : {5, 7, 11, 15, 19, 21})
    EXPECT_NEAR(counts[static_cast<std::size_t>(at)], kTimes / 6.0, 4 * std::sqrt(kTimes * 5 / 36.0)) << at;
}

TEST_P(Distributions, OfMasksAndWeights) {
  const Var x(full({kDraws}, 2.0));
  const Var y = dropout(x, 0.25, Generator{51});
  const Gradients g = backward(sum(y));
  EXPECT_NEAR(doubles(mean(y))[0], 2, 4 * 2 * std::sqrt(0.25 / 0.75 / kDraws));
  const Numbers values = doubles(y), slopes = doubles(g[x]);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_TRUE(std::abs(slopes[i] - values[i] / 2) < 1e-6 && (values[i] == 0 || std::abs(values[i] - 8.0 / 3) < 1e-6))
        << i;
  EXPECT_EQ(doubles(dropout(x, 0, Generator{51})), doubles(x));
  const Numbers k = doubles(kaiming({100, 20, 5}, Generator{52}));
  const double n = static_cast<double>(k.size());
  double squares = 0;
  for (const double v : k) squares += v * v;
  EXPECT_NEAR(squares / n, 0.02, 4 * 0.02 * std::sqrt(2 / n));
  expect_distributed("xavier", xavier({100, 50, 10}, Generator{53}),
                     every([](double v) { return 0.5 + 0.5 * v / std::sqrt(6.0 / 1500); }));
}

/// Reparameterised: of location and scale the slopes are those of location + scale·e.
TEST_P(Distributions, HaveGradientsInTheirParameters) {
  const Var location(tensor({1.0f})), scale(tensor({2.0f})), rate(tensor({2.0f}));
  const Shape shape{1000};
  const auto expect_slope = [&](const Var& y, const Var& of, double want) {
    EXPECT_NEAR(doubles(backward(sum(y), {.keep_graph = true})[of])[0], want, 1e-3 * (1 + std::abs(want)));
  };
  const Var l = laplace(location, scale, shape, Generator{61}), u = gumbel(location, scale, shape, Generator{62});
  for (const Var& y : {l, u}) {
    expect_slope(y, location, 1000);
    expect_slope(y, scale, (doubles(sum(y))[0] - 1000) / 2);
  }
  const Var e = exponential(rate, shape, Generator{63}), g = gamma(3.0, rate, shape, Generator{64});
  for (const Var& y : {e, g}) expect_slope(y, rate, -doubles(sum(y))[0] / 2);
  const Var n = lognormal(location, scale, shape, Generator{65});
  expect_slope(n, location, doubles(sum(n))[0]);
  const Var low(tensor({-1.0f})), high(tensor({2.0f}));
  const auto total = [&](float a, float b) {
    return doubles(sum(truncated_normal(tensor({a}), tensor({b}), shape, Generator{66})))[0];
  };
  const Var t = truncated_normal(low, high, shape, Generator{66});
  expect_slope(t, low, (total(-1 + 0x1p-6f, 2) - total(-1 - 0x1p-6f, 2)) * 32);
  expect_slope(t, high, (total(-1, 2 + 0x1p-6f) - total(-1, 2 - 0x1p-6f)) * 32);
}

/// The numbers of a generator, as functions of both parameters.
class DistributionGradients : public InDouble {};
TERN_EVERY_DEVICE_IN_DOUBLE(DistributionGradients);
TEST_P(DistributionGradients, ToThirdOrder) {
  const auto check = [&](const char* name, auto draw) {
    const auto f = [&](const Var& x) {
      const Options options{.dtype = f64, .device = device()};
      return draw(x.slice(0, 0, 3), exp(x.slice(0, 3, 6)), Shape{3}, Generator{7}, options);
    };
    check_three_orders(name, f, make({0.3, -0.7, 0.1, 0.4, -0.2, 0.6}, {6}, f64, device()));
  };
#define TERN_CHECK(name, ...)                                                                                 \
  check(#name, [](const Var& a, const Var& b, const Shape& shape, Generator from, const Options& options) { \
    return name(__VA_ARGS__, shape, from, options);                                                           \
  })
  TERN_CHECK(exponential, exp(a) + b);
  TERN_CHECK(laplace, a, b);
  TERN_CHECK(gumbel, a, b);
  TERN_CHECK(cauchy, a, b);
  TERN_CHECK(lognormal, a, b);
  TERN_CHECK(truncated_normal, a, a + b);
  TERN_CHECK(gamma, 2.0, a * a + b);
#undef TERN_CHECK
}

/// z as a function of a where P(a, z) keeps its value, by solving that for z at neighbouring a.
TEST_P(Distributions, GammaHasTheGradientOfItsQuantiles) {
  if (device() != cpu()) return;  // whose kernels are the same formulas
  const auto number = [](double v) { return full({}, v, {.dtype = f64, .device = cpu()}); };
  const auto quantile_near = [&](double a, double p, double z) {
    for (int i = 0; i < 50; ++i) {
      const Var at(number(z));
      const Var reached = gammainc(number(a), at);
      z -= (reached.value().item<double>() - p) / backward(sum(reached))[at].item<double>();
    }
    return z;
  };
  for (const double a : {0.3, 1.0, 3.0, 19.5, 20.5, 300.0}) {
    const Var concentration(full({8}, a, {.dtype = f64, .device = cpu()}));
    const Var y = gamma(concentration, 1.0, {8}, Generator{67}, {.dtype = f64, .device = cpu()});
    const Gradients g = backward(sum(y), {.create_graph = true});
    const Gradients second = backward(sum(g.var(concentration)));
    const Numbers z = doubles(y), slopes = doubles(g[concentration]), bends = doubles(second[concentration]);
    const double h = 1e-3 * a;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double p = gammainc(number(a), number(z[i])).item<double>();
      if (p > 0.99) continue;  // too near 1 to be solved for
      const double after = quantile_near(a + h, p, z[i]), before = quantile_near(a - h, p, z[i]);
      EXPECT_NEAR(slopes[i], (after - before) / (2 * h), 1e-5) << a << ", " << z[i];
      EXPECT_NEAR(bends[i] * a, (after - 2 * z[i] + before) / (h * h) * a, 1e-3) << a << ", " << z[i];
    }
  }
}
/// Means of gradients are the gradients of means.
TEST_P(Distributions, HaveGradientsInTheirConcentration) {
  const auto expect_slope = [&](const char* name, const Var& y, const Var& of, double want, double within) {
    EXPECT_NEAR(doubles(backward(sum(y))[of])[0] / kDraws, want, within) << name;
  };
  for (const float a : {0.1f, 2.0f, 50.0f}) {
    if (left_out(device(), 2)) continue;
    const Var concentration(tensor({a}));
    expect_slope("gamma", gamma(concentration, 2.0, kShape, Generator{68}), concentration, 0.5, 0.02);
    const double sum_of_both = static_cast<double>(a) + 2;
    expect_slope("beta", beta(concentration, 2.0, kShape, Generator{69}), concentration,
                 2 / (sum_of_both * sum_of_both), 0.02);
  }
  const Var freedom(tensor({8.0f}));  // E[t²] = f/(f - 2)
  expect_slope("student_t", square(student_t(freedom, kShape, Generator{70})), freedom, -2.0 / 36, 0.01);
  const Var parts(tensor({1.0f, 2.0f, 3.0f}));
  const Var first = dirichlet(parts, {kDraws, 3}, Generator{71}).slice(1, 0, 1);
  expect_slope("dirichlet", first, parts, 5.0 / 36, 0.005);
}
/// As SciPy's and PyTorch's: points of which each box of a halved cube has as many.
TEST_P(Distributions, SobolPointsAreEven) {
  const Options options{.device = device()};
  const Numbers row = doubles(sobol({1, 1024}, 12345, options));
  // scipy.stats.qmc.Sobol(1024, scramble=False).fast_forward(12345).random(1)
  EXPECT_EQ(row[0], 0.64093017578125);
  EXPECT_EQ(row[1], 0.81341552734375);
  EXPECT_EQ(row[77], 0.31915283203125);
  EXPECT_EQ(row[1023], 0.57708740234375);
  for (const Tensor& points : {sobol({256, 64}, 0, options), sobol({256, 64}, Generator{72}, options)}) {
    const Numbers x = doubles(points);
    for (std::size_t d = 0; d < 64; ++d) {
      std::set<int> boxes;
      for (std::size_t i = 0; i < 256; ++i) boxes.insert(static_cast<int>(x[i * 64 + d] * 256));
      EXPECT_EQ(boxes.size(), 256u) << "dimension " << d;
    }
  }
  EXPECT_EQ(doubles(sobol({8, 3}, 0, options).slice(0, 5)), doubles(sobol({3, 3}, 5, options)));
  EXPECT_EQ(sobol({0, 3}, 0, options).shape(), (Shape{0, 3}));
  for (const DType d : {f16, bf16}) {
    const Tensor narrow = sobol({1 << 14, 2}, 0, {.dtype = d, .device = device()});
    EXPECT_LT(max(narrow.to(f32)).item<float>(), 1) << to_string(d);
    EXPECT_TRUE(all(narrow.to(f32) <= sobol({1 << 14, 2}, 0, options)).item<bool>()) << to_string(d);
  }
}
TEST_P(Distributions, OrthogonalWeightsAre) {
  for (const Shape& shape : {Shape{6, 2, 5}, Shape{12, 5}, Shape{1, 1}}) {
    const Tensor w = orthogonal(shape, Generator{73}, {.device = device()}).reshape({shape[0], -1});
    const Tensor product = shape[0] > w.size(1) ? matmul(w.mT(), w) : matmul(w, w.mT());
    const Numbers all = doubles(product);
    const auto n = static_cast<std::size_t>(product.size(0));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], i % (n + 1) == 0 ? 1 : 0, 1e-5) << i;
  }
}

/// Every distribution, of a generator and a dtype.
const std::pair<const char*, std::function<Tensor(Generator&, const Options&)>> kDistributions[] = {
    {"bernoulli", [](Generator& g, const Options& o) { return bernoulli(0.4, {500}, g, o); }},
    {"exponential", [](Generator& g, const Options& o) { return exponential(1.5, {500}, g, o); }},
    {"laplace", [](Generator& g, const Options& o) { return laplace(0.0, 1.0, {500}, g, o); }},
    {"gumbel", [](Generator& g, const Options& o) { return gumbel(0.0, 1.0, {500}, g, o); }},
    {"cauchy", [](Generator& g, const Options& o) { return cauchy(0.0, 1.0, {500}, g, o); }},
    {"lognormal", [](Generator& g, const Options& o) { return lognormal(0.0, 0.5, {500}, g, o); }},
    {"truncated_normal", [](Generator& g, const Options& o) { return truncated_normal(-1.0, 1.0, {500}, g, o); }},
    {"gamma", [](Generator& g, const Options& o) { return gamma(2.5, 1.0, {500}, g, o); }},
    {"beta", [](Generator& g, const Options& o) { return beta(0.5, 2.0, {500}, g, o); }},
    {"student_t", [](Generator& g, const Options& o) { return student_t(5.0, {500}, g, o); }},
    {"dirichlet",
     [](Generator& g, const Options& o) {
       return dirichlet(1.5, {100, 5}, g, o);
     }},
    {"poisson", [](Generator& g, const Options& o) { return poisson(4.0, {500}, g, o); }},
    {"poisson, large", [](Generator& g, const Options& o) { return poisson(40.0, {500}, g, o); }},
    {"binomial", [](Generator& g, const Options& o) { return binomial(60.0, 0.5, {500}, g, o); }},
    {"kaiming",
     [](Generator& g, const Options& o) {
       return kaiming({50, 10}, g, o);
     }},
    {"xavier",
     [](Generator& g, const Options& o) {
       return xavier({50, 10}, g, o);
     }},
    {"sobol",
     [](Generator& g, const Options& o) {
       return sobol({50, 10}, g, o);
     }},
};
/// Rounding of elementary functions may decide otherwise about a proposal, or about a count, here and there.
TEST_P(Distributions, AreTheSameOnEveryDevice) {
  for (const auto& [name, draw] : kDistributions)
    for (const DType dtype : {f32, f64, f16, bf16}) {
      Generator here{71}, there{71};
      Numbers x;
      try {
        x = doubles(draw(here, {.dtype = dtype, .device = device()}));
      } catch (const UnsupportedDType&) {
        continue;
      }
      const Numbers y = doubles(draw(there, {.dtype = dtype, .device = cpu()}));
      EXPECT_EQ(here.position, there.position) << name;
      const double roundings = dtype == f64 ? 0x1p-44 : dtype == f32 ? 0x1p-16 : dtype == f16 ? 0x1p-9 : 0x1p-6;
      int others = 0;
      for (std::size_t i = 0; i < x.size(); ++i) others += !(std::abs(x[i] - y[i]) <= roundings * (1 + std::abs(y[i])));
      EXPECT_LE(others, 1) << name << " " << to_string(dtype);
    }
}
TEST_P(Distributions, AdvanceTheirGeneratorAtEachReplay) {
  for (const auto& [name, draw] : kDistributions) {
    Generator g{81}, h{81};
    Tensor drawn;
    const Graph graph = capture(device(), [&] { drawn = draw(g, {.device = device()}); });
    for (int i = 0; i < 2; ++i) {
      graph.replay();
      EXPECT_EQ(doubles(drawn), doubles(draw(h, {.device = device()}))) << name << ", replay " << i;
    }
    EXPECT_EQ(g.position, h.position) << name;
  }
}
TEST_P(Distributions, SplitGeneratorsAreIndependent) {
  Generator g{91}, h{91};
  Generator first = g.split(), second = g.split();
  const Numbers a = doubles(randn({kDraws}, first)), b = doubles(randn({kDraws}, second)),
                c = doubles(randn({kDraws}, g));
  for (const auto& [x, y] : {std::pair{&a, &b}, {&a, &c}, {&b, &c}}) {
    double product = 0;
    for (std::size_t i = 0; i < x->size(); ++i) product += (*x)[i] * (*y)[i];
    EXPECT_LE(std::abs(product / std::sqrt(static_cast<double>(kDraws))), 4) << "correlated";
  }
  Generator again = h.split();
  EXPECT_EQ(doubles(randn({kDraws}, again)), a) << "the same parent gives the same child";
  // Recorded, it is split anew at each replay.
  Generator parent{92}, plain{92};
  Tensor drawn;
  const Graph graph = capture(device(), [&] {
    Generator child = parent.split();
    drawn = rand({8}, child) + rand({8}, parent);
  });
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    Generator child = plain.split();
    EXPECT_EQ(doubles(drawn), doubles(rand({8}, child) + rand({8}, plain))) << i;
  }
}

TEST_P(Distributions, RefuseWhatIsOutsideTheirDomain) {
  Generator g{1};
  const auto value = ErrorKind::value;
  expect_error(value, {"bernoulli", "p must be from 0 to 1"}, [&] { bernoulli(1.5, {2}, g); });
  expect_error(value, {"exponential", "rate", "above 0"}, [&] { exponential(0.0, {2}, g); });
  expect_error(value, {"laplace", "scale"}, [&] { laplace(0.0, -1.0, {2}, g); });
  expect_error(value, {"gamma", "concentration"}, [&] { gamma(-2.0, 1.0, {2}, g); });
  expect_error(value, {"poisson", "at least 0"}, [&] { poisson(-1.0, {2}, g); });
  expect_error(value, {"binomial", "p must be"}, [&] { binomial(3, -0.1, {2}, g); });
  expect_error(value, {"truncated_normal", "below high"}, [&] { truncated_normal(2.0, 1.0, {2}, g); });
  expect_error(value, {"permutation", "n must be"}, [&] { permutation(-1, g); });
  expect_error(value, {"choice", "without replacement"}, [&] { choice(3, {4}, g, false); });
  expect_error(value, {"multinomial", "at most 3"}, [&] { multinomial(ones({3}), 4, false, g); });
  expect_error(value, {"categorical", "choices"}, [&] { categorical(ones({2, 0}), {2}, g); });
  expect_error(value, {"dropout", "p must be"}, [&] { dropout(ones({2}), 1, g); });
  expect_error(ErrorKind::shape, {"exponential", "[3]", "[2]"}, [&] { exponential(ones({3}), {2}, g); });
  expect_error(ErrorKind::dtype, {"gumbel", "i32"}, [&] { gumbel(0.0, 1.0, {2}, g, {.dtype = i32}); });
  EXPECT_EQ(g.position, 0u) << "refused calls draw nothing";
  for (const double v : doubles(bernoulli(tensor({-0.5f, 1.5f}), {2}, g))) EXPECT_TRUE(std::isnan(v));
}

TERN_EVERY_DEVICE(Distributions);

}  // namespace
}  // namespace tern::test
