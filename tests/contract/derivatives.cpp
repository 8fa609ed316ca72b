// First and second derivatives in f64 against mathematics: central differences of the value in __float128, with
// Richardson extrapolation. What is allowed follows from the graph of the derivative: interval arithmetic with the
// budgets of its elementary functions, widened so that exact real values stay inside.
#include <optional>
#include <string_view>

#include "contract/compare.hpp"
#include "contract/partials.hpp"
#include "contract/truths.hpp"

namespace tern::contract {
namespace {

using Point = std::vector<Quad>;

/// A difference quotient: the value and how far it may be off.
struct Estimate {
  Quad value, error;
};
Quad magnitude(Quad v) { return v < 0 ? -v : v; }
template <class D> Estimate richardson(const D& difference, Quad h, Quad rounding) {
  const Quad d1 = difference(h), d2 = difference(2 * h), d4 = difference(4 * h);
  const Quad fine = (4 * d1 - d2) / 3, coarse = (4 * d2 - d4) / 3;
  return {fine, magnitude(fine - coarse) + rounding};
}

/// The mathematics of a formula: its graph on reals, or the function that it approximates.
class Mathematics {
 public:
  Mathematics(std::string_view name, const detail::FormulaGraph* graph)
      : graph_(graph), truth_(truth_of_approximation(name)) {}
  Quad operator()(const Point& x) { return truth_ ? truth_(x.data()) : graph_(x); }
  bool approximated() const { return truth_ != nullptr; }

 private:
  GraphReals graph_;
  Quad (*truth_)(const Quad*);
};

/// The same around one point.
class Around {
 public:
  Around(Mathematics& f, const Point& x) : f_(f), x_(x) {
    Quad smallest = 1;
    for (const Quad v : x)
      if (v != 0) smallest = std::min(smallest, magnitude(v));
    h1_ = smallest * power_of_two(Quad(), -22), h2_ = smallest * power_of_two(Quad(), -16);
  }
  Quad moved(std::size_t i, Quad t, const Point& direction = {}, Quad s = 0) {
    Point at = x_;
    for (std::size_t k = 0; k < direction.size(); ++k) at[k] += s * direction[k];
    at[i] += t;
    return f_(at);
  }
  /// The slopes on both sides agree, and nothing is NaN or infinite nearby.
  bool smooth(std::size_t i, Quad h) {
    const Quad left = (f_(x_) - moved(i, -4 * h)) / (4 * h), right = (moved(i, 4 * h) - f_(x_)) / (4 * h);
    if (!(left - left == 0) || !(right - right == 0)) return false;
    return magnitude(left - right) <=
           (magnitude(left) + magnitude(right) + power_of_two(Quad(), -20)) * power_of_two(Quad(), -6);
  }
  std::optional<Estimate> first(std::size_t i) {
    if (!smooth(i, h1_)) return {};
    const auto d = [&](Quad h) { return (moved(i, h) - moved(i, -h)) / (2 * h); };
    return richardson(d, h1_, magnitude(f_(x_)) * power_of_two(Quad(), -104) / h1_);
  }
  /// ∂/∂x_i of the derivative along `w`.
  std::optional<Estimate> second(std::size_t i, const Point& w) {
    for (std::size_t k = 0; k < x_.size(); ++k)
      if (w[k] != 0 && !smooth(k, 2 * h2_)) return {};
    const auto d = [&](Quad h) {
      return (moved(i, h, w, h) - moved(i, -h, w, h) - moved(i, h, w, -h) + moved(i, -h, w, -h)) / (4 * h * h);
    };
    return richardson(d, h2_, magnitude(f_(x_)) * power_of_two(Quad(), -104) / (h2_ * h2_));
  }

