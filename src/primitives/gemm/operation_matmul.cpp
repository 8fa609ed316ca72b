// Matrix products with bias, activation and residual. Their backward on plain tensors: operation_matmul_backward.cpp.
#include <algorithm>
#include <string>

#include "autodiff/instances.hpp"
#include "primitives/gemm/operation.hpp"
#include "primitives/gemm/operation_complex.hpp"
#include "primitives/gemm/operation_matmul.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {

template <TensorOrVar T> T product_of_matrices(const T& a, const T& b) {
  if (is_complex(a.dtype()) || is_complex(b.dtype())) return complex_product(a, b);
  const Shape batch = product_shape("matmul", value_of(a), value_of(b)).batch;
  if constexpr (std::same_as<T, Var>) return product("matmul", a, b, batch);
  else {
    Tensor result;
    run_product({"matmul", nullptr, batch, {}}, a, b, {}, {}, {&result, 1});
    return result;
  }
}
/// NumPy's matmul on 1-D operands: a row on the left, a column on the right, the axis dropped from the result.
template <TensorOrVar T> T with_vectors(const T& a, const T& b) {
  const Tensor &ta = value_of(a), &tb = value_of(b);
  require_defined("matmul", "a", ta), require_defined("matmul", "b", tb);
  if (ta.dim() == 0 || tb.dim() == 0)
    throw Error(ErrorKind::shape,
                "matmul: operands need at least one axis: a is " + describe(ta) + ", b is " + describe(tb));
  if (ta.dim() > 1 && tb.dim() > 1) return product_of_matrices(a, b);
  if (ta.size(-1) != tb.size(tb.dim() == 1 ? 0 : -2))
    throw Error(ErrorKind::shape, "matmul: inner dimensions differ: a is " + describe(ta) + ", b is " + describe(tb));
  T result = product_of_matrices(ta.dim() == 1 ? a.unsqueeze(0) : a, tb.dim() == 1 ? b.unsqueeze(1) : b);
  Shape shape;
  for (int i = 0; i < result.dim(); ++i) {
    const bool dropped = (i == result.dim() - 2 && ta.dim() == 1) || (i == result.dim() - 1 && tb.dim() == 1);
    if (!dropped) shape.push_back(result.shape()[static_cast<std::size_t>(i)]);
  }
  return result.reshape(shape);
}

/// activation(x) with the activation's parameters numbered from `first` on.
Expr activate(const FormulaGraph* activation, Expr x, int first) {
  std::vector<Expr> args{x};
  for (int i = 1; i < activation->inputs; ++i) args.push_back(make_input(first + i - 1));
  return substitute(activation, args)[0];
}

/// Epilogue (acc, bias, parameters…) → activation(acc + bias) [, acc + bias].
const FormulaGraph* forward_graph(const FormulaGraph* activation, bool with_pre) {
  return cached_graph(activation, with_pre ? kActivatedAndPre : kActivated, [&] {
    const Expr pre = make_input(0) + make_input(1), y = activate(activation, pre, 2);
    const Expr outputs[] = {y, pre};
    return make_graph({outputs, with_pre ? 2u : 1u}, activation->inputs + 1);
  });
}

PoolVector<Argument> operands_of(const Argument& bias, const Pointwise<>& activation) {
  PoolVector<Argument> list{bias};
  for (const Number& value : activation.values()) list.push_back(Argument(value));
  return list;
}

/// epilogue(a·b, operands…) over `space`, recorded where R is Var.
template <TensorOrVar R>
void run_epilogue(const char* op, const FormulaGraph* epilogue, const Shape& space, const R& a, const R& b,
                  std::span<const Argument> operands, std::span<R> results) {
  if constexpr (std::same_as<R, Var>) product_with_epilogue(op, epilogue, space, a, b, operands, results);
  else run_product({op, epilogue, batch_of(space), {}}, a, b, operands, {}, results);
}

/// multiply(a, b) with both converted to one dtype where they have two.
template <TensorOrVar R, class Multiply> R in_one_dtype(const R& a, const R& b, const Multiply& multiply) {
  const std::optional<DType> dtype = product_dtype(value_of(a), value_of(b));
  return dtype ? multiply(a.to(*dtype), b.to(*dtype)) : multiply(a, b);
}

/// activation(a·b + bias); `bias` is a tensor or a variable.
template <TensorOrVar R>
R activated(const char* op, const R& a, const R& b, const Argument& bias, const Pointwise<>& activation, Tensor* pre) {
  check_activation(op, activation);
  R results[2];
  if (any_complex({&value_of(a), &value_of(b), &value_of(bias)})) {
    const R product = complex_product_for(op, a, b, value_of(bias));
    complex_epilogue<R>(op, forward_graph(activation.graph(), pre != nullptr), product, operands_of(bias, activation),
                        {results, pre ? 2u : 1u});
    if (pre) *pre = value_of(results[1]);
    return results[0];
  }
  const Shape space = check_bias(op, value_of(a), value_of(b), value_of(bias));
  run_epilogue<R>(op, forward_graph(activation.graph(), pre != nullptr), space, a, b, operands_of(bias, activation),
                  {results, pre ? 2u : 1u});
  if (pre) *pre = value_of(results[1]);
  return results[0];
}

}  // namespace

