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
      : backend_(backend), r_(r), infos_(backend, r, 1, 1, DType::i32), bad_(backend, r, 1, 1, DType::i32) {}
  /// What look() found: not 0 where a matrix is not finite.
  const View& bad() const { return bad_.view; }
  std::int32_t* at(std::int64_t matrix) const { return infos_.at<std::int32_t>(matrix); }
  /// Whether all of a matrix (or of its lower triangle) is finite: a workgroup to each.
  void look(const View& a, bool lower) {
    MatrixPlan plan(backend_, r_, '3');
    const std::int64_t m = r_.rows(), n = r_.columns();
    std::vector<int> parts;
    std::vector<View> views;
    for (int part = 0; part < parts_of_numbers(a); ++part) views.push_back(real_view(a, part));
    for (const View& v : views) parts.push_back(plan.add(v, {m, n}, false));
    const int to = plan.add(bad_.view, {1, 1}, true);
    const int rows = plan.plan.add_param(static_cast<std::uint64_t>(m)),
              columns = plan.plan.add_param(static_cast<std::uint64_t>(n));
    plan.plan.note(lower);
    plan.launch(static_cast<std::uint64_t>(r_.count()), kThreads, [&] {
      const Dialect& d = backend_.dialect();
      Io io(plan.plan, d);
      const ComputeType type = compute_type(views[0].dtype);
      std::vector<std::string> matrix;
      std::string body = io.coordinates(plan.batch, "group", "c", matrix), look;
      for (const int part : parts) {
        std::vector<std::string> values;
        look += io.load(part, plan.at(matrix, "i", "j"), values);
        look += cat("if (!(", d.elementary(detail::Elementary::isfinite, type, {values[0]}), ")) { bad = 1u; }\n");
      }
      if (lower) look = cat("if (j <= i) {\n", indented(look), "}\n");
      body += cat("var bad = 0u;\nfor (var e = thread; e < ", d.param(rows), " * ", d.param(columns),
                  "; e += ", kThreads, "u) {\n  let i = e / ", d.param(columns), ";\n  let j = e - i * ",
                  d.param(columns), ";\n", indented(look), "}\nseen[thread] = bad;\n", d.barrier());
      std::string last = cat("for (var k = 0u; k < ", kThreads,
                             "u; k += 1u) { bad = bad | seen[k]; }\nlet status = ", "select(0, -1, bad != 0u);\n",
                             io.store(to, plan.at(matrix), {"status"}, ""));
      body += cat("if (thread == 0u && group < ", plan.count(), ") {\n", indented(last), "}\n");
      return plan.module("matrices, finite", body, {{"u32", "seen", kThreads}});
    });
  }
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
  infos.look(r.input, true), move(backend, r, r.input, a.view, n, n, {.part = PartOfMatrix::lower, .finite = true});
  for_each_matrix(r, [&](std::int64_t l) { library.cholesky(dtype, n, a.at(l), infos.at(l)); });
  move(backend, r, a.view, r.factor, n, n, {.part = PartOfMatrix::lower, .bad = &infos.bad()}),
      infos.finish(PrimitiveId::cholesky);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::LuRequest& r) {
  const DType dtype = r.input.dtype;
  const std::int64_t m = r.rows(), n = r.columns();
  const Matrices a(backend, r, m, n, dtype), pivots(backend, r, r.least(), 1, DType::i64);
  Infos infos(backend, r);
  infos.look(r.input, false), move(backend, r, r.input, a.view, m, n, {.finite = true});
  for_each_matrix(r,
                  [&](std::int64_t l) { library.lu(dtype, m, n, a.at(l), pivots.at<std::int64_t>(l), infos.at(l)); });
  move(backend, r, a.view, r.lu, m, n, {.bad = &infos.bad()}),
      move_pivots(backend, r, pivots.view, r.pivots, r.least());
  infos.finish(PrimitiveId::lu);
}

void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::LuSolveRequest& r) {
  const DType dtype = r.lu.dtype;
  const std::int64_t n = r.rows(), right = r.right;
  const Matrices lu(backend, r, n, n, dtype), pivots(backend, r, n, 1, DType::i64), b(backend, r, n, right, dtype);
  const Infos infos(backend, r);
  // Where it only permutes, L and U are 1.
  move(backend, r, r.lu, lu.view, n, n,
       {.part = r.permutes ? PartOfMatrix::diagonal : PartOfMatrix::all, .ones = r.permutes});
  move_pivots(backend, r, r.pivots, pivots.view, n), move(backend, r, r.b, b.view, n, right);
  for_each_matrix(r, [&](std::int64_t l) {
    library.lu_solve(dtype, r.adjoint ? 'C' : 'N', n, right, lu.at(l), pivots.at<std::int64_t>(l), b.at(l),
                     infos.at(l));
  });
  move(backend, r, b.view, r.x, n, right);
}

/// As equations by LU whose L is 1 and whose U is the triangle, or the lower one's transpose; rows stay in place.
void by_library(GpuBackend& backend, MatrixLibrary& library, const detail::TriangularRequest& r) {
  const DType dtype = r.a.dtype;
  const std::int64_t n = r.rows(), right = r.right;
  const Matrices upper(backend, r, n, n, dtype), pivots(backend, r, n, 1, DType::i64), b(backend, r, n, right, dtype);
  const Infos infos(backend, r);
  const View a = r.upper ? r.a : transposed(r.a);
  move(backend, r, a, upper.view, n, n,
       {.part = PartOfMatrix::upper, .ones = r.unit, .conjugate = !r.upper && r.how == 'C'});
  const char how = r.upper ? r.how : r.how == 'N' ? 'T' : 'N';
  move_pivots(backend, r, {}, pivots.view, n), move(backend, r, r.b, b.view, n, right);
  for_each_matrix(r, [&](std::int64_t l) {
    library.lu_solve(dtype, how, n, right, upper.at(l), pivots.at<std::int64_t>(l), b.at(l), infos.at(l));
  });
  move(backend, r, b.view, r.x, n, right);
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
  infos.look(r.input, true);
  move(backend, r, r.input, a.view, n, n, {.part = PartOfMatrix::lower, .finite = true, .powers = &powers.view});
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
  infos.look(r.input, false);
  move(backend, r, wide ? transposed(r.input) : r.input, a.view, m, n,
       {.conjugate = wide, .finite = true, .powers = &powers.view});
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
