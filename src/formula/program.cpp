// Typing: from a graph and the types of its operands to a list of steps.
#include "formula/program.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "formula/caches.hpp"
#include "formula/types.hpp"
#include "tern/error.hpp"

namespace tern::detail {

namespace {

class Typing {
 public:
  Typing(const char* op, const Graph* graph, std::span<const InputType> inputs)
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
      if (dtype == DType::boolean) step = converted(step, Lane::i32);
      program_.outputs.push_back(
          {step, dtype, program_.steps[static_cast<std::size_t>(step)].full || !program_.reduces});
    }
    for (const Step& step : program_.steps) {
      program_.phases = std::max(program_.phases, step.phase + 1);
      program_.walks = std::max(program_.walks, step.walk + 1);
    }
    program_.serial = next_program_serial();
    program_.steps.shrink_to_fit();  // kept for the life of the process
    if (!program_.online.empty())
      program_.in_phases = std::make_shared<const Program>(with_a_walk_for_each_phase(program_));
    return std::move(program_);
  }

 private:
  /// Emitting a sum asks about what is summed, reductions in it included, and so recurses with their nesting: every
  /// 16th is emitted beforehand.
  void note_nesting(const Node& node) {
    constexpr int kMost = 256, kTogether = 16;
    int depth = 0;
    for (const Node* arg : node.args)
      if (const auto found = nesting_.find(arg); found != nesting_.end()) depth = std::max(depth, found->second);
    const bool reduction = node.kind == NodeKind::leaf && rule_of(node.leaf).reduction;
    if (reduction && ++depth % kTogether == 0) deep_.push_back(&node);
    if (depth > kMost)
      throw Error(ErrorKind::unsupported, std::string(op_) + ": more than " + std::to_string(kMost) +
                                              " reductions in a formula wait for each other; call several formulas");
    if (depth > 0) nesting_[&node] = depth;
  }
  int push(Step step) {
    if (!program_.reduces && step.kind != StepKind::number && step.kind != StepKind::param &&
        step.kind != StepKind::extent)
      step.full = true;
    step.walk = walk_of(step);
    program_.steps.push_back(step);
    return static_cast<int>(program_.steps.size()) - 1;
  }
  const Step& at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }

  int unary(StepKind kind, int arg, Lane lane, DType dtype, bool saturate = false) {
    const auto key = std::tuple(kind, arg, lane, dtype, saturate);
    if (const auto found = conversions_.find(key); found != conversions_.end()) return found->second;
    Step step;
    step.kind = kind, step.from = at(arg).result_lane(), step.lane = lane, step.dtype = dtype, step.saturate = saturate;
    step.full = at(arg).full, step.phase = at(arg).phase, step.args[0] = arg;
    return conversions_[key] = push(step);
  }
  int converted(int arg, Lane lane) {
    return at(arg).result_lane() == lane ? arg : unary(StepKind::convert, arg, lane, at(arg).dtype);
  }

  /// A node and the logical type its step is to have (its own type, or what a weak node is to become).
  using Wanted = std::pair<const Node*, DType>;

  /// The step that holds it. Formulas may be long chains: what is to be emitted first is kept in a list.
  int emit(const Node* node, DType dtype) {
    std::vector<Wanted> pending{{node, dtype}};
    int step = -1;
    while (!pending.empty()) {
      const Wanted wanted = resolved(pending.back());
      const auto found = emitted_.find(wanted);
      if (found == emitted_.end()) {
        if (const std::optional<Wanted> first = missing_argument(*wanted.first, wanted.second)) {
          pending.push_back(*first);
          continue;
        }
      }
      step = found != emitted_.end() ? found->second : emitted_[wanted] = emit_new(*wanted.first, wanted.second);
      pending.pop_back();
    }
    return step;
  }
  /// Behind leaves that give back an argument, with the node's own type where it has one.
  Wanted resolved(Wanted wanted) const {
    for (;;) {
      const Node* const node = wanted.first;
      if (const Type type = types_.of(node); !type.weak) wanted.second = type.dtype;
      if (node->kind != NodeKind::leaf) return wanted;
      const Expr same = same_as_argument(node->leaf, node->args);
      if (!same.defined() || same.node()->full != node->full) return wanted;
      wanted.first = same.node();
    }
  }
  /// The first argument that emit_new would have to emit itself; those before it are converted, in the same order.
  std::optional<Wanted> missing_argument(const Node& node, DType dtype) {
    if (node.kind != NodeKind::leaf || node.leaf == Leaf::index) return {};
    const bool is_cast = node.leaf == Leaf::cast;
    if (is_cast) {
      const Wanted value = resolved({node.args[0], cast_operand(node, dtype)});
      return emitted_.contains(value) ? std::nullopt : std::optional(value);
    }
    const DType operand = operand_dtype(node, dtype);
    if (node.leaf == Leaf::sum && is_floating(operand)) return {};  // it may be written otherwise: see emit_leaf
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const Wanted argument = resolved({node.args[i], argument_dtype(node, i, operand)});
      const auto found = emitted_.find(argument);
      if (found == emitted_.end()) return argument;
      converted(found->second, argument_lane(node, i, operand));
    }
    return {};
  }
  /// The type that an elementwise leaf's or a reduction's arguments have.
  DType operand_dtype(const Node& node, DType dtype) const {
    const Rule& rule = rule_of(node.leaf);
    const Type unified = types_.unify(node, rule.gives == Gives::branch ? 1 : 0);
    const DType operand = unified.weak ? (rule.gives == Gives::truth ? types_.default_dtype() : dtype) : unified.dtype;
    return rule.reduction ? reduced_dtype(node.leaf, operand) : operand;
  }
  static bool is_condition(const Node& node, std::size_t i) {
    return i == 0 && rule_of(node.leaf).gives == Gives::branch;
  }
  static DType argument_dtype(const Node& node, std::size_t i, DType operand) {
    return is_condition(node, i) ? DType::boolean : operand;
  }
  static Lane argument_lane(const Node& node, std::size_t i, DType operand) {
    const Lane lane = lane_of(operand);
    return !is_condition(node, i) ? lane : is_wide_lane(lane) ? Lane::i64 : Lane::i32;
  }
  /// The type in which a cast's argument is emitted.
  DType cast_operand(const Node& node, DType to) const {
    const bool whole_lane = to != DType::boolean && dtype_size(to) >= 4;
    const bool becomes = types_.of(node.args[0]).weak && whole_lane && node.index != kCastGradient;
    return becomes ? to : types_.concrete(node.args[0]);
  }

  int emit_new(const Node& node, DType dtype) {
    Step step;
    step.dtype = dtype, step.lane = lane_of(dtype), step.full = node.full, step.index = node.index,
    step.number = node.number;
    switch (node.kind) {
      case NodeKind::input:
        step.kind = types_.of(&node).weak ? StepKind::param : StepKind::input;
        if (step.kind == StepKind::param) {
          step.full = false;
          if (!is_floating(dtype)) program_.integral_numbers.push_back({node.index, dtype});
        }
        return push(step);
      case NodeKind::constant:
        step.kind = StepKind::number;
        if (!is_floating(dtype) && !fits(node.number, dtype))
          types_.fail("a number that is not a value of dtype " + std::string(to_string(dtype)) +
               " meets an operand of it; convert the operand with .to(f32)");
        return push(step);
      case NodeKind::extent: step.kind = StepKind::extent; return push(step);
      default: break;
    }
    if (node.leaf == Leaf::index) {
      step.kind = StepKind::position;
      return push(step);
    }
    if (node.leaf == Leaf::cast) return emit_cast(node, dtype);
    return emit_leaf(node, dtype);
  }

  int emit_cast(const Node& node, DType to) {
    const DType from = cast_operand(node, to);
    int value = emit(node.args[0], from);
    const Lane lane = lane_of(to);
    if (node.index == kCastGradient && !is_floating(to)) {  // a gradient arriving at an integer: none
      Step zero;
      zero.kind = StepKind::number, zero.lane = lane, zero.dtype = to, zero.full = false;
      return push(zero);
    }
    if (to == from) return value;
    if (to == DType::boolean) {
      Step zero;
      zero.kind = StepKind::number, zero.lane = at(value).result_lane(), zero.full = false;
      return binary(Leaf::not_equal, value, push(zero), zero.lane, DType::boolean);
    }
    if (is_floating(to) && dtype_size(to) == 2) {  // through f64, so that it rounds once
      if (at(value).result_lane() != Lane::f32) value = converted(value, Lane::f64);
      return converted(unary(StepKind::wrap, value, at(value).result_lane(), to), lane);
    }
    const bool saturate = is_floating(from);
    value = converted(value, lane);
    if (is_integer(to) && dtype_size(to) < 4) return unary(StepKind::wrap, value, lane, to, saturate);
    // The same lanes may hold another logical type (i8 to i32): the step is shared, the type is the node's.
    return value;
  }

  /// A count modulo the width of a dtype. Kernels take it modulo the lane's, which is wider for 8 and 16 bits.
  int counted(int count, DType dtype) {
    const int width = 8 * static_cast<int>(dtype_size(dtype));
    const Step given = at(count);
    if (width >= 32 || (given.kind == StepKind::number && given.number.integer >= 0 && given.number.integer < width))
      return count;
    Step mask;
    mask.kind = StepKind::number, mask.lane = given.lane, mask.dtype = dtype, mask.full = false,
    mask.number = width - 1;
    return binary(Leaf::bit_and, count, push(mask), given.lane, dtype);
  }
  int binary(Leaf leaf, int a, int b, Lane lane, DType dtype) {
    Step step;
    step.kind = StepKind::leaf, step.leaf = leaf, step.lane = lane, step.dtype = dtype;
    step.args[0] = a, step.args[1] = b;
    step.full = at(a).full || at(b).full, step.phase = std::max(at(a).phase, at(b).phase);
    return push(step);
  }

  int emit_leaf(const Node& node, DType dtype) {
    const Rule& rule = rule_of(node.leaf);
    const DType operand = operand_dtype(node, dtype);
    if (node.leaf == Leaf::sum && is_floating(operand)) {
      Expr sums = scaled_sum(node);
      if (!sums.defined()) sums = split_sum(node);
      if (sums.defined()) return emit(sums.node(), dtype);
    }
    const Lane lane = lane_of(operand);
    Step step;
    step.kind = rule.reduction ? StepKind::reduce : StepKind::leaf;
    step.leaf = node.leaf, step.lane = lane, step.dtype = dtype, step.full = node.full;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      int arg = converted(emit(node.args[i], argument_dtype(node, i, operand)), argument_lane(node, i, operand));
      if (rule.counts && i == 1) arg = counted(arg, operand);
      step.args[i] = arg;
      step.phase = std::max(step.phase, at(arg).phase);
    }
    if (rule.reduction) ++step.phase;
    if (node.leaf == Leaf::bit_not && operand == DType::boolean) {
      Step one;
      one.kind = StepKind::number, one.lane = lane, one.dtype = DType::boolean, one.full = false, one.number = 1;
      return binary(Leaf::bit_xor, step.args[0], push(one), lane, DType::boolean);
    }
    const bool sums = step.kind == StepKind::reduce && step.leaf == Leaf::sum && is_float_lane(lane);
    const int result = sums ? emit_sum(step) : push(step);
    const bool narrow = is_integer(dtype) && dtype_size(dtype) < 4;
    return narrow && rule.gives == Gives::same && rule.takes != Takes::any ? unary(StepKind::wrap, result, lane, dtype)
                                                                           : result;
  }

  /// The step behind leaves that change nothing.
  int undetached(int step) const {
    while (at(step).kind == StepKind::leaf && at(step).leaf == Leaf::detach) step = at(step).args[0];
    return step;
  }
  /// The maximum that lets sum(exp(x - shift)) be taken in its walk, if `power` is that exp(x - shift); or nothing.
  std::optional<OnlineSum> as_power(int power) const {
    const Step& exp = at(power);
    if (exp.kind != StepKind::leaf || exp.leaf != Leaf::exp || !exp.full) return {};
    const Step& difference = at(exp.args[0]);
    if (difference.kind != StepKind::leaf || difference.leaf != Leaf::sub) return {};
    const int x = undetached(difference.args[0]), shift = difference.args[1];
    if (!at(x).full || at(shift).full) return {};
    for (int i = 0; i < power; ++i) {
      const Step& max = at(i);
      if (max.kind == StepKind::reduce && max.leaf == Leaf::max && undetached(max.args[0]) == x &&
          max.lane == exp.lane && max.phase == at(shift).phase)
        return OnlineSum{i, -1, shift};
    }
    return {};
  }
  /// Whether a full value is known in the walk that gives reduction `pivot`.
  bool is_known_to(int pivot, int value) const { return at(value).full && at(value).walk < at(pivot).walk; }
  /// The pivot that lets sum((x - mean)^n) be taken in the walk that gives mean(x), if `value` is that x - mean; or
  /// nothing.
  std::optional<OnlineSum> as_centred(int value) const {
    const Step& difference = at(value);
    if (difference.kind != StepKind::leaf || difference.leaf != Leaf::sub || !difference.full) return {};
    const int x = undetached(difference.args[0]), mean = undetached(difference.args[1]);
    const Step& quotient = at(mean);
    if (!at(x).full || quotient.kind != StepKind::leaf || quotient.leaf != Leaf::div) return {};
    const int sum = quotient.args[0];
    if (at(sum).kind != StepKind::reduce || at(sum).leaf != Leaf::sum || undetached(at(sum).args[0]) != x ||
        at(quotient.args[1]).kind != StepKind::extent || online_sum(program_, sum))
      return {};
    OnlineSum online{sum, -1, mean};
    online.power = 1;
    return online;
  }
  /// The factors of a product of full values.
  void take_factors(int value, std::vector<int>& factors) const {
    constexpr std::size_t kMost = 8;
    std::vector<int> pending{value};
    while (!pending.empty()) {
      const int factor = pending.back();
      pending.pop_back();
      const Step& product = at(factor);
      const bool is_product = product.kind == StepKind::leaf && product.leaf == Leaf::mul && factors.size() < kMost;
      if (is_product && !as_centred(factor)) pending.push_back(product.args[1]), pending.push_back(product.args[0]);
      else factors.push_back(factor);
    }
  }
  /// What sum(weight · (x - mean)^n) is taken with, n being 1 or 2, if `argument` is that product; or nothing.
  std::optional<OnlineSum> as_moment(int argument) {
    std::vector<int> factors, weights;
    take_factors(argument, factors);
    std::optional<OnlineSum> online;
    int power = 0;
    for (const int factor : factors) {
      const std::optional<OnlineSum> centred = as_centred(factor);
      if (centred && (!online || (online->pivot == centred->pivot && online->shift == centred->shift)))
        online = centred, ++power;
      else weights.push_back(factor);
    }
    if (!online || power > 2) return {};
    for (const int weight : weights)
      if (!is_known_to(online->pivot, weight)) return {};
    online->power = power;
    for (const int weight : weights)
      online->weight = online->weight < 0 ? weight : product_of(online->weight, weight);
    return online;
  }
  /// a · b: a step that is there already, if any, for sums are asked about more than once.
  int product_of(int a, int b) {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      if (step.kind == StepKind::leaf && step.leaf == Leaf::mul && step.args[0] == a && step.args[1] == b)
        return static_cast<int>(i);
    }
    return binary(Leaf::mul, a, b, at(a).lane, at(a).dtype);
  }
  /// What the sum of `argument` is taken with, if it takes no walk of its own.
  std::optional<OnlineSum> as_online_sum(int argument) {
    std::optional<OnlineSum> online = as_power(argument);
    if (!online) online = as_moment(argument);
    const Step& product = at(argument);
    if (online || product.kind != StepKind::leaf || product.leaf != Leaf::mul) return online;
    for (const int i : {0, 1}) {
      online = as_power(product.args[i]);
      if (online && is_known_to(online->pivot, product.args[1 - i])) {
        online->weight = product.args[1 - i];
        return online;
      }
    }
    return {};
  }
  /// How many walks must be finished before a new step can be computed.
  int walk_of(const Step& step) const {
    int walk = 0;
    for (const int arg : step.args)
      if (arg >= 0) walk = std::max(walk, at(arg).walk);
    return step.kind == StepKind::reduce ? walk + 1 : walk;
  }
  /// A sum of floats, which may be one that takes no walk of its own.
  int emit_sum(Step step) {
    std::optional<OnlineSum> online = as_online_sum(step.args[0]);
    if (!online) return sum_in_walk(step, walk_of(step));
    const Step pivot = at(online->pivot);
    if (online->power > 0) {
      Step lower = pivot;
      lower.args[0] = one_of(pivot);
      online->count = online->lower[0] = sum_in_walk(lower, pivot.walk);
      if (online->weight >= 0) lower.args[0] = online->weight, online->lower[0] = sum_in_walk(lower, pivot.walk);
    }
    if (online->power == 2) {
      Step lower = step;
      lower.args[0] = centred_of(step.args[0]);
      if (online->weight >= 0) lower.args[0] = product_of(online->weight, lower.args[0]);
      online->lower[1] = emit_sum(lower);
    }
    return sum_in_walk(step, pivot.walk, online);
  }
  /// The number 1 in the lanes of a step.
  int one_of(const Step& like) {
    int& one = one_of_lane_[is_wide_lane(like.lane)];
    if (one >= 0) return one;
    Step step;
    step.kind = StepKind::number, step.lane = like.lane, step.dtype = like.dtype, step.full = false, step.number = 1;
    return one = push(step);
  }
  /// The factor x - mean of an argument that has one.
  int centred_of(int argument) const {
    std::vector<int> factors;
    take_factors(argument, factors);
    return *std::find_if(factors.begin(), factors.end(), [&](int factor) { return as_centred(factor).has_value(); });
  }
  /// The reduction `step`, known after that many walks: one that is there already, if any.
  int sum_in_walk(Step step, int walk, std::optional<OnlineSum> online = {}) {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& other = program_.steps[i];
      if (other.kind == StepKind::reduce && other.leaf == step.leaf && other.lane == step.lane &&
          other.args[0] == step.args[0] && other.walk == walk && other.dtype == step.dtype)
        return static_cast<int>(i);
    }
    step.walk = walk;
    program_.steps.push_back(step);
    const int index = static_cast<int>(program_.steps.size()) - 1;
    if (online) online->sum = index, program_.online.push_back(*online);
    return index;
  }

  /// A product apart: scalar · weight · power, of which any may be missing. Scalars do not vary along the reduced axes;
  /// the power is an exp(x - shift) or an x - mean(x).
  struct Factors {
    std::vector<std::pair<Leaf, const Node*>> scalars, weights;  // mul or div by it
    const Node* power = nullptr;
    bool negative = false;
  };
  /// Adds the factors of `node`, or of 1 / node (`leaf` is div). False where that is no such product.
  bool take_apart(const Node* node, Leaf leaf, Factors& f, std::size_t depth = 0) {
    constexpr std::size_t kMost = 16;  // x = x * x, again and again, has no end of them
    if (f.scalars.size() + f.weights.size() > kMost || depth > kMost + 2) return false;  // each level has one more
    for (;; node = node->args[0], f.negative = !f.negative) {
      if (const Type type = types_.of(node); !type.weak && !is_floating(type.dtype)) return false;
      if (!node->full) return f.scalars.emplace_back(leaf, node), true;
      if (node->kind != NodeKind::leaf || node->leaf != Leaf::neg) break;
    }
    const bool is_leaf = node->kind == NodeKind::leaf;
    if (is_leaf && (node->leaf == Leaf::mul || node->leaf == Leaf::div)) {
      const Leaf other = leaf == Leaf::mul ? Leaf::div : Leaf::mul;
      return take_apart(node->args[0], leaf, f, depth + 1) &&
             take_apart(node->args[1], node->leaf == Leaf::mul ? leaf : other, f, depth + 1);
    }
    if (leaf == Leaf::mul && !f.power && base_of(node)) return f.power = node, true;
    return f.weights.emplace_back(leaf, node), true;
  }
  std::optional<OnlineSum> base_of(const Node* node) {
    const int step = emit(node, types_.concrete(node));
    const std::optional<OnlineSum> power = as_power(step);
    return power ? power : as_centred(step);
  }
  /// What sum(scalar · weight · power) is as scalar · sum(weight · power), which takes no walk of its own: the terms of
  /// the sum in softmax's gradient are divided by another sum of that walk. Only of exponentials, which are at most 1
  /// where their shift is the maximum, and of scalars that wait for the mean: elsewhere one may be there to keep squares
  /// from overflowing. Or nothing.
  Expr scaled_sum(const Node& sum) {
    Factors f;
    if (!take_apart(sum.args[0], Leaf::mul, f) || !f.power) return {};
    const OnlineSum base = *base_of(f.power);
    for (const auto& [leaf, weight] : f.weights)
      if (!is_known_to(base.pivot, emit(weight, types_.concrete(weight)))) return {};
    if (base.power > 0 && !f.weights.empty()) {
      const auto early = std::stable_partition(f.scalars.begin(), f.scalars.end(), [&](const auto& scalar) {
        return at(emit(scalar.second, types_.concrete(scalar.second))).walk >= at(base.pivot).walk;
      });
      f.weights.insert(f.weights.end(), early, f.scalars.end()), f.scalars.erase(early, f.scalars.end());
    }
    Expr weights;
    for (const auto& [leaf, weight] : f.weights) {
      const Expr so_far = weights.defined() || leaf == Leaf::mul ? weights : make_constant(1);
      weights = so_far.defined() ? make_leaf(leaf, {so_far, Expr(weight)}) : Expr(weight);
    }
    Expr result(f.power);
    if (weights.defined()) result = make_leaf(Leaf::mul, {weights, result});
    if (result.node() == sum.args[0]) return {};
    result = make_leaf(Leaf::sum, {result}, sum.index);
    for (const auto& [leaf, scalar] : f.scalars) result = make_leaf(leaf, {result, Expr(scalar)});
    if (f.negative) result = make_leaf(Leaf::neg, {result});
    return typed(result);
  }
  /// An expression made of nodes that have types, with those of its own.
  Expr typed(Expr e) {
    const Node* const output = e.node();
    for (const Node* node : topological({&output, 1}))
      if (!types_.contains(node)) types_.add(node);
    return e;
  }

  /// A full value times (or divided by) scalars, the outermost first.
  struct Term {
    const Node* value;
    bool negative;
    std::vector<std::pair<Leaf, const Node*>> scalars;
  };
  /// Adds the terms of ±node. False where one of them has no scalar: it may be there to cancel another digit by digit,
  /// as the mean in x - mean(x), while a product is rounded as it is.
  bool split(const Node* node, bool negative, std::vector<Term>& terms, std::size_t depth = 0) const {
    constexpr std::size_t kMost = 8;
    if (terms.size() > kMost || depth > kMost + 1) return false;  // each level has one more
    for (;; node = node->args[0], negative = !negative) {
      const Type type = types_.of(node);
      if (!node->full || node->kind != NodeKind::leaf || type.weak || !is_floating(type.dtype)) return false;
      if (node->leaf != Leaf::neg) break;
    }
    if (node->leaf == Leaf::add || node->leaf == Leaf::sub)
      return split(node->args[0], negative, terms, depth + 1) &&
             split(node->args[1], node->leaf == Leaf::sub ? !negative : negative, terms, depth + 1);
    Term term{node, negative, {}};
    while (term.value->kind == NodeKind::leaf && (term.value->leaf == Leaf::mul || term.value->leaf == Leaf::div)) {
      const Node *a = term.value->args[0], *b = term.value->args[1];
      if (!a->full && term.value->leaf == Leaf::mul) std::swap(a, b);
      if (b->full) break;
      term.scalars.emplace_back(term.value->leaf, b), term.value = a;
    }
    terms.push_back(std::move(term));
    return !terms.back().scalars.empty();
  }
  /// The walk that gives the sum of a value.
  int walk_of_sum(int value) {
    const std::optional<OnlineSum> online = as_online_sum(value);
    return online ? at(online->pivot).walk : at(value).walk + 1;
  }
  /// What sum(r · a + s · b) is as r · sum(a) + s · sum(b), where those wait for fewer walks: so layer norm's gradient
  /// has the sum of what its mean gets. Or nothing.
  Expr split_sum(const Node& sum) {
    std::vector<Term> terms;
    if (!split(sum.args[0], false, terms) || terms.size() < 2) return {};
    int parts = 0;  // walks that their sums take
    for (const Term& term : terms) parts = std::max(parts, walk_of_sum(emit(term.value, types_.concrete(term.value))));
    if (parts >= walk_of_sum(emit(sum.args[0], types_.concrete(sum.args[0])))) return {};
    Expr result;
    for (const Term& term : terms) {
      Expr part = make_leaf(Leaf::sum, {Expr(term.value)}, sum.index);
      for (auto it = term.scalars.rbegin(); it != term.scalars.rend(); ++it)
        part = make_leaf(it->first, {part, Expr(it->second)});
      if (!result.defined()) result = term.negative ? make_leaf(Leaf::neg, {part}) : part;
      else result = make_leaf(term.negative ? Leaf::sub : Leaf::add, {result, part});
    }
    return typed(result);
  }

  const char* op_;
  const Graph* graph_;
  Types types_;
  std::map<const Node*, int> nesting_;  // how many reductions wait for each other, up to a node; 0: none
  std::vector<const Node*> deep_;
  std::map<std::pair<const Node*, DType>, int> emitted_;
  std::map<std::tuple<StepKind, int, Lane, DType, bool>, int> conversions_;
  int one_of_lane_[2] = {-1, -1};  // the number 1 in f32 and f64
  Program program_;
};

}  // namespace

const OnlineSum* online_sum(const Program& program, int sum) {
  for (const OnlineSum& online : program.online)
    if (online.sum == sum) return &online;
  return nullptr;
}

const Program& type_program(const char* op, const Graph* graph, std::span<const InputType> inputs) {
  Graph::Caches& caches = *graph->caches;
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
  auto typed = std::make_unique<Program>(Typing(op, graph, inputs).run());
  const std::unique_lock hold(caches.lock);
  if (const Program* found = find()) return *found;
  return *caches.programs.emplace_back(std::move(typed));
}

}  // namespace tern::detail
