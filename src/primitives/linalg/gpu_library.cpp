// Each matrix is copied to memory by columns, taken by the library, and its results are copied to where they are
// wanted: n² elements moved for n³ operations. The library's calls are one after the other.
#include "primitives/linalg/gpu_library.hpp"

#include "backend/instruments/trace.hpp"
#include "backend/recording/native.hpp"
#include "primitives/linalg/gpu_columns.hpp"

namespace tern::detail_gpu {

using detail::PrimitiveId;

namespace {

constexpr int kThreads = 256;

/// The library's info of each matrix, and what became of them.
class Infos {
 public:
  Infos(GpuBackend& backend, const detail::MatrixRequest& r)
      : backend_(backend), r_(r), infos_(backend, r, 1, 1, DType::i32), bad_(backend, r, 1, 1, DType::i32) {
    clear();
  }
  /// Not 0 where a matrix is not finite, once it was moved.
  const View& bad() const { return bad_.view; }
  std::int32_t* at(std::int64_t matrix) const { return infos_.at<std::int32_t>(matrix); }
  /// -1 where it is not finite, else the library's info: to the request's status, and as an error, which has no room
  /// for the numbers of large matrices where kernels note what failed.
  void finish(PrimitiveId by) {
    const bool with_status = r_.status.storage != nullptr;
    if (!with_status && !r_.checked) return;
    MatrixPlan plan(backend_, r_, '4');
    const int bad = plan.add(bad_.view, {1, 1}, false), info = plan.add(infos_.view, {1, 1}, false);
    const Matrices told(backend_, r_, 1, 1, DType::i32);
    const int to = plan.add(told.view, {1, 1}, true), status = with_status ? plan.add(r_.status, {}, true) : -1;
    plan.launch(static_cast<std::uint64_t>(ceil_div(r_.count(), kThreads)), kThreads, [&] {
      Io io(plan.plan, backend_.dialect());
      std::vector<std::string> matrix, first, second;
      std::string text = io.coordinates(plan.batch, "matrix", "c", matrix);
      text += io.load(bad, plan.at(matrix), first), text += io.load(info, plan.at(matrix), second);
      text += cat("let status = select(", second[0], ", ", first[0], ", ", first[0], " != 0);\n");
      text += io.store(to, plan.at(matrix), {"status"}, "");
      if (status >= 0) text += io.store(status, plan.at(matrix), {"status"}, "");
      return plan.module("matrices, status",
                         cat("let matrix = group * ", kThreads, "u + thread;\nif (matrix < ", plan.count(), ") {\n",
                             indented(text), "}\n"),
                         {});
    });
    if (!r_.checked) return;
    std::vector<std::int32_t> list(static_cast<std::size_t>(r_.count()));
    backend_.download(*told.view.storage, 0, list.data(), list.size() * sizeof list[0]);
    for (std::size_t l = 0; l < list.size(); ++l)
      if (list[l] != 0)
        throw detail::matrix_error(r_.op, r_.batch().rank() > 0, static_cast<std::int64_t>(l), list[l], by);
  }

