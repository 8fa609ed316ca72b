// The backward of a product with bias and activation on plain tensors, for those who keep no record: what the gradient
// of the formula asks for, the pre-activation computed anew where it was not kept.
#include <string>

#include "primitives/gemm/gemm.hpp"
#include "primitives/gemm/operation_matmul.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {

std::uint32_t all_but_last(int rank) { return (1u << (rank - 1)) - 1; }

constexpr const char* kBwd = "matmul_bias_activation_bwd";

/// Epilogue (acc, bias, grad, parameters…) → grad · activation'(acc + bias): the pre-activation is never stored.
const FormulaGraph* recomputed_graph(const FormulaGraph* activation, bool finite_only) {
  return cached_graph(activation, finite_only ? kRecomputed : kRecomputedPropagating, [&] {
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
  const Shape shape = with_sizes(p.batch, {p.m, p.n});
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

/// Of views, of which each may have its own elements of one range: if both begin at the same one.
void check_apart(const char* one, const Tensor& a, const char* other, const Tensor& b) {
  const std::string into = "accumulate_into.";
  if (!a.defined() || !b.defined() || !may_share_memory(a, b)) return;
  const bool from_one = a.impl()->storage == b.impl()->storage && a.impl()->offset == b.impl()->offset;
  if (from_one || (a.is_contiguous() && b.is_contiguous()))
    throw Error(ErrorKind::shape, std::string(kBwd) + ": " + into + other + " overlaps " + into + one);
}

/// What the products and the bias need: ∂/∂pre in the operands' type, and its sum (f32 for 16-bit operands) or nothing.
struct PreGradient {
  Tensor d, d_bias;
};

/// (x, bias, grad, parameters…) → d = grad · activation'(x + bias) and Σ d in `sum_dtype`, summed before d is rounded
/// to `dtype`. 16-bit operands are widened first.
const FormulaGraph* summed_graph(const FormulaGraph* recomputed, DType dtype, DType sum_dtype) {
  return cached_graph(recomputed, kWithSum + static_cast<int>(dtype) * 16 + static_cast<int>(sum_dtype), [&] {
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
    result.d_bias +=
        from_pre_activation(recomputed, pre, bias, grad.slice(-2, begin, end), values, DType::f32,
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
    check_apart("d_a", into->d_a, "d_b", into->d_b), check_apart("d_a", into->d_a, "d_bias", into->d_bias),
        check_apart("d_b", into->d_b, "d_bias", into->d_bias);
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
