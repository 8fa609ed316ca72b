// Entries of the losses (losses.cpp).
#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// f(a, b) of each pair of elements, reduced.
template <class F> auto pairwise(Reduction reduction, F f) {
  return [=](const std::vector<Values>& x) {
    Values y{x[0].shape, {}};
    double sum = 0;
    for (std::size_t i = 0; i < x[0].of.size(); ++i) y.of.push_back(f(x[0].of[i], x[1].of[i])), sum += y.of.back();
    if (reduction == Reduction::none) return std::vector{y};
    return std::vector{Values{{}, {reduction == Reduction::sum ? sum : sum / static_cast<double>(x[0].of.size())}}};
  };
}
/// A sample of a loss of x and a target of its shape for one reduction.
template <class Loss, class F> Sample reduced_sample(const char* with, Reduction reduction, Loss loss, F f) {
  return {.with = with,
          .shapes = two_alike,
          .call = [=](const auto& x, const auto& target) { return loss(x, target, reduction); },
          .reference = pairwise(reduction, f),
          .empty = {}};
}
template <class Loss, class F> std::vector<Sample> with_each_reduction(Loss loss, F f) {
  return {reduced_sample("the mean", Reduction::mean, loss, f), reduced_sample("the sum", Reduction::sum, loss, f),
          reduced_sample("each element", Reduction::none, loss, f)};
}

// ---- rows with a label ----
double weight_of(std::size_t label) { return 0.5 + 0.25 * static_cast<double>(label % 4); }
template <class X> Tensor weights(const X& x) {
  std::vector<float> of;
  for (std::int64_t c = 0; c < x.size(1); ++c) of.push_back(static_cast<float>(weight_of(static_cast<std::size_t>(c))));
  return tensor(of, x.device()).to(x.dtype());
}
/// Σ over rows with a label of loss(row, label), over the sum of the labels' weights for a mean.
template <class F> std::vector<Values> labelled(const Values& x, Reduction reduction, F loss) {
  const auto columns = static_cast<std::size_t>(x.shape[1]);
  const std::vector<std::int32_t> label = labels(x.shape, true);
  Values rows{{x.shape[0]}, {}};
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    rows.of.push_back(0);
    if (label[i] == kIgnored) continue;
    const auto at = static_cast<std::size_t>(label[i]);
    rows.of.back() = loss(x.of.data() + i * columns, columns, at);
    sum += rows.of.back(), weight += weight_of(at);
  }
  if (reduction == Reduction::none) return {rows};
  return {{{}, {reduction == Reduction::sum ? sum : sum / weight}}};
}
double smoothed(const double* row, std::size_t n, std::size_t label, double smoothing) {
  const double total = log_sum_exp({row, n});
  double spread = 0;
  for (std::size_t i = 0; i < n; ++i) spread += weight_of(i) * (total - row[i]) / static_cast<double>(n);
  return (1 - smoothing) * weight_of(label) * (total - row[label]) + smoothing * spread;
}
Sample nll(const char* with, Reduction reduction) {
  return {.with = with,
          .shapes = matrix,
          .call =
              [=](const auto& x) {
                return nll_loss(x, tensor(labels(x.shape(), true), x.device()),
                                {.weight = weights(x), .ignored = kIgnored, .reduction = reduction});
              },
          .reference =
              [=](const auto& x) {
                return labelled(x[0], reduction, [](const double* row, std::size_t, std::size_t label) {
                  return -weight_of(label) * row[label];
                });
              },
          .empty = {}};
}

constexpr Tolerance kLossSums{64, "a sum of 185 terms of up to 4, and an exponential or two"};
auto mse = [](const auto& x, const auto& t, Reduction r) { return mse_loss(x, t, r); };
auto l1 = [](const auto& x, const auto& t, Reduction r) { return l1_loss(x, t, r); };
auto huber = [](const auto& x, const auto& t, Reduction r) { return huber_loss(x, t, 0.6, r); };
auto bce = [](const auto& x, const auto& t, Reduction r) {
  return binary_cross_entropy_with_logits(
      x, t,
      {.weight = full({1}, 0.75, {.dtype = x.dtype(), .device = x.device()}),
       .positive_weight = full({1}, 2.5, {.dtype = x.dtype(), .device = x.device()}),
       .reduction = r});
};
/// Targets in [½, 2).
auto kl = [](const auto& x, const auto& t, Reduction r) { return kl_div(x, exp2(t), {.reduction = r}); };
auto kl_of_logs = [](const auto& x, const auto& t, Reduction r) {
  return kl_div(x, t, {.log_target = true, .per_row = true, .reduction = r});
};
double log_kl(double q, double p) { return std::exp(p) * (p - q); }

