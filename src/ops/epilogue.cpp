// Products with an epilogue: a formula of the accumulator and further operands, and its derived backward.
#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ops/gemm.hpp"
#include "process/fork.hpp"
#include "tern/ops.hpp"

namespace tern {
namespace detail {
namespace {

/// An epilogue as it is recorded: with what its backward reads of the product.
struct EpiloguePlan {
  const FormulaGraph* graph = nullptr;    // the epilogue; a hidden last output where no other holds what backward reads
  IndexSet outputs_read;           // outputs read in place of their expressions
  IndexSet used;                   // inputs that backward reads
};

/// Whether a node is a floating value on the way from the accumulator that could be saved.
bool can_be_saved(const Node& node) {
  if (node.kind == NodeKind::input) return node.index == 0;
  if (node.kind != NodeKind::elementary) return false;
  const Rule& rule = rule_of(node.elementary);
  return rule.vjp && rule.gives != Gives::predicate;
}

/// The node to save so that backward reads neither the accumulator nor more operands than it must: of act(acc + bias)
/// it is the sum. Always a valid choice: the accumulator itself. An output that is there anyway is preferred.
const Node* node_to_save(const FormulaGraph* graph, const FormulaGraph* gradients, const IndexSet& tensors) {
  const Expr probe = make_input(1 << 16);
  const Node* best = nullptr;
  int best_cost = 1 << 20;
  for (const Node* node : topological(graph->outputs)) {
    if (!can_be_saved(*node)) continue;
    Rewriter rewrite;
    rewrite.replace(node, probe);
    std::vector<Expr> rest;
    for (const Node* g : gradients->outputs) rest.push_back(rewrite(Expr(g)));
    const IndexSet reads = inputs_of(rest);
    if (reads[0]) continue;
    const bool is_output = std::find(graph->outputs.begin(), graph->outputs.end(), node) != graph->outputs.end();
    const int cost = 2 * static_cast<int>((reads & tensors).count()) + (is_output ? 0 : 1);
    if (cost < best_cost) best = node, best_cost = cost;
  }
  return best;
}

EpiloguePlan make_plan(const FormulaGraph* graph, const IndexSet& wanted, const IndexSet& tensors) {
  const IndexSet all = first_indices(graph->outputs.size());
  const GradientGraph& preferred = gradient(graph, all, wanted);
  if (!preferred.graph || !preferred.graph->used_inputs[0])
    return {graph, preferred.used_outputs, preferred.graph ? preferred.graph->used_inputs : IndexSet()};
  const Node* saved = node_to_save(graph, gradient(graph, all, wanted, false, {}).graph, tensors);
  std::vector<Expr> outputs;
  std::size_t at = 0;
  for (const Node* node : graph->outputs) outputs.push_back(Expr(node));
  while (at < outputs.size() && outputs[at].node() != saved) ++at;
  if (at == outputs.size()) outputs.push_back(Expr(saved));
  EpiloguePlan plan{make_graph(outputs, graph->inputs), one_index(at), {}};
  const GradientGraph& g =
      gradient(plan.graph, first_indices(outputs.size()), wanted, false, plan.outputs_read);
  plan.used = g.graph->used_inputs;
  return plan;
}

/// What plans are kept by; they are kept for good.
struct PlanKey {
  const FormulaGraph* graph = nullptr;
  IndexSet wanted, tensors;
  bool operator==(const PlanKey&) const = default;
};
struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const {
    const std::hash<IndexSet> of_set;
    return std::hash<const FormulaGraph*>()(key.graph) ^ of_set(key.wanted) ^ of_set(key.tensors) << 1;
  }
};
const EpiloguePlan& shared_plan_of(const PlanKey& key) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& known = *new std::unordered_map<PlanKey, EpiloguePlan, PlanKeyHash>;  // which stay where they are
  const std::lock_guard hold(lock);
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, make_plan(key.graph, key.wanted, key.tensors)).first->second;
}
/// A cache: the last this thread asked for is found without the lock.
const EpiloguePlan& plan_of(const PlanKey& key) {
  thread_local PlanKey last_key;
  thread_local const EpiloguePlan* last = nullptr;
  if (!(last_key == key)) last = &shared_plan_of(key), last_key = key;
  return *last;
}

