// The derivative at the seam: where a comparison, maximum or absolute value inside a formula changes sides, and both
// one-sided limits of its gradient agree, the gradient is that limit. Orders 1 and 2, in f64 and f32.
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <optional>
#include <set>

#include "contract/compare.hpp"
#include "contract/partials.hpp"

namespace tern::contract {
namespace {

using detail::Elementary;
using detail::NodeKind;
using Doubles = std::vector<double>;

/// What users join: smooth at the seam to the first order, to the second, or not at all.
inline constinit const Pointwise<> huber{
    "huber", [](auto x) { return where(abs(x) < 1, 0.5 * x * x, abs(x) - 0.5); }};
inline constinit const Pointwise<> tangent{"tangent", [](auto x) { return where(x < 2, x * x, 4 * x - 4); }};
inline constinit const Pointwise<> selu_like{
    "selu_like", [](auto x) { return where(x > 0, x, expm1(where(x > 0, 0, x))); }};
inline constinit const Pointwise<> cubic{"cubic",
                                         [](auto x) { return where(x >= 1, x * x * x, 3 * x * x - 3 * x + 1); }};
inline constinit const Pointwise<> smooth_step{
    "smooth_step", [](auto x) { return where(x <= 0, 0, where(x >= 1, 1, x * x * (3 - 2 * x))); }};
inline constinit const Pointwise<> two_sides{
    "two_sides", [](auto a, auto b) { return where(a > b, (a - b) * (a - b), 0) + a * b; }};

std::vector<Subject> all_entries() {
  std::vector<Subject> entries = entries_where([](const Subject& e) {
    return e.takes_floats() && !e.predicate() && !(e.elementary && e.id == Elementary::detach) && e.slope == 0;
  });
  for (const Pointwise<>* user : {&huber, &tangent, &selu_like, &cubic, &smooth_step, &two_sides})
    entries.push_back({user->name(), user, false, Elementary::count});
  return entries;
}

/// Pairs of expressions at whose equality a branch of these graphs changes.
std::vector<std::pair<Expr, Expr>> compared(const std::vector<const detail::FormulaGraph*>& graphs) {
  std::set<std::pair<const detail::Node*, const detail::Node*>> pairs;
  const detail::Node* const zero = detail::make_constant(0).node();
  for (const detail::FormulaGraph* graph : graphs)
    for (const detail::Node* node : detail::topological(graph->inlined->outputs)) {
      if (node->kind != NodeKind::elementary) continue;
      const bool two = node->elementary == Elementary::maximum || node->elementary == Elementary::minimum ||
                       (detail::rule_of(node->elementary).gives == detail::Gives::predicate && node->args.size() == 2);
      if (two) pairs.emplace(node->args[0], node->args[1]);
      if (node->elementary == Elementary::abs || node->elementary == Elementary::sign)
        pairs.emplace(node->args[0], zero);
    }
  std::vector<std::pair<Expr, Expr>> result;
  for (const auto& [a, b] : pairs) result.emplace_back(Expr(a), Expr(b));
  return result;
}

/// A point, and the input along which its seam is crossed.
struct Seam {
  Doubles at;
  std::size_t along;
  friend auto operator<=>(const Seam&, const Seam&) = default;
};

class Seams {
 public:
  explicit Seams(const Subject& e) : entry_(e) {
    std::vector<const detail::FormulaGraph*> graphs{e.graph()};
    for (const Expr& partial : partials(e.graph()))
      if (partial.defined()) graphs.push_back(detail::make_graph({&partial, 1}, e.arity()));
    for (const auto& [a, b] : compared(graphs)) {
      const Expr difference = a - b;
      const detail::IndexSet reads = detail::inputs_of({&difference, 1});
      any_ |= reads.any();
      GraphReals f(detail::make_graph({&difference, 1}, e.arity())->inlined);
      for (std::size_t i = 0; i < static_cast<std::size_t>(e.arity()); ++i)
        if (reads[i] && !e.condition(static_cast<int>(i))) find(f, i, constants_of(difference));
    }
  }
  const std::set<Seam>& found() const { return found_; }
  bool expected() const { return any_; }

