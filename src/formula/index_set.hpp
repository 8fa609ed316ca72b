// Sets of inputs, or of outputs, of a formula or of a recorded operation.
#pragma once
#include <bitset>
#include <cstddef>

namespace tern::detail {

/// A formula traced has 120 inputs at most, components and captured numbers. A derivative of it has each of its
/// operands, cotangents and tangents: with every order forward mode adds their number, reverse mode can double it. 256
/// are enough for a product of 12 arguments up to the fifth order in any modes, and for one of two 4x4 matrices up to
/// the second.
inline constexpr std::size_t kMostInputs = 256;
using IndexSet = std::bitset<kMostInputs>;

/// {0, …, count - 1}; all there can be where it is more.
inline IndexSet first_indices(std::size_t count) {
  if (count < 64) return IndexSet((1ull << count) - 1);  // a shift of 256 bits takes 10 ns
  return ~IndexSet() >> (kMostInputs - (count < kMostInputs ? count : kMostInputs));
}
inline IndexSet one_index(std::size_t i) { return IndexSet().set(i); }

}  // namespace tern::detail
