// References of operations that move elements: the place of each result's element among those of the operand.
#pragma once
#include <algorithm>
#include <array>

#include "ops/operands.trial.hpp"

namespace tern::operations {

using At = std::array<std::int64_t, kMaxRank>;

/// The number of an element in row-major order.
inline std::int64_t number_at(const Shape& shape, std::initializer_list<std::int64_t> at) {
  std::int64_t number = 0;
  std::size_t axis = 0;
  for (const std::int64_t i : at) number = number * shape[axis++] + i;
  return number;
}
/// A tensor of this shape, whose element at i is number source(x's shape, i) of x; -1: 0.
template <class F> Values moved_one(const Values& x, const Shape& shape, F source) {
  Values y{shape, {}};
  for (std::int64_t n = 0; n < shape.numel(); ++n) {
    At at{};
    std::int64_t rest = n;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) at[axis] = rest % shape[axis];
    const std::int64_t from = source(x.shape, at);
    y.of.push_back(from < 0 ? 0 : x.of[static_cast<std::size_t>(from)]);
  }
  return y;
}
/// The same as a reference, the shape given by x's.
template <class S, class F> auto moved(S shape, F source) {
  return [=](const std::vector<Values>& x) { return std::vector{moved_one(x[0], shape(x[0].shape), source)}; };
}

}  // namespace tern::operations
