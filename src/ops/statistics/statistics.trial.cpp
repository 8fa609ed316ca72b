// Entries of statistics (statistics.cpp, quantile.cpp, histogram.cpp).
#include <cmath>
#include <numeric>

#include "ops/lines.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

constexpr Tolerance kLineSums{64, "sums of 37 elements"};
constexpr Tolerance kWholeNumbers{0, "whole numbers"};
constexpr Tolerance kDifference{3, "a difference, a product and a sum"};
const std::vector<Sizes> kSeveralRows = {{2, 3}, {5, 37}};

double between(const Line& x, double q) {
  const Line line = sorted_line(x);
  const double at = q * static_cast<double>(line.size() - 1), low = std::floor(at);
  const auto i = static_cast<std::size_t>(low), j = static_cast<std::size_t>(std::ceil(at));
  return line[i] + (at - low) * (line[j] - line[i]);
}
/// Σ (a - mean)(b - mean) of two rows.
double product_of_rows(const Values& x, std::int64_t i, std::int64_t j) {
  const Line a = row_of(x, i), b = row_of(x, j);
  const auto n = static_cast<double>(a.size());
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - total(a) / n) * (b[k] - total(b) / n);
  return sum;
}
template <class F> std::vector<Values> pairs_of_rows(const Values& x, F f) {
  Values y{{x.shape[0], x.shape[0]}, {}};
  for (std::int64_t i = 0; i < x.shape[0]; ++i)
    for (std::int64_t j = 0; j < x.shape[0]; ++j) y.of.push_back(f(i, j));
  return {y};
}
Line differences(const Line& x) {
  Line y;
  for (std::size_t i = 1; i < x.size(); ++i) y.push_back(x[i] - x[i - 1]);
  return y;
}
std::vector<std::int32_t> labels_to_four(std::int64_t count) {
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(static_cast<std::int32_t>(3 * i % 5));
  return list;
}
/// Of labels, which are whole numbers to 4, the sums of weights in [0, 1), [1, 2), [2, 3) and [3, 4].
constexpr std::pair kFour{0.0, 4.0};
std::vector<Values> weights_in_four(const Values& weights) {
  Values y{{4}, Line(4)};
  const auto at = labels_to_four(weights.shape[0]);
  for (std::size_t i = 0; i < at.size(); ++i) y.of[static_cast<std::size_t>(std::min(at[i], 3))] += weights.of[i];
  return {y};
}
template <class F> Sample number_of_row(F call, double (*of_row)(const Line&)) {
  return {.shapes = matrix,
          .call = [call](const auto& x) { return call(x, 1); },
          .reference = [of_row](const auto& x) { return each_row(x[0], of_row); }};
}
template <class F> BadInput over_nothing(const char* name, F call) {
  return {shape, {name, "f32[2, 0]"}, [call](auto make) { call(make({2, 0}), 1); }};
}
#define TERN_CALL(name) [](const auto& x, const auto& axis) { return name(x, axis); }

