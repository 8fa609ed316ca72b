// matmul_epilogue: its operands and their kinds; accumulators of a stacked weight; sums over rows and columns.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "primitives/gemm/operation.hpp"
#include "primitives/gemm/operation_complex.hpp"
#include "process/fork.hpp"
#include "tern/ops.hpp"

namespace tern::detail {
namespace {

constexpr const char* kMatmulEpilogue = "matmul_epilogue";

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
    throw Error(ErrorKind::shape, std::string(kMatmulEpilogue) + ": operand " + std::to_string(number) + " is " +
                                      describe(t) + ", which is no " + kind_name(kind) + " of a result of shape " +
                                      to_string(space) + " (a scalar is [], a row [" + std::to_string(n) +
                                      "], a column [" + std::to_string(m) + ", 1], a tile [" + std::to_string(m) +
                                      ", " + std::to_string(n) + "], each behind batch axes)");
  return flat;
}

/// The operands as the epilogue takes them (columns with their second axis), then the captured numbers. The list
/// points into `columns`, which holds the reshaped ones: it has room for all of them from the first on.
template <class T>
PoolVector<Argument> laid_out(std::span<const Argument> operands, std::span<const Number> values,
                              const std::vector<OperandKind>& kinds, const Tensor& a, const Shape& space,
                              PoolVector<T>& columns) {
  PoolVector<Argument> list;
  list.reserve(operands.size() + values.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Argument& o = operands[i];
    const Tensor* t = o.tensor ? o.tensor : o.var ? &o.var->value() : nullptr;
    const OperandKind kind = kinds.empty() ? OperandKind::inferred : kinds[i];
    if (!t && kind != OperandKind::inferred && kind != OperandKind::scalar)
      throw Error(ErrorKind::shape, std::string(kMatmulEpilogue) + ": operand " + std::to_string(i + 1) +
                                        " is a plain number, not a " + kind_name(kind));
    if (t) {
      require_defined(kMatmulEpilogue, ("operand " + std::to_string(i + 1)).c_str(), *t);
      require_same_device(kMatmulEpilogue, a, *t);
    }
    const bool flat = t && is_flat_column(*t, kind, i + 1, space);
    const bool scalar = t && kind == OperandKind::scalar && t->dim() > space.rank();
    if (!flat && !scalar) {
      list.push_back(o);
      continue;
    }
    if (columns.empty()) columns.reserve(2 * operands.size());
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

/// A formula with sums over axes, as calls of `fused`: the outputs that sum over one axis (or, 0, over none), which
/// has become the reduced one.
struct AxisCall {
  int axis = 0;
  std::vector<std::size_t> outputs;
  const FormulaGraph* graph = nullptr;
};

/// The axis that an output sums over, or 0. Throws unsupported where a reduction names no axis, or two are there.
int summed_axis(const char* name, const Node* output) {
  std::set<int> axes;
  bool depends = false;  // on what the reduced axes are
  for (const Node* node : topological({&output, 1})) {
    const bool reduction = node->kind == NodeKind::elementary && rule_of(node->elementary).reduction;
    if (reduction && node->index != 0) axes.insert(node->index);
    depends |= (reduction && node->index == 0) || node->kind == NodeKind::extent;
    depends |= node->elementary == Elementary::index && node->index == kOrdinalAxis;
  }
  if (depends)
    throw Error(ErrorKind::unsupported, std::string(kMatmulEpilogue) + ": " + name +
                                            " contains a reduction that names no axis; write sum(x, -1) or sum(x, -2), "
                                            "or apply it to the result with row_formula");
  if (axes.size() > 1)
    throw Error(ErrorKind::unsupported, std::string(kMatmulEpilogue) + ": one output of " + name +
                                            " sums over both axes; sum over one of them afterwards");
  return axes.empty() ? 0 : *axes.begin();
}

/// The output with sums over axes as sums over the reduced axes.
Expr without_named_axes(const Node* output) {
  Rewriter rewrite;
  for (const Node* node : topological({&output, 1}))
    if (node->elementary == Elementary::sum && node->index != 0)
      rewrite.replace(node, sum(rewrite(Expr(node->args[0]))));
  return rewrite(Expr(output));
}

std::vector<AxisCall> make_calls(const char* name, const FormulaGraph* graph) {
  std::vector<AxisCall> calls;
  std::vector<std::size_t> unsummed;
  for (std::size_t k = 0; k < graph->outputs.size(); ++k) {
    const int axis = summed_axis(name, graph->outputs[k]);
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const AxisCall& c) { return c.axis == axis; });
    if (axis == 0) unsummed.push_back(k);
    else if (found != calls.end()) found->outputs.push_back(k);
    else calls.push_back({axis, {k}, nullptr});
  }
  if (calls.empty()) calls.push_back({});
  calls[0].outputs.insert(calls[0].outputs.end(), unsummed.begin(), unsummed.end());
  for (AxisCall& call : calls) {
    std::vector<Expr> outputs;
    for (const std::size_t k : call.outputs) outputs.push_back(without_named_axes(graph->outputs[k]));
    call.graph = make_graph(outputs, graph->inputs);
  }
  return calls;
}

/// make_calls, kept by graph.
const std::vector<AxisCall>& calls_of(const char* name, const FormulaGraph* graph) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& known = *new std::map<const FormulaGraph*, std::vector<AxisCall>>;
  const std::lock_guard hold(lock);
  const auto found = known.find(graph);
  return found != known.end() ? found->second : known.emplace(graph, make_calls(name, graph)).first->second;
}