void detail::check_activation(const char* op, const Pointwise<>& activation) {
  const auto arity = static_cast<std::size_t>(activation.graph()->inputs) - activation.values().size();
  if (arity != 1)
    throw Error(ErrorKind::shape, std::string(op) + ": the activation must take one argument, " + activation.name() +
                                      " takes " + std::to_string(arity));
  if (activation.graph()->reduces)
    throw Error(ErrorKind::unsupported,
                std::string(op) + ": the activation " + activation.name() + " contains a reduction");
}
Shape detail::check_bias(const char* op, const Tensor& a, const Tensor& b, const Tensor& bias) {
  require_defined(op, "bias", bias);
  const ProductShape p = product_shape(op, a, b);
  if (bias.dim() != 1 || bias.size(0) != p.n)
    throw Error(ErrorKind::shape, std::string(op) + ": bias must be [" + std::to_string(p.n) + "], got " +
                                      describe(bias) + " for a " + describe(a) + " and b " + describe(b));
  if (!is_floating(a.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": needs floating-point operands, a is " + describe(a));
  if (!is_floating(bias.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": needs floating-point operands, bias is " + describe(bias));
  require_same_device(op, a, bias);
  return with_sizes(p.batch, {p.m, p.n});
}

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> matmul(const A& a, const B& b) {
  using R = ResultOf<A, B>;
  return in_one_dtype<R>(operand_as<R>(a), operand_as<R>(b), with_vectors<R>);
}
template <TensorOrVar A, TensorOrVar B, TensorOrVar C>
ResultOf<A, B, C> matmul_bias_activation(const A& a, const B& b, const C& bias, const Pointwise<>& activation,
                                         const MatmulOptions& options) {
  using R = ResultOf<A, B, C>;
  return in_one_dtype<R>(operand_as<R>(a), operand_as<R>(b), [&](const R& x, const R& y) {
    return activated<R>("matmul_bias_activation", x, y, bias, activation, options.save_pre_activation);
  });
}
template <TensorOrVar A, TensorOrVar B, TensorOrVar C>
ResultOf<A, B, C> matmul_bias(const A& a, const B& b, const C& bias) {
  using R = ResultOf<A, B, C>;
  return in_one_dtype<R>(operand_as<R>(a), operand_as<R>(b), [&](const R& x, const R& y) {
    return activated<R>("matmul_bias", x, y, bias, op::identity, nullptr);
  });
}

namespace {
constexpr const char* kResidual = "matmul_bias_residual";
const FormulaGraph* residual_graph() {
  return graph_of([](auto acc, auto bias, auto residual) { return acc + bias + residual; });
}
/// The space of the result.
Shape check_residual(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& residual) {
  const Shape shape = check_bias(kResidual, a, b, bias);
  require_defined(kResidual, "residual", residual);
  if (broadcast_shapes(kResidual, shape, residual.shape()) != shape)
    throw Error(ErrorKind::shape, std::string(kResidual) + ": residual " + describe(residual) +
                                      " does not broadcast to " + describe(a.dtype(), shape));
  return shape;
}
/// a·b + bias + residual, of these operands
template <TensorOrVar R> R with_residual(const R& a, const R& b, std::span<const Argument> operands) {
  R result;
  if (any_complex({&value_of(a), &value_of(b), &value_of(operands[0]), &value_of(operands[1])})) {
    complex_epilogue<R>(kResidual, residual_graph(), complex_product_for(kResidual, a, b, value_of(operands[0])),
                        operands, {&result, 1});
    return result;
  }
  const Shape space = check_residual(value_of(a), value_of(b), value_of(operands[0]), value_of(operands[1]));
  run_epilogue<R>(kResidual, residual_graph(), space, a, b, operands, {&result, 1});
  return result;
}
/// activation(a·b)
template <TensorOrVar R> R activated(const R& a, const R& b, const Pointwise<>& activation) {
  constexpr const char* op = "matmul_activation";
  check_activation(op, activation);
  const PoolVector<Argument> parameters(activation.values().begin(), activation.values().end());
  R result;
  if (any_complex({&value_of(a), &value_of(b)})) {
    complex_epilogue<R>(op, activation.graph(), complex_product(a, b), parameters, {&result, 1});
    return result;
  }
  const ProductShape p = product_shape(op, value_of(a), value_of(b));
  if (!is_floating(a.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": needs floating-point operands, a is " + describe(value_of(a)));
  run_epilogue<R>(op, activation.graph(), with_sizes(p.batch, {p.m, p.n}), a, b, parameters, {&result, 1});
  return result;
}
}  // namespace

template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> matmul_activation(const A& a, const B& b, const Pointwise<>& activation) {
  using R = ResultOf<A, B>;
  return in_one_dtype<R>(operand_as<R>(a), operand_as<R>(b),
                         [&](const R& x, const R& y) { return activated<R>(x, y, activation); });
}
template <TensorOrVar A, TensorOrVar B, TensorOrVar C, TensorOrVar D>
ResultOf<A, B, C, D> matmul_bias_residual(const A& a, const B& b, const C& bias, const D& residual) {
  using R = ResultOf<A, B, C, D>;
  const Argument operands[] = {Argument(bias), Argument(residual)};
  return in_one_dtype<R>(operand_as<R>(a), operand_as<R>(b),
                         [&](const R& x, const R& y) { return with_residual<R>(x, y, operands); });
}

TERN_INSTANCES_2(ResultOf, matmul)
TERN_INSTANCES_3(ResultOf, matmul_bias_activation, const Pointwise<>&, const MatmulOptions&)
TERN_INSTANCES_3(ResultOf, matmul_bias)
TERN_INSTANCES_2(ResultOf, matmul_activation, const Pointwise<>&)
TERN_INSTANCES_4(ResultOf, matmul_bias_residual)

}  // namespace tern
