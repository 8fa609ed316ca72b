// Entries of order, search and sets (sets.cpp).
#include <cmath>

#include "ops/lines.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

constexpr Tolerance kPositions{0, "positions"};

/// How many of these are below each of the values.
Values below(const Line& line, const Values& values) {
  Values y{values.shape, {}};
  for (const double v : values.of)
    y.of.push_back(static_cast<double>(std::ranges::count_if(line, [&](double e) { return e < v; })));
  return y;
}
std::vector<Shape> list_and_matrix(Sizes s) { return {{s.columns}, {s.rows, s.columns}}; }
std::vector<Values> different(const Values& x) {
  Line line = sorted_line(x.of);
  line.erase(std::unique(line.begin(), line.end()), line.end());
  return {{{static_cast<std::int64_t>(line.size())}, line}};
}
template <class F> std::vector<Sample> unique_samples(F call) {
  return {{.shapes = matrix,
           .call = call,
           .reference = [](const auto& x) { return different(x[0]); },
           .reads_elements = true}};
}

const Entries in_order{
    {.name = "kthvalue",
     .family = Family::sets,
     .arguments = "x, k, axis = -1, keepdim = false",
     .says = "The k-th smallest element along an axis, counted from 1, and its position (i32)",
     .tolerance = kChosen,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return kthvalue(x, (x.size(1) + 1) / 2).values; },
                  .reference =
                      [](const auto& x) {
                        return each_row(x[0],
                                        [](const Line& line) { return sorted_line(line)[(line.size() + 1) / 2 - 1]; });
                      }}},
     .bad = {{index, {"kthvalue", "k = 4", "f32[3]"}, [](auto make) { kthvalue(make({3}), 4); }},
             {index, {"kthvalue", "k = 0"}, [](auto make) { kthvalue(make({3}), 0); }}}},
};

const Entries searching{
    {.name = "searchsorted",
     .family = Family::sets,
     .arguments = "sorted, values, side = Side::left, sorter = {}",
     .says = "Where each value would be inserted into what is sorted in increasing order (i32): in front of elements "
             "that are equal to it, or (right) behind them",
     .differentiable = false,
     .tolerance = kPositions,
     .samples = {{.with = "a line",
                  .shapes = list_and_matrix,
                  .call =
                      Call::of_one_type([](const auto& a, const auto& v) { return searchsorted(sort(a).values, v); }),
                  .reference = [](const auto& x) { return std::vector{below(x[0].of, x[1])}; }},
                 {.with = "lines, by their order",
                  .shapes = two_alike,
                  .call = Call::of_one_type(
                      [](const auto& a, const auto& v) { return searchsorted(a, v, Side::left, argsort(a)); }),
                  .reference =
                      [](const auto& x) {
                        Values y{x[1].shape, {}};
                        for (std::int64_t row = 0; row < x[0].shape[0]; ++row) {
                          const Line line = row_of(x[1], row);
                          const Values part = below(row_of(x[0], row), {{x[1].shape[1]}, line});
                          y.of.insert(y.of.end(), part.of.begin(), part.of.end());
                        }
                        return std::vector{y};
                      }}},
     .bad = {{shape,
              {"searchsorted", "f32[2, 3]", "f32[3, 3]"},
              [](auto make) {
                searchsorted(make({2, 3}), make({3, 3}));
              }},
             {shape,
              {"searchsorted", "sorter", "i32[2]"},
              [](auto make) {
                searchsorted(make({3}), make({3}), Side::left, tensor({0, 1}));
              }}}},
    {.name = "digitize",
     .family = Family::sets,
     .arguments = "x, bins, right = false",
     .says = "The number i of the part of each x (i32): bins[i - 1] ≤ x < bins[i], with `right` bins[i - 1] < x ≤ "
             "bins[i]; where the bins decrease, bins[i - 1] > x ≥ bins[i], with `right` bins[i - 1] ≥ x > bins[i]",
     .differentiable = false,
     .tolerance = kPositions,
     .samples = {{.shapes = list_and_matrix,
                  .call =
                      Call::of_one_type([](const auto& b, const auto& x) { return digitize(x, sort(b).values, true); }),
                  .reference = [](const auto& x) { return std::vector{below(x[0].of, x[1])}; }}},
     .bad = {{shape,
              {"digitize", "bins", "f32[2, 3]"},
              [](auto make) {
                digitize(make({3}), make({2, 3}));
              }}}},
    {.name = "isin",
     .family = Family::sets,
     .arguments = "x, elements, invert = false",
     .says = "Whether each element of x is one of these (`invert`: none); NaN is not",
     .differentiable = false,
     .tolerance = kPositions,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return isin(x, x.slice(0, 0, 1)); },
                  .reference =
                      [](const auto& x) {
                        const Line first = row_of(x[0], 0);
                        Values y{x[0].shape, {}};
                        for (const double v : x[0].of) y.of.push_back(std::ranges::find(first, v) != first.end());
                        return std::vector{y};
                      },
                  .empty = {}}},
     .bad = {{shape, {"isin", "elements"}, [](auto make) { isin(make({3}), decltype(make({}))()); }}}},
};

