// Inverse kinematics: the joint angles with which many planar arms of three links reach one point each, by damped least
// squares (Levenberg-Marquardt) with the Jacobian of forward mode.
#include "program.hpp"

namespace {

using tern::Tensor;
using tern::Var;

constexpr double kLinks[] = {1.0, 0.8, 0.5};

/// Where the hand is: angles [N, 3], each relative to the link before, to [N, 2].
Var hand(const Var& angles) {
  Var heading, x, y;  // sums start from nothing
  for (int joint = 0; joint < 3; ++joint) {
    heading += angles.transpose(0, 1)[joint];
    x += kLinks[joint] * cos(heading);
    y += kLinks[joint] * sin(heading);
  }
  return tern::stack({x, y}, -1);
}

/// One step of least squares: Jᵀ (J·Jᵀ + λ·I)⁻¹ e.
Tensor step_towards(const Tensor& target, const Tensor& angles, double damping) {
  const Tensor error = target - hand(tern::constant(angles)).value();
  const Tensor jacobian = tern::batched_jacobian(hand, angles);                                // [N, 2, 3]
  const Tensor normal = matmul(jacobian, jacobian.transpose(1, 2)) + damping * tern::eye(2);  // [N, 2, 2]
  const Tensor solved = tern::linalg::solve(normal, error.unsqueeze(-1));
  return matmul(jacobian.transpose(1, 2), solved).squeeze(-1);
}

bool solve(std::int64_t arms, int steps, std::uint64_t seed) {
  tern::Generator random{seed};
  // Points that can be reached: where the hand is for other angles.
  const Tensor target = hand(tern::constant(rand({arms, 3}, random) * 2.0 - 0.5)).value();
  Tensor angles = rand({arms, 3}, random) * 0.5 + 0.2;
  for (int i = 0; i < steps; ++i) angles += step_towards(target, angles, 1e-3);
  const Tensor distance = sqrt(square(target - hand(tern::constant(angles)).value()).sum(-1));
  const double worst = distance.max().item<double>(), mean = distance.mean().item<double>();
  std::printf("%lld arms after %d steps: the hand is %.2g from its point in the mean, %.2g at most\n",
              static_cast<long long>(arms), steps, mean, worst);
  return worst < 1e-3;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t arms = 1000;
  int steps = 60;
  std::uint64_t seed = 1;
  return run_program(
      argc, argv, "Moves planar arms of three links until their hands reach given points.",
      [&](CLI::App& app) {
        app.add_option("--arms", arms, "How many")->check(CLI::PositiveNumber)->capture_default_str();
        app.add_option("--steps", steps, "Steps of least squares")->check(CLI::PositiveNumber)->capture_default_str();
        app.add_option("--seed", seed, "Seed of points and first angles")->capture_default_str();
      },
      [&] { return solve(arms, steps, seed); });
}