const Entries losses{
    {.name = "mse_loss",
     .family = Family::neural,
     .arguments = "x, target, reduction = Reduction::mean",
     .says = "(x - target)², averaged (or as `reduction` says); both of one shape",
     .tolerance = kLossSums,
     .samples = with_each_reduction(mse, [](double a, double b) { return (a - b) * (a - b); }),
     .bad = {{shape,
              {"mse_loss", "target", "f32[2, 3]", "f32[3]"},
              [](auto make) {
                mse_loss(make({2, 3}), make({3}));
              }},
             {dtype, {"mse_loss", "x", "floating"}, [](auto make) { mse_loss(make({2}, i32), make({2}, i32)); }}}},
    {.name = "l1_loss",
     .family = Family::neural,
     .arguments = "x, target, reduction = Reduction::mean",
     .says = "|x - target|, averaged (or as `reduction` says); both of one shape",
     .tolerance = kLossSums,
     .samples = with_each_reduction(l1, [](double a, double b) { return std::abs(a - b); }),
     .bad = {{shape,
              {"l1_loss", "target", "f32[3]"},
              [](auto make) {
                l1_loss(make({2, 3}), make({3}));
              }}}},
    {.name = "huber_loss",
     .family = Family::neural,
     .arguments = "x, target, delta = 1, reduction = Reduction::mean",
     .says =
         "With d = x - target: d²/2 where |d| ≤ delta, else delta·(|d| - delta/2), averaged (or as `reduction` says)",
     .tolerance = kLossSums,
     .samples = with_each_reduction(huber,
                                    [](double a, double b) {
                                      const double d = std::abs(a - b);
                                      return d <= 0.6 ? d * d / 2 : 0.6 * (d - 0.3);
                                    }),
     .bad = {{shape,
              {"huber_loss", "target", "f32[3]"},
              [](auto make) {
                huber_loss(make({2, 3}), make({3}));
              }},
             {value, {"huber_loss", "delta", "above 0"}, [](auto make) { huber_loss(make({2}), make({2}), 0); }}}},
    {.name = "binary_cross_entropy_with_logits",
     .family = Family::neural,
     .arguments = "logits, target, options = {}",
     .says = "-target·log σ(logits) - (1 - target)·log(1 - σ(logits)), finite for any finite logit, averaged (or as "
             "`.reduction` says); targets in [0, 1], of the logits' shape",
     .tolerance = kLossSums,
     .samples = with_each_reduction(
         bce, [](double x,
                 double t) { return 0.75 * (2.5 * t * std::log1p(std::exp(-x)) + (1 - t) * std::log1p(std::exp(x))); }),
     .bad = {{shape,
              {"binary_cross_entropy_with_logits", "target", "f32[3]"},
              [](auto make) {
                binary_cross_entropy_with_logits(make({2, 3}), make({3}));
              }},
             {shape,
              {"binary_cross_entropy_with_logits", "[2, 3]", "[4]"},
              [](auto make) {
                binary_cross_entropy_with_logits(make({2, 3}), make({2, 3}), {.weight = ones({4})});
              }}}},
    {.name = "nll_loss",
     .family = Family::neural,
     .arguments = "log_probabilities, labels, options = {}",
     .says = "-log_probabilities[n, labels[n]], averaged (or as `.reduction` says): [N, C] and labels [N] i32 or i64",
     .tolerance = {16, "a sum of 5 products, and a division"},
     .samples = {nll("the mean", Reduction::mean), nll("the sum", Reduction::sum), nll("each row", Reduction::none)},
     .bad = {{shape,
              {"nll_loss", "labels", "[2]", "i32[3]"},
              [](auto make) {
                nll_loss(make({2, 3}), zeros({3}, i32));
              }},
             {index,
              {"nll_loss", "3", "size 3"},
              [](auto make) {
                nll_loss(make({2, 3}), tensor({0, 3}));
              }},
             {shape,
              {"nll_loss", "weight", "[3]", "f32[2]"},
              [](auto make) {
                nll_loss(make({2, 3}), tensor({0, 1}), {.weight = ones({2})});
              }}}},
    {.name = "kl_div",
     .family = Family::neural,
     .arguments = "x, target, options = {}",
     .says = "target·(log target - x), x logarithms of probabilities, averaged (or as `.reduction` says); both of one "
             "shape",
     .tolerance = {64, "a sum of 185 terms of up to 4 of targets that were rounded to the dtype", 4},
     .samples = {reduced_sample("the mean", Reduction::mean, kl,
                                [](double q, double t) {
                                  const double p = std::exp2(t);
                                  return p * (std::log(p) - q);
                                }),
                 reduced_sample("logarithms", Reduction::none, kl_of_logs, log_kl),
                 {.with = "logarithms, the sum over rows",
                  .shapes = two_alike,
                  .call = [](const auto& x, const auto& t) { return kl_of_logs(x, t, Reduction::mean); },
                  .reference =
                      [](const auto& x) {
                        std::vector<Values> y = pairwise(Reduction::sum, log_kl)(x);
                        return y[0].of[0] /= static_cast<double>(x[0].shape[0]), y;
                      },
                  .empty = {}}},
     .bad = {{shape,
              {"kl_div", "target", "f32[3]"},
              [](auto make) {
                kl_div(make({2, 3}), make({3}));
              }}}},
    {.name = "cosine_similarity",
     .family = Family::neural,
     .arguments = "a, b, axis = -1, eps = 1e-8",
     .says = "Σ a·b / (|a|·|b|) along an axis, each norm at least eps; a and b of one shape",
     .tolerance = kLossSums,
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& a, const auto& b) { return cosine_similarity(a, b, -1, 0.3); },
                  .reference =
                      [](const auto& x) {
                        Values y{{x[0].shape[0]}, {}};
                        const auto columns = static_cast<std::size_t>(x[0].shape[1]);
                        for (std::size_t i = 0; i < static_cast<std::size_t>(x[0].shape[0]); ++i) {
                          double ab = 0, aa = 0, bb = 0;
                          for (std::size_t j = i * columns; j < (i + 1) * columns; ++j)
                            ab += x[0].of[j] * x[1].of[j], aa += x[0].of[j] * x[0].of[j], bb += x[1].of[j] * x[1].of[j];
                          y.of.push_back(ab / std::max(std::sqrt(aa), 0.3) / std::max(std::sqrt(bb), 0.3));
                        }
                        return std::vector{y};
                      },
                  .kernel_calls = 1}},
     .bad = {{shape,
              {"cosine_similarity", "b", "f32[2, 3]", "f32[3]"},
              [](auto make) {
                cosine_similarity(make({2, 3}), make({3}));
              }},
             {index, {"cosine_similarity", "axis 2"}, [](auto make) { cosine_similarity(make({2}), make({2}), 2); }}}},
};

