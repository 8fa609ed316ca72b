#include "primitives/fused/operation_fixed.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "process/fork.hpp"
#include "tern/ops.hpp"

namespace tern::detail {
namespace {

/// The axes in front of a value's own.
Shape leading(const Shape& shape, const FixedShape& own) {
  Shape front;
  for (int i = 0; i + own.rank < shape.rank(); ++i) front.push_back(shape[static_cast<std::size_t>(i)]);
  return front;
}
Shape with_own(Shape front, const FixedShape& own) {
  for (int i = 0; i < own.rank; ++i) front.push_back(own.sizes[i]);
  return front;
}
/// One component of each value, over the axes in front.
Tensor component(const Tensor& whole, const FixedShape& own, int at) {
  if (own.rank == 0) return whole;
  const TensorImpl& impl = *whole.impl();
  Strides strides = impl.strides;
  const auto last = static_cast<std::size_t>(impl.shape.rank() - 1);
  const std::int64_t column = strides[last], row = own.rank == 2 ? strides[last - 1] : column;
  const std::int64_t offset = own.rank == 2 ? at / own.sizes[1] * row + at % own.sizes[1] * column : at * column;
  Strides front;
  for (int i = 0; i + own.rank < impl.shape.rank(); ++i) front.push_back(strides[static_cast<std::size_t>(i)]);
  return make_view(whole, leading(impl.shape, own), front, impl.offset + offset);
}

/// The graph's inputs for these operands.
struct Components {
  PoolVector<Tensor> kept;
  PoolVector<Argument> list;
  Components(const FixedCall& call, std::span<const Argument> arguments) {
    std::size_t count = 0;
    for (const auto& operand : call.operands) count += operand.components.size();
    kept.reserve(count), list.reserve(count);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      for (const int at : call.operands[i].components) {
        if (!is_tensor(arguments[i])) list.push_back(arguments[i]);
        else list.push_back(Argument(kept.emplace_back(component(value_of(arguments[i]), call.operands[i].shape, at))));
      }
    }
  }
};

const Program& typed(const FixedCall& call, std::span<const Argument> components) {
  SmallVector<InputType, 8> types;
  for (const Argument& a : components)
    types.push_back(is_tensor(a) ? InputType{value_of(a).dtype(), false} : InputType{DType::f32, true});
  return type_program(call.op, call.graph, types);
}

/// Ready to run: the graph is the one for its numbers, and the components of each result have one dtype.
struct Bound {
  FixedCall call;
  Components components;
  Shape space;
  const Program* program = nullptr;
  Bound(const FixedCall& given, std::span<const Argument> arguments) : call(given), components(given, arguments) {
    call.graph = with_numbers({call.op, call.graph, call.reduced, {}}, components.list).graph;
    space = call.space ? *call.space : broadcast_space(call.op, components.list);
    program = &typed(call, components.list);
    unify();
  }
  void unify() {
    std::vector<Expr> outputs;
    bool differ = false;
    std::size_t at = 0;
    for (const auto& result : call.results) {
      const std::size_t end = at + static_cast<std::size_t>(result.shape.count());
      DType dtype = program->outputs[at].dtype;
      for (std::size_t k = at; k < end; ++k) dtype = promote_types(dtype, program->outputs[k].dtype);
      for (; at < end; ++at) {
        const bool other = program->outputs[at].dtype != dtype;
        differ |= other;
        outputs.push_back(other ? cast(Expr(call.graph->outputs[at]), dtype) : Expr(call.graph->outputs[at]));
      }
    }
    if (!differ) return;
    call.graph = make_graph(outputs, call.graph->inputs);
    program = &typed(call, components.list);
  }
};

/// Writes x over the space into a component that varies along it.
void spread(const char* op, const Shape& space, const Tensor& x, const Tensor& to) {
  const Argument argument(x);
  Tensor written;
  run_fused({op, identity_graph(), 0, space}, {&argument, 1}, {&to, 1}, {&written, 1});
}

void run_bound(const Bound& bound, std::span<Tensor> results) {
  const FixedCall& call = bound.call;
  const auto first = std::ranges::find_if(bound.components.list, is_tensor);
  Backend& backend = value_of(*first).impl()->storage->backend();
  const std::size_t count = bound.program->outputs.size();
  PoolVector<Tensor> into(count), late(count), made(count);
  std::size_t at = 0;
  for (std::size_t r = 0; r < call.results.size(); ++r) {
    const auto& result = call.results[r];
    const Shape front = result.full ? bound.space : with_ones(bound.space, call.reduced);
    results[r] = make_tensor(with_own(front, result.shape), bound.program->outputs[at].dtype, backend, call.op);
    for (int i = 0; i < result.shape.count(); ++i, ++at) {
      const bool varies = bound.program->outputs[at].full || !bound.program->reduces;
      (varies == result.full || !bound.program->reduces ? into : late)[at] = component(results[r], result.shape, i);
    }
  }
  run_over(bound.space, {call.op, call.graph, call.reduced, {}}, bound.components.list, into, made);
  for (std::size_t k = 0; k < count; ++k)
    if (late[k].defined()) spread(call.op, bound.space, made[k], late[k]);
}

/// What the gradients of some operands are computed by: kept, for one is asked for again and again.
struct FixedGradients {
  FixedCall call;            // its operands: see sources
  std::vector<int> sources;  // of each: which of the operands, the results' gradients, and the results, in this order
  std::vector<int> inputs;   // of each result: the operand whose gradient it is
};

struct FixedBackward {
  FixedCall call;
  struct FixedInput {
    Shape shape;
    Number number;
    int saved = -1;
    bool tensor = false;
    DType dtype = DType::boolean;
  };
  PoolVector<FixedInput> inputs;
  IndexSet outputs_read;
  std::vector<int> outputs_saved;  // of each result: where it is in `saved`, or -1

