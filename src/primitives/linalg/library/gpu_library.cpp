// Each matrix is copied to memory by columns, taken by the library, and its results are copied to where they are
// wanted: n² elements moved for n³ operations. Where the library has a call for a batch, and it pays, that is one call;
// else they are one after the other. (The SVD: gpu_library_svd.cpp.)
#include "primitives/linalg/library/gpu_library.hpp"

#include "backend/instruments/trace.hpp"
#include "backend/recording/native.hpp"
#include "primitives/linalg/library/gpu_infos.hpp"

namespace tern::detail_gpu {

using detail::PrimitiveId;

namespace {

/// Elimination of a batch by one call pays from so many matrices on: each is a processor's work then, in place of calls
/// that share one among all. f32, H200, 26 November 2026, microseconds of the call and of calls a matrix: 4 of 256 1244
/// and 1573, 16 of 512 7176 and 13726.
bool eliminates_at_once(std::int64_t count, std::int64_t rows) {
  return count > 1 && rows <= 512 && count * 64 >= rows;
}
/// Triangles have not been measured beyond.
bool solves_at_once(std::int64_t count, std::int64_t rows) { return count > 1 && rows <= 512; }

}  // namespace

bool at_once(MatrixLibrary&, const detail::CholeskyRequest& r) { return r.count() > 1; }
bool at_once(MatrixLibrary&, const detail::LuRequest& r) {
  return r.rows() == r.columns() && eliminates_at_once(r.count(), r.rows());
}
bool at_once(MatrixLibrary&, const detail::LuSolveRequest& r) {
  return r.permutes || solves_at_once(r.count(), r.rows());
}
bool at_once(MatrixLibrary&, const detail::TriangularRequest& r) { return solves_at_once(r.count(), r.rows()); }
bool at_once(MatrixLibrary& library, const detail::EighRequest& r) { return r.count() > 1 && library.eigh_at_once(); }

// Kernels of blocks take a batch at once. What the library took over what they take, in f32 (f64), H200, 29 November
// 2026, stands with each (docs/benchmarks_families.md).
namespace {

/// Solutions with triangles of a batch: up to 512 rows the library has one call for all, 1.2 to 2.2 (2 to 64 matrices),
/// beyond one for each matrix, 1.7 to 30 from 16 right sides or 16 matrices on.
bool solves_slower(std::int64_t count, std::int64_t rows, std::int64_t right) {
  return rows <= 512 ? count > 1 : count >= 16 || (count >= 4 && right >= 16);
}

}  // namespace

/// 1.3 to 3.2 (1.4 to 2.4) from two matrices on, of 64 to 2048 rows.
bool slower_by_library(const detail::CholeskyRequest& r) { return r.count() > 1; }
/// From four matrices of 256 rows on: 1.1 to 5.8 (0.9 to 6.1). Of 64 and 128 rows 0.5 (0.6 to 0.7), as pivots wait for
/// each other, and so do two matrices of any size, 0.5 to 1.0.
bool slower_by_library(const detail::LuRequest& r) { return r.count() >= 4 && r.least() >= 256; }
/// In f64 of up to 512 rows 0.7 to 1.6, neither way as a rule.
bool slower_by_library(const detail::LuSolveRequest& r) {
  return (r.lu.dtype == DType::f32 || r.rows() > 512) && solves_slower(r.count(), r.rows(), r.right);
}
/// In f64 0.8 to 1.6 of two matrices, 1.1 to 2.2 of more but for two of 24 (0.8).
bool slower_by_library(const detail::TriangularRequest& r) {
  return (r.a.dtype == DType::f32 || r.count() >= 4) && solves_slower(r.count(), r.rows(), r.right);
}
/// A call for each matrix: 1.3 to 134 (1.3 to 90); two of 1024 rows 0.9.
bool slower_by_library(const detail::QrRequest& r) { return r.count() > 1 && r.most() <= 256 * r.count(); }

MatrixLibrary* library_for(GpuBackend& backend, const detail::MatrixRequest& r) {
  if (r.count() == 0 || r.least() == 0) return nullptr;
  if (detail::recording_natively()) return nullptr;
  std::string reason;
  MatrixLibrary* const library = backend.library<MatrixLibrary>(reason);
  if (!library && detail::tracing() && !reason.empty()) detail::note(reason);
  return library;
}
bool pays_one_by_one(const detail::MatrixRequest& r) { return r.count() * 32 <= r.most() * r.most(); }
void note_library(MatrixLibrary& library) {
  if (detail::tracing()) detail::note(library.name());
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::CholeskyRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t n = r.rows();
  const Matrices a(backend, r, n, n, dtype);
  Infos infos(backend, r);
  move(backend, r, r.input, a.view, n, n, {.part = PartOfMatrix::lower, .finite = &infos.bad()});
  if (at_once(library, r)) {
    const Addresses each(backend, r.count(), [&](std::int64_t l) { return a.at(l); });
    library.cholesky_of_each(dtype, n, each.get(), infos.at(0), r.count());
  } else {
    for_each_matrix(r, [&](std::int64_t l) { library.cholesky(dtype, n, a.at(l), infos.at(l)); });
  }
  move(backend, r, a.view, r.factor, n, n, {.part = PartOfMatrix::lower, .bad = &infos.bad()}),
      infos.finish(PrimitiveId::cholesky);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::LuRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t m = r.rows(), n = r.columns();
  const bool together = at_once(library, r);
  const Matrices a(backend, r, m, n, dtype), pivots(backend, r, r.least(), 1, together ? DType::i32 : DType::i64);
  Infos infos(backend, r);
  move(backend, r, r.input, a.view, m, n, {.finite = &infos.bad()});
  if (together) {
    const Addresses each(backend, r.count(), [&](std::int64_t l) { return a.at(l); });
    library.lu_of_each(dtype, n, each.get(), pivots.at<std::int32_t>(0), infos.at(0), r.count());
  } else {
    for_each_matrix(r,
                    [&](std::int64_t l) { library.lu(dtype, m, n, a.at(l), pivots.at<std::int64_t>(l), infos.at(l)); });
  }
  move(backend, r, a.view, r.lu, m, n, {.bad = &infos.bad()}),
      move_pivots(backend, r, pivots.view, r.pivots, r.least());
  infos.finish(PrimitiveId::lu);
}

namespace {
/// x becomes what solves with the triangles of a.
void solve(GpuBackend& backend, MatrixLibrary& library, const detail::MatrixRequest& r, DType dtype, bool upper,
           bool unit, char how, std::int64_t right, const InColumns& a, const Matrices& x) {
  const std::int64_t n = r.rows();
  if (!solves_at_once(r.count(), n))
    return for_each_matrix(
        r, [&](std::int64_t l) { library.triangular(dtype, upper, unit, how, n, right, a.at(l), x.at(l)); });
  const Addresses of_a(backend, r.count(), [&](std::int64_t l) { return a.at(l); }),
      of_x(backend, r.count(), [&](std::int64_t l) { return x.at(l); });
  library.triangular_of_each(dtype, upper, unit, how, n, right, of_a.get(), of_x.get(), r.count());
}
}  // namespace

/// Rows are exchanged on their way to the library, or back.
void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::LuSolveRequest& r) {
  const DType dtype = r.lu.dtype;
  const std::int64_t n = r.rows(), right = r.right;
  const Matrices places(backend, r, n, 1, DType::i32);
  find_places(backend, r, r.pivots, places.view, n, r.adjoint);
  const Move exchanged{.places = &places.view};
  if (r.permutes) return move(backend, r, r.b, r.x, n, right, exchanged);
  const Matrices x(backend, r, n, right, dtype);
  move(backend, r, r.b, x.view, n, right, r.adjoint ? Move{} : exchanged);
  const InColumns lu(backend, r, r.lu, n, n);
  for (const bool upper : {r.adjoint, !r.adjoint})
    solve(backend, library, r, dtype, upper, !upper, r.adjoint ? 'C' : 'N', right, lu, x);
  move(backend, r, x.view, r.x, n, right, r.adjoint ? exchanged : Move{});
}

