// What formulas of fixed-size vectors and matrices are made of besides arithmetic: elimination with declared
// derivatives, and quaternions.
#include "tern/fixed.hpp"

#include <algorithm>

#include "formula/elimination.hpp"
#include "formula/graph.hpp"
#include "tern/error.hpp"

namespace tern {
namespace detail {

/// Never a parameter, as a number is while a capturing lambda is traced.
Expr constant(double value) { return make_constant(Number(value)); }
void fail_component(const char* type, int index, int count) {
  throw Error(ErrorKind::index, std::string(traced_name()) + ": index " + std::to_string(index) + " of " + type +
                                    " with " + std::to_string(count));
}

namespace {

/// A matrix of expressions while it is eliminated.
class ExprMatrix {
 public:
  ExprMatrix(int rows, int columns) : columns_(columns), at_(static_cast<std::size_t>(rows * columns)) {}
  Expr& operator()(int i, int j) { return at_[static_cast<std::size_t>(i * columns_ + j)]; }

 private:
  int columns_;
  std::vector<Expr> at_;
};
/// Exchanges x and y where the condition holds.
void exchange(const Expr& condition, Expr& x, Expr& y) {
  const Expr first = where(condition, y, x);
  y = where(condition, x, y), x = first;
}

/// [a | b] with a made upper triangular, by rows that are exchanged so that the largest element of what is left of a
/// column stands on the diagonal, as LU with partial pivoting does. The pivots may be read below.
struct Eliminated {
  ExprMatrix rows;
  Expr odd = constant(1);  // of exchanges, as a sign: 1 or -1
  /// `through`: a pivot of 0 leaves the numbers below, which are 0 then, as they are, and the other pivots finite.
  Eliminated(int n, int m, std::span<const Expr> a, std::span<const Expr> b, bool through = false) : rows(n, n + m) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) rows(i, j) = a[static_cast<std::size_t>(i * n + j)];
      for (int j = 0; j < m; ++j) rows(i, n + j) = b[static_cast<std::size_t>(i * m + j)];
    }
    for (int k = 0; k + 1 < n; ++k) {
      for (int i = k + 1; i < n; ++i) {
        const Expr larger = abs(rows(i, k)) > abs(rows(k, k));
        for (int j = k; j < n + m; ++j) exchange(larger, rows(k, j), rows(i, j));
        odd = where(larger, -odd, odd);
      }
      const Expr pivot = rows(k, k), by = through ? where(pivot == constant(0), constant(1), pivot) : pivot;
      for (int i = k + 1; i < n; ++i) {
        const Expr factor = rows(i, k) / by;
        for (int j = k + 1; j < n + m; ++j) rows(i, j) = rows(i, j) - factor * rows(k, j);
      }
    }
  }
  /// Column n + j solved.
  std::vector<Expr> solution(int n, int j) {
    std::vector<Expr> x(static_cast<std::size_t>(n));
    for (int i = n - 1; i >= 0; --i) {
      Expr left = rows(i, n + j);
      for (int k = i + 1; k < n; ++k) left = left - rows(i, k) * x[static_cast<std::size_t>(k)];
      x[static_cast<std::size_t>(i)] = left / rows(i, i);
    }
    return x;
  }
};

std::vector<Expr> inputs(int count) {
  std::vector<Expr> x;
  for (int i = 0; i < count; ++i) x.push_back(make_input(i));
  return x;
}

std::vector<Expr> minor_of(int n, std::span<const Expr> a, int row, int column) {
  std::vector<Expr> m;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i != row && j != column) m.push_back(a[static_cast<std::size_t>(i * n + j)]);
  return m;
}
/// By cofactors of the first row: a polynomial, whose derivatives are right at singular matrices.
Expr expanded(int n, std::span<const Expr> a) {
  if (n == 0) return constant(1);
  if (n == 1) return a[0];
  if (n == 2) return a[0] * a[3] - a[1] * a[2];
  Expr sum;
  for (int j = 0; j < n; ++j) {
    const Expr term = a[static_cast<std::size_t>(j)] * expanded(n - 1, minor_of(n, a, 0, j));
    sum = j == 0 ? term : j % 2 ? sum - term : sum + term;
  }
  return sum;
}

