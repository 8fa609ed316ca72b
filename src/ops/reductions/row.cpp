// Rows: formulas with reductions along one axis.
#include <array>
#include <string>

#include "autodiff/instances.hpp"
#include "backend/recording/capture.hpp"
#include "ops/neural/losses.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {

std::uint32_t row_axis(const char* op, const Tensor& x, int axis) {
  require_defined(op, "x", x);
  return 1u << normalize_axis(op, axis, x.dim());
}
void check_row_operand(const char* op, const char* name, const Tensor& x, const Tensor& operand) {
  require_defined(op, "x", x), require_defined(op, name, operand);
  require_real(op, "x", x), require_real(op, name, operand);
  if (x.dim() < 1 || operand.dim() != 1 || operand.size(0) != x.size(-1))
    throw Error(ErrorKind::shape, std::string(op) + ": " + name +
                                      " must have one element for each of the last axis: x is " + describe(x) + ", " +
                                      name + " is " + describe(operand));
}
template <class... A> std::array<Argument, sizeof...(A)> list(const A&... a) { return {Argument(a)...}; }

/// e / sum(e) by one reciprocal for each row: a division for each element takes as long as its exponential.
template <class E> auto shares(E e) { return e * (1 / sum(e)); }
const FormulaGraph* softmax_graph() {
  return graph_of([](auto x) { return shares(exp(x - detach(max(x)))); });
}
const FormulaGraph* log_softmax_graph() {
  return graph_of([](auto x) { return log_softmax_of_row(x); });
}
const FormulaGraph* rms_norm_graph() {
  return graph_of([](auto x, auto weight, auto eps) { return x * rsqrt(mean(x * x) + eps) * weight; });
}
const FormulaGraph* layer_norm_graph() {
  return graph_of([](auto x, auto weight, auto bias, auto eps) {
    auto centred = x - mean(x);
    return centred * rsqrt(mean(centred * centred) + eps) * weight + bias;
  });
}
/// Masked scores are -inf before the exponential: their derivative is then 0 · 0.
const FormulaGraph* causal_softmax_graph() {
  return graph_of([](auto x, auto extra) {
    auto seen = index(x, -1) <= index(x, -2) + extra;
    return shares(exp(where(seen, x, -kInf) - detach(max(where(seen, x, -kInf)))));
  });
}
const FormulaGraph* add_rms_norm_graph() {
  return graph_of([](auto x, auto residual, auto weight, auto eps) {
    auto s = x + residual;
    return std::array{s * rsqrt(mean(s * s) + eps) * weight, s};
  });
}
const FormulaGraph* add_layer_norm_graph() {
  return graph_of([](auto x, auto residual, auto weight, auto bias, auto eps) {
    auto s = x + residual, centred = s - mean(s);
    return std::array{centred * rsqrt(mean(centred * centred) + eps) * weight + bias, s};
  });
}
/// -log softmax(logits)[label] of a row; labels have one element a row. The label's logit is picked before the maximum
/// is subtracted, so that one pass along the row does for all three reductions.
constexpr auto cross_entropy_of_row = [](auto logits, auto label) {
  auto top = detach(max(logits)), picked = sum(where(index(logits, -1) == label, logits, 0));
  return log(sum(exp(logits - top))) - (picked - top);
};
/// The same against a target of which `smoothing` is spread evenly. A graph of its own: 0 · -inf would be NaN.
constexpr auto smoothed_cross_entropy_of_row = [](auto logits, auto label, auto smoothing) {
  auto top = detach(max(logits)), picked = sum(where(index(logits, -1) == label, logits, 0));
  auto target = (1 - smoothing) * (picked - top) + smoothing * (mean(logits) - top);
  return log(sum(exp(logits - top))) - target;
};
/// Rows whose label is ignored are zeros to them: a NaN there must not reach a gradient.
constexpr auto without_ignored = [](auto logits, auto label, auto ignored) {
  return where(label == ignored, 0, logits);
};

