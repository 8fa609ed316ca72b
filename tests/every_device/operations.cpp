// Every operation that docs/ops.md lists, forward and, where it has a gradient, to third order. A new one that is
// missing here fails a test: formulas and leaves are taken from the registry (registry.cpp), the others stand in a table.
#include <fstream>
#include <map>
#include <set>

#include "trials.hpp"

namespace tern::test {
namespace {

std::vector<std::pair<std::string, std::function<Tensor()>>> plain() {
  const auto x = [] { return tensor({3.0f, 1.0f, 2.0f, 5.0f}, {2, 2}); };
  return {
      {"argmax", [=] { return argmax(x(), 1); }},
      {"argmin", [=] { return argmin(x(), 1); }},
      {"any", [=] { return any(x() > 4, 1); }},
      {"all", [=] { return all(x() > 1, 1); }},
      {"one_hot", [] { return one_hot(tensor({1, 0}), 2); }},
      {"allclose", [=] { return tensor({allclose(x(), x())}); }},
      {"matmul_bias_activation_bwd", [=] { return matmul_bias_activation_bwd(x(), x(), x(), ones({2}), op::identity).d_a; }},
      {"zeros", [] { return zeros({2}); }},
      {"ones", [] { return ones({2}); }},
      {"full", [] { return full({2}, 7); }},
      {"arange", [] { return arange(1, 4); }},
      {"linspace", [] { return linspace(0, 1, 3); }},
      {"eye", [] { return eye(2); }},
      {"rand", [] { return floor(rand({2}, Generator{1})); }},
      {"randn", [] { return randn({2}, Generator{1}) * 0; }},
      {"randint", [] { return randint(4, 5, {2}, Generator{1}); }},
  };
}
const std::map<std::string, std::vector<double>> kPlainValues{
    {"argmax", {0, 1}}, {"argmin", {1, 0}},   {"any", {0, 1}},   {"all", {0, 1}},         {"one_hot", {0, 1, 1, 0}}, {"allclose", {1}},
    {"zeros", {0, 0}},  {"ones", {1, 1}},     {"full", {7, 7}},  {"arange", {1, 2, 3}},   {"linspace", {0, 0.5, 1}}, {"eye", {1, 0, 0, 1}},
    {"rand", {0, 0}},   {"randn", {0, 0}},    {"randint", {4, 4}}, {"matmul_bias_activation_bwd", {10, 11, 11, 29}}};

class Operations : public EveryDevice {};
TERN_EVERY_DEVICE(Operations);
class OperationGradients : public InDouble {};
TERN_EVERY_DEVICE_IN_DOUBLE(OperationGradients);

TEST_P(Operations, PlainOnesGiveWhatTheySay) {
  for (const auto& [name, run] : plain()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(doubles(run()), kPlainValues.at(name));
  }
}
/// A Var and a Tensor take the same way forward.
TEST_P(Operations, RecordedOnesGiveThePlainValues) {
  Random random(77);
  for (const Trial& trial : differentiable()) {
    SCOPED_TRACE(trial.name);
    Vars recorded, constants;
    for (const Shape& shape : trial.shapes) {
      const Tensor x = random.tensor(shape, f32, device());
      recorded.emplace_back(x), constants.emplace_back(x, false);
    }
    const Var y = trial.run(recorded);
    EXPECT_TRUE(y.requires_grad());
    EXPECT_FALSE(trial.run(constants).requires_grad());
    const std::vector<double> got = doubles(y), want = doubles(trial.run(constants));
    ASSERT_EQ(got.size(), want.size());
    // prod under autograd multiplies in another order: a rounding for each of at most 6 factors.
    const double bound = trial.name == "prod" ? 6 * epsilon(f32) : 0;
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], bound * std::abs(want[i]));
  }
}
/// One vector holds all inputs; x³ + x in front, so that even a view has derivatives of every order.
TEST_P(OperationGradients, ToThirdOrder) {
  for (const Trial& trial : differentiable()) {
    std::int64_t count = 0;
    for (const Shape& shape : trial.shapes) count += shape.numel();
    const auto f = [&](const Var& flat) {
      const Var cubic = flat * flat * flat + flat;
      Vars parts;
      std::int64_t at = 0;
      for (const Shape& shape : trial.shapes) {
        parts.push_back(cubic.slice(0, at, at + shape.numel()).reshape(shape));
        at += shape.numel();
      }
      return trial.run(parts);
    };
    check_three_orders(trial.name, f, random({count}));
  }
}
TEST_P(OperationGradients, OfProductsWithZerosToThirdOrder) {
  for (const std::vector<double>& values : {std::vector<double>{0, 2, 3, -1}, {0, 0, 3, -1}, {0, 0, 0, 2}, {0, 0, 0, 0}, {1, -2, 0.5, 3}}) {
    check_three_orders("prod of all", [](const Var& x) { return prod(x); }, make(values, {4}, f64, device()));
    check_three_orders("prod of rows", [](const Var& x) { return prod(x.reshape({2, 2}), 1); }, make(values, {4}, f64, device()));
  }
}

