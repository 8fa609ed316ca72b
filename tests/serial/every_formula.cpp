// No cliffs in any elementwise function of floats: each elementary function and formula on the CPU, one thread, against
// a plain loop in f64 that calls the standard library, where the last axis has 1 to 8 elements: operands alike, the
// last one the same in all rows, permuted views, and operands of 16 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "contract/references.hpp"
#include "contract/registry.hpp"
#include "serial/timed.hpp"

namespace tern {
namespace contract {

/// What a plain loop computes at a time: a formula's steps pass each other values in the first cache.
constexpr std::int64_t kLoopBlock = 256;
constexpr std::size_t kMostOperands = 4;
using Loop = void (*)(double* y, const double* const* x, std::int64_t count);

namespace in_double {
template <Reference<double> value, int arity> void loop(double* y, const double* const* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    double at[arity];
    for (int k = 0; k < arity; ++k) at[k] = x[k][i];
    y[i] = value(at);
  }
}
#define TERN_ELEMENTARY(name, arity) &loop<&at_##name, arity>,
#define TERN_ELEMENTARY_INNER(name, arity) &loop<&at_##name, arity>,
#define TERN_ELEMENTARY_REDUCE(name) nullptr,
constexpr Loop loops[] = {
#include "tern/elementary.inc"
};
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
}  // namespace in_double

/// How operands lie: rows one after another; so, but the last operand a row that repeats; columns one after another.
enum class Layout { rows, last_repeats, columns };

/// A formula as loops over blocks, one for each elementary function in it.
class PlainLoops {
 public:
  explicit PlainLoops(const detail::FormulaGraph* graph) : inputs_(graph->inputs) {
    const detail::FormulaGraph* whole = graph->inlined;
    if (whole->outputs.size() == 1 && !whole->reduces && !whole->complex) result_ = place(whole->outputs[0]);
  }
  /// False where something in it is no function of elements.
  bool complete() const { return result_ >= 0; }

  /// x: as many arrays as inputs, each of y's size, its rows of `columns` elements in the layout.
  void run(const std::vector<std::vector<double>>& x, Layout layout, std::int64_t columns, std::vector<float>& y) {
    const auto count = static_cast<std::int64_t>(y.size());
    for (std::int64_t begin = 0; begin < count; begin += kLoopBlock) {
      const std::int64_t n = std::min(kLoopBlock, count - begin);
      for (std::size_t k = 0; k < x.size(); ++k) {
        const bool alike = layout == Layout::rows || (layout == Layout::last_repeats && k + 1 < x.size());
        if (alike) std::copy_n(x[k].data() + begin, n, values_[k].data());
        else read(x[k].data(), layout == Layout::columns ? count / columns : 0, columns, begin, n, values_[k].data());
      }
      for (const Step& step : steps_) {
        const double* operands[kMostOperands];
        for (std::size_t k = 0; k < step.args.size(); ++k) operands[k] = values_[step.args[k]].data();
        step.loop(values_[step.result].data(), operands, n);
      }
      std::copy_n(values_[static_cast<std::size_t>(result_)].data(), n, y.data() + begin);
    }
  }

 private:
  struct Step {
    Loop loop;
    std::vector<std::size_t> args;
    std::size_t result;
  };

  /// `n` elements from `begin` on, those of a row `rows` apart; 0: of one row, which all rows repeat.
  static void read(const double* x, std::int64_t rows, std::int64_t columns, std::int64_t begin, std::int64_t n,
                   double* to) {
    std::int64_t row = begin / columns, column = begin % columns;
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = rows > 0 ? x[column * rows + row] : x[column];
      if (++column == columns) column = 0, ++row;
    }
  }
  /// Where the node's values stand, in values_; -1: not a function of elements.
  int place(const detail::Node* node) {
    if (values_.empty()) values_.resize(static_cast<std::size_t>(inputs_));
    if (const auto found = place_of_.find(node); found != place_of_.end()) return static_cast<int>(found->second);
    if (node->kind == detail::NodeKind::input) return keep(node, static_cast<std::size_t>(node->index));
    if (node->kind == detail::NodeKind::constant) {
      values_.emplace_back().fill(node->number.real);
      return keep(node, values_.size() - 1);
    }
    if (node->kind != detail::NodeKind::elementary || node->elementary == detail::Elementary::index) return -1;
    Step step{in_double::loops[static_cast<int>(node->elementary)], {}, 0};
    if (!step.loop || node->args.size() > kMostOperands) return -1;
    for (const detail::Node* arg : node->args) {
      const int at = place(arg);
      if (at < 0) return -1;
      step.args.push_back(static_cast<std::size_t>(at));
    }
    step.result = values_.size();
    values_.emplace_back();
    steps_.push_back(step);
    return keep(node, step.result);
  }
  int keep(const detail::Node* node, std::size_t at) { return static_cast<int>(place_of_[node] = at); }

