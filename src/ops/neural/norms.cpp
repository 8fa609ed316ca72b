// Norms of images: one formula with reductions over the axes that share a mean.
#include "autodiff/instances.hpp"
#include "primitives/fused/operation_checks.hpp"

namespace tern {

using namespace detail;

namespace {

/// (x - mean)·rsqrt(biased variance + eps)·weight + bias, with the mean and the variance.
constexpr auto normalized = [](auto x, auto weight, auto bias, auto eps) {
  auto mean_of_x = mean(x), centred = x - mean_of_x, variance = mean(centred * centred);
  return std::array{centred * rsqrt(variance + eps) * weight + bias, mean_of_x, variance};
};
const FormulaGraph* norm_graph() {
  return graph_of([](auto x, auto weight, auto bias, auto eps) { return normalized(x, weight, bias, eps)[0]; });
}
/// With the statistics in f32, for x of 16 bits.
const FormulaGraph* statistics_graph(bool narrow) {
  if (narrow)
    return graph_of([](auto x, auto weight, auto bias, auto eps) {
      auto y = normalized(x, weight, bias, eps);
      return std::array{y[0], cast(y[1], DType::f32), cast(y[2], DType::f32)};
    });
  return graph_of([](auto x, auto weight, auto bias, auto eps) { return normalized(x, weight, bias, eps); });
}

template <class X> void check_image(const char* op, const X& x) {
  require_floating(op, "x", value_of(x));
  if (x.dim() < 2) refuse(op, "x", "[N, C, ..]", describe(value_of(x)));
}
/// A value alone is its own mean: the result would be the bias, whatever it is, and the variance that of nothing.
void require_several(const char* op, const Tensor& x, std::int64_t values, const char* where) {
  if (values == 1) refuse(op, "x", std::string("more than one value of each channel") + where, describe(x));
}
/// A factor or summand of each channel, laid out as `shape`; a number where it is left out.
template <TensorOrVar R> struct Channels {
  Channels(const R& given, const Shape& shape, double otherwise)
      : of(given.defined() ? given.reshape(shape) : given), number(otherwise) {}
  Argument argument() const { return of.defined() ? Argument(of) : Argument(number); }
  R of;
  double number;
};
template <TensorOrVar R> void check_channels(const char* op, const Tensor& x, const R& weight, const R& bias) {
  check_optional(op, "weight", value_of(weight), x.size(1), x);
  check_optional(op, "bias", value_of(bias), x.size(1), x);
}

template <TensorOrVar R>
R grouped_norm(const char* op, const R& x, std::int64_t groups, const R& weight, const R& bias, double eps) {
  const std::int64_t channels = x.size(1);
  if (groups < 1 || channels % groups != 0)
    refuse(op, "groups", "a divisor of the " + std::to_string(channels) + " channels of " + describe(value_of(x)),
           std::to_string(groups));
  check_channels(op, value_of(x), weight, bias);
  Shape space{x.size(0), groups, channels / groups}, affine{groups, channels / groups};
  for (int i = 2; i < x.dim(); ++i) space.push_back(x.size(i)), affine.push_back(1);
  const R grouped = x.reshape(space);
  const Channels<R> w(weight, affine, 1), b(bias, affine, 0);
  const Argument arguments[] = {Argument(grouped), w.argument(), b.argument(), Argument(eps)};
  const std::uint32_t reduced = ((1u << space.rank()) - 1) & ~3u;
  return fused_one<R>({op, norm_graph(), reduced, {}}, arguments).reshape(x.shape());
}

void check_running(const char* op, const char* name, const Tensor& running, const Tensor& x) {
  if (!running.defined()) return;
  check_optional(op, name, running, x.size(1), x);
  const bool wide = running.dtype() == x.dtype() || running.dtype() == DType::f32;
  if (!wide)
    throw Error(ErrorKind::dtype, std::string(op) + ": " + name + " must be f32 or of x's dtype: x is " + describe(x) +
                                      ", it is " + describe(running));
}
void update(Tensor running, const Tensor& batch, double momentum) {
  if (!running.defined()) return;
  static const Pointwise mixed("batch_norm", [](auto old, auto now, auto share) { return old + share * (now - old); });
  running.copy_from(mixed(running, batch.reshape(running.shape()), momentum).to(running.dtype()));
}

template <TensorOrVar R>
R trained(const R& x, const Tensor& running_mean, const Tensor& running_variance, const Channels<R>& weight,
          const Channels<R>& bias, const BatchNormOptions& options) {
  if (x.numel() > 0) require_several("batch_norm", value_of(x), x.numel() / x.size(1), " in training");
  for (const Tensor* running : {&running_mean, &running_variance})
    if (running->defined()) require_writable("batch_norm", *running);
  if (running_mean.defined() && running_variance.defined() && may_share_memory(running_mean, running_variance))
    throw Error(ErrorKind::value, "batch_norm: running_mean and running_variance are one tensor, or share memory: "
                                  "training writes to both, expected a tensor for each");
  const Argument arguments[] = {Argument(x), weight.argument(), bias.argument(), Argument(options.eps)};
  const std::uint32_t reduced = ((1u << x.dim()) - 1) & ~2u;
  std::array<R, 3> y;
  fused({"batch_norm", statistics_graph(dtype_size(x.dtype()) == 2), reduced, {}}, arguments, std::span<R>(y));
  if (x.numel() == 0) return y[0];  // of nothing there is no mean
  const auto count = static_cast<double>(x.numel() / x.size(1));
  update(running_mean, value_of(y[1]), options.momentum);
  if (running_variance.defined())
    update(running_variance, value_of(y[2]) * (count / (count - 1)), options.momentum);
  return y[0];
}

constexpr auto by_running = [](auto v, auto m, auto s, auto scale, auto shift, auto eps) {
  return (v - m) * rsqrt(s + eps) * scale + shift;
};
/// With the running statistics as they are, not in the dtype of x: f16 would not hold the variance of f16. What comes
/// of them is in `result`.
const FormulaGraph* running_graph(DType result) {
  if (result == DType::f16)
    return graph_of([](auto v, auto m, auto s, auto scale, auto shift, auto eps) {
      return cast(by_running(v, m, s, scale, shift, eps), DType::f16);
    });
  if (result == DType::bf16)
    return graph_of([](auto v, auto m, auto s, auto scale, auto shift, auto eps) {
      return cast(by_running(v, m, s, scale, shift, eps), DType::bf16);
    });
  return graph_of(by_running);
}

}  // namespace

template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> group_norm(const X& x, std::int64_t groups, const W& weight, const B& bias, double eps) {
  using R = ResultOf<X, W, B>;
  check_image("group_norm", x);
  return grouped_norm<R>("group_norm", operand_as<R>(x), groups, operand_as<R>(weight), operand_as<R>(bias), eps);
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> instance_norm(const X& x, const W& weight, const B& bias, double eps) {
  using R = ResultOf<X, W, B>;
  check_image("instance_norm", x);
  if (x.size(1) == 0) refuse("instance_norm", "x", "at least one channel", describe(value_of(x)));
  if (x.size(0) > 0) require_several("instance_norm", value_of(x), x.numel() / (x.size(0) * x.size(1)), " and sample");
  return grouped_norm<R>("instance_norm", operand_as<R>(x), x.size(1), operand_as<R>(weight), operand_as<R>(bias), eps);
}
template <TensorOrVar X, TensorOrVar W, TensorOrVar B>
ResultOf<X, W, B> batch_norm(const X& x, const Tensor& running_mean, const Tensor& running_variance, const W& weight,
                             const B& bias, const BatchNormOptions& options) {
  using R = ResultOf<X, W, B>;
  constexpr const char* op = "batch_norm";
  check_image(op, x);
  const R image = operand_as<R>(x), w = operand_as<R>(weight), b = operand_as<R>(bias);
  check_channels(op, value_of(x), w, b);
  check_running(op, "running_mean", running_mean, value_of(x));
  check_running(op, "running_variance", running_variance, value_of(x));
  const Shape laid = channel_shape(x.size(1), x.dim());
  const Channels<R> factor(w, laid, 1), summand(b, laid, 0);
  if (options.training) return trained<R>(image, running_mean, running_variance, factor, summand, options);
  require_defined(op, "running_mean", running_mean), require_defined(op, "running_variance", running_variance);
  const auto of_channels = [&](const Tensor& t) {
    return dtype_size(x.dtype()) == 2 ? t.reshape(laid) : t.reshape(laid).to(x.dtype());
  };
  const Tensor mean_of = of_channels(running_mean), variance = of_channels(running_variance);
  DType result = x.dtype();
  for (const R* of : {&w, &b})
    if (of->defined()) result = promote_types(result, of->dtype());
  const Argument arguments[] = {Argument(image),   Argument(mean_of),  Argument(variance),
                                factor.argument(), summand.argument(), Argument(options.eps)};
  return fused_one<R>({op, running_graph(result), 0, {}}, arguments);
}

TERN_INSTANCES_3(ResultOf, instance_norm, double)
#define TERN_GROUP_NORM(X, W, B)                                                                    \
  template ResultOf<X, W, B> group_norm(const X&, std::int64_t, const W&, const B&, double);        \
  template ResultOf<X, W, B> batch_norm(const X&, const Tensor&, const Tensor&, const W&, const B&, \
                                        const BatchNormOptions&);
TERN_GROUP_NORM(Tensor, Tensor, Tensor)
TERN_GROUP_NORM(Tensor, Tensor, Var)
TERN_GROUP_NORM(Tensor, Var, Tensor)
TERN_GROUP_NORM(Tensor, Var, Var)
TERN_GROUP_NORM(Var, Tensor, Tensor)
TERN_GROUP_NORM(Var, Tensor, Var)
TERN_GROUP_NORM(Var, Var, Tensor)
TERN_GROUP_NORM(Var, Var, Var)
#undef TERN_GROUP_NORM

}  // namespace tern
