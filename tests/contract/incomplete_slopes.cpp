// The errors of the gradients of the incomplete gamma and beta functions in their parameters.
#include <cmath>
#include <limits>

#include "contract/quad.hpp"
#include "contract/registry.hpp"

namespace tern::contract {
namespace {

class IncompleteSlopes : public test::EveryDevice {};
TERN_EVERY_DEVICE(IncompleteSlopes);

/// P for x < a + 1, else -Q: what is small of both, with the derivatives of P.
Quad gamma_part(Quad a, Quad x, bool upper) {
  const Quad prefix = expq(a * logq(x) - x - lgammaq(a + 1));
  if (!upper) {
    Quad term = 1, sum = 1;
    for (int n = 1; n < 200000 && term > sum * 1e-33Q; ++n) term *= x / (a + n), sum += term;
    return prefix * sum;
  }
  Quad b = x + 1 - a, c = 1e4000Q, d = 1 / b, h = d;
  for (int i = 1; i < 200000; ++i) {
    const Quad by = -i * (i - a);
    b += 2, d = 1 / (by * d + b), c = b + by / c, h *= d * c;
    if (fabsq(d * c - 1) < 1e-33Q) break;
  }
  return -prefix * a * h;
}
/// I_x(a, b) for x < (a + 1)/(a + b + 2), by Lentz's continued fraction; y = 1 - x.
Quad beta_part(Quad a, Quad b, Quad x, Quad y) {
  Quad c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m < 20000; ++m) {
    const Quad even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d), c = 1 + even / c, h *= d * c;
    const Quad odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d), c = 1 + odd / c, h *= d * c;
    if (fabsq(d * c - 1) < 1e-33Q) break;
  }
  return expq(a * logq(x) + b * logq(y) + lgammaq(a + b) - lgammaq(a) - lgammaq(b)) / a * h;
}
/// f'(a) to 20 digits, by differences.
template <class F> Quad slope(Quad a, F f) {
  const Quad h = a * 1e-7Q;
  return (8 * (f(a + h) - f(a - h)) - (f(a + 2 * h) - f(a - 2 * h))) / (12 * h);
}
double between(double low, double high, std::uint64_t i) {
  return std::exp(std::log(low) + std::log(high / low) * random_unit(i));
}
double times(Device device) { return device.kind() == DeviceKind::cpu ? 1 : device.kind() == DeviceKind::cuda ? 2 : 3; }
template <class S> bool is_small(Quad part) {
  return fabsq(part) < static_cast<Quad>(std::numeric_limits<S>::min()) * 0x1p20Q;
}
template <class S> Tensor column(const std::vector<S>& values, Device device) {
  return tensor(values, Shape{values.size()}, device);
}

template <class S> void check_gamma_slopes(Device device) {
  std::vector<S> a, x;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const double at = between(1e-3, 1e6, 3 * i), u = random_unit(3 * i + 1);
    double to = i % 2 ? at + 12 * std::sqrt(at) * (u - 0.5) : at * std::exp(6 * (u - 0.5));
    if (i % 5 == 0) to = at + 1 + 2 * u;  // where the fraction begins
    if (to <= 0) to = at * random_unit(3 * i + 2);
    a.push_back(static_cast<S>(at)), x.push_back(static_cast<S>(to));
  }
  const Var va(column(a, device));
  const Tensor tx = column(x, device);
  const std::vector<S> got = backward(sum(gammainc(va, tx)))[va].template to_vector<S>();
  const std::vector<S> upper = backward(sum(gammaincc(va, tx)))[va].template to_vector<S>();
  Report report("gammainc in a, " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool above = x[i] >= a[i] + 1;
    const Quad part = gamma_part(a[i], x[i], above);
    if (is_small<S>(part)) continue;
    const Quad want = slope(a[i], [&](Quad t) { return gamma_part(t, x[i], above); });
    const double off = static_cast<double>(fabsq((got[i] - want) / want)) / std::numeric_limits<S>::epsilon();
    if (!(off <= times(device) * 32 * (1 - static_cast<double>(logq(fabsq(part))))) || upper[i] != -got[i])
      report.add([&] { return hex(a[i]) + ", " + hex(x[i]) + ": off by " + std::to_string(off) + " eps"; });
  }
}