/// Checks everything that does not depend on single operands; gives the shape of the result.
Shape checked_space(const char* name, const FormulaGraph* graph, std::size_t values, const Tensor& a, const Tensor& b,
                    const EpilogueOptions& options, std::size_t operands) {
  const ProductShape p = product_shape(kMatmulEpilogue, a, b);
  if (options.parts < 1 || p.n % options.parts != 0)
    throw Error(ErrorKind::shape, std::string(kMatmulEpilogue) + ": the " + std::to_string(p.n) + " columns of b, " +
                                      describe(b) + ", do not divide into " + std::to_string(options.parts) + " parts");
  const std::size_t expected = static_cast<std::size_t>(graph->inputs) - values,
                    given = operands + static_cast<std::size_t>(options.parts);
  if (expected != given)
    throw Error(ErrorKind::shape, std::string(kMatmulEpilogue) + ": " + name + " takes " + std::to_string(expected) +
                                      " arguments, got " + std::to_string(given) + " (" +
                                      std::to_string(options.parts) +
                                      (options.parts == 1 ? " accumulator" : " accumulators") + " and " +
                                      std::to_string(operands) + " operands)");
  if (graph->reduces) calls_of(name, graph);  // throws where they cannot be computed
  if (!options.kinds.empty() && options.kinds.size() != operands)
    throw Error(ErrorKind::shape, std::string(kMatmulEpilogue) + ": expected a kind for each of the " +
                                      std::to_string(operands) + " operands, got " +
                                      std::to_string(options.kinds.size()));
  return with_sizes(p.batch, {p.m, p.n / options.parts});
}

/// The gradients of a stack's parts as one, zeros where a part has none; undefined where none has.
Var stacked_grads(std::vector<Var> grads, int axis) {
  const auto some = std::find_if(grads.begin(), grads.end(), [](const Var& g) { return g.defined(); });
  if (some == grads.end()) return {};
  const Var like = *some;
  for (Var& g : grads) g = or_zeros(g, like);
  return stack(grads, axis);
}

/// The parts of a stack along an axis, as views: its transpose stacks their gradients.
PoolVector<Var> unstacked(const Var& stack_of, int axis) {
  PoolVector<Tensor> views;
  PoolVector<Var> results;
  for (std::int64_t i = 0; i < stack_of.size(axis); ++i) {
    views.push_back(stack_of.value().slice(axis, i, i + 1).squeeze(axis));
    results.push_back(as_var(views.back()));
  }
  if (!tracked({&stack_of, 1})) return results;
  const Var* const inputs[] = {&stack_of};
  record(
      "unstack", inputs, views, {},
      [axis](const RuleContext& c) {
        return PoolVector<Var>{stacked_grads({c.grads.begin(), c.grads.end()}, axis)};
      },
      results);
  return results;
}

/// What is wanted of the parts and the operands, where that is wanted of the stack and the operands.
IndexSet wanted_of_parts(const IndexSet& wanted, std::size_t parts) {
  return wanted >> 1 << parts | (wanted[0] ? first_indices(parts) : IndexSet());
}

/// The gradients of a stack of accumulators and of the operands. The formula's inputs are the parts, then the operands;
/// on plain tensors its kernel writes the parts' gradients into one stack, which is what the products then read.
struct StackedBackward {
  FusedBackward formula;
  std::size_t parts = 1;
  int axis = 0;
  Shape shape;               // of the stack
  DType dtype = DType::f32;  // of its gradient
  Device device = cpu();

