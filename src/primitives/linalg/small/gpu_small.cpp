// Batches of small real matrices on GPUs: a matrix in a workgroup's memory, or several, and a thread for each of its
// rows. small_cholesky.wgsl, small_lu.wgsl and small_solve.wgsl say how; a right-hand side of many columns is cut among
// workgroups.
#include "primitives/linalg/library/gpu_library.hpp"
#include "primitives/linalg/small/gpu_small.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kSmallCholesky =
#include "primitives/linalg/small/small_cholesky.wgsl.inc"
    ;
constexpr const char* kSmallLu =
#include "primitives/linalg/small/small_lu.wgsl.inc"
    ;
constexpr const char* kSmallSolve =
#include "primitives/linalg/small/small_solve.wgsl.inc"
    ;
constexpr const char* kFactorPieces =
#include "primitives/linalg/small/small_factor_pieces.wgsl.inc"
    ;
constexpr int kColumnsOfGroup = 32;  // of a right-hand side in a workgroup

/// And those that factorise.
Holes factoring_holes(Small& s, int columns, int input, const char* looks_at) {
  s.add("a", s.rows, columns), s.shared.push_back({"u32", "bad", kWidth});
  Holes holes = holes_of_small(s, columns, "group");
  holes["load"] = s.load(input, "a", s.rows, columns, u(columns), "0u", s.check_finite(looks_at));
  return holes;
}

std::string cholesky_text(Small& s, int input, int factor, int status) {
  const int n = s.rows;
  Holes holes = factoring_holes(s, n, input, "j <= i && ");
  holes["sqrt"] = s.elementary(Elementary::sqrt, kFirst);
  holes["store"] = s.store(factor, "a", n, n, u(n), "0u"), holes["finish"] = s.finish(status);
  return s.plan.module("cholesky of small matrices", fill_holes(kSmallCholesky, holes), s.shared);
}

std::string lu_text(Small& s, int columns, int input, int factors, int pivots, int status) {
  const int m = s.rows, n = columns;
  Holes holes = factoring_holes(s, n, input, "");
  holes["m"] = cat(m), holes["least"] = cat(std::min(m, n));
  holes["abs"] = s.elementary(Elementary::abs, kFirst);
  holes["store_pivot"] = s.io.store(pivots, s.plan.at(s.matrix, "k"), {"place"}, "");
  holes["store"] = s.store(factors, "a", m, n, u(n), "0u"), holes["finish"] = s.finish(status);
  return s.plan.module("lu of small matrices", fill_holes(kSmallLu, holes), s.shared);
}

/// What solves: a matrix (or none), a right-hand side, and where it goes.
struct RightHandSides {
  int a = -1, b = -1, x = -1, pivots = -1, right_slot = -1, parts_slot = -1;
};
/// Calls of small_factor_pieces.wgsl.
std::string eliminate(const Small& s, bool lower, bool transposes, bool unit) {
  return cat("$eliminate(", lower ? "s" : cat(u(s.rows - 1), " - s"), lower ? ", >" : ", <",
             transposes ? ", $at(k, r)" : ", $at(r, k)", unit ? ", $nothing)\n" : ", $by_pivot)\n");
}
std::string exchange(const Small& s, bool back) {
  return cat("$exchange(", back ? cat(u(s.rows - 1), " - s") : "s", ")\n");
}
Holes solving_holes(Small& s, const RightHandSides& v) {
  const Dialect& d = s.plan.backend.dialect();
  const int n = s.rows, pitch = Small::pitch(kColumnsOfGroup);
  s.add("b", n, kColumnsOfGroup);
  Holes holes = holes_of_small(s, n, "block");
  holes["part"] = cat(kColumnsOfGroup), holes["nothing"] = holes["load_a"] = "";
  holes["right"] = d.param(v.right_slot), holes["parts"] = d.param(v.parts_slot);
  holes["side"] = cat("own * ", u(n * pitch), " + (", kFirst, ") * ", u(pitch), " + ", kSecond);
  if (v.a >= 0) s.add("a", n, n), holes["load_a"] = s.load(v.a, "a", n, n, u(n), "0u");
  holes["load_b"] = s.load(v.b, "b", n, kColumnsOfGroup, "width", "first");
  return holes;
}
std::string solve_text(Small& s, const RightHandSides& v, const char* title, Holes holes) {
  holes["store"] = s.store(v.x, "b", s.rows, kColumnsOfGroup, "width", "first");
  return s.plan.module(title, fill_holes(kSmallSolve, holes), s.shared);
}
std::string triangular_text(Small& s, const RightHandSides& v, const detail::TriangularRequest& r) {
  const bool transposes = r.how != 'N';
  Holes holes = solving_holes(s, v);
  holes["steps"] = "$barrier\n" + eliminate(s, r.upper == transposes, transposes, r.unit);
  return solve_text(s, v, "triangles of small matrices", std::move(holes));
}
std::string lu_solve_text(Small& s, const RightHandSides& v, const detail::LuSolveRequest& r) {
  Holes holes = solving_holes(s, v);
  s.shared.push_back({"u32", "places", s.per * s.rows});
  std::vector<std::string> values;
  holes["load_pivot"] = s.io.load(v.pivots, s.plan.at(s.matrix, "r"), values), holes["pivot"] = values[0];
  holes["last"] = cat(s.rows - 1);
  std::string& steps = holes["steps"] = "$load_places\n";
  if (!r.adjoint) steps += exchange(s, false);
  if (!r.permutes) steps += eliminate(s, true, r.adjoint, !r.adjoint) + eliminate(s, false, r.adjoint, r.adjoint);
  if (r.adjoint) steps += exchange(s, true);
  return solve_text(s, v, "solutions of small matrices", std::move(holes));
}

}  // namespace

