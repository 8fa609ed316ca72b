#include "primitives/fused/operation_complex.hpp"

#include <string>

#include "formula/complex.hpp"
#include "primitives/fused/operation_direct.hpp"
#include "tern/complex.hpp"

namespace tern::detail {
namespace {

Tensor part_view(const Tensor& z, int part) {
  const TensorImpl& impl = *z.impl();
  Strides strides = impl.strides;
  for (std::size_t i = 0; i < strides.size(); ++i) strides[i] *= 2;
  Tensor view = make_view(z, impl.shape, strides, 2 * impl.offset + part);
  view.impl()->dtype = real_dtype(impl.dtype);
  return view;
}

/// An operand as one of type T.
template <TensorOrVar T> T operand(const Argument& a) {
  if constexpr (std::same_as<T, Tensor>) return value_of(a);
  else return a.var ? *a.var : as_var(*a.tensor);
}

/// What is known of the operands of a call.
struct Known {
  Operands operands;
  bool numbers = false;  // there are complex numbers among them
  int rank = 0;

  explicit Known(std::span<const Argument> arguments) {
    DType together = DType::boolean;
    bool several = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& a = arguments[i];
      if (is_complex(a)) operands.complex.set(i);
      numbers |= a.is_complex;
      if (!is_tensor(a)) continue;
      const Tensor& t = value_of(a);
      rank = std::max(rank, t.dim());
      (is_differentiable(t.dtype()) ? operands.floating : operands.exact).set(i);
      if (!is_differentiable(t.dtype())) continue;
      const DType dtype = real_dtype(t.dtype());
      several |= together != DType::boolean && together != dtype;
      together = promote_types(together, dtype);
    }
    if (several) operands.converted = together;
    else operands.floating.reset();
  }
};

/// Memory that the arguments of another call refer to.
template <TensorOrVar T> class RealArguments {
 public:
  explicit RealArguments(std::size_t count) { kept_.reserve(2 * count), list_.reserve(2 * count); }
  void add(T operand) {
    kept_.push_back(std::move(operand));
    list_.push_back(Argument(kept_.back()));
  }
  void add(const Argument& argument) { list_.push_back(argument); }
  std::span<const Argument> list() const { return list_; }

 private:
  PoolVector<T> kept_;
  PoolVector<Argument> list_;
};
template <TensorOrVar T> RealArguments<T> in_parts(std::span<const Argument> arguments) {
  RealArguments<T> real(arguments.size());
  for (const Argument& a : arguments) {
    if (a.is_complex) real.add(Argument(a.number)), real.add(Argument(a.imaginary));
    else if (!is_tensor(a)) real.add(a);
    else if (!is_complex(a)) real.add(operand<T>(a));
    else {
      auto parts = parts_of(operand<T>(a));
      real.add(std::move(parts.re)), real.add(std::move(parts.im));
    }
  }
  return real;
}

const Program& typed(const FusedCall& call, std::span<const Argument> arguments) {
  SmallVector<InputType, 8> types;
  for (const Argument& a : arguments)
    types.push_back(is_tensor(a) ? InputType{value_of(a).dtype(), false} : InputType{DType::f32, true});
  return type_program(call.op, with_numbers(call, arguments).graph, types);
}

/// What the parts of results must be converted to, where they have no common dtype that complex numbers have.
DType needed_conversion(const Program& program, const RealFormula& formula) {
  DType dtype = DType::boolean;
  bool needed = false;
  for (std::size_t k = 0, at = 0; k < formula.complex_outputs.size(); ++k, ++at) {
    if (!formula.complex_outputs[k]) continue;
    const DType re = program.outputs[at].dtype, im = program.outputs[++at].dtype;
    needed |= re != im || (re != DType::f32 && re != DType::f64);
    dtype = promote_types(dtype, promote_types(re, im));
  }
  return needed ? real_dtype(complex_dtype(dtype)) : DType::boolean;
}

void check_into(const char* op, const Tensor& out, DType dtype) {
  require_writable(op, out);
  if (out.dtype() != dtype)
    throw Error(ErrorKind::dtype,
                std::string(op) + ": cannot write " + std::string(to_string(dtype)) + " into " + describe(out));
}

/// The complex tensor whose parts are results of a call.
Var record_complex(const Var& re, const Var& im, Tensor whole) {
  const Var inputs[] = {re, im};
  return record_one("make_complex", inputs, std::move(whole), {}, [](const RuleContext& c) {
    VarParts g = parts_of(c.grads[0]);
    return PoolVector<Var>{std::move(g.re), std::move(g.im)};
  });
}

/// Where the results of the call in real numbers go: the parts of new complex tensors, or of those given.
struct Outputs {
  PoolVector<Tensor> wholes, into;