  PoolVector<Var> operator()(const RuleContext& c) const {
    const bool wants_stack = c.wanted[0], plain = !tracked(c.grads) && !tracked(c.saved);
    const RuleContext inner{c.grads, c.saved, wanted_of_parts(c.wanted, parts)};
    PoolVector<Var> results(1);
    if (wants_stack && plain) return written(inner);
    PoolVector<Var> of_inputs = formula(inner);
    const auto operands = of_inputs.begin() + static_cast<std::ptrdiff_t>(parts);
    if (wants_stack) results[0] = stacked_grads({of_inputs.begin(), operands}, axis);
    results.insert(results.end(), std::make_move_iterator(operands), std::make_move_iterator(of_inputs.end()));
    return results;
  }

 private:
  PoolVector<Var> written(const RuleContext& inner) const {
    Tensor stack_of = make_tensor(shape, dtype, backend_of(device), kMatmulEpilogue);
    std::vector<Tensor> into;
    for (std::size_t i = 0; i < parts; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      into.push_back(stack_of.slice(axis, at, at + 1).squeeze(axis));
    }
    PoolVector<Var> of_inputs = formula.gradients(inner, into);
    const auto end = of_inputs.begin() + static_cast<std::ptrdiff_t>(parts);
    const bool any = std::any_of(of_inputs.begin(), end, [](const Var& g) { return g.defined(); });
    for (std::size_t i = 0; any && i < parts; ++i) {
      if (!of_inputs[i].defined()) into[i].copy_from(zeros(into[i].shape(), {.dtype = dtype, .device = device}));
      else if (of_inputs[i].value().impl() != into[i].impl()) into[i].copy_from(of_inputs[i].value());
    }
    of_inputs.erase(of_inputs.begin() + 1, end);
    of_inputs[0] = any ? as_var(stack_of) : Var();
    return of_inputs;
  }
};

/// The graph with the accumulators in `parts` that backward reads as further, hidden outputs, and which those are: they
/// are computed with in f32 and saved in 16 bits, as a pre-activation is.
struct SavingParts {
  const FormulaGraph* graph;
  IndexSet hidden = preferred_outputs();  // as outputs_read of gradient()
};
SavingParts saving_parts(const FormulaGraph* graph, const IndexSet& wanted, const IndexSet& parts) {
  const std::size_t m = graph->outputs.size();
  const GradientGraph& g = gradient(graph, first_indices(m), wanted);
  const IndexSet read = g.graph ? g.graph->used_inputs & parts : IndexSet();
  if (read.none()) return {graph};
  std::vector<Expr> outputs;
  for (const Node* output : graph->outputs) outputs.push_back(Expr(output));
  IndexSet hidden;
  for (int i = 0; i < graph->inputs; ++i) {
    if (!read[static_cast<std::size_t>(i)]) continue;
    hidden.set(outputs.size());
    outputs.push_back(make_input(i));
  }
  return {make_graph(outputs, graph->inputs), hidden};
}

/// formula(parts of the stack…, operands…) by one call of `fused`, recorded with the stack as its input.
void fused_over_parts(const FusedCall& any_call, const Shape& space, const Var& stack_of, std::span<const Var> parts,
                      int axis, std::span<const Argument> operands, std::span<Var> results) {
  PoolVector<Argument> list(parts.begin(), parts.end());
  list.insert(list.end(), operands.begin(), operands.end());
  FusedCall call = with_numbers(any_call, list);
  PoolVector<Var> inputs{stack_of};
  for (const Argument& o : operands) inputs.push_back(o.var ? *o.var : Var());
  if (!tracked(inputs)) return fused(call, list, results);
  const IndexSet wanted = wanted_of_parts(wanted_mask(inputs), parts.size());
  SavingParts saves{call.graph};
  if (!call.graph->reduces) saves = saving_parts(call.graph, wanted, call.wide.arguments);
  call.graph = saves.graph;
  PoolVector<Tensor> outputs(call.graph->outputs.size());
  run_over(space, call, list, {}, outputs);
  PoolVector<Save> saved;
  FusedBackward formula = saving(space, call, list, wanted, saved, false, saves.hidden);
  PoolVector<const Var*> pointers;
  for (const Var& input : inputs) pointers.push_back(&input);
  record(call.op, pointers, outputs, std::move(saved),
         StackedBackward{std::move(formula), parts.size(), axis, stack_of.shape(),
                         call.wide.arguments.any() ? call.wide.dtype : stack_of.dtype(), stack_of.device()},
         results);
}

