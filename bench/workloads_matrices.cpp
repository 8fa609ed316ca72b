// How fast are inverses, solutions, factors, determinants, eigenvalues and singular values of many small matrices?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "peers.hpp"

namespace bench {
namespace {

using Dense = std::vector<double>;

/// Matrix `index` of the batch.
Dense matrix_at(const MatricesCase& c, const Buffer& x, std::int64_t index) {
  Dense a(static_cast<std::size_t>(c.n * c.n));
  for (std::int64_t e = 0; e < c.n * c.n; ++e)
    a[static_cast<std::size_t>(e)] =
        x.at(index * c.n * c.n + e) / static_cast<double>(2 * c.n) + (e % (c.n + 1) == 0 ? 1 : 0);
  return a;
}
/// [a | b], of n rows and `width` columns in all, with a made the identity: diagonals dominate, so nothing is
/// exchanged. The determinant.
double eliminate(Dense& m, std::int64_t n, std::int64_t width) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return m[static_cast<std::size_t>(i * width + j)]; };
  double product = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = at(k, k);
    product *= pivot;
    for (std::int64_t j = 0; j < width; ++j) at(k, j) /= pivot;
    for (std::int64_t i = 0; i < n; ++i) {
      const double factor = at(i, k);
      for (std::int64_t j = 0; i != k && j < width; ++j) at(i, j) -= factor * at(k, j);
    }
  }
  return product;
}
/// Of the lower triangle.
double cholesky_at(const Dense& a, std::int64_t n, std::int64_t row, std::int64_t column) {
  Dense l(a.size());
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      double left = a[at(i, j)];
      for (std::int64_t k = 0; k < j; ++k) left -= l[at(i, k)] * l[at(j, k)];
      l[at(i, j)] = i == j ? std::sqrt(left) : left / l[at(j, j)];
    }
  return l[at(row, column)];
}
/// Ascending eigenvalues of a symmetric matrix, by Jacobi's rotations.
Dense eigenvalues(Dense a, std::int64_t n) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return a[static_cast<std::size_t>(i * n + j)]; };
  for (int sweep = 0; sweep < 20; ++sweep)
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        const double angle = std::atan2(2 * at(p, q), at(q, q) - at(p, p)) / 2, c = std::cos(angle),
                     s = std::sin(angle);
        for (std::int64_t k = 0; k < n; ++k) {
          const double x = at(p, k), y = at(q, k);
          at(p, k) = c * x - s * y, at(q, k) = s * x + c * y;
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const double x = at(k, p), y = at(k, q);
          at(k, p) = c * x - s * y, at(k, q) = s * x + c * y;
        }
      }
  Dense values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(at(i, i));
  std::sort(values.begin(), values.end());
  return values;
}
/// aᵀ·a, or the symmetric matrix of a's lower triangle.
Dense symmetric(const Dense& a, std::int64_t n, bool product) {
  Dense s(a.size());
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = 0; product && k < n; ++k) s[at(i, j)] += a[at(k, i)] * a[at(k, j)];
      if (!product) s[at(i, j)] = a[at(std::max(i, j), std::min(i, j))];
    }
  return s;
}
/// Eigenvalues, singular values, or the sizes of R's diagonal, which are those of the Cholesky factor of aᵀ·a.
double spectrum_at(MatrixOp op, const Dense& a, std::int64_t n, std::int64_t k) {
  if (op == MatrixOp::eigh) return eigenvalues(symmetric(a, n, false), n)[static_cast<std::size_t>(k)];
  const Dense s = symmetric(a, n, true);
  return op == MatrixOp::qr ? cholesky_at(s, n, k, k)
                            : std::sqrt(eigenvalues(s, n)[static_cast<std::size_t>(n - 1 - k)]);
}
/// Of each matrix what is looked at.
std::int64_t elements(const MatricesCase& c) {
  if (c.op == MatrixOp::det) return 1;
  return c.op == MatrixOp::inverse || c.op == MatrixOp::cholesky ? c.n * c.n : c.n;
}
double expected_at(const MatricesCase& c, const Inputs& in, std::int64_t position) {
  const std::int64_t n = c.n, each = elements(c);
  const std::int64_t index = position / each, row = position % each / (each > n ? n : 1), column = position % n;
  const Dense a = matrix_at(c, in[0], index);
  if (c.op == MatrixOp::cholesky) return cholesky_at(a, n, row, column);
  if (c.op > MatrixOp::det) return spectrum_at(c.op, a, n, column);
  const std::int64_t width = 2 * n;
  Dense both(static_cast<std::size_t>(n * width));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      both[static_cast<std::size_t>(i * width + j)] = a[static_cast<std::size_t>(i * n + j)];
      both[static_cast<std::size_t>(i * width + n + j)] = c.op == MatrixOp::solve ? in[1].at(index * n + i)
                                                          : i == j                ? 1
                                                                                  : 0;
    }
  const double determinant = eliminate(both, n, width);
  if (c.op == MatrixOp::det) return determinant;
  return both[static_cast<std::size_t>(row * width + n + (c.op == MatrixOp::solve ? 0 : column))];
}

