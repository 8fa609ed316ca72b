// Every elementary function, formula and other operation in every float dtype, to the third derivative, in reverse,
// forward and mixed mode, on contiguous, strided, broadcast and empty operands. What is right is known from f64 on the
// CPU, which central differences confirm.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "every_device/registered/pointwise_entries.hpp"
#include "every_device/registered/trials.hpp"

namespace tern::test {
namespace {

using List = std::vector<Var>;
using ScalarOfList = std::function<Var(const List&)>;

/// One op at one place: a scalar of its results, and a direction for its arguments.
struct OrderCase {
  std::string name;
  ScalarOfList f;
  std::vector<Tensor> x, v;
  bool of_nothing = false;  // its result has no elements
  int orders_on_gpus = 3;
};

/// The derivative along `v`, as a function of x: forward mode, or the gradient's product with v.
ScalarOfList along(const ScalarOfList& f, const std::vector<Tensor>& v, char mode) {
  if (mode == 'F') return [=](const List& x) { return jvp(f, x, v).result; };
  return [=](const List& x) {
    const List g = grad(f)(x);
    Var total = sum(g[0] * v[0]);
    for (std::size_t i = 1; i < g.size(); ++i) total = total + sum(g[i] * v[i]);
    return total;
  };
}
/// "FR": the derivative along v in reverse mode, and of that in forward mode.
ScalarOfList derivative_along(ScalarOfList f, const std::vector<Tensor>& v, const std::string& modes) {
  for (auto mode = modes.rbegin(); mode != modes.rend(); ++mode) f = along(f, v, *mode);
  return f;
}
double value_of(const ScalarOfList& f, const std::vector<Tensor>& x) {
  List at;
  for (const Tensor& t : x) at.emplace_back(t, true);
  return doubles(f(at))[0];
}

enum class OperandLayout { contiguous, strided, broadcast, empty };
const char* name_of_layout(OperandLayout layout) {
  constexpr const char* names[] = {"contiguous", "strided", "broadcast", "empty"};
  return names[static_cast<int>(layout)];
}
/// Whether the formula is finite for a negative first argument, too.
bool takes_negatives(const PointwiseEntry& entry, const std::vector<Tensor>& x) {
  std::vector<detail::Argument> arguments;
  const Tensor first = -x[0].to(cpu()).to(f64);
  std::vector<Tensor> others;
  for (const Tensor& t : x) others.push_back(t.to(cpu()).to(f64));
  for (std::size_t i = 0; i < x.size(); ++i) arguments.push_back(detail::Argument(i == 0 ? first : others[i]));
  Tensor result;
  detail::apply_tensors(entry.name, entry.op->graph(), {}, arguments, {&result, 1});
  for (const double value : doubles(result))
    if (!std::isfinite(value)) return false;
  return true;
}
/// Multiples of a power of two: exact in every dtype.
Tensor exact_multiples(const Shape& shape, double low, double high, double step, DType dtype, Random& random) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (double& value : values) value = std::ceil(random.next(low, high) / step) * step;
  return make(values, shape, dtype, default_device());
}
/// Multiples of 1/4 in (-1, 1], or all of one sign: else the third power of a mean of them is next to nothing.
Tensor direction(const Shape& shape, DType dtype, Random& random) {
  return exact_multiples(shape, random.next(0, 1) < 0.5 ? -1 : 0.5, 1, 0.25, dtype, random);
}
void lay_out(OrderCase& c, OperandLayout layout) {
  if (layout != OperandLayout::strided) return;
  for (std::vector<Tensor>* list : {&c.x, &c.v})
    for (Tensor& t : *list) t = strided(t);
}
/// Σ weight · sin(result), so that what is linear has derivatives of every order, too. Arguments are multiples of 1/32,
/// away from kinks, and in every domain: the first in ±(0.5, 1), the second in (1, 1.5), the third in (2, 2.5). (asin
/// and acos further from ±1, where roundings to 16 bits grow.)
/// Directions and weights are multiples of 1/4.
OrderCase make_case(const PointwiseEntry& entry, OperandLayout layout, DType dtype, Random& random) {
  OrderCase c{entry.name, {}, {}, {}, layout == OperandLayout::empty};
  const Shape full = layout == OperandLayout::empty ? Shape{0, 3} : Shape{2, 3};
  const Shape others[] = {full, {3}, {2, 1}, {3}};
  const bool ends_at_one = entry.op == &op::asin || entry.op == &op::acos;
  const double lows[] = {entry.op == &op::acosh ? 1.53 : ends_at_one ? 0.28 : 0.53, 1.03, 2.03, 3.03};
  for (int i = 0; i < entry.op->graph()->inputs; ++i) {
    const Shape shape = layout == OperandLayout::broadcast ? others[i] : full;
    c.x.push_back(exact_multiples(shape, lows[i], lows[i] + 0.4, 1.0 / 32, dtype, random));
    c.v.push_back(direction(shape, dtype, random));
  }
  if (entry.op != &op::where && takes_negatives(entry, c.x)) {
    std::vector<double> signs(static_cast<std::size_t>(c.x[0].numel()));
    for (double& sign : signs) sign = random.next(0, 1) < 0.5 ? -1 : 1;
    c.x[0] = c.x[0] * make(signs, c.x[0].shape(), dtype, default_device());
  }
  lay_out(c, layout);
  c.f = [&entry, weights = exact_multiples(full, 0.3, 1.2, 0.25, dtype, random)](const List& at) {
    std::vector<detail::Argument> arguments;
    const bool chooses = entry.op == &op::where;
    const Tensor condition = at[0].value() > 0.7;
    for (std::size_t i = 0; i < at.size(); ++i)
      arguments.push_back(chooses && i == 0 ? detail::Argument(condition) : detail::Argument(at[i]));
    Var result;
    detail::apply_vars(entry.name, entry.op->graph(), {}, arguments, {&result, 1});
    return sum(sin(result) * weights.to(at[0].device()).to(at[0].dtype()));
  };
  return c;
}
/// An operation that is no formula: Σ weight · sin(result), so that even a view has derivatives of every order.
/// Arguments are multiples of 1/32 around 0; broadcast ones are views with stride 0. No case where it takes nothing
/// empty.
std::optional<OrderCase> make_case(const Trial& trial, OperandLayout layout, DType dtype, Random& random) {
  if (layout == OperandLayout::empty && trial.empty.empty()) return {};
  OrderCase c{trial.name, {}, {}, {}, false, trial.orders_on_gpus};
  for (const Shape& shape : layout == OperandLayout::empty ? trial.empty : trial.shapes) {
    c.x.push_back(exact_multiples(shape, -1, 1, 1.0 / 32, dtype, random)),
        c.v.push_back(direction(shape, dtype, random));
    const int axis = std::min(trial.broadcast_axis, shape.rank() - 1);
    if (layout == OperandLayout::broadcast && shape.numel() > 0)
      c.x.back() = c.x.back().slice(axis, 0, 1).broadcast_to(shape);
  }
  lay_out(c, layout);
  const NoGrad quiet;
  c.of_nothing = trial.run(List(c.x.begin(), c.x.end())).numel() == 0;
  c.f = [&trial](const List& at) {
    const Var y = trial.run(at);
    std::vector<double> weights(static_cast<std::size_t>(y.numel()));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5 + 0.25 * static_cast<double>(i % 4);
    return sum(sin(y) * make(weights, y.shape(), y.dtype(), y.device()));
  };
  return c;
}
OrderCase on_cpu_in_double(OrderCase c) {
  for (std::vector<Tensor>* list : {&c.x, &c.v})
    for (Tensor& t : *list) t = t.to(cpu()).to(f64);
  return c;
}

const std::vector<std::string> kModes[] = {{"R", "F"}, {"RR", "FF", "FR", "RF"}, {"RRR", "FFF", "FRF", "RFR"}};

class EveryOrder : public EveryDevice {
 protected:
  /// Devices that compile a kernel for every derivative (0.05 s each in software) take one dtype, one layout and,
  /// beyond order 1, one order of modes for every operation, in turn; all of them with TERN_TEST_FULL=1, and of the
  /// operation that TERN_TEST_OPERATION names.
  bool everything() const { return device() == cpu() || all_combinations(); }

