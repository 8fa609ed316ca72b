// Random compositions: a program as one fused formula and operation by operation gives the same value and gradients to
// second order, and central differences agree; in f32, on every device, both agree with f64 on the CPU. A failing
// program is shrunk before it is shown.
#include "every_device/registered/compositions.hpp"

namespace tern::test {
namespace {

/// Smooth everywhere, and without growth that would drown differences.
template <class T> T formula_step(int op, const T& a, const T& b) {
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
constexpr const char* kFormulaSteps[] = {"add",  "sub",  "mul",   "quotient", "tanh", "sin", "gate", "softplus",
                                         "silu", "gelu", "gauss", "root",     "log",  "erf", "wave"};

template <class T> T evaluate(const Composition& p, const T& x, const T& y, const T& z) {
  std::vector<T> values{x, y, z};
  for (const Step& s : p.steps)
    values.push_back(formula_step(s.op, values[static_cast<std::size_t>(s.a)], values[static_cast<std::size_t>(s.b)]));
  return values.back();
}
constexpr int kMostFormulaSteps = 7;
const std::vector<Shape> kFormulaShapes{{2, 3}, {3}, {2, 1}};

/// A program as a scalar function: one fused formula, or operation by operation.
struct FormulaProgram {
  const Composition& p;
  const Place& place;
  bool fused;
  Var operator()(const List& at) const {
    if (!fused) return sum(evaluate<Var>(p, at[0], at[1], at[2]) * place.weights);
    const Pointwise formula{"composition", [this](auto a, auto b, auto c) { return evaluate<Expr>(p, a, b, c); }};
    return sum(formula(at[0], at[1], at[2]) * place.weights);
  }
};
class RandomCompositions : public InDouble {};
TERN_EVERY_DEVICE_IN_DOUBLE(RandomCompositions);

TEST_P(RandomCompositions, FusedStepByStepAndDifferencesAgree) {
  const Place place(f64, device(), kFormulaShapes, {2, 3});
  const auto fault = [&](const Composition& p) {
    const FormulaProgram fused{p, place, true};
    const Derivatives got(fused, place, true), want(FormulaProgram{p, place, false}, place, false);
    const std::string wrong = difference_of("fused", got, want, 0x1p-52);
    return wrong.empty() ? difference_from_differences(fused, place, got) : wrong;
  };
  // Of kernels for a program in f64 and its derivatives a GPU's compiler makes one a second: 1000 take a quarter of an
  // hour.
  try_programs(device() == cpu() || full_test() ? 1000 : 20, 2024, kFormulaSteps, kMostFormulaSteps, fault);
}

class RandomCompositionsInSingle : public EveryDevice {};
TERN_EVERY_DEVICE(RandomCompositionsInSingle);

/// Devices that compile kernels in software take fewer programs (more than a second each).
TEST_P(RandomCompositionsInSingle, AgreeWithDoubleOnTheCpu) {
  const Place place(f32, device(), kFormulaShapes, {2, 3}), exact(f64, cpu(), kFormulaShapes, {2, 3});
  const auto fault = [&](const Composition& p) {
    set_default_device(cpu());
    const Derivatives want(FormulaProgram{p, exact, false}, exact, false);
    set_default_device(device());
    const std::string wrong =
        difference_of("fused", Derivatives(FormulaProgram{p, place, true}, place, true), want, 0x1p-23);
    return wrong.empty() ? difference_of("step by step", Derivatives(FormulaProgram{p, place, false}, place, false),
                                         want, 0x1p-23)
                         : wrong;
  };
  try_programs(device() == cpu() || full_test() ? 1000 : 20, 2025, kFormulaSteps, kMostFormulaSteps, fault);
}

}  // namespace
}  // namespace tern::test