template <class S> void check_beta_slopes(Device device) {
  std::vector<S> a, b, x;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const double p = between(1e-2, i % 4 ? 20 : 1000, 4 * i), q = between(1e-2, i % 4 ? 20 : 1000, 4 * i + 1);
    const double mean = p / (p + q), spread = std::sqrt(mean * (1 - mean) / (p + q + 1)), u = random_unit(4 * i + 2);
    double at = i % 2 ? mean + 8 * spread * (u - 0.5) : u;
    if (!(at > 0 && at < 1)) at = random_unit(4 * i + 3);
    a.push_back(static_cast<S>(p)), b.push_back(static_cast<S>(q)), x.push_back(static_cast<S>(at));
  }
  const Var va(column(a, device)), vb(column(b, device));
  const Gradients g = backward(sum(betainc(va, vb, column(x, device))));
  const std::vector<S> got[] = {g[va].template to_vector<S>(), g[vb].template to_vector<S>()};
  Report report("betainc in a and b, " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Quad p = a[i], q = b[i], at = x[i];
    const bool before = at * (p + q + 2) < p + 1;
    const auto part = [&](Quad s, Quad t) {
      return before ? beta_part(s, t, at, 1 - at) : -beta_part(t, s, 1 - at, at);
    };
    const Quad size = fabsq(part(p, q));
    if (is_small<S>(size)) continue;
    const double bound = times(device) * 4 * (16 * (1 - static_cast<double>(logq(size))) + 8 * (a[i] + b[i])) *
                         std::numeric_limits<S>::epsilon();
    const Quad terms = size * (1 / p + 1 / q - logq(at) - logq(1 - at));
    const Quad want[] = {slope(p, [&](Quad t) { return part(t, q); }), slope(q, [&](Quad t) { return part(p, t); })};
    for (int k = 0; k < 2; ++k) {
      const double off = static_cast<double>(fabsq(got[k][i] - want[k]) / terms);
      if (!(off <= bound))
        report.add([&] {
          return std::string(k ? "b of " : "a of ") + hex(a[i]) + ", " + hex(b[i]) + ", " + hex(x[i]) + ": off by " +
                 std::to_string(off / bound) + " of the bound";
        });
    }
  }
}

TEST_P(IncompleteSlopes, AreWithinTheirBounds) {
  if (test::in_software(device()))
    return;  // in software its kernels take minutes to compile
  check_gamma_slopes<float>(device()), check_beta_slopes<float>(device());
  try {
    check_gamma_slopes<double>(device()), check_beta_slopes<double>(device());
  } catch (const UnsupportedDType&) {
  }
}
/// To second order, mixed ones too, where the expansions meet and at the mean; and at the ends.
TEST_P(IncompleteSlopes, HaveDerivatives) {
  if (device() != cpu()) return;
  using Doubles = std::vector<double>;
  const auto expect_slopes = [](const char* name, const auto& f, const Doubles& at) {
    std::vector<Var> x;
    for (const double v : at) x.emplace_back(full({1}, v, f64));
    const Gradients first = backward(sum(f(x)), {.create_graph = true});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto slope_at = [&](std::size_t j, double by) {
        std::vector<Var> moved;
        for (std::size_t k = 0; k < at.size(); ++k) moved.emplace_back(full({1}, at[k] + (k == j ? by : 0), f64));
        return backward(sum(f(moved)))[moved[i]].template item<double>();
      };
      const Gradients second = backward(sum(first.var(x[i])), {.keep_graph = true});
      for (std::size_t j = 0; j < x.size(); ++j) {
        const double h = 1e-5 * at[j], want = (slope_at(j, h) - slope_at(j, -h)) / (2 * h);
        EXPECT_NEAR(second[x[j]].template item<double>(), want, 1e-7 * (1 + std::fabs(want)))
            << name << " of " << at[0] << ", " << at[1] << " by " << i << " and " << j;
      }
    }
  };
  const auto gamma = [](const std::vector<Var>& x) { return gammainc(x[0], x[1]); };
  for (const Doubles& at : {Doubles{0.5, 0.3}, {3, 4}, {30, 30}, {50, 45}}) expect_slopes("gammainc", gamma, at);
  const auto beta = [](const std::vector<Var>& x) { return betainc(x[0], x[1], x[2]); };
  for (const Doubles& at : {Doubles{2, 3, 0.5}, {30, 40, 0.6}}) expect_slopes("betainc", beta, at);
  const double inf = std::numeric_limits<double>::infinity();
  const Var a(full({2}, 3, f64));
  EXPECT_EQ(backward(sum(gammainc(a, tensor(Doubles{0, inf}))))[a].to_vector<double>(), (Doubles{0, 0}));
  EXPECT_EQ(backward(sum(betainc(a, tensor(Doubles{2, 2}), tensor(Doubles{0, 1}))))[a].to_vector<double>(),
            (Doubles{0, 0}));
}

}  // namespace
}  // namespace tern::contract
