// Operands of small whole numbers, so that every order of a sum gives the same bits.
#pragma once
#include <functional>
#include <vector>

#include "every_device/reference.hpp"

namespace tern::test {

/// Element i of every operand here: 0 to 22, or -11 to 11.
inline double value_at(std::int64_t i, bool sign = true) { return static_cast<double>(i * 7 % 23) - (sign ? 11 : 0); }

inline Tensor small_wholes(const Shape& shape, DType dtype = f32) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  const bool sign = dtype != u8 && dtype != boolean && dtype != u32;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_at(static_cast<std::int64_t>(i), sign);
  std::vector<float> narrow(values.begin(), values.end());
  return tensor(narrow, shape, cpu()).to(dtype).to(default_device());
}
inline bool has(DType dtype) {
  try {
    (void)zeros({1}, {.dtype = dtype});
    return true;
  } catch (const Error&) {
    return false;
  }
}
/// Calls f(i, j) for every element of an n × c matrix, row by row.
inline std::vector<double> matrix(std::int64_t n, std::int64_t c,
                                  const std::function<double(std::int64_t, std::int64_t)>& f) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < c; ++j) result.push_back(f(i, j));
  return result;
}

}  // namespace tern::test
