// Entries of the norms of images (norms.cpp).
#include <optional>

#include "ops/entry.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// x [N, C, S] with each group of elements g(n, c) less its mean and over its deviation, then scaled and moved by
/// channel. `groups` of channels; 0: all samples of one channel.
std::vector<Values> normalized(const std::vector<Values>& x, std::size_t groups, double eps) {
  const auto samples = static_cast<std::size_t>(x[0].shape[0]), channels = static_cast<std::size_t>(x[0].shape[1]);
  const std::size_t length = samples * channels == 0 ? 0 : x[0].of.size() / samples / channels;
  const auto group_of = [&](std::size_t i) {
    const std::size_t n = i / (channels * length), c = i / length % channels;
    return groups == 0 ? c : n * groups + c / (channels / groups);
  };
  const std::size_t count = groups == 0 ? channels : samples * groups;
  std::vector<double> sum(count), squares(count), size(count);
  Values y = x[0];
  for (std::size_t i = 0; i < y.of.size(); ++i) sum[group_of(i)] += y.of[i], ++size[group_of(i)];
  for (std::size_t i = 0; i < y.of.size(); ++i) {
    const double d = y.of[i] - sum[group_of(i)] / size[group_of(i)];
    squares[group_of(i)] += d * d;
  }
  for (std::size_t i = 0; i < y.of.size(); ++i) {
    const std::size_t g = group_of(i), c = i / length % channels;
    y.of[i] = (y.of[i] - sum[g] / size[g]) / std::sqrt(squares[g] / size[g] + eps);
    if (x.size() > 1) y.of[i] = y.of[i] * x[1].of[c] + x[2].of[c];
  }
  return {y};
}
/// One value alone is refused.
std::vector<Shape> four_channels(Sizes s) { return {{s.rows, 4, s.columns == 1 ? 2 : s.columns}}; }
std::vector<Shape> four_channels_and_affine(Sizes s) { return {four_channels(s)[0], {4}, {4}}; }
Tensor statistic(const Tensor& x, double first) {
  std::vector<float> of;
  for (std::int64_t c = 0; c < x.size(1); ++c) of.push_back(static_cast<float>(first + 0.25 * static_cast<double>(c)));
  return tensor(of, x.device());
}
/// The running mean (0, ¼, ½, …) and variance (½, ¾, 1, …) of the samples.
std::vector<Values> of_running(const std::vector<Values>& x) {
  Values y = x[0];
  const std::size_t length = y.of.empty() ? 1 : static_cast<std::size_t>(y.shape[2]);
  for (std::size_t i = 0; i < y.of.size(); ++i) {
    const std::size_t c = i / length % 4;
    const double mean = 0.25 * static_cast<double>(c), variance = mean + 0.5;
    y.of[i] = (y.of[i] - mean) / std::sqrt(variance + 1e-5) * x[1].of[c] + x[2].of[c];
  }
  return {y};
}

constexpr Tolerance kImageNorms{128, "sums of up to 185 squares, their root, and three products of values up to 4"};

const Entries norms_of_images{
    {.name = "group_norm",
     .family = Family::neural,
     .arguments = "x, groups, weight = {}, bias = {}, eps = 1e-5",
     .says =
         "x less its mean, over its standard deviation, of each of `groups` groups of channels of each sample; then "
         "· weight + bias, both [C] or none",
     .tolerance = kImageNorms,
     .samples = {{.with = "weight and bias",
                  .shapes = four_channels_and_affine,
                  .call = [](const auto& x, const auto& w, const auto& b) { return group_norm(x, 2, w, b, 0.1); },
                  .reference = [](const auto& x) { return normalized(x, 2, 0.1); },
                  .kernel_calls = 1},
                 {.with = "no weight",
                  .shapes = four_channels,
                  .call = [](const auto& x) { return group_norm(x, 2, {}, {}, 0.1); },
                  .reference = [](const auto& x) { return normalized(x, 2, 0.1); }}},
     .bad = {{shape,
              {"group_norm", "groups", "3 channels", "2"},
              [](auto make) {
                group_norm(make({2, 3}), 2);
              }},
             {shape, {"group_norm", "x", "[N, C, ..]", "f32[3]"}, [](auto make) { group_norm(make({3}), 1); }},
             {shape,
              {"group_norm", "weight", "[4]", "f32[2]"},
              [](auto make) {
                group_norm(make({2, 4}), 2, make({2}));
              }}}},
    {.name = "instance_norm",
     .family = Family::neural,
     .arguments = "x, weight = {}, bias = {}, eps = 1e-5",
     .says = "The same of each channel of each sample",
     .tolerance = kImageNorms,
     .samples = {{.shapes = four_channels_and_affine,
                  .call = [](const auto& x, const auto& w, const auto& b) { return instance_norm(x, w, b, 0.1); },
                  .reference = [](const auto& x) { return normalized(x, 4, 0.1); },
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"instance_norm", "bias", "[4]", "f32[3]"},
              [](auto make) {
                instance_norm(make({2, 4, 5}), make({4}), make({3}));
              }},
             {shape,
              {"instance_norm", "x", "more than one value", "f32[2, 3, 1]"},
              [](auto make) {
                instance_norm(make({2, 3, 1}));
              }}}},
    {.name = "batch_norm",
     .family = Family::neural,
     .arguments = "x, running_mean, running_variance, weight = {}, bias = {}, options = {}",
     .says = "x less the running mean, over the root of the running variance + eps, of each channel; then · weight + "
             "bias, both [C] or none",
     .tolerance = kImageNorms,
     .samples = {{.with = "running statistics",
                  .shapes = four_channels_and_affine,
                  .call =
                      [](const auto& x, const auto& w, const auto& b) {
                        const Tensor& t = elements(x);
                        return batch_norm(x, statistic(t, 0), statistic(t, 0.5), w, b);
                      },
                  .reference = of_running},
                 {.with = "training",
                  .shapes = four_channels_and_affine,
                  .call =
                      [](const auto& x, const auto& w, const auto& b) {
                        const Tensor& t = elements(x);
                        return batch_norm(x, statistic(t, 0), statistic(t, 0.5), w, b, {.training = true, .eps = 0.1});
                      },
                  .reference = [](const auto& x) { return normalized(x, 0, 0.1); },
                  .empty = {}}},
     .bad = {{shape,
              {"batch_norm", "running_mean"},
              [](auto make) {
                batch_norm(make({2, 3}), Tensor(), ones({3}));
              }},
             {shape,
              {"batch_norm", "running_variance", "[3]", "f32[2]"},
              [](auto make) {
                batch_norm(make({2, 3}), ones({3}), ones({2}));
              }},
             {shape,
              {"batch_norm", "x", "more than one value", "f32[1, 3]"},
              [](auto make) {
                batch_norm(make({1, 3}), Tensor(), Tensor(), {}, {}, {.training = true});
              }}}},
};

}  // namespace
}  // namespace tern::operations
