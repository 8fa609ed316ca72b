// QR, eigenvalues and singular values on the CPU.
#include "primitives/linalg/cpu/cpu_lanes.hpp"

namespace tern::detail_cpu {

using detail::PrimitiveId;

namespace {

template <class T> void fill_identity(const Matrix<T>& a) {
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) = T(i == j ? 1 : 0);
}
template <class T> void fill(const Matrix<T>& a, T value) {
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) = value;
}
template <class T> T nan_of() { return T(std::numeric_limits<real_of<T>>::quiet_NaN()); }

}  // namespace

void qr_on_cpu(detail::Backend&, const detail::QrRequest& r) {
  if (goes_in_lanes(r, r.input.dtype)) return qr_in_lanes(r);
  require_int_sizes(r);
  with_matrix_type(r.op, r.input.dtype, [&]<class T>(T) {
    const Shape batch = r.batch();
    const std::int64_t m = r.rows(), n = r.columns(), inner = r.inner();
    for_matrices<T>(r, r.least(), [&](std::int64_t index, const Factorisations<T>& table) {
      const Matrix<T> to_q = matrix_of<T>(r.q, batch, index, m, inner),
                      to_r = matrix_of<T>(r.r, batch, index, inner, n);
      if (r.least() == 0) return fill_identity(to_q), fill(to_r, T(0));
      const ByColumns<T> a(matrix_of<const T>(r.input, batch, index, m, n));
      const ByColumns<T> q(to_q, m, inner);
      table.qr(static_cast<int>(m), static_cast<int>(n), static_cast<int>(inner), a.data(), a.ld(), q.data(), q.ld());
      q.finish();
      for (std::int64_t j = 0; j < n; ++j) std::fill(a.column(j) + std::min(j + 1, m), a.column(j) + m, T(0));
      copy(Matrix<const T>{a.data(), inner, n, 1, a.matrix().column_step}, to_r);
    });
  });
}

void eigh_on_cpu(detail::Backend&, const detail::EighRequest& r) {
  require_int_sizes(r);
  Statuses statuses(r, PrimitiveId::eigh);
  if (goes_in_lanes(r)) return eigh_in_lanes(r, statuses), statuses.finish();
  with_matrix_type(r.op, r.input.dtype, [&]<class T>(T) {
    using R = real_of<T>;
    const Shape batch = r.batch();
    const std::int64_t n = r.rows();
    for_matrices<T>(r, n, [&](std::int64_t index, const Factorisations<T>& table) {
      if (n == 0) return statuses.set(index, 0);
      const bool vectors = r.vectors.storage != nullptr;
      const Matrix<T> to = matrix_of<T>(r.vectors, batch, index, n, n);
      const Matrix<R> values = matrix_of<R>(r.values, batch, index, n, 1);
      const ByColumns<T> a(matrix_of<const T>(r.input, batch, index, n, n), to);
      if (!all_finite(a.matrix(), true)) {
        fill(values, nan_of<R>()), fill(to, nan_of<T>());
        return statuses.set(index, -1);
      }
      std::vector<R> list(static_cast<std::size_t>(n));
      statuses.set(index, table.eigh(vectors, static_cast<int>(n), a.data(), a.ld(), list.data()));
      copy(Matrix<const R>{list.data(), n, 1}, values);
      if (vectors) a.finish();
    });
  });
  statuses.finish();
}

namespace {

/// Of one row or column of real numbers: its length and its direction, that of the first axis where it is 0, in f64
/// from elements of one scale. (1 x 65536 f32, Emerald Rapids, one thread: 810 us by LAPACK, 170 so.)
template <class T>
void svd_of_line(const Matrix<const T>& x, const Matrix<T>& u, const Matrix<T>& s, const Matrix<T>& vh) {
  double most = 0, sum = 0;
  const auto each = [&](auto f) {
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t j = 0; j < x.columns; ++j) f(i, j, static_cast<double>(x(i, j)));
  };
  each([&](std::int64_t, std::int64_t, double v) { most = std::max(most, std::abs(v)); });
  const double inverse = most > 0 ? 1 / std::max(std::ldexp(1.0, std::ilogb(most)), 0x1p-1022) : 1;
  each([&](std::int64_t, std::int64_t, double v) { sum += v * inverse * (v * inverse); });
  const double length = std::sqrt(sum);
  s(0, 0) = static_cast<T>(length / inverse);
  if (!u.data) return;
  const bool column = x.rows > 1;
  (column ? vh : u)(0, 0) = T(1);
  const Matrix<T>& direction = column ? u : vh;
  each([&](std::int64_t i, std::int64_t j, double v) {
    direction(i, j) = static_cast<T>(most > 0 ? v * inverse / length : i == 0 && j == 0 ? 1 : 0);
  });
}

}  // namespace

