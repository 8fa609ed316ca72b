// The entry of `rotate`: its row in docs/ops.md, and how it is tried.
#include "ops/operands.trial.hpp"
#include "primitives/rotate/operation.hpp"

namespace tern::operations {
namespace {

/// By so many places towards the front along the axis of a matrix.
std::vector<Values> rotated_by(const Values& x, std::int64_t rows, std::int64_t columns) {
  const std::int64_t m = x.shape[0], n = x.shape[1];
  Values y{x.shape, {}};
  for (std::int64_t r = 0; r < m; ++r)
    for (std::int64_t c = 0; c < n; ++c)
      y.of.push_back(x.of[static_cast<std::size_t>((r + rows) % m * n + (c + columns) % n)]);
  return {y};
}

const Entries entry_of_rotate{{
    .name = "rotate",
    .family = Family::views,
    .arguments = "x, by, axis = -1",
    .says = "x with its elements along an axis moved `by` places towards the front, those that fall out at the back "
            "again",
    .tolerance = {0, "elements are moved"},
    .samples = {{.shapes = matrix,
                 .call = [](const auto& x) { return rotate(x, 2); },
                 .reference = [](const auto& x) { return rotated_by(x[0], 0, 2); },
                 .kernel_calls = 1,
                 .flops = [](Sizes) { return std::int64_t{0}; },
                 .kernels = "rotation of lines"},
                {.with = "towards the back",
                 .shapes = matrix,
                 .call = [](const auto& x) { return rotate(x, -1, 0); },
                 .reference = [](const auto& x) { return rotated_by(x[0], x[0].shape[0] - 1, 0); },
                 .kernel_calls = 1}},
    .bad = {{ErrorKind::index, {"rotate", "axis"}, [](auto make) { rotate(make({2, 3}), 1, 2); }},
            {ErrorKind::shape, {"rotate", "x"}, [](auto make) { rotate(decltype(make({2}))(), 1); }}},
}};

}  // namespace
}  // namespace tern::operations
