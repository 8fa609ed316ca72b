#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace poisson {
namespace {

constexpr double kWidth = 720, kLeft = 80, kRight = 20;

std::string number(double value, const char* format = "%.2f") {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// A panel between two heights of the picture, for values from low to high.
struct Panel {
  double top, bottom, low, high;

  double x(double value) const { return kLeft + value * (kWidth - kLeft - kRight); }
  double y(double value) const { return bottom - (value - low) / (high - low) * (bottom - top); }

  std::string line(const std::vector<double>& at, const std::vector<double>& values, const char* style) const {
    std::string points;
    for (std::size_t i = 0; i < at.size(); ++i) points += number(x(at[i])) + "," + number(y(values[i])) + " ";
    return "<polyline class=\"" + std::string(style) + "\" points=\"" + points + "\"/>\n";
  }
  std::string frame(const char* title, const char* format) const {
    std::string text = "<text x=\"" + number(kLeft) + "\" y=\"" + number(top - 8) + "\">" + title + "</text>\n";
    for (const double value : {low, (low + high) / 2, high})
      text += "<line class=\"grid\" x1=\"" + number(kLeft) + "\" x2=\"" + number(kWidth - kRight) + "\" y1=\"" +
              number(y(value)) + "\" y2=\"" + number(y(value)) + "\"/><text class=\"tick\" x=\"" + number(kLeft - 8) +
              "\" y=\"" + number(y(value) + 4) + "\">" + number(value, format) + "</text>\n";
    return text;
  }
};

constexpr const char* kStyle =
    "<style>svg{background:#fff}text{font:14px sans-serif;fill:#222}.tick{text-anchor:end;font-size:12px}"
    ".grid{stroke:#ddd}polyline{fill:none;stroke-width:2}.exact{stroke:#999;stroke-width:6}.solution{stroke:#0b62c4}"
    ".error{stroke:#c4380b}@media(prefers-color-scheme:dark){svg{background:#181a1d}text{fill:#ddd}.grid{stroke:#333}"
    ".exact{stroke:#666}.solution{stroke:#5aa9ff}.error{stroke:#ff8a5a}}</style>\n";

}  // namespace

std::string plot(const Curve& curve, const std::string& subtitle) {
  std::vector<double> error(curve.x.size());
  double worst = 1e-12;
  for (std::size_t i = 0; i < error.size(); ++i)
    error[i] = curve.solution[i] - curve.exact[i], worst = std::max(worst, std::abs(error[i]));
  const auto [low, high] = std::minmax_element(curve.exact.begin(), curve.exact.end());
  const double margin = 0.1 * (*high - *low);
  const Panel above{70, 300, *low - margin, *high + margin}, below{350, 450, -worst, worst};
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 480\">\n" + std::string(kStyle) +
         "<text x=\"" + number(kLeft) + "\" y=\"28\">" + subtitle + "</text>\n" +
         above.frame("u(x): the network (thin) over the exact solution (wide)", "%.2f") +
         above.line(curve.x, curve.exact, "exact") + above.line(curve.x, curve.solution, "solution") +
         below.frame("difference", "%.1e") + below.line(curve.x, error, "error") + "</svg>\n";
}

}  // namespace poisson
