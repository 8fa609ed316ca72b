// How fast are inverses, solutions, factors and determinants of many small matrices?
#include <fmt/format.h>

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
double expected_at(const MatricesCase& c, const Inputs& in, std::int64_t position) {
  const std::int64_t n = c.n, each = c.op == MatrixOp::det ? 1 : c.op == MatrixOp::solve ? n : n * n;
  const std::int64_t index = position / each, row = position % each / (each > n ? n : 1), column = position % n;
  const Dense a = matrix_at(c, in[0], index);
  if (c.op == MatrixOp::cholesky) return cholesky_at(a, n, row, column);
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
      default: return tern::linalg::det(a);
    }
  };
  Contender tern = target.tern([=] { call(); }, [=] { return sample(call()); });
  std::vector<double> expected;
  const std::int64_t each = c.op == MatrixOp::det ? 1 : c.op == MatrixOp::solve ? c.n : c.n * c.n;
  for (const std::int64_t at : sample_positions(c.count * each)) expected.push_back(expected_at(c, in, at));
  return {contenders(std::move(tern), target.peers, c, in, &Peer::matrices), expected};
}

}  // namespace

void add_matrices(Workloads& workloads, const Target& target) {
  const std::pair<MatrixOp, const char*> ops[] = {{MatrixOp::inverse, "inverse"},
                                                  {MatrixOp::solve, "solve"},
                                                  {MatrixOp::cholesky, "cholesky"},
                                                  {MatrixOp::det, "det"}};
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
