// Entries of the functions of rows (row.cpp).
#include <algorithm>
#include <cmath>
#include <span>

#include "ops/operands.trial.hpp"

namespace tern::operations {

std::vector<Sample> weighted_cross_entropy_samples();  // neural/losses.trial.cpp

namespace {

using enum ErrorKind;

// ---- references: a row at a time, in plain loops ----
using Row = std::span<double>;

/// f(row, its number) on a copy of x, whose rows it changes.
template <class F> std::vector<Values> rows_changed(const Values& x, F f) {
  Values y = x;
  const std::size_t length = static_cast<std::size_t>(x.shape.back());
  for (std::size_t row = 0; length > 0 && row < y.of.size() / length; ++row)
    f(Row(y.of).subspan(row * length, length), row);
  return {y};
}
Values added(const Values& a, const Values& b) {
  Values y = a;
  for (std::size_t i = 0; i < y.of.size(); ++i) y.of[i] += b.of[i];
  return y;
}
/// log Σ exp of the first `seen` elements, from the largest on.
double log_sum_from_largest(Row row, std::size_t seen) {
  const double top = *std::max_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(seen));
  double total = 0;
  for (std::size_t i = 0; i < seen; ++i) total += std::exp(row[i] - top);
  return top + std::log(total);
}
/// Softmax of the first `seen` elements; the others get 0.
void softmax_of(Row row, std::size_t seen) {
  const double log_total = log_sum_from_largest(row, seen);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = i < seen ? std::exp(row[i] - log_total) : 0;
}
double mean_of(Row row, auto f) {
  double total = 0;
  for (const double v : row) total += f(v);
  return total / static_cast<double>(row.size());
}
void rms_norm_of(Row row, const Values& weight, double eps) {
  const double size = std::sqrt(mean_of(row, [](double v) { return v * v; }) + eps);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] *= weight.of[i] / size;
}
void layer_norm_of(Row row, const Values& weight, const Values& bias, double eps) {
  const double mean = mean_of(row, [](double v) { return v; });
  const double size = std::sqrt(mean_of(row, [&](double v) { return (v - mean) * (v - mean); }) + eps);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = (row[i] - mean) * weight.of[i] / size + bias.of[i];
}
std::vector<Values> cross_entropy_of(const Values& x, bool some_ignored, double smoothing) {
  const std::vector<std::int32_t> label = labels(x.shape, some_ignored);
  double loss = 0, counted = 0;
  rows_changed(x, [&](Row row, std::size_t r) {
    if (label[r] == kIgnored) return;
    const double log_total = log_sum_from_largest(row, row.size());
    const double picked = row[static_cast<std::size_t>(label[r])], mean = mean_of(row, [](double v) { return v; });
    loss += log_total - (1 - smoothing) * picked - smoothing * mean, ++counted;
  });
  return {{{}, {loss / counted}}};
}

// ---- operands ----
std::vector<Shape> scores(Sizes s) { return {{2, s.rows, s.columns}}; }
std::vector<Shape> one_weight(Sizes s) { return {{s.rows, s.columns}, {s.columns}}; }
std::vector<Shape> weight_and_bias(Sizes s) { return {{s.rows, s.columns}, {s.columns}, {s.columns}}; }
std::vector<Shape> residual_and_weight(Sizes s) { return {{s.rows, s.columns}, {s.rows, s.columns}, {s.columns}}; }
std::vector<Shape> residual_weight_and_bias(Sizes s) {
  return {{s.rows, s.columns}, {s.rows, s.columns}, {s.columns}, {s.columns}};
}
template <class T> std::vector<T> both(const ResidualNorm<T>& y) { return {y.result, y.sum}; }