 private:
  Mathematics& f_;
  Point x_;
  Quad h1_, h2_;
};

std::vector<std::vector<double>> sample_points(const Subject& e) {
  std::vector<std::vector<double>> columns(static_cast<std::size_t>(e.arity()));
  for (std::uint64_t p = 0; p < 240; ++p)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::uint64_t seed = random_bits(p * 16 + i + 77);
      const double u = 2 * random_unit(seed) - 1;
      const double far = std::exp(6.5 * std::fabs(u)) * (seed % 2 ? 1 : -1);
      double v = p % 4 == 0 ? 30 * u : p % 4 == 1 ? moderate(seed) : p % 16 == 2 ? far : 4 * u;
      if (e.condition(static_cast<int>(i))) v = seed % 2;
      columns[i].push_back(v);
    }
  return columns;
}

/// The device's derivatives at the points: first ones for each input, and those of their sum with weights.
struct DeviceDerivatives {
  std::vector<std::vector<double>> first, second;
};
DeviceDerivatives on_device(const Subject& e, const std::vector<std::vector<double>>& columns,
                            const std::vector<double>& weights, Device device) {
  std::vector<Var> x;
  for (int i = 0; i < e.arity(); ++i)
    x.emplace_back(column_tensor(columns[static_cast<std::size_t>(i)], e.condition(i), device), !e.condition(i));
  const Var y = call(e, x);
  const Tensor one = ones(y.shape(), Options{DType::f64, device});
  DeviceDerivatives result;
  Var sum;
  const std::vector<double> none(columns[0].size(), 0.0);
  Gradients grads;
  if (y.requires_grad()) grads = backward(y, one, {.create_graph = true});
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.first.push_back(grads.get(x[i].id()) ? grads.get(x[i].id())->to_vector<double>() : none);
    if (!grads.get(x[i].id())) continue;
    const Var term = grads.var(x[i]) * weights[i];
    sum = sum.defined() ? sum + term : term;
  }
  Gradients again;
  if (sum.defined() && sum.requires_grad()) again = backward(sum, one);
  for (const Var& v : x) result.second.push_back(again.get(v.id()) ? again.get(v.id())->to_vector<double>() : none);
  return result;
}

/// How one derivative was checked.
struct Tally {
  int points = 0, narrow = 0;
};

/// Holds a device's value and the mathematical one against the range of the derivative's graph.
void hold(Report& report, Tally& tally, const Range<double>& range, const Estimate& truth, double got,
          const std::vector<Range<double>>& at) {
  const double width = range.hi - range.lo;
  const Quad low = static_cast<Quad>(range.lo) - truth.error, high = static_cast<Quad>(range.hi) + truth.error;
  const bool math = low <= truth.value && truth.value <= high;
  const bool device = range.lo - width <= got && got <= range.hi + width;
  ++tally.points;
  tally.narrow += width <= 1e-9 * std::max({std::fabs(range.lo), std::fabs(range.hi), 1e-3});
  if (math && device) return;
  report.add([&] {
    std::string line = "(";
    for (const auto& x : at) line += (line.size() > 1 ? ", " : "") + hex(x.value());
    return line + ") device " + hex(got) + ", differences " + hex(static_cast<double>(truth.value)) + ", graph " +
           describe_range(range);
  });
}

class Derivatives : public OnDevice {};

/// Whether the elementary function's declared derivative is that of its value (detach has none by intent),
/// and bounds of its derivatives are known.
bool differentiable(const Subject& e) {
  return e.takes_floats() && !e.predicate() && !(e.elementary && e.id == detail::Elementary::detach) && e.slope < 2;
}

std::vector<Point> points_of(const std::vector<std::vector<double>>& columns) {
  std::vector<Point> points(columns[0].size());
  for (const auto& column : columns)
    for (std::size_t p = 0; p < column.size(); ++p) points[p].push_back(static_cast<Quad>(column[p]));
  return points;
}
std::vector<Range<double>> ranges_at(const Point& point) {
  std::vector<Range<double>> at;
  for (const Quad v : point) at.push_back(Range<double>::of(static_cast<double>(v)));
  return at;
}

/// One order: `expressions` holds the derivative for each input, `got` the device's, `truth` the difference
/// quotient.
template <class Truth>
void check_order(const Subject& e, const char* order, const std::vector<Expr>& expressions,
                 const std::vector<std::vector<double>>& got, const std::vector<Point>& points,
                 const Truth& truth) {
  Mathematics value(e.name, e.graph());
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    if (e.condition(static_cast<int>(i))) continue;
    const Expr derivative = expressions[i].defined() ? expressions[i] : detail::make_constant(0);
    GraphRanges<double> graph(detail::make_graph({&derivative, 1}, e.arity()), {.outward = true});
    Report report(std::string(e.name) + ", " + order + " derivative by input " + std::to_string(i));
    Tally tally;
    for (std::size_t p = 0; p < points.size(); ++p) {
      Around around(value, points[p]);
      const std::optional<Estimate> estimate = truth(around, i);
      if (!estimate || !(estimate->value - estimate->value == 0)) continue;
      const std::vector<Range<double>> at = ranges_at(points[p]);
      graph.exactly(at.data());
      hold(report, tally, graph.output(0), *estimate, got[i][p], at);
    }
    EXPECT_GE(tally.points, 60) << e.name << ": too few smooth points for the " << order << " derivative by input "
                                << i;
    EXPECT_GE(tally.narrow, tally.points * 3 / 4)
        << e.name << ": the bound of the " << order << " derivative says little, input " << i;
  }
}