const Entries reducing{
    {.name = "count_nonzero",
     .family = Family::statistics,
     .arguments = kReductionArguments,
     .says = "How many elements are not 0 (i32); NaN is not",
     .differentiable = false,
     .tolerance = kWholeNumbers,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return count_nonzero(x > 0, {1}); },
                  .reference =
                      [](const auto& x) {
                        return each_row(x[0], [](const Line& line) {
                          return static_cast<double>(std::ranges::count_if(line, [](double v) { return v > 0; }));
                        });
                      }},
                 {.with = "a mask",
                  .shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return count_nonzero(x > 0, {1}, false, {.where = arange(0, x.size(1)) % 2 == 0});
                      },
                  .reference =
                      [](const auto& x) {
                        return each_row(x[0], [](const Line& line) {
                          double count = 0;
                          for (std::size_t i = 0; i < line.size(); i += 2) count += line[i] > 0;
                          return count;
                        });
                      }}},
     .bad = {bad_axis("count_nonzero", TERN_CALL(count_nonzero))}},
    {.name = "nansum",
     .family = Family::statistics,
     .arguments = kReductionArguments,
     .says = "The sum of the elements that are not NaN; of integers the same as sum",
     .tolerance = kLineSums,
     .samples = {number_of_row(TERN_CALL(nansum), total)},
     .bad = {bad_axis("nansum", TERN_CALL(nansum))}},
    {.name = "nanmean",
     .family = Family::statistics,
     .arguments = kReductionArguments,
     .says = "The mean of the elements that are not NaN; where there is none, NaN",
     .tolerance = kLineSums,
     .samples = {number_of_row(TERN_CALL(nanmean),
                               [](const Line& x) { return total(x) / static_cast<double>(x.size()); })},
     .bad = {bad_axis("nanmean", TERN_CALL(nanmean))}},
    {.name = "ptp",
     .family = Family::statistics,
     .arguments = kReductionArguments,
     .says = "The largest element less the smallest; NaN where one is NaN, over nothing an error",
     .tolerance = {1, "a difference"},
     .samples = {number_of_row(TERN_CALL(ptp),
                               [](const Line& x) { return std::ranges::max(x) - std::ranges::min(x); })},
     .bad = {bad_axis("ptp", TERN_CALL(ptp)), over_nothing("ptp", TERN_CALL(ptp))}},
    {.name = "average",
     .family = Family::statistics,
     .arguments = "x, weights, axes = {}, keepdim = false",
     .says = "Σ x·weights / Σ weights",
     .tolerance = {130, "sums of 37 products and of 37 weights, which were rounded to the dtype", 2},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.rows}};
                      },
                  .call = [](const auto& x, const auto& w) { return average(x, w + 2, 0); },
                  .reference =
                      [](const auto& x) {
                        Values y{{x[0].shape[1]}, Line(static_cast<std::size_t>(x[0].shape[1]))};
                        double weights = 0;
                        for (const double w : x[1].of) weights += w + 2;
                        for (std::size_t i = 0; i < x[0].of.size(); ++i)
                          y.of[i % y.of.size()] += x[0].of[i] * (x[1].of[i / y.of.size()] + 2) / weights;
                        return std::vector{y};
                      },
                  .empty = {}}},
     .bad = {{shape,
              {"average", "f32[2, 3]", "f32[2]"},
              [](auto make) {
                average(make({2, 3}), make({2}), 1);
              }}}},
    {.name = "max_with_indices",
     .family = Family::statistics,
     .arguments = "x, axis = -1, keepdim = false",
     .says = "The largest elements along an axis and their positions (i32), of equal ones the first; of NaNs the first "
             "where there is one",
     .tolerance = kChosen,
     .samples = {number_of_row([](const auto& x, int axis) { return max_with_indices(x, axis).values; },
                               [](const Line& x) { return std::ranges::max(x); })},
     .bad = {bad_axis("max_with_indices", TERN_CALL(max_with_indices)),
             over_nothing("max_with_indices", TERN_CALL(max_with_indices))}},
    {.name = "min_with_indices",
     .family = Family::statistics,
     .arguments = "x, axis = -1, keepdim = false",
     .says = "The smallest elements along an axis and their positions; otherwise like max_with_indices",
     .tolerance = kChosen,
     .samples = {number_of_row([](const auto& x, int axis) { return min_with_indices(x, axis).values; },
                               [](const Line& x) { return std::ranges::min(x); })},
     .bad = {bad_axis("min_with_indices", TERN_CALL(min_with_indices)),
             over_nothing("min_with_indices", TERN_CALL(min_with_indices))}},
};

