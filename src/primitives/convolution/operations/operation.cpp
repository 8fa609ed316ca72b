// Convolutions and their transposes as operations: what is checked, what is recorded.
#include "primitives/convolution/operations/operation.hpp"

#include <algorithm>
#include <string_view>

#include "autodiff/instances.hpp"
#include "primitives/convolution/operations/operation_windows.hpp"
#include "primitives/gemm/operation_epilogue.hpp"

namespace tern {

using namespace detail;

Padding::Padding(const char* name) : PerAxis(0), same_(std::string_view(name) == "same") {
  if (!same_ && std::string_view(name) != "valid")
    throw Error(ErrorKind::value,
                "padding: expected numbers, \"same\" or \"valid\", got \"" + std::string(name) + "\"");
}

namespace {

std::string image_text(int axes, const std::string& batch, const std::string& channels) {
  constexpr const char* names[] = {"W", "H", "D"};
  std::string text = "[" + batch + ", " + channels;
  for (int i = axes; i-- > 0;) text += std::string(", ") + (batch == "N" ? "" : "k") + names[i];
  return text + "]";
}
/// That x, weight and groups fit. `of_x`: the axis of the weight that holds the channels of x, all (0) or of a group.
void check_operands(const char* op, int axes, const Tensor& x, const Tensor& w, std::int64_t groups, int of_x) {
  require_floating(op, "x", x), require_floating(op, "weight", w), require_same_device(op, x, w);
  if (w.dim() != axes + 2)
    refuse(op, "weight", image_text(axes, of_x ? "O" : "C", of_x ? "C/groups" : "O/groups"), describe(w));
  if (groups < 1) refuse(op, "groups", "1 or more", std::to_string(groups));
  const std::int64_t channels = of_x ? w.size(1) * groups : w.size(0);
  if (w.size(0) % groups != 0)
    refuse(op, "groups", "a divisor of weight's first axis, " + describe(w), std::to_string(groups));
  if (x.dim() != axes + 2 || x.size(1) != channels)
    refuse(op, "x",
           image_text(axes, "N", std::to_string(channels)) + ", as weight is " + describe(w) + " and groups " +
               std::to_string(groups),
           describe(x));
  for (int i = 0; i < axes; ++i)
    if (w.size(2 + i) < 1) refuse(op, "weight", "a kernel of one element or more", describe(w));
}
Conv numbers(const char* op, int axes, const Tensor& x, const Tensor& w, std::int64_t groups) {
  Conv g{.op = op, .axes = axes, .n = x.size(0), .groups = groups, .c = w.size(1), .o = w.size(0) / groups};
  for (int i = 0; i < axes; ++i) g.kernel[g.at(i)] = w.size(2 + i);
  return g;
}
Conv checked_sizes(const char* op, int axes, const Tensor& x, const Tensor& w, const ConvOptions& o) {
  check_operands(op, axes, x, w, o.groups, 1);
  Conv g = numbers(op, axes, x, w, o.groups);
  g.stride = per_axis(op, "stride", o.stride, axes, 1), g.dilation = per_axis(op, "dilation", o.dilation, axes, 1);
  g.before = g.after = per_axis(op, "padding", o.padding, axes, 0);
  for (int i = 0; i < axes; ++i) {
    const std::size_t at = g.at(i);
    g.in[at] = x.size(2 + i);
    if (o.padding.same()) {
      if (g.stride[at] != 1) refuse(op, "stride", "1, as padding is \"same\"", to_string(o.stride));
      g.before[at] = (g.extent(i) - 1) / 2, g.after[at] = g.extent(i) - 1 - g.before[at];
    }
    if (g.extent(i) > g.padded(i))
      refuse(op, "weight",
             "a kernel of at most the padded size, " + std::to_string(g.padded(i)) + " along axis " +
                 std::to_string(2 + i) + " of x " + describe(x),
             std::to_string(g.extent(i)) + " of weight " + describe(w));
    g.out[at] = (g.padded(i) - g.extent(i)) / g.stride[at] + 1;
  }
  return g;
}
/// Of the convolution whose transpose is asked for: x is its result.
Conv checked_transpose(const char* op, int axes, const Tensor& x, const Tensor& w, const ConvTransposeOptions& o) {
  check_operands(op, axes, x, w, o.groups, 0);
  Conv g = numbers(op, axes, x, w, o.groups);
  g.stride = per_axis(op, "stride", o.stride, axes, 1), g.dilation = per_axis(op, "dilation", o.dilation, axes, 1);
  g.before = g.after = per_axis(op, "padding", o.padding, axes, 0);
  const Conv::Sizes more = per_axis(op, "output_padding", o.output_padding, axes, 0);
  for (int i = 0; i < axes; ++i) {
    const std::size_t at = g.at(i);
    if (more[at] >= std::max(g.stride[at], g.dilation[at]) && more[at] > 0)
      refuse(op, "output_padding", "less than stride or dilation", to_string(o.output_padding));
    g.out[at] = x.size(2 + i);
    g.in[at] = (g.out[at] - 1) * g.stride[at] + g.extent(i) + more[at] - 2 * g.before[at];
    if (g.out[at] < 1 || g.in[at] < 1) refuse(op, "x", "sizes that give a result of one element or more", describe(x));
  }
  return g;
}

/// The bias along the channels of the result.
Tensor bias_over(const Tensor& bias, int axes) {
  Shape shape{bias.size(0)};
  for (int i = 0; i < axes; ++i) shape.push_back(1);
  return bias.reshape(shape);
}
const FormulaGraph* biased() {
  return graph_of([](auto acc, auto bias) { return acc + bias; });
}

template <TensorOrVar R>
R convolved(const char* op, int axes, const R& x, const R& w, const R& b, const ConvOptions& o) {
  const Conv g = checked_sizes(op, axes, value_of(x), value_of(w), o);
  check_optional(op, "bias", value_of(b), g.groups * g.o, value_of(x));
  if (x.dtype() != w.dtype()) {
    const DType both = promote_types(x.dtype(), w.dtype());
    return convolved<R>(op, axes, x.to(both), w.to(both), b, o);
  }
  return convolve(ConvPart::result, g, x, w, b);
}
template <TensorOrVar R>
R transpose_convolved(const char* op, int axes, const R& x, const R& w, const R& b, const ConvTransposeOptions& o) {
  const Conv g = checked_transpose(op, axes, value_of(x), value_of(w), o);
  check_optional(op, "bias", value_of(b), g.groups * g.c, value_of(x));
  if (x.dtype() != w.dtype()) {
    const DType both = promote_types(x.dtype(), w.dtype());
    return transpose_convolved<R>(op, axes, x.to(both), w.to(both), b, o);
  }
  return convolve(ConvPart::input, g, x, w, b);
}

Axes all_but_channels(int rank) {
  Axes axes{0};
  for (int i = 2; i < rank; ++i) axes.push_back(i);
  return axes;
}
/// Which maps give the gradients of the two operands. With the cotangent u in the place of what `part` gives, the sum
/// Σ x·w·y has u and the other operand left, in the order x, w, y.
struct Derivatives {
  ConvPart of_a, of_b;
};
constexpr Derivatives derivatives(ConvPart part) {
  switch (part) {
    case ConvPart::result: return {ConvPart::input, ConvPart::weight};  // of x: (u, w); of w: (x, u)
    case ConvPart::input: return {ConvPart::result, ConvPart::weight};  // of y: (u, w); of w: (u, y)
    case ConvPart::weight: break;
  }
  return {ConvPart::input, ConvPart::result};  // of x: (y, u); of y: (x, u)
}

}  // namespace

namespace detail {

Tensor convolve(ConvPart part, const Conv& g, const Tensor& a, const Tensor& b, const Tensor& bias) {
  if (!bias.defined()) return convolve(part, g, a, b, nullptr, {})[0];
  const Tensor over = bias_over(bias, g.axes);
  const Argument arguments[] = {Argument(over)};
  return convolve(part, g, a, b, biased(), arguments)[0];
}
Var convolve(ConvPart part, const Conv& g, const Var& a, const Var& b, const Var& bias) {
  Tensor y = convolve(part, g, a.value(), b.value(), bias.value());
  const Var inputs[] = {a, b, bias};
  const std::size_t count = bias.defined() ? 3 : 2;
  const bool of_a = a.requires_grad(), of_b = b.requires_grad();
  PoolVector<Save> saved;
  if (of_b) saved.push_back({as_var(a.value()), -1, 0});
  if (of_a) saved.push_back({as_var(b.value()), -1, 1});
  const auto rule = [=, type = a.dtype(), bias_type = bias.defined() ? bias.dtype() : a.dtype()](const RuleContext& c) {
    const Var u = c.grads[0].to(type);
    PoolVector<Var> grads(count);
    const Derivatives d = derivatives(part);
    if (of_a && c.needed[0]) {
      const Var& other = c.saved.back();
      grads[0] = part == ConvPart::weight ? convolve(d.of_a, g, other, u) : convolve(d.of_a, g, u, other);
    }
    if (of_b && c.needed[1]) {
      const Var& other = c.saved.front();
      grads[1] = part == ConvPart::input ? convolve(d.of_b, g, u, other) : convolve(d.of_b, g, other, u);
    }
    if (count == 3 && c.wanted[2] && c.needed[2]) grads[2] = sum(u, all_but_channels(u.dim())).to(bias_type);
    return grads;
  };
  return record_one(g.op, {inputs, count}, std::move(y), std::move(saved), rule);
}

namespace {
constexpr const char* kEpilogue = "conv2d_epilogue";
/// The formula's operands and the numbers it was traced with; throws where they are not as many as it takes.
PoolVector<Argument> operands_of(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                                 std::span<const Argument> operands) {
  const std::size_t expected = static_cast<std::size_t>(graph->inputs) - values.size() - 1;
  if (operands.size() != expected)
    refuse(kEpilogue, "operands", std::to_string(expected) + " for the formula " + name,
           std::to_string(operands.size()));
  if (graph->reduces || graph->axis_sums)
    throw Error(ErrorKind::unsupported, std::string(kEpilogue) + ": the formula " + name + " contains a reduction");
  PoolVector<Argument> all(operands.begin(), operands.end());
  for (const Number& value : values) all.push_back(Argument(value));
  return all;
}
void check_operand_shapes(const Conv& g, std::span<const Argument> operands) {
  const Shape result{g.n, g.groups * g.o, g.out[0], g.out[1]};
  for (const Argument& operand : operands)
    if (operand.tensor || operand.var) check_broadcasts(kEpilogue, "an operand", value_of(operand), result);
}
/// Of the image and of the weight.
struct ConvGradients {
  Conv g;
  bool channels_last;
  Var seen(const Var& d) const { return channels_last ? d.permute({0, 3, 1, 2}) : d; }
  Var of_a(const Var& d, const Var& w) const { return convolve(ConvPart::input, g, seen(d).to(w.dtype()), w); }
  Var of_b(const Var& d, const Var& x) const { return convolve(ConvPart::weight, g, x, seen(d).to(x.dtype())); }
};
/// Operands of an epilogue with their channels last.
class OperandsLast {
 public:
  OperandsLast(std::span<const Argument> operands, bool transposed) {
    vars_.reserve(operands.size()), tensors_.reserve(operands.size());
    for (const Argument& a : operands) {
      if (transposed && a.var) vars_.push_back(last(*a.var)), list_.push_back(Argument(vars_.back()));
      else if (transposed && a.tensor) tensors_.push_back(last(*a.tensor)), list_.push_back(Argument(tensors_.back()));
      else list_.push_back(a);
    }
  }
  std::span<const Argument> list() const { return list_; }

