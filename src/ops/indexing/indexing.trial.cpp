// Entries of selecting as NumPy does, and writing there (indexing.cpp).
#include "ops/moved.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// A mask of true, false, true, … as long as an axis.
Tensor every_second(std::int64_t size) { return arange(0, size) % 2 == 0; }
constexpr Tolerance kAdded{2, "two additions to an element at most"};

const Entries indexing{
    {.name = "x.operator()",
     .family = Family::indices,
     .arguments = "at",
     .says = "Elements, as NumPy selects them, by one index for each axis: integers, Slices, `ellipsis`, `newaxis`, "
             "boolean "
             "masks (one for as many axes as it has), and positions (tensors of i32 or i64; negative ones count from "
             "the "
             "end)",
     .tolerance = kMoved,
     .samples = {{.with = "a view",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 3, s.columns}};
                      },
                  .call = [](const auto& x) { return x(ellipsis, -1, newaxis, Slice{.step = -1}); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], 1, s[2]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0], 2, s[2] - 1 - i[2]});
                      }),
                  .kernel_calls = 0},
                 {.with = "positions together",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{3, 2, s.columns}};
                      },
                  .call =
                      [](const auto& x) {
                        return x(tensor({0, -1, 0}), tensor({1, 0, 1}));
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{3, s[2]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0] == 1 ? 2 : 0, i[0] == 1 ? 0 : 1, i[1]});
                      }),
                  .empty = {}},
                 {.with = "positions apart",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{2, s.columns, 3}};
                      },
                  .call =
                      [](const auto& x) {
                        return x(1, Slice(), tensor({2, 0}, {2, 1}));
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{2, 1, s[1]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {1, i[2], i[0] == 0 ? 2 : 0});
                      }),
                  .empty = {}},
                 {.with = "a mask",
                  .shapes = matrix,
                  .call = [](const auto& x) { return x(Slice(), every_second(x.size(1))); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], (s[1] + 1) / 2};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0], 2 * i[1]});
                      }),
                  .reads_elements = true}},
     .bad = {{index,
              {"x(…)", "3 axes", "f32[2, 3]"},
              [](auto make) {
                make({2, 3})(0, 0, 0);
              }},
             {index,
              {"x(…)", "index 1, 2,", "size 2"},
              [](auto make) {
                make({2, 3})(2);
              }},
             {index,
              {"x(…)", "ellipsis"},
              [](auto make) {
                make({2, 3})(ellipsis, ellipsis);
              }},
             {index, {"take", "3", "size 3"}, [](auto make) { make({3})(tensor({3})); }},
             {index,
              {"x(…)", "-4", "size 3"},
              [](auto make) {
                make({2, 3})(tensor({0}), tensor({-4}));
              }},
             {shape, {"x(…)", "boolean[2]", "size 3"}, [](auto make) { make({3})(ones({2}, boolean)); }},
             {shape,
              {"x(…)", "[2]", "[3]"},
              [](auto make) {
                make({3, 3})(tensor({0, 1}), tensor({0, 1, 2}));
              }},
             {dtype, {"x(…)", "index 1", "i32 or i64"}, [](auto make) { make({3})(ones({2})); }}}},
    {.name = "index_put",
     .family = Family::indices,
     .arguments = "x, at, values, accumulate = false",
     .says = "A copy of x with `values`, broadcast to the shape of x(…), in the places that `at` lists as x(…) would; "
             "of "
             "places named twice the last counts, or, with accumulate, all are added",
     .tolerance = kAdded,
     .samples = {{.with = "the last of two",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{4, s.columns}, {3, s.columns}};
                      },
                  .call =
                      [](const auto& x, const auto& v) {
                        return index_put(x, {tensor({1, 3, 1})}, v);
                      },
                  .reference =
                      [](const auto& x) {
                        Values y = x[0];
                        const auto n = static_cast<std::size_t>(y.shape[1]);
                        for (std::size_t c = 0; c < n; ++c)
                          y.of[3 * n + c] = x[1].of[n + c], y.of[n + c] = x[1].of[2 * n + c];
                        return std::vector{y};
                      },
                  .empty = {}},
                 {.with = "added",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 2}, {3}};
                      },
                  .call =
                      [](const auto& x, const auto& v) {
                        return index_put(x, {Slice(), tensor({1, 0, 1})}, v, true);
                      },
                  .reference =
                      [](const auto& x) {
                        Values y = x[0];
                        for (std::size_t i = 0; i < y.of.size(); ++i)
                          y.of[i] += i % 2 == 0 ? x[1].of[1] : x[1].of[0] + x[1].of[2];
                        return std::vector{y};
                      },
                  .empty = {}},
                 {.with = "one number in a column",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {1}};
                      },
                  .call =
                      [](const auto& x, const auto& v) {
                        return index_put(x, {ellipsis, 0}, v);
                      },
                  .reference =
                      [](const auto& x) {
                        Values y = x[0];
                        for (std::size_t i = 0; i < y.of.size(); i += static_cast<std::size_t>(y.shape[1]))
                          y.of[i] = x[1].of[0];
                        return std::vector{y};
                      },
                  .empty = {}}},
     .bad = {{shape,
              {"index_put", "f32[3]", "[2]"},
              [](auto make) {
                index_put(make({4}), {tensor({0, 1})}, make({3}));
              }},
             {dtype, {"index_put", "f16[1]", "f32[4]"}, [](auto make) { index_put(make({4}), {0}, make({1}, f16)); }},
             {index, {"4", "size 4"}, [](auto make) { index_put(make({4}), {tensor({4})}, make({1})); }}}},
    {.name = "nonzero",
     .family = Family::indices,
     .arguments = "x",
     .says = "The positions (i32) of what is not zero, in row-major order: a tensor for each axis",
     .differentiable = false,
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes) {
                        return std::vector<Shape>{{2, 3}};
                      },
                  .call =
                      [](const auto& x) {
                        return nonzero(elements(x) * 0 + tensor({0.0f, 2.0f, -1.0f}).to(x.dtype()));
                      },
                  .reference =
                      [](const auto&) {
                        return std::vector<Values>{{{4}, {0, 0, 1, 1}}, {{4}, {1, 2, 1, 2}}};
                      },
                  .empty = {},
                  .reads_elements = true}},
     .bad = {{shape, {"nonzero", "axis", "f32[]"}, [](auto make) { nonzero(make({})); }}}},
    {.name = "masked_select",
     .family = Family::indices,
     .arguments = "x, mask",
     .says = "The elements where the mask, broadcast with x, is true, in row-major order, along one axis",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return masked_select(x, every_second(x.size(1))); },
                  .reference = moved([](const Shape& s) { return Shape{s[0] * ((s[1] + 1) / 2)}; },
                                     [](const Shape& s, const At& i) {
                                       const std::int64_t half = (s[1] + 1) / 2;
                                       return number_at(s, {i[0] / half, i[0] % half * 2});
                                     }),
                  .reads_elements = true}},
     .bad = {{shape, {"masked_select", "[3]", "[2]"}, [](auto make) { masked_select(make({3}), ones({2}, boolean)); }},
             {dtype, {"masked_select", "mask", "boolean"}, [](auto make) { masked_select(make({3}), ones({3})); }}}},
    {.name = "masked_fill",
     .family = Family::indices,
     .arguments = "x, mask, value",
     .says = "x, with `value` where the mask, broadcast with x, is true",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return masked_fill(x, every_second(x.size(1)), 0); },
                  .reference = moved([](const Shape& s) { return s; },
                                     [](const Shape& s, const At& i) {
                                       return i[1] % 2 ? number_at(s, {i[0], i[1]}) : -1;
                                     })}},
     .bad = {{shape, {"masked_fill", "[3]", "[2]"}, [](auto make) { masked_fill(make({3}), ones({2}, boolean), 0); }},
             {dtype, {"masked_fill", "mask", "boolean"}, [](auto make) { masked_fill(make({3}), ones({3}), 0); }}}},
    {.name = "take_along_axis",
     .family = Family::indices,
     .arguments = "x, indices, axis = -1",
     .says = "result[.., i, ..] = x[.., indices[.., i, ..], ..]: gather, with the other axes of x and indices "
             "broadcast",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return take_along_axis(x, tensor({0, -1}, {1, 2}));
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], 2};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0], i[1] ? s[1] - 1 : 0});
                      })}},
     .bad = {{shape,
              {"take_along_axis", "f32[2, 3]", "i32[1]"},
              [](auto make) { take_along_axis(make({2, 3}), tensor({0})); }},
             {index,
              {"gather", "3", "size 3"},
              [](auto make) { take_along_axis(make({2, 3}), tensor({3}, {1, 1})); }}}},
    {.name = "put_along_axis",
     .family = Family::indices,
     .arguments = "x, indices, values, axis = -1",
     .says = "A copy of x with `values`, broadcast to the shape of the indices, where take_along_axis reads; of "
             "places named "
             "twice the last counts",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns + 1}, {s.rows, 2}};
                      },
                  .call =
                      [](const auto& x, const auto& v) {
                        return put_along_axis(x, tensor({0, -1}, {1, 2}), v);
                      },
                  .reference =
                      [](const auto& x) {
                        Values y = x[0];
                        const auto n = static_cast<std::size_t>(y.shape[1]);
                        for (std::size_t r = 0; r < x[1].of.size() / 2; ++r)
                          y.of[r * n] = x[1].of[2 * r], y.of[r * n + n - 1] = x[1].of[2 * r + 1];
                        return std::vector{y};
                      }}},
     .bad = {{shape,
              {"put_along_axis", "i32[3, 1]", "f32[1, 3]"},
              [](auto make) { put_along_axis(make({1, 3}), zeros({3, 1}, i32), make({1})); }},
             {shape,
              {"put_along_axis", "sizes 2 and 3"},
              [](auto make) { put_along_axis(make({2, 3}), zeros({3, 1}, i32), make({1})); }}}},
};

}  // namespace
}  // namespace tern::operations