template <int N> std::vector<Expr> cofactors(std::span<const Expr> a) {
  std::vector<Expr> c;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const Expr minor = expanded(N - 1, minor_of(N, a, i, j));
      c.push_back((i + j) % 2 ? -minor : minor);
    }
  return c;
}
template <int N> const Definition* determinant_definition() {
  static const Definition* const definition = [] {
    Eliminated e(N, 0, inputs(N * N), {}, true);
    Expr product = e.odd;
    for (int i = 0; i < N; ++i) product = product * e.rows(i, i);
    return make_definition(make_graph({&product, 1}, N * N), nullptr, &cofactors<N>);
  }();
  return definition;
}

/// The largest factor by the smallest, then what brings the product nearer to 1. (lanes_registers-inl.h has the same.)
Expr balanced_product(const Expr& sign, std::vector<Expr> p) {
  const std::size_t n = p.size();
  for (std::size_t last = n - 1; last > 0; --last)
    for (std::size_t k = 0; k < last; ++k) {
      const Expr larger = abs(p[k]) > abs(p[k + 1]), small = where(larger, p[k + 1], p[k]);
      p[k + 1] = where(larger, p[k], p[k + 1]), p[k] = small;
    }
  const Expr ends = sign * p[n - 1] * p[0];
  if (n == 3) return ends * p[1];
  const Expr large = abs(ends) >= constant(1);
  return ends * where(large, p[1], p[2]) * where(large, p[2], p[1]);
}
template <int N> const Definition* balanced_determinant_definition() {
  static const Definition* const definition = [] {
    Eliminated e(N, 0, inputs(N * N), {}, true);
    std::vector<Expr> pivots;
    for (int i = 0; i < N; ++i) pivots.push_back(e.rows(i, i));
    Expr product = e.odd * pivots[0], normal;
    for (std::size_t i = 1; i < N; ++i) {
      product = product * pivots[i];
      if (i + 1 == N) break;
      const Expr within = bit_and(abs(product) >= constant(0x1p-126), abs(product) < constant(0x1p127));
      normal = i == 1 ? within : bit_and(normal, within);
    }
    const Expr value = where(normal, product, balanced_product(e.odd, pivots));
    return make_definition(make_graph({&value, 1}, N * N), nullptr, &cofactors<N>);
  }();
  return definition;
}

/// Entry (Row, Column) of the inverse of N·N arguments. Its derivatives are products of others.
template <int N, int Row, int Column> const Definition* inverse_definition();
template <int N> std::vector<Expr> inverse_calls(std::span<const Expr> a) {
  return [&]<int... At>(std::integer_sequence<int, At...>) {
    return std::vector<Expr>{make_call(inverse_definition<N, At / N, At % N>(), a)...};
  }(std::make_integer_sequence<int, N * N>());
}
template <int N, int Row, int Column> std::vector<Expr> inverse_partials(std::span<const Expr> a) {
  const std::vector<Expr> x = inverse_calls<N>(a);
  std::vector<Expr> partials;
  for (std::size_t k = 0; k < N; ++k)
    for (std::size_t l = 0; l < N; ++l) partials.push_back(-(x[Row * N + k] * x[l * N + Column]));
  return partials;
}
template <int N, int Row, int Column> const Definition* inverse_definition() {
  static const Definition* const definition = [] {
    std::vector<Expr> unit(N, constant(0));
    unit[Column] = constant(1);
    const Expr entry = Eliminated(N, 1, inputs(N * N), unit).solution(N, 0)[Row];
    return make_definition(make_graph({&entry, 1}, N * N), nullptr, &inverse_partials<N, Row, Column>);
  }();
  return definition;
}

