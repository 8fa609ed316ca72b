// The gradients of every operation that has an entry, to third order against central differences; and that docs/ops.md
// lists what has an entry, and the formulas and elementary functions of the registry (registry.cpp).
#include <fstream>
#include <map>
#include <set>

#include "every_device/registered/trials.hpp"

namespace tern::test {
namespace {

class OperationGradients : public InDouble {};
TERN_EVERY_DEVICE_IN_DOUBLE(OperationGradients);

/// One vector holds all inputs; x³ + x in front, so that even a view has derivatives of every order.
TEST_P(OperationGradients, ToThirdOrder) {
  for (const Trial& trial : differentiable()) {
    random_ = random_of(trial.name);
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
    check_three_orders(trial.name, f, apart(count));
  }
}
TEST_P(OperationGradients, OfProductsWithZerosToThirdOrder) {
  for (const std::vector<double>& values :
       {std::vector<double>{0, 2, 3, -1}, {0, 0, 3, -1}, {0, 0, 0, 2}, {0, 0, 0, 0}, {1, -2, 0.5, 3}}) {
    check_three_orders("prod of all", [](const Var& x) { return prod(x); }, make(values, {4}, f64, device()));
    check_three_orders(
        "prod of rows",
        [](const Var& x) {
          return prod(x.reshape({2, 2}), 1);
        },
        make(values, {4}, f64, device()));
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
TEST(OperationsPage, ListsTheEntries) {
  std::map<std::string, bool> entries;
  for (const operations::Entry& entry : operations::entries()) entries[entry.name] = entry.differentiable;
  EXPECT_EQ(listed("Other operations"), entries);
}
TEST(OperationsPage, ListsTheFormulasAndFunctionsThatTheRegistryTests) {
  // Have an argument that is no tensor, or stand in no kernel (complex.cpp): tests of their own.
  std::set<std::string> registry{"cast", "index", "real_part", "imag_part", "complex_of"};
#define TERN_ELEMENTARY(name, arity) registry.insert(#name);
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_SLOPE(name, arity) registry.insert(#name " (in derivatives)");
#define TERN_ELEMENTARY_REDUCE(name) registry.insert(#name "(x) in a formula");
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA_MORE(name, arity, ...) registry.insert(#name);
#define TERN_FORMULA(name, ...) registry.insert(#name);
#define TERN_GATED(name, activation) registry.insert(#name);
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
  for (const char* heading : {"Formulas", "Elementary functions of formulas"})
    for (const auto& [name, gradient] : listed(heading)) EXPECT_TRUE(registry.contains(name)) << name;
}
/// The reductions of the vocabulary, inside formulas of their own, with their gradients.
TEST_P(OperationGradients, OfReductionsInsideFormulas) {
  const Tensor x = apart(8).reshape({2, 4});
  check_three_orders("sum", [](const Var& v) { return row_formula([](auto a) { return a * sum(a * a); }, v); }, x);
  check_three_orders("max", [](const Var& v) { return row_formula([](auto a) { return a * a * max(a); }, v); }, x);
  check_three_orders("min", [](const Var& v) { return row_formula([](auto a) { return exp(a - min(a)); }, v); }, x);
}

}  // namespace
}  // namespace tern::test