/// Inputs: logits, label, the smoothing where there is one, then the label to ignore, or else a factor of each row.
const FormulaGraph* cross_entropy_graph(bool smoothed, bool ignores) {
  if (smoothed && ignores)
    return graph_of([](auto logits, auto label, auto smoothing, auto ignored) {
      return smoothed_cross_entropy_of_row(without_ignored(logits, label, ignored), label, smoothing);
    });
  if (smoothed)
    return graph_of([](auto logits, auto label, auto smoothing, auto factor) {
      return smoothed_cross_entropy_of_row(logits, label, smoothing) * factor;
    });
  if (ignores)
    return graph_of([](auto logits, auto label, auto ignored) {
      return cross_entropy_of_row(without_ignored(logits, label, ignored), label);
    });
  return graph_of([](auto logits, auto label, auto factor) { return cross_entropy_of_row(logits, label) * factor; });
}
/// The mean of the rows whose label is not ignored; of none, 0. The count is in the rows' compute type: f32 for f16.
const FormulaGraph* counted_mean_graph() {
  return graph_of([](auto rows, auto label, auto ignored) {
    auto counts = label != ignored;
    auto one = make_elementary(Elementary::cast, {counts, rows}, kCastLike);
    return sum(where(counts, rows, 0)) / maximum(sum(one), 1);
  });
}

void check_smoothing(const CrossEntropyOptions& options) {
  if (!(options.smoothing >= 0 && options.smoothing < 1))
    throw Error(ErrorKind::shape,
                "cross_entropy: smoothing must be in [0, 1), got " + std::to_string(options.smoothing));
}
void check_cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  require_defined("cross_entropy", "logits", logits), require_defined("cross_entropy", "labels", labels);
  if (logits.dim() != 2 || labels.dim() != 1 || labels.size(0) != logits.size(0))
    throw Error(ErrorKind::shape, "cross_entropy: expected logits [N, C] and labels [N], got " + describe(logits) +
                                      " and " + describe(labels));
  if (logits.size(1) == 0 && logits.size(0) > 0)
    throw Error(ErrorKind::shape, "cross_entropy: logits " + describe(logits) + " have no classes");
  if (!is_floating(logits.dtype()))
    throw Error(ErrorKind::dtype, "cross_entropy: logits must be floating-point, got " + describe(logits));
  require_index_dtype("cross_entropy", "labels", labels);
  check_smoothing(options);
  if (logits.size(1) > kMostPositions)
    throw Error(ErrorKind::shape, "cross_entropy: logits " + describe(logits) + " have more than 2^31-1 classes");
  require_same_device("cross_entropy", logits, labels);
}
/// The labels as i32; those out of range throw index, at replay inside a capture.
Tensor checked_labels(const Tensor& logits, const Tensor& given, const CrossEntropyOptions& options) {
  const Tensor labels = as_i32("cross_entropy", given, options.ignored == INT32_MIN ? INT32_MAX : INT32_MIN);
  if (labels.numel() == 0) return labels;
  const Tensor checked = options.ignored ? where(labels == *options.ignored, 0, labels) : labels;
  require_indices("cross_entropy (labels)", checked, logits.size(1));
  return labels;
}

std::uint32_t causal_axis(const Tensor& x) {
  require_defined("causal_softmax", "x", x);
  if (x.dim() < 2 || x.size(-2) > x.size(-1))
    throw Error(ErrorKind::shape, "causal_softmax: scores must be [.., L, S] with L ≤ S, got " + describe(x));
  return 1u << (x.dim() - 1);
}
void check_residual(const char* op, const Tensor& x, const Tensor& residual) {
  require_defined(op, "x", x), require_defined(op, "residual", residual);
  if (x.shape() != residual.shape())
    throw Error(ErrorKind::shape, std::string(op) + ": x and residual must have one shape: x is " + describe(x) +
                                      ", residual is " + describe(residual));
}

template <class... T> using ResidualNormOf = ResidualNorm<ResultOf<T...>>;
template <class T, class> using FirstOf = T;