/// cross_entropy with what the losses add to it; its entry stands with the functions of rows.
constexpr double kSmoothing = 0.25;

}  // namespace

std::vector<Sample> weighted_cross_entropy_samples() {
  const auto labelled_sample = [](const char* with, Reduction reduction, double smoothing) {
    return Sample{
        .with = with,
        .shapes = matrix,
        .call =
            [=](const auto& x) {
              return cross_entropy(
                         x, tensor(labels(x.shape(), true), x.device()),
                         {.ignored = kIgnored, .smoothing = smoothing, .weight = weights(x), .reduction = reduction}) *
                     4;
            },
        .reference =
            [=](const auto& x) {
              std::vector<Values> y =
                  labelled(x[0], reduction, [=](const double* row, std::size_t n, std::size_t label) {
                    return smoothed(row, n, label, smoothing);
                  });
              for (double& v : y[0].of) v *= 4;
              return y;
            },
        .empty = {}};
  };
  const Sample soft{.with = "soft targets",
                    .shapes = two_alike,
                    .call = Call::of_one_type([](const auto& x, const auto& target) {
                      return cross_entropy(x, target, {.smoothing = kSmoothing, .weight = weights(x)}) * 4;
                    }),
                    .reference =
                        [](const auto& x) {
                          const auto columns = static_cast<std::size_t>(x[0].shape[1]);
                          double sum = 0;
                          for (std::size_t i = 0; i < x[0].of.size(); ++i) {
                            const double total = log_sum_exp({x[0].of.data() + i / columns * columns, columns});
                            const double share =
                                (1 - kSmoothing) * x[1].of[i] + kSmoothing / static_cast<double>(columns);
                            sum += weight_of(i % columns) * share * (total - x[0].of[i]);
                          }
                          return std::vector{Values{{}, {4 * sum / static_cast<double>(x[0].shape[0])}}};
                        },
                    .empty = {}};
  return {labelled_sample("weights", Reduction::mean, 0), labelled_sample("weights, each row", Reduction::none, 0),
          labelled_sample("weights and smoothing, the sum", Reduction::sum, kSmoothing), soft};
}

}  // namespace tern::operations