 private:
  static Doubles constants_of(Expr e) {
    Doubles list{0};
    const detail::Node* const node = e.node();
    for (const detail::Node* part : detail::topological({&node, 1}))
      if (part->kind == NodeKind::constant) list.push_back(part->number.real), list.push_back(-part->number.real);
    return list;
  }
  void find(GraphReals& f, std::size_t i, const Doubles& constants) {
    for (const Doubles& others : {Doubles{-1.5, 0.75, 2}, Doubles{0.5, -2, -2}, Doubles{0, 1, 0}, Doubles{2, 2, 2}}) {
      Doubles at(static_cast<std::size_t>(entry_.arity()));
      for (std::size_t k = 0; k < at.size(); ++k)
        at[k] = entry_.condition(static_cast<int>(k)) ? others[k % 3] > 0 : others[k % 3];
      const auto value = [&](double x) {
        at[i] = x;
        const std::vector<Quad> point(at.begin(), at.end());
        return f(point);
      };
      Doubles candidates = constants;
      for (std::size_t k = 0; k < at.size(); ++k)
        if (k != i) candidates.push_back(at[k]);
      for (double left = -800; left < 800; left += 12.5) {  // roots between these
        double low = left, high = left + 12.5;
        if (!((value(low) < 0) != (value(high) < 0))) continue;
        for (int step = 0; step < 80; ++step) {
          const double middle = 0.5 * (low + high);
          ((value(middle) < 0) == (value(low) < 0) ? low : high) = middle;
        }
        candidates.push_back(low), candidates.push_back(high);
      }
      for (const double x : candidates)
        if (value(x) == 0 && static_cast<double>(static_cast<float>(x)) == x) found_.insert({at, i});
    }
  }