/// What does not fit into one epilogue: the product, then a pass over it for each axis summed over.
PoolVector<Var> in_passes(const char* name, const FormulaGraph* graph, const Var& a, const Var& b, const Shape& space,
                          const EpilogueOptions& options, std::span<const Argument> operands) {
  // The formula and its sums are of what is not rounded yet.
  const bool halves = dtype_size(a.dtype()) == 2;
  Var y = is_complex(a.dtype())
              ? complex_product(a, b)
              : product(kMatmulEpilogue, a, b, batch_of(space), halves ? std::optional(DType::f32) : std::nullopt);
  const Wide wide{halves ? first_indices(options.parts) : IndexSet(), a.dtype()};
  const int axis = options.interleaved ? -1 : -2;
  PoolVector<Var> parts{y}, results(graph->outputs.size());
  if (options.parts > 1) {
    y = y.reshape(parted(y.shape(), options));
    parts = unstacked(y, axis);
  }
  PoolVector<Argument> list(parts.begin(), parts.end());
  list.insert(list.end(), operands.begin(), operands.end());
  for (const AxisCall& c : calls_of(name, graph)) {
    const std::uint32_t reduced = c.axis == 0 ? 0 : 1u << (space.rank() + c.axis);
    const FusedCall call{kMatmulEpilogue, c.graph, reduced, space, wide};
    PoolVector<Var> some(c.outputs.size());
    if (options.parts > 1) fused_over_parts(call, space, y, parts, axis, operands, some);
    else fused(call, list, some);
    for (std::size_t i = 0; i < some.size(); ++i) results[c.outputs[i]] = std::move(some[i]);
  }
  return results;
}

/// Of operands one of which at least is complex: both as complex numbers; their stacks are refused.
template <TensorOrVar R>
std::optional<std::pair<R, R>> as_complex(const R& a, const R& b, const EpilogueOptions& options) {
  const Tensor &x = value_of(a), &y = value_of(b);
  if (!x.defined() || !y.defined() || (!is_complex(x.dtype()) && !is_complex(y.dtype()))) return {};
  if (options.parts > 1)
    throw Error(ErrorKind::unsupported, std::string(kMatmulEpilogue) +
                                            ": stacks of complex matrices have no accumulators of their "
                                            "own; multiply by each of them, a is " +
                                            describe(x) + ", b is " + describe(y));
  if (x.dtype() == y.dtype() || !is_differentiable(x.dtype()) || !is_differentiable(y.dtype())) return {};
  const DType both = promote_types(x.dtype(), y.dtype());
  return std::pair{a.to(both), b.to(both)};
}

}  // namespace

PoolVector<Tensor> epilogue_tensors(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                                    const Tensor& a, const Tensor& b, const EpilogueOptions& options,
                                    std::span<const Argument> operands) {
  if (const std::optional<DType> dtype = product_dtype(a, b))
    return epilogue_tensors(name, graph, values, a.to(*dtype), b.to(*dtype), options, operands);
  if (const auto both = as_complex(a, b, options))
    return epilogue_tensors(name, graph, values, both->first, both->second, options, operands);
  const Shape space = checked_space(name, graph, values.size(), a, b, options, operands.size());
  PoolVector<Tensor> columns;
  const PoolVector<Argument> list = laid_out(operands, values, options.kinds, a, space, columns);
  const bool in_epilogue = options.parts == 1 && !graph->axis_sums && !is_complex(a.dtype());
  if (in_epilogue) return run_product({kMatmulEpilogue, graph, batch_of(space), {}}, a, b, list);
  PoolVector<Tensor> results;
  for (const Var& v : in_passes(name, graph, as_var(a), as_var(b), space, options, list)) results.push_back(v.value());
  return results;
}
PoolVector<Var> epilogue_vars(const char* name, const FormulaGraph* graph, std::span<const Number> values, const Var& a,
                              const Var& b, const EpilogueOptions& options, std::span<const Argument> operands) {
  if (const std::optional<DType> dtype = product_dtype(a.value(), b.value()))
    return epilogue_vars(name, graph, values, a.to(*dtype), b.to(*dtype), options, operands);
  if (const auto both = as_complex(a, b, options))
    return epilogue_vars(name, graph, values, both->first, both->second, options, operands);
  const Shape space = checked_space(name, graph, values.size(), a.value(), b.value(), options, operands.size());
  PoolVector<Var> columns;
  const PoolVector<Argument> list = laid_out(operands, values, options.kinds, a.value(), space, columns);
  if (options.parts > 1 || graph->axis_sums || is_complex(a.dtype()))
    return in_passes(name, graph, a, b, space, options, list);
  PoolVector<Var> results(graph->outputs.size());
  product_with_epilogue(kMatmulEpilogue, graph, space, a, b, list, results);
  return results;
}

}  // namespace tern::detail
