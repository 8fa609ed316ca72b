// Vectors and matrices of a fixed size in formulas: each is one tensor [..., N] or [..., R, C] and, while a formula is
// traced, N or R·C symbolic values. A formula of them, and each of its derivatives, is one kernel on every backend.
//
//   auto pose = tern::formula("pose", [](Vec<3> p, Vec<4> q, Vec<3> t) { return rotate(q, p) + t; });
//   Var moved = pose(points, rotations, shifts);    // [1000000, 3], [1000000, 4], [3]
//
// (Longer than other files: vectors, matrices and rotations are made of each other, a line or two each.)
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/formula.hpp"

namespace tern {

namespace detail {
/// A number that is no parameter, whatever lambda it stands in.
Expr constant(double value);
/// Throws index: there is no such component.
[[noreturn]] void fail_component(const char* type, int index, int count);
template <class T>
concept Scalar = std::same_as<T, Expr> || Plain<T>;
}  // namespace detail

/// A vector of N symbolic values inside a formula: a tensor [..., N]. Vec<3>{x, y, z}; v[i]. One made without values
/// holds undefined ones, to be assigned.
template <int N> class Vec {
 public:
  static_assert(N >= 1);
  static constexpr int size = N;
  constexpr Vec() = default;
  template <class... E>
    requires(sizeof...(E) == N && (std::convertible_to<E, Expr> && ...))
  explicit(N == 1) Vec(const E&... values) : at_{Expr(values)...} {}
  /// All components alike.
  static Vec filled(Expr value) {
    Vec v;
    v.at_.fill(value);
    return v;
  }
  static Vec zero() { return filled(detail::constant(0)); }
  Expr& operator[](int i) { return at_[checked(i)]; }
  const Expr& operator[](int i) const { return at_[checked(i)]; }
  /// f of each component.
  template <class F> Vec map(F f) const {
    Vec v;
    for (std::size_t i = 0; i < N; ++i) v.at_[i] = f(at_[i]);
    return v;
  }
  const std::array<Expr, N>& components() const { return at_; }

 private:
  static std::size_t checked(int i) {
    if (i < 0 || i >= N) detail::fail_component("a vector", i, N);
    return static_cast<std::size_t>(i);
  }
  std::array<Expr, N> at_;
};

/// A matrix of R·C symbolic values inside a formula: a tensor [..., R, C]. Its values are given row by row:
/// Mat<2, 2>{a, b, c, d}; m(i, j).
template <int R, int C = R> class Mat {
 public:
  static_assert(R >= 1 && C >= 1);
  static constexpr int rows = R, columns = C;
  constexpr Mat() = default;
  template <class... E>
    requires(sizeof...(E) == R * C && (std::convertible_to<E, Expr> && ...))
  explicit(R* C == 1) Mat(const E&... values) : at_{Expr(values)...} {}
  static Mat filled(Expr value) {
    Mat m;
    m.at_.fill(value);
    return m;
  }
  static Mat zero() { return filled(detail::constant(0)); }
  static Mat identity()
    requires(R == C)
  {
    return diagonal(Vec<R>::filled(detail::constant(1)));
  }
  static Mat diagonal(const Vec<R>& d)
    requires(R == C)
  {
    Mat m = zero();
    for (int i = 0; i < R; ++i) m(i, i) = d[i];
    return m;
  }
  template <class... V>
    requires(sizeof...(V) == R && (std::same_as<V, Vec<C>> && ...))
  static Mat from_rows(const V&... rows) {
    Mat m;
    int i = 0;
    const auto set = [&](const Vec<C>& row) {
      for (int j = 0; j < C; ++j) m(i, j) = row[j];
      ++i;
    };
    (set(rows), ...);
    return m;
  }
  template <class... V>
    requires(sizeof...(V) == C && (std::same_as<V, Vec<R>> && ...))
  static Mat from_columns(const V&... columns) {
    Mat m;
    int j = 0;
    const auto set = [&](const Vec<R>& column) {
      for (int i = 0; i < R; ++i) m(i, j) = column[i];
      ++j;
    };
    (set(columns), ...);
    return m;
  }
  Expr& operator()(int i, int j) { return at_[checked(i, j)]; }
  const Expr& operator()(int i, int j) const { return at_[checked(i, j)]; }
  Vec<C> row(int i) const {
    Vec<C> v;
    for (int j = 0; j < C; ++j) v[j] = (*this)(i, j);
    return v;
  }
  Vec<R> column(int j) const {
    Vec<R> v;
    for (int i = 0; i < R; ++i) v[i] = (*this)(i, j);
    return v;
  }
  template <class F> Mat map(F f) const {
    Mat m;
    for (std::size_t i = 0; i < R * C; ++i) m.at_[i] = f(at_[i]);
    return m;
  }
  const std::array<Expr, R * C>& components() const { return at_; }
  std::array<Expr, R * C>& components() { return at_; }

 private:
  static std::size_t checked(int i, int j) {
    if (i < 0 || i >= R) detail::fail_component("the rows of a matrix", i, R);
    if (j < 0 || j >= C) detail::fail_component("the columns of a matrix", j, C);
    return static_cast<std::size_t>(i * C + j);
  }
  std::array<Expr, R * C> at_;
};

// ---- arithmetic, component by component; a number or a symbolic value meets each of them ----
namespace detail {
template <class T, class F> T zipped(const T& a, const T& b, F f) {
  std::size_t i = 0;
  return a.map([&](const Expr& x) { return f(x, b.components()[i++]); });
}
template <class T> inline constexpr bool is_fixed = false;
template <int N> inline constexpr bool is_fixed<Vec<N>> = true;
template <int R, int C> inline constexpr bool is_fixed<Mat<R, C>> = true;
}  // namespace detail
#define TERN_FIXED_OPERATOR(symbol)                                                                     \
  template <int N> Vec<N> operator symbol(const Vec<N>& a, const Vec<N>& b) {                           \
    return detail::zipped(a, b, [](const Expr& x, const Expr& y) { return x symbol y; });               \
  }                                                                                                     \
  template <int N, detail::Scalar S> Vec<N> operator symbol(const Vec<N>& a, const S& b) {              \
    const Expr y(b);                                                                                    \
    return a.map([&](const Expr& x) { return x symbol y; });                                            \
  }                                                                                                     \
  template <detail::Scalar S, int N> Vec<N> operator symbol(const S& a, const Vec<N>& b) {              \
    const Expr x(a);                                                                                    \
    return b.map([&](const Expr& y) { return x symbol y; });                                            \
  }                                                                                                     \
  template <int R, int C, detail::Scalar S> Mat<R, C> operator symbol(const Mat<R, C>& a, const S& b) { \
    const Expr y(b);                                                                                    \
    return a.map([&](const Expr& x) { return x symbol y; });                                            \
  }                                                                                                     \
  template <detail::Scalar S, int R, int C> Mat<R, C> operator symbol(const S& a, const Mat<R, C>& b) { \
    const Expr x(a);                                                                                    \
    return b.map([&](const Expr& y) { return x symbol y; });                                            \
  }
TERN_FIXED_OPERATOR(+)
TERN_FIXED_OPERATOR(-)
TERN_FIXED_OPERATOR(*)
TERN_FIXED_OPERATOR(/)
#undef TERN_FIXED_OPERATOR
template <int R, int C> Mat<R, C> operator+(const Mat<R, C>& a, const Mat<R, C>& b) {
  return detail::zipped(a, b, [](const Expr& x, const Expr& y) { return x + y; });
}
template <int R, int C> Mat<R, C> operator-(const Mat<R, C>& a, const Mat<R, C>& b) {
  return detail::zipped(a, b, [](const Expr& x, const Expr& y) { return x - y; });
}
template <class T>
  requires detail::is_fixed<T>
T operator-(const T& a) {
  return a.map([](const Expr& x) { return -x; });
}
template <class T, class B>
  requires detail::is_fixed<T>
T& operator+=(T& a, const B& b) {
  return a = a + b;
}
template <class T, class B>
  requires detail::is_fixed<T>
T& operator-=(T& a, const B& b) {
  return a = a - b;
}
template <class T, detail::Scalar S>
  requires detail::is_fixed<T>
T& operator*=(T& a, const S& b) {
  return a = a * b;
}
template <class T, detail::Scalar S>
  requires detail::is_fixed<T>
T& operator/=(T& a, const S& b) {
  return a = a / b;
}
/// a's components times b's (a * b of matrices is their product).
template <class T>
  requires detail::is_fixed<T>
T cwise_product(const T& a, const T& b) {
  return detail::zipped(a, b, [](const Expr& x, const Expr& y) { return x * y; });
}
/// Where the condition holds a, elsewhere b, component by component.
template <class T>
  requires detail::is_fixed<T>
T where(const Expr& condition, const T& a, const T& b) {
  return detail::zipped(a, b, [&](const Expr& x, const Expr& y) { return where(condition, x, y); });
}
/// The sum of the components.
template <class T>
  requires detail::is_fixed<T>
Expr sum(const T& a) {
  const auto& at = a.components();
  Expr s = at[0];
  for (std::size_t i = 1; i < at.size(); ++i) s = s + at[i];
  return s;
}

// ---- vectors ----
template <int N> Expr dot(const Vec<N>& a, const Vec<N>& b) { return sum(cwise_product(a, b)); }
inline Vec<3> cross(const Vec<3>& a, const Vec<3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// sqrt(dot(v, v)); its gradient at 0 is 0. (Squares beyond the dtype's range are infinite, those below it 0.)
template <int N> Expr norm(const Vec<N>& v) {
  const Expr s = dot(v, v);
  return where(s == detail::constant(0), detail::constant(0), sqrt(s));
}
/// v / norm(v); NaN of the vector 0.
template <int N> Vec<N> normalize(const Vec<N>& v) { return v / sqrt(dot(v, v)); }
/// a·bᵀ
template <int R, int C> Mat<R, C> outer(const Vec<R>& a, const Vec<C>& b) {
  Mat<R, C> m;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) m(i, j) = a[i] * b[j];
  return m;
}
/// The matrix whose product with x is cross(v, x).
inline Mat<3, 3> skew(const Vec<3>& v) {
  const Expr zero = detail::constant(0);
  return {zero, -v[2], v[1], v[2], zero, -v[0], -v[1], v[0], zero};
}

// ---- matrices ----
template <int R, int C> Mat<C, R> transpose(const Mat<R, C>& a) {
  Mat<C, R> t;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) t(j, i) = a(i, j);
  return t;
}
template <int R, int K, int C> Mat<R, C> operator*(const Mat<R, K>& a, const Mat<K, C>& b) {
  Mat<R, C> m;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) m(i, j) = dot(a.row(i), b.column(j));
  return m;
}
template <int R, int C> Vec<R> operator*(const Mat<R, C>& a, const Vec<C>& x) {
  Vec<R> y;
  for (int i = 0; i < R; ++i) y[i] = dot(a.row(i), x);
  return y;
}
template <int N> Vec<N> diagonal(const Mat<N, N>& a) {
  Vec<N> d;
  for (int i = 0; i < N; ++i) d[i] = a(i, i);
  return d;
}
template <int N> Expr trace(const Mat<N, N>& a) { return sum(diagonal(a)); }