  Outputs(const FusedCall& call, const Program& program, const RealFormula& formula, const Shape& space,
          std::span<const Tensor> given, Backend& backend) {
    for (std::size_t k = 0, at = 0; k < formula.complex_outputs.size(); ++k, ++at) {
      Tensor out = k < given.size() ? given[k] : Tensor();
      const ProgramOutput& output = program.outputs[at];
      if (formula.complex_outputs[k]) {
        const DType dtype = complex_dtype(output.dtype);
        const bool full = output.full || !program.reduces;
        if (out.defined()) check_into(call.op, out, dtype);
        else out = make_tensor(full ? space : with_ones(space, call.reduced), dtype, backend, call.op);
        const TensorParts parts = parts_of(out);
        into.push_back(parts.re), into.push_back(parts.im), ++at;
      } else {
        into.push_back(out);
      }
      wholes.push_back(std::move(out));
    }
  }
};

/// The call in real numbers.
template <TensorOrVar T>
void call_in_parts(const FusedCall& call, Operands operands, std::span<const Argument> arguments, const Shape& space,
                   std::span<const Tensor> given, std::span<T> results) {
  const RealFormula* formula = &in_real_numbers(call.op, call.graph, operands);
  const RealArguments<T> real = in_parts<T>(arguments);
  FusedCall real_call{call.op, formula->graph, call.reduced, space, {}, call.drops_axes};
  operands.results = needed_conversion(typed(real_call, real.list()), *formula);
  if (operands.results != DType::boolean)
    formula = &in_real_numbers(call.op, call.graph, operands), real_call.graph = formula->graph;
  const Program& program = typed(real_call, real.list());
  const auto first = std::ranges::find_if(arguments, is_tensor);
  Backend& backend = value_of(*first).impl()->storage->backend();
  Outputs outputs(call, program, *formula, space, given, backend);
  PoolVector<T> values(outputs.into.size());
  if constexpr (std::same_as<T, Var>) fused(real_call, real.list(), values, outputs.into);
  else run_fused(real_call, real.list(), outputs.into, values);
  for (std::size_t k = 0, at = 0; k < formula->complex_outputs.size(); ++k, ++at) {
    if (!formula->complex_outputs[k]) {
      results[k] = std::move(values[at]);
      continue;
    }
    Tensor& whole = outputs.wholes[k];
    if constexpr (std::same_as<T, Var>) {
      if (call.drops_axes) whole = whole.reshape(without_axes(whole.shape(), call.reduced));
      results[k] = record_complex(values[at], values[at + 1], std::move(whole));
    } else {
      results[k] = std::move(whole);
    }
    ++at;
  }
  if constexpr (std::same_as<T, Tensor>) note_complex_call(call, arguments, program, false, results);
}

/// The call on numbers beside each other: parts are elements along one more axis.
template <TensorOrVar T>
void call_on_each_part(const FusedCall& call, const FormulaGraph* graph, std::span<const Argument> arguments,
                       std::span<const Tensor> given, std::span<T> results) {
  RealArguments<T> real(arguments.size());
  for (const Argument& a : arguments) {
    if (!is_tensor(a)) real.add(a);
    else real.add(is_complex(a) ? view_as_real(operand<T>(a)) : operand<T>(a).unsqueeze(-1));
  }
  FusedCall real_call{call.op, graph, call.reduced, call.space, {}, call.drops_axes};
  if (real_call.space) real_call.space->push_back(2);
  PoolVector<Tensor> into;
  for (const Tensor& out : given) into.push_back(out.defined() ? view_as_real(out) : out);
  PoolVector<T> values(results.size());
  if constexpr (std::same_as<T, Var>) fused(real_call, real.list(), values, into);
  else run_fused(real_call, real.list(), into, values);
  for (std::size_t k = 0; k < values.size(); ++k)
    results[k] = k < given.size() && given[k].defined() ? operand<T>(Argument(given[k])) : view_as_complex(values[k]);
  if constexpr (std::same_as<T, Tensor>)
    note_complex_call(call, arguments, typed(real_call, real.list()), true, results);
}

template <TensorOrVar T>
void run_complex(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> given,
                 std::span<T> results) {
  const Shape natural = broadcast_space(call.op, arguments), space = call.space.value_or(natural);
  const Known known(arguments);
  const bool parts_apart =
      !known.numbers && space.rank() < kMaxRank && known.rank < kMaxRank &&
      std::ranges::all_of(given, [](const Tensor& t) { return !t.defined() || is_complex(t.dtype()); });
  if (const FormulaGraph* const graph = parts_apart ? on_each_part(call.graph, known.operands.complex) : nullptr)
    return call_on_each_part(call, graph, arguments, given, results);
  call_in_parts(call, known.operands, arguments, space, given, results);
}

}  // namespace

