// Entries of linear algebra. Signs of factors are not determined, so samples compare squares of their elements.
#include "tern/linalg.hpp"

#include <algorithm>
#include <numeric>

#include "ops/entry.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;
using namespace linalg;

// ---- references, in plain loops ----
struct Dense {
  std::size_t rows, columns;
  std::vector<double> of = std::vector<double>(rows * columns);
  double& operator()(std::size_t i, std::size_t j) { return of[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const { return of[i * columns + j]; }
};
Dense dense(const Values& x) {
  return {static_cast<std::size_t>(x.shape[0]), x.shape.rank() > 1 ? static_cast<std::size_t>(x.shape[1]) : 1, x.of};
}
Values values(const Dense& x) { return {{static_cast<std::int64_t>(x.rows), static_cast<std::int64_t>(x.columns)}, x.of}; }
Values vector(const std::vector<double>& x) { return {{static_cast<std::int64_t>(x.size())}, x}; }
Values number(double x) { return {{}, {x}}; }
Dense turned(const Dense& x) {
  Dense y{x.columns, x.rows};
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.columns; ++j) y(j, i) = x(i, j);
  return y;
}
Dense product(const Dense& a, const Dense& b) {
  Dense y{a.rows, b.columns};
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.columns; ++k)
      for (std::size_t j = 0; j < b.columns; ++j) y(i, j) += a(i, k) * b(k, j);
  return y;
}
Dense squares(Dense x) {
  for (double& v : x.of) v *= v;
  return x;
}
struct Factors {
  Dense lu;
  std::vector<std::size_t> order;
  double sign = 1;
};
Factors factors(Dense a) {
  Factors f{a, std::vector<std::size_t>(a.rows)};
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
Dense solved(const Dense& a, const Dense& b) {
  const Factors f = factors(a);
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
Dense identity(std::size_t n) {
  Dense one{n, n};
  for (std::size_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}
double determinant(const Dense& a) {
  const Factors f = factors(a);
  double d = f.sign;
  for (std::size_t i = 0; i < a.rows; ++i) d *= f.lu(i, i);
  return d;
}
Dense lower_factor(const Dense& a) {
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
Rotated rotated(Dense a, Dense& lengths) {
  const std::size_t n = a.columns;
  Dense v = identity(n);
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        double aa = 0, bb = 0, ab = 0;
        for (std::size_t i = 0; i < a.rows; ++i) aa += a(i, p) * a(i, p), bb += a(i, q) * a(i, q), ab += a(i, p) * a(i, q);
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
std::vector<double> singular_values(const Dense& a) {
  Dense u{0, 0};
  return rotated(a.rows < a.columns ? turned(a) : a, u).values;
}

// ---- matrices that samples make of numbers in [-1, 1) ----
template <class T> Tensor one_like(const T& x, double value) {
  return eye(x.size(-1), {.dtype = x.dtype(), .device = x.device()}) * value;
}
double shift_of(std::int64_t n) { return 1 + static_cast<double>(n) / 3; }
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

Dense regular(const Values& x) {
  Dense y = dense(x);
  for (double& v : y.of) v *= 0.5;
  for (std::size_t i = 0; i < y.rows; ++i) y(i, i) += shift_of(x.shape[1]);
  return y;
}
Dense half_sum(const Values& x) {
  Dense y = dense(x), t = turned(y);
  for (std::size_t i = 0; i < y.of.size(); ++i) y.of[i] = (y.of[i] + t.of[i]) * 0.5;
  return y;
}
Dense definite(const Values& x) { return regular(values(half_sum(x))); }
Dense apart(const Values& x) {
  Dense y = dense(x);
  for (double& v : y.of) v *= 0.5;
  for (std::size_t i = 0; i < std::min(y.rows, y.columns); ++i) y(i, i) += 3.0 * static_cast<double>(i + 1);
  return y;
}
Dense nearer(const Values& x) {
  Dense y = dense(x);
  for (double& v : y.of) v *= 0.75;
  for (std::size_t i = 0; i < std::min(y.rows, y.columns); ++i) y(i, i) += 1.5 * static_cast<double>(i + 1);
  return y;
}
Dense times(Dense x, double factor) {
  for (double& v : x.of) v *= factor;
  return x;
}
Dense symmetric(const Values& x) {
  Dense y = half_sum(x);
  for (double& v : y.of) v *= 2;
  return apart(values(y));
}

std::vector<Shape> square(Sizes s) { return {{s.columns, s.columns}}; }
std::vector<Shape> wide(Sizes s) { return {{s.rows, s.columns}}; }
std::vector<Shape> tall(Sizes s) { return {{s.columns, s.rows}}; }
std::vector<Shape> square_and_right(Sizes s) { return {{s.columns, s.columns}, {s.columns, s.rows}}; }
std::vector<Shape> tall_and_right(Sizes s) { return {{s.columns, s.rows}, {s.columns, 2}}; }
const std::vector<Sizes> kSmall = {{2, 3}, {1, 1}, {3, 7}};
const std::vector<Sizes> kNothing = {{3, 0}};
constexpr Tolerance kSolved{200, "k·n roundings of a matrix of condition below 10, n up to 7", 8};
constexpr Tolerance kSpectra{400, "k·n roundings of values up to 24, and of vectors k·n over gaps of 1", 8};

template <class T> std::vector<T> list(const T& a, const T& b) { return {a, b}; }

const BadInput no_square(const char* name, auto call) {
  return {shape, {name, "square", "[2, 3]"}, [call](auto make) { call(make({2, 3})); }};
}
const BadInput no_floats(const char* name, auto call) {
  return {dtype, {name, "floating", "i32"}, [call](auto make) { call(make({2, 2}, i32)); }};
}
const BadInput no_matrix(const char* name, auto call) {
  return {shape, {name, "matrices", "[3]"}, [call](auto make) { call(make({3})); }};
}
#define TERN_ON(...) [](const auto& x) { return __VA_ARGS__; }
#define TERN_BAD(name, ...) {no_square(name, TERN_ON(__VA_ARGS__)), no_floats(name, TERN_ON(__VA_ARGS__))}

const Entries factorisations{
    {.name = "cholesky",
     .family = Family::linalg,
     .arguments = "a, upper = false",
     .says = "The lower triangular L with L·Lᴴ = a, or with `upper` U = Lᴴ, of Hermitian positive definite matrices",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = TERN_ON(cholesky(definite(x))),
                  .reference = [](const auto& x) { return std::vector{values(lower_factor(definite(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing},
                 {.with = "upper",
                  .shapes = square,
                  .call = TERN_ON(cholesky(definite(x), true)),
                  .reference = [](const auto& x) { return std::vector{values(turned(lower_factor(definite(x[0]))))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("cholesky", cholesky(x))},
    {.name = "cholesky_ex",
     .family = Family::linalg,
     .arguments = "a, upper = false",
     .says = "{l, info}: cholesky that throws nothing for values: info, i32 [..], is 0, or the order of the leading "
             "minor that is not positive, or -1 where an element is not finite",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = TERN_ON(cholesky_ex(definite(x)).l),
                  .reference = [](const auto& x) { return std::vector{values(lower_factor(definite(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("cholesky_ex", cholesky_ex(x))},
    {.name = "lu",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{p, l, u} with p·l·u = a: a permutation, a lower triangle with ones on its diagonal, an upper triangle",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = [](const auto& x) {
                    const auto f = lu(regular(x));
                    return list(f.l, f.u);
                  },
                  .reference = [](const auto& x) {
                    Dense l = factors(regular(x[0])).lu, u = l;
                    for (std::size_t i = 0; i < l.rows; ++i)
                      for (std::size_t j = 0; j < l.rows; ++j) (j > i ? l : u)(i, j) = j == i ? u(i, j) : 0;
                    for (std::size_t i = 0; i < l.rows; ++i) l(i, i) = 1;
                    return std::vector{values(l), values(u)};
                  },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("lu", TERN_ON(lu(x))), no_floats("lu", TERN_ON(lu(x)))}},
    {.name = "lu_factor",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{lu, pivots}: both triangles in one matrix, and pivots (i32, [.., min(M, N)], from 0): row i was exchanged "
             "with row pivots[i]",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = TERN_ON(lu_factor(regular(x)).lu),
                  .reference = [](const auto& x) { return std::vector{values(factors(regular(x[0])).lu)}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("lu_factor", TERN_ON(lu_factor(x))), no_floats("lu_factor", TERN_ON(lu_factor(x)))}},
    {.name = "lu_factor_ex",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{lu, pivots, info}: lu_factor that throws nothing for values: info is 0, or the number (from 1) of the "
             "first pivot that is 0, or -1 where an element is not finite",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = TERN_ON(lu_factor_ex(regular(x)).lu),
                  .reference = [](const auto& x) { return std::vector{values(factors(regular(x[0])).lu)}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("lu_factor_ex", TERN_ON(lu_factor_ex(x)))}},
    {.name = "qr",
     .family = Family::linalg,
     .arguments = "a, complete = false",
     .says = "{q, r} with q·r = a, q of orthonormal columns and r upper triangular: q [.., M, K] with K = min(M, N), or "
             "M where `complete`",
     .tolerance = kSpectra,
     .samples = {{.with = "tall",
                  .shapes = tall,
                  .call = TERN_ON(square(qr(apart(x)).r) * 0.0625),
                  .reference = [](const auto& x) {
                    const Dense a = apart(x[0]);
                    return std::vector{values(times(squares(turned(lower_factor(product(turned(a), a)))), 0.0625))};
                  },
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}},
                 {.with = "wide",
                  .shapes = wide,
                  .call = TERN_ON(square(qr(apart(x)).r) * 0.0625),
                  .reference = [](const auto& x) {
                    const Dense a = apart(x[0]);
                    Dense first{a.rows, a.rows};
                    for (std::size_t i = 0; i < a.rows; ++i)
                      for (std::size_t j = 0; j < a.rows; ++j) first(i, j) = a(i, j);
                    // r = L⁻¹·firstᵀ·a, L the factor of firstᵀ·first
                    const Dense l = lower_factor(product(turned(first), first));
                    return std::vector{values(times(squares(solved(l, product(turned(first), a))), 0.0625))};
                  },
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}}},
     .bad = {no_matrix("qr", TERN_ON(qr(x))), no_floats("qr", TERN_ON(qr(x)))}},
    {.name = "svd",
     .family = Family::linalg,
     .arguments = "a, full_matrices = true",
     .says = "{u, s, vh} with u·diag(s)·vh = a, s descending; u and vh square, or with `full_matrices` = false of min(M, "
             "N) columns and rows",
     .tolerance = kSpectra,
     .samples = {{.with = "tall",
                  .shapes = tall,
                  .call = [](const auto& x) {
                    const auto f = svd(apart(x), false);
                    return list(square(f.u), f.s);
                  },
                  .reference = [](const auto& x) {
                    Dense u{0, 0};
                    const Rotated r = rotated(apart(x[0]), u);
                    return std::vector{values(squares(u)), vector(r.values)};
                  },
                  .sizes = {{1, 3}, {1, 1}},
                  .empty = {}},
                 {.with = "square",
                  .shapes = square,
                  .call = TERN_ON(square(svd(nearer(x)).vh)),
                  .reference = [](const auto& x) {
                    Dense u{0, 0};
                    return std::vector{values(squares(turned(rotated(nearer(x[0]), u).vectors)))};
                  },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("svd", TERN_ON(svd(x))), no_floats("svd", TERN_ON(svd(x)))}},
    {.name = "svdvals",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The singular values, descending",
     .tolerance = kSpectra,
     .samples = {{.shapes = wide,
                  .call = TERN_ON(svdvals(apart(x))),
                  .reference = [](const auto& x) { return std::vector{vector(singular_values(apart(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {no_matrix("svdvals", TERN_ON(svdvals(x)))}},
    {.name = "eigh",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{eigenvalues, eigenvectors} of Hermitian matrices, of which the lower triangle is read: values real and "
             "ascending, vectors as columns",
     .tolerance = kSpectra,
     .samples = {{.shapes = square,
                  .call = [](const auto& x) {
                    const auto f = eigh(symmetric(x));
                    return list(f.eigenvalues, square(f.eigenvectors));
                  },
                  .reference = [](const auto& x) {
                    // Positive definite by the steps on its diagonal, so singular values are eigenvalues.
                    Dense u{0, 0};
                    Dense shifted = symmetric(x[0]);
                    for (std::size_t i = 0; i < shifted.rows; ++i) shifted(i, i) += 10;
                    Rotated r = rotated(shifted, u);
                    const std::size_t n = r.values.size();
                    Dense v{n, n};
                    for (std::size_t i = 0; i < n; ++i)
                      for (std::size_t j = 0; j < n; ++j) v(i, j) = u(i, n - 1 - j);
                    std::ranges::reverse(r.values);
                    for (double& value : r.values) value -= 10;
                    return std::vector{vector(r.values), values(squares(v))};
                  },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("eigh", eigh(x))},
    {.name = "eigvalsh",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The eigenvalues of Hermitian matrices, ascending",
     .tolerance = kSpectra,
     .samples = {{.shapes = square,
                  .call = TERN_ON(eigvalsh(symmetric(x))),
                  .reference = [](const auto& x) {
                    Dense shifted = symmetric(x[0]);
                    for (std::size_t i = 0; i < shifted.rows; ++i) shifted(i, i) += 10;
                    std::vector<double> list = singular_values(shifted);
                    std::ranges::reverse(list);
                    for (double& value : list) value -= 10;
                    return std::vector{vector(list)};
                  },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("eigvalsh", eigvalsh(x))},
    {.name = "eig",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{eigenvalues, eigenvectors} of square matrices: complex, in no order, vectors of length 1 as columns",
     .tolerance = kSpectra,
     .orders_on_gpus = 0,
     .samples = {{.with = "a sixteenth of the matrix squared, of its parts",
                  .shapes = square,
                  .call = [](const auto& x) {
                    const auto f = eig(apart(x));
                    const auto scaled = f.eigenvectors * square(f.eigenvalues).unsqueeze(-2);
                    return (real(solve(f.eigenvectors.mT(), scaled.mT()).mT()) * 0.0625).to(x.dtype());
                  },
                  .reference = [](const auto& x) {
                    return std::vector{values(times(product(apart(x[0]), apart(x[0])), 0.0625))};
                  },
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}}},
     .bad = TERN_BAD("eig", eig(x))},
    {.name = "eigvals",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The eigenvalues of square matrices: complex, in no order",
     .tolerance = kSpectra,
     .orders_on_gpus = 0,
     .samples = {{.with = "a sixteenth of the sum of their squares",
                  .shapes = square,
                  .call = TERN_ON((real(sum(square(eigvals(apart(x))))) * 0.0625).to(x.dtype())),
                  .reference = [](const auto& x) {
                    const Dense a = product(apart(x[0]), apart(x[0]));
                    double sum = 0;
                    for (std::size_t i = 0; i < a.rows; ++i) sum += a(i, i);
                    return std::vector{number(sum * 0.0625)};
                  },
                  .sizes = {{2, 3}, {1, 1}},
                  .empty = {}}},
     .bad = TERN_BAD("eigvals", eigvals(x))},
};

const auto solution = [](const auto& x) { return std::vector{values(solved(regular(x[0]), dense(x[1])))}; };
const auto inverse = [](const auto& x) {
  const Dense a = regular(x[0]);
  return std::vector{values(solved(a, identity(a.rows)))};
};
const BadInput other_rows(const char* name, auto call) {
  return {shape, {name, "rows", "[2, 2]", "[3, 1]"}, [call](auto make) { call(make({2, 2}), make({3, 1})); }};
}
#define TERN_ON_TWO(...) [](const auto& x, const auto& b) { return __VA_ARGS__; }

const Entries equations{
    {.name = "lu_solve",
     .family = Family::linalg,
     .arguments = "lu, pivots, b",
     .says = "The solution of a·x = b from what lu_factor gave, b [.., N, K]",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call = [](const auto& x, const auto& b) {
                    const auto f = lu_factor(regular(x));
                    return lu_solve(f.lu, f.pivots, b);
                  },
                  .reference = solution,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("lu_solve", TERN_ON_TWO(lu_solve(x, zeros({2}, i32), b)))}},
    {.name = "solve",
     .family = Family::linalg,
     .arguments = "a, b",
     .says = "The solution x of a·x = b, a [.., N, N], b [.., N, K] or vectors: [N], or of the shape of a without its "
             "last axis",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call = TERN_ON_TWO(solve(regular(x), b)),
                  .reference = solution,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("solve", TERN_ON_TWO(solve(x, b))),
             {shape, {"solve", "square", "[2, 3]"}, [](auto make) { solve(make({2, 3}), make({2, 1})); }}}},
    {.name = "solve_ex",
     .family = Family::linalg,
     .arguments = "a, b",
     .says = "{result, info}: solve that throws nothing for values; info as of lu_factor_ex",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call = TERN_ON_TWO(solve_ex(regular(x), b).result),
                  .reference = solution,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("solve_ex", TERN_ON_TWO(solve_ex(x, b)))}},
    {.name = "solve_triangular",
     .family = Family::linalg,
     .arguments = "a, b, upper, left = true, unit_triangular = false",
     .says = "The solution of a·x = b, or with `left` = false of x·a = b, with a triangle of a: `unit_triangular` takes "
             "its diagonal as ones",
     .tolerance = kSolved,
     .samples = {{.with = "lower",
                  .shapes = square_and_right,
                  .call = TERN_ON_TWO(solve_triangular(regular(x), b, false)),
                  .reference = [](const auto& x) {
                    Dense a = regular(x[0]);
                    for (std::size_t i = 0; i < a.rows; ++i)
                      for (std::size_t j = i + 1; j < a.rows; ++j) a(i, j) = 0;
                    return std::vector{values(solved(a, dense(x[1])))};
                  },
                  .sizes = kSmall,
                  .empty = kNothing},
                 {.with = "upper, right, ones",
                  .shapes = square_and_right,
                  .call = TERN_ON_TWO(solve_triangular(x * 0.5, b.mT(), true, false, true)),
                  .reference = [](const auto& x) {
                    Dense a = dense(x[0]);
                    for (std::size_t i = 0; i < a.rows; ++i)
                      for (std::size_t j = 0; j < a.rows; ++j) a(i, j) = j > i ? a(i, j) * 0.5 : i == j;
                    return std::vector{values(turned(solved(turned(a), dense(x[1]))))};
                  },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("solve_triangular", TERN_ON_TWO(solve_triangular(x, b, true)))}},
    {.name = "cholesky_solve",
     .family = Family::linalg,
     .arguments = "b, l, upper = false",
     .says = "The solution of l·lᴴ·x = b, b [.., N, K], with the factor that cholesky gave; with `upper` of lᴴ·l·x = b",
     .tolerance = kSolved,
     .samples = {{.shapes = square_and_right,
                  .call = TERN_ON_TWO(cholesky_solve(b, cholesky(definite(x)))),
                  .reference = [](const auto& x) {
                    return std::vector{values(solved(definite(x[0]), dense(x[1])))};
                  },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = {other_rows("cholesky_solve", TERN_ON_TWO(cholesky_solve(b, x)))}},
    {.name = "inv",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The inverse",
     .tolerance = kSolved,
     .samples = {{.shapes = square, .call = TERN_ON(inv(regular(x))), .reference = inverse, .sizes = kSmall, .empty = kNothing}},
     .bad = TERN_BAD("inv", inv(x))},
    {.name = "inv_ex",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{inverse, info}: inv that throws nothing for values; info as of lu_factor_ex",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = TERN_ON(inv_ex(regular(x)).inverse),
                  .reference = inverse,
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("inv_ex", inv_ex(x))},
    {.name = "pinv",
     .family = Family::linalg,
     .arguments = "a, rtol = -1",
     .says = "The Moore-Penrose inverse [.., N, M], of matrices of any shape: singular values up to rtol times the "
             "largest count as 0",
     .tolerance = kSpectra,
     .samples = {{.with = "tall",
                  .shapes = tall,
                  .call = TERN_ON(pinv(nearer(x))),
                  .reference = [](const auto& x) {
                    const Dense a = nearer(x[0]);
                    return std::vector{values(solved(product(turned(a), a), turned(a)))};
                  },
                  .sizes = kSmall,
                  .empty = {}},
                 {.with = "wide",
                  .shapes = wide,
                  .call = TERN_ON(pinv(nearer(x))),
                  .reference = [](const auto& x) {
                    const Dense a = turned(nearer(x[0]));
                    return std::vector{values(turned(solved(product(turned(a), a), turned(a))))};
                  },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {no_matrix("pinv", TERN_ON(pinv(x)))}},
    {.name = "det",
     .family = Family::linalg,
     .arguments = "a",
     .says = "The determinant",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = TERN_ON(det(regular(x))),
                  .reference = [](const auto& x) { return std::vector{number(determinant(regular(x[0])))}; },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("det", det(x))},
    {.name = "slogdet",
     .family = Family::linalg,
     .arguments = "a",
     .says = "{sign, logabsdet}: the determinant as sign·exp(logabsdet); of singular matrices 0 and -inf",
     .tolerance = kSolved,
     .samples = {{.shapes = square,
                  .call = [](const auto& x) {
                    const auto d = slogdet(regular(x));
                    return list(d.sign, d.logabsdet);
                  },
                  .reference = [](const auto& x) {
                    const double d = determinant(regular(x[0]));
                    return std::vector{number(d < 0 ? -1 : 1), number(std::log(std::abs(d)))};
                  },
                  .sizes = kSmall,
                  .empty = kNothing}},
     .bad = TERN_BAD("slogdet", slogdet(x))},
    {.name = "lstsq",
     .family = Family::linalg,
     .arguments = "a, b, rtol = -1",
     .says = "{solution, rank, singular_values}: the x that makes the 2-norm of a·x - b smallest, the shortest where "
             "there are many",
     .tolerance = kSpectra,
     .samples = {{.shapes = tall_and_right,
                  .call = TERN_ON_TWO(lstsq(apart(x), b).solution),
                  .reference = [](const auto& x) {
                    const Dense a = apart(x[0]);
                    return std::vector{values(solved(product(turned(a), a), product(turned(a), dense(x[1]))))};
                  },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {other_rows("lstsq", TERN_ON_TWO(lstsq(x, b)))}},
};

const Entries norms{
    {.name = "matrix_norm",
     .family = Family::linalg,
     .arguments = "a, norm = \"fro\", keepdim = false",
     .says = "The norm of each matrix: \"fro\", \"nuc\" (the sum of singular values), 2 and -2 (the largest and the "
             "smallest), 1 and -1 (of sums of |column|), inf and -inf (of rows)",
     .tolerance = kSpectra,
     .samples = {{.with = "fro",
                  .shapes = wide,
                  .call = TERN_ON(matrix_norm(nearer(x))),
                  .reference = [](const auto& x) {
                    double sum = 0;
                    for (const double v : squares(nearer(x[0])).of) sum += v;
                    return std::vector{number(std::sqrt(sum))};
                  },
                  .sizes = kSmall,
                  .empty = {}},
                 {.with = "nuc",
                  .shapes = wide,
                  .call = TERN_ON(matrix_norm(nearer(x), "nuc", true)),
                  .reference = [](const auto& x) {
                    double sum = 0;
                    for (const double v : singular_values(nearer(x[0]))) sum += v;
                    return std::vector{Values{{1, 1}, {sum}}};
                  },
                  .sizes = kSmall,
                  .empty = {}},
                 {.with = "2",
                  .shapes = wide,
                  .call = TERN_ON(matrix_norm(nearer(x), 2)),
                  .reference = [](const auto& x) { return std::vector{number(singular_values(nearer(x[0]))[0])}; },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {no_matrix("matrix_norm", TERN_ON(matrix_norm(x))),
             {ErrorKind::value, {"matrix_norm", "3"}, [](auto make) { matrix_norm(make({2, 2}), 3); }}}},
    {.name = "vector_norm",
     .family = Family::linalg,
     .arguments = "x, norm = 2, axes = {}, keepdim = false",
     .says = "(Σ |x|^p)^(1/p) over `axes` (default: all); of infinities the largest and smallest |x|, of 0 how many are "
             "not 0",
     .tolerance = {64, "a sum of 21 powers and its root"},
     .samples = {{.with = "3",
                  .shapes = wide,
                  .call = TERN_ON(vector_norm(x + 2, 3)),
                  .reference = [](const auto& x) {
                    double sum = 0;
                    for (const double v : x[0].of) sum += std::pow(v + 2, 3);
                    return std::vector{number(std::cbrt(sum))};
                  },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {{ErrorKind::value, {"vector_norm", "\"fro\""}, [](auto make) { vector_norm(make({2}), "fro"); }}}},
    {.name = "matrix_rank",
     .family = Family::linalg,
     .arguments = "a, rtol = -1",
     .says = "How many singular values exceed rtol times the largest (i32)",
     .differentiable = false,
     .tolerance = {0, "a count"},
     .samples = {{.shapes = wide,
                  .call = TERN_ON(matrix_rank(apart(x))),
                  .reference = [](const auto& x) {
                    return std::vector{number(static_cast<double>(std::min(x[0].shape[0], x[0].shape[1])))};
                  },
                  .sizes = kSmall,
                  .empty = {}}},
     .bad = {no_matrix("matrix_rank", TERN_ON(matrix_rank(x)))}},
    {.name = "cond",
     .family = Family::linalg,
     .arguments = "a, norm = 2",
     .says = "The condition number: norm(a)·norm(a⁻¹); of the norm 2 the quotient of singular values, of any shape",
     .tolerance = kSpectra,
     .samples = {{.shapes = square,
                  .call = TERN_ON(cond(apart(x))),
                  .reference = [](const auto& x) {
                    const std::vector<double> s = singular_values(apart(x[0]));
                    return std::vector{number(s.front() / s.back())};
                  },
                  .sizes = {{2, 3}, {2, 2}},
                  .empty = {}}},
     .bad = {no_matrix("cond", TERN_ON(cond(x)))}},
    {.name = "expm",
     .family = Family::linalg,
     .arguments = "a",
     .says = "e^a by scaling and squaring with Padé's approximant of order 13 (Higham, 2005)",
     .tolerance = {400, "k·n roundings of products of numbers up to e^3", 8},
     .samples = {{.shapes = square,
                  .call = TERN_ON(expm(x)),
                  .reference = [](const auto& x) {
                    const Dense a = dense(x[0]);
                    Dense term = identity(a.rows), sum = term;
                    for (int k = 1; k < 80; ++k) {
                      term = product(term, a);
                      for (double& v : term.of) v /= k;
                      for (std::size_t i = 0; i < sum.of.size(); ++i) sum.of[i] += term.of[i];
                    }
                    return std::vector{values(sum)};
                  },
                  .sizes = {{2, 3}, {1, 1}, {2, 5}},
                  .empty = kNothing,
                  .reads_elements = true}},
     .bad = TERN_BAD("expm", expm(x))},
};

}  // namespace
}  // namespace tern::operations
