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

/// Whether a view's columns lie together, and not its rows: neighbours are to take neighbours.
bool by_columns(const detail::MatrixRequest& r, const View& view) {
  const auto rank = static_cast<std::size_t>(r.batch().rank());
  return view.strides[rank] == 1 && view.strides[rank + 1] != 1;
}
/// And those that factorise.
Holes factoring_holes(Small& s, int columns, int input, const char* looks_at, bool by_columns) {
  s.add("a", s.rows, columns), s.shared.push_back({"u32", "bad", kWidth});
  Holes holes = holes_of_small(s, columns, "group");
  holes["load"] = s.load(input, "a", s.rows, columns, u(columns), "0u", s.check_finite(looks_at), by_columns);
  return holes;
}

std::string cholesky_text(Small& s, int input, int factor, int status) {
  const int n = s.rows;
  Holes holes = factoring_holes(s, n, input, "j <= i && ", false);
  holes["sqrt"] = s.elementary(Elementary::sqrt, kFirst);
  holes["store"] = s.store(factor, "a", n, n, u(n), "0u"), holes["finish"] = s.finish(status);
  return s.plan.module("cholesky of small matrices", fill_holes(kSmallCholesky, holes), s.shared);
}

/// What lanes of a warp compare to find the pivot's row.
std::string comparisons(const Small& s) {
  const Dialect& d = s.plan.backend.dialect();
  // An instruction each instead of five comparisons: of numbers above 0 their bits have the order.
  if (s.type == ComputeType::f32 && s.threads == kWidth)
    return "let most = __reduce_max_sync(0xffffffffu, waits ? bitcast<u32>(size) + 1u : 0u);\n"
           "row = __reduce_min_sync(0xffffffffu, waits && bitcast<u32>(size) + 1u == most ? place : 32u);\n";
  std::string text;
  for (int distance = 1; distance < s.threads; distance *= 2)
    text += cat("$compare(", d.from_neighbour("best", distance, kWidth), ", ",
                d.from_neighbour("row", distance, kWidth), ")\n");
  return text;
}
/// Vectors of 16 bytes.
struct Vectors {
  const Dialect& dialect;
  bool f64;
  int wide() const { return f64 ? 2 : 4; }
  const char* type() const { return !dialect.native() ? "vec4<f32>" : f64 ? "double2" : "float4"; }
  /// Element j of those that are named prefix0, prefix1, …
  std::string element(const std::string& prefix, int j) const {
    return cat(prefix, j / wide(), ".", std::string(1, "xyzw"[j % wide()]));
  }
};
/// The row of the pivot, written by its thread and taken from the rows that wait, which move one to the left.
void add_line(Holes& holes, Small& s, int n) {
  const Vectors vectors{s.plan.backend.dialect(), s.type == ComputeType::f64};
  const int lines = static_cast<int>(ceil_div(n, vectors.wide()));
  s.shared.push_back({vectors.type(), "line", s.per * lines});
  holes["lines"] = cat(lines), holes["moved_left"] = "";
  for (int q = 0; q < lines; ++q) {
    std::vector<std::string> values;
    for (int j = q * vectors.wide(); j < (q + 1) * vectors.wide(); ++j)
      values.push_back(j < n ? cat("x", j) : s.number("0.0"));
    const std::string at = cat("line[own * ", u(lines), " + ", u(q), "]");
    holes["write_line"] += cat(at, " = ", vectors.dialect.construct(vectors.type(), values), ";\n");
    holes["moved_left"] += cat("let line", q, " = ", at, ";\n");
    for (int j = std::max(q * vectors.wide(), 1); j < std::min(n, (q + 1) * vectors.wide()); ++j)
      holes["moved_left"] += cat("x", j - 1, " = fma(-factor, ", vectors.element("line", j), ", x", j, ");\n");
  }
}
std::string lu_text(Small& s, int columns, int input, int factors, int pivots, int status, const bool (&across)[2]) {
  const int m = s.rows, n = columns, least = std::min(m, n);
  Holes holes = factoring_holes(s, n, input, "", across[0]);
  add_line(holes, s, n);
  const bool in_lanes = s.plan.backend.dialect().native();
  if (in_lanes) holes["comparisons"] = comparisons(s);
  else s.shared.push_back({compute_type_name(s.type), "sizes", kWidth});
  holes["between"] = in_lanes ? s.barrier() : "";
  holes["find_pivot"] = in_lanes ? "$find_in_lanes\n" : "$find_in_memory\n";
  holes["m"] = cat(m), holes["least"] = cat(least), holes["last"] = cat(n - 1), holes["columns"] = numbers(0, n);
  holes["largest"] = s.type == ComputeType::f64 ? "1.7e308" : "3.4e38";
  holes["abs"] = s.elementary(Elementary::abs, kFirst);
  holes["store_pivot"] = s.io.store(pivots, s.plan.at(s.matrix, "k"), {"exchanged"}, "");
  holes["store"] = s.store(factors, "a", m, n, u(n), "0u", across[1]), holes["finish"] = s.finish(status);
  return s.plan.module("lu of small matrices", fill_holes(kSmallLu, holes), s.shared);
}

