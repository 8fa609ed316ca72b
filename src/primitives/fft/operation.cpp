// Fourier transforms: requests of the primitive `fft`, each with its transpose as its rule.
#include "tern/fft.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "autodiff/instances.hpp"
#include "backend/instruments/trace.hpp"
#include "primitives/fft/fft.hpp"
#include "primitives/fused/operation_complex.hpp"

namespace tern {

using namespace detail;

namespace {

/// What is done along an axis.
struct Transform {
  const char* op;
  FftKind kind;
  int axis;
  std::int64_t n;
  bool backward;
  double scale, inner = 1;
  int second = -1;
};

/// Between two axes numbers are complex, whatever they are in the end: requests of two have complex results.
Tensor transformed(const Transform& t, const Tensor& x, std::int64_t wanted, bool complex_results) {
  if (t.second >= 0 && !complex_results) return real(transformed(t, x, wanted, true));
  Backend& backend = x.impl()->storage->backend();
  backend.require<FftRequest>(t.op);
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(t.axis)] = wanted;
  const DType dtype = complex_results ? complex_dtype(x.dtype()) : real_dtype(x.dtype());
  const Tensor result = make_tensor(shape, dtype, backend, t.op);
  FftRequest r{t.op, t.kind, x.shape(), shape, t.axis, t.n, t.backward, t.scale, t.inner, t.second, {}, {}, {}, {}};
  TensorParts parts;
  if (is_complex(x.dtype())) {
    parts = parts_of(x);
    r.re = view_over(parts.re, x.shape()), r.im = view_over(parts.im, x.shape());
  } else {
    r.re = view_over(x, x.shape());
  }
  TensorParts results;
  if (complex_results) {
    results = parts_of(result);
    r.out_re = view_over(results.re, shape), r.out_im = view_over(results.im, shape);
  } else {
    r.out_re = view_over(result, shape);
  }
  run(backend, r);
  return result;
}

/// In PyTorch's convention the gradient of a linear map is its conjugate transpose: the same transform in the other
/// direction, of which the operand's elements are wanted. Of halves of spectra, elements that stand for their mirror
/// images, too, count twice or half.
Transform transposed(Transform t) {
  t.backward = !t.backward;
  if (t.kind == FftKind::from_real) t.kind = FftKind::to_real, t.inner /= 2;
  else if (t.kind == FftKind::to_real) t.kind = FftKind::from_real, t.inner *= 2;
  return t;
}
Var transformed(const Transform& t, const Var& x, std::int64_t wanted, bool complex_results) {
  const std::int64_t given = x.size(t.axis);
  const bool of_complex = is_complex(x.dtype());
  return record_one(t.op, {&x, 1}, transformed(t, x.value(), wanted, complex_results), {},
                    [t = transposed(t), given, of_complex](const RuleContext& c) {
                      return PoolVector<Var>{transformed(t, c.grads[0], given, of_complex)};
                    });
}

enum class FftNorm { backward, ortho, forward };
FftNorm norm_named(const char* op, std::string_view name) {
  if (name == "backward") return FftNorm::backward;
  if (name == "ortho") return FftNorm::ortho;
  if (name == "forward") return FftNorm::forward;
  throw Error(ErrorKind::value, std::string(op) + ": norm: expected \"backward\", \"ortho\" or \"forward\", got \"" +
                                    std::string(name) + "\"");
}
double scale_of(FftNorm norm, bool inverse, std::int64_t n) {
  const auto length = static_cast<double>(n);
  if (norm == FftNorm::ortho) return 1 / std::sqrt(length);
  return (norm == FftNorm::forward) != inverse ? 1 / length : 1;
}
void check_length(const char* op, std::int64_t n) {
  if (n < 1) throw Error(ErrorKind::shape, std::string(op) + ": n: expected at least 1, got " + std::to_string(n));
}
template <TensorOrVar X> void check_operand(const char* op, const X& x, bool real) {
  const Tensor& t = require_defined(op, "x", value_of(x));
  if (!is_differentiable(t.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": x: expected floating-point or complex numbers, got " +
                                      describe(t) + "; use .to(f32)");
  if (real && is_complex(t.dtype()))
    throw Error(ErrorKind::dtype,
                std::string(op) + ": x: expected real numbers, got " + describe(t) + "; take real(x), or fft of x");
}
/// In a dtype in which transforms are computed.
template <TensorOrVar X> X computed(const X& x) { return dtype_size(x.dtype()) == 2 ? X(x.to(DType::f32)) : x; }

/// How a family of functions transforms.
struct TransformFamily {
  const char* op;
  FftKind kind;
  bool inverse;
};
constexpr TransformFamily kFft{"fft", FftKind::complex, false}, kIfft{"ifft", FftKind::complex, true},
    kRfft{"rfft", FftKind::from_real, false}, kIrfft{"irfft", FftKind::to_real, true};

/// n: of the results; of what they are made in irfft, 0: by their count.
template <TensorOrVar X>
X along(const TransformFamily& way, const X& x, std::optional<std::int64_t> length, int axis, FftNorm norm) {
  const std::int64_t size = x.size(axis);
  const std::int64_t n = length ? *length : way.kind == FftKind::to_real ? 2 * (size - 1) : size;
  check_length(way.op, n);
  const Transform t{way.op, way.kind, axis, n, way.inverse, scale_of(norm, way.inverse, n)};
  return transformed(t, x, way.kind == FftKind::from_real ? n / 2 + 1 : n, way.kind != FftKind::to_real);
}
template <TensorOrVar X>
X one(const TransformFamily& way, const X& x, std::optional<std::int64_t> n, int axis, std::string_view norm) {
  check_operand(way.op, x, way.kind == FftKind::from_real);
  const int a = normalize_axis(way.op, axis, x.dim());
  return along(way, computed(x), n, a, norm_named(way.op, norm));
}

/// Axes of transforms, and the sizes that were asked for.
struct Along {
  std::vector<int> axes;
  std::vector<std::optional<std::int64_t>> sizes;
};
Along checked_axes(const char* op, const Tensor& x, const std::optional<Shape>& sizes,
                   const std::optional<Axes>& axes) {
  Along along;
  if (axes) axis_mask(op, *axes, x.dim());  // throws
  const int count = axes ? static_cast<int>(axes->size()) : sizes ? sizes->rank() : x.dim();
  if (sizes && sizes->rank() != count)
    throw Error(ErrorKind::shape, std::string(op) + ": sizes: expected one for each of " + std::to_string(count) +
                                      " axes, got " + to_string(*sizes));
  if (count > x.dim())
    throw Error(ErrorKind::shape, std::string(op) + ": sizes: expected at most " + std::to_string(x.dim()) + " for " +
                                      describe(x) + ", got " + std::to_string(count));
  if (sizes && std::ranges::any_of(*sizes, [](std::int64_t size) { return size < 1; }))
    throw Error(ErrorKind::shape, std::string(op) + ": sizes: expected at least 1 each, got " + to_string(*sizes));
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    along.axes.push_back(axes ? normalize_axis(op, (*axes)[at], x.dim()) : x.dim() - count + i);
    along.sizes.push_back(sizes ? std::optional<std::int64_t>((*sizes)[at]) : std::nullopt);
  }
  return along;
}
/// One after the other: from the last axis on, or to it where it gives real numbers. Scaled is once, where values do
/// not grow before, or where that costs nothing; two axes of as many numbers as there are go together.
std::vector<Transform> steps_of(const char* op, const TransformFamily& last, const Tensor& x, const Along& all,
                                FftNorm norm) {
  std::vector<Transform> steps;
  double scale = 1;
  for (std::size_t i = all.axes.size(); i-- > 0;) {
    const bool is_last = i + 1 == all.axes.size();
    const FftKind kind = is_last ? last.kind : FftKind::complex;
    const int axis = all.axes[i];
    const std::int64_t size = x.size(axis);
    const std::int64_t n = all.sizes[i] ? *all.sizes[i] : kind == FftKind::to_real ? 2 * (size - 1) : size;
    check_length(op, n);
    scale *= scale_of(norm, last.inverse, n);
    Transform* const before = steps.empty() ? nullptr : &steps.back();
    if (before && before->kind == FftKind::complex && kind == FftKind::complex && before->second < 0 &&
        before->axis != axis && before->n == x.size(before->axis) && n == size)
      before->second = axis;
    else steps.push_back({op, kind, axis, n, last.inverse, 1});
  }
  if (last.kind == FftKind::to_real) std::rotate(steps.begin(), steps.begin() + 1, steps.end());
  (last.kind == FftKind::to_real ? steps.back() : steps.front()).scale = scale;
  return steps;
}

template <TensorOrVar X>
X several(const char* op, const TransformFamily& last, const X& x, const std::optional<Shape>& sizes,
          const std::optional<Axes>& axes, std::string_view norm_name) {
  check_operand(op, x, last.kind == FftKind::from_real);
  const Along all = checked_axes(op, value_of(x), sizes, axes);
  const FftNorm norm = norm_named(op, norm_name);
  if (all.axes.empty()) {
    if (last.kind != FftKind::complex)
      throw Error(ErrorKind::shape,
                  std::string(op) + ": axes: expected at least one, got none of " + describe(value_of(x)));
    return x.to(complex_dtype(x.dtype()));
  }
  X y = computed(x);
  for (const Transform& t : steps_of(op, last, value_of(y), all, norm))
    y = transformed(t, y, t.kind == FftKind::from_real ? t.n / 2 + 1 : t.n, t.kind != FftKind::to_real);
  return y;
}

std::vector<double> frequencies(const char* op, std::int64_t n, double spacing, std::int64_t first, std::int64_t count,
                                DType dtype) {
  check_length(op, n);
  if (!is_floating(dtype))
    throw Error(ErrorKind::dtype, std::string(op) + ": dtype: expected a floating-point one, got " +
                                      std::string(to_string(dtype)));
  std::vector<double> list;
  for (std::int64_t i = first; i < first + count; ++i)
    list.push_back(static_cast<double>(i) / (static_cast<double>(n) * spacing));
  return list;
}

template <TensorOrVar X> X shifted(const char* op, const X& x, const Axes& axes, bool back) {
  require_defined(op, "x", value_of(x));
  if (!axes.empty()) axis_mask(op, axes, x.dim());  // throws
  X y = x;
  const auto shift = [&](int axis) {
    const std::int64_t half = x.size(axis) / 2;
    y = roll(y, back ? -half : half, axis);
  };
  if (axes.empty())
    for (int axis = 0; axis < x.dim(); ++axis) shift(axis);
  for (const std::int64_t axis : axes) shift(normalize_axis(op, axis, x.dim()));
  return y;
}

}  // namespace