  struct Wanted {
    double value, tolerance;
    /// Whether a derivative of 0, or of the other sign, would be seen.
    bool tells() const { return std::abs(value) > tolerance; }
  };
  /// What is right, and how far from it a device may be: some forty roundings, each of a value below six times the
  /// scale, the largest Σ |gradient · direction| so far: their sum at most, and where they are few and large (between
  /// kernels, of 16 bits) what roundings that do not conspire add up to, with half as much again (the largest seen
  /// is 3.6).
  std::vector<Wanted> wanted(const OrderCase& c, DType dtype) {
    const OrderCase exact = on_cpu_in_double(c);
    std::vector<Wanted> all;
    double scale = 1;
    set_default_device(cpu());
    for (std::size_t order = 1; order <= 3; ++order) {
      const List at(exact.x.begin(), exact.x.end());
      const List g = grad(derivative_along(exact.f, exact.v, std::string(order - 1, 'R')))(at);
      double value = 0, terms = 0;
      for (std::size_t i = 0; i < g.size(); ++i) {
        const std::vector<double> along = doubles(g[i].value() * exact.v[i]);
        for (const double term : along) value += term, terms += std::abs(term);
      }
      scale = std::max(scale, terms);
      all.push_back({value, (dtype_size(dtype) == 2 ? 16 : 40 * 6) * epsilon(dtype) * scale});
    }
    set_default_device(device());
    return all;
  }
  /// Of a few drawn cases the first whose derivatives of every order exceed what roundings may make of them.
  template <class Make> void check_telling(Make make, DType dtype, OperandLayout layout, std::size_t turn) {
    std::optional<OrderCase> c = make();
    if (!c) return;
    std::vector<Wanted> want = wanted(*c, dtype);
    const auto tells = [&] { return std::ranges::all_of(want, &Wanted::tells); };
    for (int attempt = 0; attempt < 100 && !tells() && !c->of_nothing; ++attempt) c = make(), want = wanted(*c, dtype);
    if (!c->of_nothing)
      told_[c->name + " (" + std::to_string(turn) + ") in " + std::string(to_string(dtype))] |= tells();
    check(*c, want, dtype, layout, turn);
  }
  /// Those for which there was none in any layout.
  std::vector<std::string> untold() const {
    std::vector<std::string> names;
    for (const auto& [name, told] : told_)
      if (!told) names.push_back(name);
    return names;
  }