 private:
  template <class T> static T last(const T& t) {
    Shape shape;
    for (int i = static_cast<int>(t.shape().rank()); i < 4; ++i) shape.push_back(1);
    for (const std::int64_t size : t.shape()) shape.push_back(size);
    return t.reshape(shape).permute({0, 2, 3, 1});
  }
  PoolVector<Var> vars_;
  PoolVector<Tensor> tensors_;
  PoolVector<Argument> list_;
};
}  // namespace

template <>
Tensor convolved_with_epilogue(const char* name, const FormulaGraph* graph, std::span<const Number> values,
                               const Tensor& x, const Tensor& weight, const ConvOptions& options,
                               std::span<const Argument> operands) {
  const PoolVector<Argument> all = operands_of(name, graph, values, operands);
  const Conv g = checked_sizes(kEpilogue, 2, x, weight, options);
  check_operand_shapes(g, operands);
  const DType both = promote_types(x.dtype(), weight.dtype());
  return convolve(ConvPart::result, g, x.to(both), weight.to(both), graph, all)[0];
}
template <>
Var convolved_with_epilogue(const char* name, const FormulaGraph* graph, std::span<const Number> values, const Var& x,
                            const Var& weight, const ConvOptions& options, std::span<const Argument> operands) {
  const PoolVector<Argument> all = operands_of(name, graph, values, operands);
  const Conv g = checked_sizes(kEpilogue, 2, x.value(), weight.value(), options);
  check_operand_shapes(g, operands);
  const DType both = promote_types(x.dtype(), weight.dtype());
  const Var image = x.to(both), kernel = weight.to(both);
  // Over [N, .., C], as the results lie, so that the formula's backward goes along memory; but not where it counts
  // positions.
  const bool as_it_lies = !counts_positions(graph);
  const OperandsLast last(all, as_it_lies);
  const auto run = [&](const FormulaGraph* formula, std::span<Tensor> outputs) {
    PoolVector<Argument> list;
    for (const Argument& a : all) list.push_back(a.var ? Argument(a.var->value()) : a);
    PoolVector<Tensor> results = convolve(ConvPart::result, g, image.value(), kernel.value(), formula, list);
    for (std::size_t i = 0; i < results.size(); ++i) outputs[i] = as_it_lies ? channels_last(results[i]) : results[i];
  };
  const std::int64_t channels = g.groups * g.o;
  const Shape space = as_it_lies ? Shape{g.n, g.out[0], g.out[1], channels} : Shape{g.n, channels, g.out[0], g.out[1]};
  Var result;
  record_epilogue(kEpilogue, graph, space, image, kernel, last.list(), {&result, 1}, run, ConvGradients{g, as_it_lies});
  return as_it_lies ? result.permute({0, 3, 1, 2}) : result;
}

}  // namespace detail

template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> conv1d(const X& x, const W& w, const B& bias, const ConvOptions& options) {
  using R = ResultOf<X, W, B>;
  return convolved<R>("conv1d", 1, operand_as<R>(x), operand_as<R>(w), operand_as<R>(bias), options);
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> conv2d(const X& x, const W& w, const B& bias, const ConvOptions& options) {
  using R = ResultOf<X, W, B>;
  return convolved<R>("conv2d", 2, operand_as<R>(x), operand_as<R>(w), operand_as<R>(bias), options);
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> conv3d(const X& x, const W& w, const B& bias, const ConvOptions& options) {
  using R = ResultOf<X, W, B>;
  return convolved<R>("conv3d", 3, operand_as<R>(x), operand_as<R>(w), operand_as<R>(bias), options);
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> conv_transpose1d(const X& x, const W& w, const B& bias, const ConvTransposeOptions& options) {
  using R = ResultOf<X, W, B>;
  return transpose_convolved<R>("conv_transpose1d", 1, operand_as<R>(x), operand_as<R>(w), operand_as<R>(bias),
                                options);
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> conv_transpose2d(const X& x, const W& w, const B& bias, const ConvTransposeOptions& options) {
  using R = ResultOf<X, W, B>;
  return transpose_convolved<R>("conv_transpose2d", 2, operand_as<R>(x), operand_as<R>(w), operand_as<R>(bias),
                                options);
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> conv_transpose3d(const X& x, const W& w, const B& bias, const ConvTransposeOptions& options) {
  using R = ResultOf<X, W, B>;
  return transpose_convolved<R>("conv_transpose3d", 3, operand_as<R>(x), operand_as<R>(w), operand_as<R>(bias),
                                options);
}

TERN_INSTANCES_3(ResultOf, conv1d, const ConvOptions&)
TERN_INSTANCES_3(ResultOf, conv2d, const ConvOptions&)
TERN_INSTANCES_3(ResultOf, conv3d, const ConvOptions&)
TERN_INSTANCES_3(ResultOf, conv_transpose1d, const ConvTransposeOptions&)
TERN_INSTANCES_3(ResultOf, conv_transpose2d, const ConvTransposeOptions&)
TERN_INSTANCES_3(ResultOf, conv_transpose3d, const ConvTransposeOptions&)

}  // namespace tern