const Entries uniques{
    {.name = "unique_all",
     .family = Family::sets,
     .arguments = "x",
     .says = "The different elements in order, along one axis, with where they stand and how often",
     .tolerance = kChosen,
     .samples = unique_samples([](const auto& x) { return unique_all(x).values; }),
     .bad = {undefined("unique_all", [](const auto& x) { unique_all(x); })}},
    {.name = "unique_values",
     .family = Family::sets,
     .arguments = "x",
     .says = "The different elements in order; otherwise like unique_all",
     .tolerance = kChosen,
     .samples = unique_samples([](const auto& x) { return unique_values(x); }),
     .bad = {undefined("unique_values", [](const auto& x) { unique_values(x); })}},
    {.name = "unique_counts",
     .family = Family::sets,
     .arguments = "x",
     .says = "The different elements and how often each stands there: without indices",
     .tolerance = kChosen,
     .samples = unique_samples([](const auto& x) { return unique_counts(x).values; }),
     .bad = {undefined("unique_counts", [](const auto& x) { unique_counts(x); })}},
    {.name = "unique_inverse",
     .family = Family::sets,
     .arguments = "x",
     .says = "The different elements and which of them each element is: without indices and counts",
     .tolerance = kChosen,
     .samples = unique_samples([](const auto& x) { return unique_inverse(x).values; }),
     .bad = {undefined("unique_inverse", [](const auto& x) { unique_inverse(x); })}},
};

