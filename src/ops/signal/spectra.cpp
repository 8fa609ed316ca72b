// What is made of Fourier transforms: windows, spectrograms, convolutions.
#include <cmath>
#include <numbers>
#include <string>

#include "autodiff/instances.hpp"
#include "formula/extremes.hpp"
#include "primitives/fused/operation_checks.hpp"
#include "primitives/fused/operation_complex.hpp"
#include "tern/complex.hpp"
#include "tern/fft.hpp"
#include "tern/neural.hpp"

namespace tern {

using namespace detail;

namespace {

/// a - b·cos(2πi/n) + c·cos(4πi/n), in f64.
Tensor cosines(const char* op, std::int64_t n, bool periodic, const Options& options, double a, double b, double c) {
  if (n < 0) throw Error(ErrorKind::shape, std::string(op) + ": n: expected at least 0, got " + std::to_string(n));
  if (!is_floating(options.dtype))
    refuse(op, "dtype", "a floating-point one", std::string(to_string(options.dtype)), ErrorKind::dtype);
  std::vector<double> values;
  const auto whole = static_cast<double>(periodic ? n : n - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const double at = n == 1 ? std::numbers::pi : 2 * std::numbers::pi * static_cast<double>(i) / whole;
    values.push_back(a - b * std::cos(at) + c * std::cos(2 * at));
  }
  return tensor(values, options.dtype, options.device);
}

struct Frames {
  std::int64_t n, hop, half;
};
Frames checked_frames(const char* op, const Tensor& x, std::int64_t n, const StftOptions& o) {
  require_defined(op, "x", x);
  if (!is_differentiable(x.dtype()))
    refuse(op, "x", "floating-point or complex numbers", describe(x), ErrorKind::dtype);
  if (n < 1) refuse(op, "n", "at least 1", std::to_string(n));
  if (o.hop < 0) refuse(op, "hop", "at least 1, or 0 for n/4", std::to_string(o.hop));
  if (o.window.defined()) {
    check_optional(op, "window", o.window, n, x);
  }
  return {n, o.hop ? o.hop : std::max<std::int64_t>(1, n / 4), n / 2};
}
const char* stft_norm(const StftOptions& o) { return o.normalized ? "ortho" : "backward"; }

/// The lines of the last axis as those of a matrix.
template <TensorOrVar X> X lines_of_last(const X& x) {
  return x.reshape({x.numel() / std::max<std::int64_t>(x.size(-1), 1), x.size(-1)});
}

/// Frames [lines, count, n] added up where they stand: [lines, (count - 1)·hop + n].
template <TensorOrVar X> X overlapped(const X& frames, std::int64_t hop) {
  const std::int64_t n = frames.size(-1), length = (frames.size(1) - 1) * hop + n;
  return fold(frames.transpose(1, 2), {length}, {n}, {.stride = hop}).reshape({frames.size(0), length});
}

/// A length from n on that has small prime factors.
std::int64_t quick_length(std::int64_t n) {
  for (;; ++n) {
    std::int64_t rest = n;
    for (const int prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return n;
  }
}
template <TensorOrVar T> void check_signal(const char* op, const char* name, const T& x) {
  const Tensor& t = require_defined(op, name, value_of(x));
  if (!is_differentiable(t.dtype()))
    refuse(op, name, "floating-point or complex numbers", describe(t) + "; use .to(f32)", ErrorKind::dtype);
  if (t.dim() == 0 || t.size(-1) == 0) refuse(op, name, "a last axis that is not empty", describe(t));
}
template <class R, TensorOrVar A, TensorOrVar B>
R convolved(const char* op, const A& a, const B& b, std::string_view mode) {
  if (mode != "full" && mode != "same" && mode != "valid")
    refuse(op, "mode", "\"full\", \"same\" or \"valid\"", "\"" + std::string(mode) + "\"", ErrorKind::value);
  const auto lines = [](Shape shape) { return shape.resize(shape.rank() - 1), shape; };
  broadcast_shapes(op, lines(a.shape()), lines(b.shape()));
  const std::int64_t of_a = a.size(-1), of_b = b.size(-1), all = of_a + of_b - 1, length = quick_length(all);
  R y;
  if (is_complex(a.dtype()) || is_complex(b.dtype())) {
    y = fft::ifft(fft::fft(a, length) * fft::fft(b, length), length);
  } else {
    y = fft::irfft(fft::rfft(a, length) * fft::rfft(b, length), length);
  }
  const std::int64_t size = mode == "full"   ? all
                            : mode == "same" ? of_a
                                             : std::max(of_a, of_b) - std::min(of_a, of_b) + 1;
  const std::int64_t begin = mode == "full" ? 0 : (all - size) / 2;
  const DType dtype = promote_types(a.dtype(), b.dtype());
  y = y.slice(-1, begin, begin + size);
  return dtype_size(dtype) == 2 ? R(y.to(dtype)) : y;
}

}  // namespace

Tensor hann(std::int64_t n, bool periodic, const Options& options) {
  return cosines("hann", n, periodic, options, 0.5, 0.5, 0);
}
Tensor hamming(std::int64_t n, bool periodic, const Options& options) {
  return cosines("hamming", n, periodic, options, 0.54, 0.46, 0);
}
Tensor blackman(std::int64_t n, bool periodic, const Options& options) {
  return cosines("blackman", n, periodic, options, 0.42, 0.5, 0.08);
}

template <TensorOrVar X> X stft(const X& x, std::int64_t n, const StftOptions& o) {
  constexpr const char* op = "stft";
  const Frames f = checked_frames(op, value_of(x), n, o);
  if (x.dim() == 0) refuse(op, "x", "at least one axis", describe(value_of(x)));
  const std::int64_t samples = x.size(-1) + (o.center ? 2 * f.half : 0);
  if (samples < n || (o.center && o.pad == PadMode::reflect && f.half >= x.size(-1)))
    refuse(op, "x", "more samples for frames of " + std::to_string(n), describe(value_of(x)));
  X padded = dtype_size(x.dtype()) == 2 ? X(x.to(DType::f32)) : x;
  if (o.center) padded = pad(padded, {{f.half, f.half}}, o.pad);
  X frames = sliding_window_view(padded, n, -1);  // [.., places, n]
  frames = frames.slice(-2, 0, frames.size(-2), f.hop);
  if (o.window.defined()) frames = frames * o.window.to(real_dtype(padded.dtype()));
  const bool half = o.onesided && !is_complex(x.dtype());
  return (half ? fft::rfft(frames, n, -1, stft_norm(o)) : fft::fft(frames, n, -1, stft_norm(o))).transpose(-1, -2);
}
template <TensorOrVar X> X istft(const X& x, std::int64_t n, const StftOptions& o) {
  constexpr const char* op = "istft";
  const Frames f = checked_frames(op, value_of(x), n, o);
  const std::int64_t frequencies = o.onesided ? n / 2 + 1 : n;
  if (!is_complex(x.dtype())) refuse(op, "x", "complex numbers", describe(value_of(x)), ErrorKind::dtype);
  if (o.length < 0) refuse(op, "length", "at least 1, or 0 for that of the frames", std::to_string(o.length));
  if (x.dim() < 2 || x.size(-2) != frequencies || x.size(-1) < 1)
    refuse(op, "x", "[.., " + std::to_string(frequencies) + ", frames]", describe(value_of(x)));
  if (o.return_complex) {
    if (o.onesided) refuse(op, "onesided", "false where complex samples are wanted", "true", ErrorKind::value);
    StftOptions parts = o;
    parts.return_complex = false;
    return make_complex(istft(x, n, parts), istft(make_complex(imag(x), -real(x)), n, parts));
  }
  const X spectra = x.transpose(-1, -2);
  X frames = o.onesided ? fft::irfft(spectra, n, -1, stft_norm(o)) : real(fft::ifft(spectra, n, -1, stft_norm(o)));
  const Tensor window = o.window.defined()
                            ? o.window.to(frames.dtype())
                            : ones({n}, {.dtype = frames.dtype(), .device = value_of(x).device()});
  Shape shape = x.shape();
  const std::int64_t count = x.size(-1);
  shape.resize(x.dim() - 2);
  const std::int64_t lines = shape.numel();
  const X sums = overlapped(X((frames * window).reshape({lines, count, n})), f.hop);
  const Tensor weights = overlapped((window * window).broadcast_to({1, count, n}), f.hop);
  X y = sums / where(weights > 1e-11, weights, 1);
  const std::int64_t begin = o.center ? f.half : 0, all = y.size(-1);
  const std::int64_t end = o.length ? size_plus(op, begin, o.length) : o.center ? all - f.half : all;
  if (end > all) y = pad(y, {{0, end - all}});
  shape.push_back(end - begin);
  return y.slice(-1, begin, end).reshape(shape);
}
TERN_INSTANCES_1(ResultOf, stft, std::int64_t, const StftOptions&)
TERN_INSTANCES_1(ResultOf, istft, std::int64_t, const StftOptions&)

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> convolve(const A& a, const B& b, std::string_view mode) {
  check_signal("convolve", "a", a), check_signal("convolve", "b", b);
  return convolved<ResultOf<A, B>>("convolve", a, b, mode);
}
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> correlate(const A& a, const B& b, std::string_view mode) {
  check_signal("correlate", "a", a), check_signal("correlate", "b", b);
  const B flipped = flip(b, {-1});
  return convolved<ResultOf<A, B>>("correlate", a, is_complex(b.dtype()) ? B(conj(flipped)) : flipped, mode);
}
TERN_INSTANCES_2(ResultOf, convolve, std::string_view)
TERN_INSTANCES_2(ResultOf, correlate, std::string_view)

}  // namespace tern
