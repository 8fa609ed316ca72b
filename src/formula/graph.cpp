#include "formula/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "formula/caches.hpp"
#include "tern/error.hpp"

namespace tern::detail {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}
std::uint64_t hash_text(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}
std::uint64_t number_bits(const Number& n) {
  return n.is_integer ? static_cast<std::uint64_t>(n.integer) : std::bit_cast<std::uint64_t>(n.real);
}

/// Content only, so that keys agree between processes.
std::uint64_t content_hash(const Node& n) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(n.kind) + 1, n.full ? 2 : 1);
  if (n.kind == NodeKind::elementary) hash = mix(hash, hash_text(rule_of(n.elementary).name));
  if (n.kind == NodeKind::constant) hash = mix(mix(hash, number_bits(n.number)), n.number.is_integer);
  if (n.kind == NodeKind::call) hash = mix(hash, n.definition->value->key);
  if (n.kind == NodeKind::call && n.definition->derivative) hash = mix(hash, n.definition->derivative->key);
  hash = mix(hash, static_cast<std::uint64_t>(static_cast<std::int64_t>(n.index)));
  for (const Node* arg : n.args) hash = mix(hash, arg->hash);
  return hash;
}

bool same_content(const Node& a, const Node& b) {
  return a.kind == b.kind && a.elementary == b.elementary && a.full == b.full && a.index == b.index &&
         a.definition == b.definition && a.args == b.args && a.number.is_integer == b.number.is_integer &&
         number_bits(a.number) == number_bits(b.number);
}

struct Arena {
  ForkSafe<std::mutex> lock;
  std::deque<Node> nodes;
  std::unordered_multimap<std::uint64_t, const Node*> node_index;
  std::deque<FormulaGraph> graphs;
  std::unordered_multimap<std::uint64_t, const FormulaGraph*> graph_index;
  std::deque<Definition> definitions;
};
Arena& arena() {
  static Arena* instance = new Arena;  // never destroyed: static formulas of user code may outlive it
  return *instance;
}

Expr intern(Node&& node) {
  node.hash = content_hash(node);
  Arena& a = arena();
  const std::lock_guard hold(a.lock);
  const auto [begin, end] = a.node_index.equal_range(node.hash);
  for (auto it = begin; it != end; ++it)
    if (same_content(*it->second, node)) return Expr(it->second);
  node.serial = a.nodes.size();
  const Node* stored = &a.nodes.emplace_back(std::move(node));
  a.node_index.emplace(stored->hash, stored);
  return Expr(stored);
}

bool is_elementary(Expr x, Elementary elementary) {
  return x.node()->kind == NodeKind::elementary && x.node()->elementary == elementary;
}
Expr argument(Expr x, std::size_t i) { return Expr(x.node()->args[i]); }

/// Derivations under way. Of a thread, not an argument: rules of gradients are written in operators on Expr.
thread_local int open_derivations = 0;

/// Rewrites that give the same bits for every input. Undefined where none applies. (x + 0 is not one: -0 + 0 is +0.)
Expr simplified(Elementary elementary, const std::vector<const Node*>& args) {
  const auto x = [&](std::size_t i) { return Expr(args[i]); };
  switch (elementary) {
    case Elementary::mul:
      if (open_derivations == 0) return {};  // an unsigned operand would refuse -1
      if (is_constant(x(1), -1)) return make_elementary(Elementary::neg, {x(0)});
      if (is_constant(x(0), -1)) return make_elementary(Elementary::neg, {x(1)});
      return {};
    case Elementary::sub:
      return is_elementary(x(1), Elementary::neg) ? make_elementary(Elementary::add, {x(0), argument(x(1), 0)})
                                                  : Expr();
    case Elementary::add:
      return is_elementary(x(1), Elementary::neg) ? make_elementary(Elementary::sub, {x(0), argument(x(1), 0)})
                                                  : Expr();
    case Elementary::detach:
      return is_elementary(x(0), Elementary::detach) || args[0]->kind == NodeKind::constant ? x(0) : Expr();
    default: return {};
  }
}

}  // namespace

Derivation::Derivation() { ++open_derivations; }
Derivation::~Derivation() { --open_derivations; }

Expr same_as_argument(Elementary elementary, std::span<const Node* const> args) {
  const auto x = [&](std::size_t i) { return Expr(args[i]); };
  switch (elementary) {
    case Elementary::mul: return is_constant(x(1), 1) ? x(0) : is_constant(x(0), 1) ? x(1) : Expr();
    case Elementary::div: return is_constant(x(1), 1) ? x(0) : Expr();
    case Elementary::sub: return is_constant(x(1), 0) && !std::signbit(args[1]->number.real) ? x(0) : Expr();
    case Elementary::neg: return is_elementary(x(0), Elementary::neg) ? argument(x(0), 0) : Expr();
    case Elementary::where: return args[1] == args[2] ? x(1) : Expr();
    default: return {};
  }
}

bool is_constant(Expr x, double value) {
  return x.defined() && x.node()->kind == NodeKind::constant && x.node()->number.real == value;
}
bool is_zero(Expr x) { return is_constant(x, 0); }