  /// In software every third operation has its second derivatives, and every ninth its third, whose kernels are the
  /// largest: all of them took eight minutes. The operation that is asked for has all that a device has.
  std::size_t orders(const OrderCase& c, std::size_t turn) const {
    const std::size_t all = device() == cpu() ? 3 : static_cast<std::size_t>(c.orders_on_gpus);
    if (operation_asked_for()) return all;
    if (few_test()) return turn % 6 == 0 ? 3 : turn % 3 == 0 ? 2 : 1;
    return in_software(device()) ? std::min<std::size_t>(all, turn % 18 == 0 ? 3 : turn % 6 == 0 ? 2 : 1) : all;
  }
  void check(const OrderCase& c, const std::vector<Wanted>& wanted, DType dtype, OperandLayout layout,
             std::size_t turn) {
    for (std::size_t order = 0; order < orders(c, turn); ++order) {
      const auto [want, tolerance] = wanted[order];
      const std::vector<std::string>& all = kModes[order];
      for (const std::string& modes : all) {
        const bool one_alone = !everything() && !operation_asked_for() && order > 0;
        if (one_alone && modes != all[(turn + turn / 4) % all.size()]) continue;
        const double got = value_of(derivative_along(c.f, c.v, modes), c.x);
        ASSERT_NEAR(got, want, tolerance) << c.name << " in " << to_string(dtype) << ", " << name_of_layout(layout)
                                          << ", order " << order + 1 << ", " << modes;
      }
    }
  }
  /// TERN_TEST_PART=2/8: every eighth operation from the third on, so that eight processes share the kernels of a full
  /// test.
  static bool is_in_this_part(std::size_t turn) {
    const char* asked = std::getenv("TERN_TEST_PART");
    std::size_t part = 0, parts = 1;
    if (asked && std::sscanf(asked, "%zu/%zu", &part, &parts) != 2)
      throw std::runtime_error("TERN_TEST_PART is not part/parts");
    return turn % parts == part;
  }
  static bool is_a_part() { return std::getenv("TERN_TEST_PART") != nullptr; }
  /// Each combination of a dtype and a layout, or the one whose turn it is.
  template <class F> void for_each(std::size_t turn, F f) {
    const std::vector<DType> dtypes = all_floats(device());
    if (!is_in_this_part(turn)) return;
    for (std::size_t d = 0; d < dtypes.size(); ++d)
      for (std::size_t layout = 0; layout < 4; ++layout)
        if (everything() || (layout == turn % 4 && d == turn / 4 % dtypes.size()))
          f(dtypes[d], static_cast<OperandLayout>(layout));
  }