namespace detail {
/// Of a matrix of n·n values, n ≤ 4, by elimination with partial pivoting; each with a declared derivative.
Expr determinant_of(int n, std::span<const Expr> a);
/// b (n·m values, row by row) is replaced by the solution.
void solve_small(int n, int m, std::span<const Expr> a, std::span<Expr> b);
void inverse_small(int n, std::span<const Expr> a, std::span<Expr> inverse);
/// The lower triangle's Cholesky factor.
void cholesky_small(int n, std::span<const Expr> a, std::span<Expr> factor);
/// The pivots of the elimination.
std::vector<Expr> small_pivots(int n, std::span<const Expr> a);
inline constexpr int kMostClosed = 4;
}  // namespace detail

/// The determinant, N ≤ 4. Its gradient (the cofactors) holds at singular matrices too.
template <int N> Expr determinant(const Mat<N, N>& a) {
  static_assert(N <= detail::kMostClosed, "determinant: of matrices of up to 4 rows in a formula");
  return detail::determinant_of(N, a.components());
}
/// The inverse, N ≤ 4, by elimination with partial pivoting: as accurate as LU. Singular: infinities and NaN.
template <int N> Mat<N, N> inverse(const Mat<N, N>& a) {
  static_assert(N <= detail::kMostClosed, "inverse: of matrices of up to 4 rows in a formula");
  Mat<N, N> x;
  detail::inverse_small(N, a.components(), x.components());
  return x;
}
/// x with a·x = b, for a vector or the columns of a matrix; N ≤ 4, as inverse().
template <int N, int M> Mat<N, M> solve(const Mat<N, N>& a, const Mat<N, M>& b) {
  static_assert(N <= detail::kMostClosed, "solve: of matrices of up to 4 rows in a formula");
  Mat<N, M> x = b;
  detail::solve_small(N, M, a.components(), x.components());
  return x;
}
template <int N> Vec<N> solve(const Mat<N, N>& a, const Vec<N>& b) {
  return solve(a, Mat<N, 1>::from_columns(b)).column(0);
}
/// The lower triangular factor l of a = l·lᵀ, N ≤ 4: reads a's lower triangle; its gradient is symmetric. NaN from the
/// first minor on that is not positive.
template <int N> Mat<N, N> cholesky(const Mat<N, N>& a) {
  static_assert(N <= detail::kMostClosed, "cholesky: of matrices of up to 4 rows in a formula");
  Mat<N, N> l;
  detail::cholesky_small(N, a.components(), l.components());
  return l;
}

