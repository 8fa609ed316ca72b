// Graphs evaluated on ranges (what a kernel may return) and on reals (what mathematics says).
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "contract/ranges.hpp"
#include "formula/caches.hpp"
#include "formula/graph.hpp"

namespace tern::contract {

/// A graph as a list of steps.
struct Steps {
  struct Step {
    const detail::Node* node;
    int args[3];
  };
  std::vector<Step> list;
  std::vector<int> outputs;

  explicit Steps(const detail::FormulaGraph* graph) {
    std::unordered_map<const detail::Node*, int> position;
    for (const detail::Node* node : detail::topological(graph->inlined->outputs)) {
      Step step{node, {}};
      for (std::size_t i = 0; i < node->args.size(); ++i) step.args[i] = position.at(node->args[i]);
      position[node] = static_cast<int>(list.size());
      list.push_back(step);
    }
    for (const detail::Node* node : graph->inlined->outputs) outputs.push_back(position.at(node));
  }
};

/// Ranges of a graph's outputs for one point after the other. First with a quick reference; `exactly` with __float128.
template <class T> class GraphRanges {
 public:
  using Quick = std::conditional_t<sizeof(T) == 4, double, long double>;
  explicit GraphRanges(const detail::FormulaGraph* graph, Policy policy = {})
      : steps_(graph),
        joins_(policy.on_cuda && policy.in_halves && sizeof(T) == 4),
        joins_overflows_(policy.on_webgpu),
        values_(steps_.list.size()),
        quick_(policy),
        slow_(policy) {
    for (std::size_t i = 0; i < steps_.list.size(); ++i)
      if (steps_.list[i].node->kind == detail::NodeKind::constant)
        values_[i] = slow_.constant(steps_.list[i].node->number);
  }
  std::size_t outputs() const { return steps_.outputs.size(); }
  const Range<T>& output(std::size_t k) const { return values_[static_cast<std::size_t>(steps_.outputs[k])]; }
  /// False where the answer is in doubt: call `exactly`.
  bool quickly(const Range<T>* inputs) {
    quick_.reset();
    run(quick_, inputs);
    return !quick_.unsure();
  }
  void exactly(const Range<T>* inputs) { run(slow_, inputs); }

 private:
  template <class E> void run(E& elementary, const Range<T>* inputs) {
    for (std::size_t i = 0; i < steps_.list.size(); ++i) {
      const Steps::Step& step = steps_.list[i];
      switch (step.node->kind) {
        case detail::NodeKind::input: values_[i] = inputs[step.node->index]; break;
        case detail::NodeKind::constant: break;
        case detail::NodeKind::elementary: {
          if (step.node->elementary == detail::Elementary::cast) {  // between equal types
            values_[i] = step.node->index < 0 ? values_[static_cast<std::size_t>(step.args[0])] : Range<T>::anything();
            break;
          }
          Range<T> args[3];
          for (std::size_t k = 0; k < std::min<std::size_t>(3, step.node->args.size()); ++k)
            args[k] = values_[static_cast<std::size_t>(step.args[k])];
          if (step.node->elementary == detail::Elementary::bit_not) {  // of a predicate, as lowering knows
            values_[i] = Range<T>{1 - args[0].hi, 1 - args[0].lo, args[0].nan};
            break;
          }
          values_[i] = elementary(step.node->elementary, args);
          if (joins_overflows_) join_overflow(elementary, step, args, values_[i]);
          if (joins_) join_product(elementary, step, args, values_[i]);
          break;
        }
        default: throw std::logic_error("a reduction in a pointwise graph");
      }
    }
  }

  /// Where a device adds a product and a constant with one rounding, the result is that of any product which is rounded
  /// to the one there is.
  template <class E> void join_product(E& elementary, const Steps::Step& step, Range<T>* args, Range<T>& result) {
    if (step.node->elementary != detail::Elementary::add && step.node->elementary != detail::Elementary::sub) return;
    for (std::size_t k = 0; k < 2; ++k) {
      const detail::Node& product = *steps_.list[static_cast<std::size_t>(step.args[k])].node;
      const detail::Node& other = *steps_.list[static_cast<std::size_t>(step.args[1 - k])].node;
      if (product.kind != detail::NodeKind::elementary || product.elementary != detail::Elementary::mul ||
          other.kind != detail::NodeKind::constant || args[k].empty())
        continue;
      args[k].lo = next_down(args[k].lo), args[k].hi = next_up(args[k].hi);
      include(result, elementary(step.node->elementary, args));
    }
  }

  /// WGSL may add a product and another number with one rounding: a product of finite numbers is finite then.
  template <class E>
  void join_overflow(E& elementary, const Steps::Step& step, const Range<T>* args, Range<T>& result) {
    if (step.node->elementary != detail::Elementary::add && step.node->elementary != detail::Elementary::sub) return;
    constexpr T kMost = std::numeric_limits<T>::max();
    for (std::size_t k = 0; k < 2; ++k) {
      const Steps::Step& product = steps_.list[static_cast<std::size_t>(step.args[k])];
      if (product.node->kind != detail::NodeKind::elementary || product.node->elementary != detail::Elementary::mul ||
          args[k].empty() || (std::isfinite(args[k].lo) && std::isfinite(args[k].hi)))
        continue;
      const Range<T>&a = values_[static_cast<std::size_t>(product.args[0])],
            &b = values_[static_cast<std::size_t>(product.args[1])];
      if (!std::isfinite(a.lo) || !std::isfinite(a.hi) || !std::isfinite(b.lo) || !std::isfinite(b.hi)) continue;
      Range<T> joined[3] = {args[0], args[1], args[2]};
      joined[k].lo = std::clamp(args[k].lo, -kMost, kMost), joined[k].hi = std::clamp(args[k].hi, -kMost, kMost);
      include(result, elementary(step.node->elementary, joined));
    }
  }

  Steps steps_;
  bool joins_, joins_overflows_;
  std::vector<Range<T>> values_;
  ElementaryFunctions<T, Quick> quick_;
  ElementaryFunctions<T, Quad> slow_;
};

/// A graph on reals.
class GraphReals {
 public:
  explicit GraphReals(const detail::FormulaGraph* graph) : steps_(graph), values_(steps_.list.size()) {}
  Quad operator()(std::span<const Quad> inputs, std::size_t output = 0) {
    for (std::size_t i = 0; i < steps_.list.size(); ++i) {
      const Steps::Step& step = steps_.list[i];
      const detail::Node& node = *step.node;
      if (node.kind == detail::NodeKind::input) {
        values_[i] = inputs[static_cast<std::size_t>(node.index)];
      } else if (node.kind == detail::NodeKind::constant) {
        values_[i] =
            node.number.is_integer ? static_cast<Quad>(node.number.integer) : static_cast<Quad>(node.number.real);
      } else {
        Quad args[3] = {};
        for (std::size_t k = 0; k < node.args.size(); ++k) args[k] = values_[static_cast<std::size_t>(step.args[k])];
        const bool inverts = node.elementary == detail::Elementary::bit_not;  // a predicate, as lowering knows
        values_[i] = inverts ? 1 - args[0] : reference(node.elementary, args);
      }
    }
    return values_[static_cast<std::size_t>(steps_.outputs[output])];
  }

 private:
  Steps steps_;
  std::vector<Quad> values_;
};

}  // namespace tern::contract
