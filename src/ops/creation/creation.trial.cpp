// Entries of creation like another tensor, of grids, diagonals and triangles (creation.cpp).
#include <cmath>

#include "ops/moved.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

std::vector<Shape> one_line(Sizes s) { return {{s.columns}}; }
std::vector<Values> filled(const Values& x, double value) {
  return {{x.shape, std::vector<double>(x.of.size(), value)}};
}
const std::vector<BadInput>& undefined_like() {
  static const std::vector<BadInput> list{
      {shape, {"zeros_like", "undefined"}, [](auto make) { zeros_like(decltype(make({}))()); }}};
  return list;
}

const Entries like{
    {.name = "zeros_like",
     .family = Family::creation,
     .arguments = "x, dtype = {}",
     .says = "Every element 0, of x's shape, device and (where none is given) dtype",
     .differentiable = false,
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return zeros_like(x); },
                  .reference = [](const auto& x) { return filled(x[0], 0); }}},
     .bad = undefined_like()},
    {.name = "ones_like",
     .family = Family::creation,
     .arguments = "x, dtype = {}",
     .says = "Every element 1, like x",
     .differentiable = false,
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return ones_like(x); },
                  .reference = [](const auto& x) { return filled(x[0], 1); }}},
     .bad = {{shape, {"ones_like", "undefined"}, [](auto make) { ones_like(decltype(make({}))()); }}}},
    {.name = "full_like",
     .family = Family::creation,
     .arguments = "x, value, dtype = {}",
     .says = "Every element `value`, like x",
     .differentiable = false,
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return full_like(x, 0.5); },
                  .reference = [](const auto& x) { return filled(x[0], 0.5); }}},
     .bad = {{dtype, {"full", "0.5", "i32"}, [](auto make) { full_like(make({2}), 0.5, i32); }}}},
    {.name = "empty_like",
     .family = Family::creation,
     .arguments = "x, dtype = {}",
     .says = "Elements of any value, like x",
     .differentiable = false,
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return Tensor(empty_like(x)).copy_from(elements(x)); },
                  .reference = [](const auto& x) { return x; }}},
     .bad = {{shape, {"empty_like", "undefined"}, [](auto make) { empty_like(decltype(make({}))()); }}}},
    {.name = "meshgrid",
     .family = Family::creation,
     .arguments = "vectors, order = MeshOrder::ij",
     .says = "Each of these vectors along an axis of its own, broadcast to the grid of them all (views)",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows}, {s.columns}};
                      },
                  .call = Call::of_one_type([](const auto& a, const auto& b) {
                    return meshgrid(std::vector{a, b});
                  }),
                  .reference =
                      [](const auto& x) {
                        const Shape grid{x[0].shape[0], x[1].shape[0]};
                        return std::vector{moved_one(x[0], grid, [](const Shape&, const At& i) { return i[0]; }),
                                           moved_one(x[1], grid, [](const Shape&, const At& i) { return i[1]; })};
                      },
                  .empty = {}}},
     .bad = {{shape,
              {"meshgrid", "one axis", "f32[2, 3]"},
              [](auto make) {
                meshgrid(std::vector{make({2, 3})});
              }}}},
    {.name = "diag",
     .family = Family::creation,
     .arguments = "x, k = 0",
     .says = "Of a vector, the square matrix with it on the k-th diagonal; of a matrix, its k-th diagonal",
     .tolerance = kMoved,
     .samples = {{.with = "of a vector",
                  .shapes = one_line,
                  .call = [](const auto& x) { return diag(x, -1); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0] + 1, s[0] + 1};
                      },
                      [](const Shape&, const At& i) { return i[0] == i[1] + 1 ? i[1] : -1; }),
                  .empty = {}},
                 {.with = "of a matrix",
                  .shapes = matrix,
                  .call = [](const auto& x) { return diag(x); },
                  .reference = moved([](const Shape& s) { return Shape{std::min(s[0], s[1])}; },
                                     [](const Shape& s, const At& i) {
                                       return number_at(s, {i[0], i[0]});
                                     })}},
     .bad = {{shape, {"diag", "one or two axes", "f32[]"}, [](auto make) { diag(make({})); }}}},
    {.name = "diag_embed",
     .family = Family::creation,
     .arguments = "x, k = 0",
     .says = "The last axis as the k-th diagonal of square matrices, in the last two axes, that are 0 elsewhere",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return diag_embed(x, 1); },
                  .reference = moved(
                      [](const Shape& s) {
                        return Shape{s[0], s[1] + 1, s[1] + 1};
                      },
                      [](const Shape& s, const At& i) {
                        return i[2] == i[1] + 1 ? number_at(s, {i[0], i[1]}) : -1;
                      })}},
     .bad = {{shape, {"diag_embed", "one axis", "f32[]"}, [](auto make) { diag_embed(make({})); }}}},
    {.name = "tril",
     .family = Family::creation,
     .arguments = "x, k = 0",
     .says = "The lower triangle of the last two axes up to the k-th diagonal, 0 above",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return tril(x, 1); },
                  .reference = moved([](const Shape& s) { return s; },
                                     [](const Shape& s, const At& i) {
                                       return i[1] - i[0] <= 1 ? number_at(s, {i[0], i[1]}) : -1;
                                     }),
                  .kernel_calls = 1}},
     .bad = {{shape, {"tril", "two axes", "f32[3]"}, [](auto make) { tril(make({3})); }}}},
    {.name = "triu",
     .family = Family::creation,
     .arguments = "x, k = 0",
     .says = "The upper triangle of the last two axes from the k-th diagonal on, 0 below",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return triu(x); },
                  .reference = moved([](const Shape& s) { return s; },
                                     [](const Shape& s, const At& i) {
                                       return i[1] >= i[0] ? number_at(s, {i[0], i[1]}) : -1;
                                     }),
                  .kernel_calls = 1}},
     .bad = {{shape, {"triu", "two axes", "f32[3]"}, [](auto make) { triu(make({3})); }}}},
};

}  // namespace
}  // namespace tern::operations