/// Four times the loss: else some third derivatives are within what bf16 rounds away.
template <bool ignores> Sample cross_entropy_sample(const char* with, const CrossEntropyOptions& options) {
  return {
      .with = with,
      .shapes = matrix,
      .call = [options](const auto& x) { return cross_entropy(x, tensor(labels(x.shape(), ignores)), options) * 4; },
      .reference =
          [options](const auto& x) {
            std::vector<Values> y = cross_entropy_of(x[0], ignores, options.smoothing);
            return y[0].of[0] *= 4, y;
          },
      .empty = {},
      .ahead = Ahead::yes};
}

std::vector<Sample> cross_entropy_samples() {
  std::vector<Sample> samples = {
      cross_entropy_sample<false>("every label", {}),
      cross_entropy_sample<true>("ignored labels", {.ignored = kIgnored}),
      cross_entropy_sample<false>("smoothing", {.smoothing = 0.1}),
      cross_entropy_sample<true>("ignored labels and smoothing", {.ignored = kIgnored, .smoothing = 0.25})};
  for (Sample& sample : weighted_cross_entropy_samples()) samples.push_back(std::move(sample));
  return samples;
}

constexpr Pointwise unit{"unit", [](auto v, auto gain) { return v * rsqrt(sum(v * v) + 0.5) * gain; }};

constexpr Tolerance kExponentials{16, "an exponential errs by at most 2 units, a sum of 37 of them by a few more"};
constexpr Tolerance kRowNorms{128, "sums of 37 squares, their root, and three products of values up to 4"};

