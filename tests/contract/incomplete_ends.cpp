// The slopes of the incomplete gamma and beta functions where x or a is as small as f32's numbers go, subnormal ones
// too, against series in __float128.
#include <cmath>
#include <limits>

#include "contract/quad.hpp"
#include "contract/registry.hpp"

namespace tern::contract {
namespace {

class IncompleteEnds : public test::EveryDevice {};
TERN_EVERY_DEVICE(IncompleteEnds);

/// ψ(a + b) - ψ(b), also where a is far below b.
Quad digamma_difference(Quad a, Quad b) {
  const Quad h = b / 1e8;
  if (a > h) return polygamma_positive(0, a + b) - polygamma_positive(0, b);
  return a * (polygamma_positive(0, b + h) - polygamma_positive(0, b - h)) / (2 * h);
}
struct Slopes {
  Quad by_a, by_b, by_x;
};
/// P(a, x) for x <= 1e-4.
Slopes gamma_slopes(Quad a, Quad x) {
  Quad by_a = 0;
  for (int n = 0; n < 12; ++n)
    by_a += expq((a + n) * logq(x) - x - lgammaq(a + n + 1)) * (logq(x) - polygamma_positive(0, a + n + 1));
  return {by_a, 0, a * expq((a - 1) * logq(x) - x - lgammaq(a + 1))};
}
/// I_x(a, b) for b·x <= 1e-8: two terms of its series of powers.
Slopes beta_slopes(Quad a, Quad b, Quad x) {
  const Quad prefix = expq(a * logq(x) + lgammaq(a + b) - lgammaq(a + 1) - lgammaq(b));
  const Quad next = (1 - b) * x / (a + 1), value = prefix * (1 + a * next);
  return {value * (logq(x) + polygamma_positive(0, a + b) - polygamma_positive(0, a + 1)) + prefix * next / (a + 1),
          value * digamma_difference(a, b) - prefix * a * x / (a + 1), prefix * a * expq((b - 1) * log1pq(-x)) / x};
}

constexpr float kSmall[] = {0x1p-149f, 3e-45f, 1e-40f, 0x1p-127f, 0x1p-126f, 1.2e-38f, 1e-37f, 1e-30f, 1e-12f};
constexpr float kParameters[] = {0x1p-149f, 1e-40f, 0x1p-126f, 1e-30f, 1e-3f, 0.1f, 0.5f, 1, 1.5f, 3, 5, 5.5f, 21};

/// Within so many units of f32's eps of `size`, or one unit in the last place of subnormal numbers.
void compare_slope(Report& report, const char* name, float got, Quad want, Quad size, double units, float a, float x) {
  const Quad most = std::numeric_limits<float>::max();
  if (fabsq(want) > most * (1 + units * 0x1p-23)) {
    if (!std::isinf(got)) report.add([&] { return std::string(name) + " is not infinite: " + hex(a) + ", " + hex(x); });
    return;
  }
  const Quad off = fabsq(got - want), bound = units * 0x1p-23Q * size + 0x1p-149Q * (2 - logq(x));
  if (!(off <= bound) && !(std::isinf(got) && fabsq(want) > most * (1 - units * 0x1p-23)))
    report.add([&] {
      return std::string(name) + "(" + hex(a) + ", " + hex(x) + ") got " + hex(got) + ", want " +
             hex(static_cast<double>(want)) + ", " + std::to_string(static_cast<double>(off / bound)) + " of the bound";
    });
}
/// What the logarithms multiply: those of x^a and x^(a - 1).
double units(float a, float x) { return 32 * (1 - (a + 1) * std::log(static_cast<double>(x))); }

TEST_P(IncompleteEnds, SlopesAreWithinTheirBounds) {
  if (device() != cpu()) return;  // GPUs may take subnormal numbers for zeros
  std::vector<float> a, x;
  for (const float p : kParameters)
    for (const float at : kSmall) a.push_back(p), x.push_back(at);
  const auto var = [&](const std::vector<float>& v) { return Var(tensor(v, Shape{v.size()})); };
  const Var va = var(a), vx = var(x);
  Report report("slopes of gammainc and betainc");
  const Gradients of_gamma = backward(sum(gammainc(va, vx)));
  const std::vector<float> gamma_a = of_gamma[va].to_vector<float>(), gamma_x = of_gamma[vx].to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Slopes want = gamma_slopes(a[i], x[i]);
    compare_slope(report, "gammainc by a", gamma_a[i], want.by_a, fabsq(want.by_a), units(a[i], x[i]), a[i], x[i]);
    compare_slope(report, "gammainc by x", gamma_x[i], want.by_x, fabsq(want.by_x), units(a[i], x[i]), a[i], x[i]);
  }
  for (const float b : {0.5f, 2.0f, 30.0f}) {
    const Var vb = var(std::vector<float>(a.size(), b));
    const Gradients g = backward(sum(betainc(va, vb, vx)));
    const auto by_a = g[va].to_vector<float>(), by_b = g[vb].to_vector<float>(), by_x = g[vx].to_vector<float>();
    const std::string name = "betainc of b = " + std::to_string(b) + " by ";
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Slopes want = beta_slopes(a[i], b, x[i]);
      const Quad terms = fabsq(want.by_a) + fabsq(want.by_b);
      compare_slope(report, (name + "a").c_str(), by_a[i], want.by_a, fabsq(want.by_a), units(a[i], x[i]), a[i], x[i]);
      compare_slope(report, (name + "b").c_str(), by_b[i], want.by_b, terms, units(a[i], x[i]), a[i], x[i]);
      compare_slope(report, (name + "x").c_str(), by_x[i], want.by_x, fabsq(want.by_x), units(a[i], x[i]), a[i], x[i]);
    }
  }
}

}  // namespace
}  // namespace tern::contract
