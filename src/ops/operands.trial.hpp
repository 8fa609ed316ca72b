// What the entries of several files share: the shapes of operands, references of matrices, tolerances and bad calls.
#pragma once
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ops/entry.hpp"

namespace tern::operations {

// ---- shapes ----
inline std::vector<Shape> matrix(Sizes s) { return {{s.rows, s.columns}}; }
inline std::vector<Shape> two_alike(Sizes s) { return {{s.rows, s.columns}, {s.rows, s.columns}}; }
inline std::vector<Shape> square_matrix(Sizes s) { return {{s.columns, s.columns}}; }
/// [rows, columns] × [columns, rows], whose result is square.
inline std::vector<Shape> shapes_of_factors(Sizes s) { return {{s.rows, s.columns}, {s.columns, s.rows}}; }
/// Two channels, of which no axis is short.
inline std::vector<Shape> image(Sizes s) { return {{s.rows, 2, 4, s.columns + 2}}; }
inline const std::vector<Sizes> kSmall = {{2, 3}, {1, 1}, {3, 7}};

// ---- references ----
inline std::size_t size(const Values& x, int axis) {
  return static_cast<std::size_t>(x.shape[static_cast<std::size_t>(axis)]);
}
template <std::integral Row, std::integral Column> double at(const Values& x, Row row, Column column) {
  return x.of[static_cast<std::size_t>(row) * size(x, 1) + static_cast<std::size_t>(column)];
}
/// f(row, column) for each element of a matrix.
template <class F> Values made(std::int64_t rows, std::int64_t columns, F f) {
  Values y{{rows, columns}, {}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) y.of.push_back(f(r, c));
  return y;
}
/// The last two axes exchanged.
inline Values transposed(const Values& x) {
  const std::size_t rank = x.shape.size(), rows = static_cast<std::size_t>(x.shape[rank - 2]),
                    columns = static_cast<std::size_t>(x.shape[rank - 1]);
  Values y = x;
  std::swap(y.shape[rank - 2], y.shape[rank - 1]);
  for (std::size_t i = 0; i < x.of.size(); ++i) y.of[i % columns * rows + i / columns] = x.of[i];
  return y;
}
/// a [.., M, K] × b [.., K, N], in which one of them may lack the batch axes.
inline Values matrix_product(const Values& a, const Values& b) {
  const std::size_t m = static_cast<std::size_t>(a.shape[a.shape.size() - 2]),
                    k = static_cast<std::size_t>(a.shape.back());
  const std::size_t n = static_cast<std::size_t>(b.shape.back());
  const Values& larger = a.shape.rank() >= b.shape.rank() ? a : b;
  Values y{larger.shape, {}};
  y.shape[y.shape.size() - 2] = a.shape[a.shape.size() - 2], y.shape.back() = b.shape.back();
  const auto elements = static_cast<std::size_t>(y.shape.numel());
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t batch = i / (m * n), row = i / n % m, column = i % n;
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j)
      sum += a.of[((a.of.size() > m * k ? batch * m : 0) + row) * k + j] *
             b.of[((b.of.size() > k * n ? batch * k : 0) + j) * n + column];
    y.of.push_back(sum);
  }
  return y;
}
/// log Σ exp of a row of moderate numbers.
inline double log_sum_exp(std::span<const double> row) {
  double sum = 0;
  for (const double v : row) sum += std::exp(v);
  return std::log(sum);
}

// ---- rows with a label ----
inline constexpr std::int32_t kIgnored = -1;
/// Labels of rows with so many classes: 2, 0, 1, … modulo the classes; with `some_ignored` every second is ignored.
inline std::vector<std::int32_t> labels(const Shape& logits, bool some_ignored) {
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < logits[0]; ++i)
    list.push_back(some_ignored && i % 2 == 1 ? kIgnored : static_cast<std::int32_t>((2 + 4 * i) % logits[1]));
  return list;
}

// ---- tolerances and bad calls ----
inline constexpr Tolerance kMoved{0, "elements are moved"};
inline constexpr Tolerance kChosen{0, "elements are chosen"};

template <class F> BadInput undefined(const char* name, F call) {
  return {ErrorKind::shape, {name, "undefined"}, [call](auto make) { call(decltype(make({}))()); }};
}
/// An axis that is not there.
template <class F> BadInput bad_axis(const char* name, F call) {
  return {ErrorKind::index, {name, "axis 2", "out of range"}, [call](auto make) { call(make({2, 3}), 2); }};
}

}  // namespace tern::operations
