// Typing: from a graph and the types of its operands to a list of steps.
#include "formula/program.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "formula/caches.hpp"
#include "formula/online_sums.hpp"
#include "formula/program_builder.hpp"
#include "formula/sum_rewrites.hpp"
#include "formula/types.hpp"
#include "tern/error.hpp"

namespace tern::detail {

namespace {

/// Gives each node the type that its operands have, and appends the steps that compute it.
class Typing {
 public:
  Typing(const char* op, const FormulaGraph* graph, std::span<const InputType> inputs)
      : op_(op), graph_(graph->inlined), types_(op, inputs) {
    program_.graph = graph_;
    program_.inputs.assign(inputs.begin(), inputs.end());
    program_.reduces = graph_->reduces;
    for (const Node* node : topological(graph_->outputs)) types_.add(node), note_nesting(*node);
  }

  Program run() {
    for (const Node* node : deep_) emit(node, types_.concrete(node));
    for (const Node* output : graph_->outputs) {
      const Type type = types_.of(output);
      const DType dtype = type.weak ? types_.default_dtype() : type.dtype;
      int step = emit(output, dtype);
      if (dtype == DType::boolean) step = builder_.converted(step, ComputeType::i32);
      program_.outputs.push_back(
          {step, dtype, program_.steps[static_cast<std::size_t>(step)].full || !program_.reduces});
    }
    for (const Step& step : program_.steps) {
      program_.phases = std::max(program_.phases, step.phase + 1);
      program_.passes = std::max(program_.passes, step.pass + 1);
    }
    program_.serial = next_program_serial();
    program_.steps.shrink_to_fit();  // kept for the life of the process
    if (!program_.online.empty())
      program_.in_phases = std::make_shared<const Program>(with_a_pass_for_each_phase(program_));
    return std::move(program_);
  }

 private:
  /// Emitting a sum asks about what is summed, reductions in it included, and so recurses with their nesting: every
  /// 16th is emitted beforehand.
  void note_nesting(const Node& node) {
    constexpr int kMost = 256, kEvery = 16;
    int depth = 0;
    for (const Node* arg : node.args)
      if (const auto found = nesting_.find(arg); found != nesting_.end()) depth = std::max(depth, found->second);
    const bool reduction = node.kind == NodeKind::elementary && rule_of(node.elementary).reduction;
    if (reduction && ++depth % kEvery == 0) deep_.push_back(&node);
    if (depth > kMost)
      throw Error(ErrorKind::unsupported, std::string(op_) + ": more than " + std::to_string(kMost) +
                                              " reductions in a formula wait for each other; call several formulas");
    if (depth > 0) nesting_[&node] = depth;
  }
  const Step& at(int step) const { return builder_.at(step); }

  /// A node and the logical type its step is to have (its own type, or what a weak node is to become).
  using WantedStep = std::pair<const Node*, DType>;

