// The gradient of a formula as a formula: one reverse sweep over the graph.
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "formula/caches.hpp"
#include "formula/cotangent.hpp"
#include "tern/error.hpp"

namespace tern::detail {
namespace {

class ReverseSweep {
 public:
  ReverseSweep(const FormulaGraph* graph, const IndexSet& wanted) : order_(topological(graph->outputs)) {
    for (const Node* node : order_) {
      bool active = node->kind == NodeKind::input && wanted[static_cast<std::size_t>(node->index)];
      for (const Node* arg : node->args) active |= active_.contains(arg);
      if (active) active_.insert(node);
    }
  }
  void seed(const Node* output, Expr cotangent) { add(output, {cotangent, cotangent, {}}, output->full); }
  void run() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const auto found = adjoints_.find(*it);
      if (found == adjoints_.end() || !active_.contains(*it)) continue;
      const Cotangent g = found->second;
      if ((*it)->kind == NodeKind::call) through_call(**it, g);
      if ((*it)->kind == NodeKind::elementary) through_elementary(**it, g);
    }
  }
  Expr adjoint(const Node* node) const {
    const auto found = adjoints_.find(node);
    return found == adjoints_.end() ? Expr() : found->second.value;
  }

 private:
  /// The transpose of the implicit broadcast of a reduced value into a full one is a sum over the reduced axes.
  void add(const Node* to, Cotangent contribution, bool user_full) {
    if (!active_.contains(to)) return;
    if (user_full && !to->full) {
      if (contribution.value.node()->full) {
        const bool rows = varies_by_row_only(contribution.live) && contribution.open.node()->full;
        const Expr total = sum(contribution.value);  // elements that are not live are no part of it
        contribution = {total, rows ? sum(contribution.open) : total, rows_of(contribution.live)};
      } else {
        contribution.value = contribution.value * extent(), contribution.open = contribution.open * extent();
      }
    }
    accumulate(adjoints_[to], contribution);
  }

  void through_elementary(const Node& node, const Cotangent& g) {
    if (node.elementary == Elementary::cast) {  // back to the argument's type, whichever that will be
      const auto back = [&](Expr e) {
        return make_elementary(Elementary::cast, {e, Expr(node.args[0])}, kCastGradient);
      };
      add(node.args[0], passed(g, back(g.value), back(g.open)), node.full);
      return;
    }
    const Rule& rule = rule_of(node.elementary);
    if (!rule.vjp) {
      if (!rule.differentiable)
        throw Error(ErrorKind::autograd, std::string(rule.name) + ": has no derivative inside a formula");
      return;
    }
    Vjp arguments{g.value, Expr(&node), {}};
    for (std::size_t i = 0; i < node.args.size(); ++i) arguments.x[i] = Expr(node.args[i]);
    const Partials closed = rule.vjp(arguments);
    arguments.g = g.open;
    const Partials open = g.live.empty() ? closed : rule.vjp(arguments);
    // A reduction takes its argument once for each element, one that has a single element along the row as well: its
    // transpose is a plain broadcast, and with such an argument the sum of that.
    const bool full = node.full || rule.reduction;
    for (std::size_t i = 0; i < node.args.size(); ++i)
      if (closed[i].defined()) add(node.args[i], passed(g, closed[i], open[i]), full);
  }

  void through_call(const Node& node, const Cotangent& g) {
    std::vector<Expr> args;
    for (const Node* arg : node.args) args.push_back(Expr(arg));
    const std::vector<Expr> partials = node.definition->partials_at(args);
    for (std::size_t i = 0; i < partials.size(); ++i)
      add(node.args[i], passed(g, g.value * partials[i], g.open * partials[i]), node.full);
  }

  std::vector<const Node*> order_;
  std::unordered_set<const Node*> active_;
  std::unordered_map<const Node*, Cotangent> adjoints_;
};

