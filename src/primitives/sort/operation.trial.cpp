// Entries of sorting (operation.cpp).
#include <algorithm>
#include <numeric>

#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// f on a copy of each row of a matrix (axis 1) or each column (axis 0), cut to what f gives.
template <class F> std::vector<Values> along(const Values& x, int axis, F f) {
  const std::int64_t rows = x.shape[0], columns = x.shape[1], lines = axis == 1 ? rows : columns;
  std::vector<std::vector<double>> list;
  for (std::int64_t i = 0; i < lines; ++i) {
    std::vector<double> line;
    for (std::int64_t j = 0; j < (axis == 1 ? columns : rows); ++j)
      line.push_back(axis == 1 ? at(x, i, j) : at(x, j, i));
    list.push_back(f(line));
  }
  const auto length = static_cast<std::int64_t>(list.empty() ? 0 : list[0].size());
  const auto element = [&](std::int64_t r, std::int64_t c) {
    return axis == 1 ? list[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]
                     : list[static_cast<std::size_t>(c)][static_cast<std::size_t>(r)];
  };
  return {axis == 1 ? made(rows, length, element) : made(length, columns, element)};
}
std::vector<double> ordered(std::vector<double> line, bool descending) {
  std::ranges::sort(line);
  if (descending) std::ranges::reverse(line);
  return line;
}
std::vector<double> first_half(std::vector<double> line) {
  line.resize((line.size() + 1) / 2);
  return line;
}
std::vector<double> order_of(const std::vector<double>& line) {
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return line[a] < line[b]; });
  return {order.begin(), order.end()};
}
std::int64_t half(std::int64_t size) { return (size + 1) / 2; }

/// Lines that one group of invocations orders, and longer ones.
template <class F> std::vector<ArchivedCall> of_lines(F f) {
  return {[f](DType dtype) { f(zeros({2, kArchivedSide}, dtype)); }, [f](DType dtype) { f(zeros({2, 5000}, dtype)); }};
}
std::vector<ArchivedCall> selections() {
  std::vector<ArchivedCall> list = of_lines([](const Tensor& line) {
    topk(line, 1, 1), topk(line.transpose(0, 1), line.size(1) / 2, 0);
  });
  list.push_back([](DType dtype) { topk(zeros({2, 5000}, dtype), 1100, 1); });
  return list;
}

const Entries sorting{
    {.name = "sort",
     .family = Family::indices,
     .arguments = "x, axis = -1, descending = false",
     .says = "The elements in order along an axis: stable, NaN is larger than everything",
     .tolerance = kMoved,
     .archived =
         of_lines([](const Tensor& line) { sort(line, 1), sort(line, 1, true), sort(line.transpose(0, 1), 0); }),
     .samples =
         {{.with = "rows",
           .shapes = matrix,
           .call = [](const auto& x) { return sort(x, 1).values; },
           .reference = [](const auto& x) { return along(x[0], 1, [](auto line) { return ordered(line, false); }); },
           .broadcast_axis = 0,
           .flops = [](Sizes) { return 0; }},  // comparisons are none
          {.with = "columns, the largest first",
           .shapes =
               [](Sizes s) {
                 return std::vector<Shape>{{s.columns, s.rows}};
               },
           .call = [](const auto& x) { return sort(x, 0, true).values; },
           .reference = [](const auto& x) { return along(x[0], 0, [](auto line) { return ordered(line, true); }); }}},
     .bad = {{index,
              {"sort", "axis -3", "out of range"},
              [](auto make) {
                sort(make({2, 3}), -3);
              }}}},
    {.name = "topk",
     .family = Family::indices,
     .arguments = "x, k, axis = -1, largest = true",
     .says = "The k largest (smallest) elements along an axis, in order",
     .tolerance = kMoved,
     .archived = selections(),
     .samples =
         {{.with = "the largest of columns",
           .shapes =
               [](Sizes s) {
                 return std::vector<Shape>{{s.columns, s.rows}};
               },
           .call = [](const auto& x) { return topk(x, half(x.size(0)), 0).values; },
           .reference =
               [](const auto& x) { return along(x[0], 0, [](auto line) { return first_half(ordered(line, true)); }); }},
          {.with = "the smallest of rows",
           .shapes = matrix,
           .call = [](const auto& x) { return topk(x, half(x.size(1)), 1, false).values; },
           .reference =
               [](const auto& x) { return along(x[0], 1, [](auto line) { return first_half(ordered(line, false)); }); },
           .empty = {}}},
     .bad = {{index,
              {"topk", "k = 4", "size 3"},
              [](auto make) {
                topk(make({2, 3}), 4);
              }},
             {index,
              {"topk", "k = -1"},
              [](auto make) {
                topk(make({2, 3}), -1);
              }}}},
    {.name = "argsort",
     .family = Family::sets,
     .arguments = "x, axis = -1, descending = false",
     .says = "The positions (i32) of the elements in order along an axis: sort's indices",
     .differentiable = false,
     .tolerance = {0, "positions"},
     .archived = {[](DType) { argsort(zeros({2, 1 << 14}, boolean), 1), argsort(zeros({1 << 14, 2}, boolean), 0); }},
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return argsort(x); },
                  .reference = [](const auto& x) { return along(x[0], 1, order_of); },
                  .empty = {{2, 0}}}},
     .bad = {{index, {"argsort", "axis 1"}, [](auto make) { argsort(make({3}), 1); }}}},
};

}  // namespace
}  // namespace tern::operations
