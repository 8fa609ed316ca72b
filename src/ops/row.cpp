// Rows: formulas with reductions along one axis.
#include <string>

#include "backend/capture.hpp"
#include "ops/fused.hpp"
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
  if (x.dim() < 1 || operand.dim() != 1 || operand.size(0) != x.size(-1))
    throw Error(ErrorKind::shape, std::string(op) + ": " + name +
                                      " must have one element for each of the last axis: x is " + describe(x) + ", " +
                                      name + " is " + describe(operand));
}
template <class... A> std::vector<Argument> list(const A&... a) { return {Argument(a)...}; }

const Graph* softmax_graph() {
  return graph_of([](auto x) {
    auto e = exp(x - detach(max(x)));
    return e / sum(e);
  });
}
const Graph* log_softmax_graph() {
  return graph_of([](auto x) {
    auto shifted = x - detach(max(x));
    return shifted - log(sum(exp(shifted)));
  });
}
const Graph* rms_norm_graph() {
  return graph_of([](auto x, auto weight, auto eps) { return x * rsqrt(mean(x * x) + eps) * weight; });
}
const Graph* layer_norm_graph() {
  return graph_of([](auto x, auto weight, auto bias, auto eps) {
    auto centred = x - mean(x);
    return centred * rsqrt(mean(centred * centred) + eps) * weight + bias;
  });
}
/// -log softmax(logits)[label] of a row; labels have one element a row.
const Graph* cross_entropy_graph() {
  return graph_of([](auto logits, auto label) {
    auto shifted = logits - detach(max(logits));
    return log(sum(exp(shifted))) - sum(where(index(logits, -1) == label, shifted, 0));
  });
}

void check_cross_entropy(const Tensor& logits, const Tensor& labels) {
  require_defined("cross_entropy", "logits", logits), require_defined("cross_entropy", "labels", labels);
  if (logits.dim() != 2 || labels.dim() != 1 || labels.size(0) != logits.size(0))
    throw Error(ErrorKind::shape, "cross_entropy: expected logits [N, C] and labels [N], got " + describe(logits) +
                                      " and " + describe(labels));
  if (logits.size(1) == 0 && logits.size(0) > 0)
    throw Error(ErrorKind::shape, "cross_entropy: logits " + describe(logits) + " have no classes");
  if (!is_floating(logits.dtype()))
    throw Error(ErrorKind::dtype, "cross_entropy: logits must be floating-point, got " + describe(logits));
  if (labels.dtype() != DType::i32)
    throw Error(ErrorKind::dtype,
                "cross_entropy: labels must be i32, got " + describe(labels) + "; convert them with .to(i32)");
  require_same_device("cross_entropy", logits, labels);
  if (labels.numel() == 0) return;
  const auto classes = static_cast<int>(logits.size(1));
  if (current_capture()) return require_indices("cross_entropy", labels, classes);  // there are no values to read yet
  if (any(bit_or(labels < 0, labels >= classes)).item<bool>())
    throw Error(ErrorKind::index, "cross_entropy: labels must be in [0, " + std::to_string(classes) +
                                      "), found one from " + std::to_string(min(labels).item<std::int32_t>()) + " to " +
                                      std::to_string(max(labels).item<std::int32_t>()));
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  return run_fused({"softmax", softmax_graph(), row_axis("softmax", x, axis), {}}, list(x))[0];
}
Var softmax(const Var& x, int axis) {
  return fused({"softmax", softmax_graph(), row_axis("softmax", x.value(), axis), {}}, list(x))[0];
}
Tensor log_softmax(const Tensor& x, int axis) {
  return run_fused({"log_softmax", log_softmax_graph(), row_axis("log_softmax", x, axis), {}}, list(x))[0];
}
Var log_softmax(const Var& x, int axis) {
  return fused({"log_softmax", log_softmax_graph(), row_axis("log_softmax", x.value(), axis), {}}, list(x))[0];
}
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_row_operand("rms_norm", "weight", x, weight);
  return run_fused({"rms_norm", rms_norm_graph(), row_axis("rms_norm", x, -1), {}}, list(x, weight, eps))[0];
}
Var rms_norm(const VarArg& x, const VarArg& weight, double eps) {
  check_row_operand("rms_norm", "weight", x->value(), weight->value());
  return fused({"rms_norm", rms_norm_graph(), row_axis("rms_norm", x->value(), -1), {}}, list(*x, *weight, eps))[0];
}
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check_row_operand("layer_norm", "weight", x, weight), check_row_operand("layer_norm", "bias", x, bias);
  return run_fused({"layer_norm", layer_norm_graph(), row_axis("layer_norm", x, -1), {}},
                   list(x, weight, bias, eps))[0];
}
Var layer_norm(const VarArg& x, const VarArg& weight, const VarArg& bias, double eps) {
  check_row_operand("layer_norm", "weight", x->value(), weight->value()),
      check_row_operand("layer_norm", "bias", x->value(), bias->value());
  return fused({"layer_norm", layer_norm_graph(), row_axis("layer_norm", x->value(), -1), {}},
               list(*x, *weight, *bias, eps))[0];
}
Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
  check_cross_entropy(logits, labels);
  return mean(run_fused({"cross_entropy", cross_entropy_graph(), 2, {}}, list(logits, labels.unsqueeze(1)))[0]);
}
Var cross_entropy(const Var& logits, const Tensor& labels) {
  check_cross_entropy(logits.value(), labels);
  const Tensor column = labels.unsqueeze(1);
  return mean(fused({"cross_entropy", cross_entropy_graph(), 2, {}}, list(logits, column))[0]);
}

namespace detail {
namespace {
FusedCall row_call(const char* name, const Graph* graph, std::span<const Number> values,
                   std::span<const Argument> arguments, const Axes& axes, std::vector<Argument>& all) {
  const std::size_t expected = static_cast<std::size_t>(graph->inputs) - values.size();
  if (arguments.size() != expected)
    throw Error(ErrorKind::shape, std::string(name) + ": takes " + std::to_string(expected) + " arguments, got " +
                                      std::to_string(arguments.size()));
  all.assign(arguments.begin(), arguments.end());
  for (const Number& value : values) all.push_back(Argument(value));
  const Shape space = broadcast_space(name, all);
  return {name, graph, axis_mask(name, axes, space.rank()), {}};
}
}  // namespace
std::vector<Tensor> row_tensors(const char* name, const Graph* graph, std::span<const Number> values,
                                std::span<const Argument> arguments, const Axes& axes) {
  std::vector<Argument> all;
  const FusedCall call = row_call(name, graph, values, arguments, axes, all);
  return run_fused(call, all);
}
std::vector<Var> row_vars(const char* name, const Graph* graph, std::span<const Number> values,
                          std::span<const Argument> arguments, const Axes& axes) {
  std::vector<Argument> all;
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
  const std::vector<Var> results = fused_gradients({op, formula.graph(), 0, {}}, arguments, grads);
  return {results[0].value(), results[1].value()};
}
}  // namespace detail

}  // namespace tern
