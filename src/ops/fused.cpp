// Calls of a program with operands that broadcast: forth, recorded, and back. (Longer than other files: backward makes
// again what the call forth decided, how operands lie over the space and which outputs there are.)
#include "ops/fused.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "backend/instruments/trace.hpp"
#include "ops/complex_calls.hpp"

namespace tern::detail {

Shape without_axes(const Shape& shape, std::uint32_t mask) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i)
    if (!(mask >> i & 1)) result.push_back(shape[static_cast<std::size_t>(i)]);
  return result;
}
Shape with_ones(const Shape& shape, std::uint32_t mask) {
  Shape result = shape;
  for (int i = 0; i < shape.rank(); ++i)
    if (mask >> i & 1) result[static_cast<std::size_t>(i)] = 1;
  return result;
}

namespace {

const Tensor* tensor_of(const Argument& a) { return a.tensor ? a.tensor : a.var ? &a.var->value() : nullptr; }

const Tensor& first_tensor(const char* op, std::span<const Argument> arguments) {
  for (const Argument& a : arguments)
    if (const Tensor* t = tensor_of(a)) return *t;
  throw Error(ErrorKind::shape, std::string(op) + ": needs at least one tensor");
}

void check_numbers(const char* op, const Program& program, std::span<const Argument> arguments) {
  for (const Program::IntegralNumber& n : program.integral_numbers) {
    const Number& number = arguments[static_cast<std::size_t>(n.input)].number;
    if (fits(number, n.dtype)) continue;
    const bool fractional = !number.is_integer && number.real != std::trunc(number.real);
    std::string text = number.is_integer ? std::to_string(number.integer) : std::to_string(number.real);
    if (!fractional && !number.is_integer) text = text.substr(0, text.find('.'));  // beyond int64_t
    throw Error(ErrorKind::dtype,
                std::string(op) + ": the " + (fractional ? "fractional " : "") + "number " + text +
                    (fractional ? " meets an integer tensor" : " is not a value of the tensor's dtype") + " (" +
                    std::string(to_string(n.dtype)) + "); convert the tensor with .to()");
  }
}

/// Throws where a given output cannot take the program's.
void check_output(const char* op, const Tensor& out, const ProgramOutput& output) {
  if (!out.defined()) return;
  require_writable(op, out);
  if (out.dtype() != output.dtype)
    throw Error(ErrorKind::dtype,
                std::string(op) + ": cannot write " + std::string(to_string(output.dtype)) + " into " + describe(out));
}

/// Whether writing `out` while reading `in` would be wrong: they share memory without being the same elements in the
/// same order.
bool overlaps(const Tensor& in, const Tensor& out) {
  const TensorImpl &a = *in.impl(), &b = *out.impl();
  const bool same = a.storage == b.storage && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides &&
                    a.dtype == b.dtype;
  return !same && may_share_memory(in, out);
}

/// "; operands are f32[2, 3], 2.5 and f32[4]"
std::string described(std::span<const Argument> arguments) {
  std::string text = "; operands are ";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* t = tensor_of(arguments[i]);
    text += (i == 0                      ? ""
             : i + 1 == arguments.size() ? " and "
                                         : ", ") +
            (t ? describe(*t) : std::to_string(arguments[i].number.real));
  }
  return text;
}

}  // namespace

Shape broadcast_space(const char* op, std::span<const Argument> arguments) {
  const Tensor* first = nullptr;
  Shape space;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* t = tensor_of(arguments[i]);
    if (!t) continue;
    if (!t->defined()) require_defined(op, ("argument " + std::to_string(i + 1)).c_str(), *t);
    if (first) require_same_device(op, *first, *t);
    try {
      space = first ? broadcast_shapes(op, space, t->shape()) : t->shape();
    } catch (const Error& e) {
      throw Error(e.kind(), e.what() + described(arguments));
    }
    first = first ? first : t;
  }
  if (!first) throw Error(ErrorKind::shape, std::string(op) + ": needs at least one tensor");
  return space;
}

namespace {
/// The number of elements along the axes in `mask` of a space that is not empty.
std::int64_t elements_along(const Shape& space, std::uint32_t mask) {
  std::int64_t count = 1;
  for (int i = 0; i < space.rank(); ++i)
    if (mask >> i & 1) count *= space[static_cast<std::size_t>(i)];
  return count;
}
void check_position(const char* op, const Step& step, const Shape& space, std::uint32_t reduced) {
  const int rank = space.rank();
  const bool ordinal = step.kind == StepKind::extent || step.index == kOrdinalAxis;
  if (!ordinal && (step.index < -rank || step.index >= rank))
    throw Error(ErrorKind::index, std::string(op) + ": index(x, " + std::to_string(step.index) +
                                      ") in a formula applied to " + std::to_string(rank) + " axes");
  if (space.numel() <= kMostPositions) return;  // so along fewer axes
  const int axis = step.index < 0 ? step.index + rank : step.index;
  const std::int64_t count = elements_along(space, ordinal ? reduced : 1u << axis);
  if (count > kMostPositions)
    throw Error(ErrorKind::shape, std::string(op) + ": positions are i32, and " +
                                      (ordinal ? "the reduced axes" : "axis " + std::to_string(axis)) + " of " +
                                      to_string(space) + " have " + std::to_string(count) +
                                      " elements, more than 2^31-1; take it in parts");
}
}  // namespace

