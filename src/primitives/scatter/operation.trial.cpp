// Entries of what selects and adds by index (operation.cpp).
#include <algorithm>
#include <cmath>

#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// Places 0 to size - 1 in a scattered order with repetitions, the last counted from the end.
std::vector<std::int32_t> scattered_places(std::int64_t count, std::int64_t size) {
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(static_cast<std::int32_t>((2 + 5 * i) % size));
  if (count > 0) list.back() = -1;
  return list;
}
Tensor scattered_indices(const Shape& shape, std::int64_t size) {
  return tensor(scattered_places(shape.numel(), size), shape);
}
std::size_t scattered_place(std::int64_t i, std::int64_t count, std::int64_t size) {
  const std::int32_t at = scattered_places(count, size)[static_cast<std::size_t>(i)];
  return static_cast<std::size_t>(at < 0 ? at + size : at);
}
Tensor zero_square(DType dtype) { return zeros(archived_square(), dtype); }
Tensor first_places(std::int64_t count = kArchivedSide) { return zeros({count}, i32); }
const Entries by_index{
    {.name = "take",
     .family = Family::indices,
     .arguments = "x, indices, axis = 0",
     .says = "Elements (rows, slices) at positions along an axis: the axis is replaced by the shape of `indices` (i32 "
             "or i64)",
     .tolerance = kMoved,
     .archived = {[](DType dtype) { return take(Var(zero_square(dtype), is_floating(dtype)), first_places()); },
                  [](DType dtype) { take(zero_square(dtype), first_places(), 1); },
                  [](DType dtype) { take(zero_square(dtype), first_places().to(i64)); }},
     .samples = {{.with = "rows",
                  .shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return take(x, scattered_indices({2, 2}, x.size(0)));
                      },
                  .reference =
                      [](const auto& x) {
                        Values y = made(4, x[0].shape[1], [&](auto r, auto c) {
                          return at(x[0], scattered_place(r, 4, x[0].shape[0]), static_cast<std::size_t>(c));
                        });
                        y.shape = {2, 2, x[0].shape[1]};
                        return std::vector{y};
                      },
                  .empty = {}},
                 {.with = "columns",
                  .shapes = matrix,
                  .call = [](const auto& x) { return take(x, scattered_indices({3}, x.size(1)), 1); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{made(x[0].shape[0], 3, [&](auto r, auto c) {
                          return at(x[0], static_cast<std::size_t>(r), scattered_place(c, 3, x[0].shape[1]));
                        })};
                      }},
                 {.with = "nothing",
                  .shapes = matrix,
                  .call = [](const auto& x) { return take(x, scattered_indices({0}, 1)); },
                  .reference =
                      [](const auto& x) { return std::vector{made(0, x[0].shape[1], [](auto, auto) { return 0.0; })}; },
                  .empty = {{3, 0}}}},
     .bad = {{index,
              {"take", "3", "size 3"},
              [](auto make) {
                take(make({3, 2}), tensor({0, 3}));
              }},
             {index,
              {"take", "size 0"},
              [](auto make) {
                take(make({0, 2}), tensor({0}));
              }},
             {dtype, {"take", "indices", "i32 or i64"}, [](auto make) { take(make({3}), ones({2})); }}}},
    {.name = "gather",
     .family = Family::indices,
     .arguments = "x, indices, axis",
     .says = "result[.., i, ..] = x[.., indices[.., i, ..], ..]: one index for each element of the result; indices "
             "have x's rank",
     .tolerance = kMoved,
     .archived = {[](DType dtype) { gather(zero_square(dtype), zeros(archived_square(), i32), 1); }},
     .samples = {{.with = "from columns",
                  .shapes = matrix,
                  .call = [](const auto& x) { return gather(x, scattered_indices(x.shape(), x.size(0)), 0); },
                  .reference =
                      [](const auto& x) {
                        const std::int64_t rows = x[0].shape[0], columns = x[0].shape[1];
                        return std::vector{made(rows, columns, [&](auto r, auto c) {
                          return at(x[0], scattered_place(r * columns + c, rows * columns, rows),
                                    static_cast<std::size_t>(c));
                        })};
                      },
                  .empty = {}}},
     .bad = {{index,
              {"gather", "7", "size 3"},
              [](auto make) {
                gather(make({3, 1}), tensor({7}, {1, 1}), 0);
              }},
             {shape,
              {"gather", "indices", "f32[3, 1]", "i32[1]"},
              [](auto make) {
                gather(make({3, 1}), tensor({0}), 0);
              }}}},
    {.name = "scatter_add",
     .family = Family::indices,
     .arguments = "x, indices, source, axis = 0",
     .says =
         "A copy of x with `source` added at positions along an axis, repeated ones included: the transpose of take "
         "(source "
         "has x's shape with the axis replaced by that of `indices`) and of gather (source has the shape of `indices`)",
     .tolerance = {4, "at most four additions to an element"},
     .archived = {[](DType dtype) { scatter_add(zero_square(dtype), first_places(), zero_square(dtype)); },
                  [](DType dtype) {
                    scatter_add(zero_square(dtype), first_places(1 << 14), zeros({1 << 14, kArchivedSide}, dtype));
                  },
                  [](DType dtype) { scatter_add(zeros({2}, dtype), first_places(1 << 14), zeros({1 << 14}, dtype)); }},
     .samples =
         {{.with = "rows",
           .shapes =
               [](Sizes s) {
                 return std::vector<Shape>{{s.rows, s.columns}, {4, s.columns}};
               },
           .call = [](const auto& x,
                      const auto& source) { return scatter_add(x, scattered_indices({4}, x.size(0)), source); },
           .reference =
               [](const auto& x) {
                 Values y = x[0];
                 const auto columns = static_cast<std::size_t>(y.shape[1]);
                 for (std::size_t i = 0; i < x[1].of.size(); ++i)
                   y.of[scattered_place(static_cast<std::int64_t>(i / columns), 4, y.shape[0]) * columns +
                        i % columns] += x[1].of[i];
                 return std::vector{y};
               },
           .empty = {},
           .flops = [](Sizes s) { return 4 * s.columns; }},
          {.with = "elements of rows",
           .shapes =
               [](Sizes s) {
                 return std::vector<Shape>{{s.rows, s.columns}, {s.rows, 2}};
               },
           .call =
               [](const auto& x, const auto& source) {
                 return scatter_add(x, scattered_indices(source.shape(), x.size(1)), source, 1);
               },
           .reference =
               [](const auto& x) {
                 Values y = x[0];
                 const auto columns = static_cast<std::size_t>(y.shape[1]);
                 for (std::size_t i = 0; i < x[1].of.size(); ++i)
                   y.of[i / 2 * columns + scattered_place(static_cast<std::int64_t>(i), 2 * y.shape[0], y.shape[1])] +=
                       x[1].of[i];
                 return std::vector{y};
               },
           .empty = {}},
          {.with = "nothing",
           .shapes =
               [](Sizes s) {
                 return std::vector<Shape>{{s.rows, s.columns}, {0, s.columns}};
               },
           .call = [](const auto& x, const auto& source) { return scatter_add(x, scattered_indices({0}, 1), source); },
           .reference = [](const auto& x) { return std::vector{x[0]}; },
           .empty = {{3, 0}}}},
     .bad = {{shape,
              {"scatter_add", "source", "f32[3, 2]"},
              [](auto make) {
                scatter_add(make({3, 2}), tensor({0, 1}), make({2, 3}));
              }},
             {index,
              {"scatter_add", "-4", "size 3"},
              [](auto make) { scatter_add(make({3}), tensor({-4}), make({1})); }}}},
    {.name = "one_hot",
     .family = Family::indices,
     .arguments = "labels, classes, dtype = default_dtype()",
     .says = "labels (i32 or i64) as rows with a 1 at the label; one outside [0, classes) throws `index`",
     .differentiable = false,
     .tolerance = kMoved,
     .archived = {[](DType) { one_hot(first_places(), 10); }},
     .samples = {{.shapes = [](Sizes s) { return std::vector<Shape>{{s.rows}}; },
                  .call = [](const auto& x) { return one_hot(arange(0, x.size(0)), x.size(0) + 1); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{
                            made(x[0].shape[0], x[0].shape[0] + 1, [](auto r, auto c) { return r == c ? 1.0 : 0.0; })};
                      }}},
     .bad = {{index,
              {"one_hot", "3", "size 3"},
              [](auto) {
                one_hot(tensor({0, 3}), 3);
              }},
             {index, {"one_hot", "0 classes"}, [](auto) { one_hot(tensor({0}), 0); }},
             {dtype, {"one_hot", "labels", "i32 or i64"}, [](auto) { one_hot(ones({2}), 3); }}}},
};

}  // namespace
}  // namespace tern::operations