TensorParts parts_of(const Tensor& z) { return {part_view(z, 0), part_view(z, 1)}; }
bool are_parts(const Tensor& re, const Tensor& im) {
  const TensorImpl &a = *re.impl(), &b = *im.impl();
  if (a.storage != b.storage || b.offset != a.offset + 1 || a.offset % 2 != 0 || a.dtype != b.dtype) return false;
  if ((a.dtype != DType::f32 && a.dtype != DType::f64) || a.shape != b.shape || a.strides != b.strides) return false;
  return std::ranges::all_of(a.strides, [](std::int64_t step) { return step % 2 == 0; });
}
Tensor whole_of(const Tensor& re) {
  const TensorImpl& impl = *re.impl();
  Strides strides = impl.strides;
  for (std::size_t i = 0; i < strides.size(); ++i) strides[i] /= 2;
  Tensor view = make_view(re, impl.shape, strides, impl.offset / 2);
  view.impl()->dtype = complex_dtype(impl.dtype);
  return view;
}
VarParts parts_of(const Var& z) {
  TensorParts parts = parts_of(z.value());
  if (!tracked({&z, 1})) return {as_var(parts.re), as_var(parts.im)};
  const Var* const input = &z;
  const Tensor outputs[] = {std::move(parts.re), std::move(parts.im)};
  Var results[2];
  record(
      "complex_parts", {&input, 1}, outputs, {},
      [](const RuleContext& c) {
        const Var &re = c.grads[0], &im = c.grads[1];
        if (!im.defined()) return PoolVector<Var>{make_complex(re, 0)};
        if (re.defined() && are_parts(re.value(), im.value()))  // FusedBackward saw to that
          return PoolVector<Var>{record_complex(re, im, whole_of(re.value()))};
        return PoolVector<Var>{re.defined() ? make_complex(re, im) : make_complex(0, im)};
      },
      results);
  return {std::move(results[0]), std::move(results[1])};
}

void complex_call(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
                  std::span<Tensor> results) {
  if (into.empty() && run_alike_complex(call, arguments, results)) return;
  run_complex(call, arguments, into, results);
}
void complex_call(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
                  std::span<Var> results) {
  run_complex(call, arguments, into, results);
}

void require_real(const char* op, const char* argument, const Tensor& x) {
  if (!x.defined() || !is_complex(x.dtype())) return;
  throw Error(ErrorKind::dtype, std::string(op) + ": has no meaning for complex numbers, " + argument + " is " +
                                    describe(x) + "; take real(z), imag(z) or abs(z)");
}

}  // namespace tern::detail