// Of arguments, for operations of many operands: mixtures share them.
template <TensorOrVar T> T layer_norm_of(std::span<const Argument> a) {  // x, weight, bias, eps
  constexpr const char* op = "layer_norm";
  check_row_operand(op, "weight", value_of(a[0]), value_of(a[1]));
  check_row_operand(op, "bias", value_of(a[0]), value_of(a[2]));
  return fused_one<T>({op, layer_norm_graph(), row_axis(op, value_of(a[0]), -1), {}}, a);
}
template <TensorOrVar T> ResidualNorm<T> result_and_sum(const FusedCall& call, std::span<const Argument> arguments) {
  std::array<T, 2> y;
  fused(call, arguments, std::span<T>(y));
  return {std::move(y[0]), std::move(y[1])};
}
template <TensorOrVar T> ResidualNorm<T> add_rms_norm_of(std::span<const Argument> a) {  // x, residual, weight, eps
  constexpr const char* op = "add_rms_norm";
  check_residual(op, value_of(a[0]), value_of(a[1])), check_row_operand(op, "weight", value_of(a[0]), value_of(a[2]));
  return result_and_sum<T>({op, add_rms_norm_graph(), row_axis(op, value_of(a[0]), -1), {}}, a);
}
template <TensorOrVar T> ResidualNorm<T> add_layer_norm_of(std::span<const Argument> a) {  // …, weight, bias, eps
  constexpr const char* op = "add_layer_norm";
  check_residual(op, value_of(a[0]), value_of(a[1]));
  check_row_operand(op, "weight", value_of(a[0]), value_of(a[2]));
  check_row_operand(op, "bias", value_of(a[0]), value_of(a[3]));
  return result_and_sum<T>({op, add_layer_norm_graph(), row_axis(op, value_of(a[0]), -1), {}}, a);
}
template <TensorOrVar T>
T cross_entropy_of(const T& logits, const Tensor& given, const CrossEntropyOptions& options) {
  check_cross_entropy(value_of(logits), given, options);
  constexpr const char* op = "cross_entropy";
  const Tensor labels = checked_labels(value_of(logits), given, options);
  const Tensor column = labels.unsqueeze(1);
  SmallVector<Argument, 4> arguments;
  arguments.push_back(Argument(logits)), arguments.push_back(Argument(column));
  const bool smoothed = options.smoothing != 0, ignores = options.ignored.has_value();
  if (smoothed) arguments.push_back(Argument(options.smoothing));
  // The rows divided by their number: the gradient of their sum is the seed itself, where that of a mean is a kernel of
  // its own. Not in f16, where a row's loss over many rows would be subnormal.
  const std::int64_t count = labels.numel();
  const bool averaged = !ignores && count > 0 && logits.dtype() != DType::f16;
  if (ignores) arguments.push_back(Argument(*options.ignored));
  else arguments.push_back(Argument(averaged ? 1 / static_cast<double>(count) : 1.0));
  const T rows = fused_one<T>({op, cross_entropy_graph(smoothed, ignores), 2, {}}, arguments);
  if (averaged) return sum(rows);
  if (!ignores) return mean(rows);
  return fused_one<T>({op, counted_mean_graph(), 3, {}}, list(rows, column, *options.ignored)).reshape({});
}

}  // namespace

