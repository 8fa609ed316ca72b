// The gradient of a call of a program with operands that broadcast: calls of the same kind, one for each set of axes
// that gradients are summed along.
#include <algorithm>
#include <array>
#include <mutex>
#include <string>

#include "primitives/fused/operation.hpp"
#include "primitives/fused/operation_complex.hpp"

namespace tern::detail {

namespace {

/// Whether the gradient of input i is an output's gradient (or another operand) as it is: a view, which no call
/// computes.
bool is_view(const GradientGraph& g, std::size_t i, std::uint32_t broadcast, bool narrower) {
  const Node* node = g.graph->outputs[static_cast<std::size_t>(g.output_of[i])];
  return !narrower && node->kind == NodeKind::input && static_cast<std::size_t>(node->index) >= g.output_of.size() &&
         (broadcast == 0 || !node->full);
}
bool is_narrower(std::span<const DType> narrower, std::size_t i) {
  return i < narrower.size() && narrower[i] != DType::boolean;
}
/// The gradient of input i, converted where that is of a narrower dtype than others. One that is summed afterwards is
/// converted after that.
Expr narrowed(Expr gradient, const GradientGraph::Calls& plan, std::size_t i, bool summed) {
  const bool now = is_narrower(plan.narrower, i) && (summed || plan.broadcast[i] == 0);
  return now ? cast(gradient, plan.narrower[i]) : gradient;
}

/// Groups gradients by the axes their inputs were broadcast along; those summed over nothing join the first group.
std::vector<GradientGraph::FusedGradients> group_gradients(const GradientGraph& g, const GradientGraph::Calls& plan) {
  const bool graph_reduces = g.graph->reduces;
  std::vector<GradientGraph::FusedGradients> calls;
  std::vector<std::vector<Expr>> outputs;
  const auto place = [&](int input, Expr e, std::uint32_t axes, bool summed) {
    std::size_t c = 0;
    while (c < calls.size() && calls[c].reduced != axes && (axes != 0 || graph_reduces)) ++c;
    if (c == calls.size()) calls.push_back({nullptr, {}, axes, {}, {}}), outputs.emplace_back();
    calls[c].inputs.push_back(input), calls[c].summed.push_back(summed);
    outputs[c].push_back(e);
  };
  for (const bool pass : {true, false}) {  // sums first: they decide the groups
    for (std::size_t i = 0; i < g.output_of.size(); ++i) {
      if (g.output_of[i] < 0 || is_view(g, i, plan.broadcast[i], is_narrower(plan.narrower, i))) continue;
      const Node* node = g.graph->outputs[static_cast<std::size_t>(g.output_of[i])];
      const std::uint32_t axes = plan.broadcast[i];
      const bool summed = axes != 0 && node->full && (!graph_reduces || axes == plan.reduced);
      if (summed == pass)
        place(static_cast<int>(i), narrowed(summed ? sum(Expr(node)) : Expr(node), plan, i, summed),
              graph_reduces ? plan.reduced
              : summed      ? axes
                            : 0,
              summed);
    }
  }
  for (std::size_t c = 0; c < calls.size(); ++c) {
    IndexSet used = inputs_of(outputs[c]);
    if (used.none()) used = g.present << g.output_of.size();  // a call has at least one tensor
    for (std::size_t i = 0; i < used.size(); ++i)
      if (used[i]) calls[c].arguments.push_back(static_cast<int>(i));
    calls[c].graph = with_arguments(outputs[c], calls[c].arguments);
  }
  return calls;
}

/// The calls that compute the gradients in `wanted` of g for operands broadcast this way; kept with g.
const std::vector<GradientGraph::FusedGradients>& gradient_calls(const GradientGraph& g,
                                                                 std::span<const std::uint32_t> broadcast,
                                                                 std::uint32_t reduced,
                                                                 std::span<const DType> narrower) {
  const std::lock_guard hold(g.plans_lock);
  for (const auto& plan : g.plans)
    if (plan->reduced == reduced && std::ranges::equal(plan->broadcast, broadcast) &&
        std::ranges::equal(plan->narrower, narrower))
      return plan->calls;
  auto plan = std::make_unique<GradientGraph::Calls>();
  plan->broadcast.assign(broadcast.begin(), broadcast.end()), plan->reduced = reduced;
  plan->narrower.assign(narrower.begin(), narrower.end());
  plan->calls = group_gradients(g, *plan);
  return g.plans.emplace_back(std::move(plan))->calls;
}

/// Axes of `space` along which an operand of this shape was broadcast.
std::uint32_t broadcast_axes(const Shape& shape, const Shape& space) {
  std::uint32_t mask = 0;
  const int shift = space.rank() - shape.rank();
  for (int i = 0; i < space.rank(); ++i)
    if (space[static_cast<std::size_t>(i)] != 1 && (i < shift || shape[static_cast<std::size_t>(i - shift)] == 1))
      mask |= 1u << i;
  return mask;
}

/// (x…) → (sum(x)…)
const FormulaGraph* sums_graph(std::size_t count) {
  const auto make = [](std::size_t n) {
    std::vector<Expr> outputs;
    for (std::size_t i = 0; i < n; ++i) outputs.push_back(sum(make_input(static_cast<int>(i))));
    return make_graph(outputs, static_cast<int>(n));
  };
  static const std::array<const FormulaGraph*, 9> few = [&] {
    std::array<const FormulaGraph*, 9> graphs{};
    for (std::size_t n = 1; n < graphs.size(); ++n) graphs[n] = make(n);
    return graphs;
  }();
  return count < few.size() ? few[count] : make(count);
}

}  // namespace

/// Gradients of several inputs, each summed to its input's shape: those over the same axes in one pass.
class FusedBackward::Sums {
 public:
  Sums(const FusedBackward& rule, PoolVector<Var>& results) : rule_(rule), results_(results) {}

