#include "primitives/gemm/operation.hpp"

#include <string>

#include "backend/instruments/trace.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail {

namespace {

[[noreturn]] void fail(ErrorKind kind, const char* op, const std::string& what, const Tensor& a, const Tensor& b) {
  throw Error(kind, std::string(op) + ": " + what + ": a is " + describe(a) + ", b is " + describe(b));
}

/// An operand over batch + its own two axes.
View matrix_view(const Tensor& t, const Shape& batch) {
  const TensorImpl& impl = *t.impl();
  Strides outer = impl.strides;
  outer.resize(impl.shape.rank() - 2);
  View view{impl.storage.get(), impl.dtype, impl.offset, broadcast_strides(batch_of(impl.shape), outer, batch)};
  const auto row = static_cast<std::size_t>(impl.shape.rank() - 2);
  view.strides.push_back(impl.strides[row]), view.strides.push_back(impl.strides[row + 1]);
  return view;
}

const FormulaGraph* plain_epilogue() {
  return graph_of([](auto acc) { return acc; });
}

}  // namespace

std::optional<DType> product_dtype(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined() || a.dtype() == b.dtype()) return {};
  const bool floats = is_floating(a.dtype()) && is_floating(b.dtype());
  if (!floats && !(is_integer(a.dtype()) && is_integer(b.dtype()))) return {};
  return promote_types(a.dtype(), b.dtype());
}

void require_one_kind(const char* op, const Tensor& a, const Tensor& b) {
  require_defined(op, "a", a), require_defined(op, "b", b);
  const bool mixes = is_integer(a.dtype()) ? is_differentiable(b.dtype())
                                           : is_integer(b.dtype()) && is_differentiable(a.dtype());
  if (mixes) fail(ErrorKind::dtype, op, "dtypes are of different kinds (convert one operand with .to())", a, b);
}

ProductShape product_shape(const char* op, const Tensor& a, const Tensor& b) {
  require_defined(op, "a", a), require_defined(op, "b", b);
  if (a.dim() < 2 || b.dim() < 2) fail(ErrorKind::shape, op, "operands must have at least 2 axes", a, b);
  if (a.dtype() != b.dtype())
    fail(ErrorKind::dtype, op, "dtypes are of different kinds (convert one operand with .to())", a, b);
  if (a.dtype() == DType::boolean || (is_integer(a.dtype()) && dtype_size(a.dtype()) < 4))
    fail(ErrorKind::dtype, op, "products need floats, i32, u32 or i64", a, b);
  require_same_device(op, a, b);
  if (a.size(-1) != b.size(-2)) fail(ErrorKind::shape, op, "inner dimensions differ", a, b);
  ProductShape p;
  p.m = a.size(-2), p.k = a.size(-1), p.n = b.size(-1);
  const Shape x = batch_of(a.shape()), y = batch_of(b.shape());
  for (int i = 1; i <= std::min(x.rank(), y.rank()); ++i) {
    const std::int64_t s = x[static_cast<std::size_t>(x.rank() - i)], t = y[static_cast<std::size_t>(y.rank() - i)];
    if (s != t && s != 1 && t != 1) fail(ErrorKind::shape, op, "batch axes do not broadcast", a, b);
  }
  p.batch = broadcast_shapes(op, x, y);
  return p;
}

