// A chirp among noise, its spectrogram, and the signal that is left when noise is taken away by gradient: of all
// signals near the noisy one, one whose spectrogram is 0 in most places.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <string>

#include "heat_map.hpp"

namespace {

using tern::Tensor;
using tern::Var;

constexpr std::int64_t kSamples = 8192;
constexpr double kRate = 8000;  // samples a second
constexpr std::int64_t kFrame = 256;

struct Settings {
  std::string device, output = "spectrogram.svg";
  int steps = 100;
  double noise = 0.7, sparsity = 0.8;
  std::uint64_t seed = 1;
};

/// A tone that rises from 200 Hz to 3 kHz, and fades in and out.
Tensor chirp() {
  const Tensor t = tern::arange(0, kSamples, 1).to(tern::f32) / kRate;
  const double length = kSamples / kRate, from = 200, to = 3000;
  const Tensor phase = 2 * std::numbers::pi * (from * t + (to - from) / (2 * length) * tern::square(t));
  return sin(phase) * sin(std::numbers::pi / length * t);
}

/// [.., samples] → [.., frequencies, frames], complex.
const tern::StftOptions& frames() {
  static const tern::StftOptions options{.hop = kFrame / 4, .window = tern::hann(kFrame), .normalized = true};
  return options;
}

/// |y - noisy|² / 2 + sparsity·Σ |stft(y)|, made small by gradient.
Tensor denoised(const Tensor& noisy, const Settings& s) {
  const Var y = parameter(noisy.clone());
  tern::optim::AdamW optimizer({y}, {.learning_rate = 0.03, .weight_decay = 0});
  for (int step = 0; step < s.steps; ++step) {
    const Var spectrum = stft(y, kFrame, frames());
    const Var loss = 0.5 * sum(square(y - noisy)) + s.sparsity * sum(abs(spectrum));
    optimizer.step(backward(loss));
  }
  return y.value();
}

/// How much of x is signal, in decibels.
double signal_to_noise(const Tensor& x, const Tensor& signal) {
  const Tensor ratio = sum(square(signal)) / sum(square(x - signal));
  return 10 * std::log10(ratio.item<float>());
}

/// Loudness in decibels, low frequencies below.
pictures::HeatMap panel(const std::string& name, const Tensor& x, const Tensor& signal) {
  const Tensor loudness = 20 / std::log(10.0) * log(abs(stft(x, kFrame, frames())) + 1e-4);
  char title[80];
  std::snprintf(title, sizeof title, "%s (%.1f dB)", name.c_str(), signal_to_noise(x, signal));
  return {title, flip(loudness, {0}), -40, 15, 300, 220};
}

bool run(const Settings& s) {
  tern::Generator random{s.seed};
  const Tensor signal = chirp(), noisy = signal + s.noise * tern::randn({kSamples}, random);
  const Tensor found = denoised(noisy, s);
  const double before = signal_to_noise(noisy, signal), after = signal_to_noise(found, signal);
  std::printf("signal to noise: %.1f dB before, %.1f dB after %d steps\n", before, after, s.steps);
  pictures::HeatMap clean = panel("the chirp", signal, signal);
  clean.title = "the chirp";
  pictures::write(
      s.output,
      pictures::heat_maps({clean, panel("with noise", noisy, signal), panel("after the descent", found, signal)}, 3));
  std::printf("wrote %s\n", s.output.c_str());
  return after > before + 6;
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Takes noise away from a chirp by gradient through its spectrogram, and draws the spectrograms."};
  app.add_option("--device", s.device, "cpu, webgpu, ... (default: TERN_DEVICE, else cpu)")->type_name("NAME");
  app.add_option("--steps", s.steps, "Steps of the descent")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--noise", s.noise, "Standard deviation of the noise")->capture_default_str();
  app.add_option("--sparsity", s.sparsity, "Weight of the spectrogram's absolute values")->capture_default_str();
  app.add_option("--seed", s.seed, "Seed of the noise")->capture_default_str();
  app.add_option("--output", s.output, "File of the picture")->type_name("FILE")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (!s.device.empty()) tern::set_default_device(tern::Device::parse(s.device));
    return run(s) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "spectrogram: %s\n", e.what());
    return 2;
  }
}