  /// The gradient of input `input`: full, of size 1 along the reduced axes, or summed already.
  void add(std::size_t input, Var g, bool summed) {
    const Shape &space = rule_.space, &shape = rule_.inputs[input].shape;
    const bool lacks_axes = !summed && g.shape() != space;
    if (lacks_axes && !(rule_.graph->reduces && rule_.graph->reduced_inputs[input]))
      g = g.broadcast_to(space);  // the same along those axes
    if (const std::uint32_t axes = broadcast_axes(shape, g.shape())) pending_.push_back({input, axes, std::move(g)});
    else results_[input] = g.shape() == shape ? std::move(g) : g.reshape(shape);
  }
  void run() {
    while (!pending_.empty()) {
      PoolVector<PendingSum> together, apart;
      for (PendingSum& p : pending_) {
        const bool joins = together.empty() || (p.axes == together[0].axes && p.g.shape() == together[0].g.shape());
        (joins ? together : apart).push_back(std::move(p));
      }
      run_horizontally(together);
      pending_ = std::move(apart);
    }
  }

 private:
  struct PendingSum {
    std::size_t input;
    std::uint32_t axes;
    Var g;
  };

  void run_horizontally(std::span<const PendingSum> list) {
    PoolVector<Argument> arguments;
    for (const PendingSum& p : list) arguments.push_back(Argument(p.g));
    PoolVector<Var> values(list.size());
    fused({"sum", sums_graph(list.size()), list[0].axes, {}}, arguments, values);
    for (std::size_t i = 0; i < list.size(); ++i)
      results_[list[i].input] = values[i].reshape(rule_.inputs[list[i].input].shape);
  }

