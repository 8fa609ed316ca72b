// Entries of other orders, shapes and views (views.cpp).
#include "ops/moved.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

const Entries orders_and_views{
    {.name = "flip",
     .family = Family::views,
     .arguments = "x, axes = {}",
     .says = "The elements in reverse along the axes (default: all): a view",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return flip(x); },
                  .reference = moved([](const Shape& s) { return s; },
                                     [](const Shape& s, const At& i) {
                                       return number_at(s, {s[0] - 1 - i[0], s[1] - 1 - i[1]});
                                     }),
                  .kernel_calls = 0}},
     .bad = {{index,
              {"flip", "axis 2"},
              [](auto make) {
                flip(make({2, 3}), {2});
              }}}},
    {.name = "narrow",
     .family = Family::views,
     .arguments = "x, axis, start, length",
     .says = "`length` elements along an axis from `start` on (negative: counted from the end): a view",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return narrow(x, 1, -1, 1); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], 1};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0], s[1] - 1});
                      }),
                  .kernel_calls = 0}},
     .bad = {{index,
              {"narrow", "4 elements from 0", "f32[2, 3]"},
              [](auto make) {
                narrow(make({2, 3}), 1, 0, 4);
              }},
             {index,
              {"narrow", "from -4"},
              [](auto make) {
                narrow(make({2, 3}), 1, -4, 1);
              }}}},
    {.name = "flatten",
     .family = Family::views,
     .arguments = "x, first = 0, last = -1",
     .says = "The axes from `first` to `last`, both included, as one",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 2, s.columns}};
                      },
                  .call = [](const auto& x) { return flatten(x, 1); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], 2 * s[2]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0], i[1] / s[2], i[1] % s[2]});
                      })}},
     .bad = {{index,
              {"flatten", "behind the last"},
              [](auto make) {
                flatten(make({2, 3}), 1, 0);
              }}}},
    {.name = "ravel",
     .family = Family::views,
     .arguments = "x",
     .says = "All elements along one axis",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return ravel(x); },
                  .reference = moved([](const Shape& s) { return Shape{s.numel()}; },
                                     [](const Shape&, const At& i) { return i[0]; })}},
     .bad = {{shape, {"undefined"}, [](auto make) { ravel(decltype(make({}))()); }}}},
    {.name = "matrix_transpose",
     .family = Family::views,
     .arguments = "x",
     .says = "The last two axes exchanged: a view",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return matrix_transpose(x); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[1], s[0]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[1], i[0]});
                      }),
                  .kernel_calls = 0}},
     .bad = {{index, {"transpose", "axis"}, [](auto make) { matrix_transpose(make({2})); }}}},
    {.name = "moveaxis",
     .family = Family::views,
     .arguments = "x, from, to",
     .says = "The axes `from` at the places `to`, the others in their order: a view",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 2, s.columns}};
                      },
                  .call = [](const auto& x) { return moveaxis(x, {0}, {-1}); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{2, s[2], s[0]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[2], i[0], i[1]});
                      }),
                  .kernel_calls = 0}},
     .bad = {{index,
              {"moveaxis", "1 axes", "2 places"},
              [](auto make) {
                moveaxis(make({2, 3}), {0}, {0, 1});
              }},
             {index,
              {"moveaxis"},
              [](auto make) {
                moveaxis(make({2, 3}), {0, 0}, {0, 1});
              }}}},
    {.name = "swapaxes",
     .family = Family::views,
     .arguments = "x, axis_a, axis_b",
     .says = "Two axes exchanged: a view",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return swapaxes(x, 0, -1); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[1], s[0]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[1], i[0]});
                      }),
                  .kernel_calls = 0}},
     .bad = {{index, {"transpose", "axis 2"}, [](auto make) { swapaxes(make({2, 3}), 0, 2); }}}},
    {.name = "diagonal",
     .family = Family::views,
     .arguments = "x, offset = 0, axis_a = 0, axis_b = 1",
     .says = "The elements x[.., i, .., i + offset, ..] of two axes, which are removed, along a new last axis: a view",
     .tolerance = kMoved,
     .samples = {{.with = "the main one",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns, 2}};
                      },
                  .call = [](const auto& x) { return diagonal(x); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{2, std::min(s[0], s[1])};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[1], i[1], i[0]});
                      }),
                  .kernel_calls = 0},
                 {.with = "one below",
                  .shapes = matrix,
                  .call = [](const auto& x) { return diagonal(x, -1); },
                  .reference =
                      moved([](const Shape& s) { return Shape{std::max<std::int64_t>(0, std::min(s[0] - 1, s[1]))}; },
                            [](const Shape& s, const At& i) {
                              return number_at(s, {i[0] + 1, i[0]});
                            }),
                  .kernel_calls = 0}},
     .bad = {{index, {"diagonal", "the same"}, [](auto make) { diagonal(make({2, 3}), 0, 1, -1); }}}},
    {.name = "broadcast_arrays",
     .family = Family::joins,
     .arguments = "list",
     .says = "Each broadcast to the shape of them all: views",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.columns}};
                      },
                  .call = Call::of_one_type([](const auto& a, const auto& b) {
                    return broadcast_arrays(std::vector{a, b});
                  }),
                  .reference =
                      [](const auto& x) {
                        const auto rows = moved_one(x[1], x[0].shape, [](const Shape&, const At& i) { return i[1]; });
                        return std::vector{x[0], rows};
                      }}},
     .bad = {{shape,
              {"broadcast_arrays", "[2]", "[3]"},
              [](auto make) { broadcast_arrays(std::vector{make({2}), make({3})}); }}}},
    {.name = "unstack",
     .family = Family::joins,
     .arguments = "x, axis = 0",
     .says = "The entries along an axis, which is removed: views",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 2}};
                      },
                  .call = [](const auto& x) { return unstack(x, 1); },
                  .reference =
                      [](const auto& x) {
                        std::vector<Values> list;
                        for (std::int64_t c = 0; c < 2; ++c)
                          list.push_back(moved_one(x[0], {x[0].shape[0]}, [c](const Shape& s, const At& i) {
                            return number_at(s, {i[0], c});
                          }));
                        return list;
                      }}},
     .bad = {{index, {"unstack", "axis 2"}, [](auto make) { unstack(make({2, 3}), 2); }}}},
    {.name = "tile",
     .family = Family::joins,
     .arguments = "x, times",
     .says = "x `times` in a row along its axes, aligned at the last one",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return tile(x, {2, 1, 3});
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{2, s[0], 3 * s[1]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[1], i[2] % s[1]});
                      })}},
     .bad = {{shape, {"tile", "negative", "[-1]"}, [](auto make) { tile(make({2}), {-1}); }}}},
    {.name = "repeat",
     .family = Family::joins,
     .arguments = "x, times, axis",
     .says = "Each element `times` in a row along an axis",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return repeat(x, 3, 0); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{3 * s[0], s[1]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0] / 3, i[1]});
                      })}},
     .bad = {{shape, {"repeat", "negative", "-2"}, [](auto make) { repeat(make({2}), -2, 0); }},
             {index, {"repeat", "axis 1"}, [](auto make) { repeat(make({2}), 2, 1); }}}},
    {.name = "roll",
     .family = Family::joins,
     .arguments = "x, shift, axis",
     .says = "The elements moved on by `shift` places along an axis; what leaves at the end comes in at the beginning",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return roll(x, -2, 1); },
                  .reference = moved([](const Shape& s) { return s; },
                                     [](const Shape& s, const At& i) {
                                       return number_at(s, {i[0], (i[1] + 2) % s[1]});
                                     })}},
     .bad = {{index, {"roll", "axis 1"}, [](auto make) { roll(make({2}), 1, 1); }}}},
    {.name = "pad",
     .family = Family::joins,
     .arguments = "x, widths, mode = PadMode::constant, value = 0",
     .says = "x with {before, after} elements more along each of its last axes, as many as there are pairs: `value`, "
             "or "
             "(edge) the nearest element, (reflect) those inside without or (symmetric) with it, (wrap) those of the "
             "other "
             "end",
     .tolerance = kMoved,
     .samples = {{.with = "zeros",
                  .shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return pad(x, Pairs{{1, 0}, {2, 1}});
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0] + 1, s[1] + 3};
                      },
                      [](const Shape& s, const At& i) {
                        const std::int64_t r = i[0] - 1, c = i[1] - 2;
                        return r < 0 || c < 0 || c >= s[1] ? -1 : number_at(s, {r, c});
                      })},
                 {.with = "the nearest",
                  .shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return pad(x, Pairs{{2, 1}}, PadMode::edge);
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], s[1] + 3};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0], std::clamp<std::int64_t>(i[1] - 2, 0, s[1] - 1)});
                      })},
                 {.with = "reflected",
                  .shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return pad(x, Pairs{{1, 1}}, PadMode::symmetric);
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], s[1] + 2};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0], std::clamp<std::int64_t>(i[1] - 1, 0, s[1] - 1)});
                      })}},
     .bad = {{shape, {"pad", "negative", "{-1, 0}"}, [](auto make) { pad(make({2}), Pairs{{-1, 0}}); }},
             {shape, {"pad", "2 pairs", "f32[2]"}, [](auto make) { pad(make({2}), Pairs{{1, 0}, {1, 0}}); }},
             {shape, {"pad", "no element"}, [](auto make) { pad(make({0}), Pairs{{1, 0}}, PadMode::wrap); }}}},
    {.name = "rot90",
     .family = Family::views,
     .arguments = "x, times = 1, axis_a = 0, axis_b = 1",
     .says = "Turned by `times` quarters from axis `axis_a` towards `axis_b`: a view",
     .tolerance = kMoved,
     .samples = {{.with = "once",
                  .shapes = matrix,
                  .call = [](const auto& x) { return rot90(x); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[1], s[0]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[1], s[1] - 1 - i[0]});
                      }),
                  .kernel_calls = 0},
                 {.with = "backwards",
                  .shapes = matrix,
                  .call = [](const auto& x) { return rot90(x, -1); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[1], s[0]};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {s[0] - 1 - i[1], i[0]});
                      }),
                  .kernel_calls = 0}},
     .bad = {{index, {"rot90", "the same"}, [](auto make) { rot90(make({2, 3}), 1, 0, 0); }}}},
    {.name = "as_strided",
     .family = Family::views,
     .arguments = "x, shape, strides, offset = 0",
     .says = "The elements of x, in row-major order, in another shape: element [i, j, ..] is that at offset + "
             "i·strides[0] "
             "+ … x must be contiguous, and what would reach outside its elements throws `shape`",
     .tolerance = kMoved,
     .samples = {{.shapes = [](Sizes s) { return std::vector<Shape>{{s.rows + 2}}; },
                  .call =
                      [](const auto& x) {
                        return as_strided(x.contiguous(), {x.size(0) - 1, 2}, Strides({1, 1}));
                      },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0] - 1, 2};
                      },
                      [](const Shape&, const At& i) { return i[0] + i[1]; })}},
     .bad = {{shape,
              {"as_strided", "outside", "[2, 2]"},
              [](auto make) { as_strided(make({3}), {2, 2}, Strides({2, 1})); }},
             {shape, {"as_strided", "outside"}, [](auto make) { as_strided(make({3}), {2}, Strides({-1})); }},
             {shape,
              {"as_strided", "contiguous"},
              [](auto make) { as_strided(make({2, 3}).transpose(0, 1), {1}, Strides({1})); }}}},
    {.name = "sliding_window_view",
     .family = Family::views,
     .arguments = "x, window, axis = -1",
     .says = "All runs of `window` elements along an axis, which then counts them; the window is a new last axis",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.columns + 1, s.rows}};
                      },
                  .call = [](const auto& x) { return sliding_window_view(x, 2, 0); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0] - 1, s[1], 2};
                      },
                      [](const Shape& s, const At& i) {
                        return number_at(s, {i[0] + i[2], i[1]});
                      }),
                  .kernel_calls = 0}},
     .bad = {{shape,
              {"sliding_window_view", "window of 4", "f32[3]"},
              [](auto make) { sliding_window_view(make({3}), 4); }}}},
};

}  // namespace
}  // namespace tern::operations