/// With A by rows as it lies the library would solve with the transpose of what it sees, which takes it 1.2 times as
/// long (1024 x 1024, 16 sides: 283 and 234 us on an H100, 25 November 2026); so it sees a copy, or, where the
/// transpose is wanted, A itself.
void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::TriangularRequest& r) {
  const DType dtype = r.a.dtype;
  const std::int64_t n = r.rows(), right = r.right;
  const bool transposes = r.how == 'T' || (r.how == 'C' && !is_complex(dtype));
  const InColumns a(backend, r, transposes ? transposed(r.a) : r.a, n, n);
  const Matrices x(backend, r, n, right, dtype);
  move(backend, r, r.b, x.view, n, right);
  solve(backend, library, r, dtype, r.upper != transposes, r.unit, transposes ? 'N' : r.how, right, a, x);
  move(backend, r, x.view, r.x, n, right);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::QrRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t m = r.rows(), n = r.columns(), inner = r.inner(), k = r.least();
  const Matrices a(backend, r, m, n, dtype), q(backend, r, m, inner, dtype), tau(backend, r, k, 1, dtype);
  const Infos infos(backend, r);
  const Powers powers(backend, r, r.input, m, n, dtype, false, true);  // a·d is q·(r·d), d diagonal
  move(backend, r, r.input, a.view, m, n, {.powers = &powers.view});
  for_each_matrix(r, [&](std::int64_t l) { library.reflections(dtype, m, n, a.at(l), tau.at(l), infos.at(l)); });
  move(backend, r, a.view, r.r, inner, n, {.part = PartOfMatrix::upper, .powers = &powers.view, .divided = true});
  move(backend, r, a.view, q.view, m, k);
  for_each_matrix(r, [&](std::int64_t l) { library.basis(dtype, m, inner, k, q.at(l), tau.at(l), infos.at(l)); });
  move(backend, r, q.view, r.q, m, inner);
}