  const Subject& entry_;
  std::set<Seam> found_;
  bool any_ = false;
};

/// Both orders of the device's derivatives at columns of points: [order][input][point].
template <class S>
std::array<std::vector<Doubles>, 2> two_derivatives(const Subject& e, const std::vector<std::vector<S>>& columns,
                                                    Device device) {
  std::vector<Var> x;
  for (int i = 0; i < e.arity(); ++i)
    x.emplace_back(column_tensor(columns[static_cast<std::size_t>(i)], e.condition(i), device), !e.condition(i));
  const Var y = call(e, x);
  std::array<std::vector<Doubles>, 2> result;
  const Doubles none(columns[0].size(), 0.0);
  const Tensor one = ones(y.shape(), {.dtype = y.dtype(), .device = device});
  Gradients first, second;
  if (y.requires_grad()) first = backward(y, one, {.create_graph = true});
  Var sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    result[0].push_back(first.get(x[i].id()) ? test::doubles(*first.get(x[i].id())) : none);
    if (!first.get(x[i].id())) continue;
    const Var term = first.var(x[i]) * (1 - 0.375 * static_cast<double>(i));
    sum = sum.defined() ? sum + term : term;
  }
  if (sum.defined() && sum.requires_grad()) second = backward(sum, one);
  for (const Var& v : x) result[1].push_back(second.get(v.id()) ? test::doubles(*second.get(v.id())) : none);
  return result;
}

/// What the values at three points ever nearer to a seam tend to, if to anything.
struct Limit {
  double value, error;
};
std::optional<Limit> limit_of(const double* d, double rounding) {
  if (!std::isfinite(d[0]) || !std::isfinite(d[1]) || !std::isfinite(d[2])) return {};
  const double far = std::fabs(d[1] - d[0]), near = std::fabs(d[2] - d[1]);
  if (near > 0.5 * far + rounding * (1 + std::fabs(d[2]))) return {};
  return Limit{d[2], near + rounding * (1 + std::fabs(d[2]))};
}

class DerivativesAtSeams : public OnDevice {};

/// The number of seams and components at which both limits agreed.
template <class S> int check_seams(const Subject& e, const std::set<Seam>& seams, Device device) {
  constexpr bool wide = std::is_same_v<S, double>;
  const double steps[] = {wide ? 0x1p-14 : 0x1p-7, wide ? 0x1p-18 : 0x1p-10, wide ? 0x1p-22 : 0x1p-13};
  std::vector<std::vector<S>> columns(static_cast<std::size_t>(e.arity()));
  for (const Seam& seam : seams) {
    const double scale = std::max(1.0, std::fabs(seam.at[seam.along]));
    for (const double h : {0.0, -steps[0], -steps[1], -steps[2], steps[0], steps[1], steps[2]})
      for (std::size_t k = 0; k < columns.size(); ++k)
        columns[k].push_back(static_cast<S>(seam.at[k] + (k == seam.along ? h * scale : 0)));
  }
  const auto got = two_derivatives<S>(e, columns, device);
  int agreed = 0;
  for (std::size_t order = 0; order < 2; ++order)
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (e.condition(static_cast<int>(j))) continue;
      Report report(std::string(e.name) + (wide ? ", f64" : ", f32") + ", derivative " + std::to_string(order + 1) +
                    " by input " + std::to_string(j));
      std::size_t p = 0;
      for (const Seam& seam : seams) {
        const double* const d = got[order][j].data() + 7 * p++;
        const double rounding = wide ? 0x1p-40 : 0x1p-15;
        const std::optional<Limit> left = limit_of(d + 1, rounding), right = limit_of(d + 4, rounding);
        if (!left || !right) continue;
        const double error = 2 * (left->error + right->error);
        if (std::fabs(left->value - right->value) > error) continue;
        ++agreed;
        if (std::fabs(d[0] - 0.5 * (left->value + right->value)) <= error) continue;
        report.add([&] {
          std::string line = "at (";
          for (const double v : seam.at) line += " " + hex(v);
          return line + " ) along " + std::to_string(seam.along) + ": " + hex(d[0]) + ", from the left " +
                 hex(left->value) + ", from the right " + hex(right->value);
        });
      }
    }
  return agreed;
}

TEST_P(DerivativesAtSeams, AreTheLimitsWhereBothAgree) {
  const Subject& e = entry();
  const Seams seams(e);
  EXPECT_EQ(seams.expected(), !seams.found().empty()) << e.name << ": no seam was found";
  if (seams.found().empty()) return;
  int agreed = 0;
  const auto attempt = [&](auto zero) {
    try {
      agreed += check_seams<decltype(zero)>(e, seams.found(), device());
    } catch (const UnsupportedDType&) {  // refused by name: the device has no f64
    }
  };
  attempt(0.0), attempt(0.0f);
  // With kinks in the first derivative, and another second one on each side; or with a pole.
  for (const char* name : {"hardswish", "selu", "cbrt"})
    if (std::string(e.name) == name) {
      EXPECT_EQ(agreed, 0) << e.name;
      return;
    }
  EXPECT_GT(agreed, 0) << e.name << ": nowhere do both sides agree";
}
TERN_CONTRACT(DerivativesAtSeams, all_entries());

/// The tie of minimum takes the gradient at 0 from the branch that is taken there.
TEST(Seams, ALostGradientIsFound) {
  static const Pointwise<> lost{"lost", [](auto x) { return where(x > 0, x, expm1(minimum(x, 0))); }};
  static const Subject entry{"lost", &lost, false, Elementary::count};
  static const Seams seams(entry);
  EXPECT_NONFATAL_FAILURE(check_seams<double>(entry, seams.found(), cpu()),
                          "lost, f64, derivative 1 by input 0: 1 failures");
}

}  // namespace
}  // namespace tern::contract
