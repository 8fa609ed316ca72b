// Cholesky, LU, and what solves with triangles, on the CPU.
#include <limits>

#include "primitives/linalg/cpu/cpu_lanes.hpp"

namespace tern::detail_cpu {

using detail::PrimitiveId;

void cholesky_on_cpu(detail::Backend&, const detail::CholeskyRequest& r) {
  require_int_sizes(r);
  Statuses statuses(r, PrimitiveId::cholesky);
  if (goes_in_lanes(r, r.input.dtype)) return cholesky_in_lanes(r, statuses), statuses.finish();
  with_matrix_type(r.op, r.input.dtype, [&]<class T>(T) {
    const Shape batch = r.batch();
    const std::int64_t n = r.rows();
    for_matrices<T>(r, n, [&](std::int64_t index, const Factorisations<T>& table) {
      const Matrix<const T> from = matrix_of<const T>(r.input, batch, index, n, n);
      const Matrix<T> to = matrix_of<T>(r.factor, batch, index, n, n);
      // By rows a factor is, by columns, its transpose: the upper factor of the matrix's transpose.
      const bool transposed = to.transposed().by_columns();
      const ByColumns<T> a(transposed ? from.transposed() : from, transposed ? to.transposed() : to);
      const bool finite = all_finite(transposed ? a.matrix().transposed() : a.matrix(), true);
      statuses.set(index, !finite ? -1 : table.cholesky(transposed, static_cast<int>(n), a.data(), a.ld()));
      for (std::int64_t j = 0; j < n; ++j)
        if (transposed) std::fill_n(a.column(j) + j + 1, n - j - 1, T(0));
        else std::fill_n(a.column(j), j, T(0));
      a.finish();
    });
  });
  statuses.finish();
}

namespace {

/// Whether one of the first `least` pivots is subnormal. OpenBLAS multiplies by pivots' reciprocals, which such ones
/// have none of: up to 0.3.21 it gives infinities, 0.3.26 leaves the column of the left factor undivided
/// (where both parts of a complex one are subnormal, so twice the limit).
template <class T> bool has_subnormal_pivot(const ByColumns<T>& factors, std::int64_t least) {
  using R = real_of<T>;
  for (std::int64_t i = 0; i < least; ++i)
    if (const R size = std::abs(factors(i, i)); size > 0 && size < 2 * std::numeric_limits<R>::min()) return true;
  return false;
}

/// The status of a matrix that is not finite, -1; of another one its factors anew, by Eigen, which divides.
template <class T>
int lu_by_division(const Factorisations<T>& table, const Matrix<const T>& from, const ByColumns<T>& factors,
                   std::int32_t* pivots) {
  const ByColumns<T> a(from);
  if (!all_finite(a.matrix())) return -1;
  const Factorisations<T>* const eigen = eigen_factorisations<T>();
  const int m = static_cast<int>(from.rows), n = static_cast<int>(from.columns);
  const int status = (eigen ? *eigen : table).lu(m, n, a.data(), a.ld(), pivots);
  copy(a.matrix(), factors.matrix());
  return status;
}

void factorise(const detail::LuRequest& r) {
  require_int_sizes(r);
  Statuses statuses(r, PrimitiveId::lu);
  if (goes_in_lanes(r, r.input.dtype)) return lu_in_lanes(r, statuses), statuses.finish();
  with_matrix_type(r.op, r.input.dtype, [&]<class T>(T) {
    const Shape batch = r.batch();
    const std::int64_t m = r.rows(), n = r.columns(), least = r.least();
    for_matrices<T>(r, least, [&](std::int64_t index, const Factorisations<T>& table) {
      const Matrix<const T> from = matrix_of<const T>(r.input, batch, index, m, n);
      const ByColumns<T> a(from, matrix_of<T>(r.lu, batch, index, m, n));
      const Matrix<std::int32_t> pivots = matrix_of<std::int32_t>(r.pivots, batch, index, least, 1);
      int status = least == 0 ? 0 : table.lu(static_cast<int>(m), static_cast<int>(n), a.data(), a.ld(), pivots.data);
      // What is not finite stays so in its column, so the factors tell.
      if (has_subnormal_pivot(a, least) || !all_finite(a.matrix()))
        status = lu_by_division(table, from, a, pivots.data);
      statuses.set(index, status);
      a.finish();
    });
  });
  statuses.finish();
}

/// x = op(a)⁻¹·x with a triangle of a, by table.triangular, which multiplies by the diagonal's reciprocals; by division
/// where one of them is beyond the dtype's range, as of subnormal numbers.
template <class T>
void solve_triangle(const Factorisations<T>& table, bool upper, char how, bool unit, const ByColumns<T>& a,
                    const ByColumns<T>& x) {
  const std::int64_t n = x.matrix().rows, columns = x.matrix().columns;
  bool divides = false;
  for (std::int64_t i = 0; i < n && !unit && !divides; ++i)
    divides = a(i, i) != T(0) && std::isinf(1 / std::abs(a(i, i)));
  if (!divides)
    return table.triangular(upper, how, unit, static_cast<int>(n), static_cast<int>(columns), a.data(), a.ld(),
                            x.data(), x.ld());
  const auto conjugated = [&](T value) {
    if constexpr (std::is_same_v<T, real_of<T>>) return value;
    else return how == 'C' ? std::conj(value) : value;
  };
  const bool down = upper == (how != 'N');
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t k = down ? step : n - 1 - step;
      T value = x(k, j);
      for (std::int64_t i = down ? 0 : k + 1; i < (down ? k : n); ++i)
        value -= conjugated(how == 'N' ? a(k, i) : a(i, k)) * x(i, j);
      x(k, j) = value / conjugated(a(k, k));
    }
}

/// The exchanges of rows in their order, or back.
template <class T> void permute(const ByColumns<T>& x, const Matrix<const std::int32_t>& pivots, bool back) {
  for (std::int64_t j = 0; j < x.matrix().columns; ++j) {
    T* const column = x.column(j);
    for (std::int64_t k = 0; k < pivots.rows; ++k) {
      const std::int64_t i = back ? pivots.rows - 1 - k : k;
      std::swap(column[i], column[std::clamp<std::int64_t>(pivots(i, 0), 0, pivots.rows - 1)]);
    }
  }
}

}  // namespace