/// The gradient of log|det| is the transposed inverse.
template <int N> std::vector<Expr> log_determinant_partials(std::span<const Expr> a) {
  const std::vector<Expr> x = inverse_calls<N>(a);
  std::vector<Expr> partials;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) partials.push_back(x[j * N + i]);
  return partials;
}
template <int N> const Definition* log_determinant_definition() {
  static const Definition* const definition = [] {
    Eliminated e(N, 0, inputs(N * N), {}, true);
    Expr sum = log(abs(e.rows(0, 0)));
    for (int i = 1; i < N; ++i) sum = sum + log(abs(e.rows(i, i)));
    return make_definition(make_graph({&sum, 1}, N * N), nullptr, &log_determinant_partials<N>);
  }();
  return definition;
}

/// Element Row of the solution of N·N + N arguments.
template <int N, int Row> const Definition* solve_definition();
template <int N> std::vector<Expr> solve_calls(std::span<const Expr> a_and_b) {
  return [&]<int... Row>(std::integer_sequence<int, Row...>) {
    return std::vector<Expr>{make_call(solve_definition<N, Row>(), a_and_b)...};
  }(std::make_integer_sequence<int, N>());
}
template <int N, int Row> std::vector<Expr> solve_partials(std::span<const Expr> a_and_b) {
  const std::vector<Expr> x = solve_calls<N>(a_and_b), inverse = inverse_calls<N>(a_and_b.first(N * N));
  std::vector<Expr> partials;
  for (std::size_t k = 0; k < N; ++k)
    for (std::size_t l = 0; l < N; ++l) partials.push_back(-(inverse[Row * N + k] * x[l]));
  for (std::size_t k = 0; k < N; ++k) partials.push_back(inverse[Row * N + k]);
  return partials;
}
template <int N, int Row> const Definition* solve_definition() {
  static const Definition* const definition = [] {
    const std::vector<Expr> all = inputs(N * N + N);
    const std::span<const Expr> a_and_b = all;
    const Expr x = Eliminated(N, 1, a_and_b.first(N * N), a_and_b.subspan(N * N)).solution(N, 0)[Row];
    return make_definition(make_graph({&x, 1}, N * N + N), nullptr, &solve_partials<N, Row>);
  }();
  return definition;
}

/// The element below the diagonal, whose gradient is that of both, half each.
Expr below(const Expr& lower, const Expr& upper) {
  static const Definition* const definition = [] {
    const Expr value = make_input(0), halves[] = {constant(0.5), constant(0.5)};
    return make_definition(make_graph({&value, 1}, 2), make_graph(halves, 2));
  }();
  const Expr both[] = {lower, upper};
  return make_call(definition, both);
}

/// f.template operator()<n>()
template <class F> auto with_size(int n, F f) {
  return n == 1   ? f.template operator()<1>()
         : n == 2 ? f.template operator()<2>()
         : n == 3 ? f.template operator()<3>()
                  : f.template operator()<4>();
}

}  // namespace

Expr determinant_of(int n, std::span<const Expr> a) {
  if (n <= 2) return expanded(n, a);
  return n == 3 ? make_call(determinant_definition<3>(), a) : make_call(determinant_definition<4>(), a);
}
Expr small_determinant(int n, std::span<const Expr> a) {
  if (n <= 2) return expanded(n, a);
  return make_call(n == 3 ? balanced_determinant_definition<3>() : balanced_determinant_definition<4>(), a);
}
void inverse_small(int n, std::span<const Expr> a, std::span<Expr> inverse) {
  std::ranges::copy(with_size(n, [&]<int N>() { return inverse_calls<N>(a); }), inverse.begin());
}
void solve_small(int n, int m, std::span<const Expr> a, std::span<Expr> b) {
  for (int j = 0; j < m; ++j) {
    std::vector<Expr> all(a.begin(), a.end());
    for (int i = 0; i < n; ++i) all.push_back(b[static_cast<std::size_t>(i * m + j)]);
    const std::vector<Expr> x = with_size(n, [&]<int N>() { return solve_calls<N>(all); });
    for (int i = 0; i < n; ++i) b[static_cast<std::size_t>(i * m + j)] = x[static_cast<std::size_t>(i)];
  }
}
void cholesky_small(int n, std::span<const Expr> a, std::span<Expr> factor) {
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  std::ranges::fill(factor, constant(0));
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      Expr left = i == j ? a[at(i, i)] : below(a[at(i, j)], a[at(j, i)]);
      for (int k = 0; k < j; ++k) left = left - factor[at(i, k)] * factor[at(j, k)];
      factor[at(i, j)] = i == j ? sqrt(left) : left / factor[at(j, j)];
    }
}
Expr small_log_determinant(int n, std::span<const Expr> a) {
  return make_call(with_size(n, []<int N>() { return log_determinant_definition<N>(); }), a);
}
Expr small_sign(int n, std::span<const Expr> a) {
  Eliminated e(n, 0, a, {}, true);
  Expr product = e.odd;
  for (int i = 0; i < n; ++i) product = product * sign(e.rows(i, i));
  return product;
}
std::vector<Expr> small_pivots(int n, std::span<const Expr> a) {
  Eliminated e(n, 0, a, {}, true);
  std::vector<Expr> pivots;
  for (int i = 0; i < n; ++i) pivots.push_back(e.rows(i, i));
  return pivots;
}

}  // namespace detail

