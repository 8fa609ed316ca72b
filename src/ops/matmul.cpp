// Matrix products with bias, activation and residual, forward and backward.
#include <map>
#include <mutex>
#include <string>

#include "ops/complex_products.hpp"
#include "ops/gemm.hpp"
#include "ops/instances.hpp"
#include "process/fork.hpp"
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

/// Graphs made from an activation, kept by what they are made for.
template <class Make> const FormulaGraph* cached(const FormulaGraph* activation, int variant, Make make) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static std::map<std::pair<const FormulaGraph*, int>, const FormulaGraph*>& known =
      *new std::map<std::pair<const FormulaGraph*, int>, const FormulaGraph*>;
  const std::lock_guard hold(lock);
  const FormulaGraph*& graph = known[{activation, variant}];
  if (!graph) graph = make();
  return graph;
}
enum Variant { kActivated, kActivatedAndPre, kRecomputed, kRecomputedPropagating, kWithSum };

/// activation(x) with the activation's parameters numbered from `first` on.
Expr activate(const FormulaGraph* activation, Expr x, int first) {
  std::vector<Expr> args{x};
  for (int i = 1; i < activation->inputs; ++i) args.push_back(make_input(first + i - 1));
  return substitute(activation, args)[0];
}

/// Epilogue (acc, bias, parameters…) → activation(acc + bias) [, acc + bias].
const FormulaGraph* forward_graph(const FormulaGraph* activation, bool with_pre) {
  return cached(activation, with_pre ? kActivatedAndPre : kActivated, [&] {
    const Expr pre = make_input(0) + make_input(1), y = activate(activation, pre, 2);
    const Expr outputs[] = {y, pre};
    return make_graph({outputs, with_pre ? 2u : 1u}, activation->inputs + 1);
  });
}

void check_activation(const char* op, const Pointwise<>& activation) {
  const auto arity = static_cast<std::size_t>(activation.graph()->inputs) - activation.values().size();
  if (arity != 1)
    throw Error(ErrorKind::shape, std::string(op) + ": the activation must take one argument, " + activation.name() +
                                      " takes " + std::to_string(arity));
  if (activation.graph()->reduces)
    throw Error(ErrorKind::unsupported,
                std::string(op) + ": the activation " + activation.name() + " contains a reduction");
}
/// The space of the result, batch + [m, n].
Shape check_bias(const char* op, const Tensor& a, const Tensor& b, const Tensor& bias) {
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
  return matrix_shape(p.batch, p.m, p.n);
}

PoolVector<Argument> operands_of(const Argument& bias, const Pointwise<>& activation) {
  PoolVector<Argument> list{bias};
  for (const Number& value : activation.values()) list.push_back(Argument(value));
  return list;
}

std::uint32_t all_but_last(int rank) { return (1u << (rank - 1)) - 1; }

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
  run_epilogue<R>(op, activation.graph(), matrix_shape(p.batch, p.m, p.n), a, b, parameters, {&result, 1});
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

// ---- the backward on plain tensors ----
namespace {

constexpr const char* kBwd = "matmul_bias_activation_bwd";

/// Epilogue (acc, bias, grad, parameters…) → grad · activation'(acc + bias): the pre-activation is never stored.
const FormulaGraph* recomputed_graph(const FormulaGraph* activation, bool finite_only) {
  return cached(activation, finite_only ? kRecomputed : kRecomputedPropagating, [&] {
    const GradientGraph& g = gradient(activation, 1, 1, finite_only);
    const Expr pre = make_input(0) + make_input(1);
    std::vector<Expr> args{pre};
    for (int i = 1; i < activation->inputs; ++i) args.push_back(make_input(2 + i));
    const Expr y = substitute(activation, args)[0];
    args.push_back(make_input(2)), args.push_back(y);
    const Expr d = g.graph ? substitute(g.graph, args)[0] : make_input(2) * 0;
    return make_graph({&d, 1}, activation->inputs + 2);
  });
}

void check_bwd(const Tensor& grad, const Tensor& a, const Tensor& b, const Tensor& bias,
               const MatmulBwdOptions& options) {
  check_bias(kBwd, a, b, bias);
  require_defined(kBwd, "grad", grad);
  const ProductShape p = product_shape(kBwd, a, b);
  const Shape shape = matrix_shape(p.batch, p.m, p.n);
  const auto check = [&](const char* name, const Tensor& t) {
    if (t.shape() != shape || t.dtype() != a.dtype())
      throw Error(t.shape() != shape ? ErrorKind::shape : ErrorKind::dtype,
                  std::string(kBwd) + ": " + name + " must be " + describe(a.dtype(), shape) + ", got " + describe(t) +
                      " for a " + describe(a) + " and b " + describe(b));
    require_same_device(kBwd, a, t);
  };
  check("grad", grad);
  if (options.pre_activation.defined()) check("pre_activation", options.pre_activation);
}

void check_accumulator(const char* name, const Tensor& sum, const Tensor& like,
                       std::initializer_list<const Tensor*> inputs) {
  if (!sum.defined()) return;
  const bool wide = sum.dtype() == DType::f32 && dtype_size(like.dtype()) == 2;
  if (sum.shape() != like.shape() || (sum.dtype() != like.dtype() && !wide))
    throw Error(
        sum.shape() != like.shape() ? ErrorKind::shape : ErrorKind::dtype,
        std::string(kBwd) + ": accumulate_into." + name + " must be " + describe(like) + ", got " + describe(sum));
  require_same_device(kBwd, sum, like);
  try {
    require_writable(kBwd, sum);
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(e.what()) + " (it is accumulate_into." + name + ")");
  }
  for (const Tensor* input : inputs)
    if (input->defined() && may_share_memory(sum, *input))
      throw Error(ErrorKind::shape, std::string(kBwd) + ": accumulate_into." + name + " overlaps an input");
}

