// A physics-informed network for the Poisson equation -u'' = f on (0, 1) with u(0) = u(1) = 0: the loss holds the
// second derivative of the network by its input, and training differentiates that again by the weights.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <numbers>
#include <stdexcept>
#include <vector>

#include <tern/tern.hpp>

#include "plot.hpp"

namespace poisson {
namespace {

using tern::Tensor;
using tern::Var;

struct Settings {
  std::string device, output = "poisson.svg";
  int steps = 2000, width = 24, points = 64;
  std::uint64_t seed = 1;
  double learning_rate = 5e-3;
};

/// A container that tern's transforms take: see Fields below.
template <class T> struct Network {
  T w1, b1, w2, b2, w3;
};

}  // namespace
}  // namespace poisson

template <class T> struct tern::Fields<poisson::Network<T>> {
  static auto tie(auto& n) { return std::tie(n.w1, n.b1, n.w2, n.b2, n.w3); }
};

namespace poisson {
namespace {

constexpr double kPi = std::numbers::pi;

/// u(x) = x(1 - x)·network(x): the boundary values hold by construction. x is [N, 1].
Var solution(const Network<Var>& n, const Var& x) {
  const Var h1 = matmul_bias_activation(x, n.w1, n.b1, tern::op::silu);
  const Var h2 = matmul_bias_activation(h1, n.w2, n.b2, tern::op::silu);
  return matmul(h2, n.w3) * x * (1 - x);
}
/// u = sin(πx) + ½ sin(3πx), hence f = -u'' = π² sin(πx) + 4.5π² sin(3πx).
Tensor exact(const Tensor& x) { return sin(kPi * x) + 0.5 * sin(3 * kPi * x); }
Tensor source(const Tensor& x) { return kPi * kPi * sin(kPi * x) + 4.5 * kPi * kPi * sin(3 * kPi * x); }

/// Mean square of u'' + f. Each u(x) depends on its own x only, so the gradient of the sum is u'.
Var loss(const Network<Var>& n, const Tensor& x, const Tensor& f) {
  const auto total = [&](const Var& at) { return sum(solution(n, at)); };
  const auto slope = [&](const Var& at) { return sum(tern::grad(total)(at)); };
  return mean(square(tern::grad(slope)(Var(x)) + f));
}

Network<Var> initial(const Settings& s, tern::Generator& random) {
  const auto layer = [&](std::int64_t in, std::int64_t out, double scale) {
    return Var(randn({in, out}, random) * (scale / std::sqrt(static_cast<double>(in))));
  };
  // The units of the first layer bend at -b/w: spread over the interval.
  const Var w1 = layer(1, s.width, 6), b1(randn({s.width}, random) * 3);
  return {w1, b1, layer(s.width, s.width, 1.4), Var(tern::zeros({s.width})), layer(s.width, 1, 1)};
}

struct Result {
  Curve curve;
  double worst = 0, loss = 0;
};
Result train(const Settings& s) {
  tern::Generator random{s.seed};
  const Network<Var> n = initial(s, random);
  const Tensor x = tern::linspace(0, 1, s.points).reshape({s.points, 1}), f = source(x);
  tern::optim::AdamW optimiser({n.w1, n.b1, n.w2, n.b2, n.w3}, {.learning_rate = s.learning_rate, .weight_decay = 0});
  Result result;
  for (int step = 0; step < s.steps; ++step) {
    optimiser.set_learning_rate(s.learning_rate * 0.5 * (1 + std::cos(kPi * step / s.steps)));
    const Var value = loss(n, x, f);
    optimiser.step(backward(value));
    if (step % (s.steps / 10 + 1) == 0 || step + 1 == s.steps) {
      result.loss = value.item<float>();
      std::printf("step %5d  loss %.3e\n", step + 1, result.loss);
    }
  }
  const Tensor fine = tern::linspace(0, 1, 401).reshape({401, 1});
  const auto doubles = [](const Tensor& t) {
    const std::vector<float> values = t.to_vector<float>();
    return std::vector<double>(values.begin(), values.end());
  };
  result.curve = {doubles(fine), doubles(solution(n, Var(fine, false)).value()), doubles(exact(fine))};
  for (std::size_t i = 0; i < 401; ++i)
    result.worst = std::max(result.worst, std::abs(result.curve.solution[i] - result.curve.exact[i]));
  return result;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace
}  // namespace poisson

int main(int argc, char** argv) {
  poisson::Settings s;
  CLI::App app{"Solves -u'' = f on (0, 1), u(0) = u(1) = 0, with a small network, and draws the solution."};
  app.add_option("--device", s.device, "cpu, webgpu, ... (default: TERN_DEVICE, else cpu)")->type_name("NAME");
  app.add_option("--steps", s.steps, "Training steps")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--width", s.width, "Units of each hidden layer")->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--points", s.points, "Points where the equation is held")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  app.add_option("--learning-rate", s.learning_rate, "At the start; falls to 0 along a cosine")
      ->check(CLI::Range(1e-9, 10.0))
      ->capture_default_str();
  app.add_option("--seed", s.seed, "Seed of the weights")->capture_default_str();
  app.add_option("--output", s.output, "File of the picture")->type_name("FILE")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (!s.device.empty()) tern::set_default_device(tern::Device::parse(s.device));
    const poisson::Result result = poisson::train(s);
    char text[120];
    std::snprintf(text, sizeof text, "largest error %.2e of a solution of size 1.1, loss %.1e", result.worst,
                  result.loss);
    std::printf("%s\n", text);
    poisson::write(s.output, poisson::plot(result.curve, text));
    std::printf("wrote %s\n", s.output.c_str());
    return result.worst <= 1e-3 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "poisson: %s\n", e.what());
    return 2;
  }
}
