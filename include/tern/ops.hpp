// Operations on tensors and variables. Each takes Tensors (plain), Vars (recorded) or a mixture, under one name.
#pragma once
#include <optional>

#include "tern/autodiff.hpp"
#include "tern/tensor.hpp"

namespace tern {

// ---- gated activations, one pass each: name(a, b) = activation(a)·b ----
struct GatedGrads { Tensor d_a, d_b; };
namespace detail {
GatedGrads gated_backward(const char* op, const Pointwise<>& formula, const Tensor& grad, const Tensor& a,
                          const Tensor& b);
}
#define TERN_FORMULA(name, ...)
/// grad times the derivatives of name(a, b) by a and by b, in one pass.
#define TERN_GATED(name, activation)                                                                    \
  inline GatedGrads name##_bwd(const Tensor& grad, const Tensor& a, const Tensor& b) {                   \
    return detail::gated_backward(#name "_bwd", op::name, grad, a, b);                                   \
  }
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED

// ---- reductions: over `axes` (default: all), which are removed, or kept with size 1 (keepdim) ----
/// The sum. Booleans give i32 (more than 2^31 - 1 of them are an error of kind `shape`), u8, i8 and i16 give i64 (i32,
/// which wraps, on devices without i64), other dtypes their own (integers wrap). Over nothing: 0.
template <TensorOrVar T> T sum(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The elements are converted to `dtype` and summed in it (u8, i8 and i16: modulo their range); booleans are an error.
template <TensorOrVar T> T sum(const T& x, const Axes& axes, KeepDim keepdim, DType dtype);
/// The mean. Booleans and integers give f32, of a sum taken in f64 (on devices without f64 in i32 where it cannot
/// overflow, else in f32). Over nothing: NaN.
template <TensorOrVar T> T mean(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Floats are converted to `dtype` before, means of integers and booleans afterwards; it must be floating (`dtype`
/// error).
template <TensorOrVar T> T mean(const T& x, const Axes& axes, KeepDim keepdim, DType dtype);
/// The product. Booleans and integers narrower than 32 bits give i32, which wraps as all integers do. Over nothing: 1.
template <TensorOrVar T> T prod(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The largest element; NaN where one is NaN, over nothing an error. The gradient goes to the first largest one. An
/// axis is given in braces, max(x, {0}): a bare number beside x is refused, for it may be meant for maximum(x, 0).
template <TensorOrVar T> T max(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The smallest element; otherwise like max.
template <TensorOrVar T> T min(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
#define TERN_REFUSE_PAIR(name, pairwise)                                                                           \
  template <class A, class B>                                                                                      \
    requires detail::PointwiseArgs<A, B>                                                                           \
  detail::Refused name(const A&, const B&, bool = false) {                                                         \
    static_assert(detail::always_false<A>, #name " reduces one tensor: write " #pairwise                           \
                  "(x, y) for each element's own, or braces for the axes, " #name "(x, {0}) or x." #name "(0)");   \
    return {};                                                                                                     \
  }
TERN_REFUSE_PAIR(max, maximum)
TERN_REFUSE_PAIR(min, minimum)
#undef TERN_REFUSE_PAIR
/// log Σ exp(x), whatever the size of x.
template <TensorOrVar T> T logsumexp(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Σ (x - mean)² / (n - 1): Bessel's correction, as NumPy's ddof = 1 and PyTorch. Of one element, and of none, NaN.
template <TensorOrVar T> T var(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// The square root of var; where that is 0 the gradient is 0, one of its subgradients.
template <TensorOrVar T> T std(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// √Σ x², the 2-norm, scaled by the largest |x| so that no square overflows or vanishes. Over nothing: 0. Of nothing
/// but zeros the gradient is 0, one of its subgradients. A bare number behind x, which is NumPy's order, does not
/// compile: axes stand in braces, norm(x, {1}), or x.norm(1); orders are norm(x, axes, keepdim, order).
template <TensorOrVar T> T norm(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
template <TensorOrVar T, detail::Plain N> detail::Refused norm(const T&, N, bool = false) {
  static_assert(detail::always_false<T>, "norm takes axes in braces, norm(x, {1}) or x.norm(1), and an order as "
                "norm(x, axes, keepdim, order)");
  return {};
}
/// Position (i32) of the first largest element, row-major within the axes; of the first NaN where there is one. Axes of
/// more than 2^31 - 1 elements throw `shape`.
template <TensorOrVar T> Tensor argmax(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Position (i32) of the first smallest element; otherwise like argmax.
template <TensorOrVar T> Tensor argmin(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Whether any element is true (not zero). Over nothing: false.
template <TensorOrVar T> Tensor any(const T& x, const Axes& axes = {}, KeepDim keepdim = false);
/// Whether all elements are true (not zero). Over nothing: true.
template <TensorOrVar T> Tensor all(const T& x, const Axes& axes = {}, KeepDim keepdim = false);

// ---- matrix products ----
/// NumPy's rules: [.., M, K] × [.., K, N] → [.., M, N], batch axes broadcast; 1-D operands are a row on the left, a
/// column on the right, and their axis is dropped. 16-bit floats accumulate in f32.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> matmul(const A& a, const B& b);

struct MatmulOptions {
  Tensor* save_pre_activation = nullptr;  // receives a·b + bias
};
/// activation(a·b + bias) with a, b at least 2-D and bias [N]; the activation is any one-argument formula, a lambda or
/// one of op::identity, op::relu, op::gelu, op::silu, op::sigmoid, op::tanh. One pass over the product.
template <TensorOrVar A, TensorOrVar B, TensorOrVar C>
ResultOf<A, B, C> matmul_bias_activation(const A& a, const B& b, const C& bias, const Pointwise<>& activation,
                                         const MatmulOptions& options = {});
/// a·b + bias
template <TensorOrVar A, TensorOrVar B, TensorOrVar C>
ResultOf<A, B, C> matmul_bias(const A& a, const B& b, const C& bias);
/// activation(a·b)
template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> matmul_activation(const A& a, const B& b, const Pointwise<>& activation);
/// a·b + bias + residual, residual of the result's shape (or broadcasting to it)
template <TensorOrVar A, TensorOrVar B, TensorOrVar C, TensorOrVar R>
ResultOf<A, B, C, R> matmul_bias_residual(const A& a, const B& b, const C& bias, const R& residual);

struct MatmulBiasActivationGrads { Tensor d_a, d_b, d_bias; };
/// What to do where the activation's derivative is not finite (a NaN pre-activation): `zero` takes it as 0, which a NaN
/// or infinity in `grad` makes NaN as any other derivative does.
enum class NonFinite { zero, propagate };
struct Wanted { bool d_a = true, d_b = true, d_bias = true; };
struct MatmulBwdOptions {
  /// Add into these (before rounding to 16 bits; f32 accumulators for 16-bit inputs are allowed). Empty members are
  /// returned fresh instead. They must not overlap an input.
  MatmulBiasActivationGrads* accumulate_into = nullptr;
  Tensor pre_activation = {};  // a·b + bias where known; else it is computed again
  NonFinite nonfinite = NonFinite::zero;
  Wanted wanted = {};
};
/// With pre = a·b + bias and g = grad · activation'(pre): d_a = g·bᵀ, d_b = aᵀ·g, d_bias = Σ g, each in the shape of
/// its input (summed over the batch axes on which that was broadcast). Unwanted members are empty. At most one M×N
/// temporary.
MatmulBiasActivationGrads matmul_bias_activation_bwd(const Tensor& grad, const Tensor& a, const Tensor& b,
                                                     const Tensor& bias, const Pointwise<>& activation,
                                                     const MatmulBwdOptions& options = {});

/// What an operand of an epilogue is, for a result [.., M, N]: one number, [N], [M, 1] or [M], or [M, N], each behind
/// batch axes. `inferred`: what its shape broadcasts as; [M] is a column where M ≠ N, else a row.
enum class OperandKind { inferred, scalar, row, column, tile };
struct EpilogueOptions {
  std::vector<OperandKind> kinds = {};  // one for each operand; none: all inferred
  /// b is a stack of this many matrices [.., K, N], side by side or (interleaved) column by column, multiplied in one
  /// product: the formula takes that many accumulators, in one pass after it.
  int parts = 1;
  bool interleaved = false;
};
namespace detail {
PoolVector<Tensor> epilogue_tensors(const char* name, const FormulaGraph*, std::span<const Number>, const Tensor& a,
                                    const Tensor& b, const EpilogueOptions&, std::span<const Argument> operands);
PoolVector<Var> epilogue_vars(const char* name, const FormulaGraph*, std::span<const Number>, const Var& a,
                              const Var& b, const EpilogueOptions&, std::span<const Argument> operands);
template <class... T> concept EpilogueOperands = ((Field<T> || Plain<T>) && ...);
}  // namespace detail
/// formula(a·b, operands…) in one pass over the product, a and b at least 2-D: the formula is a Pointwise or a lambda
/// of the accumulator and the operands (tensors or numbers) in call order. It may have several outputs (a std::array).
/// Backward is derived and fused, to any order: one pass for the epilogue's gradients, then two products.
///   matmul_epilogue(x, w, [](auto acc, auto bias, auto skip) { return silu(acc + bias) + skip; }, bias, skip)
/// An output may be, or contain, sums over rows or columns: sum(y, -1) is [.., M, 1], sum(y, -2) is [.., 1, N], and
/// y / sum(y, -1) again [.., M, N]. They are computed, with the other outputs, in one pass after the product for each
/// of the two axes; one output sums over one axis. Operands of the wrong shape, a wrong number of them or unequal
/// dtypes throw; so does a reduction without an axis.
template <class A, class B, class P, class... O>
  requires TensorOrVar<A> && TensorOrVar<B> && detail::EpilogueOperands<O...>
auto matmul_epilogue(const A& a, const B& b, const P& formula, const EpilogueOptions& options, const O&... operands) {
  const Pointwise p(formula);
  const detail::PoolVector<detail::Argument> list{detail::Argument(operands)...};
  constexpr int n = decltype([]<int N>(const Pointwise<N>&) { return std::integral_constant<int, N>{}; }(p))::value;
  if constexpr (std::same_as<A, Var> || std::same_as<B, Var> || (std::same_as<O, Var> || ...))
    return detail::unpack_outputs<Var, n>(
        detail::epilogue_vars(p.name(), p.graph(), p.values(), detail::as_var(a), detail::as_var(b), options, list));
  else
    return detail::unpack_outputs<Tensor, n>(
        detail::epilogue_tensors(p.name(), p.graph(), p.values(), a, b, options, list));
}
template <class A, class B, class P, class... O>
  requires TensorOrVar<A> && TensorOrVar<B> && detail::EpilogueOperands<O...>
auto matmul_epilogue(const A& a, const B& b, const P& formula, const O&... operands) {
  return matmul_epilogue(a, b, formula, EpilogueOptions{}, operands...);
}

// ---- rows: formulas with reductions along one axis, one kernel forward and one backward ----
/// exp(x) / Σ exp(x) along an axis, whatever the size of x.
template <TensorOrVar T> T softmax(const T& x, int axis = -1);
/// x - log Σ exp(x) along an axis.
template <TensorOrVar T> T log_softmax(const T& x, int axis = -1);
/// x / sqrt(mean(x²) + eps) · weight, over the last axis; weight [N].
template <TensorOrVar X, TensorOrVar W> ResultOf<X, W> rms_norm(const X& x, const W& weight, double eps = 1e-6);
/// (x - mean) / sqrt(biased variance + eps) · weight + bias, over the last axis; weight, bias [N].
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> layer_norm(const X& x, const W& weight, const B& bias, double eps = 1e-5);
/// Softmax over the last axis of scores [.., L, S], L ≤ S, of which row i sees the columns j ≤ i + S - L: the others
/// get 0, and no gradient.
template <TensorOrVar T> T causal_softmax(const T& x);
template <class T> struct ResidualNorm { T result, sum; };
/// {rms_norm(x + residual, weight), x + residual} in one pass; x and residual of one shape.
template <TensorOrVar X, TensorOrVar R, TensorOrVar W>
ResidualNorm<ResultOf<X, R, W>> add_rms_norm(const X& x, const R& residual, const W& weight, double eps = 1e-6);
/// {layer_norm(x + residual, weight, bias), x + residual} in one pass.
template <TensorOrVar X, TensorOrVar R, TensorOrVar W, TensorOrVar B>
ResidualNorm<ResultOf<X, R, W, B>> add_layer_norm(const X& x, const R& residual, const W& weight, const B& bias,
                                                  double eps = 1e-5);
/// What a loss does with its elements (or rows): their mean, their sum, or nothing.
enum class Reduction { mean, sum, none };
struct CrossEntropyOptions {
  std::optional<std::int32_t> ignored = {};  // rows with this label count nothing; where all do, the loss is 0
  double smoothing = 0;  // in [0, 1): this share of the target is spread evenly over the classes
  Tensor weight = {};    // [C], a factor of each class; a mean is then over the sum of the rows' weights. None: 1
  Reduction reduction = Reduction::mean;
};
/// Mean over the rows of -log softmax(logits)[label]; logits [N, C] floating, labels [N] i32 or i64, in [0, C) or
/// ignored. Without rows it is NaN, or 0 with `.ignored`. What stands in an ignored row (NaN, too) changes no value or
/// gradient. Floating labels [N, C] are probabilities of the classes (soft targets), none of them ignored; as Vars they
/// get gradients where the logits are a Var.
template <TensorOrVar T, TensorOrVar L>
T cross_entropy(const T& logits, const L& labels, const CrossEntropyOptions& options = {});
namespace detail {
PoolVector<Tensor> row_tensors(const char* name, const FormulaGraph*, std::span<const Number>,
                               std::span<const Argument>, const Axes& axes);
PoolVector<Var> row_vars(const char* name, const FormulaGraph*, std::span<const Number>, std::span<const Argument>,
                         const Axes& axes);
}
/// A formula with reductions (sum, mean, max, min) along the last axis: row_formula(formula, x, weight…).
template <class P, class... A> requires detail::PointwiseArgs<A...>
auto row_formula(const P& formula, const A&... arguments) {
  const Pointwise p(formula);
  const detail::Argument list[] = {detail::Argument(arguments)...};
  constexpr int n = std::is_base_of_v<Pointwise<>, P> ? 1 : decltype([]<int N>(const Pointwise<N>&) {
    return std::integral_constant<int, N>{};
  }(p))::value;
  if constexpr ((std::same_as<A, Var> || ...))
    return detail::unpack_outputs<Var, n>(detail::row_vars(p.name(), p.graph(), p.values(), list, {-1}));
  else return detail::unpack_outputs<Tensor, n>(detail::row_tensors(p.name(), p.graph(), p.values(), list, {-1}));
}

// ---- index ----
/// Elements (rows, slices) at positions along an axis: the axis is replaced by the shape of `indices` (i32 or i64).
/// Negative positions count from the end; out of range throws `index`, and so does any index into an empty axis. Axes
/// of more than 2^31 - 1 elements throw `shape`. So for gather and scatter_add.
template <TensorOrVar T> T take(const T& x, const Tensor& indices, int axis = 0);
/// result[.., i, ..] = x[.., indices[.., i, ..], ..]: one index for each element of the result; indices have x's rank.
template <TensorOrVar T> T gather(const T& x, const Tensor& indices, int axis);
/// A copy of x with `source` added at positions along an axis, repeated ones included: the transpose of take (source
/// has x's shape with the axis replaced by that of `indices`) and of gather (source has the shape of `indices`).
template <TensorOrVar X, TensorOrVar S>
ResultOf<X, S> scatter_add(const X& x, const Tensor& indices, const S& source, int axis = 0);
/// Running sums along an axis. Of u8, i8 and i16 in i64, as sum gives them; on devices without i64, and of booleans, in
/// i32, which wraps as other integers do.
template <TensorOrVar T> T cumsum(const T& x, int axis);
template <class T> struct Sorted {
  T values;
  Tensor indices;  // i32, positions in x along the axis
};
/// The elements in order along an axis: stable, NaN is larger than everything.
template <TensorOrVar T> Sorted<T> sort(const T& x, int axis = -1, bool descending = false);
/// The k largest (smallest) elements along an axis, in order.
template <TensorOrVar T> Sorted<T> topk(const T& x, std::int64_t k, int axis = -1, bool largest = true);
// Not templates: of a list in braces, concatenate({a, b}), no type is deduced.
/// The tensors one behind the other along an axis.
Tensor concatenate(const std::vector<Tensor>& tensors, int axis = 0);
Var concatenate(const std::vector<Var>& vars, int axis = 0);
/// The tensors along a new axis.
Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);
Var stack(const std::vector<Var>& vars, int axis = 0);
/// Parts of equal size along an axis: views.
template <TensorOrVar T> std::vector<T> split(const T& x, std::int64_t parts, int axis = 0);
/// labels (i32 or i64) as rows with a 1 at the label; one outside [0, classes) throws `index`.
Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype = default_dtype());
/// Whether |a - b| ≤ atol + rtol·|b| everywhere; of integers exactly, and an infinity is close to nothing but itself.
template <TensorOrVar A, TensorOrVar B>
bool allclose(const A& a, const B& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

}  // namespace tern