/// What the products and the bias need: ∂/∂pre in the operands' type, and its sum (f32 for 16-bit operands) or nothing.
struct PreGradient {
  Tensor d, d_bias;
};

/// (x, bias, grad, parameters…) → d = grad · activation'(x + bias) and Σ d in `sum_dtype`, summed before d is rounded
/// to `dtype`. 16-bit operands are widened first.
const FormulaGraph* summed_graph(const FormulaGraph* recomputed, DType dtype, DType sum_dtype) {
  return cached(recomputed, kWithSum + static_cast<int>(dtype) * 16 + static_cast<int>(sum_dtype), [&] {
    const bool narrow = dtype_size(dtype) == 2;
    std::vector<Expr> args;
    for (int i = 0; i < recomputed->inputs; ++i)
      args.push_back(narrow && i <= 2 ? cast(make_input(i), DType::f32) : make_input(i));
    const Expr d = substitute(recomputed, args)[0];
    const Expr total = sum(d);
    const Expr outputs[] = {narrow ? cast(d, dtype) : d, dtype_size(sum_dtype) == 2 ? cast(total, sum_dtype) : total};
    return make_graph(outputs, recomputed->inputs);
  });
}

PreGradient from_pre_activation(const FormulaGraph* recomputed, const Tensor& pre, const Tensor& bias,
                                const Tensor& grad, std::span<const Number> values, DType sum_dtype,
                                const Tensor& into = {}) {
  PoolVector<Argument> list{Argument(pre), bias.defined() ? Argument(bias) : Argument(0), Argument(grad)};
  for (const Number& value : values) list.push_back(Argument(value));
  const PoolVector<Tensor> results =
      run_fused({kBwd, summed_graph(recomputed, grad.dtype(), sum_dtype), all_but_last(grad.dim()), grad.shape()}, list,
                {&into, 1});
  return {results[0], results[1].reshape({grad.size(-1)})};
}

/// 16-bit operands without a saved pre-activation: strips of rows of it, in f32, so that Σ d adds unrounded values and
/// d is the only M×N temporary. A strip is what the backend likes (on the CPU it stays in cache, and packing b again
/// for each costs little); where one holds all rows, there are two calls.
PreGradient in_strips(const FormulaGraph* recomputed, const Tensor& grad, const Tensor& a, const Tensor& b,
                      const Tensor& bias, std::span<const Number> values, DType sum_dtype) {
  static const FormulaGraph* const unrounded = graph_of([](auto acc) { return cast(acc, DType::f32); });
  const std::int64_t rows = grad.size(-2),
                     row_bytes = std::max<std::int64_t>(1, grad.numel() / std::max<std::int64_t>(rows, 1) * 4);
  const std::int64_t strip = std::max<std::int64_t>(64, a.impl()->storage->backend().strip_bytes() / row_bytes);
  const Shape batch = batch_of(grad.shape());
  if (strip >= rows)
    return from_pre_activation(recomputed, run_product({kBwd, unrounded, batch, {}}, a, b)[0], bias, grad, values,
                               sum_dtype);
  Backend& backend = grad.impl()->storage->backend();
  backend.require<GemmRequest>(kBwd);
  PreGradient result{make_tensor(grad.shape(), grad.dtype(), backend, kBwd),
                     zeros(bias.shape(), {.dtype = DType::f32, .device = bias.device()})};
  for (std::int64_t begin = 0; begin < rows; begin += strip) {
    const std::int64_t end = std::min(rows, begin + strip);
    const Tensor pre = run_product({kBwd, unrounded, batch, {}}, a.slice(-2, begin, end), b)[0];
    result.d_bias += from_pre_activation(recomputed, pre, bias, grad.slice(-2, begin, end), values, DType::f32,
                                         result.d.slice(-2, begin, end))
                         .d_bias;
  }
  return result;
}

