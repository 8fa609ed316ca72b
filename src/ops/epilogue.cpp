// Products with an epilogue: a formula of the accumulator and further operands, and its derived backward.
#include <map>
#include <mutex>
#include <string>

#include "ops/gemm.hpp"
#include "tern/ops.hpp"

namespace tern {
namespace detail {
namespace {

/// An epilogue as it is recorded: with what its backward reads of the product.
struct Plan {
  const Graph* graph = nullptr;    // the epilogue; a hidden last output where no other holds what backward reads
  std::uint64_t outputs_read = 0;  // outputs read in place of their expressions
  std::uint64_t used = 0;          // inputs that backward reads
};

/// The inputs that expressions depend on, those past 63 left out.
std::uint64_t inputs_of(std::span<const Expr> expressions) {
  std::vector<const Node*> nodes;
  for (const Expr& e : expressions) nodes.push_back(e.node());
  std::uint64_t mask = 0;
  for (const Node* node : topological(nodes))
    if (node->kind == NodeKind::input && node->index < 64) mask |= std::uint64_t{1} << node->index;
  return mask;
}

/// Whether a node is a floating value on the way from the accumulator that could be saved.
bool can_be_saved(const Node& node) {
  if (node.kind == NodeKind::input) return node.index == 0;
  if (node.kind != NodeKind::leaf) return false;
  const Rule& rule = rule_of(node.leaf);
  return rule.vjp && rule.gives != Gives::truth;
}

/// The node to save so that backward reads neither the accumulator nor more operands than it must: of act(acc + bias)
/// it is the sum. Always a valid choice: the accumulator itself. An output that is there anyway is preferred.
const Node* node_to_save(const Graph* graph, const Graph* gradients, std::uint64_t tensors) {
  const Expr probe = make_input(1 << 16);
  const Node* best = nullptr;
  int best_cost = 1 << 20;
  for (const Node* node : topological(graph->outputs)) {
    if (!can_be_saved(*node)) continue;
    Rewriter rewrite;
    rewrite.replace(node, probe);
    std::vector<Expr> rest;
    for (const Node* g : gradients->outputs) rest.push_back(rewrite(Expr(g)));
    const std::uint64_t reads = inputs_of(rest);
    if (reads & 1) continue;
    const bool is_output = std::find(graph->outputs.begin(), graph->outputs.end(), node) != graph->outputs.end();
    const int cost = 2 * __builtin_popcountll(reads & tensors) + (is_output ? 0 : 1);
    if (cost < best_cost) best = node, best_cost = cost;
  }
  return best;
}

Plan make_plan(const Graph* graph, std::uint64_t wanted, std::uint64_t tensors) {
  const std::uint64_t all = (std::uint64_t{1} << graph->outputs.size()) - 1;
  const GradientGraph& preferred = gradient(graph, all, wanted);
  if (!preferred.graph || !(preferred.graph->used_inputs & 1))
    return {graph, outputs_in(preferred, graph), preferred.graph ? preferred.graph->used_inputs : 0};
  const Node* saved = node_to_save(graph, gradient(graph, all, wanted, false, 0).graph, tensors);
  std::vector<Expr> outputs;
  std::size_t at = 0;
  for (const Node* node : graph->outputs) outputs.push_back(Expr(node));
  while (at < outputs.size() && outputs[at].node() != saved) ++at;
  if (at == outputs.size()) outputs.push_back(Expr(saved));
  Plan plan{make_graph(outputs, graph->inputs), std::uint64_t{1} << at, 0};
  const GradientGraph& g =
      gradient(plan.graph, (std::uint64_t{1} << outputs.size()) - 1, wanted, false, plan.outputs_read);
  plan.used = g.graph->used_inputs;
  return plan;
}

Plan plan_of(const Graph* graph, std::uint64_t wanted, std::uint64_t tensors) {
  static std::mutex lock;
  static auto& known = *new std::map<std::tuple<const Graph*, std::uint64_t, std::uint64_t>, Plan>;
  const std::lock_guard hold(lock);
  Plan& plan = known[{graph, wanted, tensors}];
  if (!plan.graph) plan = make_plan(graph, wanted, tensors);
  return plan;
}

/// The gradients of a, b and the operands: one fused pass for the epilogue's, whose first is that of the accumulator,
/// then the two products. Saved: a and b where needed, then what `formula` reads.
struct EpilogueBackward {
  FusedBackward formula;
  Shape a_batch, b_batch;
  int a_at = -1, b_at = -1;