Expr make_input(int index, bool full) {
  Node node;
  node.kind = NodeKind::input, node.index = index, node.full = full;
  return intern(std::move(node));
}
Expr make_constant(Number number) {
  // Integral values have one representation, so that 1 and 1.0 are one node; -0.0 stays a float.
  const bool integral = !number.is_integer && std::abs(number.real) < 9e15 && number.real == std::trunc(number.real) &&
                        !(number.real == 0 && std::signbit(number.real));
  Node node;
  node.number = integral ? Number(static_cast<std::int64_t>(number.real)) : number;
  return intern(std::move(node));
}
Expr make_extent() {
  Node node;
  node.kind = NodeKind::extent, node.reduces = true;
  return intern(std::move(node));
}

Expr make_elementary(Elementary elementary, std::initializer_list<Expr> args, int index) {
  Node node;
  node.kind = NodeKind::elementary, node.elementary = elementary, node.index = index;
  for (const Expr& arg : args) {
    if (!arg.defined()) fail_undefined(rule_of(elementary).name, node.args.size());
    const Node& a = *arg.node();
    node.full |= a.full, node.reduces |= a.reduces, node.calls |= a.calls;
    node.args.push_back(&a);
  }
  if (const Expr simple = simplified(elementary, node.args); simple.defined()) return simple;
  if (open_derivations > 0)
    if (const Expr same = same_as_argument(elementary, node.args); same.defined()) return same;
  if (elementary == Elementary::index) node.full = true, node.reduces |= index == kOrdinalAxis;
  if (rule_of(elementary).reduction) node.full = false, node.reduces = true;
  return intern(std::move(node));
}

Expr make_call(const Definition* definition, std::span<const Expr> args) {
  Node node;
  node.kind = NodeKind::call, node.calls = true, node.definition = definition;
  for (const Expr& arg : args) {
    node.full |= arg.node()->full, node.reduces |= arg.node()->reduces;
    node.args.push_back(arg.node());
  }
  return intern(std::move(node));
}

const Definition* make_definition(const FormulaGraph* value, const FormulaGraph* derivative,
                                  Definition::PartialsOf partials) {
  Arena& a = arena();
  const std::lock_guard hold(a.lock);
  for (const Definition& d : a.definitions)
    if (d.value == value && d.derivative == derivative && d.partials == partials) return &d;
  return &a.definitions.emplace_back(Definition{value, derivative, partials});
}
std::vector<Expr> Definition::partials_at(std::span<const Expr> x) const {
  return partials ? partials(x) : substitute(derivative, x);
}

namespace {
bool speaks_of_complex(const Node& node) {
  switch (node.elementary) {
    case Elementary::real_part:
    case Elementary::imag_part:
    case Elementary::complex_of: return true;
    case Elementary::cast: return node.index >= 0 && is_complex(static_cast<DType>(node.index));
    default: return node.kind == NodeKind::call && node.definition->value->complex;
  }
}
}  // namespace

const FormulaGraph* make_graph(std::span<const Expr> outputs, int inputs) {
  if (static_cast<std::size_t>(inputs) > kMostInputs)
    throw Error(ErrorKind::unsupported, "a formula or derivative with " + std::to_string(inputs) +
                                            " operands, cotangents and tangents; at most " +
                                            std::to_string(kMostInputs) +
                                            " are supported: use fewer arguments or a lower order");
  FormulaGraph graph;
  graph.inputs = inputs;
  std::uint64_t key = mix(0x7465726e, static_cast<std::uint64_t>(inputs));
  bool calls = false;
  for (const Expr& e : outputs) {
    graph.outputs.push_back(e.node());
    graph.reduces |= e.node()->reduces;
    calls |= e.node()->calls;
    key = mix(key, e.node()->hash);
  }
  graph.key = key;
  const FormulaGraph* inlined = nullptr;
  if (calls) {
    Rewriter rewrite(true);
    std::vector<Expr> values;
    for (const Expr& e : outputs) values.push_back(rewrite(e));
    inlined = make_graph(values, inputs);
  }
  Arena& a = arena();
  const std::lock_guard hold(a.lock);
  const auto [begin, end] = a.graph_index.equal_range(key);
  for (auto it = begin; it != end; ++it)
    if (it->second->outputs == graph.outputs && it->second->inputs == inputs) return it->second;
  for (const Node* node : topological(graph.outputs)) {
    graph.axis_sums |= node->elementary == Elementary::sum && node->index != 0;
    graph.complex |= speaks_of_complex(*node);
    if (node->kind == NodeKind::input) {
      graph.used_inputs.set(static_cast<std::size_t>(node->index));
      if (!node->full) graph.reduced_inputs.set(static_cast<std::size_t>(node->index));
    }
  }
  graph.reduces |= graph.reduced_inputs.any();
  graph.caches = std::make_unique<FormulaGraph::Caches>();
  FormulaGraph* stored = &a.graphs.emplace_back(std::move(graph));
  stored->inlined = inlined ? inlined : stored;
  a.graph_index.emplace(key, stored);
  return stored;
}
const FormulaGraph* identity_graph() {
  static const FormulaGraph* const graph = [] {
    const Expr x = make_input(0);
    return make_graph({&x, 1}, 1);
  }();
  return graph;
}

