// What the entries of linear algebra share: references in plain loops, and matrices made of samples' numbers.
#pragma once
#include <algorithm>
#include <numeric>

#include "ops/operands.trial.hpp"
#include "tern/linalg.hpp"

namespace tern::operations::matrices {

using enum ErrorKind;
using namespace linalg;

// ---- references, in plain loops ----
struct Dense {
  std::size_t rows, columns;
  std::vector<double> of = std::vector<double>(rows * columns);
  double& operator()(std::size_t i, std::size_t j) { return of[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const { return of[i * columns + j]; }
};
inline Dense dense(const Values& x) {
  return {static_cast<std::size_t>(x.shape[0]), x.shape.rank() > 1 ? static_cast<std::size_t>(x.shape[1]) : 1, x.of};
}
inline Values values(const Dense& x) {
  return {{static_cast<std::int64_t>(x.rows), static_cast<std::int64_t>(x.columns)}, x.of};
}
inline Values vector(const std::vector<double>& x) { return {{static_cast<std::int64_t>(x.size())}, x}; }
inline Values number(double x) { return {{}, {x}}; }
inline Dense transposed(const Dense& x) {
  Dense y{x.columns, x.rows};
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j) y(j, i) = x(i, j);
  return y;
}
inline Dense product(const Dense& a, const Dense& b) {
  Dense y{a.rows, b.columns};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.columns; ++k)
      for (std::size_t j = 0; j < b.columns; ++j) y(i, j) += a(i, k) * b(k, j);
  return y;
}
inline Dense squares(Dense x) {
  for (double& v : x.of) v *= v;
  return x;
}
struct LuFactors {
  Dense lu;
  std::vector<std::size_t> order;
  double sign = 1;
};
inline LuFactors lu_factors(Dense a) {
  LuFactors f{a, std::vector<std::size_t>(a.rows)};
  std::iota(f.order.begin(), f.order.end(), 0u);
  for (std::size_t k = 0; k < a.rows; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < a.rows; ++i)
      if (std::abs(f.lu(i, k)) > std::abs(f.lu(best, k))) best = i;
    if (best != k) f.sign = -f.sign, std::swap(f.order[k], f.order[best]);
    for (std::size_t j = 0; j < a.columns && best != k; ++j) std::swap(f.lu(k, j), f.lu(best, j));
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      f.lu(i, k) /= f.lu(k, k);
      for (std::size_t j = k + 1; j < a.columns; ++j) f.lu(i, j) -= f.lu(i, k) * f.lu(k, j);
    }
  }
  return f;
}
inline Dense solved(const Dense& a, const Dense& b) {
  const LuFactors f = lu_factors(a);
  Dense x{b.rows, b.columns};
  for (std::size_t c = 0; c < b.columns; ++c) {
    for (std::size_t i = 0; i < b.rows; ++i) {
      x(i, c) = b(f.order[i], c);
      for (std::size_t k = 0; k < i; ++k) x(i, c) -= f.lu(i, k) * x(k, c);
    }
    for (std::size_t i = b.rows; i-- > 0;) {
      for (std::size_t k = i + 1; k < b.rows; ++k) x(i, c) -= f.lu(i, k) * x(k, c);
      x(i, c) /= f.lu(i, i);
    }
  }
  return x;
}
inline Dense identity(std::size_t n) {
  Dense one{n, n};
  for (std::size_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}
inline double determinant(const Dense& a) {
  const LuFactors f = lu_factors(a);
  double d = f.sign;
  for (std::size_t i = 0; i < a.rows; ++i) d *= f.lu(i, i);
  return d;
}
inline Dense lower_factor(const Dense& a) {
  Dense l{a.rows, a.rows};
  for (std::size_t j = 0; j < a.rows; ++j)
    for (std::size_t i = j; i < a.rows; ++i) {
      double sum = a(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
    }
  return l;
}
struct Rotated {
  std::vector<double> values;
  Dense vectors;  // columns
};
/// Cyclic Jacobi rotations of columns until they are orthogonal (Hestenes): lengths descending, and the rotations.
inline Rotated rotated(Dense a, Dense& lengths) {
  const std::size_t n = a.columns;
  Dense v = identity(n);
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        double aa = 0, bb = 0, ab = 0;
        for (std::size_t i = 0; i < a.rows; ++i)
          aa += a(i, p) * a(i, p), bb += a(i, q) * a(i, q), ab += a(i, p) * a(i, q);
        if (std::abs(ab) <= 1e-17 * std::sqrt(aa * bb)) continue;
        const double zeta = (bb - aa) / (2 * ab);
        const double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (Dense* m : {&a, &v})
          for (std::size_t i = 0; i < m->rows; ++i) {
            const double x = (*m)(i, p), y = (*m)(i, q);
            (*m)(i, p) = c * x - s * y, (*m)(i, q) = s * x + c * y;
          }
      }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < a.rows; ++i) sum += a(i, j) * a(i, j);
    order.emplace_back(-std::sqrt(sum), j);
  }
  std::ranges::sort(order);
  Rotated r{{}, Dense{n, n}};
  lengths = Dense{a.rows, n};
  for (std::size_t j = 0; j < n; ++j) {
    r.values.push_back(-order[j].first);
    for (std::size_t i = 0; i < n; ++i) r.vectors(i, j) = v(i, order[j].second);
    for (std::size_t i = 0; i < a.rows; ++i) lengths(i, j) = a(i, order[j].second) / -order[j].first;
  }
  return r;
}
inline std::vector<double> singular_values(const Dense& a) {
  Dense u{0, 0};
  return rotated(a.rows < a.columns ? transposed(a) : a, u).values;
}