void check_coordinates(const char* op, const Program& program, const Shape& space, std::uint32_t reduced) {
  for (const Step& step : program.steps)
    if (step.kind == StepKind::position ||
        (step.kind == StepKind::extent && !is_float(step.type) && !is_wide(step.type)))
      check_position(op, step, space, reduced);
}

FusedCall with_numbers(FusedCall call, std::span<const Argument> arguments) {
  if (!call.graph->reduces) return call;
  IndexSet numbers;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!tensor_of(arguments[i])) numbers.set(i);
  call.graph = with_numbers(call.graph, numbers);
  return call;
}

PoolVector<Tensor> run_fused(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into) {
  PoolVector<Tensor> outputs(call.graph->outputs.size());
  run_fused(call, arguments, into, outputs);
  return outputs;
}
PoolVector<Var> fused(const FusedCall& call, std::span<const Argument> arguments) {
  PoolVector<Var> results(call.graph->outputs.size());
  fused(call, arguments, results);
  return results;
}

void run_fused(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
               std::span<Tensor> outputs) {
  if (of_complex_numbers(call, arguments)) return complex_call(call, arguments, into, outputs);
  const Shape natural = broadcast_space(call.op, arguments);
  run_over(call.space ? *call.space : natural, with_numbers(call, arguments), arguments, into, outputs);
}

void run_over(const Shape& space, const FusedCall& call, std::span<const Argument> arguments,
              std::span<const Tensor> into, std::span<Tensor> outputs) {
  BoundCall bound;
  bind_call(space, call, arguments, into, outputs, bound);
  run(*bound.backend, bound.request());
}

