#include "picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string_view>

namespace digits {
namespace {

constexpr std::string_view kStyle = R"(<style>
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px; fill: #59636e }
.page { fill: #ffffff }
.title { font-size: 17px; font-weight: 600; fill: #1f2328 }
.strong { font-weight: 600; fill: #1f2328 }
.grid { stroke: #d8dee4 }
.axis { stroke: #8b949e }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }
.loss { stroke: #0969da }
.accuracy { stroke: #bc4c00 }
.loss-mark { fill: #0969da; font-weight: 600 }
.accuracy-mark { fill: #bc4c00; font-weight: 600 }
.paper { fill: #f0f3f6 }
.ink { fill: #1f2328 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.page { fill: #0d1117 }
.title, .strong { fill: #e6edf3 }
.grid { stroke: #2d333b }
.axis { stroke: #6e7681 }
.loss { stroke: #58a6ff }
.accuracy { stroke: #f0883e }
.loss-mark { fill: #58a6ff }
.accuracy-mark { fill: #f0883e }
.paper { fill: #1c2128 }
.ink { fill: #e6edf3 }
}
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string text_at(double x, double y, std::string_view words, std::string_view classes = "",
                    std::string_view anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, classes,
                     anchor, escaped(words));
}

std::string line_between(double x1, double y1, double x2, double y2, std::string_view classes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     classes);
}

/// The start of a document: its size, its name for screen readers, style, page, title and subtitle.
std::string document_head(double width, double height, std::string_view title, std::string_view subtitle) {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
                     "height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n",
                     width, height, escaped(title)) +
         std::string(kStyle) +
         fmt::format("<rect class=\"page\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"8\"/>\n", width, height) +
         text_at(24, 34, title, "title") + text_at(24, 56, subtitle);
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `value` (positive).
double nice_above(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0, 10.0})
    if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

/// The largest of 1, 2 and 5 times a power of ten that is at most `value` (positive).
double nice_below(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  for (const double step : {5.0, 2.0, 1.0})
    if (value >= step * power * (1 - 1e-9)) return step * power;
  return power;
}

struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<double> ticks;

  /// Where a value lies: 0 at the low end, 1 at the high end.
  double position(double value) const {
    if (!logarithmic) return (std::max(value, low) - low) / (high - low);
    return std::log(std::max(value, low) / low) / std::log(high / low);
  }
};

Axis epoch_axis(int epochs) {
  Axis axis{.low = 1, .high = std::max(2.0, static_cast<double>(epochs)), .ticks = {1}};
  const double step = std::max(1.0, nice_above(axis.high / 10));
  for (double tick = step; tick <= axis.high; tick += step)
    if (tick > 1) axis.ticks.push_back(tick);
  return axis;
}

/// From a round number below `lowest` to a round number above `highest` (which is more), in about five steps.
Axis linear_axis(double lowest, double highest) {
  const double step = nice_above((highest - lowest) / 5);
  const double first = std::floor(lowest / step + 1e-9), last = std::ceil(highest / step - 1e-9);
  Axis axis{.low = first * step, .high = last * step, .ticks = {}};
  for (double i = first; i <= last; ++i) axis.ticks.push_back(i * step);
  return axis;
}

/// Logarithmic, with ticks at 1, 2 and 5 times powers of ten (only at the powers where that would be many), unless
/// the loss changes so little that linear steps are easier to read.
Axis loss_axis(const std::vector<Epoch>& epochs) {
  constexpr double smallest = 1e-6;  // less is drawn as this much
  double lowest = std::numeric_limits<double>::max(), highest = smallest;
  for (const Epoch& epoch : epochs) {
    lowest = std::min(lowest, std::max(epoch.loss, smallest));
    highest = std::max(highest, epoch.loss);
  }
  if (highest < 5 * lowest) return linear_axis(highest < 1.05 * lowest ? 0 : lowest, highest);
  Axis axis{.low = nice_below(lowest), .high = nice_above(highest), .logarithmic = true, .ticks = {}};
  for (double tick = axis.low; tick <= axis.high * 1.01; tick = nice_above(tick * 1.5)) axis.ticks.push_back(tick);
  constexpr std::size_t many = 7;
  const auto between_powers = [](double tick) {
    const double exponent = std::log10(tick);
    return std::abs(exponent - std::round(exponent)) > 1e-6;
  };
  if (axis.ticks.size() > many) std::erase_if(axis.ticks, between_powers);
  return axis;
}

/// Accuracy in per cent, up to 100.
Axis accuracy_axis(const std::vector<Epoch>& epochs) {
  double lowest = 98;
  for (const Epoch& epoch : epochs) lowest = std::min(lowest, 100 * epoch.accuracy);
  return linear_axis(lowest, 100);
}

/// A rectangle of the page with one curve in it.
struct Panel {
  double left = 0, top = 0, width = 0, height = 0;
  Axis x, y;

  double at_x(double value) const { return left + width * x.position(value); }
  double at_y(double value) const { return top + height * (1 - y.position(value)); }
};

/// Grid, axes and tick labels; `label` writes a tick of the vertical axis.
std::string frame(const Panel& panel, const std::function<std::string(double)>& label) {
  std::string out;
  const double bottom = panel.top + panel.height, right = panel.left + panel.width;
  for (const double tick : panel.y.ticks) {
    out += line_between(panel.left, panel.at_y(tick), right, panel.at_y(tick), "grid");
    out += text_at(panel.left - 8, panel.at_y(tick) + 4.5, label(tick), "", "end");
  }
  for (const double tick : panel.x.ticks) {
    out += line_between(panel.at_x(tick), bottom, panel.at_x(tick), bottom + 5, "axis");
    out += text_at(panel.at_x(tick), bottom + 20, fmt::format("{:.0f}", tick), "", "middle");
  }
  return out + line_between(panel.left, bottom, right, bottom, "axis");
}

/// A curve through (epoch, value), a dot at its end and the last value beside the dot.
std::string curve(const Panel& panel, const std::vector<Epoch>& epochs,
                  const std::function<double(const Epoch&)>& value, std::string_view kind, std::string_view last) {
  std::string points;
  for (const Epoch& epoch : epochs)
    fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", panel.at_x(epoch.number), panel.at_y(value(epoch)));
  const double end_x = panel.at_x(epochs.back().number), end_y = panel.at_y(value(epochs.back()));
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>\n", kind, points) +
         fmt::format("<circle class=\"{}-mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n", kind, end_x, end_y) +
         text_at(end_x + 9, end_y + 4.5, last, fmt::format("{}-mark", kind));
}

/// One enlarged image: paper, and a square of ink for each pixel that is not white.
std::string enlarged(std::span<const std::uint8_t> image, double left, double top, double pixel) {
  std::string out = fmt::format("<g transform=\"translate({:.0f} {:.0f})\" shape-rendering=\"crispEdges\">"
                                "<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
                                left, top, pixel * kSide, pixel * kSide);
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (image[i] == 0) continue;
    const double x = pixel * static_cast<double>(i % kSide), y = pixel * static_cast<double>(i / kSide);
    fmt::format_to(std::back_inserter(out),
                   "<rect class=\"ink\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
                   "fill-opacity=\"{:.4g}\"/>\n",
                   x, y, pixel, pixel, static_cast<double>(image[i]) / kMaxGrey);
  }
  return out + "</g>\n";
}

}  // namespace

std::string training_curves(const std::vector<Epoch>& epochs, const std::string& subtitle) {
  constexpr double width = 720, height = 500;
  constexpr double left = 68, panel_width = 560, panel_height = 140;
  std::string out = document_head(width, height, "Training a gated network on handwritten digits", subtitle);
  if (epochs.empty()) return out + "</svg>\n";
  const Axis x = epoch_axis(epochs.back().number);

  const Panel loss{left, 104, panel_width, panel_height, x, loss_axis(epochs)};
  out += text_at(left, loss.top - 14, loss.y.logarithmic ? "training loss (logarithmic)" : "training loss", "strong");
  out += frame(loss, [](double tick) { return fmt::format("{:g}", tick); });
  out += curve(loss, epochs, [](const Epoch& epoch) { return epoch.loss; }, "loss",
               fmt::format("{:.3g}", epochs.back().loss));

  const Panel accuracy{left, 312, panel_width, panel_height, x, accuracy_axis(epochs)};
  out += text_at(left, accuracy.top - 14, "held-out accuracy", "strong");
  out += frame(accuracy, [](double tick) { return fmt::format("{:g} %", tick); });
  out += curve(accuracy, epochs, [](const Epoch& epoch) { return 100 * epoch.accuracy; }, "accuracy",
               fmt::format("{:.1f} %", 100 * epochs.back().accuracy));
  out += text_at(left + panel_width / 2, accuracy.top + panel_height + 40, "epoch", "", "middle");
  return out + "</svg>\n";
}

std::string mistake_sheet(const Digits& digits, const std::vector<Mistake>& mistakes, const std::string& subtitle) {
  constexpr std::size_t most = 60, columns = 6;
  constexpr double pixel = 12, margin = 24, head = 80, tile = pixel * kSide, step_x = 120, step_y = tile + 60;
  const std::size_t shown = std::min(mistakes.size(), most);
  const auto rows = static_cast<double>((shown + columns - 1) / columns);
  const double width = 2 * margin + step_x * columns, height = head + std::max(rows * step_y, 40.0);

  const std::string title = mistakes.empty()  ? "No held-out digit was named wrongly"
                            : shown < mistakes.size()
                                ? fmt::format("The {} surest of {} mistakes", shown, mistakes.size())
                                : fmt::format("Held-out digits named wrongly: {}", mistakes.size());
  std::string out = document_head(width, height, title, subtitle);
  for (std::size_t i = 0; i < shown; ++i) {
    const Mistake& mistake = mistakes[i];
    const double x = margin + step_x * static_cast<double>(i % columns);
    const double y = head + step_y * static_cast<double>(i / columns);
    out += enlarged(digits.image(mistake.image), x, y, pixel);
    out += text_at(x, y + tile + 19, fmt::format("true {}, said {}", mistake.truth, mistake.said), "strong");
    out += text_at(x, y + tile + 36, fmt::format("{:.0f} % sure", 100 * mistake.confidence));
  }
  return out + "</svg>\n";
}

}  // namespace digits
