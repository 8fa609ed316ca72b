// A coordinate network: a small network learns a picture as a function of the place, (x, y) to (red, green, blue). Its
// step is recorded once and replayed; the learning rate falls from replay to replay.
#include <cmath>
#include <fstream>

#include "program.hpp"

namespace {

using tern::Tensor;
using tern::Var;

constexpr std::int64_t kSide = 48, kFrequencies = 32, kWidth = 64;

/// The picture: rings around a corner, with colours that turn.
Tensor picture(const Tensor& places) {
  const Tensor x = places.transpose(0, 1)[0], y = places.transpose(0, 1)[1], radius = sqrt(x * x + y * y);
  return tern::stack({0.5 + 0.5 * sin(9 * radius), 0.5 + 0.5 * cos(7 * x), 0.5 + 0.5 * sin(6 * y + 2 * x)}, -1);
}

struct Network {
  Tensor frequencies;  // [2, kFrequencies], fixed
  std::vector<Var> parameters;

  explicit Network(tern::Generator& random) : frequencies(randn({2, kFrequencies}, random) * 4) {
    const auto layer = [&](std::int64_t in, std::int64_t out) {
      parameters.push_back(tern::parameter(randn({in, out}, random) * std::sqrt(1.0 / static_cast<double>(in))));
      parameters.push_back(tern::parameter(tern::zeros({out})));
    };
    layer(2 * kFrequencies, kWidth), layer(kWidth, kWidth), layer(kWidth, 3);
  }
  Var operator()(const Tensor& places) const {
    const Tensor angles = matmul(places, frequencies);
    const Tensor features = concatenate(std::vector{sin(angles), cos(angles)}, -1);
    Var h = matmul_bias_activation(features, parameters[0], parameters[1], tern::op::silu);
    h = matmul_bias_activation(h, parameters[2], parameters[3], tern::op::silu);
    return matmul_bias_activation(h, parameters[4], parameters[5], tern::op::sigmoid);
  }
};

void save(const std::string& path, const Tensor& colours) {
  std::ofstream out(path);
  out << "P3\n" << kSide << ' ' << kSide << "\n255\n";
  for (const float c : colours.to_vector<float>()) out << std::lround(255 * std::min(1.0f, std::max(0.0f, c))) << '\n';
  if (!out.flush()) throw tern::Error(tern::ErrorKind::io, "the picture cannot be written to " + path);
}

bool learn(int steps, std::uint64_t seed, const std::string& path) {
  tern::Generator random{seed};
  const Tensor line = tern::linspace(-1, 1, kSide);
  const Tensor places = tern::stack({line.unsqueeze(0).broadcast_to({kSide, kSide}),
                                     line.unsqueeze(1).broadcast_to({kSide, kSide})}, -1).reshape({-1, 2});
  const Tensor wanted = picture(places);
  const Network network(random);
  tern::optim::AdamW optimizer(network.parameters, {.learning_rate = 1e-2, .weight_decay = 0});

  Tensor loss;
  const tern::Graph step = capture(tern::default_device(), [&] {
    // Half of the places count in a step: which ones changes from replay to replay.
    const Tensor chosen = (rand({kSide * kSide, 1}, random) < 0.5).to(tern::f32);
    const Var error = (chosen * square(network(places) - wanted)).mean();
    tern::Gradients gradients = backward(error);
    tern::optim::clip_grad_norm(gradients, network.parameters, 1.0);
    optimizer.step(gradients);
    loss = error.value();
  });
  for (int i = 0; i < steps; ++i) {
    optimizer.set_learning_rate(1e-2 * 0.5 * (1 + std::cos(M_PI * i / steps)));
    step.replay();
    if (i % 100 == 0) std::printf("step %4d  loss %.5f\n", i, loss.item<double>());
  }
  const tern::NoGrad quiet;
  const Tensor learned = network(places).value();
  const double error = square(learned - wanted).mean().item<double>(), decibels = -10 * std::log10(error);
  std::printf("after %d steps the picture is right to %.1f dB\n", steps, decibels);
  if (!path.empty()) save(path, learned);
  return decibels > 25;
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 400;
  std::uint64_t seed = 1;
  std::string path;
  return run_program(
      argc, argv, "Learns a picture as a function of the place.",
      [&](CLI::App& app) {
        app.add_option("--steps", steps, "Steps of training")->check(CLI::PositiveNumber)->capture_default_str();
        app.add_option("--seed", seed, "Seed of the network")->capture_default_str();
        app.add_option("--output", path, "Where the learned picture goes (PPM)")->type_name("FILE");
      },
      [&] { return learn(steps, seed, path); });
}
