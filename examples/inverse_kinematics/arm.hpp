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

/// Where the ends of the links are, the hand last, for six angles.
inline std::array<tern::Vec<3>, kJoints> joints(const tern::Vec<6>& angles) {
  using tern::Vec;
  Vec<3> frame[3] = {Vec<3>{1, 0, 0}, Vec<3>{0, 1, 0}, Vec<3>{0, 0, 1}}, end = Vec<3>::zero();
  std::array<Vec<3>, kJoints> ends;
  for (int i = 0; i < kJoints; ++i) {
    const tern::Expr c = cos(angles[i]), s = sin(angles[i]);
    Vec<3>&u = frame[(kAxes[i] + 1) % 3], &v = frame[(kAxes[i] + 2) % 3];
    const Vec<3> turned = u * c + v * s;
    v = v * c - u * s, u = turned;
    end += frame[i == 0 ? 2 : 0] * kLinks[i];  // the first link is the post it stands on
    ends[static_cast<std::size_t>(i)] = end;
  }
  return ends;
}

/// [..., 6] → [..., 3]: one kernel, and so is each derivative.
inline const auto hand = tern::formula("hand", [](tern::Vec<6> angles) { return joints(angles)[kJoints - 1]; });

}  // namespace arm