PreGradient pre_gradient(const Tensor& grad, const Tensor& a, const Tensor& b, const Tensor& bias,
                         const Pointwise<>& activation, const MatmulBwdOptions& options) {
  const FormulaGraph* graph = activation.graph();
  const bool finite_only = options.nonfinite == NonFinite::zero, wants_bias = options.wanted.d_bias;
  // Sums of 16-bit gradients are rounded where they are made, unless they are yet to be added to something.
  const bool adds = options.accumulate_into && options.accumulate_into->d_bias.defined();
  const DType sum_dtype = adds && dtype_size(bias.dtype()) == 2 ? DType::f32 : bias.dtype();
  const GradientGraph& g = gradient(graph, 1, 1, finite_only);
  if (g.graph && g.graph->outputs[0]->kind == NodeKind::input) {  // identity
    static const FormulaGraph* const wide_sum = graph_of([](auto x) { return sum(cast(x, DType::f32)); });
    if (!wants_bias || sum_dtype == grad.dtype())
      return {grad, wants_bias ? sum_to(as_var(grad), bias.shape()).value() : Tensor()};
    const Argument list[] = {Argument(grad)};
    return {grad, run_fused({kBwd, wide_sum, all_but_last(grad.dim()), {}}, list)[0].reshape(bias.shape())};
  }
  const FormulaGraph* recomputed = recomputed_graph(graph, finite_only);
  if (options.pre_activation.defined()) {
    if (wants_bias)
      return from_pre_activation(recomputed, options.pre_activation, {}, grad, activation.values(), sum_dtype);
    PoolVector<Argument> list{Argument(options.pre_activation), Argument(0), Argument(grad)};
    for (const Number& value : activation.values()) list.push_back(Argument(value));
    return {run_fused({kBwd, recomputed, 0, grad.shape()}, list)[0], {}};
  }
  if (wants_bias && dtype_size(grad.dtype()) == 2)
    return in_strips(recomputed, grad, a, b, bias, activation.values(), sum_dtype);
  PoolVector<Argument> list{Argument(bias), Argument(grad)};
  for (const Number& value : activation.values()) list.push_back(Argument(value));
  Tensor d = run_product({kBwd, recomputed, product_shape(kBwd, a, b).batch, {}}, a, b, list)[0];
  return {d, wants_bias ? sum_to(as_var(d), bias.shape()).value() : Tensor()};
}

/// Writes sum = sum + result or returns the result.
Tensor accumulated_product(const Tensor& a, const Tensor& b, const Shape& shape, Tensor* sum) {
  const bool adds = sum && sum->defined();
  static const FormulaGraph* const add = graph_of([](auto acc, auto before) { return acc + before; });
  if (!adds) return product(kBwd, as_var(a), as_var(b), batch_of(shape)).value();
  const Argument before[] = {Argument(*sum)};
  run_product({kBwd, add, batch_of(shape), sum->dtype()}, a, b, before, {sum, 1});
  return *sum;
}

/// sum += addend, rounded once where sum is narrower.
Tensor accumulated(Tensor& sum, const Tensor& addend) {
  if (sum.dtype() == addend.dtype()) return sum += addend;
  return sum.copy_from((sum.to(addend.dtype()) + addend).to(sum.dtype()));
}

}  // namespace

MatmulBiasActivationGrads matmul_bias_activation_bwd(const Tensor& grad, const Tensor& a, const Tensor& b,
                                                     const Tensor& bias, const Pointwise<>& activation,
                                                     const MatmulBwdOptions& options) {
  check_activation(kBwd, activation);
  check_bwd(grad, a, b, bias, options);
  MatmulBiasActivationGrads* into = options.accumulate_into;
  if (into) {
    const auto inputs = {&grad, &a, &b, &bias, &options.pre_activation};
    check_accumulator("d_a", into->d_a, a, inputs), check_accumulator("d_b", into->d_b, b, inputs),
        check_accumulator("d_bias", into->d_bias, bias, inputs);
  }
  const NoGrad plain;
  const auto [d, d_bias] = pre_gradient(grad, a, b, bias, activation, options);
  MatmulBiasActivationGrads result;
  if (options.wanted.d_a)
    result.d_a = accumulated_product(d, b.transpose(-1, -2), a.shape(), into ? &into->d_a : nullptr);
  if (options.wanted.d_b)
    result.d_b = accumulated_product(a.transpose(-1, -2), d, b.shape(), into ? &into->d_b : nullptr);
  if (options.wanted.d_bias)
    result.d_bias = into && into->d_bias.defined() ? accumulated(into->d_bias, d_bias) : d_bias.to(bias.dtype());
  if (into) {
    if (options.wanted.d_a) into->d_a = result.d_a;
    if (options.wanted.d_b) into->d_b = result.d_b;
    if (options.wanted.d_bias) into->d_bias = result.d_bias;
  }
  return result;
}

}  // namespace tern