/// What is wanted of the epilogue's inputs, the accumulator first, where that is wanted of a, b and the operands.
IndexSet wanted_of_epilogue(const IndexSet& wanted) {
  return wanted >> 2 << 1 | (wanted[0] || wanted[1] ? one_index(0) : IndexSet());
}

/// The gradients of a, b and the operands: one fused pass for the epilogue's, whose first is that of the accumulator,
/// then the two products. Saved: a and b where needed, then what `formula` reads.
struct EpilogueBackward {
  FusedBackward formula;
  Shape a_batch, b_batch;
  int a_at = -1, b_at = -1;

  PoolVector<Var> operator()(const RuleContext& c) const {
    PoolVector<Var> inner = formula({c.grads, c.saved, wanted_of_epilogue(c.wanted)});
    PoolVector<Var> grads(inner.size() + 1);
    const Var& d = inner[0];
    if (d.defined() && c.wanted[0] && c.needed[0])
      grads[0] = product(formula.op, d, c.saved[static_cast<std::size_t>(b_at)].transpose(-1, -2), a_batch);
    if (d.defined() && c.wanted[1] && c.needed[1])
      grads[1] = product(formula.op, c.saved[static_cast<std::size_t>(a_at)].transpose(-1, -2), d, b_batch);
    for (std::size_t i = 1; i < inner.size(); ++i) grads[i + 1] = std::move(inner[i]);
    return grads;
  }
};

}  // namespace

void product_with_epilogue(const char* op, const FormulaGraph* graph, const Shape& space, const Var& a, const Var& b,
                           std::span<const Argument> operands, std::span<Var> results) {
  const Shape batch = batch_of(space);
  SmallVector<const Var*, 8> inputs;
  inputs.push_back(&a), inputs.push_back(&b);
  IndexSet tensors;
  for (const Argument& o : operands) {
    if (o.var || o.tensor) tensors.set(inputs.size() - 1);
    inputs.push_back(o.var);
  }
  const IndexSet mask = wanted_mask(std::span<const Var* const>(inputs));
  if (!grad_enabled() || mask.none()) {
    PoolVector<Tensor> outputs(results.size());
    run_product({op, graph, batch, {}}, a.value(), b.value(), operands, {}, outputs);
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = as_var(outputs[k]);
    return;
  }
  const EpiloguePlan& plan = plan_of({graph, wanted_of_epilogue(mask), tensors});
  Slots<Tensor, 3> outputs(plan.graph->outputs.size());
  run_product({op, plan.graph, batch, {}}, a.value(), b.value(), operands, {}, outputs);
  EpilogueBackward rule;
  rule.formula.op = op, rule.formula.graph = plan.graph, rule.formula.outputs_read = plan.outputs_read;
  rule.formula.space = space;
  rule.a_batch = batch_of(a.shape()), rule.b_batch = batch_of(b.shape());
  PoolVector<Save> saved;
  saved.reserve(inputs.size() + outputs.size());
  rule.formula.inputs.reserve(inputs.size());
  if (b.requires_grad()) rule.a_at = 0, saved.push_back({as_var(a.value()), -1, 0});
  if (a.requires_grad()) rule.b_at = static_cast<int>(saved.size()), saved.push_back({as_var(b.value()), -1, 1});
  // The accumulator is read through an output, if at all.
  rule.formula.inputs.push_back({rule.formula.space, {}, -1, true, a.dtype()});
  for (std::size_t i = 0; i < operands.size(); ++i)
    rule.formula.add_input(operands[i], plan.used[i + 1], saved, static_cast<int>(i) + 2);
  rule.formula.add_outputs(saved);
  record(op, inputs, mask, outputs, std::move(saved), std::move(rule), results);
}

}  // namespace detail
}  // namespace tern