/// What solves: a matrix (or none), a right-hand side, and where it goes.
struct RightHandSides {
  int a = -1, b = -1, x = -1, pivots = -1, right_slot = -1, parts_slot = -1;
  bool transposes = false, a_by_columns = false;
  bool few = false;  // columns, so that threads have rows
};
/// Calls of small_factor_pieces.wgsl: of many columns a thread has one, of few a row.
std::string eliminate(const Small& s, const RightHandSides& v, bool lower, bool unit) {
  const char* const divides = unit ? "false" : "true";
  if (!v.few) {
    const char* const side = lower ? "$lower_" : "$upper_";
    const std::string fours = s.rows >= 4 ? cat(side, "in_fours(", divides, ")\n") : "";
    const std::string rest = s.rows % 4 != 0 ? cat(side, "rest(", divides, ")\n") : "";
    return lower ? fours + rest : rest + fours;
  }
  return cat("$eliminate(", lower ? "s, >, " : cat(u(s.rows - 1), " - s, <, "), divides, ")\n");
}
std::string exchange(const Small& s, const RightHandSides& v, bool back) {
  return cat(v.few ? "$exchange_rows(" : "$exchange(", back ? cat(u(s.rows - 1), " - s") : "s", ")\n");
}
/// x0 to x3 less a square of a times y0 to y3: of four elements a load where memory is addressed so.
void add_square(Holes& holes, const Small& s, bool transposes) {
  const Vectors vectors{s.plan.backend.dialect(), s.type == ComputeType::f64};
  std::string& text = holes["square"] = "";
  for (int row = 0; row < 4; ++row) {
    const std::string i = cat(transposes ? "k + " : "i + ", u(row)), name = cat("square", row, "_");
    for (int q = 0; q < 4 / vectors.wide() && vectors.dialect.native(); ++q)
      text += cat("const ", vectors.type(), " ", name, q, " = *(const ", vectors.type(), "*)&a[$at(", i, ", ",
                  transposes ? "i" : "k", " + ", u(q * vectors.wide()), ")];\n");
    for (int column = 0; column < 4; ++column) {
      const int x = transposes ? column : row, y = transposes ? row : column;
      const std::string one = vectors.dialect.native()
                                  ? vectors.element(name, column)
                                  : cat("$element(i + ", u(x), ", k + ", u(y), ")");
      text += cat("x", x, " = fma(-", one, ", y", y, ", x", x, ");\n");
    }
  }
}
Holes solving_holes(Small& s, const RightHandSides& v) {
  const Dialect& d = s.plan.backend.dialect();
  const int n = s.rows, pitch = Small::pitch(kColumnsOfGroup);
  if (!v.few) s.by_fours = "a";
  s.add("b", n, kColumnsOfGroup);
  Holes holes = holes_of_small(s, n, "block");
  holes["part"] = cat(kColumnsOfGroup);
  holes["in_fours"] = cat(n - n % 4), holes["rest"] = cat(n % 4), holes["behind_fours"] = numbers(n - n % 4, n);
  holes["four"] = numbers(0, 4);
  holes["four_back"] = "3 2 1 0", holes["element"] = cat("a[$at(", v.transposes ? "${1}, ${0}" : "${0}, ${1}", ")]");
  for (int d = 0; d < 4; ++d) holes[cat("lower_", d)] = numbers(0, d), holes[cat("upper_", d)] = numbers(d + 1, 4);
  holes["rolled"] = d.native() ? "#pragma unroll 1\n" : "";  // NVRTC unrolls loops of constant lengths
  holes["load_a"] = holes["load_exchanges"] = "";
  holes["right"] = d.param(v.right_slot), holes["parts"] = d.param(v.parts_slot);
  holes["side"] = cat("own * ", u(n * pitch), " + (", kFirst, ") * ", u(pitch), " + ", kSecond);
  add_square(holes, s, v.transposes);
  if (v.a >= 0) s.add("a", n, n), holes["load_a"] = s.load(v.a, "a", n, n, u(n), "0u", "", v.a_by_columns);
  holes["load_b"] = s.load(v.b, "b", n, kColumnsOfGroup, "width", "first");
  return holes;
}
void solve_by(Holes& holes, const RightHandSides& v, const std::string& steps) {
  holes["solution"] = v.few ? steps : cat("for (var c = r; c < width; c += ${threads}u) {\n", indented(steps), "}\n");
}
std::string solve_text(Small& s, const RightHandSides& v, const char* title, Holes holes) {
  holes["store"] = s.store(v.x, "b", s.rows, kColumnsOfGroup, "width", "first");
  return s.plan.module(title, fill_holes(kSmallSolve, holes), s.shared);
}
std::string triangular_text(Small& s, const RightHandSides& v, const detail::TriangularRequest& r) {
  Holes holes = solving_holes(s, v);
  solve_by(holes, v, eliminate(s, v, r.upper == v.transposes, r.unit));
  return solve_text(s, v, v.few ? "triangles of few sides" : "triangles of small matrices", std::move(holes));
}
std::string lu_solve_text(Small& s, const RightHandSides& v, const detail::LuSolveRequest& r) {
  Holes holes = solving_holes(s, v);
  s.shared.push_back({"u32", "places", s.per * s.rows});
  std::vector<std::string> values;
  holes["load_pivot"] = s.io.load(v.pivots, s.plan.at(s.matrix, "r"), values), holes["pivot"] = values[0];
  holes["last"] = cat(s.rows - 1), holes["load_exchanges"] = "$load_places\n";
  std::string steps = r.adjoint ? "" : exchange(s, v, false);
  if (!r.permutes) steps += eliminate(s, v, true, !r.adjoint) + eliminate(s, v, false, r.adjoint);
  if (r.adjoint) steps += exchange(s, v, true);
  solve_by(holes, v, steps);
  return solve_text(s, v, v.few ? "solutions of few sides" : "solutions of small matrices", std::move(holes));
}

}  // namespace

