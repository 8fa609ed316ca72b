// Random compositions: a program as one fused formula and operation by operation gives the same value and gradients to
// second order, and central differences agree. A failing program is shrunk before it is shown.
#include <cstdlib>

#include "derivatives.hpp"

namespace tern::test {
namespace {

/// An expression over three arguments; the root is the last node.
struct Step {
  int op = 0, a = 0, b = 0;
};
struct Composition {
  std::vector<Step> steps;
};
constexpr int kInputs = 3;

/// Smooth everywhere, and without growth that would drown differences.
template <class T> T apply(int op, const T& a, const T& b) {
  switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / (b * b + 1.5);
    case 4: return tanh(a);
    case 5: return sin(a);
    case 6: return sigmoid(a) * b;
    case 7: return softplus(a);
    case 8: return silu(a);
    case 9: return gelu(a) - b;
    case 10: return exp(-(a * a));
    case 11: return sqrt(a * a + 0.75);
    case 12: return log1p(b * b) * a;
    case 13: return erf(a) + 0.5 * b;
    default: return rsqrt(a * a + 1) * cos(b);
  }
}
constexpr int kOps = 15;
constexpr const char* kNames[] = {"add", "sub", "mul", "quotient", "tanh", "sin", "gate", "softplus", "silu", "gelu", "gauss", "root", "log", "erf", "wave"};

template <class T> T evaluate(const Composition& p, const T& x, const T& y, const T& z) {
  std::vector<T> values{x, y, z};
  for (const Step& s : p.steps) values.push_back(apply(s.op, values[static_cast<std::size_t>(s.a)], values[static_cast<std::size_t>(s.b)]));
  return values.back();
}
std::string text(const Composition& p) {
  std::vector<std::string> values{"x", "y", "z"};
  for (const Step& s : p.steps) values.push_back(std::string(kNames[s.op]) + "(" + values[static_cast<std::size_t>(s.a)] + ", " + values[static_cast<std::size_t>(s.b)] + ")");
  return values.back();
}
Composition random_composition(Random& random) {
  Composition p;
  const int count = 1 + static_cast<int>(random.next(0, 7));
  for (int i = 0; i < count; ++i) {
    const auto pick = [&] { return static_cast<int>(random.next(0, kInputs + i)); };
    p.steps.push_back({static_cast<int>(random.next(0, kOps)), i ? kInputs + i - 1 : pick(), pick()});
  }
  return p;
}

class RandomCompositions : public InDouble {
 protected:
  /// What is wrong with a program; nothing where all agree.
  std::string fault(const Composition& p) {
    Random random(5);
    const std::vector<Tensor> x{random.tensor({2, 3}, f64, device()), random.tensor({3}, f64, device()), random.tensor({2, 1}, f64, device())};
    const std::vector<Tensor> v{random.tensor({2, 3}, f64, device()), random.tensor({3}, f64, device()), random.tensor({2, 1}, f64, device())};
    const Tensor weights = random.tensor({2, 3}, f64, device(), 0.3, 1);
    const Pointwise formula{"composition", [&p](auto a, auto b, auto c) { return evaluate<Expr>(p, a, b, c); }};
    using List = std::vector<Var>;
    const auto fused = [&](const List& at) { return sum(formula(at[0], at[1], at[2]) * weights); };
    const auto unfused = [&](const List& at) { return sum(evaluate<Var>(p, at[0], at[1], at[2]) * weights); };
    const auto gradient_of = [](auto f) { return [f](const List& at) { return grad(f)(at); }; };
    const auto numbers = [](const std::vector<Tensor>& list) {
      std::vector<double> all;
      for (const Tensor& t : list)
        for (const double d : doubles(t)) all.push_back(d);
      return all;
    };
    const auto compare = [](const char* what, const std::vector<double>& a, const std::vector<double>& b, double scale) {
      // Up to 7 steps of up to 3 operations each way; sums of 6 terms.
      for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= 512 * 0x1p-52 * (1 + scale))) return std::string(what) + ": fused " + std::to_string(a[i]) + ", step by step " + std::to_string(b[i]);
      return std::string();
    };
    const auto largest = [](const std::vector<double>& list) {
      double top = 0;
      for (const double d : list) top = std::max(top, std::abs(d));
      return top;
    };
    const std::vector<double> g = numbers(grad(fused)(x)), h = numbers(grad(unfused)(x));
    std::string wrong = compare("gradient", g, h, largest(h));
    const std::vector<double> forward = numbers(jvp(gradient_of(fused), x, v).result), reverse = numbers(hvp(unfused, x, v));
    if (wrong.empty()) wrong = compare("second derivative", forward, reverse, largest(reverse) + largest(h));
    if (!wrong.empty()) return wrong;
    const auto at = [&](double step) {
      std::vector<Var> moved;
      for (std::size_t i = 0; i < x.size(); ++i) moved.emplace_back(x[i] + step * v[i], false);
      return fused(moved).item<double>();
    };
    const Difference numeric = difference(at);
    double directional = 0;
    const std::vector<double> direction = numbers(v);
    for (std::size_t i = 0; i < direction.size(); ++i) directional += g[i] * direction[i];
    if (!(std::abs(directional - numeric.value) <= numeric.error + 64 * 0x1p-52 * largest(g)))
      return "gradient along a direction: " + std::to_string(directional) + ", differences give " + std::to_string(numeric.value);
    return {};
  }
  /// The program with steps left out, as long as it still fails.
  Composition shrunk(Composition p) {
    for (std::size_t i = p.steps.size(); i-- > 0 && p.steps.size() > 1;) {
      Composition smaller = p;
      smaller.steps.erase(smaller.steps.begin() + static_cast<std::ptrdiff_t>(i));
      const int removed = kInputs + static_cast<int>(i);
      for (Step& s : smaller.steps)
        for (int* operand : {&s.a, &s.b})
          if (*operand == removed) *operand = p.steps[i].a;
          else if (*operand > removed) --*operand;
      if (!fault(smaller).empty()) p = smaller;
    }
    return p;
  }
};
TERN_EVERY_DEVICE_IN_DOUBLE(RandomCompositions);

TEST_P(RandomCompositions, FusedStepByStepAndDifferencesAgree) {
  const char* count = std::getenv("TERN_TEST_COMPOSITIONS");
  Random random(2024);
  for (int i = 0, n = count ? std::atoi(count) : 1000; i < n; ++i) {
    const Composition p = random_composition(random);
    if (fault(p).empty()) continue;
    const Composition small = shrunk(p);
    FAIL() << "program " << i << ", shrunk: " << text(small) << "\n" << fault(small);
  }
}

}  // namespace
}  // namespace tern::test