  PoolVector<Var> operator()(const RuleContext& context) const;
  IndexSet inputs_of_operands(const IndexSet& operands) const {
    IndexSet set;
    std::size_t at = 0;
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      for (std::size_t c = 0; c < call.operands[i].components.size(); ++c, ++at)
        if (operands[i]) set.set(at);
    return set;
  }
  std::uint32_t broadcast(std::size_t i) const {
    const Shape front = leading(inputs[i].shape, call.operands[i].shape);
    const Shape& space = *call.space;
    std::uint32_t mask = 0;
    const int shift = space.rank() - front.rank();
    for (int a = 0; a < space.rank(); ++a)
      if (space[static_cast<std::size_t>(a)] != 1 && (a < shift || front[static_cast<std::size_t>(a - shift)] == 1))
        mask |= 1u << a;
    return mask;
  }

 private:
  FixedGradients plan(const GradientGraph& g) const;
  const FixedGradients& kept_plan(const GradientGraph& g) const;
};

/// The gradient of one operand: an expression for each component, 0 where none flows.
std::vector<Expr> gradient_of(const FixedCall& call, const GradientGraph& g, std::size_t operand, std::size_t first) {
  std::vector<Expr> gradient(static_cast<std::size_t>(call.operands[operand].shape.count()), constant(0));
  const auto& components = call.operands[operand].components;
  for (std::size_t c = 0; c < components.size(); ++c)
    if (const int k = g.output_of[first + c]; k >= 0)
      gradient[static_cast<std::size_t>(components[c])] = Expr(g.graph->outputs[static_cast<std::size_t>(k)]);
  return gradient;
}

FixedGradients FixedBackward::plan(const GradientGraph& g) const {
  FixedGradients plan{{call.op, nullptr, {}, {}, call.reduced, call.space}, {}, {}};
  const bool reduces = g.graph->reduces;
  std::vector<Expr> outputs;
  std::size_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); first += call.operands[i++].components.size()) {
    const auto& operand = call.operands[i];
    bool flows = false;
    for (std::size_t c = 0; c < operand.components.size(); ++c) flows |= g.output_of[first + c] >= 0;
    if (!flows) continue;
    std::vector<Expr> gradient = gradient_of(call, g, i, first);
    const std::uint32_t axes = broadcast(i);
    // Summed in the same kernel where all that is summed there is summed over the same axes.
    const bool kept = call.graph->reduces && call.graph->reduced_inputs[first];
    if (!reduces && axes && !plan.call.reduced) plan.call.reduced = axes;
    const bool sums = !kept && axes && axes == plan.call.reduced;
    if (sums)
      for (Expr& e : gradient)
        if (!is_zero(e)) e = e.node()->full ? sum(e) : e * extent();
    outputs.insert(outputs.end(), gradient.begin(), gradient.end());
    plan.call.results.push_back({operand.shape, !kept && !sums});
    plan.inputs.push_back(static_cast<int>(i));
  }
  // What it reads, operand by operand.
  std::vector<int> arguments;
  std::size_t next = 0;
  int source = 0;
  const IndexSet used = detail::inputs_of(outputs);
  const auto add = [&](const FixedShape& shape, std::span<const int> components) {
    FixedCall::ComponentsRead operand{shape, {}};
    for (const int c : components) {
      if (used[next]) operand.components.push_back(c), arguments.push_back(static_cast<int>(next));
      ++next;
    }
    if (!operand.components.empty()) plan.call.operands.push_back(std::move(operand)), plan.sources.push_back(source);
    ++source;
  };
  for (const auto& operand : call.operands) add(operand.shape, operand.components);
  for (int twice = 0; twice < 2; ++twice)
    for (const auto& result : call.results) {
      std::vector<int> all;
      for (int c = 0; c < result.shape.count(); ++c) all.push_back(c);
      add(result.shape, all);
    }
  plan.call.graph = with_arguments(outputs, arguments);
  return plan;
}