void svd_on_cpu(detail::Backend&, const detail::SvdRequest& r) {
  require_int_sizes(r);
  Statuses statuses(r, PrimitiveId::svd);
  if (goes_in_lanes(r)) return svd_in_lanes(r, statuses), statuses.finish();
  with_matrix_type(r.op, r.input.dtype, [&]<class T>(T) {
    using R = real_of<T>;
    const Shape batch = r.batch();
    const std::int64_t m = r.rows(), n = r.columns(), least = r.least();
    const std::int64_t left = r.full ? m : least, right = r.full ? n : least;
    for_matrices<T>(r, least, [&](std::int64_t index, const Factorisations<T>& table) {
      const Matrix<T> to_u = matrix_of<T>(r.u, batch, index, m, left),
                      to_vh = matrix_of<T>(r.vh, batch, index, right, n);
      const Matrix<R> to_s = matrix_of<R>(r.s, batch, index, least, 1);
      if (least == 0) return fill_identity(to_u), fill_identity(to_vh), statuses.set(index, 0);
      const Matrix<const T> input = matrix_of<const T>(r.input, batch, index, m, n);
      if constexpr (std::is_same_v<T, R>)
        if (least == 1 && !r.full && all_finite(input))
          return svd_of_line(input, to_u, to_s, to_vh), statuses.set(index, 0);
      const ByColumns<T> a(input);
      if (!all_finite(a.matrix())) {
        fill(to_u, nan_of<T>()), fill(to_vh, nan_of<T>()), fill(to_s, nan_of<R>());
        return statuses.set(index, -1);
      }
      const char job = !r.vectors() ? 'N' : r.full ? 'A' : 'S';
      const ByColumns<T> u(to_u, r.vectors() ? m : 1, r.vectors() ? left : 1);
      const ByColumns<T> vh(to_vh, r.vectors() ? right : 1, r.vectors() ? n : 1);
      std::vector<R> s(static_cast<std::size_t>(least));
      statuses.set(index, table.svd(job, static_cast<int>(m), static_cast<int>(n), a.data(), a.ld(), s.data(), u.data(),
                                    u.ld(), vh.data(), vh.ld()));
      copy(Matrix<const R>{s.data(), least, 1}, to_s);
      if (r.vectors()) u.finish(), vh.finish();
    });
  });
  statuses.finish();
}

void eig_on_cpu(detail::Backend&, const detail::EigRequest& r) {
  require_int_sizes(r);
  Statuses statuses(r, PrimitiveId::eig);
  with_matrix_type(r.op, r.input.dtype, [&]<class T>(T) {
    using Z = std::complex<real_of<T>>;
    const Shape batch = r.batch();
    const std::int64_t n = r.rows();
    for_matrices<T>(r, n, [&](std::int64_t index, const Factorisations<T>& table) {
      if (n == 0) return statuses.set(index, 0);
      const Matrix<Z> to = matrix_of<Z>(r.vectors, batch, index, n, n),
                      values = matrix_of<Z>(r.values, batch, index, n, 1);
      const ByColumns<T> a(matrix_of<const T>(r.input, batch, index, n, n));
      if (!all_finite(a.matrix())) {
        fill(values, nan_of<Z>()), fill(to, nan_of<Z>());
        return statuses.set(index, -1);
      }
      std::vector<Z> list(static_cast<std::size_t>(n));
      const bool vectors = r.vectors.storage != nullptr;
      const ByColumns<Z> v(to, vectors ? n : 1, vectors ? n : 1);
      statuses.set(index,
                   table.eig(static_cast<int>(n), a.data(), a.ld(), list.data(), vectors ? v.data() : nullptr, v.ld()));
      copy(Matrix<const Z>{list.data(), n, 1}, values);
      if (vectors) v.finish();
    });
  });
  statuses.finish();
}

}  // namespace tern::detail_cpu
