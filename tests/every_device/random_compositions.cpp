// Random compositions: a program as one fused formula and operation by operation gives the same value and gradients to
// second order, and central differences agree; in f32, on every device, both agree with f64 on the CPU. A failing program
// is shrunk before it is shown.
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

using List = std::vector<Var>;
std::vector<double> numbers(const std::vector<Tensor>& list) {
  std::vector<double> all;
  for (const Tensor& t : list)
    for (const double d : doubles(t)) all.push_back(d);
  return all;
}
double largest(const std::vector<double>& list) {
  double top = 0;
  for (const double d : list) top = std::max(top, std::abs(d));
  return top;
}

/// Arguments, a direction for them and weights of the results; those of every dtype are values of f32.
struct Place {
  std::vector<Tensor> x, v;
  Tensor weights;
  Place(DType dtype, Device device) {
    Random random(5);
    const auto list = [&] {
      std::vector<Tensor> all;
      for (const Shape& shape : {Shape{2, 3}, Shape{3}, Shape{2, 1}}) all.push_back(random.tensor(shape, f32, device).to(dtype));
      return all;
    };
    x = list(), v = list(), weights = random.tensor({2, 3}, f32, device, 0.3, 1).to(dtype);
  }
};
/// A program as a scalar function: one fused formula, or operation by operation.
struct Scalar {
  const Composition& p;
  const Place& place;
  bool fused;
  Var operator()(const List& at) const {
    if (!fused) return sum(evaluate<Var>(p, at[0], at[1], at[2]) * place.weights);
    const Pointwise formula{"composition", [this](auto a, auto b, auto c) { return evaluate<Expr>(p, a, b, c); }};
    return sum(formula(at[0], at[1], at[2]) * place.weights);
  }
};
/// Its gradient, and its Hessian's product with the direction in forward or reverse mode.
struct Derivatives {
  std::vector<double> first, second;
  Derivatives(const Scalar& f, bool forward) : first(numbers(grad(f)(f.place.x))) {
    const auto gradient = [&](const List& at) { return grad(f)(at); };
    second = numbers(forward ? jvp(gradient, f.place.x, f.place.v).result : hvp(f, f.place.x, f.place.v));
  }
};
/// What is wrong with derivatives that should be the same; nothing where they agree.
std::string difference_of(const char* which, const Derivatives& got, const Derivatives& want, double eps) {
  const auto compare = [&](const char* what, const std::vector<double>& a, const std::vector<double>& b, double scale) {
    // Up to 7 steps of up to 3 operations each way; sums of 6 terms.
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= 512 * eps * (1 + scale)))
        return std::string(what) + ": " + which + " gives " + std::to_string(a[i]) + " instead of " + std::to_string(b[i]);
    return std::string();
  };
  const std::string first = compare("gradient", got.first, want.first, largest(want.first));
  return first.empty() ? compare("second derivative", got.second, want.second, largest(want.second) + largest(want.first)) : first;
}

/// The program with steps left out, as long as it still fails.
template <class Fault> Composition shrunk(Composition p, const Fault& fault) {
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
/// Tries this many programs (TERN_TEST_COMPOSITIONS: another number); shows the first that fails.
template <class Fault> void try_programs(int count, std::uint64_t seed, const Fault& fault) {
  const char* asked = std::getenv("TERN_TEST_COMPOSITIONS");
  Random random(seed);
  for (int i = 0, n = asked ? std::atoi(asked) : count; i < n; ++i) {
    const Composition p = random_composition(random);
    if (fault(p).empty()) continue;
    const Composition small = shrunk(p, fault);
    FAIL() << "program " << i << ", shrunk: " << text(small) << "\n" << fault(small);
  }
}

class RandomCompositions : public InDouble {};
TERN_EVERY_DEVICE_IN_DOUBLE(RandomCompositions);

TEST_P(RandomCompositions, FusedStepByStepAndDifferencesAgree) {
  const Place place(f64, device());
  const auto fault = [&](const Composition& p) -> std::string {
    const Scalar fused{p, place, true};
    const Derivatives got(fused, true), want({p, place, false}, false);
    if (const std::string wrong = difference_of("fused", got, want, 0x1p-52); !wrong.empty()) return wrong;
    const Difference numeric = difference([&](double step) {
      List moved;
      for (std::size_t i = 0; i < place.x.size(); ++i) moved.emplace_back(place.x[i] + step * place.v[i], false);
      return fused(moved).item<double>();
    });
    double directional = 0;
    const std::vector<double> direction = numbers(place.v);
    for (std::size_t i = 0; i < direction.size(); ++i) directional += got.first[i] * direction[i];
    if (std::abs(directional - numeric.value) <= numeric.error + 64 * 0x1p-52 * largest(got.first)) return {};
    return "gradient along a direction: " + std::to_string(directional) + ", differences give " + std::to_string(numeric.value);
  };
  try_programs(1000, 2024, fault);
}

class RandomCompositionsInSingle : public EveryDevice {};
TERN_EVERY_DEVICE(RandomCompositionsInSingle);

/// Devices that compile kernels in software take fewer programs (more than a second each).
TEST_P(RandomCompositionsInSingle, AgreeWithDoubleOnTheCpu) {
  const Place place(f32, device()), exact(f64, cpu());
  const auto fault = [&](const Composition& p) {
    set_default_device(cpu());
    const Derivatives want({p, exact, false}, false);
    set_default_device(device());
    const std::string wrong = difference_of("fused", Derivatives({p, place, true}, true), want, 0x1p-23);
    return wrong.empty() ? difference_of("step by step", Derivatives({p, place, false}, false), want, 0x1p-23) : wrong;
  };
  try_programs(device() == cpu() || full_test() ? 1000 : 20, 2025, fault);
}

}  // namespace
}  // namespace tern::test