void bind_call(const Shape& space, const FusedCall& call, std::span<const Argument> arguments,
               std::span<const Tensor> into, std::span<Tensor> outputs, BoundCall& bound) {
  SmallVector<InputType, 8> types;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* t = tensor_of(arguments[i]);
    const bool wide = call.wide.arguments[i];
    types.push_back(t ? InputType{wide ? call.wide.dtype : t->dtype(), false} : InputType{DType::f32, true});
  }
  const Program& program = type_program(call.op, call.graph, types);
  check_numbers(call.op, program, arguments);
  space.numel();  // throws where it overflows
  check_coordinates(call.op, program, space, call.reduced);
  for (std::size_t k = 0; k < into.size() && k < program.outputs.size(); ++k)
    check_output(call.op, into[k], program.outputs[k]);
  Backend& backend = first_tensor(call.op, arguments).impl()->storage->backend();
  backend.require<FusedRequest>(call.op);
  bound.op = call.op, bound.program = &program, bound.space = space, bound.reduced = call.reduced;
  bound.backend = &backend;
  bound.operands.reserve(arguments.size());
  if (!into.empty()) bound.copies.reserve(arguments.size());
  for (const Argument& a : arguments) {
    const Tensor* t = tensor_of(a);
    if (t) require_kernels(call.op, *t);
    if (t &&
        std::any_of(into.begin(), into.end(), [&](const Tensor& out) { return out.defined() && overlaps(*t, out); }))
      t = &bound.copies.emplace_back(t->clone());
    bound.operands.push_made([&] {
      return t ? Operand{view_over(*t, space), {}, nullptr, a.live} : Operand{{}, a.number, nullptr, a.live};
    });
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const ProgramOutput& output = program.outputs[k];
    const bool full = output.full || !program.reduces;
    if (k < into.size() && into[k].defined()) {
      into[k].impl()->storage->bump_version();
      outputs[k] = into[k];
    } else {
      outputs[k] = make_tensor(full ? space : with_ones(space, call.reduced), output.dtype, backend, call.op);
    }
    bound.views.push_made([&] { return view_over(outputs[k], space); });
  }
}

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
std::vector<GradientGraph::Call> group_gradients(const GradientGraph& g, const GradientGraph::Calls& plan) {
  const bool graph_reduces = g.graph->reduces;
  std::vector<GradientGraph::Call> calls;
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
const std::vector<GradientGraph::Call>& gradient_calls(const GradientGraph& g, std::span<const std::uint32_t> broadcast,
                                                       std::uint32_t reduced, std::span<const DType> narrower) {
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

}  // namespace

namespace {

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
    else results_[input] = g.reshape(shape);
  }
  void run() {
    while (!pending_.empty()) {
      PoolVector<Pending> together, apart;
      for (Pending& p : pending_) {
        const bool joins = together.empty() || (p.axes == together[0].axes && p.g.shape() == together[0].g.shape());
        (joins ? together : apart).push_back(std::move(p));
      }
      run_horizontally(together);
      pending_ = std::move(apart);
    }
  }

 private:
  struct Pending {
    std::size_t input;
    std::uint32_t axes;
    Var g;
  };

  void run_horizontally(std::span<const Pending> list) {
    PoolVector<Argument> arguments;
    for (const Pending& p : list) arguments.push_back(Argument(p.g));
    PoolVector<Var> values(list.size());
    fused({"sum", sums_graph(list.size()), list[0].axes, {}}, arguments, values);
    for (std::size_t i = 0; i < list.size(); ++i)
      results_[list[i].input] = values[i].reshape(rule_.inputs[list[i].input].shape);
  }

  const FusedBackward& rule_;
  PoolVector<Var>& results_;
  PoolVector<Pending> pending_;
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
  saves = saves && t;
  const DType dtype = !t ? DType::boolean : wide.arguments[inputs.size()] ? wide.dtype : t->dtype();
  inputs.push_back(
      {t ? t->shape() : Shape{}, argument.number, saves ? static_cast<int>(saved.size()) : -1, t != nullptr, dtype});
  if (!saves) return;
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
  for (const GradientGraph::Call& call : gradient_calls(g, broadcast, reduced, narrower)) {
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
      fused(fused_call, read, values);
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
  rule.add_outputs(saved);
  return rule;
}

void fused(const FusedCall& any_call, std::span<const Argument> arguments, std::span<Var> results,
           std::span<const Tensor> into) {
  if (of_complex_numbers(any_call, arguments)) return complex_call(any_call, arguments, into, results);
  const FusedCall call = with_numbers(any_call, arguments);
  Slots<Tensor, 3> outputs(results.size());
  Shape space = broadcast_space(call.op, arguments);
  if (call.space) space = *call.space;
  run_over(space, call, arguments, into, outputs);
  if (call.drops_axes)
    for (Tensor& output : outputs) output = output.reshape(without_axes(space, call.reduced));
  const bool tracks = grad_enabled() && std::any_of(arguments.begin(), arguments.end(),
                                                    [](const Argument& a) { return a.var && a.var->requires_grad(); });
  if (!tracks) {
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = as_var(outputs[k]);
    return;
  }
  SmallVector<const Var*, 8> inputs;
  for (const Argument& a : arguments) inputs.push_back(a.var);
  PoolVector<Save> saved;
  const IndexSet wanted = wanted_mask(std::span<const Var* const>(inputs));
  FusedBackward rule = saving(space, call, arguments, wanted, saved, true);
  record(call.op, inputs, wanted, outputs, std::move(saved), std::move(rule), results);
}

Var sum_to(const Var& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const std::uint32_t axes = broadcast_axes(shape, x.shape());
  Var result = x;
  const Argument arguments[] = {Argument(x)};
  if (axes) result = fused_one<Var>({"sum", graph_of([](auto v) { return sum(v); }), axes, {}}, arguments);
  return result.reshape(shape);
}

namespace {
void check_arguments(const char* name, const FormulaGraph* graph, std::size_t values, std::size_t arguments) {
  const std::size_t expected = static_cast<std::size_t>(graph->inputs) - values;
  if (arguments != expected)
    throw Error(ErrorKind::shape, std::string(name) + ": takes " + std::to_string(expected) + " arguments, got " +
                                      std::to_string(arguments));
  if (graph->reduces)
    throw Error(ErrorKind::unsupported,
                std::string(name) + ": a formula with reductions is applied with row_formula(x, formula, ...)");
}
/// run(all arguments): those given, then the captured values.
template <class Run>
void with_values(std::span<const Number> values, std::span<const Argument> arguments, const Run& run) {
  if (values.empty()) return run(arguments);
  PoolVector<Argument> all(arguments.begin(), arguments.end());
  for (const Number& value : values) all.push_back(Argument(value));
  run(std::span<const Argument>(all));
}
}  // namespace

void apply_tensors(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                   std::span<const Argument> arguments, std::span<Tensor> results) {
  check_arguments(name, graph, values.size(), arguments.size());
  with_values(values, arguments, [&](std::span<const Argument> all) {
    run_fused({name, graph, 0, {}}, all, {}, results);
  });
}
void apply_vars(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                std::span<const Argument> arguments, std::span<Var> results) {
  check_arguments(name, graph, values.size(), arguments.size());
  with_values(values, arguments, [&](std::span<const Argument> all) { fused({name, graph, 0, {}}, all, results); });
}

}  // namespace tern::detail
