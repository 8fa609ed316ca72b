// Fourier transforms, of any length, along any axis, and what is made of them: spectrograms, convolutions.
//
//   const Tensor spectrum = fft::rfft(signal);                       // [.., n] real → [.., n/2 + 1] complex
//   const Tensor image = fft::irfft2(fft::rfft2(picture) * filter, picture.shape());
//
// x may be f32, f64, c64 or c128; f16 and bf16 are computed in f32; integers throw `dtype`. `n` is the length of a
// transform: longer axes are cut there, shorter ones filled up with zeros; without it, that of the axis. `norm` says
// where a factor stands: "backward" 1/n before inverse transforms, "forward" before the others, "ortho" 1/√n before
// both. Errors: kind `shape` for n < 1, `index` for axes that are not there, `value` for another norm.
//
// All are linear; the gradient is the transpose, which is one transform again, so derivatives exist to every order.
// That of a real operand is real. Errors are below 3·eps·log2(n) of the result's norm, at lengths that are primes, too.
// docs/fft.md says how they are computed.
#pragma once
#include <optional>
#include <string_view>

#include "tern/ops.hpp"
#include "tern/views.hpp"

namespace tern {

namespace fft {

/// y(k) = Σ_j x(j)·e^(-2πi·jk/n) along an axis: complex, also of real x.
template <TensorOrVar X>
X fft(const X& x, std::optional<std::int64_t> n = {}, int axis = -1, std::string_view norm = "backward");
/// The inverse of fft: y(j) = 1/n · Σ_k x(k)·e^(2πi·jk/n).
template <TensorOrVar X>
X ifft(const X& x, std::optional<std::int64_t> n = {}, int axis = -1, std::string_view norm = "backward");
/// The first n/2 + 1 results of fft of real numbers; the others are their conjugates, in reverse order. Complex x
/// throws `dtype`.
template <TensorOrVar X>
X rfft(const X& x, std::optional<std::int64_t> n = {}, int axis = -1, std::string_view norm = "backward");
/// The inverse of rfft: n real numbers of n/2 + 1 complex ones; n is 2·(size - 1) unless it is given. What would make
/// the result complex, the imaginary part of the first and (n even) of the last one, is not read.
template <TensorOrVar X>
X irfft(const X& x, std::optional<std::int64_t> n = {}, int axis = -1, std::string_view norm = "backward");

/// fft along each of the axes (default: all; the last ones where `sizes` is given), of these sizes.
template <TensorOrVar X>
X fftn(const X& x, const std::optional<Shape>& sizes = {}, const std::optional<Axes>& axes = {},
       std::string_view norm = "backward");
/// The inverse of fftn.
template <TensorOrVar X>
X ifftn(const X& x, const std::optional<Shape>& sizes = {}, const std::optional<Axes>& axes = {},
        std::string_view norm = "backward");
/// rfft along the last of the axes, fft along the others.
template <TensorOrVar X>
X rfftn(const X& x, const std::optional<Shape>& sizes = {}, const std::optional<Axes>& axes = {},
        std::string_view norm = "backward");
/// The inverse of rfftn; sizes are those of the result, of which the last is 2·(size - 1) unless they are given.
template <TensorOrVar X>
X irfftn(const X& x, const std::optional<Shape>& sizes = {}, const std::optional<Axes>& axes = {},
         std::string_view norm = "backward");
/// fftn along two axes.
template <TensorOrVar X>
X fft2(const X& x, const std::optional<Shape>& sizes = {}, const Axes& axes = {-2, -1},
       std::string_view norm = "backward");
/// The inverse of fft2.
template <TensorOrVar X>
X ifft2(const X& x, const std::optional<Shape>& sizes = {}, const Axes& axes = {-2, -1},
        std::string_view norm = "backward");
/// rfftn along two axes.
template <TensorOrVar X>
X rfft2(const X& x, const std::optional<Shape>& sizes = {}, const Axes& axes = {-2, -1},
        std::string_view norm = "backward");
/// The inverse of rfft2.
template <TensorOrVar X>
X irfft2(const X& x, const std::optional<Shape>& sizes = {}, const Axes& axes = {-2, -1},
         std::string_view norm = "backward");

/// The frequencies of fft's results for samples `spacing` apart: 0, 1, …, -2, -1, each over n·spacing.
Tensor fftfreq(std::int64_t n, double spacing = 1, const Options& options = {});
/// The frequencies of rfft's results: 0, 1, …, n/2, each over n·spacing.
Tensor rfftfreq(std::int64_t n, double spacing = 1, const Options& options = {});
/// x turned along axes (default: all) so that what stood first stands in the middle: frequency 0 of fft's results.
template <TensorOrVar X> X fftshift(const X& x, const Axes& axes = {});
/// The inverse of fftshift.
template <TensorOrVar X> X ifftshift(const X& x, const Axes& axes = {});

}  // namespace fft

// ---- windows: of n values; periodic ones, for spectra, are the first n of n + 1, else they are symmetric ----
/// 0.5 - 0.5·cos(2πi/n).
Tensor hann(std::int64_t n, bool periodic = true, const Options& options = {});
/// 0.54 - 0.46·cos(2πi/n).
Tensor hamming(std::int64_t n, bool periodic = true, const Options& options = {});
/// 0.42 - 0.5·cos(2πi/n) + 0.08·cos(4πi/n).
Tensor blackman(std::int64_t n, bool periodic = true, const Options& options = {});

struct StftOptions {
  std::int64_t hop = 0;  // from frame to frame; 0: a quarter of n
  Tensor window = {};    // [n]; none: ones
  bool center = true;    // frames stand around multiples of hop: x is padded by n/2 at both ends
  PadMode pad = PadMode::reflect;
  bool normalized = false;  // times 1/√n
  bool onesided = true;     // of real x the first n/2 + 1 frequencies
  bool return_complex = false;  // istft of all frequencies (onesided = false): complex samples; else their real part
  std::int64_t length = 0;  // of istft's result; 0: as many samples as the frames tell
};
/// Spectra of frames of n samples, as PyTorch's: x [.., samples] gives [.., frequencies, frames]. Complex x has all
/// frequencies.
template <TensorOrVar X> X stft(const X& x, std::int64_t n, const StftOptions& options = {});
/// The samples [.., length] of which a spectrogram [.., frequencies, frames] is the stft, those nearest to it in the
/// least squares' sense (Griffin and Lim, 1984). Where no window reaches, 0.
template <TensorOrVar X> X istft(const X& x, std::int64_t n, const StftOptions& options = {});

/// Σ_j a(j)·b(i - j) along the last axis, by transforms; the other axes broadcast. mode "full": all sums that are not
/// empty, of a's size plus b's less 1; "same": the a's size in the middle of these; "valid": those in which the shorter
/// one is whole.
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> convolve(const A& a, const B& b, std::string_view mode = "full");
/// Σ_j a(i + j)·conj(b(j)) along the last axis, i from 1 less b's size on: convolve with b reversed and conjugate.
template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> correlate(const A& a, const B& b, std::string_view mode = "full");

}  // namespace tern
