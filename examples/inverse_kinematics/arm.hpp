// An arm of six links as a formula of fixed-size vectors: every joint turns the links behind it around one axis of its
// own frame.
#pragma once
#include <array>
#include <tern/tern.hpp>

namespace arm {

constexpr int kJoints = 6;
constexpr double kLinks[kJoints] = {0.4, 0.9, 0.8, 0.5, 0.3, 0.2};
/// The axis each joint turns around: 0, 1, 2 for the x, y and z of the frame before.
constexpr int kAxes[kJoints] = {2, 1, 1, 0, 1, 2};

/// The ends of the links, the hand last, and of each joint the axis and the place that it turns around.
struct Posed {
  std::array<tern::Vec<3>, kJoints> ends, axes, places;
};
inline Posed posed(const tern::Vec<6>& angles) {
  using tern::Vec;
  Vec<3> frame[3] = {Vec<3>{1, 0, 0}, Vec<3>{0, 1, 0}, Vec<3>{0, 0, 1}}, end = Vec<3>::zero();
  Posed arm;
  for (int i = 0; i < kJoints; ++i) {
    const auto at = static_cast<std::size_t>(i);
    arm.axes[at] = frame[kAxes[i]], arm.places[at] = end;
    const tern::Expr c = cos(angles[i]), s = sin(angles[i]);
    Vec<3>&u = frame[(kAxes[i] + 1) % 3], &v = frame[(kAxes[i] + 2) % 3];
    const Vec<3> turned = u * c + v * s;
    v = v * c - u * s, u = turned;
    arm.ends[at] = end += frame[i == 0 ? 2 : 0] * kLinks[i];  // the first link is the post it stands on
  }
  return arm;
}
inline std::array<tern::Vec<3>, kJoints> joints(const tern::Vec<6>& angles) { return posed(angles).ends; }

/// [..., 6] → [..., 3]: one kernel, and so is each derivative.
inline const auto hand = tern::formula("hand", [](tern::Vec<6> angles) { return joints(angles)[kJoints - 1]; });

/// A step of Levenberg's method towards [..., 3] with the damping [...], and back where it led away: the angles, the
/// damping of the next, and the square of what is missing. One kernel: the Jacobian's columns are cross products, and
/// (J·Jᵀ + λ·1)·y = r has three rows.
inline const auto step = tern::formula("step", [](tern::Vec<6> angles, tern::Vec<3> target, tern::Expr damping) {
  using tern::Mat, tern::Vec;
  const Posed here = posed(angles);
  const Vec<3> missed = target - here.ends[kJoints - 1];
  Mat<3, 3> normal = Mat<3, 3>::diagonal(Vec<3>::filled(damping));
  std::array<Vec<3>, kJoints> columns;
  for (std::size_t i = 0; i < kJoints; ++i) {
    columns[i] = cross(here.axes[i], here.ends[kJoints - 1] - here.places[i]);
    normal += outer(columns[i], columns[i]);
  }
  const Mat<3, 3> l = cholesky(normal);
  Vec<3> y = missed;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < i; ++k) y[i] = y[i] - l(i, k) * y[k];
    y[i] = y[i] / l(i, i);
  }
  for (int i = 2; i >= 0; --i) {
    for (int k = i + 1; k < 3; ++k) y[i] = y[i] - l(k, i) * y[k];
    y[i] = y[i] / l(i, i);
  }
  Vec<6> next;
  for (int i = 0; i < kJoints; ++i) next[i] = angles[i] + dot(columns[static_cast<std::size_t>(i)], y);
  const Vec<3> after = target - joints(next)[kJoints - 1];
  const tern::Expr before = dot(missed, missed), now = dot(after, after), better = now < before;
  return std::tuple(where(better, next, angles), where(better, maximum(damping * 0.2, 1e-6), damping * 8),
                    where(better, now, before));
});

}  // namespace arm
