// Losses: a formula of each element (or of each row), with the mean or the sum in the same kernel.
#include "ops/neural/losses.hpp"

#include <array>

#include "autodiff/instances.hpp"
#include "formula/extremes.hpp"

namespace tern {

using namespace detail;

namespace {

/// formula(arguments…) of each element, reduced. `formula` is a lambda without captures.
template <TensorOrVar R, class F>
R loss_of(const char* op, F formula, Reduction reduction, std::span<const Argument> arguments, const Shape& space) {
  if (reduction == Reduction::none || space.empty()) return fused_one<R>({op, graph_of(formula), 0, {}}, arguments);
  constexpr auto summed = [](auto... x)
    requires std::invocable<F, decltype(x)...>
  {
    return sum(F{}(x...));
  };
  constexpr auto averaged = [](auto... x)
    requires std::invocable<F, decltype(x)...>
  {
    return mean(F{}(x...));
  };
  const FormulaGraph* const graph = reduction == Reduction::sum ? graph_of(summed) : graph_of(averaged);
  return fused_one<R>({op, graph, (1u << space.rank()) - 1, {}, {}, true}, arguments);
}
/// One number from those of the rows: their sum, or over the sum of the rows' weights. `ignores`: of no weight, 0.
template <TensorOrVar R>
R reduced_rows(const char* op, const std::array<R, 2>& rows, Reduction reduction, bool ignores) {
  if (reduction == Reduction::none) return rows[0];
  if (reduction == Reduction::sum) return sum(rows[0]);
  static const FormulaGraph* const plain = graph_of([](auto loss, auto weight) { return sum(loss) / sum(weight); });
  static const FormulaGraph* const some = graph_of([](auto loss, auto weight) {
    auto total = sum(weight);
    return sum(loss) / where(total == 0, 1, total);
  });
  const Tensor weights = value_of(rows[1]);
  const Argument arguments[] = {Argument(rows[0]), Argument(weights)};
  return fused_one<R>({op, ignores ? some : plain, 1, {}, {}, true}, arguments);
}

void check_factor(const char* op, const char* name, const Tensor& factor, const Tensor& x) {
  if (!factor.defined()) return;
  require_floating(op, name, factor), require_same_device(op, x, factor);
  check_broadcasts(op, name, factor, x.shape());
}
Argument factor_of(const Tensor& weight) { return weight.defined() ? Argument(weight) : Argument(1.0); }

void check_classes(const char* op, const char* name, const Tensor& x) {
  require_floating(op, name, x);
  if (x.dim() != 2) refuse(op, name, "[N, C]", describe(x));
  if (x.size(1) == 0 && x.size(0) > 0) refuse(op, name, "at least one class", describe(x));
  if (x.size(1) > kMostPositions) refuse(op, name, "at most 2^31-1 classes", describe(x));
}
/// The labels as a column of i32; those out of range throw index, at replay inside a capture.
Tensor label_column(const char* op, const Tensor& x, const Tensor& given, const std::optional<std::int32_t>& ignored) {
  require_defined(op, "labels", given), require_same_device(op, x, given), require_index_dtype(op, "labels", given);
  if (given.dim() != 1 || given.size(0) != x.size(0))
    refuse(op, "labels", "[" + std::to_string(x.size(0)) + "]", describe(given));
  const Tensor labels = as_i32(op, given, ignored == INT32_MIN ? INT32_MAX : INT32_MIN);
  if (labels.numel() > 0)
    require_indices((std::string(op) + " (labels)").c_str(), ignored ? where(labels == *ignored, 0, labels) : labels,
                    x.size(1));
  return labels.unsqueeze(1);
}
/// [1, C]
Tensor class_weights(const char* op, const Tensor& weight, const Tensor& x) {
  check_optional(op, "weight", weight, x.size(1), x);
  return weight.defined() ? weight.unsqueeze(0) : ones({1, 1}, {.dtype = x.dtype(), .device = x.device()});
}
/// A label that no row has, where none is to be ignored.
std::int32_t ignored_or_none(const std::optional<std::int32_t>& ignored) { return ignored.value_or(INT32_MIN); }

/// Rows that are ignored are zeros to the formula: a NaN there must not reach a gradient.
constexpr auto labelled_rows = [](auto logits, auto label, auto weight, auto ignored) {
  auto hit = (index(logits, -1) == label) & (label != ignored);
  auto logs = log_softmax_of_row(where(label == ignored, 0, logits));
  return std::array{-sum(where(hit, weight * logs, 0)), sum(where(hit, weight, 0))};
};
constexpr auto smoothed_rows = [](auto logits, auto label, auto weight, auto ignored, auto smoothing) {
  auto hit = (index(logits, -1) == label) & (label != ignored);
  auto logs = weight * log_softmax_of_row(where(label == ignored, 0, logits));
  auto loss = (smoothing - 1) * sum(where(hit, logs, 0)) - smoothing * mean(where(label == ignored, 0, logs));
  return std::array{loss, sum(where(hit, weight, 0))};
};

template <TensorOrVar R> R soft_cross_entropy(const R& logits, const Argument& targets, const CrossEntropyOptions& o) {
  constexpr const char* op = "cross_entropy";
  check_classes(op, "logits", value_of(logits));
  check_alike(op, "logits", value_of(logits), "labels", value_of(targets));
  if (o.ignored) throw Error(ErrorKind::unsupported, "cross_entropy: of soft targets no row is ignored");
  const Tensor weight = class_weights(op, o.weight, value_of(logits));
  static const FormulaGraph* const graph = graph_of([](auto x, auto target, auto w, auto smoothing) {
    auto logs = w * log_softmax_of_row(x);
    return (smoothing - 1) * sum(target * logs) - smoothing * mean(logs);
  });
  // Rows of 16 bits are added up before they are rounded.
  const R x = dtype_size(logits.dtype()) == 2 ? logits.to(DType::f32) : logits;
  const Argument arguments[] = {Argument(x), targets, Argument(weight), Argument(o.smoothing)};
  const R rows = fused_one<R>({op, graph, 2, {}, {}, true}, arguments);
  return (o.reduction == Reduction::none  ? rows
          : o.reduction == Reduction::sum ? sum(rows)
                                          : mean(rows))
      .to(logits.dtype());
}

}  // namespace

template <TensorOrVar R>
R detail::general_cross_entropy(const R& logits, const Argument& labels, const CrossEntropyOptions& o) {
  constexpr const char* op = "cross_entropy";
  if (is_floating(value_of(labels).dtype())) return soft_cross_entropy(logits, labels, o);
  check_classes(op, "logits", value_of(logits));
  const Tensor weight = class_weights(op, o.weight, value_of(logits));
  const Tensor column = label_column(op, value_of(logits), value_of(labels), o.ignored);
  const Argument arguments[] = {Argument(logits), Argument(column), Argument(weight),
                                Argument(ignored_or_none(o.ignored)), Argument(o.smoothing)};
  const bool smoothed = o.smoothing != 0;
  std::array<R, 2> rows;
  fused({op, smoothed ? graph_of(smoothed_rows) : graph_of(labelled_rows), 2, {}, {}, true},
        {arguments, smoothed ? 5u : 4u}, std::span<R>(rows));
  return reduced_rows(op, rows, o.reduction, o.ignored.has_value());
}
template Tensor detail::general_cross_entropy(const Tensor&, const Argument&, const CrossEntropyOptions&);
template Var detail::general_cross_entropy(const Var&, const Argument&, const CrossEntropyOptions&);

template <TensorOrVar T> T nll_loss(const T& x, const Tensor& labels, const NllOptions& o) {
  constexpr const char* op = "nll_loss";
  check_classes(op, "log_probabilities", value_of(x));
  const Tensor weight = class_weights(op, o.weight, value_of(x));
  const Tensor column = label_column(op, value_of(x), labels, o.ignored);
  static const FormulaGraph* const graph = graph_of([](auto logs, auto label, auto w, auto ignored) {
    auto hit = (index(logs, -1) == label) & (label != ignored);
    return std::array{-sum(where(hit, w * logs, 0)), sum(where(hit, w, 0))};
  });
  const Argument arguments[] = {Argument(x), Argument(column), Argument(weight), Argument(ignored_or_none(o.ignored))};
  std::array<T, 2> rows;
  fused({op, graph, 2, {}, {}, true}, arguments, std::span<T>(rows));
  return reduced_rows(op, rows, o.reduction, o.ignored.has_value());
}
template Tensor nll_loss(const Tensor&, const Tensor&, const NllOptions&);
template Var nll_loss(const Var&, const Tensor&, const NllOptions&);

template <TensorOrVar X, TensorOrVar Y> ResultOf<X, Y> mse_loss(const X& x, const Y& target, Reduction reduction) {
  check_alike("mse_loss", "x", value_of(x), "target", value_of(target));
  const Argument arguments[] = {Argument(x), Argument(target)};
  constexpr auto squared = [](auto a, auto b) { return (a - b) * (a - b); };
  return loss_of<ResultOf<X, Y>>("mse_loss", squared, reduction, arguments, x.shape());
}
template <TensorOrVar X, TensorOrVar Y> ResultOf<X, Y> l1_loss(const X& x, const Y& target, Reduction reduction) {
  check_alike("l1_loss", "x", value_of(x), "target", value_of(target));
  const Argument arguments[] = {Argument(x), Argument(target)};
  constexpr auto absolute = [](auto a, auto b) { return abs(a - b); };
  return loss_of<ResultOf<X, Y>>("l1_loss", absolute, reduction, arguments, x.shape());
}
template <TensorOrVar X, TensorOrVar Y>
ResultOf<X, Y> huber_loss(const X& x, const Y& target, double delta, Reduction reduction) {
  check_alike("huber_loss", "x", value_of(x), "target", value_of(target));
  if (!(delta > 0)) refuse("huber_loss", "delta", "a number above 0", std::to_string(delta), ErrorKind::value);
  const Argument arguments[] = {Argument(x), Argument(target), Argument(delta)};
  constexpr auto bent = [](auto a, auto b, auto limit) {
    auto d = a - b, size = abs(d);
    return where(size <= limit, 0.5 * d * d, limit * (size - 0.5 * limit));
  };
  return loss_of<ResultOf<X, Y>>("huber_loss", bent, reduction, arguments, x.shape());
}
template <TensorOrVar X, TensorOrVar Y>
ResultOf<X, Y> binary_cross_entropy_with_logits(const X& logits, const Y& target, const BinaryCrossEntropyOptions& o) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  check_alike(op, "logits", value_of(logits), "target", value_of(target));
  check_factor(op, "weight", o.weight, value_of(logits));
  check_factor(op, "positive_weight", o.positive_weight, value_of(logits));
  const Argument arguments[] = {Argument(logits), Argument(target), factor_of(o.weight), factor_of(o.positive_weight)};
  constexpr auto entropy = [](auto x, auto t, auto weight, auto positive) {
    return weight * (positive * t * softplus(-x) + (1 - t) * softplus(x));
  };
  return loss_of<ResultOf<X, Y>>(op, entropy, o.reduction, arguments, logits.shape());
}
template <TensorOrVar X, TensorOrVar Y> ResultOf<X, Y> kl_div(const X& x, const Y& target, const KlOptions& o) {
  using R = ResultOf<X, Y>;
  constexpr const char* op = "kl_div";
  check_alike(op, "x", value_of(x), "target", value_of(target));
  const bool per_row = o.per_row && o.reduction == Reduction::mean;
  if (per_row && x.dim() == 0) refuse(op, "x", "at least one axis, for `.per_row`", describe(value_of(x)));
  // Of rows each summand is divided, as f16 might not hold the sum.
  const double factor = per_row && x.size(0) > 0 ? 1 / static_cast<double>(x.size(0)) : 1;
  const Argument arguments[] = {Argument(x), Argument(target), Argument(factor)};
  // A target of 0 counts 0 beside a logarithm of -inf, too, whose product with it would be NaN.
  constexpr auto of_shares = [](auto q, auto p, auto scale) {
    return scale * (xlogy(p, p) - p * where((p == 0) & (q == -Expr(kInfinity)), 0, q));
  };
  constexpr auto of_logs = [](auto q, auto p, auto scale) {
    auto share = exp(p);
    return scale * (share * (where(share == 0, 0, p) - where(share == 0, 0, q)));
  };
  const Reduction reduction = per_row ? Reduction::sum : o.reduction;
  const R y = o.log_target ? loss_of<R>(op, of_logs, reduction, arguments, x.shape())
                           : loss_of<R>(op, of_shares, reduction, arguments, x.shape());
  return per_row && x.size(0) == 0 ? y * kNone : y;
}
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> cosine_similarity(const A& a, const B& b, int axis, double eps) {
  constexpr const char* op = "cosine_similarity";
  check_alike(op, "a", value_of(a), "b", value_of(b));
  const int at = normalize_axis(op, axis, a.dim());
  static const FormulaGraph* const graph = graph_of([](auto x, auto y, auto least) {
    return sum(x * y) * rsqrt(maximum(sum(x * x), least)) * rsqrt(maximum(sum(y * y), least));
  });
  const Argument arguments[] = {Argument(a), Argument(b), Argument(eps * eps)};
  return fused_one<ResultOf<A, B>>({op, graph, 1u << at, {}, {}, true}, arguments);
}

TERN_INSTANCES_2(ResultOf, mse_loss, Reduction)
TERN_INSTANCES_2(ResultOf, l1_loss, Reduction)
TERN_INSTANCES_2(ResultOf, huber_loss, double, Reduction)
TERN_INSTANCES_2(ResultOf, binary_cross_entropy_with_logits, const BinaryCrossEntropyOptions&)
TERN_INSTANCES_2(ResultOf, kl_div, const KlOptions&)
TERN_INSTANCES_2(ResultOf, cosine_similarity, int, double)

}  // namespace tern