Holes holes_of_small(Small& s, int columns, const std::string& group) {
  const int pitch = Small::pitch(columns);
  Holes holes = pieces(kFactorPieces);
  holes["type"] = compute_type_name(s.type), holes["barrier"] = s.barrier();
  holes["n"] = cat(columns), holes["threads"] = cat(s.threads);
  holes["begin"] = s.begin(group);
  holes["at"] = cat("own * ", u(s.rows * pitch), " + (", kFirst, ") * ", u(pitch), " + ", kSecond);
  return holes;
}

void cholesky_on_gpu(GpuBackend& backend, const detail::CholeskyRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return without_kernel(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan m(backend, r, 'Y');
    const int n = static_cast<int>(r.rows());
    const int input = m.add(r.input, {n, n}, false), factor = m.add(r.factor, {n, n}, true);
    const int status = r.status.storage ? m.add(r.status, {}, true) : -1;
    if (r.checked) m.note_failures(PrimitiveId::cholesky);
    const int threads = threads_for(n);
    tell(kWidth / threads);
    m.plan.note(r.rows());
    m.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kWidth / threads)), kWidth, [&] {
      Small s(m, r.input.dtype, n, threads);
      return cholesky_text(s, input, factor, status);
    });
  });
}

void lu_on_gpu(GpuBackend& backend, const detail::LuRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return without_kernel(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan m(backend, r, 'L');
    const int rows = static_cast<int>(r.rows()), columns = static_cast<int>(r.columns());
    const int input = m.add(r.input, {rows, columns}, false), factors = m.add(r.lu, {rows, columns}, true);
    const int pivots = m.add(r.pivots, {r.least()}, true);
    const int status = r.status.storage ? m.add(r.status, {}, true) : -1;
    if (r.checked) m.note_failures(PrimitiveId::lu);
    const int threads = threads_for(rows);
    tell(kWidth / threads);
    m.plan.note(r.rows()), m.plan.note(r.columns());
    m.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kWidth / threads)), kWidth, [&] {
      Small s(m, r.input.dtype, rows, threads);
      return lu_text(s, columns, input, factors, pivots, status);
    });
  });
}

namespace {

/// Launches what solves with n × n matrices for `right` columns.
template <class R, class Text>
void solve_small(MatrixPlan& m, const R& r, RightHandSides& v, DType dtype, const Text& text) {
  const std::int64_t parts = ceil_div(r.right, kColumnsOfGroup);
  v.right_slot = m.plan.add_param(static_cast<std::uint64_t>(r.right));
  v.parts_slot = m.plan.add_param(static_cast<std::uint64_t>(parts));
  const int threads = threads_for(r.rows());
  tell(kWidth / threads);
  m.plan.note(r.rows());
  m.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kWidth / threads) * parts), kWidth, [&] {
    Small s(m, dtype, static_cast<int>(r.rows()), threads);
    return text(s);
  });
}

}  // namespace

void lu_solve_on_gpu(GpuBackend& backend, const detail::LuSolveRequest& r) {
  if (r.count() == 0 || r.right == 0) return;
  if (!goes_small(backend, r, r.lu.dtype)) return without_kernel(backend, r);
  backend.run_prepared(r, [&] {
    MatrixPlan m(backend, r, 'S');
    const std::int64_t n = r.rows();
    RightHandSides v;
    if (!r.permutes) v.a = m.add(r.lu, {n, n}, false);
    v.b = m.add(r.b, {n, r.right}, false), v.pivots = m.add(r.pivots, {n}, false);
    v.x = m.add(r.x, {n, r.right}, true);
    m.plan.note(static_cast<char>(r.adjoint + 2 * r.permutes));
    solve_small(m, r, v, r.lu.dtype, [&](Small& s) { return lu_solve_text(s, v, r); });
  });
}

void triangular_on_gpu(GpuBackend& backend, const detail::TriangularRequest& r) {
  if (r.count() == 0 || r.right == 0) return;
  if (!goes_small(backend, r, r.a.dtype)) return without_kernel(backend, r);
  backend.run_prepared(r, [&] {
    MatrixPlan m(backend, r, 'T');
    const std::int64_t n = r.rows();
    RightHandSides v;
    v.a = m.add(r.a, {n, n}, false), v.b = m.add(r.b, {n, r.right}, false), v.x = m.add(r.x, {n, r.right}, true);
    m.plan.note(static_cast<char>((r.how != 'N') + 2 * r.upper + 4 * r.unit));
    solve_small(m, r, v, r.a.dtype, [&](Small& s) { return triangular_text(s, v, r); });
  });
}

}  // namespace tern::detail_gpu