Holes holes_of_small(Small& s, int columns, const std::string& group) {
  const int pitch = s.pitch_of("a", columns);
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
    const bool across[] = {by_columns(r, r.input), by_columns(r, r.lu)};
    m.plan.note(r.rows()), m.plan.note(r.columns()), m.plan.note(static_cast<char>(across[0] + 2 * across[1]));
    m.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kWidth / threads)), kWidth, [&] {
      Small s(m, r.input.dtype, rows, threads);
      return lu_text(s, columns, input, factors, pivots, status, across);
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
  // 10,000 vectors of 32 rows took 166 us instead of 181 with LU before, but through WebGPU 480 instead of 410, where
  // barriers cost more (H200, 29 November 2026).
  v.few = m.backend.dialect().native() && r.right * 4 <= threads, m.plan.note(v.few);
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
    v.transposes = r.adjoint, v.a_by_columns = by_columns(r, r.lu);
    if (!r.permutes) v.a = m.add(r.lu, {n, n}, false);
    v.b = m.add(r.b, {n, r.right}, false), v.pivots = m.add(r.pivots, {n}, false);
    v.x = m.add(r.x, {n, r.right}, true);
    m.plan.note(static_cast<char>(r.adjoint + 2 * r.permutes + 4 * v.a_by_columns));
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
    v.transposes = r.how != 'N', v.a_by_columns = by_columns(r, r.a);
    v.a = m.add(r.a, {n, n}, false), v.b = m.add(r.b, {n, r.right}, false), v.x = m.add(r.x, {n, r.right}, true);
    m.plan.note(static_cast<char>((r.how != 'N') + 2 * r.upper + 4 * r.unit + 8 * v.a_by_columns));
    solve_small(m, r, v, r.a.dtype, [&](Small& s) { return triangular_text(s, v, r); });
  });
}

}  // namespace tern::detail_gpu