TEST_P(Derivatives, AgreeWithDifferences) {
  const Subject& e = entry();
  const std::vector<std::vector<double>> columns = sample_points(e);
  std::vector<double> weights;
  Point direction;
  for (int i = 0; i < e.arity(); ++i)
    weights.push_back(e.condition(i) ? 0 : 1 - 0.375 * i), direction.push_back(static_cast<Quad>(weights.back()));
  DeviceDerivatives got;
  try {
    got = on_device(e, columns, weights, device());
  } catch (const UnsupportedDType&) {
    return;  // refused by name: the device has no f64
  }
  const std::vector<Point> points = points_of(columns);
  const std::vector<Expr> first = partials(e.graph());
  check_order(e, "first", first, got.first, points, [](Around& a, std::size_t i) { return a.first(i); });
  Expr sum;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i].defined()) sum = sum.defined() ? sum + first[i] * weights[i] : first[i] * weights[i];
  if (!sum.defined()) return;
  const std::vector<Expr> second = partials(detail::make_graph({&sum, 1}, e.arity()));
  check_order(e, "second", second, got.second, points,
              [&](Around& a, std::size_t i) { return a.second(i, direction); });
}
TERN_CONTRACT(Derivatives, entries_where(differentiable));

/// Whether a finite range holds the number, give or take its error.
bool holds(const Range<double>& range, const Estimate& number) {
  const bool finite = !range.nan && std::isfinite(range.lo) && std::isfinite(range.hi);
  return finite && static_cast<Quad>(range.lo) <= number.value + number.error &&
         number.value - number.error <= static_cast<Quad>(range.hi);
}

Point point_for_declared(int inputs, std::uint64_t p) {
  Point x;
  for (int k = 0; k < inputs; ++k) {
    const std::uint64_t seed = random_bits(p * 16 + static_cast<std::uint64_t>(k));
    x.push_back(static_cast<Quad>((2 * random_unit(seed) - 1) * (p % 2 ? 700 : p % 4 ? 40 : p % 8 ? 6 : 1)));
  }
  return x;
}

/// Every formula's derivative that was declared, against the one derived from its value; that of an approximation
/// against differences of the function.
void check_declared(const char* name, const detail::Definition& definition) {
  const int inputs = definition.value->inputs;
  const std::vector<Expr> derivatives = partials(definition.value);
  for (std::size_t i = 0; i < derivatives.size(); ++i) {
    ASSERT_TRUE(derivatives[i].defined()) << name;
    const Expr slope(definition.derivative->outputs[i]);
    const detail::FormulaGraph* const declared = detail::make_graph({&slope, 1}, inputs);
    const detail::FormulaGraph* const derived = detail::make_graph({&derivatives[i], 1}, inputs);
    GraphRanges<double> range_of_declared(declared, {.outward = true}), range_of_derived(derived, {.outward = true});
    GraphReals real_declared(declared), real_derived(derived);
    Mathematics function(name, definition.value->inlined);
    int within = 0;
    Report report(std::string(name) + ": declared against derived derivative by input " + std::to_string(i));
    const auto check = [&](GraphRanges<double>& graph, const Estimate& other, const Point& x, const char* whose) {
      const std::vector<Range<double>> at = ranges_at(x);
      graph.exactly(at.data());
      if (holds(graph.output(0), other)) return;
      report.add([&] {
        return hex(at[0].value()) + ": " + whose + " " + hex(static_cast<double>(other.value)) + " against " +
               describe_range(graph.output(0));
      });
    };
    for (std::uint64_t p = 0; p < 4000; ++p) {
      const Point x = point_for_declared(inputs, p);
      if (const Quad y = function(x); y - y != 0) continue;  // outside the domain
      if (function.approximated()) {
        const std::optional<Estimate> difference = Around(function, x).first(i);
        if (!difference) continue;
        check(range_of_declared, *difference, x, "difference quotient");
      } else {
        check(range_of_declared, {real_derived(x), 0}, x, "derived");
        check(range_of_derived, {real_declared(x), 0}, x, "declared");
      }
      ++within;
    }
    EXPECT_GE(within, 400) << name << ": too few points within the domain";
  }
}
TEST(DeclaredDerivatives, AreTheDerivedOnes) {
  int found = 0;
  for (const Subject& e : registry())
    for (const detail::Node* node : detail::topological(e.graph()->outputs)) {
      if (e.predicate() || node->kind != detail::NodeKind::call) continue;  // a predicate has none to derive
      check_declared(e.name, *node->definition), ++found;
    }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace tern::contract
