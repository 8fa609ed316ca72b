// Entries of what is made of Fourier transforms (spectra.cpp), and of frequencies and shifts (fft.cpp).
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/creation/created.trial.hpp"
#include "ops/moved.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

constexpr Tolerance kCosines{2, "sums of two or three cosines in f64, rounded once", 1};

Entry creation_of(const char* name, const char* arguments, const char* says, Tolerance tolerance,
                  std::vector<Sample> samples, std::vector<BadInput> bad) {
  Entry e{};
  e.name = name, e.family = Family::fourier, e.arguments = arguments, e.says = says, e.differentiable = false;
  e.tolerance = tolerance, e.samples = std::move(samples), e.bad = std::move(bad);
  return e;
}

const Entries windows_and_frequencies{
    creation_of("fftfreq", "n, spacing = 1, options = {}",
                "The frequencies of fft's results for samples `spacing` apart: 0, 1, …, -2, -1, each over n·spacing",
                kGiven, creates([] { return fft::fftfreq(4, 0.5); }, {4}, {0, 0.5, -1, -0.5}),
                {{shape, {"fftfreq", "n", "0"}, [](auto) { fft::fftfreq(0); }}}),
    creation_of("rfftfreq", "n, spacing = 1, options = {}",
                "The frequencies of rfft's results: 0, 1, …, n/2, each over n·spacing", kGiven,
                creates([] { return fft::rfftfreq(4, 0.5); }, {3}, {0, 0.5, 1}),
                {{shape, {"rfftfreq", "n", "0"}, [](auto) { fft::rfftfreq(0); }}}),
    creation_of("hann", "n, periodic = true, options = {}", "0.5 - 0.5·cos(2πi/n)", kCosines,
                creates([] { return hann(4); }, {4}, {0, 0.5, 1, 0.5}),
                {{shape, {"hann", "n", "-1"}, [](auto) { hann(-1); }}}),
    creation_of("hamming", "n, periodic = true, options = {}", "0.54 - 0.46·cos(2πi/n)", kCosines,
                creates([] { return hamming(3, false); }, {3}, {0.08, 1, 0.08}),
                {{dtype, {"hamming", "i32"}, [](auto) { hamming(4, true, {.dtype = i32}); }}}),
    creation_of("blackman", "n, periodic = true, options = {}", "0.42 - 0.5·cos(2πi/n) + 0.08·cos(4πi/n)", kCosines,
                creates([] { return blackman(4); }, {4}, {0, 0.34, 1, 0.34}),
                {{shape, {"blackman", "n", "-1"}, [](auto) { blackman(-1); }}}),
};

/// x turned by these rows and columns.
std::vector<Values> rolled(const Values& x, std::int64_t rows, std::int64_t columns) {
  return {moved_one(x, x.shape, [=](const Shape& shape, const At& at) {
    const std::int64_t n = shape[0], m = shape[1];
    return number_at(shape, {(at[0] + n - rows) % n, (at[1] + m - columns) % m});
  })};
}

std::vector<Shape> line_and_row(Sizes s) { return {{s.rows, s.columns}, {s.columns}}; }
/// Σ_j a(j)·b(i - j) of each row, b read backwards where `reversed`.
std::vector<Values> products_of_lines(const std::vector<Values>& x, bool reversed) {
  const auto n = x[0].shape[1], all = 2 * n - 1;
  Values y{{x[0].shape[0], all}, {}};
  for (std::int64_t r = 0; r < x[0].shape[0]; ++r)
    for (std::int64_t i = 0; i < all; ++i) {
      double sum = 0;
      for (std::int64_t j = std::max<std::int64_t>(0, i - n + 1); j <= std::min(i, n - 1); ++j) {
        const std::int64_t at = i - j;
        sum += x[0].of[static_cast<std::size_t>(r * n + j)] *
               x[1].of[static_cast<std::size_t>(reversed ? n - 1 - at : at)];
      }
      y.of.push_back(sum);
    }
  return {y};
}
constexpr Tolerance kTransformProducts{200, "products of transforms of up to 80 elements, sums of 37 products", 1};

constexpr std::int64_t kSignalSamples = 16, kFrame = 8;
std::vector<Shape> signals(Sizes s) { return {{s.rows, kSignalSamples}}; }
std::vector<Values> spectrogram(const std::vector<Values>& x) {
  constexpr std::int64_t kHop = 4, kFrames = (kSignalSamples - kFrame) / kHop + 1;
  Values y{{x[0].shape[0], kFrame / 2 + 1, kFrames, 2}, {}};
  for (std::int64_t r = 0; r < x[0].shape[0]; ++r)
    for (std::int64_t k = 0; k <= kFrame / 2; ++k)
      for (std::int64_t f = 0; f < kFrames; ++f) {
        std::complex<double> sum = 0;
        for (std::int64_t j = 0; j < kFrame; ++j)
          sum += x[0].of[static_cast<std::size_t>(r * kSignalSamples + f * kHop + j)] *
                 std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k) / static_cast<double>(kFrame));
        y.of.push_back(sum.real()), y.of.push_back(sum.imag());
      }
  return {y};
}
constexpr Tolerance kFramed{40, "transforms of frames of 8 samples", 1};

