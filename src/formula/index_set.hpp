// Sets of inputs, or of outputs, of a formula or of a recorded operation.
#pragma once
#include <bitset>
#include <cstddef>

namespace tern::detail {

/// A formula traced has 40 inputs at most, a derivative of it has each of its operands, cotangents and tangents: forward
/// mode doubles their number with every order. 512 are a formula of 16 arguments five times in forward mode.
inline constexpr std::size_t kMostInputs = 512;
using IndexSet = std::bitset<kMostInputs>;

/// {0, …, count - 1}; all there can be where it is more.
inline IndexSet first_indices(std::size_t count) {
  if (count == 0) return {};
  return ~IndexSet() >> (kMostInputs - (count < kMostInputs ? count : kMostInputs));
}
inline IndexSet one_index(std::size_t i) { return IndexSet().set(i); }

}  // namespace tern::detail