  int inputs_, result_ = -1;
  std::map<const detail::Node*, std::size_t> place_of_;
  std::vector<std::array<double, kLoopBlock>> values_;
  std::vector<Step> steps_;
};

namespace {

/// What the plain loop may be faster by.
constexpr double kFormulaLimit = 3;
/// As many elements as have their operands in the second cache.
constexpr std::int64_t kElements = 1 << 15;

class EveryFormulaIsNoCliff : public test::TimedOnOneThread {
 protected:
  static std::vector<Tensor> operands(const Subject& subject, std::int64_t columns, Layout layout) {
    std::vector<Tensor> x;
    Generator generator(7);
    for (int k = 0; k < subject.arity(); ++k) {
      const bool row = layout == Layout::last_repeats && k + 1 == subject.arity();
      const std::int64_t rows = kElements / columns;
      x.push_back(0.8 * rand(row ? Shape{columns} : Shape{rows, columns}, generator, {.device = cpu()}) + 0.1);
      if (subject.condition(k)) x.back() = x.back() > 0.5;
      if (layout == Layout::columns) x.back() = x.back().reshape({columns, rows}).transpose(0, 1);
    }
    return x;
  }
  static std::vector<Tensor> as(std::vector<Tensor> list, DType dtype) {
    for (Tensor& t : list)
      if (t.dtype() != boolean) t = t.to(dtype);
    return list;
  }
  /// The elements in the order they have in memory.
  static std::vector<std::vector<double>> numbers(const std::vector<Tensor>& list, Layout layout) {
    std::vector<std::vector<double>> all;
    for (const Tensor& t : list)
      all.push_back((layout == Layout::columns ? t.transpose(0, 1) : t).to(f64).to_vector<double>());
    return all;
  }

  /// The least of several runs in turn, of more while it seems too slow.
  void check(const std::string& what, const Subject& subject, const std::vector<Tensor>& x, double loop) {
    const auto run_once = [&] { call(subject, x); };
    run_once();
    double ours = 1e300;
    for (int run = 0; run < 3 || (run < 50 && ours > kFormulaLimit * loop); ++run)
      ours = std::min(ours, test::processor_seconds_of(run_once));
    worst_ = std::max(worst_, ours / loop);
    if (ours > loop)
      std::printf("%-60s %9.1f us, loop %9.1f us, ratio %6.2f\n", what.c_str(), 1e6 * ours, 1e6 * loop, ours / loop);
    EXPECT_LE(ours, kFormulaLimit * loop) << what;
  }
  void check(const Subject& subject, PlainLoops& loops, std::int64_t columns, Layout layout) {
    const std::vector<Tensor> x = operands(subject, columns, layout);
    const std::vector<std::vector<double>> exact = numbers(x, layout);
    std::vector<float> y(static_cast<std::size_t>(kElements / columns * columns));
    double loop = 1e300;
    for (int run = 0; run < 5; ++run)
      loop = std::min(loop, test::processor_seconds_of([&] { loops.run(exact, layout, columns, y); }));
    constexpr const char* layouts[] = {"", ", of a row", ", permuted"};
    const std::string what = subject.name + (" (n, " + std::to_string(columns) + ")") +
                             layouts[static_cast<int>(layout)];
    check(what, subject, x, loop);
    check(what + ", bf16", subject, as(x, bf16), loop);
    check(what + ", f16", subject, as(x, f16), loop);
  }

  double worst_ = 0;
};

TEST_F(EveryFormulaIsNoCliff, OnShortAxesPermutedViewsAndIn16Bits) {
  const char* const only = std::getenv("TERN_TEST_OPERATION");
  int checked = 0;
  for (const Subject& subject : registry()) {
    if ((only && std::string_view(only) != subject.name) || !subject.takes_floats() || subject.slope > 0) continue;
    PlainLoops loops(subject.graph());
    if (!loops.complete()) continue;
    ++checked;
    for (std::int64_t columns = 1; columns <= 8; ++columns) {
      check(subject, loops, columns, Layout::rows);
      check(subject, loops, columns, Layout::columns);
      if (subject.arity() > 1) check(subject, loops, columns, Layout::last_repeats);
    }
  }
  std::printf("%d functions, the slowest takes %.2f of the loop's time\n", checked, worst_);
  EXPECT_GT(checked, only ? 0 : 80);
}

}  // namespace
}  // namespace contract
}  // namespace tern