// ---- rotations: quaternions are Vec<4>{w, x, y, z} ----
/// The product of two quaternions: of rotations, first b, then a.
Vec<4> quaternion_multiply(const Vec<4>& a, const Vec<4>& b);
Vec<4> quaternion_conjugate(const Vec<4>& q);
/// p rotated by the unit quaternion q.
Vec<3> rotate(const Vec<4>& q, const Vec<3>& p);
/// The rotation matrix of a unit quaternion.
Mat<3, 3> quaternion_to_matrix(const Vec<4>& q);
/// The unit quaternion of a rotation matrix, its largest component positive (Shepperd's method).
Vec<4> quaternion_from_matrix(const Mat<3, 3>& m);
/// The rotation by an angle around an axis of length 1.
Vec<4> quaternion_from_axis_angle(const Vec<3>& axis, const Expr& angle);
Mat<3, 3> rotation(const Vec<3>& axis, const Expr& angle);

// ---- formulas of them ----
namespace detail {

/// The trailing axes that a value of a formula takes of its tensor.
struct FixedShape {
  int rank = 0, sizes[2] = {1, 1};
  constexpr int count() const { return sizes[0] * sizes[1]; }
};
template <class T> struct FixedValue;
template <> struct FixedValue<Expr> {
  static constexpr FixedShape shape{};
  static std::span<const Expr> components(const Expr& e) { return {&e, 1}; }
  static Expr of(std::span<const Expr> e) { return e[0]; }
};
template <int N> struct FixedValue<Vec<N>> {
  static constexpr FixedShape shape{1, {N, 1}};
  static std::span<const Expr> components(const Vec<N>& v) { return v.components(); }
  static Vec<N> of(std::span<const Expr> e) {
    Vec<N> v;
    for (int i = 0; i < N; ++i) v[i] = e[static_cast<std::size_t>(i)];
    return v;
  }
};
template <int R, int C> struct FixedValue<Mat<R, C>> {
  static constexpr FixedShape shape{2, {R, C}};
  static std::span<const Expr> components(const Mat<R, C>& m) { return m.components(); }
  static Mat<R, C> of(std::span<const Expr> e) {
    Mat<R, C> m;
    for (std::size_t i = 0; i < m.components().size(); ++i) m.components()[i] = e[i];
    return m;
  }
};
template <class T> inline constexpr bool is_formula_value = std::same_as<T, Expr> || is_fixed<T>;

/// What a lambda returns, as a tuple.
template <class R> auto as_results(const R& r) {
  if constexpr (requires { std::tuple_size<R>::value; })
    return std::apply([](const auto&... e) { return std::make_tuple(e...); }, r);
  else if constexpr (std::is_arithmetic_v<R>) return std::tuple<Expr>(Expr(r));
  else return std::tuple<R>(r);
}
template <class T> struct Signature;
template <class F, class R, class... A> struct Signature<R (F::*)(A...) const> {
  using Arguments = std::tuple<std::remove_cvref_t<A>...>;
  using Results = decltype(as_results(std::declval<std::remove_cvref_t<R>>()));
};
template <class F, class R, class... A> struct Signature<R (F::*)(A...)> : Signature<R (F::*)(A...) const> {};
template <class F>
concept HasSignature = requires { &F::operator(); };

/// A traced formula of fixed-size values as the library knows it.
struct FixedFormula {
  const char* name = "";
  const FormulaGraph* graph = nullptr;
  std::span<const FixedShape> arguments, results;
  std::span<const Number> values;  // of a capturing lambda
};
void apply_fixed(const FixedFormula& formula, std::span<const Argument> arguments, std::span<Tensor> results);
void apply_fixed(const FixedFormula& formula, std::span<const Argument> arguments, std::span<Var> results);
template <class Tuple> struct FixedShapes;
template <class... T> struct FixedShapes<std::tuple<T...>> {
  static_assert((is_formula_value<T> && ...), "a formula's arguments and results are Expr, Vec<N> and Mat<R, C>");
  static constexpr std::array<FixedShape, sizeof...(T)> list{FixedValue<T>::shape...};
  static constexpr int count = (FixedValue<T>::shape.count() + ... + 0);
};
}  // namespace detail