const Entries signal_processing{
    {.name = "fftshift",
     .family = Family::fourier,
     .arguments = "x, axes = {}",
     .says = "x turned along axes (default: all) so that what stood first stands in the middle: frequency 0 of fft's "
             "results",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return fft::fftshift(x); },
                  .reference = [](const auto& x) { return rolled(x[0], x[0].shape[0] / 2, x[0].shape[1] / 2); }}},
     .bad = {{index,
              {"fftshift", "axis"},
              [](auto make) {
                fft::fftshift(make({2, 3}), {2});
              }}}},
    {.name = "ifftshift",
     .family = Family::fourier,
     .arguments = "x, axes = {}",
     .says = "The inverse of fftshift",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return fft::ifftshift(x); },
                  .reference =
                      [](const auto& x) {
                        const std::int64_t n = x[0].shape[0], m = x[0].shape[1];
                        return rolled(x[0], n - n / 2, m - m / 2);
                      }}},
     .bad = {{index,
              {"ifftshift", "axis"},
              [](auto make) {
                fft::ifftshift(make({2, 3}), {2});
              }}}},
    {.name = "convolve",
     .family = Family::fourier,
     .arguments = "a, b, mode = \"full\"",
     .says = "Σ_j a(j)·b(i - j) along the last axis, by transforms; the other axes broadcast",
     .tolerance = kTransformProducts,
     .samples = {{.shapes = line_and_row,
                  .call = [](const auto& a, const auto& b) { return convolve(a, b); },
                  .reference = [](const auto& x) { return products_of_lines(x, false); },
                  .empty = {}}},
     .bad = {{value, {"convolve", "mode", "half"}, [](auto make) { convolve(make({3}), make({2}), "half"); }},
             {shape, {"convolve", "b"}, [](auto make) { convolve(make({3}), make({0})); }}}},
    {.name = "correlate",
     .family = Family::fourier,
     .arguments = "a, b, mode = \"full\"",
     .says = "Σ_j a(i + j)·conj(b(j)) along the last axis, i from 1 less b's size on: convolve with b reversed and "
             "conjugate",
     .tolerance = kTransformProducts,
     .samples = {{.shapes = line_and_row,
                  .call = [](const auto& a, const auto& b) { return correlate(a, b); },
                  .reference = [](const auto& x) { return products_of_lines(x, true); },
                  .empty = {}}},
     .bad = {{value, {"correlate", "mode", "half"}, [](auto make) { correlate(make({3}), make({2}), "half"); }}}},
    {.name = "stft",
     .family = Family::fourier,
     .arguments = "x, n, options = {}",
     .says = "Spectra of frames of n samples, as PyTorch's: x [.., samples] gives [.., frequencies, frames]",
     .tolerance = kFramed,
     .samples = {{.shapes = signals,
                  .call = [](const auto& x) { return view_as_real(stft(x, kFrame, {.hop = 4, .center = false})); },
                  .reference = spectrogram,
                  .empty = {}}},
     .bad = {{shape, {"stft", "x", "8"}, [](auto make) { stft(make({4}), 8); }},
             {shape, {"stft", "hop", "-1"}, [](auto make) { stft(make({16}), 8, {.hop = -1}); }}}},
    {.name = "istft",
     .family = Family::fourier,
     .arguments = "x, n, options = {}",
     .says = "The samples [.., length] of which a spectrogram [.., frequencies, frames] is the stft, those nearest to "
             "it in the least squares' sense (Griffin and Lim, 1984)",
     .tolerance = kFramed,
     .samples = {{.shapes = signals,
                  .call =
                      [](const auto& x) {
                        return istft(stft(x, kFrame, {.hop = 2}), kFrame, {.hop = 2, .length = kSignalSamples});
                      },
                  .reference = [](const auto& x) { return x; },
                  .knows_results = true,
                  .empty = {}}},
     .bad = {{dtype,
              {"istft", "x", "complex"},
              [](auto make) {
                istft(make({5, 3}), 8);
              }},
             {shape, {"istft", "length", "-1"}, [](auto make) { istft(stft(make({16}), 8), 8, {.length = -1}); }}}},
};

}  // namespace
}  // namespace tern::operations