  std::vector<Var> operator()(const RuleContext& c) const {
    const std::uint64_t wanted = c.wanted >> 2 << 1 | ((c.wanted & 3) != 0);
    std::vector<Var> inner = formula({c.grads, c.saved, wanted});
    std::vector<Var> grads(inner.size() + 1);
    const Var& d = inner[0];
    if (d.defined() && c.wanted & 1)
      grads[0] = product(formula.op, d, c.saved[static_cast<std::size_t>(b_at)].transpose(-1, -2), a_batch);
    if (d.defined() && c.wanted & 2)
      grads[1] = product(formula.op, c.saved[static_cast<std::size_t>(a_at)].transpose(-1, -2), d, b_batch);
    for (std::size_t i = 1; i < inner.size(); ++i) grads[i + 1] = std::move(inner[i]);
    return grads;
  }
};

}  // namespace

std::vector<Var> product_with_epilogue(const char* op, const Graph* graph, const Var& a, const Var& b,
                                       std::span<const Argument> operands) {
  const Shape batch = product_shape(op, a.value(), b.value()).batch;
  std::vector<Var> inputs{a, b};
  for (const Argument& o : operands) inputs.push_back(o.var ? *o.var : o.tensor ? as_var(*o.tensor) : Var());
  if (!tracked(inputs)) {
    std::vector<Var> results;
    for (Tensor& t : run_product({op, graph, batch, {}}, a.value(), b.value(), operands)) results.push_back(as_var(t));
    return results;
  }
  const std::uint64_t mask = wanted_mask(inputs);
  std::uint64_t tensors = 0;
  for (std::size_t i = 2; i < inputs.size(); ++i) tensors |= std::uint64_t{inputs[i].defined()} << (i - 1);
  const Plan plan = plan_of(graph, mask >> 2 << 1 | ((mask & 3) != 0), tensors);
  std::vector<Tensor> outputs = run_product({op, plan.graph, batch, {}}, a.value(), b.value(), operands);
  EpilogueBackward rule{
      {op, plan.graph, 0, matrix_shape(batch, a.size(-2), b.size(-1))}, batch_of(a.shape()), batch_of(b.shape())};
  rule.formula.outputs_read = plan.outputs_read;
  PoolVector<Save> saved;
  if (b.requires_grad()) rule.a_at = 0, saved.push_back({a, -1});
  if (a.requires_grad()) rule.b_at = static_cast<int>(saved.size()), saved.push_back({b, -1});
  rule.formula.shapes.push_back(rule.formula.space);  // the accumulator is read through an output, if at all
  rule.formula.numbers.emplace_back(), rule.formula.saved_index.push_back(-1);
  rule.formula.tensors = 1;
  for (std::size_t i = 0; i < operands.size(); ++i)
    rule.formula.add_input(operands[i], plan.used >> (i + 1) & 1, saved);
  rule.formula.add_outputs(saved);
  std::vector<Var> results(outputs.size());
  PoolVector<const Var*> pointers;
  for (const Var& input : inputs) pointers.push_back(&input);
  record(op, pointers, outputs, std::move(saved), std::move(rule), results);
  results.resize(graph->outputs.size());
  return results;
}

// ---- matmul_epilogue ----
namespace {

constexpr const char* kOp = "matmul_epilogue";

const char* kind_name(OperandKind kind) {
  constexpr const char* names[] = {"operand", "scalar", "row", "column", "tile"};
  return names[static_cast<int>(kind)];
}

/// Whether an operand of this shape broadcasts to `space` without enlarging it.
bool fits_into(const Shape& shape, const Shape& space) {
  if (shape.rank() > space.rank()) return false;
  for (int i = 1; i <= shape.rank(); ++i) {
    const std::int64_t s = shape[static_cast<std::size_t>(shape.rank() - i)];
    if (s != 1 && s != space[static_cast<std::size_t>(space.rank() - i)]) return false;
  }
  return true;
}

/// Whether an operand must be turned into a column; throws shape where it is not of its kind.
bool is_flat_column(const Tensor& t, OperandKind kind, std::size_t number, const Shape& space) {
  const Shape& s = t.shape();
  const std::int64_t m = space[static_cast<std::size_t>(space.rank() - 2)], n = space.back();
  const std::int64_t last = s.rank() > 0 ? s.back() : 1,
                     before = s.rank() > 1 ? s[static_cast<std::size_t>(s.rank() - 2)] : 1;
  const bool flat =
      s.rank() == 1 && last == m && (kind == OperandKind::column || (kind == OperandKind::inferred && last != n));
  bool right = flat || fits_into(s, space);
  if (kind == OperandKind::scalar) right = t.numel() == 1;
  if (kind == OperandKind::row) right &= !flat && last == n && before == 1;
  if (kind == OperandKind::column) right &= flat || (last == 1 && before == m);
  if (kind == OperandKind::tile) right &= s.rank() > 1 && last == n && before == m;
  if (!right)
    throw Error(ErrorKind::shape, std::string(kOp) + ": operand " + std::to_string(number) + " is " + describe(t) +
                                      ", which is no " + kind_name(kind) + " of a result of shape " + to_string(space) +
                                      " (a scalar is [], a row [" + std::to_string(n) + "], a column [" +
                                      std::to_string(m) + ", 1], a tile [" + std::to_string(m) + ", " +
                                      std::to_string(n) + "], each behind batch axes)");
  return flat;
}

/// The operands as the epilogue takes them (columns with their second axis), then the captured numbers. `columns` holds
/// the reshaped ones; it is reserved beforehand so that pointers to its elements stay.
template <class T>
std::vector<Argument> laid_out(std::span<const Argument> operands, std::span<const Number> values,
                               const std::vector<OperandKind>& kinds, const Tensor& a, const Shape& space,
                               std::vector<T>& columns) {
  std::vector<Argument> list;
  columns.reserve(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Argument& o = operands[i];
    const Tensor* t = o.tensor ? o.tensor : o.var ? &o.var->value() : nullptr;
    const OperandKind kind = kinds.empty() ? OperandKind::inferred : kinds[i];
    if (!t && kind != OperandKind::inferred && kind != OperandKind::scalar)
      throw Error(ErrorKind::shape, std::string(kOp) + ": operand " + std::to_string(i + 1) +
                                        " is a plain number, not a " + kind_name(kind));
    if (t) {
      require_defined(kOp, ("operand " + std::to_string(i + 1)).c_str(), *t);
      require_same_device(kOp, a, *t);
    }
    const bool flat = t && is_flat_column(*t, kind, i + 1, space);
    const bool scalar = t && kind == OperandKind::scalar && t->dim() > space.rank();
    if (!flat && !scalar) {
      list.push_back(o);
      continue;
    }
    if constexpr (std::same_as<T, Var>) {
      const Var& v = o.var ? *o.var : columns.emplace_back(as_var(*t));
      columns.push_back(flat ? v.unsqueeze(1) : v.reshape({}));
    } else {
      columns.push_back(flat ? t->unsqueeze(1) : t->reshape({}));
    }
    list.push_back(Argument(columns.back()));
  }
  for (const Number& value : values) list.push_back(Argument(value));
  return list;
}

/// The columns of the product that are one accumulator's: the product is laid out as [..., M, parts, N] or, with
/// interleaved columns, [..., M, N, parts].
Shape parted(Shape shape, const EpilogueOptions& options) {
  const std::int64_t n = shape.back() / options.parts;
  shape.back() = options.interleaved ? n : options.parts;
  shape.push_back(options.interleaved ? options.parts : n);
  return shape;
}

/// Checks everything that does not depend on single operands; gives the shape of the result.
Shape checked_space(const char* name, const Graph* graph, std::size_t values, const Tensor& a, const Tensor& b,
                    const EpilogueOptions& options, std::size_t operands) {
  const ProductShape p = product_shape(kOp, a, b);
  if (options.parts < 1 || p.n % options.parts != 0)
    throw Error(ErrorKind::shape, std::string(kOp) + ": the " + std::to_string(p.n) + " columns of b, " + describe(b) +
                                      ", do not divide into " + std::to_string(options.parts) + " parts");
  const std::size_t expected = static_cast<std::size_t>(graph->inputs) - values,
                    given = operands + static_cast<std::size_t>(options.parts);
  if (expected != given)
    throw Error(ErrorKind::shape, std::string(kOp) + ": " + name + " takes " + std::to_string(expected) +
                                      " arguments, got " + std::to_string(given) + " (" +
                                      std::to_string(options.parts) +
                                      (options.parts == 1 ? " accumulator" : " accumulators") + " and " +
                                      std::to_string(operands) + " operands)");
  if (graph->reduces)
    throw Error(ErrorKind::unsupported,
                std::string(kOp) + ": " + name + " contains a reduction; apply it to the result with row_formula");
  if (!options.kinds.empty() && options.kinds.size() != operands)
    throw Error(ErrorKind::shape, std::string(kOp) + ": expected a kind for each of the " + std::to_string(operands) +
                                      " operands, got " + std::to_string(options.kinds.size()));
  return matrix_shape(p.batch, p.m, p.n / options.parts);
}

/// The accumulators of a stacked weight, as views of one product: its transpose stacks their gradients.
std::vector<Var> accumulators(const Var& a, const Var& b, const Shape& space, const EpilogueOptions& options) {
  const Var y = product(kOp, a, b, batch_of(space));
  const int axis = options.interleaved ? -1 : -2;
  const Var parts = y.reshape(parted(y.shape(), options));
  std::vector<Tensor> views;
  for (int i = 0; i < options.parts; ++i) views.push_back(parts.value().slice(axis, i, i + 1).squeeze(axis));
  if (!tracked({&parts, 1})) {
    std::vector<Var> results;
    for (const Tensor& v : views) results.push_back(as_var(v));
    return results;
  }
  return record("unstack", {&parts, 1}, std::move(views), {}, [axis](const RuleContext& c) {
    const Var* some = nullptr;
    for (const Var& g : c.grads) some = g.defined() ? &g : some;
    std::vector<Var> grads;
    for (const Var& g : c.grads) grads.push_back(or_zeros(g, *some));
    return std::vector<Var>{stack(grads, axis)};
  });
}

}  // namespace

std::vector<Tensor> epilogue_tensors(const char* name, const Graph* graph, std::span<const Number> values,
                                     const Tensor& a, const Tensor& b, const EpilogueOptions& options,
                                     std::span<const Argument> operands) {
  const Shape space = checked_space(name, graph, values.size(), a, b, options, operands.size());
  std::vector<Tensor> columns;
  std::vector<Argument> list = laid_out(operands, values, options.kinds, a, space, columns);
  if (options.parts == 1) return run_product({kOp, graph, batch_of(space), {}}, a, b, list);
  const std::vector<Var> parts = accumulators(as_var(a), as_var(b), space, options);
  list.insert(list.begin(), parts.begin(), parts.end());
  return run_fused({kOp, graph, 0, space}, list);
}
std::vector<Var> epilogue_vars(const char* name, const Graph* graph, std::span<const Number> values, const Var& a,
                               const Var& b, const EpilogueOptions& options, std::span<const Argument> operands) {
  const Shape space = checked_space(name, graph, values.size(), a.value(), b.value(), options, operands.size());
  std::vector<Var> columns;
  columns.reserve(2 * operands.size());
  std::vector<Argument> list = laid_out(operands, values, options.kinds, a.value(), space, columns);
  if (options.parts == 1) return product_with_epilogue(kOp, graph, a, b, list);
  const std::vector<Var> parts = accumulators(a, b, space, options);
  list.insert(list.begin(), parts.begin(), parts.end());
  return fused({kOp, graph, 0, space}, list);
}

}  // namespace detail
}  // namespace tern