  const FusedBackward& rule_;
  PoolVector<Var>& results_;
  PoolVector<PendingSum> pending_;
};

/// Inputs of the gradient graph: the originals, the outputs' gradients, the outputs. Those in `used` must be there.
/// `reshaped` keeps those that get the reduced axes back.
PoolVector<Argument> FusedBackward::arguments(const RuleContext& context, const IndexSet& used,
                                              PoolVector<Var>& reshaped) const {
  const std::size_t n = inputs.size(), m = graph->outputs.size();
  PoolVector<Argument> list;
  list.reserve(n + 2 * m), reshaped.reserve(2 * m);
  const auto laid_out = [&](const Var& v) -> const Var& {
    if (!drops_axes) return v;
    reshaped.push_back(v.reshape(with_ones(space, reduced)));
    return reshaped.back();
  };
  const auto saved = [&](int at, Number otherwise, bool needed) {
    if (at < 0 && needed)
      throw Error(ErrorKind::autograd, std::string(op) + ": backward reads a tensor that was not saved");
    list.push_back(at >= 0 ? Argument(context.saved[static_cast<std::size_t>(at)]) : Argument(otherwise));
  };
  for (std::size_t i = 0; i < n; ++i) saved(inputs[i].saved, inputs[i].number, inputs[i].tensor && used[i]);
  for (std::size_t k = 0; k < m; ++k)
    list.push_back(context.grads[k].defined() ? Argument(laid_out(context.grads[k])) : Argument(0));
  for (std::size_t k = 0, at = static_cast<std::size_t>(first_output); k < m; ++k) {
    const bool read = outputs_read[k];
    if (read && drops_axes) list.push_back(Argument(laid_out(context.saved[at++])));
    else saved(read ? static_cast<int>(at++) : -1, 0, used[n + m + k]);
  }
  return list;
}

void FusedBackward::add_input(const Argument& argument, bool saves, PoolVector<Save>& saved, int edge) {
  const Tensor* t = tensor_of(argument);
  const bool is_wide = wide.arguments[inputs.size()];
  // Made in its place: what is written a field at a time and copied at once waits for its stores.
  Input& input = inputs.emplace_back();
  if (!t) {
    input.number = argument.number;
    return;
  }
  input.tensor = true;
  input.shape = t->impl()->shape, input.dtype = is_wide ? wide.dtype : t->impl()->dtype;
  if (!saves) return;
  input.saved = static_cast<int>(saved.size());
  if (argument.var && edge < 0) saved.push_back({*argument.var});
  else saved.push_back({as_var(*t), -1, argument.var ? edge : -1});
}
void FusedBackward::add_outputs(PoolVector<Save>& saved) {
  first_output = static_cast<int>(saved.size());
  for (std::size_t k = 0; k < graph->outputs.size(); ++k)
    if (outputs_read[k]) saved.push_back({Var(), static_cast<int>(k)});
}

PoolVector<Var> FusedBackward::operator()(const RuleContext& context) const { return gradients(context, {}); }

namespace {
/// The dtype of each input that is narrower than what floating inputs are computed in together, boolean for others;
/// nothing where all floating inputs have one dtype.
SmallVector<DType, 8> narrower_inputs(std::span<const FusedBackward::Input> inputs) {
  DType together = DType::boolean;
  bool different = false;
  for (const FusedBackward::Input& input : inputs) {
    if (!is_floating(input.dtype)) continue;
    different |= together != DType::boolean && together != input.dtype;
    together = promote_types(together, input.dtype);
  }
  SmallVector<DType, 8> narrower;
  if (!different) return narrower;
  for (const FusedBackward::Input& input : inputs)
    narrower.push_back(is_floating(input.dtype) && input.dtype != together ? input.dtype : DType::boolean);
  return narrower;
}
}  // namespace

/// Where gradients of parts of complex tensors go: side by side, as those lie, so that nothing has to join them.
/// Undefined for others; nothing where there are only those.
PoolVector<Tensor> FusedBackward::whole_gradients(const GradientGraph::FusedGradients& call,
                                                  std::span<const std::uint32_t> broadcast,
                                                  std::span<const Argument> read) const {
  PoolVector<Tensor> given;
  if (wide.arguments.any() || call.graph->reduces) return given;
  for (std::size_t k = 0; k + 1 < call.inputs.size(); ++k) {
    const auto i = static_cast<std::size_t>(call.inputs[k]);
    if (!inputs[i].is_real_part || call.inputs[k + 1] != call.inputs[k] + 1 || broadcast[i] != 0) continue;
    Backend& backend = tensor_of(*std::ranges::find_if(read, is_tensor))->impl()->storage->backend();
    const TensorParts parts = parts_of(make_tensor(space, complex_dtype(inputs[i].dtype), backend, op));
    given.resize(call.inputs.size());
    given[k] = parts.re, given[k + 1] = parts.im;
  }
  return given;
}

PoolVector<Var> FusedBackward::gradients(const RuleContext& context, std::span<const Tensor> into) const {
  IndexSet present;
  for (std::size_t k = 0; k < context.grads.size(); ++k)
    if (context.grads[k].defined()) present.set(k);
  const GradientGraph& g = gradient(graph, present, context.wanted, false, outputs_read);
  PoolVector<Var> results(inputs.size());
  if (!g.graph) return results;
  PoolVector<Var> reshaped;
  const PoolVector<Argument> list = arguments(context, g.graph->used_inputs, reshaped);
  SmallVector<std::uint32_t, 8> broadcast;
  for (const Input& input : inputs) broadcast.push_back(broadcast_axes(input.shape, space));
  const SmallVector<DType, 8> narrower = narrower_inputs(inputs);
  Sums sums(*this, results);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (g.output_of[i] < 0 || !is_view(g, i, broadcast[i], is_narrower(narrower, i))) continue;
    const Node* node = g.graph->outputs[static_cast<std::size_t>(g.output_of[i])];
    sums.add(i, *list[static_cast<std::size_t>(node->index)].var, false);
  }
  for (const GradientGraph::FusedGradients& call : gradient_calls(g, broadcast, reduced, narrower)) {
    PoolVector<Var> values(call.inputs.size());
    SmallVector<Argument, 8> read;
    Wide wide_read{{}, wide.dtype};
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const auto i = static_cast<std::size_t>(call.arguments[k]);
      read.push_back(list[i]);
      if (wide.arguments[i]) wide_read.arguments.set(k);
    }
    const FusedCall fused_call{op, call.graph, call.reduced, space, wide_read};
    if (into.empty()) {
      fused(fused_call, read, values, narrower.empty() ? whole_gradients(call, broadcast, read) : PoolVector<Tensor>());
    } else {
      PoolVector<Tensor> given, made(values.size());
      for (std::size_t k = 0; k < values.size(); ++k) {
        const auto input = static_cast<std::size_t>(call.inputs[k]);
        const bool full = !call.graph->reduces || call.graph->outputs[k]->full;
        given.push_back(input < into.size() && full ? into[input] : Tensor());
      }
      run_fused(fused_call, read, given, made);
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = as_var(made[k]);
    }
    for (std::size_t k = 0; k < values.size(); ++k)
      sums.add(static_cast<std::size_t>(call.inputs[k]), std::move(values[k]), call.summed[k]);
  }
  sums.run();
  for (std::size_t i = 0; i < narrower.size(); ++i)
    if (is_narrower(narrower, i) && results[i].defined()) results[i] = results[i].to(narrower[i]);
  return results;
}