Prepared prepare(const MatricesCase& c, const Target& target) {
  const Inputs in{Buffer::pattern(c.dtype, c.count * c.n * c.n, 1), Buffer::pattern(c.dtype, c.count * c.n, 2)};
  const tern::Tensor one = tern::eye(c.n, {.dtype = c.dtype, .device = target.device});
  const tern::Tensor a =
      (in[0].tensor({c.count, c.n, c.n}, target.device) * (0.5 / static_cast<double>(c.n)) + one).contiguous();
  const tern::Tensor b = in[1].tensor({c.count, c.n}, target.device);
  const auto call = [=]() -> tern::Tensor {
    switch (c.op) {
      case MatrixOp::inverse: return tern::linalg::inv(a);
      case MatrixOp::solve: return tern::linalg::solve(a, b);
      case MatrixOp::cholesky: return tern::linalg::cholesky(a);
      case MatrixOp::qr: return abs(diagonal(tern::linalg::qr(a).r, 0, -2, -1));
      case MatrixOp::eigh: return tern::linalg::eigh(a).eigenvalues;
      case MatrixOp::svd: return tern::linalg::svd(a).s;
      default: return tern::linalg::det(a);
    }
  };
  Contender tern = target.tern([=] { call(); }, [=] { return sample(call()); });
  std::vector<double> expected;
  for (const std::int64_t at : sample_positions(c.count * elements(c))) expected.push_back(expected_at(c, in, at));
  return {contenders(std::move(tern), target.peers, c, in, &Peer::matrices), expected};
}

}  // namespace

void add_matrices(Workloads& workloads, const Target& target) {
  const std::pair<MatrixOp, const char*> ops[] = {
      {MatrixOp::inverse, "inverse"}, {MatrixOp::solve, "solve"}, {MatrixOp::cholesky, "cholesky"},
      {MatrixOp::det, "det"},         {MatrixOp::qr, "qr"},       {MatrixOp::eigh, "eigh"},
      {MatrixOp::svd, "svd"}};
  for (const auto& [op, name] : ops)
    for (const auto& [dtype, count, n] : {std::tuple{tern::f32, 100'000, 4},
                                          {tern::f64, 100'000, 4},
                                          {tern::f32, 20'000, 8},
                                          {tern::f32, 10'000, 32}}) {
      if (dtype == tern::f64 && target.device.kind() == tern::DeviceKind::webgpu) continue;
      const MatricesCase c{dtype, count, n, op};
      workloads.push_back({.name = fmt::format("matrices/{}/{}/{}x{}", name, name_of(dtype), count, n),
                           .unit = Unit::calls,
                           .roof = "",
                           .quick = dtype == tern::f32 && n == 4,
                           .tolerance = 100 * tolerance(dtype),
                           .prepare = [c, target] { return prepare(c, target); }});
    }
}

}  // namespace bench
