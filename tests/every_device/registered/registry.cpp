// Every elementary function and formula of the registry, forward, backward and at second order, on every device: what
// docs/ops.md lists is what runs here.
#include "every_device/reference.hpp"
#include "formula/graph.hpp"

namespace tern::test {
namespace {

struct RegisteredFormula {
  const char* name;
  const Pointwise<>* formula;
};

std::vector<RegisteredFormula> registry() {
  return {
#define TERN_ELEMENTARY(name, arity) {#name, &op::name},
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA(name, ...) {#name, &op::name},
#define TERN_GATED(name, activation) {#name, &op::name},
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  };
}

bool takes_floats(const RegisteredFormula& e) {
  for (const detail::Node* node : detail::topological(e.formula->graph()->inlined->outputs))
    if (node->kind == detail::NodeKind::elementary) {
      const detail::Takes takes = detail::rule_of(node->elementary).takes;
      if (takes == detail::Takes::integral || takes == detail::Takes::bits) return false;
    }
  return true;
}

Var applied(const RegisteredFormula& e, const std::vector<Var>& x) {
  if (e.formula == &op::where) return where(x[0] > x[1], x[1], x[2]);
  std::vector<detail::Argument> arguments(x.begin(), x.end());
  Var result;
  detail::apply_vars(e.name, e.formula->graph(), {}, arguments, {&result, 1});
  return result;
}

class Registry : public EveryDevice {};

TEST_P(Registry, EveryEntryHasItsGradientToSecondOrder) {
  if (refuses_f64(device())) return;  // differences need it; EveryOrder compares there
  int tried = 0;
  for (const RegisteredFormula& e : registry()) {
    if (!takes_floats(e)) continue;
    SCOPED_TRACE(e.name);
    const int inputs = e.formula->graph()->inputs;
    // Positive, away from integers, ordered (clamp's bounds): every elementary function is smooth there, acosh from 1
    // on.
    std::vector<Tensor> at;
    const double from = e.formula == &op::acosh ? 1 : 0;
    for (int i = 0; i < inputs; ++i)
      at.push_back(tensor(std::vector<double>{from + 0.31 + 0.4 * i, from + 0.27 + 0.4 * i, from + 0.83 + 0.41 * i}));
    const auto first = [&](const std::vector<Var>& x) { return applied(e, x); };
    const Var y = first({at.size(), Var(at[0], false)});
    // Comparisons have no gradient; detach has none on purpose.
    if (!is_floating(y.dtype()) || e.formula == &op::detach) continue;
    ++tried;
    const auto check = [&](auto f) {
      const GradCheck result = inputs == 1   ? gradcheck([&](Var a) { return f(std::vector<Var>{a}); }, at[0])
                               : inputs == 2 ? gradcheck(
                                                   [&](Var a, Var b) {
                                                     return f(std::vector<Var>{a, b});
                                                   },
                                                   at[0], at[1])
                               : inputs == 3 ? gradcheck(
                                                   [&](Var a, Var b, Var c) {
                                                     return f(std::vector<Var>{a, b, c});
                                                   },
                                                   at[0], at[1], at[2])
                                             : gradcheck(
                                                   [&](Var a, Var b, Var c, Var d) {
                                                     return f(std::vector<Var>{a, b, c, d});
                                                   },
                                                   at[0], at[1], at[2], at[3]);
      EXPECT_TRUE(result.ok) << result.message;
    };
    check(first);
    check([&](const std::vector<Var>& x) {  // the gradient with respect to the first floating argument, differentiated
      const auto in_last = [&](Var last) {
        std::vector<Var> moved = x;
        moved.back() = last;
        return sum(first(moved) * first(moved));
      };
      return grad(in_last)(x.back());
    });
  }
  EXPECT_GT(tried, 30);
}

TEST_P(Registry, EveryEntryRunsInF32AndF64Alike) {
  for (const RegisteredFormula& e : registry()) {
    if (!takes_floats(e)) continue;
    SCOPED_TRACE(e.name);
    std::vector<Var> narrow, wide;
    for (int i = 0; i < e.formula->graph()->inputs; ++i) {
      const Tensor x = tensor(
          std::vector<float>{0.3125f + 0.5f * static_cast<float>(i), 1.25f, 0.75f + 0.5f * static_cast<float>(i)});
      narrow.emplace_back(x, false), wide.emplace_back((refuses_f64(device()) ? x.to(cpu()) : x).to(f64), false);
    }
    const Tensor a = applied(e, narrow).value(), b = applied(e, wide).value();
    if (!is_floating(a.dtype())) {
      EXPECT_EQ(a.to_vector<bool>(), b.to_vector<bool>());
      continue;
    }
    const std::vector<double> x = doubles(a), y = doubles(b);
    // A formula has at most about 10 roundings of values near 1, each amplified less than 2 times here.
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] != x[i] && y[i] != y[i]) continue;  // outside the domain of asin, acosh, …
      EXPECT_NEAR(x[i], y[i], 32 * 6e-8 * std::max(1.0, std::abs(y[i])));
    }
  }
}

TEST_P(Registry, IntegersAndBooleansStayWhatTheyAreOrAreRefused) {
  int kept = 0, refused = 0;
  for (const RegisteredFormula& e : registry())
    for (const DType dtype : {boolean, u8, i32}) {
      SCOPED_TRACE(std::string(e.name) + " of " + std::string(to_string(dtype)));
      const std::vector<Var> x(static_cast<std::size_t>(e.formula->graph()->inputs), Var(ones({3}, dtype), false));
      try {
        const DType got = applied(e, x).dtype();
        EXPECT_TRUE(got == dtype || got == boolean) << to_string(got);
        ++kept;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::dtype) << error.what();
        const std::string what = error.what();
        EXPECT_TRUE(what.find(".to(") != std::string::npos || what.find("needs integers") != std::string::npos) << what;
        ++refused;
      }
    }
  EXPECT_GT(kept, 60);
  EXPECT_GT(refused, 40);
  // relu has a meaning for integers and booleans; gelu, silu and elu do not.
  EXPECT_EQ(relu(tensor({-3, 4})).to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 4}));
  EXPECT_EQ(relu(tensor({true, false})).to_vector<bool>(), (std::vector<bool>{true, false}));
  for (const Pointwise<>& f : {op::gelu, op::silu, op::elu, op::tanh, op::gelu_erf, op::leaky_relu})
    for (const DType dtype : {boolean, i32})
      expect_error(ErrorKind::dtype, {".to(f32)"}, [&] { (void)f(ones({2}, dtype)); });
  expect_error(ErrorKind::dtype, {"mul", "boolean", ".to(f32)"}, [] { (void)(ones({2}, boolean) * 2); });
}

TERN_EVERY_DEVICE(Registry);

}  // namespace
}  // namespace tern::test