  /// The step that holds it. Formulas may be long chains: what is to be emitted first is kept in a list.
  int emit(const Node* node, DType dtype) {
    std::vector<WantedStep> pending{{node, dtype}};
    int step = -1;
    while (!pending.empty()) {
      const WantedStep wanted = resolved(pending.back());
      const auto found = emitted_.find(wanted);
      if (found == emitted_.end()) {
        if (const std::optional<WantedStep> first = missing_argument(*wanted.first, wanted.second)) {
          pending.push_back(*first);
          continue;
        }
      }
      step = found != emitted_.end() ? found->second : emitted_[wanted] = emit_new(*wanted.first, wanted.second);
      pending.pop_back();
    }
    return step;
  }
  /// Behind elementary functions that give back an argument, with the node's own type where it has one.
  WantedStep resolved(WantedStep wanted) const {
    for (;;) {
      const Node* const node = wanted.first;
      if (const Type type = types_.of(node); !type.weak) wanted.second = type.dtype;
      if (node->kind != NodeKind::elementary) return wanted;
      const Expr same = same_as_argument(node->elementary, node->args);
      if (!same.defined() || same.node()->full != node->full) return wanted;
      wanted.first = same.node();
    }
  }
  /// The first argument that emit_new would have to emit itself; those before it are converted, in the same order.
  std::optional<WantedStep> missing_argument(const Node& node, DType dtype) {
    if (node.kind != NodeKind::elementary || node.elementary == Elementary::index) return {};
    const bool is_cast = node.elementary == Elementary::cast;
    if (is_cast) {
      const WantedStep value = resolved({node.args[0], cast_operand(node, dtype)});
      return emitted_.contains(value) ? std::nullopt : std::optional(value);
    }
    const DType operand = operand_dtype(node, dtype);
    if (node.elementary == Elementary::sum && is_floating(operand))
      return {};  // it may be written otherwise: see emit_elementary
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const WantedStep argument = resolved({node.args[i], argument_dtype(node, i, operand)});
      const auto found = emitted_.find(argument);
      if (found == emitted_.end()) return argument;
      builder_.converted(found->second, argument_type(node, i, operand));
    }
    return {};
  }
  /// The type that an elementwise function's or a reduction's arguments have.
  DType operand_dtype(const Node& node, DType dtype) const {
    const Rule& rule = rule_of(node.elementary);
    const Type unified = types_.unify(node, rule.gives == Gives::branch ? 1 : 0);
    const DType operand =
        unified.weak ? (rule.gives == Gives::predicate ? types_.default_dtype() : dtype) : unified.dtype;
    return rule.reduction ? reduced_dtype(node.elementary, operand) : operand;
  }
  static bool is_condition(const Node& node, std::size_t i) {
    return i == 0 && rule_of(node.elementary).gives == Gives::branch;
  }
  static DType argument_dtype(const Node& node, std::size_t i, DType operand) {
    return is_condition(node, i) ? DType::boolean : operand;
  }
  static ComputeType argument_type(const Node& node, std::size_t i, DType operand) {
    const ComputeType type = compute_type_of(operand);
    return !is_condition(node, i) ? type : is_wide(type) ? ComputeType::i64 : ComputeType::i32;
  }
  /// The type in which a cast's argument is emitted.
  DType cast_operand(const Node& node, DType to) const {
    const bool fills_type = to != DType::boolean && dtype_size(to) >= 4;
    const bool becomes = types_.of(node.args[0]).weak && fills_type && node.index != kCastGradient;
    return becomes ? to : types_.concrete(node.args[0]);
  }

  int emit_new(const Node& node, DType dtype) {
    Step step;
    step.dtype = dtype, step.type = compute_type_of(dtype), step.full = node.full, step.index = node.index,
    step.number = node.number;
    switch (node.kind) {
      case NodeKind::input:
        step.kind = types_.of(&node).weak ? StepKind::param : StepKind::input;
        if (step.kind == StepKind::param) {
          step.full = false;
          if (!is_floating(dtype)) program_.integral_numbers.push_back({node.index, dtype});
        }
        return builder_.push(step);
      case NodeKind::constant:
        step.kind = StepKind::number;
        if (!is_floating(dtype) && !fits(node.number, dtype))
          types_.fail("a number that is not a value of dtype " + std::string(to_string(dtype)) +
               " meets an operand of it; convert the operand with .to(f32)");
        return builder_.push(step);
      case NodeKind::extent: step.kind = StepKind::extent; return builder_.push(step);
      default: break;
    }
    if (node.elementary == Elementary::index) {
      step.kind = StepKind::position;
      return builder_.push(step);
    }
    if (node.elementary == Elementary::cast) return emit_cast(node, dtype);
    return emit_elementary(node, dtype);
  }

  int emit_cast(const Node& node, DType to) {
    const DType from = cast_operand(node, to);
    int value = emit(node.args[0], from);
    const ComputeType type = compute_type_of(to);
    if (node.index == kCastGradient && !is_floating(to)) {  // a gradient arriving at an integer: none
      return builder_.number(0, type, to);
    }
    if (to == from) return value;
    if (to == DType::boolean) {
      const ComputeType given = at(value).result_type();
      return builder_.binary(Elementary::not_equal, value, builder_.number(0, given), given, DType::boolean);
    }
    if (is_floating(to) && dtype_size(to) == 2) {  // through f64, so that it rounds once
      if (at(value).result_type() != ComputeType::f32) value = builder_.converted(value, ComputeType::f64);
      return builder_.converted(builder_.unary(StepKind::wrap, value, at(value).result_type(), to), type);
    }
    const bool saturate = is_floating(from);
    value = builder_.converted(value, type);
    if (is_integer(to) && dtype_size(to) < 4) return builder_.unary(StepKind::wrap, value, type, to, saturate);
    // The same compute type may hold another logical type (i8 to i32): the step is shared, the type is the node's.
    return value;
  }

