// Entries of interpolation and sampling (resampling.cpp).
#include <algorithm>

#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

double cubic(double t, double a) {
  t = std::abs(t);
  if (t <= 1) return (a + 2) * t * t * t - (a + 3) * t * t + 1;
  return t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a : 0;
}
/// A line of n elements, at(i), in `to` others.
template <class At>
std::vector<double> resized_line(std::int64_t n, std::int64_t to, const InterpolateOptions& o, At at) {
  std::vector<double> y;
  const bool is_cubic = o.mode == Resampling::cubic;
  for (std::int64_t i = 0; i < to; ++i) {
    if (o.mode == Resampling::nearest) {
      y.push_back(at(i * n / to));
      continue;
    }
    const double ratio = static_cast<double>(n) / static_cast<double>(to),
                 scale = o.antialias ? std::max(1.0, ratio) : 1;
    double centre = (static_cast<double>(i) + 0.5) * ratio - 0.5;
    if (o.align_corners) centre = to > 1 ? static_cast<double>(i * (n - 1)) / static_cast<double>(to - 1) : 0;
    double sum = 0, weights = 0;
    // Antialiased windows are cut off at the edges; the others read the last element beyond them.
    for (std::int64_t k = o.antialias ? 0 : -3; k < (o.antialias ? n : n + 3); ++k) {
      const double t = (static_cast<double>(k) - centre) / scale;
      const double weight = is_cubic ? cubic(t, o.antialias ? -0.5 : -0.75) : std::max(0.0, 1 - std::abs(t));
      sum += weight * at(std::clamp<std::int64_t>(k, 0, n - 1)), weights += weight;
    }
    y.push_back(sum / weights);
  }
  return y;
}
std::vector<Values> resized(const Values& x, std::int64_t height, std::int64_t width, const InterpolateOptions& o) {
  const std::int64_t h = x.shape[2], w = x.shape[3];
  Values y{{x.shape[0], x.shape[1], height, width}, {}};
  for (std::int64_t p = 0; p < x.shape[0] * x.shape[1]; ++p) {
    std::vector<std::vector<double>> columns;  // each of the old width, in the new height
    for (std::int64_t j = 0; j < w; ++j)
      columns.push_back(resized_line(
          h, height, o, [&](std::int64_t i) { return x.of[static_cast<std::size_t>((p * h + i) * w + j)]; }));
    for (std::size_t i = 0; i < static_cast<std::size_t>(height); ++i)
      for (const double v :
           resized_line(w, width, o, [&](std::int64_t j) { return columns[static_cast<std::size_t>(j)][i]; }))
        y.of.push_back(v);
  }
  return {y};
}
Sample sized(const char* with, std::int64_t height, std::int64_t width, const InterpolateOptions& o) {
  return {.with = with,
          .shapes = image,
          .call =
              [=](const auto& x) {
                return interpolate(x, {height, width}, o);
              },
          .reference = [=](const auto& x) { return resized(x[0], height, width, o); }};
}

double reflected(double at, double low, double high) {
  if (high == low) return low;
  while (at < low || at > high) at = at < low ? 2 * low - at : 2 * high - at;
  return at;
}
std::vector<Values> sampled(const std::vector<Values>& x, const GridSampleOptions& o) {
  const std::int64_t c = x[0].shape[1], h = x[0].shape[2], w = x[0].shape[3], places = x[1].shape[1] * x[1].shape[2];
  const auto place = [&](double g, std::int64_t size) {
    const auto n = static_cast<double>(size);
    double at = o.align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (o.padding == GridPadding::reflection)
      at = o.align_corners ? reflected(at, 0, n - 1) : reflected(at, -0.5, n - 0.5);
    return o.padding == GridPadding::zeros ? at : std::clamp(at, 0.0, n - 1);
  };
  Values y{{x[0].shape[0], c, x[1].shape[1], x[1].shape[2]}, {}};
  for (std::int64_t n = 0; n < x[0].shape[0]; ++n)
    for (std::int64_t k = 0; k < c; ++k)
      for (std::int64_t p = 0; p < places; ++p) {
        const auto at = static_cast<std::size_t>(2 * (n * places + p));
        const double px = place(x[1].of[at], w), py = place(x[1].of[at + 1], h);
        double sum = 0;
        for (std::int64_t i = 0; i < h; ++i)
          for (std::int64_t j = 0; j < w; ++j) {
            const double value = x[0].of[static_cast<std::size_t>(((n * c + k) * h + i) * w + j)];
            const double dx = static_cast<double>(j) - px, dy = static_cast<double>(i) - py;
            if (o.mode == Resampling::nearest)
              sum += std::nearbyint(px) == static_cast<double>(j) && std::nearbyint(py) == static_cast<double>(i)
                         ? value
                         : 0;
            else sum += value * std::max(0.0, 1 - std::abs(dx)) * std::max(0.0, 1 - std::abs(dy));
          }
        y.of.push_back(sum);
      }
  return {y};
}
std::vector<Shape> image_and_grid(Sizes s) { return {{s.rows, 2, 3, 4}, {s.rows, 2, 3, 2}}; }
/// Places a little outside as well.
Sample sampled_at(const char* with, const GridSampleOptions& o) {
  return {.with = with,
          .shapes = image_and_grid,
          .call = [=](const auto& x, const auto& grid) { return grid_sample(x, grid * 1.5, o); },
          .reference =
              [=](const auto& x) {
                Values grid = x[1];
                for (double& v : grid.of) v *= 1.5;
                return sampled({x[0], grid}, o);
              },
          .sizes = {{2, 3}, {1, 1}}};
}

