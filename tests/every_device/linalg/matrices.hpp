// Matrices of numbers without a pattern, for the tests of linear algebra.
#pragma once
#include <cmath>

#include "every_device/reference.hpp"

namespace tern::test {

/// Element (i, j) of matrix l.
inline double noise(std::int64_t l, std::int64_t i, std::int64_t j) {
  const auto x = static_cast<double>(i), y = static_cast<double>(j);
  return std::sin(static_cast<double>(l) * 71 + x * 37 + y * 101 + (x + 0.3) * (y + 1.7) * (x - 2.1 * y + 0.9));
}
inline Tensor noise_matrices(std::int64_t count, std::int64_t m, std::int64_t n, DType dtype) {
  std::vector<double> values;
  for (std::int64_t l = 0; l < count; ++l)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) values.push_back(noise(l, i, j));
  return make(values, {count, m, n}, dtype, cpu());
}
/// 1, where results are looked at.
inline Tensor unit(std::int64_t n) { return eye(n, {.dtype = f64, .device = cpu()}); }
/// The largest real or imaginary part, infinite where one is NaN.
inline double largest_part(const Tensor& x) {
  double most = 0;
  for (const double v : doubles(is_complex(x.dtype()) ? view_as_real(x.reshape({-1})) : x))
    most = std::isnan(v) ? kInf : std::max(most, std::abs(v));
  return most;
}

}  // namespace tern::test