// ---- matrices that samples make of numbers in [-1, 1) ----
template <class T> Tensor one_like(const T& x, double value) {
  return eye(x.size(-1), {.dtype = x.dtype(), .device = x.device()}) * value;
}
inline double shift_of(std::int64_t n) { return 1 + static_cast<double>(n) / 3; }
/// Far from singular.
template <class T> T regular(const T& x) { return x * 0.5 + one_like(x, shift_of(x.size(-1))); }
/// Positive definite.
template <class T> T definite(const T& x) { return regular(T((x + x.mT()) * 0.5)); }
/// 3, 6, … on the diagonal: well separated spectra.
template <class T> Tensor steps(const T& x) {
  const Tensor ones = detail::shifted_eye(x.size(-2), x.size(-1), 0, {.dtype = x.dtype(), .device = x.device()});
  return ones * arange(3, 3 * x.size(-1) + 1, 3, {.dtype = f32, .device = x.device()}).to(x.dtype());
}
template <class T> T apart(const T& x) { return x * 0.5 + steps(x); }
/// The same with 1.5, 3, …: derivatives that are no less than roundings to 16 bits.
template <class T> T nearer(const T& x) { return x * 0.75 + steps(x) * 0.5; }
template <class T> T symmetric(const T& x) { return apart(T(x + x.mT())); }

inline Dense regular(const Values& x) {
  Dense y = dense(x);
  for (double& v : y.of) v *= 0.5;
  for (std::size_t i = 0; i < y.rows; ++i) y(i, i) += shift_of(x.shape[1]);
  return y;
}
inline Dense half_sum(const Values& x) {
  Dense y = dense(x), t = transposed(y);
  for (std::size_t i = 0; i < y.of.size(); ++i) y.of[i] = (y.of[i] + t.of[i]) * 0.5;
  return y;
}
inline Dense definite(const Values& x) { return regular(values(half_sum(x))); }
inline Dense apart(const Values& x) {
  Dense y = dense(x);
  for (double& v : y.of) v *= 0.5;
  for (std::size_t i = 0; i < std::min(y.rows, y.columns); ++i) y(i, i) += 3.0 * static_cast<double>(i + 1);
  return y;
}
inline Dense nearer(const Values& x) {
  Dense y = dense(x);
  for (double& v : y.of) v *= 0.75;
  for (std::size_t i = 0; i < std::min(y.rows, y.columns); ++i) y(i, i) += 1.5 * static_cast<double>(i + 1);
  return y;
}
inline Dense times(Dense x, double factor) {
  for (double& v : x.of) v *= factor;
  return x;
}
inline Dense symmetric(const Values& x) {
  Dense y = half_sum(x);
  for (double& v : y.of) v *= 2;
  return apart(values(y));
}

inline std::vector<Shape> tall(Sizes s) { return {{s.columns, s.rows}}; }
inline std::vector<Shape> square_and_right(Sizes s) { return {{s.columns, s.columns}, {s.columns, s.rows}}; }
inline std::vector<Shape> tall_and_right(Sizes s) { return {{s.columns, s.rows}, {s.columns, 2}}; }
const std::vector<Sizes> kNothing = {{3, 0}};
constexpr Tolerance kSolved{200, "k·n roundings of a matrix of condition below 10, n up to 7", 8};
constexpr Tolerance kSpectra{400, "k·n roundings of values up to 24, and of vectors k·n over gaps of 1", 8};

template <class T> std::vector<T> list(const T& a, const T& b) { return {a, b}; }

inline BadInput no_square(const char* name, auto call) {
  return {shape, {name, "square", "[2, 3]"}, [call](auto make) { call(make({2, 3})); }};
}
inline BadInput no_floats(const char* name, auto call) {
  return {dtype, {name, "floating", "i32"}, [call](auto make) { call(make({2, 2}, i32)); }};
}
inline BadInput no_matrix(const char* name, auto call) {
  return {shape, {name, "matrices", "[3]"}, [call](auto make) { call(make({3})); }};
}
#define TERN_ON(...) [](const auto& x) { return __VA_ARGS__; }
#define TERN_BAD(name, ...) \
  { no_square(name, TERN_ON(__VA_ARGS__)), no_floats(name, TERN_ON(__VA_ARGS__)) }

}  // namespace tern::operations::matrices