void lu_solve_on_cpu(detail::Backend&, const detail::LuSolveRequest& r) {
  require_int_sizes(r, r.right);
  if (r.right > 0 && goes_in_lanes(r, r.lu.dtype)) return lu_solve_in_lanes(r);
  with_matrix_type(r.op, r.lu.dtype, [&]<class T>(T) {
    const Shape batch = r.batch();
    const std::int64_t n = r.rows();
    for_matrices<T>(r, n, [&](std::int64_t index, const Factorisations<T>& table) {
      const ByColumns<T> x(matrix_of<const T>(r.b, batch, index, n, r.right),
                           matrix_of<T>(r.x, batch, index, n, r.right));
      const Matrix<const std::int32_t> pivots = matrix_of<const std::int32_t>(r.pivots, batch, index, n, 1);
      if (n == 0 || r.right == 0) return;
      if (!r.adjoint) permute(x, pivots, false);
      if (!r.permutes) {
        const Matrix<const T> lu = matrix_of<const T>(r.lu, batch, index, n, n);
        const ByColumns<T> a = lu.by_columns() ? ByColumns<T>::in_place(lu) : ByColumns<T>(lu);
        const char how = r.adjoint ? 'C' : 'N';
        for (const bool upper : {r.adjoint, !r.adjoint}) solve_triangle(table, upper, how, !upper, a, x);
      }
      if (r.adjoint) permute(x, pivots, true);
      x.finish();
    });
  });
}

void lu_on_cpu(detail::Backend& backend, const detail::LuRequest& r) {
  factorise(r);
  if (r.b.storage) lu_solve_on_cpu(backend, detail::solution_of(r));
}

void triangular_on_cpu(detail::Backend&, const detail::TriangularRequest& r) {
  require_int_sizes(r, r.right);
  if (r.right > 0 && goes_in_lanes(r, r.a.dtype)) return triangular_in_lanes(r);
  with_matrix_type(r.op, r.a.dtype, [&]<class T>(T) {
    const Shape batch = r.batch();
    const std::int64_t n = r.rows();
    for_matrices<T>(r, n, [&](std::int64_t index, const Factorisations<T>& table) {
      const ByColumns<T> x(matrix_of<const T>(r.b, batch, index, n, r.right),
                           matrix_of<T>(r.x, batch, index, n, r.right));
      if (n == 0 || r.right == 0) return;
      const Matrix<const T> view = matrix_of<const T>(r.a, batch, index, n, n);
      // A matrix by rows is the transpose of one by columns.
      const bool transposed = r.how != 'C' && !view.by_columns() && view.transposed().by_columns();
      const Matrix<const T> from = transposed ? view.transposed() : view;
      const ByColumns<T> a = from.by_columns() ? ByColumns<T>::in_place(from) : ByColumns<T>(from);
      const char how = !transposed ? r.how : r.how == 'N' ? 'T' : 'N';
      solve_triangle(table, r.upper != transposed, how, r.unit, a, x);
      x.finish();
    });
  });
}

void status_on_cpu(detail::Backend&, const detail::StatusRequest& r) {
  const Shape batch = r.batch();
  const std::int64_t count = r.count();
  if (count == 0) return;
  bool dense = true;
  std::int64_t step = 1;
  for (auto i = static_cast<std::size_t>(batch.rank()); i-- > 0; step *= batch[i])
    dense = dense && r.status.strides[i] == step;
  if (dense) {
    const std::int32_t* const all = matrix_of<const std::int32_t>(r.status, batch, 0, 1, 1).data;
    std::int32_t failed = 0;
    for (std::int64_t i = 0; i < count; ++i) failed |= all[i];
    if (failed == 0) return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t status = *matrix_of<const std::int32_t>(r.status, batch, i, 1, 1).data;
    if (status != 0) throw detail::matrix_error(r.op, batch.rank() > 0, i, status, r.by);
  }
}

}  // namespace tern::detail_cpu
