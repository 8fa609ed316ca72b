// References of operations along the rows of a matrix.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "ops/operands.trial.hpp"

namespace tern::operations {

using Line = std::vector<double>;
inline constexpr const char* kReductionArguments = "x, axes = {}, keepdim = false";

inline Line row_of(const Values& x, std::int64_t row) {
  const auto begin = x.of.begin() + row * x.shape[1];
  return {begin, begin + x.shape[1]};
}
/// f(row) of each row: as many lists of one length.
template <class F> std::vector<Values> by_rows(const Values& x, F f) {
  Values y{{x.shape[0], 0}, {}};
  for (std::int64_t row = 0; row < x.shape[0]; ++row) {
    const Line line = f(row_of(x, row));
    y.shape[1] = static_cast<std::int64_t>(line.size());
    y.of.insert(y.of.end(), line.begin(), line.end());
  }
  return {y};
}
/// f(row) of each row: a number.
template <class F> std::vector<Values> each_row(const Values& x, F f) {
  Values y{{x.shape[0]}, {}};
  for (std::int64_t row = 0; row < x.shape[0]; ++row) y.of.push_back(f(row_of(x, row)));
  return {y};
}
inline double total(const Line& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
inline Line sorted_line(Line line) {
  std::ranges::sort(line);
  return line;
}

}  // namespace tern::operations