/// cuSOLVER makes reflections of squares as they are. Of graded matrices the last columns vanish when they are squared,
/// and so does what is left of a matrix of low rank, a rounding for each reflection: then its vectors were up to 0.2
/// away from orthogonal, and where the least columns came first neither vectors nor values were those of the matrix
/// (f32, 64 and 300 rows; f64 of ones, 100 rows: 7·10⁻⁶; H200, 27 November 2026). What cannot be squared is left out,
/// and vectors that are not orthonormal are computed once more, by the CPU.
void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::EighRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t n = r.rows();
  const bool vectors = r.vectors.storage != nullptr;
  const Matrices a(backend, r, n, n, dtype), values(backend, r, n, 1, real_dtype(dtype));
  Infos infos(backend, r);
  const Powers powers(backend, r, r.input, n, n, dtype, true, false);
  move(backend, r, r.input, a.view, n, n,
       {.part = PartOfMatrix::lower, .finite = &infos.bad(), .powers = &powers.view, .tiny = true});
  library.eigh(dtype, vectors, n, a.at(0), values.at(0), infos.at(0), r.count());
  if (vectors && !orthonormal(backend, r, a.view, n)) {
    if (detail::tracing()) detail::note("again on the CPU: the vectors were not orthonormal");
    return detail::kernel_on_host(backend, r);
  }
  move(backend, r, values.view, r.values, n, 1, {.powers = &powers.view, .divided = true});
  if (vectors) move(backend, r, a.view, r.vectors, n, n);
  infos.finish(PrimitiveId::eigh);
}

}  // namespace tern::detail_gpu