namespace fft {

#define TERN_FFT_ALONG(name, way)                                                                               \
  template <TensorOrVar X> X name(const X& x, std::optional<std::int64_t> n, int axis, std::string_view norm) { \
    return one(way, x, n, axis, norm);                                                                          \
  }                                                                                                             \
  TERN_INSTANCES_1(ResultOf, name, std::optional<std::int64_t>, int, std::string_view)
TERN_FFT_ALONG(fft, kFft)
TERN_FFT_ALONG(ifft, kIfft)
TERN_FFT_ALONG(rfft, kRfft)
TERN_FFT_ALONG(irfft, kIrfft)

#define TERN_FFT_ALONG_SEVERAL(name, AxesOf, way)                                                    \
  template <TensorOrVar X>                                                                           \
  X name(const X& x, const std::optional<Shape>& sizes, const AxesOf& axes, std::string_view norm) { \
    return several(#name, way, x, sizes, axes, norm);                                                \
  }                                                                                                  \
  TERN_INSTANCES_1(ResultOf, name, const std::optional<Shape>&, const AxesOf&, std::string_view)
TERN_FFT_ALONG_SEVERAL(fftn, std::optional<Axes>, kFft)
TERN_FFT_ALONG_SEVERAL(ifftn, std::optional<Axes>, kIfft)
TERN_FFT_ALONG_SEVERAL(rfftn, std::optional<Axes>, kRfft)
TERN_FFT_ALONG_SEVERAL(irfftn, std::optional<Axes>, kIrfft)
TERN_FFT_ALONG_SEVERAL(fft2, Axes, kFft)
TERN_FFT_ALONG_SEVERAL(ifft2, Axes, kIfft)
TERN_FFT_ALONG_SEVERAL(rfft2, Axes, kRfft)
TERN_FFT_ALONG_SEVERAL(irfft2, Axes, kIrfft)

Tensor fftfreq(std::int64_t n, double spacing, const Options& options) {
  std::vector<double> list = frequencies("fftfreq", n, spacing, 0, (n + 1) / 2, options.dtype);
  const std::vector<double> negative = frequencies("fftfreq", n, spacing, -(n / 2), n / 2, options.dtype);
  list.insert(list.end(), negative.begin(), negative.end());
  return tensor(list, options.dtype, options.device);
}
Tensor rfftfreq(std::int64_t n, double spacing, const Options& options) {
  return tensor(frequencies("rfftfreq", n, spacing, 0, n / 2 + 1, options.dtype), options.dtype, options.device);
}
template <TensorOrVar X> X fftshift(const X& x, const Axes& axes) { return shifted("fftshift", x, axes, false); }
template <TensorOrVar X> X ifftshift(const X& x, const Axes& axes) { return shifted("ifftshift", x, axes, true); }
TERN_INSTANCES_1(ResultOf, fftshift, const Axes&)
TERN_INSTANCES_1(ResultOf, ifftshift, const Axes&)

}  // namespace fft

}  // namespace tern
