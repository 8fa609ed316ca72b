// Products with an epilogue: a formula of the accumulator and further operands, and its derived backward.
#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "primitives/gemm/operation.hpp"
#include "primitives/gemm/operation_epilogue.hpp"
#include "process/fork.hpp"
#include "tern/ops.hpp"

namespace tern {
namespace detail {
namespace {

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
  const GradientGraph& g = gradient(plan.graph, first_indices(outputs.size()), wanted, false, plan.outputs_read);
  plan.used = g.graph->used_inputs;
  return plan;
}

struct EpilogueKeyHash {
  std::size_t operator()(const EpilogueKey& key) const {
    const std::hash<IndexSet> of_set;
    return std::hash<const FormulaGraph*>()(key.graph) ^ of_set(key.wanted) ^ of_set(key.tensors) << 1;
  }
};
const EpiloguePlan& shared_plan_of(const EpilogueKey& key) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& known =
      *new std::unordered_map<EpilogueKey, EpiloguePlan, EpilogueKeyHash>;  // which stay where they are
  const std::lock_guard hold(lock);
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, make_plan(key.graph, key.wanted, key.tensors)).first->second;
}
}  // namespace

/// A cache: the last this thread asked for is found without the lock.
const EpiloguePlan& epilogue_plan_of(const EpilogueKey& key) {
  thread_local EpilogueKey last_key;
  thread_local const EpiloguePlan* last = nullptr;
  if (!(last_key == key)) last = &shared_plan_of(key), last_key = key;
  return *last;
}

void product_with_epilogue(const char* op, const FormulaGraph* graph, const Shape& space, const Var& a, const Var& b,
                           std::span<const Argument> operands, std::span<Var> results) {
  const auto run = [&, batch = batch_of(space)](const FormulaGraph* formula, std::span<Tensor> outputs) {
    run_product({op, formula, batch, {}}, a.value(), b.value(), operands, {}, outputs);
  };
  record_epilogue(op, graph, space, a, b, operands, results, run,
                  ProductGradients{op, batch_of(a.shape()), batch_of(b.shape())});
}

}  // namespace detail
}  // namespace tern