template <TensorOrVar T> T softmax(const T& x, int axis) {
  return fused_one<T>({"softmax", softmax_graph(), row_axis("softmax", value_of(x), axis), {}}, list(x));
}
template <TensorOrVar T> T log_softmax(const T& x, int axis) {
  return fused_one<T>({"log_softmax", log_softmax_graph(), row_axis("log_softmax", value_of(x), axis), {}}, list(x));
}
template <TensorOrVar X, TensorOrVar W> ResultOf<X, W> rms_norm(const X& x, const W& weight, double eps) {
  constexpr const char* op = "rms_norm";
  check_row_operand(op, "weight", value_of(x), value_of(weight));
  return fused_one<ResultOf<X, W>>({op, rms_norm_graph(), row_axis(op, value_of(x), -1), {}}, list(x, weight, eps));
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> layer_norm(const X& x, const W& weight, const B& bias, double eps) {
  return layer_norm_of<ResultOf<X, W, B>>(list(x, weight, bias, eps));
}
template <TensorOrVar T> T causal_softmax(const T& x) {
  const std::uint32_t axis = causal_axis(value_of(x));
  return fused_one<T>({"causal_softmax", causal_softmax_graph(), axis, {}}, list(x, x.size(-1) - x.size(-2)));
}
template <TensorOrVar X, TensorOrVar R, TensorOrVar W>
ResidualNorm<ResultOf<X, R, W>> add_rms_norm(const X& x, const R& residual, const W& weight, double eps) {
  return add_rms_norm_of<ResultOf<X, R, W>>(list(x, residual, weight, eps));
}
template <TensorOrVar X, TensorOrVar R, TensorOrVar W, TensorOrVar B>
ResidualNorm<ResultOf<X, R, W, B>> add_layer_norm(const X& x, const R& residual, const W& weight, const B& bias,
                                                  double eps) {
  return add_layer_norm_of<ResultOf<X, R, W, B>>(list(x, residual, weight, bias, eps));
}
template <TensorOrVar T, TensorOrVar L>
T cross_entropy(const T& logits, const L& labels, const CrossEntropyOptions& options) {
  const Tensor& given = value_of(labels);
  const bool soft = given.defined() && is_floating(given.dtype()) && given.dim() == 2;
  if (!soft && !options.weight.defined() && options.reduction == Reduction::mean)
    return cross_entropy_of(logits, given, options);
  check_smoothing(options);
  return general_cross_entropy<T>(logits, Argument(labels), options);
}

TERN_INSTANCES_1(ResultOf, softmax, int)
TERN_INSTANCES_1(ResultOf, log_softmax, int)
TERN_INSTANCES_2(ResultOf, rms_norm, double)
TERN_INSTANCES_3(ResultOf, layer_norm, double)
TERN_INSTANCES_1(ResultOf, causal_softmax)
TERN_INSTANCES_3(ResidualNormOf, add_rms_norm, double)
TERN_INSTANCES_4(ResidualNormOf, add_layer_norm, double)
TERN_INSTANCES_2(FirstOf, cross_entropy, const CrossEntropyOptions&)

namespace detail {
namespace {
FusedCall row_call(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                   std::span<const Argument> arguments, const Axes& axes, PoolVector<Argument>& all) {
  const std::size_t expected = static_cast<std::size_t>(graph->inputs) - values.size();
  if (arguments.size() != expected)
    throw Error(ErrorKind::shape, std::string(name) + ": takes " + std::to_string(expected) + " arguments, got " +
                                      std::to_string(arguments.size()));
  if (graph->axis_sums)
    throw Error(ErrorKind::unsupported, std::string(name) +
                                            ": sum(x, axis) stands only in formulas of matmul_epilogue; "
                                            "here it is sum(x), over the axis of the rows");
  all.assign(arguments.begin(), arguments.end());
  for (const Number& value : values) all.push_back(Argument(value));
  const Shape space = broadcast_space(name, all);
  return {name, graph, axis_mask(name, axes, space.rank()), {}};
}
}  // namespace
PoolVector<Tensor> row_tensors(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                               std::span<const Argument> arguments, const Axes& axes) {
  PoolVector<Argument> all;
  const FusedCall call = row_call(name, graph, values, arguments, axes, all);
  return run_fused(call, all);
}
PoolVector<Var> row_vars(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                         std::span<const Argument> arguments, const Axes& axes) {
  PoolVector<Argument> all;
  const FusedCall call = row_call(name, graph, values, arguments, axes, all);
  return fused(call, all);
}

GatedGrads gated_backward(const char* op, const Pointwise<>& formula, const Tensor& grad, const Tensor& a,
                          const Tensor& b) {
  require_defined(op, "grad", grad), require_defined(op, "a", a), require_defined(op, "b", b);
  const Shape space = broadcast_shapes(op, a.shape(), b.shape());
  if (grad.shape() != space)
    throw Error(ErrorKind::shape, std::string(op) + ": grad must have the result's shape " + to_string(space) +
                                      ", got " + describe(grad) + " for a " + describe(a) + " and b " + describe(b));
  if (grad.dtype() != a.dtype() || a.dtype() != b.dtype())
    throw Error(ErrorKind::dtype, std::string(op) + ": dtypes differ: grad is " + describe(grad) + ", a is " +
                                      describe(a) + ", b is " + describe(b));
  if (!is_floating(a.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": needs floating-point tensors, a is " + describe(a));
  require_same_device(op, a, b), require_same_device(op, a, grad);
  const Argument arguments[] = {Argument(a), Argument(b)};
  const Var grads[] = {as_var(grad)};
  const PoolVector<Var> results = fused_gradients({op, formula.graph(), 0, {}}, arguments, grads);
  return {results[0].value(), results[1].value()};
}
}  // namespace detail

}  // namespace tern
