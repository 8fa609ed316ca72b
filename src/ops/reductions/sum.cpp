// Sums and means, in the dtypes they are asked for in; those of narrow integers at the speed of i32.
#include <array>
#include <optional>
#include <string>

#include "autodiff/instances.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {

// ---- graphs: one for each dtype ----
using GraphsByDType = std::array<const FormulaGraph*, kDTypeCount>;
template <class F> GraphsByDType graphs_by_dtype(F output) {
  GraphsByDType list{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Expr e = output(make_input(0), static_cast<DType>(i));
    list[i] = make_graph({&e, 1}, 1);
  }
  return list;
}
const FormulaGraph* of_dtype(const GraphsByDType& graphs, DType dtype) {
  return graphs[static_cast<std::size_t>(dtype)];
}

const FormulaGraph* plain_sum() {
  return graph_of([](auto x) { return sum(x); });
}
const FormulaGraph* plain_mean() {
  return graph_of([](auto x) { return mean(x); });
}
/// sum(x) in its own compute type, then converted.
const FormulaGraph* converted_sum(DType dtype) {
  static const GraphsByDType graphs = graphs_by_dtype([](Expr x, DType to) { return cast(sum(x), to); });
  return of_dtype(graphs, dtype);
}
const FormulaGraph* sum_of_converted(DType dtype) {
  static const GraphsByDType graphs = graphs_by_dtype([](Expr x, DType to) { return cast(sum(cast(x, to)), to); });
  return of_dtype(graphs, dtype);
}
/// Of a sum in its own compute type, divided in f64 or f32.
const FormulaGraph* mean_of_sum(DType dtype, DType divided) {
  static const auto graphs = [](DType in) {
    return graphs_by_dtype([in](Expr x, DType to) { return cast(cast(sum(x), in) / extent(), to); });
  };
  static const GraphsByDType in_f64 = graphs(DType::f64), in_f32 = graphs(DType::f32);
  return of_dtype(divided == DType::f64 ? in_f64 : in_f32, dtype);
}
/// The mean of the elements converted to `inside`, f64 or f32.
const FormulaGraph* mean_of_converted(DType dtype, DType inside) {
  static const auto graphs = [](DType in) {
    return graphs_by_dtype([in](Expr x, DType to) { return cast(mean(cast(x, in)), to); });
  };
  static const GraphsByDType in_f64 = graphs(DType::f64), in_f32 = graphs(DType::f32);
  return of_dtype(inside == DType::f64 ? in_f64 : in_f32, dtype);
}

// ---- what the dtypes can hold ----
/// Booleans and integers that sum(x) of a formula takes in i32.
bool widens(DType dtype) { return !is_floating(dtype) && dtype_size(dtype) < 4; }
/// How many elements of a dtype i32 holds the sum of, whatever they are.
std::int64_t most_in_i32(DType dtype) {
  constexpr std::int64_t most = 2147483647;
  switch (dtype) {
    case DType::boolean: return most;
    case DType::u8: return most / 255;
    case DType::i8: return most / 128;
    case DType::i16: return most / 32768;
    default: return 0;
  }
}
std::int64_t count_along(const Tensor& x, std::uint32_t mask) {
  if (x.numel() == 0) return 0;
  std::int64_t count = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) count *= x.shape()[static_cast<std::size_t>(i)];
  return count;
}

// ---- sums of more narrow integers than i32 can hold the sum of ----
Tensor sum_over(const FormulaGraph* graph, const Tensor& x, std::uint32_t mask) {
  return fused_one<Tensor>({"sum", graph, mask, {}}, std::array{Argument(x)});
}
int longest_axis(const Tensor& x, std::uint32_t mask) {
  int longest = -1;
  for (int i = 0; i < x.dim(); ++i)
    if ((mask >> i & 1) && (longest < 0 || x.size(i) > x.size(longest))) longest = i;
  return longest;
}
/// x[.., parts · each, ..] as a view [.., parts, each, ..].
Tensor split_axis(const Tensor& x, int axis, std::int64_t each) {
  Shape shape;
  Strides strides;
  for (int i = 0; i < x.dim(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i == axis) shape.push_back(x.shape()[at] / each), strides.push_back(x.strides()[at] * each);
    shape.push_back(i == axis ? each : x.shape()[at]), strides.push_back(x.strides()[at]);
  }
  return make_view(x, shape, strides, x.impl()->offset);
}
/// In i64, with size 1 along the axes: of parts small enough for i32, which is twice as fast on the CPU, and then of
/// their sums.
Tensor sum_in_parts(const Tensor& x, std::uint32_t mask) {
  const std::int64_t most = most_in_i32(x.dtype()), count = count_along(x, mask);
  if (count <= most) return sum_over(converted_sum(DType::i64), x, mask);
  if (x.dim() == kMaxRank) return sum_over(sum_of_converted(DType::i64), x, mask);  // no axis can be added
  const int axis = longest_axis(x, mask);
  const std::int64_t size = x.size(axis), others = count / size;
  if (others > most) return sum_over(plain_sum(), sum_in_parts(x, mask & ~(1u << axis)), 1u << axis);
  const std::int64_t parts = (size + most / others - 1) / (most / others), each = size / parts, whole = parts * each;
  const std::uint32_t before = (1u << axis) - 1;
  const Tensor split = split_axis(x.slice(axis, 0, whole), axis, each);
  const Tensor sums = sum_over(converted_sum(DType::i64), split, (mask & before) | (mask & ~before) << 1);
  const Tensor total = sum_over(plain_sum(), sums, 1u << axis).reshape(with_ones(x.shape(), mask));
  return whole == size ? total : total + sum_in_parts(x.slice(axis, whole, size), mask);
}