/// A formula whose arguments and results are Expr, Vec<N> and Mat<R, C>: made by formula(). Called with a tensor for
/// each, [...], [..., N] or [..., R, C], it broadcasts the axes in front and gives one tensor for each result, in a
/// std::array where there are several. A Var among the operands gives Vars, recorded; gradients of any order are
/// formulas again, and one kernel each. Called with symbolic values it stands inside another formula.
///
/// Errors: `shape` where an argument has other trailing axes (naming formula, argument, expected and given) or leading
/// axes that do not broadcast; `dtype` of complex numbers; `unsupported` beyond 120 components and captured numbers.
template <class Arguments, class Results> class FixedPointwise {
 public:
  template <class F> FixedPointwise(const char* name, const F& f) : name_(name) {
    constexpr int inputs = detail::FixedShapes<Arguments>::count;
    constexpr bool captures = !std::is_empty_v<F>;
    detail::Trace trace(name, inputs, captures);
    int next = 0;
    const auto outputs = detail::as_results(std::apply(f, arguments(trace, next, static_cast<Arguments*>(nullptr))));
    std::vector<Expr> flat;
    std::apply(
        [&]<class... T>(const T&... value) {
          const auto add = [&](std::span<const Expr> e) { flat.insert(flat.end(), e.begin(), e.end()); };
          (add(detail::FixedValue<T>::components(value)), ...);
        },
        outputs);
    graph_ = trace.finish(flat, {});
    values_ = trace.take_values();
  }
  const char* name() const { return name_; }

  template <class... A>
    requires(sizeof...(A) == std::tuple_size_v<Arguments> && detail::PointwiseArgs<A...> &&
             !(std::same_as<A, Expr> || ...))
  auto operator()(const A&... arguments) const {
    constexpr std::size_t n = std::tuple_size_v<Results>;
    using T = std::conditional_t<(std::same_as<A, Var> || ...), Var, Tensor>;
    const detail::Argument list[] = {detail::Argument(arguments)...};
    std::array<T, n> results;
    detail::apply_fixed(
        {name_, graph_, detail::FixedShapes<Arguments>::list, detail::FixedShapes<Results>::list, values_}, list,
        results);
    return detail::single<T, static_cast<int>(n)>(std::move(results));
  }
  /// Inside another formula.
  template <class... A>
    requires(std::same_as<std::tuple<A...>, Arguments>)
  auto operator()(const A&... arguments) const {
    std::vector<Expr> flat;
    const auto add = [&](std::span<const Expr> e) { flat.insert(flat.end(), e.begin(), e.end()); };
    (add(detail::FixedValue<A>::components(arguments)), ...);
    const std::vector<Expr> results = detail::apply_symbolic(name_, graph_, values_, flat);
    std::size_t next = 0;
    return results_of(results, next, static_cast<Results*>(nullptr));
  }

 private:
  template <class... T> static auto arguments(const detail::Trace& trace, int& next, std::tuple<T...>*) {
    const auto make = [&]<class V>(V*) {
      std::vector<Expr> e;
      for (int i = 0; i < detail::FixedValue<V>::shape.count(); ++i) e.push_back(trace.input(next++));
      return detail::FixedValue<V>::of(e);
    };
    return std::tuple<T...>{make(static_cast<T*>(nullptr))...};  // in order: an initialiser list
  }
  template <class... T> static auto results_of(std::span<const Expr> all, std::size_t& next, std::tuple<T...>*) {
    const auto make = [&]<class V>(V*) {
      const std::size_t first = next;
      next += static_cast<std::size_t>(detail::FixedValue<V>::shape.count());
      return detail::FixedValue<V>::of(all.subspan(first, next - first));
    };
    std::tuple<T...> results{make(static_cast<T*>(nullptr))...};
    if constexpr (sizeof...(T) == 1) return std::get<0>(results);
    else return results;
  }

  const char* name_;
  const detail::FormulaGraph* graph_ = nullptr;
  std::vector<Number> values_;
};

/// A formula of a lambda whose arguments are Expr, Vec<N> and Mat<R, C> and which returns one of these, or a std::tuple
/// or std::array of them. With `auto` arguments it is a Pointwise. The name is for messages.
template <class F> auto formula(const char* name, const F& f) {
  if constexpr (detail::HasSignature<F>) {
    using S = detail::Signature<decltype(&F::operator())>;
    return FixedPointwise<typename S::Arguments, typename S::Results>(name, f);
  } else {
    return Pointwise(name, f);
  }
}
template <class F> auto formula(const F& f) { return formula("formula", f); }

}  // namespace tern