 private:
  std::map<std::string, bool> told_;  // by operation and dtype
};
TERN_EVERY_DEVICE(EveryOrder);

TEST_P(EveryOrder, OfEveryElementaryFunctionAndFormula) {
  std::size_t turn = 0;
  const char* const only = operation_asked_for();
  for (const PointwiseEntry& entry : pointwise_entries()) {
    if (only && std::string(only) != entry.name) continue;
    Random random = random_of(entry.name);
    for_each(turn, [&](DType dtype, OperandLayout layout) {
      check_telling([&]() -> std::optional<OrderCase> { return make_case(entry, layout, dtype, random); }, dtype,
                    layout, turn);
    });
    ++turn;
  }
  if (everything() && !only) {
    std::set<std::string> names;
    for (const std::string& name : untold()) names.insert(name.substr(0, name.find(' ')));
    if (!is_a_part()) {
      // In 16 bits third derivatives of sin(hardsigmoid(x)), at most 1/216, and of sin(asin(x)) = x, which is 0, are
      // less than roundings.
      const std::set<std::string> flat{"asin", "ceil", "detach", "floor", "hardsigmoid", "round", "sign", "trunc"};
      EXPECT_EQ(names, flat);
    }
  }
}
TEST_P(EveryOrder, OfEveryOtherOperation) {
  std::size_t turn = 0;
  const std::vector<Trial> trials = differentiable();
  for (const Trial& trial : trials) {
    Random random = random_of(trial.name);
    for_each(turn, [&](DType dtype, OperandLayout layout) {
      check_telling([&] { return make_case(trial, layout, dtype, random); }, dtype, layout, turn);
    });
    ++turn;
  }
  if (everything() && !is_a_part()) {
    EXPECT_EQ(untold(), (std::vector<std::string>{}));
  }
}
/// The reference itself, against central differences of the next lower order.
TEST_P(EveryOrder, AgreesWithDifferences) {
  if (!(device() == cpu())) return;  // the reference is the CPU's
  Random random(78);
  for (const PointwiseEntry& entry : pointwise_entries()) {
    if (entry.op == &op::detach) continue;  // its derivative is not its value's
    const OrderCase c = make_case(entry, OperandLayout::broadcast, f64, random);
    for (int order = 1; order <= 3; ++order) {
      const ScalarOfList lower = derivative_along(c.f, c.v, std::string(static_cast<std::size_t>(order - 1), 'R'));
      const Difference numeric = difference([&](double step) {
        std::vector<Tensor> moved;
        for (std::size_t i = 0; i < c.x.size(); ++i) moved.push_back(c.x[i] + step * c.v[i]);
        return value_of(lower, moved);
      });
      const double got = value_of(derivative_along(c.f, c.v, std::string(static_cast<std::size_t>(order), 'R')), c.x);
      ASSERT_LE(std::abs(got - numeric.value), numeric.error)
          << entry.name << ", order " << order << ": got " << got << ", differences give " << numeric.value;
    }
  }
}

}  // namespace
}  // namespace tern::test
