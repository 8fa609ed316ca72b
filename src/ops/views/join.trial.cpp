// Entries of joining and splitting (join.cpp).
#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// So many rows of a matrix from `first` on.
Values rows_of(const Values& x, std::int64_t first, std::int64_t count) {
  const auto begin = x.of.begin() + first * x.shape[1];
  return {{count, x.shape[1]}, {begin, begin + count * x.shape[1]}};
}
std::vector<Values> beside(const std::vector<Values>& parts) {
  Values y{{parts[0].shape[0], 0}, {}};
  for (const Values& part : parts) y.shape[1] += part.shape[1];
  for (std::int64_t r = 0; r < y.shape[0]; ++r)
    for (const Values& part : parts)
      for (std::int64_t c = 0; c < part.shape[1]; ++c)
        y.of.push_back(part.of[static_cast<std::size_t>(r * part.shape[1] + c)]);
  return {y};
}

const Entries joins{
    {.name = "concatenate",
     .family = Family::joins,
     .arguments = "tensors, axis = 0",
     .says = "The tensors one behind the other along an axis",
     .tolerance = kMoved,
     .archived = {[](DType dtype) {
       const Var x(zeros(archived_square(), dtype), is_floating(dtype));
       return concatenate({x, x}, 0);
     }},
     .samples = {{.with = "one of them twice",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.rows, 1}};
                      },
                  .call = Call::of_one_type([](const auto& a, const auto& b) {
                    return concatenate({a, b, a}, 1);
                  }),
                  .reference =
                      [](const auto& x) {
                        return beside({x[0], x[1], x[0]});
                      }}},
     .bad = {{shape,
              {"concatenate", "f32[2, 3]", "f32[2, 4]"},
              [](auto make) {
                concatenate({make({2, 3}), make({2, 4})});
              }},
             {shape,
              {"concatenate", "at least one"},
              [](auto make) { concatenate(std::vector<decltype(make({}))>{}); }}}},
    {.name = "stack",
     .family = Family::joins,
     .arguments = "tensors, axis = 0",
     .says = "The tensors along a new axis",
     .tolerance = kMoved,
     .archived = {[](DType dtype) {
       const Tensor x = zeros(archived_square(), dtype);
       stack({x, x});
     }},
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, s.columns}, {s.rows, s.columns}};
                      },
                  .call = Call::of_one_type([](const auto& a, const auto& b) {
                    return stack({a, b}, 1);
                  }),
                  .reference =
                      [](const auto& x) {
                        std::vector<Values> y = beside(x);
                        y[0].shape = {x[0].shape[0], 2, x[0].shape[1]};
                        return y;
                      }}},
     .bad = {{shape,
              {"stack", "f32[2, 3]", "f32[2, 4]"},
              [](auto make) {
                stack({make({2, 3}), make({2, 4})});
              }},
             {shape, {"stack", "at least one"}, [](auto make) { stack(std::vector<decltype(make({}))>{}); }}}},
    {.name = "split",
     .family = Family::joins,
     .arguments = "x, parts, axis = 0",
     .says = "Parts of equal size along an axis: views",
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{2 * s.rows, s.columns}};
                      },
                  .call = [](const auto& x) { return split(x, 2); },
                  .reference =
                      [](const auto& x) {
                        const std::int64_t rows = x[0].shape[0] / 2;
                        return std::vector{rows_of(x[0], 0, rows), rows_of(x[0], rows, rows)};
                      }}},
     .bad = {{shape,
              {"split", "f32[2, 3]", "2"},
              [](auto make) {
                split(make({2, 3}), 2, 1);
              }},
             {shape,
              {"split", "0 parts"},
              [](auto make) {
                split(make({2, 3}), 0);
              }}}},
};

}  // namespace
}  // namespace tern::operations