const Entries quantiles{
    {.name = "quantile",
     .family = Family::statistics,
     .arguments = "x, q, axes = {}, keepdim = false, interpolation = Interpolation::linear",
     .says = "The element below which the share q of all lies: that at position q·(n - 1) in order",
     .tolerance = kDifference,
     .archived = {[](DType dtype) {
       const Tensor lines = zeros({2, 1 << 14}, dtype);
       quantile(lines, 0.3, {1}), quantile(lines, tensor(std::vector<double>{0.1, 0.5, 0.7}, DType::f64, cpu()), {1});
     }},
     .samples = {number_of_row([](const auto& x, int axis) { return quantile(x, 0.3, axis); },
                               [](const Line& x) { return between(x, 0.3); }),
                 {.with = "several, of all elements",
                  .shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return quantile(x, tensor({0.25f, 1.0f}));
                      },
                  .reference =
                      [](const auto& x) {
                        return std::vector{Values{{2}, {between(x[0].of, 0.25), between(x[0].of, 1)}}};
                      },
                  .empty = {},
                  .reads_elements = true}},
     .bad = {{value,
              {"quantile", "[0, 1]", "1.5"},
              [](auto make) {
                quantile(make({2, 3}), 1.5);
              }},
             {value,
              {"quantile", "[0, 1]", "-0.25"},
              [](auto make) {
                quantile(make({3}), tensor({0.5f, -0.25f}));
              }},
             {dtype, {"quantile", "floating", "i32"}, [](auto make) { quantile(make({3}), tensor({1})); }},
             over_nothing("quantile", [](const auto& x, int axis) { quantile(x, 0.5, axis); })}},
    {.name = "median",
     .family = Family::statistics,
     .arguments = kReductionArguments,
     .says =
         "The middle element in order, of an even number the mean of the two in the middle; otherwise like quantile",
     .tolerance = kDifference,
     .samples = {number_of_row(TERN_CALL(median), [](const Line& x) { return between(x, 0.5); })},
     .bad = {bad_axis("median", TERN_CALL(median)), over_nothing("median", TERN_CALL(median))}},
};

const Entries counting{
    {.name = "histogram",
     .family = Family::statistics,
     .arguments = "x, bins = 10, range = {}, density = false",
     .says = "How many elements lie in each of `bins` parts of equal width of a range; without a range, of that from "
             "the smallest element to the largest, which waits for them",
     .tolerance = {20, "sums of at most 15 elements"},
     .samples = {{.with = "weights",
                  .shapes = [](Sizes s) { return std::vector<Shape>{{s.columns}}; },
                  .call =
                      [](const auto& w) {
                        return histogram(tensor(labels_to_four(w.numel())), 4, kFour, false, w).counts;
                      },
                  .reference = [](const auto& x) { return weights_in_four(x[0]); },
                  .empty = {{2, 0}}}},
     .bad = {{value, {"histogram", "bins", "0"}, [](auto make) { histogram(make({3}), 0); }},
             {value,
              {"histogram", "range", "[2.0"},
              [](auto make) {
                histogram(make({3}), 4, std::pair{2.0, 1.0});
              }},
             {shape,
              {"histogram", "weights", "f32[2]"},
              [](auto make) {
                histogram(make({3}), 4, std::pair{0.0, 1.0}, false, make({2}));
              }},
             {shape, {"histogram", "edges", "f32[1]"}, [](auto make) { histogram(make({3}), ones({1})); }}}},
    {.name = "bincount",
     .family = Family::statistics,
     .arguments = "x, minlength = 0",
     .says = "How often each of 0, 1, …, max(x) stands in x (i32 or i64, one axis): i32, of `minlength` elements at "
             "least",
     .tolerance = kLineSums,
     .samples = {{.with = "weights",
                  .shapes = [](Sizes s) { return std::vector<Shape>{{s.columns}}; },
                  .call = [](const auto& w) { return bincount(tensor(labels_to_four(w.numel())), w, 6); },
                  .reference =
                      [](const auto& x) {
                        Values y{{6}, Line(6)};
                        const auto at = labels_to_four(x[0].shape[0]);
                        for (std::size_t i = 0; i < at.size(); ++i) y.of[static_cast<std::size_t>(at[i])] += x[0].of[i];
                        return std::vector{y};
                      },
                  .empty = {{2, 0}},
                  .reads_elements = true}},
     .bad = {{index,
              {"bincount", "-1"},
              [](auto make) {
                bincount(tensor({0, -1}), make({2}));
              }},
             {shape,
              {"bincount", "i32[2]", "f32[3]"},
              [](auto make) {
                bincount(tensor({0, 1}), make({3}));
              }},
             {value, {"bincount", "minlength", "-2"}, [](auto make) { bincount(tensor({0}), make({1}), -2); }}}},
};

