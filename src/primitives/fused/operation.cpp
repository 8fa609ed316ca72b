// Calls of a program with operands that broadcast, and their record. What goes back is in operation_backward.cpp.
#include "primitives/fused/operation.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "backend/instruments/trace.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "primitives/fused/operation_direct.hpp"

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

const FusedCall& CallForNumbers::of(const FusedCall& call, std::span<const Argument> arguments) {
  if (!call.graph->reduces) return call;
  IndexSet numbers;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!tensor_of(arguments[i])) numbers.set(i);
  const FormulaGraph* const graph = with_numbers(call.graph, numbers);
  if (graph == call.graph) return call;
  other_ = call;
  other_->graph = graph;
  return *other_;
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
  if (run_alike(call, arguments, into, outputs)) return;
  const Shape natural = broadcast_space(call.op, arguments);
  CallForNumbers for_numbers;
  run_over(call.space ? *call.space : natural, for_numbers.of(call, arguments), arguments, into, outputs);
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

void fused(const FusedCall& any_call, std::span<const Argument> arguments, std::span<Var> results,
           std::span<const Tensor> into) {
  if (of_complex_numbers(any_call, arguments)) return complex_call(any_call, arguments, into, results);
  CallForNumbers for_numbers;
  const FusedCall& call = for_numbers.of(any_call, arguments);
  Slots<Tensor, 3> outputs(results.size());
  Shape space;
  if (run_alike(call, arguments, into, outputs)) {
    space = outputs[0].shape();
  } else {
    space = broadcast_space(call.op, arguments);
    if (call.space) space = *call.space;
    run_over(space, call, arguments, into, outputs);
  }
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
