// Programs of many small operations, by the clock of one thread: steps of a solver, and a cloth through time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "serial/timed.hpp"
#include "tern/tern.hpp"

namespace tern {
namespace {

class Programs : public test::TimedOnOneThread {
 protected:
  static double least_seconds(const std::function<void()>& program) {
    double least = 1e300;
    for (int run = 0; run < 7; ++run) {
      const double start = test::processor_seconds();
      program();
      least = std::min(least, test::processor_seconds() - start);
    }
    return least;
  }
};

/// The hand of an arm that turns by a and bends by b and c: where it is, and its nine derivatives, row by row.
std::array<Expr, 12> hand(Expr a, Expr b, Expr c) {
  const Expr reach = cos(b) + cos(b + c), height = sin(b) + sin(b + c), last = sin(b + c);
  return {cos(a) * reach,  sin(a) * reach,   height,          -sin(a) * reach, -cos(a) * height, -cos(a) * last,
          cos(a) * reach,  -sin(a) * height, -sin(a) * last,  Expr(0) * a,     reach,            cos(b + c)};
}
/// A symmetric system of three by Cramer's rule.
std::array<Expr, 3> solved(Expr a, Expr b, Expr c, Expr d, Expr e, Expr f, Expr x, Expr y, Expr z) {
  const Expr da = d * f - e * e, db = c * e - b * f, dc = b * e - c * d;
  const Expr one = 1 / (a * da + b * db + c * dc);
  return {one * (da * x + db * y + dc * z), one * (db * x + (a * f - c * c) * y + (b * c - a * e) * z),
          one * (dc * x + (b * c - a * e) * y + (a * d - b * b) * z)};
}

/// 30 steps of damped least squares for 64 arms: 4 ms (Eigen's fixed sizes took 1.6, tern 14 to 18).
TEST_F(Programs, StepsOfASolverForManyArms) {
  const DefaultDType precise(f64);
  constexpr std::int64_t kArms = 64;
  Generator random{5};
  const Pointwise positions("hand", hand);
  const Pointwise system("solved", solved);
  const auto place = [&](const Tensor& angles) {
    const Tensor columns = angles.transpose(0, 1);
    return positions(columns[0], columns[1], columns[2]);
  };
  const auto where = place(rand({kArms, 3}, random, {.dtype = f64, .device = cpu()}) + 0.3);
  const Tensor target = stack(std::vector{where[0], where[1], where[2]}, -1);
  const Tensor first = rand({kArms, 3}, random, {.dtype = f64, .device = cpu()}) + 0.3;
  const Tensor damping = eye(3, {.dtype = f64, .device = cpu()}) * 1e-6;
  Tensor angles;
  const auto solve = [&] {
    angles = first.clone();
    for (int step = 0; step < 30; ++step) {
      const auto p = place(angles);
      const Tensor error = target - stack(std::vector{p[0], p[1], p[2]}, -1);
      const Tensor jacobian = stack(std::vector<Tensor>(p.begin() + 3, p.end()), -1).reshape({kArms, 3, 3});
      const Tensor turned = jacobian.transpose(1, 2), n = matmul(turned, jacobian) + damping;
      const Tensor right = matmul(turned, error.unsqueeze(-1));
      const auto at = [&](const Tensor& m, int i, int j) { return m.permute({1, 2, 0})[i][j]; };
      const auto by = system(at(n, 0, 0), at(n, 0, 1), at(n, 0, 2), at(n, 1, 1), at(n, 1, 2), at(n, 2, 2),
                             at(right, 0, 0), at(right, 1, 0), at(right, 2, 0));
      angles += stack(std::vector<Tensor>(by.begin(), by.end()), -1);
    }
  };
  const double seconds = least_seconds(solve);
  const auto reached = place(angles);
  const Tensor away = abs(stack(std::vector{reached[0], reached[1], reached[2]}, -1) - target);
  const double median = sort(away.reshape({-1}), 0).values[3 * kArms / 2].item<double>();
  std::printf("30 steps for 64 arms: %.2f ms, %.1e away at the median\n", 1e3 * seconds, median);
  EXPECT_LT(median, 1e-6);
  EXPECT_LE(seconds, 4e-3);
}

/// 300 steps of a cloth of 64² points in a third of the 0.28 s that they took.
TEST_F(Programs, ACloth) {
  constexpr std::int64_t kSide = 64;
  const Options on_cpu{.device = cpu()};
  const Tensor line = linspace(0, 1, kSide, on_cpu);
  const Tensor gravity = tensor(std::vector<float>{0, -9.81f, 0}, {3}, cpu());
  Tensor free = ones({kSide, kSide, 1}, on_cpu);
  free[0] *= 0;
  Tensor p;
  const auto fall = [&] {
    p = stack(std::vector{line.unsqueeze(0).broadcast_to({kSide, kSide}), zeros({kSide, kSide}, on_cpu),
                          line.unsqueeze(1).broadcast_to({kSide, kSide})}, -1);
    Tensor v = zeros({kSide, kSide, 3}, on_cpu);
    for (int step = 0; step < 300; ++step) {
      Tensor force = gravity - 0.5 * v;
      for (const int axis : {0, 1}) {
        const Tensor between = p.slice(axis, 1) - p.slice(axis, 0, kSide - 1);
        const Tensor pull =
            between * (100.0 * (1 - (1.0 / (kSide - 1)) / sqrt(square(between).sum(-1, true))));
        force.slice(axis, 0, kSide - 1) += pull;
        force.slice(axis, 1) -= pull;
      }
      v += 1e-3 * free * force;
      p += 1e-3 * v;
    }
  };
  const double seconds = least_seconds(fall);
  std::printf("300 steps of a cloth of 64 x 64: %.1f ms\n", 1e3 * seconds);
  EXPECT_TRUE(isfinite(p).all().item<bool>());
  EXPECT_LT(p[kSide - 1][0][1].item<float>(), 0);
  EXPECT_LE(seconds, 0.28 / 3);
}

}  // namespace
}  // namespace tern
