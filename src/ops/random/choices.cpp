// Random indices, orders and masks, and initial weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "autodiff/instances.hpp"
#include "backend/recording/capture.hpp"
#include "formula/extremes.hpp"
#include "ops/random/random.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/creation.hpp"
#include "tern/indexing.hpp"
#include "tern/linalg.hpp"
#include "tern/ops.hpp"
#include "tern/random.hpp"
#include "tern/views.hpp"

namespace tern {

using namespace detail;

namespace {

std::int64_t choices_of(const char* op, const char* name, const Tensor& x) {
  require_defined(op, name, x);
  if (!is_floating(x.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": " + name + " must be of floats, it is " + describe(x));
  if (x.dim() == 0 || x.size(-1) == 0)
    throw Error(ErrorKind::value,
                std::string(op) + ": " + name + " must have an axis of choices, it is " + describe(x));
  return x.size(-1);
}
Shape with_axis(const Shape& shape, std::int64_t size) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes.push_back(size);
  return Shape(sizes);
}
Shape without_last(const Shape& shape) { return Shape(std::vector<std::int64_t>(shape.begin(), shape.end() - 1)); }
Options work_options(const Tensor& x) { return {.dtype = x.dtype() == f64 ? f64 : f32, .device = x.device()}; }
/// The order of n keys of 64 bits: by their lower words, then, stably, by their upper ones.
Tensor random_order(std::int64_t n, Generator& generator, Device device) {
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min(), high = std::int64_t{1} << 31;
  const Options options{.dtype = i32, .device = device};
  const Tensor first = sort(randint(low, high, {n}, generator, options)).indices;
  const Tensor upper = take(randint(low, high, {n}, generator, options), first);
  return take(first, sort(upper).indices);
}
void require_choices(const char* op, std::int64_t n, std::int64_t least = 1) {
  if (n < least || n > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::value, std::string(op) + ": n must be from " + std::to_string(least) +
                                      " to 2^31 - 1, it is " + std::to_string(n));
}

/// Throws value where a list along x's last axis is at fault, before anything is drawn. `faults`: which are;
/// `is_wrong`: of an element alone; `rule`: what must hold. On GPUs, and at replays, as indices out of range do, naming
/// `noted`: a list at fault stands for index 1 of size 1.
void require_no_fault(const char* op, const char* rule, const char* noted, const Tensor& x, const Tensor& faults,
                      bool (*is_wrong)(double)) {
  if (faults.numel() == 0) return;
  const Tensor lines = faults.reshape({-1}).to(i32);
  if (!in_host_memory(x) || current_capture()) return require_indices(noted, lines, 1);
  const std::int64_t line = argmax(lines).item<std::int32_t>();
  if (lines[line].item<std::int32_t>() == 0) return;
  const std::vector<double> list = x.reshape({lines.numel(), x.size(-1)})[line].to(f64).to_vector<double>();
  const auto wrong = std::ranges::find_if(list, is_wrong);
  throw Error(ErrorKind::value, std::string(op) + ": " + rule + "; list " + std::to_string(line) + " of " +
                                    describe(x) + " has " +
                                    (wrong == list.end() ? "no other" : "a " + std::to_string(*wrong)));
}
void require_logits(const Tensor& logits) {
  constexpr const char* op = "categorical";
  static const FormulaGraph* const graph = graph_of([](auto l) { return ~(max(l) > -Expr(kInfinity)); });
  const FusedCall call{op, graph, axis_mask(op, Axes{-1}, logits.dim()), {}, {}, true};
  require_no_fault(op, "logits must be numbers, and one of them above -inf",
                   "categorical (of logits that are NaN, or all -inf)", logits,
                   fused_one<Tensor>(call, std::array{Argument(logits)}), [](double l) { return l != l; });
}
void require_weights(const Tensor& weights) {
  constexpr const char* op = "multinomial";
  static const FormulaGraph* const graph = graph_of([](auto w) {
    const Expr good = where((w >= 0) & (w < Expr(kInfinity)), w, -1);
    return (min(good) < 0) | (max(good) <= 0);
  });
  const FusedCall call{op, graph, axis_mask(op, Axes{-1}, weights.dim()), {}, {}, true};
  require_no_fault(op, "weights must be finite and at least 0, and one of them above 0",
                   "multinomial (of weights that are negative, not finite, or all 0)", weights,
                   fused_one<Tensor>(call, std::array{Argument(weights)}),
                   [](double w) { return !(w >= 0 && w < kInfinity); });
}
Tensor drawn_categories(const Tensor& logits, const Shape& shape, std::int64_t k, Generator& generator) {
  return argmax(logits + gumbel(0.0, 1.0, with_axis(shape, k), generator, work_options(logits)), {-1});
}

}  // namespace

template <TensorOrVar T> Tensor categorical(const T& x, const Shape& shape, Source from) {
  const Tensor& logits = value_of(x);
  const std::int64_t k = choices_of("categorical", "logits", logits);
  const Shape batch = without_last(logits.shape());
  if (broadcast_shapes("categorical", batch, shape) != shape)
    throw Error(ErrorKind::shape, "categorical: logits, " + describe(logits) + ", do not broadcast to " +
                                      to_string(shape) + " and an axis of choices");
  require_logits(logits);
  return drawn_categories(logits, shape, k, from.generator);
}

template <TensorOrVar T> Tensor multinomial(const T& x, std::int64_t count, bool replacement, Source from) {
  const Tensor& weights = value_of(x);
  const std::int64_t k = choices_of("multinomial", "weights", weights);
  if (count < 1 || (!replacement && count > k))
    throw Error(ErrorKind::value,
                "multinomial: count must be at least 1" +
                    (replacement ? std::string() : " and at most " + std::to_string(k) + " without replacement") +
                    ", it is " + std::to_string(count));
  require_weights(weights);
  const Tensor logits = log(weights.to(work_options(weights).dtype));
  const Shape batch = without_last(weights.shape());
  if (replacement) return drawn_categories(logits.unsqueeze(-2), with_axis(batch, count), k, from.generator);
  return topk(logits + gumbel(0.0, 1.0, logits.shape(), from, work_options(weights)), count).indices;
}

template Tensor categorical(const Tensor&, const Shape&, Source);
template Tensor categorical(const Var&, const Shape&, Source);
template Tensor multinomial(const Tensor&, std::int64_t, bool, Source);
template Tensor multinomial(const Var&, std::int64_t, bool, Source);

Tensor permutation(std::int64_t n, Source from, Device device) {
  require_choices("permutation", n, 0);
  return random_order(n, from.generator, device);
}
template <TensorOrVar T> T permutation(const T& x, Source from, int axis) {
  require_defined("permutation", "x", value_of(x));
  const int at = normalize_axis("permutation", axis, x.dim());
  require_choices("permutation", x.size(at), 0);
  return take(x, random_order(x.size(at), from.generator, x.device()), at);
}
template Tensor permutation(const Tensor&, Source, int);
template Var permutation(const Var&, Source, int);

Tensor choice(std::int64_t n, const Shape& shape, Source from, bool replacement, Device device) {
  require_choices("choice", n);
  if (replacement) return randint(0, n, shape, from.generator, {.dtype = i32, .device = device});
  if (shape.numel() > n)
    throw Error(ErrorKind::value, "choice: without replacement there are " + std::to_string(n) +
                                      " elements, the shape is " + to_string(shape));
  return random_order(n, from.generator, device).slice(0, 0, shape.numel()).reshape(shape);
}
template <TensorOrVar T> T choice(const T& x, const Shape& shape, Source from, bool replacement) {
  require_defined("choice", "x", value_of(x));
  if (x.dim() == 0) throw Error(ErrorKind::shape, "choice: x must have an axis, it is " + describe(value_of(x)));
  return take(x, choice(x.size(0), shape, from, replacement, x.device()), 0);
}
template Tensor choice(const Tensor&, const Shape&, Source, bool);
template Var choice(const Var&, const Shape&, Source, bool);

template <TensorOrVar T> T dropout(const T& x, double p, Source from) {
  require_defined("dropout", "x", value_of(x));
  if (!(p >= 0 && p < 1))
    throw Error(ErrorKind::value, "dropout: p must be from 0 to below 1, it is " + std::to_string(p));
  if (!is_floating(x.dtype()))
    throw Error(ErrorKind::dtype, "dropout: x must be of floats, it is " + describe(value_of(x)));
  const Tensor kept = rand(x.shape(), from.generator, {.dtype = f32, .device = x.device()}) >= p;
  return where(kept, x * (1 / (1 - p)), 0);
}
TERN_INSTANCES_1(ResultOf, dropout, double, Source)

namespace {
/// Σ over what a unit reads, and what reads it.
std::int64_t fan(const char* op, const Shape& shape, bool out) {
  if (shape.size() < 2 || shape.numel() == 0)
    throw Error(ErrorKind::shape,
                std::string(op) + ": needs the shape [out, in, ..] of weights, got " + to_string(shape));
  return shape.numel() / (out ? shape[1] : shape[0]);
}
}  // namespace

Tensor kaiming(const Shape& shape, Source from, const Options& options) {
  const double deviation = std::sqrt(2 / static_cast<double>(fan("kaiming", shape, false)));
  return randn(shape, from.generator, options) * deviation;
}
Tensor xavier(const Shape& shape, Source from, const Options& options) {
  const double both = static_cast<double>(fan("xavier", shape, false) + fan("xavier", shape, true));
  const DType dtype = options.dtype == f64 ? f64 : f32;
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "xavier: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  return (draw_signed("xavier", shape, from.generator, dtype, options.device) * std::sqrt(6 / both)).to(options.dtype);
}
Tensor orthogonal(const Shape& shape, Source from, const Options& options) {
  const std::int64_t columns = fan("orthogonal", shape, false), rows = shape[0];
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype,
                "orthogonal: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  const Options work{.dtype = options.dtype == f64 ? f64 : f32, .device = options.device};
  const auto [q, r] = linalg::qr(randn({std::max(rows, columns), std::min(rows, columns)}, from.generator, work));
  const Tensor signed_q = q * where(diagonal(r) < 0, -1, 1);  // else the signs would be those of the factorisation
  return (rows < columns ? signed_q.mT() : signed_q).reshape(shape).to(options.dtype);
}

}  // namespace tern
