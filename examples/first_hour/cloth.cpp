// Cloth through time: a square of particles and springs hangs from two corners and falls; the gradient of where its
// free corner ends with respect to the springs' stiffness and the wind goes back through every step.
#include <cmath>

#include "program.hpp"

namespace {

using tern::Tensor;
using tern::Var;

constexpr double kStep = 0.01, kDrag = 0.5;

/// The forces of springs between neighbours along an axis of positions [side, side, 3], on all particles.
Var spring_forces(const Var& p, const Var& stiffness, double rest, int axis) {
  const std::int64_t side = p.size(axis);
  const Var between = p.slice(axis, 1, side) - p.slice(axis, 0, side - 1);
  const Var length = sqrt(square(between).sum(-1, true));
  const Var pull = stiffness * (1 - rest / length) * between;
  tern::Shape edge = pull.shape();
  edge[static_cast<std::size_t>(axis)] = 1;
  const Var none = tern::constant(tern::zeros(edge, {.dtype = p.dtype()}));
  return concatenate(std::vector{pull, none}, axis) - concatenate(std::vector{none, pull}, axis);
}

/// Where the free corner is after so many steps, [3].
Var fall(std::int64_t side, int steps, const Var& stiffness, const Var& wind) {
  const tern::DType dtype = stiffness.dtype();
  const double rest = 1.0 / static_cast<double>(side - 1);
  const Tensor line = tern::linspace(0, 1, side, {.dtype = dtype});
  const Tensor x = line.unsqueeze(0).broadcast_to({side, side}), z = line.unsqueeze(1).broadcast_to({side, side});
  Var p = tern::constant(tern::stack({x, 0 * x, z}, -1)), v = 0 * p;
  // Two corners are held.
  Tensor moves = tern::ones({side, side, 1}, {.dtype = dtype});
  moves[0][0] *= 0, moves[0][side - 1] *= 0;
  const Tensor gravity = tern::tensor({0.0, -9.81, 0.0}, dtype);
  for (int i = 0; i < steps; ++i) {
    const Var forces = spring_forces(p, stiffness, rest, 0) + spring_forces(p, stiffness, rest, 1);
    v += kStep * moves * (forces + gravity + wind - kDrag * v);
    p += kStep * v;
  }
  return p[side - 1][side - 1];
}

bool simulate(std::int64_t side, int steps) {
  const tern::DefaultDType precise(tern::f64);
  const Tensor stiffness = tern::full({}, 400), wind = tern::tensor({0.3, 0.0, 1.0});
  const auto height = [&](const Var& k, const Var& w) { return fall(side, steps, k, w)[1]; };
  const auto [value, gradients] = tern::value_and_grad(height)(stiffness, wind);
  const auto& [d_stiffness, d_wind] = gradients;
  std::cout << "the free corner is at height " << value << "; by stiffness " << d_stiffness << ", by wind " << d_wind
            << '\n';

  // The same by central differences.
  const auto at = [&](double k, double z) {
    return height(tern::constant(stiffness + k), tern::constant(wind + tern::tensor({0.0, 0.0, z}))).item<double>();
  };
  const double by_stiffness = (at(0.01, 0) - at(-0.01, 0)) / 0.02, by_wind = (at(0, 1e-4) - at(0, -1e-4)) / 2e-4;
  const auto close = [](double got, double expected) {
    return std::abs(got - expected) <= 1e-5 * std::abs(expected) + 1e-9;
  };
  const bool right = close(d_stiffness.item<double>(), by_stiffness) && close(d_wind[2].item<double>(), by_wind);
  std::printf("by differences: %.8g, %.8g: %s\n", by_stiffness, by_wind, right ? "the same" : "NOT the same");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t side = 12;
  int steps = 150;
  return run_program(
      argc, argv, "Lets a cloth fall, and differentiates where it ends; needs a device with f64.",
      [&](CLI::App& app) {
        app.add_option("--side", side, "Particles along a side")->check(CLI::Range(2, 1024))->capture_default_str();
        app.add_option("--steps", steps, "Steps of 10 ms")->check(CLI::PositiveNumber)->capture_default_str();
      },
      [&] { return simulate(side, steps); });
}