  int emit_elementary(const Node& node, DType dtype) {
    const Rule& rule = rule_of(node.elementary);
    const DType operand = operand_dtype(node, dtype);
    if (node.elementary == Elementary::sum && is_floating(operand)) {
      if (const Expr sums = rewrites_.rewritten(node); sums.defined()) return emit(sums.node(), dtype);
    }
    const ComputeType type = compute_type_of(operand);
    Step step;
    step.kind = rule.reduction ? StepKind::reduce : StepKind::elementary;
    step.elementary = node.elementary, step.type = type, step.dtype = dtype, step.full = node.full;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      int arg =
          builder_.converted(emit(node.args[i], argument_dtype(node, i, operand)), argument_type(node, i, operand));
      if (rule.counts && i == 1) arg = builder_.counted(arg, operand);
      step.args[i] = arg;
      step.phase = std::max(step.phase, at(arg).phase);
    }
    if (rule.reduction) ++step.phase;
    if (node.elementary == Elementary::bit_not && operand == DType::boolean) {
      const int one = builder_.number(1, type, DType::boolean);
      return builder_.binary(Elementary::bit_xor, step.args[0], one, type, DType::boolean);
    }
    const bool sums = step.kind == StepKind::reduce && step.elementary == Elementary::sum && is_float(type);
    const bool least = step.kind == StepKind::reduce && step.elementary == Elementary::min && type == ComputeType::i32;
    const int result = sums ? online_.add(step) : least ? online_.add_place(step) : builder_.push(step);
    const bool narrow = is_integer(dtype) && dtype_size(dtype) < 4;
    return narrow && rule.gives == Gives::same && rule.takes != Takes::any
               ? builder_.unary(StepKind::wrap, result, type, dtype)
               : result;
  }

  const char* op_;
  const FormulaGraph* graph_;
  Types types_;
  std::map<const Node*, int> nesting_;  // how many reductions wait for each other, up to a node; 0: none
  std::vector<const Node*> deep_;
  std::map<std::pair<const Node*, DType>, int> emitted_;
  Program program_;
  ProgramBuilder builder_{program_};
  OnlineSums online_{builder_};
  SumRewrites rewrites_{types_, builder_, online_, [this](const Node* n) { return emit(n, types_.concrete(n)); }};
};

}  // namespace

const OnlineSum* online_sum(const Program& program, int sum) {
  for (const OnlineSum& online : program.online)
    if (online.sum == sum) return &online;
  return nullptr;
}

namespace {
void require_real(const char* op, const FormulaGraph* graph, std::span<const InputType> inputs) {
  for (const InputType& input : inputs)
    if (is_complex(input.dtype))
      throw Error(ErrorKind::dtype, std::string(op) + ": does not take complex numbers, got an operand of dtype " +
                                        std::string(to_string(input.dtype)) + "; take real(z), imag(z) or abs(z)");
  if (graph->complex)
    throw Error(ErrorKind::dtype, std::string(op) + ": complex numbers stand in the formula, which are not taken here");
}
}  // namespace

const Program& type_program(const char* op, const FormulaGraph* graph, std::span<const InputType> inputs) {
  FormulaGraph::Caches& caches = *graph->caches;
  const auto is_it = [&](const Program& p) {
    return std::equal(p.inputs.begin(), p.inputs.end(), inputs.begin(), inputs.end());
  };
  if (const Program* last = caches.last_program.load(std::memory_order_acquire); last && is_it(*last)) return *last;
  const auto find = [&]() -> const Program* {
    for (const auto& p : caches.programs)
      if (is_it(*p)) {
        caches.last_program.store(p.get(), std::memory_order_release);
        return p.get();
      }
    return nullptr;
  };
  {
    const std::shared_lock hold(caches.lock);
    if (const Program* found = find()) return *found;
  }
  require_real(op, graph, inputs);
  auto typed = std::make_unique<Program>(Typing(op, graph, inputs).run());
  const std::unique_lock hold(caches.lock);
  if (const Program* found = find()) return *found;
  return *caches.programs.emplace_back(std::move(typed));
}

}  // namespace tern::detail