/// Reads outputs in place of their expressions: see gradient().
void read_outputs(const FormulaGraph* graph, const IndexSet& outputs_read, std::vector<Expr>& gradients) {
  const int n = graph->inputs, m = static_cast<int>(graph->outputs.size());
  const bool preferred = outputs_read == preferred_outputs();
  Rewriter rewrite;
  for (int k = 0; k < m; ++k) {
    const Node* output = graph->outputs[static_cast<std::size_t>(k)];
    if (output->kind == NodeKind::constant) continue;  // and where else it stands, it is a literal
    if (preferred ? output->kind != NodeKind::input : outputs_read[static_cast<std::size_t>(k)])
      rewrite.replace(output, make_input(n + m + k, output->full));
  }
  std::vector<Expr> rewritten;
  for (const Expr& e : gradients) rewritten.push_back(rewrite(e));
  const IndexSet originals = first_indices(static_cast<std::size_t>(n));
  if (!preferred || (make_graph(rewritten, n + 2 * m)->used_inputs & originals).none())
    gradients = std::move(rewritten);
}

std::unique_ptr<GradientGraph> derive(const FormulaGraph* graph, const IndexSet& present, const IndexSet& wanted,
                                      bool finite_only, const IndexSet& outputs_read) {
  const int n = graph->inputs, m = static_cast<int>(graph->outputs.size());
  const Derivation scope;
  ReverseSweep sweep(graph, wanted);
  for (int k = 0; k < m; ++k) {
    const Node* output = graph->outputs[static_cast<std::size_t>(k)];
    if (present[static_cast<std::size_t>(k)])
      sweep.seed(output, finite_only ? make_constant(1) : make_input(n + k, output->full));
  }
  sweep.run();
  auto result = std::make_unique<GradientGraph>();
  result->present = present, result->wanted = wanted, result->finite_only = finite_only;
  result->outputs_read = outputs_read;
  result->output_of.assign(static_cast<std::size_t>(n), -1);
  std::vector<Expr> gradients;
  for (int i = 0; i < n; ++i) {
    if (!wanted[static_cast<std::size_t>(i)]) continue;
    Expr g = sweep.adjoint(make_input(i).node());
    if (!g.defined()) g = sweep.adjoint(make_input(i, false).node());
    if (!g.defined()) continue;
    if (finite_only) {  // g is the derivative: it is 0 where it is not finite, but NaN that arrives stays NaN
      const Expr seed = make_input(n, graph->outputs[0]->full);
      g = seed * (g.node()->kind == NodeKind::constant ? g : where(abs(g) < make_constant(kInf), g, 0));
    }
    result->output_of[static_cast<std::size_t>(i)] = static_cast<int>(gradients.size());
    gradients.push_back(g);
  }
  if (!gradients.empty()) {
    read_outputs(graph, outputs_read, gradients);
    result->graph = make_graph(gradients, n + 2 * m);
    result->used_outputs =
        result->graph->used_inputs >> static_cast<std::size_t>(n + m) & first_indices(static_cast<std::size_t>(m));
  }
  return result;
}

}  // namespace

const GradientGraph& gradient(const FormulaGraph* graph, const IndexSet& present, const IndexSet& wanted,
                              bool finite_only, const IndexSet& outputs_read) {
  FormulaGraph::Caches& caches = *graph->caches;
  const auto is_it = [&](const GradientGraph& g) {
    return g.present == present && g.wanted == wanted && g.finite_only == finite_only && g.outputs_read == outputs_read;
  };
  if (const GradientGraph* last = caches.last_gradient.load(std::memory_order_acquire); last && is_it(*last))
    return *last;
  const auto find = [&]() -> const GradientGraph* {
    for (const auto& g : caches.gradients)
      if (is_it(*g)) {
        caches.last_gradient.store(g.get(), std::memory_order_release);
        return g.get();
      }
    return nullptr;
  };
  {
    const std::shared_lock hold(caches.lock);
    if (const GradientGraph* found = find()) return *found;
  }
  auto derived = derive(graph, present, wanted, finite_only, outputs_read);
  const std::unique_lock hold(caches.lock);
  if (const GradientGraph* found = find()) return *found;
  return *caches.gradients.emplace_back(std::move(derived));
}

}  // namespace tern::detail