const FixedGradients& FixedBackward::kept_plan(const GradientGraph& g) const {
  // The graph alone does not say which inputs are components of one tensor, nor how they are broadcast.
  std::vector<std::int64_t> key{static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&g)), call.reduced};
  const auto add_shape = [&](const FixedShape& s) { key.insert(key.end(), {s.rank, s.sizes[0], s.sizes[1]}); };
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    add_shape(call.operands[i].shape), key.push_back(broadcast(i));
    key.push_back(static_cast<std::int64_t>(call.operands[i].components.size()));
    key.insert(key.end(), call.operands[i].components.begin(), call.operands[i].components.end());
  }
  for (const auto& result : call.results) add_shape(result.shape), key.push_back(result.full);
  struct Plans {
    ForkSafe<std::mutex> lock;
    std::map<std::vector<std::int64_t>, FixedGradients> list;
  };
  static Plans& plans = *new Plans;  // of graphs, which live as long as the process
  const std::lock_guard hold(plans.lock);
  const auto found = plans.list.find(key);
  return found != plans.list.end() ? found->second : plans.list.emplace(std::move(key), plan(g)).first->second;
}

PoolVector<Var> FixedBackward::operator()(const RuleContext& context) const {
  PoolVector<Var> gradients(inputs.size());
  IndexSet present;
  std::size_t at = 0;
  for (std::size_t r = 0; r < call.results.size(); ++r)
    for (int c = 0; c < call.results[r].shape.count(); ++c, ++at)
      if (context.grads[r].defined()) present.set(at);
  const IndexSet wanted = inputs_of_operands(context.wanted & context.needed);  // in forward mode, the tangents alone
  const GradientGraph& g = gradient(call.graph, present, wanted, false, outputs_read);
  if (!g.graph) return gradients;
  const FixedGradients& plan = kept_plan(g);
  const auto operands = call.operands.size(), results = call.results.size();
  PoolVector<Argument> arguments;
  for (const int source : plan.sources) {
    const auto s = static_cast<std::size_t>(source);
    if (s < operands) {
      if (!inputs[s].tensor) arguments.push_back(Argument(inputs[s].number));
      else arguments.push_back(Argument(context.saved[static_cast<std::size_t>(inputs[s].saved)]));
    } else if (s < operands + results) {
      arguments.push_back(Argument(context.grads[s - operands]));
    } else {
      arguments.push_back(Argument(context.saved[static_cast<std::size_t>(outputs_saved[s - operands - results])]));
    }
  }
  FixedCall run = plan.call;
  run.space = call.space;
  PoolVector<Var> values(plan.inputs.size());
  run_fixed(run, arguments, values);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto i = static_cast<std::size_t>(plan.inputs[k]);
    Var whole = sum_to(values[k], inputs[i].shape);
    gradients[i] = whole.dtype() == inputs[i].dtype ? whole : whole.to(inputs[i].dtype);
  }
  return gradients;
}

/// The rule, with what it saves.
FixedBackward saving(const Bound& bound, std::span<const Argument> arguments, const IndexSet& wanted,
                     PoolVector<Save>& saved) {
  FixedBackward rule{bound.call, {}, {}, {}};
  rule.call.space = bound.space;
  const std::size_t outputs = bound.call.graph->outputs.size();
  const GradientGraph& g = gradient(bound.call.graph, first_indices(outputs), rule.inputs_of_operands(wanted));
  const IndexSet used = g.graph ? g.graph->used_inputs : IndexSet();
  rule.outputs_read = g.used_outputs;
  std::size_t at = 0;
  for (std::size_t i = 0; i < bound.call.operands.size(); ++i) {
    bool read = false;
    for (std::size_t c = 0; c < bound.call.operands[i].components.size(); ++c) read |= used[at++];
    const Argument& a = arguments[i];
    const bool tensor = is_tensor(a);
    FixedBackward::FixedInput input{tensor ? value_of(a).shape() : Shape{}, a.number, -1, tensor,
                                    tensor ? value_of(a).dtype() : DType::boolean};
    if (read && tensor) {
      input.saved = static_cast<int>(saved.size());
      saved.push_back({as_var(value_of(a)), -1, a.var ? static_cast<int>(i) : -1});
    }
    rule.inputs.push_back(std::move(input));
  }
  at = 0;
  for (std::size_t r = 0; r < bound.call.results.size(); ++r) {
    bool read = false;
    for (int c = 0; c < bound.call.results[r].shape.count(); ++c) read |= g.used_outputs[at++];
    rule.outputs_saved.push_back(read ? static_cast<int>(saved.size()) : -1);
    if (read) saved.push_back({Var(), static_cast<int>(r)});
  }
  return rule;
}