const Entries correlations{
    {.name = "cov",
     .family = Family::statistics,
     .arguments = "x, correction = 1",
     .says = "The covariances of variables [N, M], each a row of M observations: Σ (xᵢ - mean)(xⱼ - mean) / (M - "
             "correction)",
     .tolerance = {200, "sums of 37 products of differences"},
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return cov(x); },
                  .reference =
                      [](const auto& x) {
                        return pairs_of_rows(x[0], [&](std::int64_t i, std::int64_t j) {
                          return product_of_rows(x[0], i, j) / static_cast<double>(x[0].shape[1] - 1);
                        });
                      },
                  .sizes = kSeveralRows}},
     .bad = {{shape,
              {"cov", "f32[2, 3, 4]"},
              [](auto make) {
                cov(make({2, 3, 4}));
              }}}},
    {.name = "corrcoef",
     .family = Family::statistics,
     .arguments = "x",
     .says = "The correlation coefficients of variables [N, M]: their covariances, divided by both standard deviations",
     .tolerance = {200, "sums of 37 products of quotients"},
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return corrcoef(x); },
                  .reference =
                      [](const auto& x) {
                        return pairs_of_rows(x[0], [&](std::int64_t i, std::int64_t j) {
                          return product_of_rows(x[0], i, j) /
                                 std::sqrt(product_of_rows(x[0], i, i) * product_of_rows(x[0], j, j));
                        });
                      },
                  .sizes = kSeveralRows}},
     .bad = {{shape, {"corrcoef", "f32[]"}, [](auto make) { corrcoef(make({})); }}}},
};

const Entries along_an_axis{
    {.name = "diff",
     .family = Family::statistics,
     .arguments = "x, n = 1, axis = -1",
     .says = "x[i + 1] - x[i] along an axis, n times over",
     .tolerance = {2, "a difference of differences, which are stored", 2},
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return diff(x, 2); },
                  .reference =
                      [](const auto& x) {
                        return by_rows(x[0], [](const Line& line) { return differences(differences(line)); });
                      },
                  .sizes = kSeveralRows,
                  .empty = {}}},
     .bad = {{value, {"diff", "-1"}, [](auto make) { diff(make({3}), -1); }},
             {index, {"diff", "axis 1"}, [](auto make) { diff(make({3}), 1, 1); }}}},
    {.name = "trapezoid",
     .family = Family::statistics,
     .arguments = "y, dx = 1, axis = -1",
     .says = "∫ y along an axis by the trapezoid rule, of samples at a distance dx",
     .tolerance = {80, "sums of 36 products"},
     .samples = {{.with = "equal distances",
                  .shapes = matrix,
                  .call = [](const auto& y) { return trapezoid(y, 0.5); },
                  .reference =
                      [](const auto& x) {
                        return each_row(x[0], [](const Line& line) {
                          return 0.25 * (2 * total(line) - line.front() - line.back());
                        });
                      }},
                 {.with = "places of the samples",
                  .shapes = two_alike,
                  .call = [](const auto& y, const auto& x) { return trapezoid(y, x); },
                  .reference =
                      [](const auto& x) {
                        Values z{{x[0].shape[0]}, {}};
                        for (std::int64_t row = 0; row < x[0].shape[0]; ++row) {
                          const Line y = row_of(x[0], row), at = row_of(x[1], row);
                          z.of.push_back(0);
                          for (std::size_t i = 1; i < y.size(); ++i)
                            z.of.back() += (y[i] + y[i - 1]) * (at[i] - at[i - 1]) / 2;
                        }
                        return std::vector{z};
                      }}},
     .bad = {{shape,
              {"trapezoid", "f32[2, 3]", "f32[2]"},
              [](auto make) {
                trapezoid(make({2, 3}), make({2}));
              }}}},
};
#undef TERN_CALL

}  // namespace
}  // namespace tern::operations
