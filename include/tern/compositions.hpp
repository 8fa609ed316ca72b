// Operations composed of others: no kernel and no rule of their own. All there is of one stands here (how to write one:
// docs/add_an_operation.md); the entries, in TERN_ENTRIES, are compiled into tests and tools only.
#pragma once
#include "tern/ops.hpp"

namespace tern {

/// x converted; the gradient is converted back.
template <TensorOrVar T> T cast(const T& x, DType dtype) { return x.to(dtype); }

/// The first half of x along an axis, times the sigmoid of the second.
template <TensorOrVar T> T glu(const T& x, int axis = -1) {
  const std::vector<T> halves = split(x, 2, axis);
  return sigmoid_mul(halves[1], halves[0]);
}

}  // namespace tern

#ifdef TERN_ENTRIES
#include "ops/entry.hpp"

namespace tern::operations {

const Entries entry_of_cast{{
    .name = "cast",
    .family = Family::compositions,
    .arguments = "x, dtype",
    .says = "x converted; the gradient is converted back",
    .tolerance = {0, "no element changes"},
    .samples = {{.shapes = [](Sizes s) { return std::vector<Shape>{{s.rows, s.columns}}; },
                 .call = [](const auto& x) { return cast(x, dtype_size(x.dtype()) == 2 ? f32 : x.dtype()); },
                 .reference = [](const auto& x) { return x; }}},
    .bad = {{ErrorKind::shape, {"undefined Tensor"}, [](auto make) { cast(decltype(make({}))(), f32); }}},
}};
const Entries entry_of_glu{{
    .name = "glu",
    .family = Family::compositions,
    .arguments = "x, axis = -1",
    .says = "The first half of x along an axis, times the sigmoid of the second",
    .tolerance = {4, "a sigmoid and a product"},
    .samples = {{.shapes = [](Sizes s) { return std::vector<Shape>{{s.rows, 2 * s.columns}}; },
                 .call = [](const auto& x) { return glu(x); },
                 .reference =
                     [](const auto& x) {
                       const std::int64_t rows = x[0].shape[0], columns = x[0].shape[1] / 2;
                       Values y{{rows, columns}, {}};
                       for (std::int64_t i = 0; i < rows * columns; ++i) {
                         const auto at = static_cast<std::size_t>(i / columns * 2 * columns + i % columns);
                         y.of.push_back(x[0].of[at] / (1 + std::exp(-x[0].of[at + static_cast<std::size_t>(columns)])));
                       }
                       return std::vector{y};
                     }}},
    .bad = {{ErrorKind::shape, {"split", "does not divide into 2 parts"}, [](auto make) { glu(make({2, 3})); }}},
}};

}  // namespace tern::operations
#endif