// ---- which graph it is; null: sum_in_parts ----
const FormulaGraph* sum_graph(const Tensor& x, std::uint32_t mask, std::optional<DType> asked) {
  const DType from = x.dtype();
  if (asked == DType::boolean) throw Error(ErrorKind::dtype, "sum: booleans hold no sums; ask for i32");
  if (!widens(from)) return !asked || asked == from ? plain_sum() : sum_of_converted(*asked);
  const std::int64_t count = count_along(x, mask);
  const bool fits = count <= most_in_i32(from);
  if (!asked && from == DType::boolean && !fits)
    throw Error(ErrorKind::shape, "sum: i32 cannot count the " + std::to_string(count) + " booleans of " + describe(x) +
                                      "; ask for dtype i64");
  const DType to = asked.value_or(from != DType::boolean && has_kernels_for(x, DType::i64) ? DType::i64 : DType::i32);
  if (to == DType::i32) return plain_sum();
  if (is_integer(to) && to != DType::i64) return converted_sum(to);  // modulo 2^32, and so modulo fewer bits
  if (to == DType::i64 && has_kernels_for(x, to)) return fits ? converted_sum(to) : nullptr;
  return sum_of_converted(to);
}
const FormulaGraph* mean_graph(const Tensor& x, std::uint32_t mask, std::optional<DType> asked) {
  const DType from = x.dtype(), to = asked.value_or(is_differentiable(from) ? from : DType::f32);
  if (!is_differentiable(to))
    throw Error(ErrorKind::dtype, "mean: needs a floating-point dtype, got " + std::string(to_string(to)));
  if (is_differentiable(from)) {
    static const GraphsByDType graphs = graphs_by_dtype([](Expr v, DType d) { return mean(cast(v, d)); });
    return to == from ? plain_mean() : of_dtype(graphs, to);
  }
  const DType inside = has_kernels_for(x, DType::f64) ? DType::f64 : DType::f32;
  if (widens(from) && count_along(x, mask) <= most_in_i32(from)) return mean_of_sum(to, inside);
  return widens(from) && has_kernels_for(x, DType::i64) ? nullptr : mean_of_converted(to, inside);
}

Tensor sum_in_parts(const Tensor& x, std::uint32_t mask, std::optional<DType>) { return sum_in_parts(x, mask); }
Tensor mean_in_parts(const Tensor& x, std::uint32_t mask, std::optional<DType> dtype) {
  const double count = static_cast<double>(count_along(x, mask));
  return (sum_in_parts(x, mask).to(DType::f64) / count).to(dtype.value_or(DType::f32));
}

using GraphFor = const FormulaGraph* (*)(const Tensor& x, std::uint32_t mask, std::optional<DType> dtype);
/// What a graph cannot compute in one call: of integers, which have no gradient.
using RunInParts = Tensor (*)(const Tensor& x, std::uint32_t mask, std::optional<DType> dtype);

template <TensorOrVar T>
T sum_as(const char* op, GraphFor graph_for, RunInParts in_parts, const T& x, const Axes& axes, KeepDim keepdim,
         std::optional<DType> dtype) {
  require_defined(op, "x", value_of(x));
  const std::uint32_t mask = axis_mask(op, axes, x.dim());
  if (const FormulaGraph* const graph = graph_for(value_of(x), mask, dtype))
    return fused_one<T>({op, graph, mask, {}, {}, !keepdim}, std::array{Argument(x)});
  const Tensor result = in_parts(value_of(x), mask, dtype);
  return operand_as<T>(keepdim ? result : result.reshape(without_axes(x.shape(), mask)));
}

}  // namespace

#define TERN_SUM(name)                                                                          \
  template <TensorOrVar T> T name(const T& x, const Axes& axes, KeepDim keepdim) {              \
    return sum_as(#name, name##_graph, name##_in_parts, x, axes, keepdim, {});                  \
  }                                                                                             \
  template <TensorOrVar T> T name(const T& x, const Axes& axes, KeepDim keepdim, DType dtype) { \
    return sum_as(#name, name##_graph, name##_in_parts, x, axes, keepdim, dtype);               \
  }                                                                                             \
  TERN_INSTANCES_1(ResultOf, name, const Axes&, KeepDim)                                        \
  TERN_INSTANCES_1(ResultOf, name, const Axes&, KeepDim, DType)
TERN_SUM(sum)
TERN_SUM(mean)
#undef TERN_SUM

}  // namespace tern