// ---- what meets in one place ----
/// The source's rows go to rows of x in this order.
std::vector<std::int32_t> rows_met(std::int64_t size) {
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < 5; ++i) list.push_back(static_cast<std::int32_t>((2 + 3 * i) % size));
  list.back() = -1;
  return list;
}
template <class F> Sample meeting(const char* with, Reduce how, F combine) {
  return {.with = with,
          .shapes =
              [](Sizes s) {
                return std::vector<Shape>{{s.rows, s.columns}, {5, s.columns}};
              },
          .call = [how](const auto& x,
                        const auto& source) { return scatter_reduce(x, tensor(rows_met(x.size(0))), source, how); },
          .reference =
              [combine](const auto& x) {
                Values y = x[0];
                const auto rows = rows_met(y.shape[0]);
                const auto columns = static_cast<std::size_t>(y.shape[1]);
                for (std::size_t i = 0; i < x[1].of.size(); ++i) {
                  const std::int64_t row = rows[i / columns] < 0 ? y.shape[0] - 1 : rows[i / columns];
                  double& place = y.of[static_cast<std::size_t>(row) * columns + i % columns];
                  place = combine(place, x[1].of[i]);
                }
                return std::vector{y};
              },
          .empty = {}};
}
/// The same without x's own elements, where a source goes. `first`: what the first of the sources meets.
template <class F> Sample meeting_alone(const char* with, Reduce how, double first, F combine) {
  Sample sample = meeting(with, how, combine);
  sample.call = [how](const auto& x, const auto& source) {
    return scatter_reduce(x, tensor(rows_met(x.size(0))), source, how, 0, false);
  };
  sample.reference = [with_self = sample.reference, first](const std::vector<Values>& x) {
    std::vector<Values> alone = x;
    for (const std::int32_t row : rows_met(x[0].shape[0])) {
      const std::int64_t at = row < 0 ? x[0].shape[0] - 1 : row;
      for (std::int64_t i = 0; i < x[0].shape[1]; ++i)
        alone[0].of[static_cast<std::size_t>(at * x[0].shape[1] + i)] = first;
    }
    return with_self(alone);
  };
  return sample;
}
Sample meaning_alone() {
  Sample sample = meeting_alone("means, without x's own", Reduce::mean, 0, [](double a, double b) { return a + b; });
  sample.reference = [sums = sample.reference](const std::vector<Values>& x) {
    std::vector<Values> y = sums(x);
    Line counts(static_cast<std::size_t>(x[0].shape[0]));
    for (const std::int32_t row : rows_met(x[0].shape[0]))
      counts[row < 0 ? counts.size() - 1 : static_cast<std::size_t>(row)] += 1;
    for (std::size_t i = 0; i < y[0].of.size(); ++i)
      y[0].of[i] /= std::max(counts[i / static_cast<std::size_t>(x[0].shape[1])], 1.0);
    return y;
  };
  return sample;
}
Sample meaning() {
  Sample sample = meeting("means", Reduce::mean, [](double a, double b) { return a + b; });
  sample.reference = [sums = sample.reference](const std::vector<Values>& x) {
    std::vector<Values> y = sums(x);
    Line counts(static_cast<std::size_t>(x[0].shape[0]), 1);
    for (const std::int32_t row : rows_met(x[0].shape[0]))
      counts[row < 0 ? counts.size() - 1 : static_cast<std::size_t>(row)] += 1;
    for (std::size_t i = 0; i < y[0].of.size(); ++i) y[0].of[i] /= counts[i / static_cast<std::size_t>(x[0].shape[1])];
    return y;
  };
  return sample;
}
const Entries meetings{{
    .name = "scatter_reduce",
    .family = Family::sets,
    .arguments = "x, indices, source, how, axis = 0, include_self = true",
    .says = "A copy of x with `source` combined with what is there at positions along an axis, as scatter_add lays it "
            "out: with x's own elements the sums, products, extremes or means, or (set) in place of them, of places "
            "named twice the last",
    .tolerance = {8, "up to five sums and a quotient, in the dtype", 2},
    .recorded_roundings = 8,
    .samples = {meeting("sums", Reduce::add, [](double a, double b) { return a + b; }),
                meeting("products", Reduce::multiply, [](double a, double b) { return a * b; }),
                meeting("smallest", Reduce::minimum, [](double a, double b) { return std::min(a, b); }),
                meeting("largest", Reduce::maximum, [](double a, double b) { return std::max(a, b); }),
                meeting("the last", Reduce::set, [](double, double b) { return b; }), meaning(),
                meeting_alone("sums, without x's own", Reduce::add, 0, [](double a, double b) { return a + b; }),
                meeting_alone("products, without x's own", Reduce::multiply, 1,
                              [](double a, double b) { return a * b; }),
                meeting_alone("smallest, without x's own", Reduce::minimum, 2,
                              [](double a, double b) { return std::min(a, b); }),
                meeting_alone("largest, without x's own", Reduce::maximum, -2,
                              [](double a, double b) { return std::max(a, b); }),
                meaning_alone()},
    .bad = {{shape,
             {"scatter_reduce", "source", "f32[3, 2]"},
             [](auto make) {
               scatter_reduce(make({3, 2}), tensor({0, 1}), make({2, 3}), Reduce::maximum);
             }},
            {index,
             {"scatter_reduce", "-4", "size 3"},
             [](auto make) { scatter_reduce(make({3}), tensor({-4}), make({1}), Reduce::set); }},
            {dtype,
             {"scatter_reduce", "means", "i32"},
             [](auto make) { scatter_reduce(make({3}, i32), tensor({0}), make({1}, i32), Reduce::mean); }}},
}};

}  // namespace
}  // namespace tern::operations
