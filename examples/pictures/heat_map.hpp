// Pictures of matrices, as SVG: what examples/spectrogram, attention_masks and convnet draw.
#pragma once
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <tern/tern.hpp>
#include <utility>
#include <vector>

namespace pictures {

/// One matrix of a picture: row 0 stands at the top, `lowest` is the lightest colour and `highest` the darkest.
struct HeatMap {
  std::string title;
  tern::Tensor values;
  double lowest = 0, highest = 1, width = 220, height = 220;
  bool numbers = false;  // written into the cells, but for 0
};

/// The cells of a matrix in 16 shades: a path for each shade, whose lines are runs of equal cells.
inline std::string cells(const HeatMap& map) {
  constexpr int kShades = 16;
  const tern::Tensor values = map.values.to(tern::f32);
  const std::vector<float> list = values.contiguous().to_vector<float>();
  const std::int64_t rows = values.size(0), columns = values.size(1);
  const auto shade = [&](std::int64_t row, std::int64_t column) {
    const double value = list[static_cast<std::size_t>(row * columns + column)];
    return std::clamp(static_cast<int>(kShades * (value - map.lowest) / (map.highest - map.lowest)), 0, kShades - 1);
  };
  std::string paths[kShades];
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns;) {
      const int of = shade(row, column);
      const std::int64_t begin = column;
      while (column < columns && shade(row, column) == of) ++column;
      paths[of] += "M" + std::to_string(begin) + " " + std::to_string(row) + ".5h" + std::to_string(column - begin);
    }
  std::string svg;
  for (int i = 0; i < kShades; ++i) {
    const double t = i / (kShades - 1.0);
    char colour[16];
    std::snprintf(colour, sizeof colour, "#%02x%02x%02x", int(240 - 229 * t), int(243 - 160 * t * t - 43 * t),
                  int(246 - 80 * t));
    if (!paths[i].empty()) svg += std::string("<path stroke=\"") + colour + "\" d=\"" + paths[i] + "\"/>\n";
  }
  for (std::int64_t i = 0; map.numbers && i < values.numel(); ++i) {
    const double value = list[static_cast<std::size_t>(i)];
    char text[160];
    std::snprintf(text, sizeof text, "<text class=\"%s\" x=\"%g\" y=\"%g\">%g</text>\n",
                  2 * value > map.lowest + map.highest ? "cell dark" : "cell", double(i % columns) + 0.5,
                  double(i / columns) + 0.65, value);
    if (value != 0) svg += text;
  }
  return svg;
}

/// The matrices beside one another, so many in a row, each below its title.
inline std::string heat_maps(const std::vector<HeatMap>& maps, std::size_t in_a_row) {
  double width = 0, height = 20, x = 20;
  std::string svg;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const HeatMap& map = maps[i];
    if (i > 0 && i % in_a_row == 0) x = 20, height += map.height + 44;
    char text[256];
    std::snprintf(text, sizeof text,
                  "<text x=\"%g\" y=\"%g\">%s</text>\n<svg x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" viewBox=\"0 0 "
                  "%lld %lld\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">\n",
                  x, height + 16, map.title.c_str(), x, height + 24, map.width, map.height,
                  static_cast<long long>(map.values.size(1)), static_cast<long long>(map.values.size(0)));
    svg += text + cells(map) + "</svg>\n";
    x += map.width + 20, width = std::max(width, x);
  }
  height += (maps.empty() ? 0 : maps.back().height) + 44;
  char head[320];
  std::snprintf(
      head, sizeof head,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\">\n<style>svg{background:#fff}"
      "text{font:14px sans-serif;fill:#222}.cell{font-size:.4px;text-anchor:middle}.dark{fill:#fff}</style>\n",
      width, height);
  return head + svg + "</svg>\n";
}

inline void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace pictures