const Entries rows{
    {.name = "softmax",
     .family = Family::rows,
     .arguments = "x, axis = -1",
     .says = "exp(x) / Σ exp(x) along an axis, whatever the size of x",
     .tolerance = kExponentials,
     .samples = {{.with = "the last axis",
                  .shapes = matrix,
                  .call = [](const auto& x) { return softmax(x); },
                  .reference =
                      [](const auto& x) {
                        return rows_changed(x[0], [](Row row, std::size_t) { softmax_of(row, row.size()); });
                      },
                  .kernel_calls = 1,
                  .ahead = Ahead::yes},
                 {.with = "the first axis",
                  .shapes = matrix,
                  .call = [](const auto& x) { return softmax(x, 0); },
                  .reference =
                      [](const auto& x) {
                        const Values y = rows_changed(transposed(x[0]),
                                                      [](Row row, std::size_t) { softmax_of(row, row.size()); })[0];
                        return std::vector{transposed(y)};
                      },
                  .empty = {{3, 0}},
                  .kernel_calls = 1,
                  .ahead = Ahead::yes}},
     .bad = {{index,
              {"softmax", "axis 2", "out of range"},
              [](auto make) {
                softmax(make({2, 3}), 2);
              }},
             {dtype,
              {"softmax", ".to(f32)"},
              [](auto make) {
                softmax(make({2, 3}, i32));
              }}}},
    {.name = "log_softmax",
     .family = Family::rows,
     .arguments = "x, axis = -1",
     .says = "x - log Σ exp(x) along an axis",
     .tolerance = kExponentials,
     .samples = {{.with = "the last axis",
                  .shapes = matrix,
                  .call = [](const auto& x) { return log_softmax(x); },
                  .reference =
                      [](const auto& x) {
                        return rows_changed(x[0], [](Row row, std::size_t) {
                          const double log_total = log_sum_from_largest(row, row.size());
                          for (double& v : row) v -= log_total;
                        });
                      },
                  .kernel_calls = 1,
                  .ahead = Ahead::yes},
                 {.with = "the first axis",
                  .shapes = matrix,
                  .call = [](const auto& x) { return log_softmax(x, 0); },
                  .empty = {{3, 0}},
                  .kernel_calls = 1,
                  .ahead = Ahead::yes}},
     .bad = {{index,
              {"log_softmax", "axis -3", "out of range"},
              [](auto make) {
                log_softmax(make({2, 3}), -3);
              }}}},
    {.name = "causal_softmax",
     .family = Family::rows,
     .arguments = "x",
     .says =
         "Softmax over the last axis of scores [.., L, S], L ≤ S, of which row i sees the columns j ≤ i + S - L: the "
         "others get 0, and no gradient",
     .tolerance = kExponentials,
     .samples = {{.with = "a batch",
                  .shapes = scores,
                  .call = [](const auto& x) { return causal_softmax(x); },
                  .reference =
                      [](const auto& x) {
                        const auto rows = static_cast<std::size_t>(x[0].shape[1]),
                                   columns = static_cast<std::size_t>(x[0].shape[2]);
                        return rows_changed(
                            x[0], [=](Row row, std::size_t r) { softmax_of(row, r % rows + 1 + columns - rows); });
                      },
                  .kernel_calls = 1},
                 {.with = "a matrix",
                  .shapes = matrix,
                  .call = [](const auto& x) { return causal_softmax(x); },
                  .ahead = Ahead::yes}},
     .bad = {{shape,
              {"causal_softmax", "f32[3, 2]"},
              [](auto make) {
                causal_softmax(make({3, 2}));
              }},
             {shape, {"causal_softmax", "f32[3]"}, [](auto make) { causal_softmax(make({3})); }}}},
    {.name = "rms_norm",
     .family = Family::rows,
     .arguments = "x, weight, eps = 1e-6",
     .says = "x / sqrt(mean(x²) + eps) · weight, over the last axis; weight [N]",
     .tolerance = kRowNorms,
     .samples = {{.shapes = one_weight,
                  .call = [](const auto& x, const auto& weight) { return rms_norm(x, weight); },
                  .reference =
                      [](const auto& x) {
                        return rows_changed(x[0], [&](Row row, std::size_t) { rms_norm_of(row, x[1], 1e-6); });
                      },
                  .kernel_calls = 1,
                  .ahead = Ahead::and_of_first_alone}},
     .bad = {{shape,
              {"rms_norm", "weight", "f32[2, 3]", "f32[2]"},
              [](auto make) {
                rms_norm(make({2, 3}), make({2}));
              }}}},
    {.name = "layer_norm",
     .family = Family::rows,
     .arguments = "x, weight, bias, eps = 1e-5",
     .says = "(x - mean) / sqrt(biased variance + eps) · weight + bias, over the last axis; weight, bias [N]",
     .tolerance = kRowNorms,
     .samples = {{.shapes = weight_and_bias,
                  .call = [](const auto& x, const auto& weight,
                             const auto& bias) { return layer_norm(x, weight, bias, 0.1); },
                  .reference =
                      [](const auto& x) {
                        return rows_changed(x[0], [&](Row row, std::size_t) { layer_norm_of(row, x[1], x[2], 0.1); });
                      },
                  .kernel_calls = 1,
                  .ahead = Ahead::and_of_first_alone}},
     .bad = {{shape,
              {"layer_norm", "weight", "f32[2, 3]", "f32[1, 3]"},
              [](auto make) {
                layer_norm(make({2, 3}), make({1, 3}), make({3}));
              }},
             {shape,
              {"layer_norm", "bias", "f32[4]"},
              [](auto make) {
                layer_norm(make({2, 3}), make({3}), make({4}));
              }}}},
    {.name = "add_rms_norm",
     .family = Family::rows,
     .arguments = "x, residual, weight, eps = 1e-6",
     .says = "{rms_norm(x + residual, weight), x + residual} in one pass; x and residual of one shape",
     .tolerance = kRowNorms,
     .samples = {{.with = "the norm",
                  .shapes = residual_and_weight,
                  .call = [](const auto& x, const auto& r, const auto& w) { return add_rms_norm(x, r, w, 0.1).result; },
                  .ahead = Ahead::yes},
                 {.with = "both results",
                  .shapes = residual_and_weight,
                  .call = [](const auto& x, const auto& r, const auto& w) { return both(add_rms_norm(x, r, w, 0.1)); },
                  .reference =
                      [](const auto& x) {
                        const Values s = added(x[0], x[1]);
                        std::vector<Values> y =
                            rows_changed(s, [&](Row row, std::size_t) { rms_norm_of(row, x[2], 0.1); });
                        return y.push_back(s), y;
                      },
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"add_rms_norm", "residual", "f32[3]", "f32[2, 3]"},
              [](auto make) {
                add_rms_norm(make({2, 3}), make({3}), make({3}));
              }}}},
    {.name = "add_layer_norm",
     .family = Family::rows,
     .arguments = "x, residual, weight, bias, eps = 1e-5",
     .says = "{layer_norm(x + residual, weight, bias), x + residual} in one pass",
     .tolerance = kRowNorms,
     .samples = {{.with = "the norm",
                  .shapes = residual_weight_and_bias,
                  .call = [](const auto& x, const auto& r, const auto& w,
                             const auto& b) { return add_layer_norm(x, r, w, b, 0.1).result; },
                  .ahead = Ahead::yes},
                 {.with = "both results",
                  .shapes = residual_weight_and_bias,
                  .call = [](const auto& x, const auto& r, const auto& w,
                             const auto& b) { return both(add_layer_norm(x, r, w, b, 0.1)); },
                  .reference =
                      [](const auto& x) {
                        const Values s = added(x[0], x[1]);
                        std::vector<Values> y =
                            rows_changed(s, [&](Row row, std::size_t) { layer_norm_of(row, x[2], x[3], 0.1); });
                        return y.push_back(s), y;
                      },
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"add_layer_norm", "bias", "f32[2]"},
              [](auto make) {
                add_layer_norm(make({2, 3}), make({2, 3}), make({3}), make({2}));
              }},
             {shape,
              {"add_layer_norm", "residual"},
              [](auto make) {
                add_layer_norm(make({2, 3}), make({2, 4}), make({3}), make({3}));
              }}}},
    {.name = "cross_entropy",
     .family = Family::rows,
     .arguments = "logits, labels, options = {}",
     .says =
         "Mean over the rows of -log softmax(logits)[label]; logits [N, C] floating, labels [N] i32 or i64, in [0, C) "
         "or ignored",
     .tolerance = kExponentials,
     .samples = cross_entropy_samples(),
     .bad = {{shape,
              {"cross_entropy", "f32[2, 3]", "i32[3]"},
              [](auto make) {
                cross_entropy(make({2, 3}), zeros({3}, i32));
              }},
             {shape, {"cross_entropy", "f32[3]"}, [](auto make) { cross_entropy(make({3}), zeros({3}, i32)); }},
             {dtype,
              {"cross_entropy", "labels", "i32 or i64"},
              [](auto make) {
                cross_entropy(make({2, 3}), make({2}));
              }},
             {index,
              {"cross_entropy", "8", "size 3"},
              [](auto make) {
                cross_entropy(make({2, 3}), tensor({7, 8}), {.ignored = 7});
              }},
             {shape,
              {"cross_entropy", "smoothing", "1.5"},
              [](auto make) {
                cross_entropy(make({2, 3}), tensor({0, 1}), {.smoothing = 1.5});
              }}}},
    {.name = "row_formula",
     .family = Family::rows,
     .arguments = "formula, arguments",
     .says = "A formula with reductions (sum, mean, max, min) along the last axis: row_formula(formula, x, weight…)",
     .tolerance = kRowNorms,
     .samples = {{.shapes = one_weight,
                  .call = [](const auto& x, const auto& gain) { return row_formula(unit, x, gain); },
                  .reference =
                      [](const auto& x) {
                        return rows_changed(x[0], [&](Row row, std::size_t) {
                          const double size = std::sqrt(
                              mean_of(row, [](double v) { return v * v; }) * static_cast<double>(row.size()) + 0.5);
                          for (std::size_t i = 0; i < row.size(); ++i) row[i] *= x[1].of[i] / size;
                        });
                      }}},
     .bad = {{shape,
              {"unit", "takes 2 arguments, got 1"},
              [](auto make) {
                row_formula(unit, make({2, 3}));
              }}}},
};

}  // namespace
}  // namespace tern::operations