std::string shape_text(const FixedShape& own) {
  return own.rank == 0   ? "[...]"
         : own.rank == 1 ? "[..., " + std::to_string(own.sizes[0]) + "]"
                         : "[..., " + std::to_string(own.sizes[0]) + ", " + std::to_string(own.sizes[1]) + "]";
}
/// Throws where an argument is not what the formula takes.
void check_arguments(const FixedFormula& f, std::span<const Argument> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const FixedShape& own = f.arguments[i];
    const std::string name = "argument " + std::to_string(i + 1);
    const auto fail = [&](ErrorKind kind, const std::string& got) {
      throw Error(kind, std::string(f.name) + ": " + name + " must be " + shape_text(own) + ", got " + got);
    };
    if (arguments[i].is_complex) fail(ErrorKind::dtype, "a complex number; these formulas take real ones");
    if (!is_tensor(arguments[i])) {
      if (own.rank) fail(ErrorKind::shape, "a number");
      continue;
    }
    const Tensor& t = require_defined(f.name, name.c_str(), value_of(arguments[i]));
    if (is_complex(t.dtype())) fail(ErrorKind::dtype, describe(t) + "; these formulas take real numbers");
    bool fits = t.dim() >= own.rank;
    for (int a = 0; fits && a < own.rank; ++a) fits = t.size(a - own.rank) == own.sizes[a];
    if (!fits) fail(ErrorKind::shape, describe(t));
  }
  if (f.graph->reduces)
    throw Error(ErrorKind::unsupported, std::string(f.name) +
                                            ": reductions have no place in a formula of vectors and "
                                            "matrices; sum(v) of a vector is the sum of its components");
}

template <TensorOrVar T> void apply(const FixedFormula& f, std::span<const Argument> arguments, std::span<T> results) {
  check_arguments(f, arguments);
  FixedCall call{f.name, f.graph, {}, {}, 0, {}};
  for (const FixedShape& shape : f.arguments) {
    call.operands.push_back({shape, {}});
    for (int c = 0; c < shape.count(); ++c) call.operands.back().components.push_back(c);
  }
  for (const FixedShape& shape : f.results) call.results.push_back({shape, true});
  PoolVector<Argument> all(arguments.begin(), arguments.end());
  for (const Number& value : f.values) {
    all.push_back(Argument(value));
    call.operands.push_back({FixedShape{}, {0}});
  }
  run_fixed(call, all, results);
}

}  // namespace

void run_fixed(const FixedCall& call, std::span<const Argument> arguments, std::span<Tensor> results) {
  if (call.values && call.values(call, arguments, results)) return;
  run_bound(Bound(call, arguments), results);
}

void run_fixed(const FixedCall& call, std::span<const Argument> arguments, std::span<Var> results) {
  const Bound bound(call, arguments);
  PoolVector<Tensor> values(results.size());
  if (!call.values || !call.values(call, arguments, values)) run_bound(bound, values);
  const bool tracks = grad_enabled() && std::any_of(arguments.begin(), arguments.end(),
                                                    [](const Argument& a) { return a.var && a.var->requires_grad(); });
  if (!tracks) {
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = as_var(values[k]);
    return;
  }
  PoolVector<const Var*> inputs;
  for (const Argument& a : arguments) inputs.push_back(a.var);
  PoolVector<Save> saved;
  const IndexSet wanted = wanted_mask(std::span<const Var* const>(inputs));
  FixedBackward rule = saving(bound, arguments, wanted, saved);
  record(call.op, inputs, wanted, values, std::move(saved), std::move(rule), results);
}

void apply_fixed(const FixedFormula& formula, std::span<const Argument> arguments, std::span<Tensor> results) {
  apply(formula, arguments, results);
}
void apply_fixed(const FixedFormula& formula, std::span<const Argument> arguments, std::span<Var> results) {
  apply(formula, arguments, results);
}

}  // namespace tern::detail