TEST_P(OperationGradients, OfConversionsToSecondOrder) {
  const auto cube = [](const Var& x) {
    const Var narrow = cast(x, f32);
    return sum(narrow * narrow * narrow);
  };
  const Var x(make({1, -2, 0.5}, {3}, f64, device()));
  const Var first = grad(cube)(x), second = grad([&](const Var& v) { return sum(grad(cube)(v)); })(x);
  EXPECT_EQ(first.dtype(), f64);
  expect_values(first.value(), {3}, {3, 12, 0.75});
  expect_values(second.value(), {3}, {6, -12, 3});
}

/// The first cells of the rows under a heading of the page, and whether the gradient's cell says yes.
std::map<std::string, bool> listed(const std::string& heading) {
  std::ifstream page(TERN_OPERATIONS_PAGE);
  EXPECT_TRUE(page.good()) << TERN_OPERATIONS_PAGE;
  std::map<std::string, bool> names;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) here = line == "## " + heading;
    if (!here || !line.starts_with("| `")) continue;
    names[line.substr(3, line.find('`', 3) - 3)] = line.find("| yes |") != std::string::npos;
  }
  EXPECT_FALSE(names.empty()) << heading;
  return names;
}
TEST(OperationsPage, ListsNothingThatIsNotTestedHere) {
  std::set<std::string> with_gradient, without;
  for (const Trial& trial : differentiable()) with_gradient.insert(trial.name);
  for (const auto& [name, run] : plain()) without.insert(name);
  for (const auto& [name, gradient] : listed("Other operations"))
    EXPECT_TRUE(gradient ? with_gradient.contains(name) : without.contains(name) || with_gradient.contains(name))
        << name << " stands in docs/ops.md; add it to the " << (gradient ? "differentiable" : "plain") << " table above";
}
TEST(OperationsPage, ListsTheFormulasAndLeavesThatTheRegistryTests) {
  std::set<std::string> registry{"cast", "index"};  // have an argument that is no tensor: tests of their own
#define TERN_LEAF(name, arity) registry.insert(#name);
#define TERN_LEAF_INNER(name, arity)
#define TERN_LEAF_SLOPE(name, arity) registry.insert(#name " (in derivatives)");
#define TERN_LEAF_REDUCE(name) registry.insert(#name "(x) in a formula");
#include "tern/leaves.inc"
#undef TERN_LEAF
#undef TERN_LEAF_INNER
#undef TERN_LEAF_REDUCE
#define TERN_FORMULA(name, ...) registry.insert(#name);
#define TERN_GATED(name, activation) registry.insert(#name);
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  for (const char* heading : {"Formulas", "Leaves"})
    for (const auto& [name, gradient] : listed(heading)) EXPECT_TRUE(registry.contains(name)) << name;
}
/// The reductions of the vocabulary, inside formulas of their own, with their gradients.
TEST_P(OperationGradients, OfReductionsInsideFormulas) {
  const Tensor x = random({2, 4});
  check_three_orders("sum", [](const Var& v) { return row_formula([](auto a) { return a * sum(a * a); }, v); }, x);
  check_three_orders("max", [](const Var& v) { return row_formula([](auto a) { return a * a * max(a); }, v); }, x);
  check_three_orders("min", [](const Var& v) { return row_formula([](auto a) { return exp(a - min(a)); }, v); }, x);
}

}  // namespace
}  // namespace tern::test