std::vector<const Node*> topological(std::span<const Node* const> outputs) {
  std::vector<const Node*> order;
  std::vector<std::pair<const Node*, bool>> pending;  // and whether its arguments have been seen to
  for (auto output = outputs.rbegin(); output != outputs.rend(); ++output) pending.emplace_back(*output, false);
  std::unordered_set<const Node*> seen;
  while (!pending.empty()) {
    const auto [node, ready] = pending.back();
    pending.pop_back();
    if (ready) order.push_back(node);
    if (ready || !seen.insert(node).second) continue;
    pending.emplace_back(node, true);
    if (node->elementary != Elementary::index)
      for (auto arg = node->args.rbegin(); arg != node->args.rend(); ++arg) pending.emplace_back(*arg, false);
  }
  return order;
}

IndexSet inputs_of(std::span<const Expr> expressions) {
  std::vector<const Node*> nodes;
  for (const Expr& e : expressions) nodes.push_back(e.node());
  IndexSet mask;
  for (const Node* node : topological(nodes))
    if (node->kind == NodeKind::input && static_cast<std::size_t>(node->index) < kMostInputs)
      mask.set(static_cast<std::size_t>(node->index));
  return mask;
}

Expr Rewriter::rebuilt(const Node* node) {
  if (node->args.empty()) return Expr(node);
  std::vector<Expr> args;
  bool changed = false;
  for (const Node* arg : node->args) {
    args.push_back(map_.at(arg));
    changed |= args.back().node() != arg;
  }
  if (node->kind == NodeKind::call) {
    if (inline_calls_) return substitute(node->definition->value->inlined, args)[0];  // it has no calls: no recursion
    return changed ? make_call(node->definition, args) : Expr(node);
  }
  if (!changed) return Expr(node);
  switch (args.size()) {
    case 1: return make_elementary(node->elementary, {args[0]}, node->index);
    case 2: return make_elementary(node->elementary, {args[0], args[1]}, node->index);
    default: return make_elementary(node->elementary, {args[0], args[1], args[2]}, node->index);
  }
}

Expr Rewriter::operator()(Expr x) {
  // Traverses in creation order instead of recursing: formulas can be long chains.
  std::vector<const Node*> pending{x.node()}, order;
  std::unordered_set<const Node*> seen;
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (map_.contains(node) || !seen.insert(node).second) continue;
    order.push_back(node);
    pending.insert(pending.end(), node->args.begin(), node->args.end());
  }
  std::sort(order.begin(), order.end(), [](const Node* a, const Node* b) { return a->serial < b->serial; });
  for (const Node* node : order) map_.emplace(node, rebuilt(node));
  return map_.at(x.node());
}

std::vector<Expr> substitute(const FormulaGraph* graph, std::span<const Expr> args) {
  Rewriter rewrite;
  for (int i = 0; i < graph->inputs; ++i) {
    rewrite.replace(make_input(i).node(), args[static_cast<std::size_t>(i)]);
    rewrite.replace(make_input(i, false).node(), args[static_cast<std::size_t>(i)]);
  }
  std::vector<Expr> results;
  for (const Node* output : graph->outputs) results.push_back(rewrite(Expr(output)));
  return results;
}

const FormulaGraph* with_arguments(std::span<const Expr> outputs, std::span<const int> arguments) {
  Rewriter rewrite;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const bool full : {true, false})
      rewrite.replace(make_input(arguments[i], full).node(), make_input(static_cast<int>(i), full));
  std::vector<Expr> renumbered;
  for (const Expr& e : outputs) renumbered.push_back(rewrite(e));
  return make_graph(renumbered, static_cast<int>(arguments.size()));
}

const FormulaGraph* with_numbers(const FormulaGraph* graph, IndexSet numbers) {
  numbers &= graph->used_inputs & ~graph->reduced_inputs;
  if (!graph->reduces || numbers.none()) return graph;
  const auto find = [&]() -> const FormulaGraph* {
    for (const auto& [mask, result] : graph->caches->with_numbers)
      if (mask == numbers) return result;
    return nullptr;
  };
  {
    const std::shared_lock hold(graph->caches->lock);
    if (const FormulaGraph* found = find()) return found;
  }
  Rewriter rewrite;
  for (int i = 0; i < graph->inputs; ++i)
    if (numbers[static_cast<std::size_t>(i)]) rewrite.replace(make_input(i).node(), make_input(i, false));
  std::vector<Expr> outputs;
  for (const Node* output : graph->outputs) outputs.push_back(rewrite(Expr(output)));
  const FormulaGraph* const result = make_graph(outputs, graph->inputs);
  const std::unique_lock hold(graph->caches->lock);
  if (const FormulaGraph* found = find()) return found;
  return graph->caches->with_numbers.emplace_back(numbers, result).second;
}

}  // namespace tern::detail