/// The grid gets no gradient.
Sample nearest_sample() {
  const std::vector<float> places = {-0.9F, 0.3F, 1.4F, -0.2F, 0.1F, 0.8F, 0.6F, -1.3F};
  const GridSampleOptions o{.mode = Resampling::nearest};
  return {.with = "nearest",
          .shapes =
              [](Sizes s) {
                return std::vector<Shape>{{1, s.rows, 3, 4}};
              },
          .call =
              [=](const auto& x) {
                return grid_sample(x, tensor(places, x.device()).reshape({1, 2, 2, 2}), o);
              },
          .reference =
              [=](const auto& x) {
                return sampled({x[0], {{1, 2, 2, 2}, std::vector<double>(places.begin(), places.end())}}, o);
              },
          .empty = {}};
}

constexpr Tolerance kWeighted{64, "sums of up to 16 products by weights of f32, in two passes of which one is stored",
                              8};

const Entries resampling{
    {.name = "interpolate",
     .family = Family::neural,
     .arguments = "x, sizes, options = {}",
     .says = "x [N, C, size..] in other sizes: of each axis the nearest element (floor(i·old/new)), or the mean of 2 "
             "(linear) or 4 (cubic: Keys' kernel with -0.75, or -0.5 where `.antialias`) around it; beyond the edge "
             "stands the last one",
     .tolerance = kWeighted,
     .samples = {sized("nearest", 7, 3, {}), sized("linear", 7, 3, {.mode = Resampling::linear}),
                 sized("linear, corners aligned", 7, 3, {.mode = Resampling::linear, .align_corners = true}),
                 sized("linear, antialiased", 7, 2, {.mode = Resampling::linear, .antialias = true}),
                 sized("cubic", 7, 3, {.mode = Resampling::cubic}),
                 sized("cubic, antialiased", 3, 2, {.mode = Resampling::cubic, .antialias = true})},
     .bad = {{shape,
              {"interpolate", "sizes", "1 or more", "[0]"},
              [](auto make) {
                interpolate(make({1, 1, 4, 4}), 0);
              }},
             {shape,
              {"interpolate", "align_corners"},
              [](auto make) {
                interpolate(make({1, 1, 4, 4}), 2, {.align_corners = true});
              }}}},
    {.name = "grid_sample",
     .family = Family::neural,
     .arguments = "x, grid, options = {}",
     .says = "x [N, C, H, W] at the places (x, y) in [-1, 1] that grid [N, Ho, Wo, 2] gives: [N, C, Ho, Wo]",
     .tolerance = {64, "weights of places that are rounded", 16},
     .samples = {sampled_at("linear", {}),
                 sampled_at("linear, border, corners aligned", {.padding = GridPadding::border, .align_corners = true}),
                 sampled_at("linear, reflection", {.padding = GridPadding::reflection}), nearest_sample()},
     .bad = {{shape,
              {"grid_sample", "grid", "[1, Ho, Wo, 2]", "f32[2, 3, 3, 2]"},
              [](auto make) {
                grid_sample(make({1, 1, 4, 4}), make({2, 3, 3, 2}));
              }},
             {unsupported,
              {"grid_sample", "mode"},
              [](auto make) {
                grid_sample(make({1, 1, 4, 4}), make({1, 3, 3, 2}), {.mode = Resampling::cubic});
              }}}},
};

}  // namespace
}  // namespace tern::operations