 private:
  /// All finite, until a move meets what is not.
  void clear() {
    MatrixPlan plan(backend_, r_, '6');
    const int to = plan.add(bad_.view, {1, 1}, true);
    plan.launch(static_cast<std::uint64_t>(ceil_div(r_.count(), kThreads)), kThreads, [&] {
      Io io(plan.plan, backend_.dialect());
      std::vector<std::string> matrix;
      std::string text = io.coordinates(plan.batch, "matrix", "c", matrix);
      text += cat("let status = 0;\n", io.store(to, plan.at(matrix), {"status"}, ""));
      return plan.module("matrices, cleared",
                         cat("let matrix = group * ", kThreads, "u + thread;\nif (matrix < ", plan.count(), ") {\n",
                             indented(text), "}\n"),
                         {});
    });
  }
  GpuBackend& backend_;
  const detail::MatrixRequest& r_;
  Matrices infos_, bad_;
};

template <class F> void for_each_matrix(const detail::MatrixRequest& r, F f) {
  for (std::int64_t l = 0; l < r.count(); ++l) f(l);
}

}  // namespace

MatrixLibrary* library_for(GpuBackend& backend, const detail::MatrixRequest& r) {
  if (r.count() == 0 || r.least() == 0) return nullptr;
  if (r.count() * 32 > r.most() * r.most()) return nullptr;  // a call takes the library tens of microseconds
  if (detail::recording_natively()) return nullptr;
  MatrixLibrary* const library = backend.matrix_library();
  if (library && detail::tracing()) detail::note(library->name());
  return library;
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::CholeskyRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t n = r.rows();
  const Matrices a(backend, r, n, n, dtype);
  Infos infos(backend, r);
  move(backend, r, r.input, a.view, n, n, {.part = PartOfMatrix::lower, .finite = &infos.bad()});
  for_each_matrix(r, [&](std::int64_t l) { library.cholesky(dtype, n, a.at(l), infos.at(l)); });
  move(backend, r, a.view, r.factor, n, n, {.part = PartOfMatrix::lower, .bad = &infos.bad()}),
      infos.finish(PrimitiveId::cholesky);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::LuRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t m = r.rows(), n = r.columns();
  const Matrices a(backend, r, m, n, dtype), pivots(backend, r, r.least(), 1, DType::i64);
  Infos infos(backend, r);
  move(backend, r, r.input, a.view, m, n, {.finite = &infos.bad()});
  for_each_matrix(r,
                  [&](std::int64_t l) { library.lu(dtype, m, n, a.at(l), pivots.at<std::int64_t>(l), infos.at(l)); });
  move(backend, r, a.view, r.lu, m, n, {.bad = &infos.bad()}),
      move_pivots(backend, r, pivots.view, r.pivots, r.least());
  infos.finish(PrimitiveId::lu);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::LuSolveRequest& r) {
  const DType dtype = r.lu.dtype;
  const std::int64_t n = r.rows(), right = r.right;
  const Matrices pivots(backend, r, n, 1, DType::i32), x(backend, r, n, right, dtype);
  move_pivots(backend, r, r.pivots, pivots.view, n), move(backend, r, r.b, x.view, n, right);
  const auto exchange = [&](std::int64_t l) {
    library.exchange_rows(dtype, n, right, x.at(l), pivots.at<std::int32_t>(l), r.adjoint);
  };
  if (r.permutes) {
    for_each_matrix(r, exchange);
  } else {
    const InColumns lu(backend, r, r.lu, n, n);
    const auto solve = [&](std::int64_t l, bool upper) {
      library.triangular(dtype, upper, !upper, r.adjoint ? 'C' : 'N', n, right, lu.at(l), x.at(l));
    };
    for_each_matrix(r, [&](std::int64_t l) {
      if (!r.adjoint) exchange(l);
      solve(l, r.adjoint), solve(l, !r.adjoint);
      if (r.adjoint) exchange(l);
    });
  }
  move(backend, r, x.view, r.x, n, right);
}

/// With A by rows as it lies the library would solve with the transpose of what it sees, which takes it 1.2 times as
/// long (1024 x 1024, 16 sides: 283 and 234 us on an H100, 25 November 2026); so it sees a copy, or, where the
/// transpose is wanted, A itself.
void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::TriangularRequest& r) {
  const DType dtype = r.a.dtype;
  const std::int64_t n = r.rows(), right = r.right;
  const bool turned = r.how == 'T' || (r.how == 'C' && !is_complex(dtype));
  const InColumns a(backend, r, turned ? transposed(r.a) : r.a, n, n);
  const Matrices x(backend, r, n, right, dtype);
  move(backend, r, r.b, x.view, n, right);
  for_each_matrix(r, [&](std::int64_t l) {
    library.triangular(dtype, r.upper != turned, r.unit, turned ? 'N' : r.how, n, right, a.at(l), x.at(l));
  });
  move(backend, r, x.view, r.x, n, right);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::QrRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t m = r.rows(), n = r.columns(), inner = r.inner(), k = r.least();
  const Matrices a(backend, r, m, n, dtype), q(backend, r, m, inner, dtype), tau(backend, r, k, 1, dtype);
  const Infos infos(backend, r);
  const Powers powers(backend, r, r.input, false, true);  // a·d is q·(r·d), d diagonal
  move(backend, r, r.input, a.view, m, n, {.powers = &powers.view});
  for_each_matrix(r, [&](std::int64_t l) { library.reflections(dtype, m, n, a.at(l), tau.at(l), infos.at(l)); });
  move(backend, r, a.view, r.r, inner, n, {.part = PartOfMatrix::upper, .powers = &powers.view, .divided = true});
  move(backend, r, a.view, q.view, m, k);
  for_each_matrix(r, [&](std::int64_t l) { library.basis(dtype, m, inner, k, q.at(l), tau.at(l), infos.at(l)); });
  move(backend, r, q.view, r.q, m, inner);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::EighRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t n = r.rows();
  const bool vectors = r.vectors.storage != nullptr;
  const Matrices a(backend, r, n, n, dtype), values(backend, r, n, 1, real_dtype(dtype));
  Infos infos(backend, r);
  const Powers powers(backend, r, r.input, true, false);
  move(backend, r, r.input, a.view, n, n,
       {.part = PartOfMatrix::lower, .finite = &infos.bad(), .powers = &powers.view});
  for_each_matrix(r, [&](std::int64_t l) { library.eigh(dtype, vectors, n, a.at(l), values.at(l), infos.at(l)); });
  move(backend, r, values.view, r.values, n, 1, {.powers = &powers.view, .divided = true});
  if (vectors) move(backend, r, a.view, r.vectors, n, n);
  infos.finish(PrimitiveId::eigh);
}

/// Of the matrix, or of its adjoint where that is the tall one: the sides' vectors change places.
void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::SvdRequest& r) {
  const DType dtype = r.input.dtype;
  const bool wide = r.columns() > r.rows();
  const std::int64_t m = r.most(), n = r.least(), left = r.full ? m : n;
  const char job = !r.vectors() ? 'N' : r.full ? 'A' : 'S';
  const Matrices a(backend, r, m, n, dtype), s(backend, r, n, 1, real_dtype(dtype));
  const Matrices u(backend, r, job == 'N' ? 1 : m, job == 'N' ? 1 : left, dtype);
  const Matrices vh(backend, r, job == 'N' ? 1 : n, job == 'N' ? 1 : n, dtype);
  Infos infos(backend, r);
  const Powers powers(backend, r, r.input, false, false);
  move(backend, r, wide ? transposed(r.input) : r.input, a.view, m, n,
       {.conjugate = wide, .finite = &infos.bad(), .powers = &powers.view});
  for_each_matrix(
      r, [&](std::int64_t l) { library.svd(dtype, job, m, n, a.at(l), s.at(l), u.at(l), vh.at(l), infos.at(l)); });
  move(backend, r, s.view, r.s, n, 1, {.powers = &powers.view, .divided = true});
  if (job != 'N') {
    const View long_side = wide ? transposed(r.vh) : r.u, short_side = wide ? transposed(r.u) : r.vh;
    move(backend, r, u.view, long_side, m, left, {.conjugate = wide});
    move(backend, r, vh.view, short_side, n, n, {.conjugate = wide});
  }
  infos.finish(PrimitiveId::svd);
}

}  // namespace tern::detail_gpu
