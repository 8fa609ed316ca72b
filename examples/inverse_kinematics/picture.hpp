// A picture of arms seen from the side, as SVG.
#pragma once
#include <array>
#include <string>
#include <vector>

namespace arm {

using Point = std::array<double, 3>;
/// The ends of the links of one arm, from its foot to its hand, and where the hand shall be.
struct Posture {
  std::vector<Point> points;
  Point target;
};
std::string picture(const std::vector<Posture>& postures, const std::string& subtitle);

}  // namespace arm
