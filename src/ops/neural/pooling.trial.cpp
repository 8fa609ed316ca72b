// Entries of pooling, unfold and fold (pooling.cpp).
#include <algorithm>
#include <limits>

#include "ops/lines.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// Windows over x [N, C, H, W] in plain loops.
struct WindowLoops {
  std::int64_t kh = 2, kw = 2, stride = 1, padding = 0, dilation = 1;

  std::int64_t count(std::int64_t size, std::int64_t kernel) const {
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
  /// f(plane, oh, ow, kh, kw, place in the plane; -1 outside) for planes of height × width, in this order.
  template <class F> void each(std::int64_t planes, std::int64_t height, std::int64_t width, F f) const {
    for (std::int64_t p = 0; p < planes; ++p)
      for (std::int64_t i = 0; i < count(height, kh); ++i)
        for (std::int64_t j = 0; j < count(width, kw); ++j)
          for (std::int64_t a = 0; a < kh; ++a)
            for (std::int64_t b = 0; b < kw; ++b) {
              const std::int64_t row = i * stride + a * dilation - padding,
                                 column = j * stride + b * dilation - padding;
              const bool inside = row >= 0 && row < height && column >= 0 && column < width;
              f(p, i, j, a * kw + b, inside ? row * width + column : -1);
            }
  }
  /// A number for each window: of its elements, and of how many there are.
  template <class F> std::vector<Values> pooled(const Values& x, F of) const {
    const std::int64_t h = x.shape[2], w = x.shape[3];
    Values y{{x.shape[0], x.shape[1], count(h, kh), count(w, kw)}, {}};
    std::vector<double> window;
    each(x.shape[0] * x.shape[1], h, w, [&](auto p, auto, auto, std::int64_t k, std::int64_t at) {
      if (at >= 0) window.push_back(x.of[static_cast<std::size_t>(p * h * w + at)]);
      if (k == kh * kw - 1) y.of.push_back(of(window)), window.clear();
    });
    return {y};
  }
  /// The place of element k of window (i, j) in columns [N, C·K, windows].
  std::size_t column(std::int64_t p, std::int64_t k, std::int64_t window, std::int64_t windows) const {
    return static_cast<std::size_t>((p * kh * kw + k) * windows + window);
  }
  std::vector<Values> unfolded(const Values& x) const {
    const std::int64_t h = x.shape[2], w = x.shape[3], windows = count(h, kh) * count(w, kw);
    Values y{{x.shape[0], x.shape[1] * kh * kw, windows}, {}};
    y.of.resize(static_cast<std::size_t>(x.shape[0] * x.shape[1] * kh * kw * windows));
    each(x.shape[0] * x.shape[1], h, w, [&](auto p, auto i, auto j, std::int64_t k, std::int64_t at) {
      if (at >= 0) y.of[column(p, k, i * count(w, kw) + j, windows)] = x.of[static_cast<std::size_t>(p * h * w + at)];
    });
    return {y};
  }
  std::vector<Values> folded(const Values& x, std::int64_t h, std::int64_t w) const {
    const std::int64_t channels = x.shape[1] / (kh * kw), windows = count(h, kh) * count(w, kw);
    Values y{{x.shape[0], channels, h, w}, {}};
    y.of.resize(static_cast<std::size_t>(x.shape[0] * channels * h * w));
    each(x.shape[0] * channels, h, w, [&](auto p, auto i, auto j, std::int64_t k, std::int64_t at) {
      if (at >= 0) y.of[static_cast<std::size_t>(p * h * w + at)] += x.of[column(p, k, i * count(w, kw) + j, windows)];
    });
    return {y};
  }
};
constexpr Tolerance kMeans{64, "sums of up to 9 elements"};

const Entries pools{
    {.name = "max_pool",
     .family = Family::neural,
     .arguments = "x, kernel, options = {}",
     .says = "The largest element of each window of `kernel` places; padding is -inf",
     .tolerance = {0, "no element changes"},
     .samples = {{.with = "windows side by side",
                  .shapes = image,
                  .call = [](const auto& x) { return max_pool(x, 2); },
                  .reference =
                      [](const auto& x) {
                        return WindowLoops{.stride = 2}.pooled(
                            x[0], [](const auto& w) { return *std::ranges::max_element(w); });
                      },
                  .empty = {{0, 3}}},
                 {.with = "windows that overlap, padding",
                  .shapes = image,
                  .call =
                      [](const auto& x) {
                        return max_pool(x, {3, 2}, {.stride = 1, .padding = 1});
                      },
                  .reference =
                      [](const auto& x) {
                        return WindowLoops{.kh = 3, .padding = 1}.pooled(
                            x[0], [](const auto& w) { return *std::ranges::max_element(w); });
                      }}},
     .bad = {{shape,
              {"max_pool", "kernel", "padded size, 2", "3"},
              [](auto make) {
                max_pool(make({1, 1, 2, 2}), 3);
              }},
             {shape,
              {"max_pool", "padding", "half", "[2]"},
              [](auto make) {
                max_pool(make({1, 1, 4, 4}), 2, {.padding = 2});
              }},
             {shape,
              {"max_pool", "stride", "1 or more", "[0]"},
              [](auto make) {
                max_pool(make({1, 1, 4, 4}), 2, {.stride = 0});
              }},
             {shape,
              {"max_pool", "x", "[N, C, sizes..]", "f32[2, 3]"},
              [](auto make) {
                max_pool(make({2, 3}), 2);
              }}}},
    {.name = "avg_pool",
     .family = Family::neural,
     .arguments = "x, kernel, options = {}",
     .says = "The mean of each window of `kernel` places",
     .tolerance = kMeans,
     .samples = {{.with = "padding counts",
                  .shapes = image,
                  .call =
                      [](const auto& x) {
                        return avg_pool(x, {3, 2}, {.stride = {2, 2}, .padding = 1});
                      },
                  .reference =
                      [](const auto& x) {
                        return WindowLoops{.kh = 3, .stride = 2, .padding = 1}.pooled(
                            x[0], [](const auto& w) { return total(w) / 6; });
                      }},
                 {.with = "padding does not count",
                  .shapes = image,
                  .call =
                      [](const auto& x) {
                        return avg_pool(x, {3, 2}, {.stride = 2, .padding = 1, .count_padding = false});
                      },
                  .reference =
                      [](const auto& x) {
                        return WindowLoops{.kh = 3, .stride = 2, .padding = 1}.pooled(
                            x[0], [](const auto& w) { return total(w) / static_cast<double>(w.size()); });
                      }}},
     .bad = {{shape,
              {"avg_pool", "kernel", "one number or 2"},
              [](auto make) {
                avg_pool(make({1, 1, 4, 4}), {1, 1, 1});
              }}}},
    {.name = "adaptive_avg_pool",
     .family = Family::neural,
     .arguments = "x, sizes",
     .says = "Means of windows that divide x into `sizes`: window i of n along an axis of L goes from floor(i·L/n) to "
             "before ceil((i + 1)·L/n)",
     .tolerance = {64, "two sums of up to 19 elements, of which one is stored", 2},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{2, s.rows, 5, s.columns + 6}};
                      },
                  .call =
                      [](const auto& x) {
                        return adaptive_avg_pool(x, {4, 5});
                      },
                  .reference =
                      [](const auto& x) {
                        const auto h = x[0].shape[2], w = x[0].shape[3];
                        Values y{{x[0].shape[0], x[0].shape[1], 4, 5}, {}};
                        for (std::int64_t p = 0; p < x[0].shape[0] * x[0].shape[1]; ++p)
                          for (std::int64_t i = 0; i < 4; ++i)
                            for (std::int64_t j = 0; j < 5; ++j) {
                              double sum = 0, count = 0;
                              for (std::int64_t a = i * h / 4; a < ((i + 1) * h + 3) / 4; ++a)
                                for (std::int64_t b = j * w / 5; b < ((j + 1) * w + 4) / 5; ++b)
                                  sum += x[0].of[static_cast<std::size_t>((p * h + a) * w + b)], ++count;
                              y.of.push_back(sum / count);
                            }
                        return std::vector{y};
                      },
                  .sizes = {{2, 3}, {1, 1}, {2, 32}}}},
     .bad = {{shape,
              {"adaptive_avg_pool", "sizes", "1 or more"},
              [](auto make) {
                adaptive_avg_pool(make({1, 1, 4, 4}), 0);
              }}}},
    {.name = "unfold",
     .family = Family::neural,
     .arguments = "x, kernel, options = {}",
     .says = "A copy of each window of `kernel` places as a column: [N, C, size..] gives [N, C·kernel elements, "
             "windows]",
     .tolerance = {0, "no element changes"},
     .samples = {{.shapes = image,
                  .call =
                      [](const auto& x) {
                        return unfold(x, {2, 3}, {.stride = 2, .padding = 1});
                      },
                  .reference =
                      [](const auto& x) { return WindowLoops{.kw = 3, .stride = 2, .padding = 1}.unfolded(x[0]); }}},
     .bad = {{shape,
              {"unfold", "padding", "0 or more"},
              [](auto make) {
                unfold(make({1, 1, 4, 4}), 2, {.padding = -1});
              }}}},
    {.name = "fold",
     .family = Family::neural,
     .arguments = "columns, sizes, kernel, options = {}",
     .says = "The transpose of unfold: columns [N, C·kernel elements, windows] added up where they came from in [N, C, "
             "sizes..]",
     .tolerance = {16, "sums of up to 4 elements"},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 2 * 6, 3 * 2}};
                      },
                  .call =
                      [](const auto& x) {
                        return fold(x, {4, 4}, {2, 3});
                      },
                  .reference = [](const auto& x) { return WindowLoops{.kw = 3}.folded(x[0], 4, 4); },
                  .sizes = {{2, 3}, {1, 1}}},
                 {.with = "stride and padding",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 6, 3 * 2}};
                      },
                  .call =
                      [](const auto& x) {
                        return fold(x, {5, 4}, {2, 3}, {.stride = 2, .padding = 1});
                      },
                  .reference =
                      [](const auto& x) { return WindowLoops{.kw = 3, .stride = 2, .padding = 1}.folded(x[0], 5, 4); },
                  .sizes = {{2, 3}, {1, 1}}}},
     .bad = {{shape,
              {"fold", "columns", "[N, C·4, 9]", "f32[1, 4, 8]"},
              [](auto make) {
                fold(make({1, 4, 8}), {4, 4}, {2, 2});
              }}}},
};

}  // namespace
}  // namespace tern::operations
