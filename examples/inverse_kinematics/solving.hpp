// Angles with which the hands of many arms reach their targets.
#pragma once
#include <cstdint>
#include <vector>

#include "arm.hpp"

namespace arm {

struct Solved {
  tern::Tensor angles;
  int iterations = 0;
};
/// How far a hand may be from its target.
constexpr float kNear = 1e-4f;

/// By steps of Levenberg's method (arm.hpp), from [arms, 6] towards [arms, 3], at most so many. Arms that have arrived
/// are set aside after every few steps, so that the last ones do not cost what all do.
inline Solved by_steps(const tern::Tensor& start, const tern::Tensor& targets, int most) {
  using tern::Tensor;
  Solved solved{start.clone()};
  Tensor angles = start, target = targets, missed, rows;
  Tensor damping = tern::full({start.size(0)}, 1e-2, {.device = start.device()});
  while (solved.iterations < most) {
    for (int i = 0; i < 3; ++i, ++solved.iterations) {
      const auto [next, next_damping, next_missed] = step(angles, target, damping);
      angles = next, damping = next_damping, missed = next_missed;
    }
    const std::vector<float> far = missed.to_vector<float>();
    std::vector<std::int32_t> left;
    for (std::size_t i = 0; i < far.size(); ++i)
      if (far[i] > kNear * kNear) left.push_back(static_cast<std::int32_t>(i));
    const bool last = left.empty() || solved.iterations >= most;
    if (!last && 4 * left.size() > 3 * far.size()) continue;
    if (rows.defined()) assign(solved.angles(rows), angles);
    else solved.angles.copy_from(angles);
    if (last) break;
    const Tensor places = tern::tensor(left, start.device());
    rows = rows.defined() ? take(rows, places) : places;
    angles = take(angles, places), target = take(target, places), damping = take(damping, places);
  }
  return solved;
}

/// The same by the library's method for any function, whose Jacobian comes from forward mode.
inline Solved by_least_squares(const tern::Tensor& start, const tern::Tensor& targets, int most) {
  const auto missed = [&](const tern::Var& angles) { return hand(angles) - targets; };
  const auto found = tern::optim::least_squares(missed, start, {.iterations = most, .gradient = 1e-5});
  return {found.x, found.iterations};
}

}  // namespace arm