PoolVector<Tensor> run_product(const ProductCall& call, const Tensor& a, const Tensor& b,
                               std::span<const Argument> operands, std::span<const Tensor> into) {
  PoolVector<Tensor> outputs(call.epilogue ? call.epilogue->outputs.size() : 1);
  run_product(call, a, b, operands, into, outputs);
  return outputs;
}
void run_product(const ProductCall& call, const Tensor& a, const Tensor& b, std::span<const Argument> operands,
                 std::span<const Tensor> into, std::span<Tensor> outputs) {
  const ProductShape p = product_shape(call.op, a, b);
  require_kernels(call.op, a);
  for (const Tensor& out : into)
    if (out.defined()) require_writable(call.op, out);
  Shape kept;  // the output's batch, with size 1 along contracted axes
  std::uint32_t contracted = 0;
  const int shift = p.batch.rank() - call.batch.rank();
  for (int i = 0; i < p.batch.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const std::int64_t wanted = i < shift ? 1 : call.batch[static_cast<std::size_t>(i - shift)];
    if (wanted == 1 && p.batch[axis] != 1) contracted |= 1u << i;
    kept.push_back(contracted >> i & 1 ? 1 : p.batch[axis]);
  }
  const Shape space = with_sizes(kept, {p.m, p.n});
  SmallVector<InputType, 8> types;
  types.push_back({call.acc_type.value_or(a.dtype()), false});
  SmallVector<Operand, 8> inputs;
  for (const Argument& argument : operands) {
    const Tensor* t = argument.tensor ? argument.tensor : argument.var ? &argument.var->value() : nullptr;
    types.push_back(t ? InputType{t->dtype(), false} : InputType{DType::f32, true});
    if (t) require_same_device(call.op, a, *t);
    inputs.push_back(t ? Operand{view_over(*t, space), {}, nullptr, argument.live}
                       : Operand{{}, argument.number, nullptr, argument.live});
  }
  const Program& program = type_program(call.op, call.epilogue ? call.epilogue : plain_epilogue(), types);
  space.numel();  // throws where it overflows
  check_coordinates(call.op, program, space, 0);
  Backend& backend = a.impl()->storage->backend();
  backend.require<GemmRequest>(call.op);
  SmallVector<View, 4> views;
  const auto given = [&](std::size_t i) { return i < into.size() && into[i].defined(); };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (given(i)) into[i].impl()->storage->bump_version();
    outputs[i] = given(i) ? into[i] : make_tensor(space, program.outputs[i].dtype, backend, call.op);
    views.push_back(view_over(outputs[i], space));
  }
  run(backend, GemmRequest{call.op, p.m, p.n, p.k, p.batch, contracted, matrix_view(a, p.batch),
                           matrix_view(b, p.batch), &program, inputs, views});
  // What stands before the wanted batch is gone, whether it was summed over or of size 1.
  const Shape shape = with_sizes(without_axes(kept, (1u << std::max(shift, 0)) - 1), {p.m, p.n});
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!given(i) && shape != space) outputs[i] = outputs[i].reshape(shape);
}

Var product(const char* op, const Var& a, const Var& b, const Shape& batch, std::optional<DType> type) {
  Tensor result;
  run_product({op, nullptr, batch, type}, a.value(), b.value(), {}, {}, {&result, 1});
  const bool wants_a = a.requires_grad(), wants_b = b.requires_grad();
  if (!grad_enabled() || !(wants_a || wants_b)) {
    const Shape full = with_sizes(batch, {a.size(-2), b.size(-1)});
    return as_var(result.shape() == full ? result : result.broadcast_to(full));
  }
  const Var* inputs[] = {&a, &b};
  PoolVector<Save> saved;
  saved.reserve(2);
  if (wants_b) saved.push_back({as_var(a.value()), -1, 0});
  if (wants_a) saved.push_back({as_var(b.value()), -1, 1});
  Var y;
  record(op, inputs, {&result, 1}, std::move(saved),
         [=, gradients = ProductGradients{op, batch_of(a.shape()), batch_of(b.shape())}](const RuleContext& c) {
           PoolVector<Var> grads(2);
           if (wants_a && c.needed[0]) grads[0] = gradients.of_a(c.grads[0], c.saved.back());
           if (wants_b && c.needed[1]) grads[1] = gradients.of_b(c.grads[0], c.saved.front());
           return grads;
         },
         {&y, 1});
  const Shape full = with_sizes(batch, {y.size(-2), y.size(-1)});
  return y.shape() == full ? y : y.broadcast_to(full);
}

}  // namespace tern::detail
