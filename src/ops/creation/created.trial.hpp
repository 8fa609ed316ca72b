// Samples of operations that make a tensor of numbers alone.
#pragma once
#include <vector>

#include "ops/entry.hpp"

namespace tern::operations {

inline std::vector<Shape> no_operands(Sizes) { return {}; }
inline const std::vector<Sizes> kOnce = {{}};
/// A sample without operands, with these results.
template <class F> std::vector<Sample> creates(F call, const Shape& shape, std::vector<double> values) {
  return {{.shapes = no_operands,
           .call = call,
           .reference =
               [=](const auto&) {
                 return std::vector<Values>{{shape, values}};
               },
           .sizes = kOnce,
           .empty = {}}};
}
inline constexpr Tolerance kGiven{0, "the numbers are representable"};

}  // namespace tern::operations