PoolVector<Var> fused_gradients(const FusedCall& call, std::span<const Argument> arguments,
                                std::span<const Var> grads) {
  FusedBackward rule{call.op, call.graph, call.reduced, broadcast_space(call.op, arguments)};
  PoolVector<Save> saved;
  for (const Argument& a : arguments) {
    rule.add_input(a, true, saved);
  }
  rule.add_outputs(saved);
  PoolVector<Var> values;
  for (const Save& s : saved) values.push_back(s.input);
  return rule({grads, values, first_indices(arguments.size())});
}

FusedBackward saving(const Shape& space, const FusedCall& call, std::span<const Argument> arguments,
                     const IndexSet& wanted, PoolVector<Save>& saved, bool recorded, const IndexSet& outputs_read) {
  const std::size_t outputs = call.graph->outputs.size();
  const GradientGraph& g = gradient(call.graph, first_indices(outputs), wanted, false, outputs_read);
  const IndexSet used = g.graph ? g.graph->used_inputs : IndexSet();
  FusedBackward rule{call.op, call.graph, call.reduced, space, {}, g.used_outputs, 0, call.wide, call.drops_axes};
  rule.inputs.reserve(arguments.size()), saved.reserve(arguments.size() + outputs);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    rule.add_input(arguments[i], used[i], saved, recorded ? static_cast<int>(i) : -1);
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const Tensor *const re = tensor_of(arguments[i]), *const im = tensor_of(arguments[i + 1]);
    rule.inputs[i].is_real_part = re && im && are_parts(*re, *im);
  }
  rule.add_outputs(saved);
  return rule;
}

Var sum_to(const Var& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const std::uint32_t axes = broadcast_axes(shape, x.shape());
  Var result = x;
  const Argument arguments[] = {Argument(x)};
  if (axes) result = fused_one<Var>({"sum", graph_of([](auto v) { return sum(v); }), axes, {}}, arguments);
  return result.reshape(shape);
}

}  // namespace tern::detail
