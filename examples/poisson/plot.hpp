// A solution beside the exact one, and its error, as SVG.
#pragma once
#include <string>
#include <vector>

namespace poisson {

struct Curve {
  std::vector<double> x, solution, exact;
};

/// Two panels: the solution over the exact one, and the difference.
std::string plot(const Curve& curve, const std::string& subtitle);

}  // namespace poisson