Vec<4> quaternion_multiply(const Vec<4>& a, const Vec<4>& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}
Vec<4> quaternion_conjugate(const Vec<4>& q) { return {q[0], -q[1], -q[2], -q[3]}; }
Vec<3> rotate(const Vec<4>& q, const Vec<3>& p) {
  const Vec<3> u{q[1], q[2], q[3]}, t = detail::constant(2) * cross(u, p);
  return p + q[0] * t + cross(u, t);
}
Mat<3, 3> quaternion_to_matrix(const Vec<4>& q) {
  const Expr one = detail::constant(1), x2 = q[1] + q[1], y2 = q[2] + q[2], z2 = q[3] + q[3];
  const Expr xx = q[1] * x2, xy = q[1] * y2, xz = q[1] * z2, yy = q[2] * y2, yz = q[2] * z2, zz = q[3] * z2;
  const Expr wx = q[0] * x2, wy = q[0] * y2, wz = q[0] * z2;
  return {one - (yy + zz), xy - wz, xz + wy, xy + wz, one - (xx + zz), yz - wx, xz - wy, yz + wx, one - (xx + yy)};
}
Vec<4> quaternion_from_matrix(const Mat<3, 3>& m) {
  const Expr one = detail::constant(1), a = m(0, 0), b = m(1, 1), c = m(2, 2);
  const Expr x = m(2, 1) - m(1, 2), y = m(0, 2) - m(2, 0), z = m(1, 0) - m(0, 1);
  const Expr xy = m(0, 1) + m(1, 0), xz = m(0, 2) + m(2, 0), yz = m(1, 2) + m(2, 1);
  // Four multiples of the quaternion, of which the one with the largest component is well-conditioned.
  const Vec<4> by_w{one + a + b + c, x, y, z}, by_x{x, one + a - b - c, xy, xz}, by_y{y, xy, one - a + b - c, yz},
      by_z{z, xz, yz, one - a - b + c};
  const Expr first = by_w[0] >= by_x[1], second = by_y[2] >= by_z[3];
  const Vec<4> left = where(first, by_w, by_x), right = where(second, by_y, by_z);
  const Expr of_left = where(first, by_w[0], by_x[1]), of_right = where(second, by_y[2], by_z[3]);
  const Expr better = of_left >= of_right;
  return where(better, left, right) * (detail::constant(0.5) / sqrt(where(better, of_left, of_right)));
}
Vec<4> quaternion_from_axis_angle(const Vec<3>& axis, const Expr& angle) {
  const Expr half = angle * detail::constant(0.5), s = sin(half);
  return {cos(half), axis[0] * s, axis[1] * s, axis[2] * s};
}
Mat<3, 3> rotation(const Vec<3>& axis, const Expr& angle) {
  const Expr c = cos(angle), s = sin(angle);
  return Mat<3, 3>::diagonal(Vec<3>::filled(c)) + outer(axis, axis) * (detail::constant(1) - c) + skew(axis) * s;
}

}  // namespace tern
