// Entries of running results along an axis (operation.cpp).
#include <cmath>

#include "ops/lines.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// What f makes of the result so far and the next element.
template <class F> auto running(F f) {
  return [f](const std::vector<Values>& x) {
    return by_rows(x[0], [&](Line line) {
      for (std::size_t i = 1; i < line.size(); ++i) line[i] = f(line[i - 1], line[i]);
      return line;
    });
  };
}
template <class F, class R> std::vector<Sample> along_both_axes(F call, R reference) {
  return {
      {.with = "rows", .shapes = matrix, .call = [call](const auto& x) { return call(x, 1); }, .reference = reference},
      {.with = "columns",
       .shapes = matrix,
       .call = [call](const auto& x) { return call(x.mT(), 0).mT(); },
       .reference = reference}};
}
constexpr Tolerance kRunningSums{37, "a rounding for each of at most 37 elements"};


ArchivedCall running_sum(std::int64_t length) {
  return [length](DType dtype) { return cumsum(Var(zeros({2, length}, dtype), is_floating(dtype)), 1); };
}

#define TERN_CALL(name) [](const auto& x, int axis) { return name(x, axis); }
#define TERN_VALUES(name) [](const auto& x, int axis) { return name(x, axis).values; }

const Entries running_results{
    {.name = "cumsum",
     .family = Family::indices,
     .arguments = "x, axis",
     .says = "Running sums along an axis. Of u8, i8 and i16 in i64, as sum gives them; on devices without i64, and of "
             "booleans, in i32, which wraps as other integers do",
     .aliases = {"cumulative_sum"},
     .tolerance = kRunningSums,
     .archived = {running_sum(kArchivedSide), running_sum(5000), running_sum(1 << 17),
                  [](DType dtype) { return cumsum(Var(zeros(archived_square(), dtype), is_floating(dtype)), 1); }},
     .samples = {{.with = "of rows",
                  .shapes = matrix,
                  .call = [](const auto& x) { return cumsum(x, 1); },
                  .reference =
                      [](const auto& x) {
                        return by_rows(x[0], [](Line line) {
                          for (std::size_t i = 1; i < line.size(); ++i) line[i] += line[i - 1];
                          return line;
                        });
                      },
                  .empty = {{2, 0}},
                  .kernel_calls = 1,
                  .flops = [](Sizes s) { return s.rows * s.columns; }}},
     .bad = {{index,
              {"cumsum", "axis 2", "out of range"},
              [](auto make) {
                cumsum(make({2, 3}), 2);
              }}}},
    {.name = "cumulative_prod",
     .family = Family::statistics,
     .arguments = "x, axis",
     .says = "The running products along an axis; booleans and narrow integers give i32, which wraps as other integers "
             "do",
     .aliases = {"cumprod"},
     .tolerance = {40, "36 products"},
     .recorded_roundings = 40,
     .samples = along_both_axes(TERN_CALL(cumulative_prod), running([](double a, double b) { return a * b; })),
     .bad = {bad_axis("cumulative_prod", TERN_CALL(cumulative_prod))}},
    {.name = "cummax",
     .family = Family::statistics,
     .arguments = "x, axis",
     .says = "The largest of the elements up to each, along an axis, and its position (i32), of equal ones the last; "
             "from the first NaN on, NaN",
     .tolerance = {0, "elements are chosen"},
     .samples = along_both_axes(TERN_VALUES(cummax), running([](double a, double b) { return std::max(a, b); })),
     .bad = {bad_axis("cummax", TERN_VALUES(cummax))}},
    {.name = "cummin",
     .family = Family::statistics,
     .arguments = "x, axis",
     .says = "The smallest of the elements up to each; otherwise like cummax",
     .tolerance = {0, "elements are chosen"},
     .samples = along_both_axes(TERN_VALUES(cummin), running([](double a, double b) { return std::min(a, b); })),
     .bad = {bad_axis("cummin", TERN_VALUES(cummin))}},
    {.name = "logcumsumexp",
     .family = Family::statistics,
     .arguments = "x, axis",
     .says = "log Σ exp(x) of the elements up to each, along an axis, whatever the size of x",
     .tolerance = {150, "36 sums of exponentials, each of four roundings"},
     .recorded_roundings = 150,
     .samples = along_both_axes(TERN_CALL(logcumsumexp), running([](double a, double b) {
                                  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
                                })),
     .bad = {{index,
              {"logcumsumexp", "axis 2"},
              [](auto make) {
                logcumsumexp(make({2, 3}), 2);
              }},
             {dtype, {"logcumsumexp", "floating", "i32"}, [](auto make) { logcumsumexp(make({2}, i32), 0); }}}},
};
#undef TERN_CALL
#undef TERN_VALUES

}  // namespace
}  // namespace tern::operations
