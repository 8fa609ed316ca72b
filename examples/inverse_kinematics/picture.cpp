#include "picture.hpp"

#include <cstdio>

namespace arm {
namespace {

/// Seen from the side and a little from above.
std::string place(const Point& p) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f,%.1f", 360 + 110 * (p[0] + 0.35 * p[1]), 330 - 110 * (p[2] + 0.25 * p[1]));
  return text;
}
std::string circle(const Point& p, const char* style, double radius) {
  const std::string at = place(p);
  const std::size_t comma = at.find(',');
  char text[160];
  std::snprintf(text, sizeof text, "<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"%g\"/>\n", style,
                at.substr(0, comma).c_str(), at.substr(comma + 1).c_str(), radius);
  return text;
}

constexpr const char* kStyle =
    "<style>svg{background:#fff}text{font:14px sans-serif;fill:#222}polyline{fill:none;stroke:#0b62c4;stroke-width:3;"
    "stroke-linejoin:round;opacity:.55}.joint{fill:#0b62c4}.target{fill:none;stroke:#c4380b;stroke-width:2}"
    "@media(prefers-color-scheme:dark){svg{background:#181a1d}text{fill:#ddd}polyline{stroke:#5aa9ff}"
    ".joint{fill:#5aa9ff}.target{stroke:#ff8a5a}}</style>\n";

}  // namespace

std::string picture(const std::vector<Posture>& postures, const std::string& subtitle) {
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 600\">\n" + std::string(kStyle) +
                    "<text x=\"24\" y=\"32\">" + subtitle + "</text>\n";
  for (const Posture& p : postures) {
    svg += "<polyline points=\"" + place({0, 0, 0});
    for (const Point& point : p.points) svg += " " + place(point);
    svg += "\"/>\n";
    for (const Point& point : p.points) svg += circle(point, "joint", 3);
    svg += circle(p.target, "target", 8);
  }
  return svg + "</svg>\n";
}

}  // namespace arm
