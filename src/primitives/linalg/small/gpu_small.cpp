// Factors of batches of small real matrices on GPUs, and solutions for few sides: a matrix in a workgroup's memory, or
// several, and a thread for each of its rows. small_cholesky.wgsl and small_lu.wgsl say how.
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
constexpr const char* kFactorPieces =
#include "primitives/linalg/small/small_factor_pieces.wgsl.inc"
    ;
/// The holes of what factorises.
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
/// The row of the pivot, written by its thread and taken from the rows that wait, which move one to the left.
void add_line(Holes& holes, Small& s, int n) {
  const Vectors vectors{s.plan.backend.dialect(), s.type == ComputeType::f64};
  const int lines = static_cast<int>(ceil_div(n, vectors.wide()));
  s.shared.push_back({vectors.type(), "line", s.per * lines});
  holes["lines"] = cat(lines), holes["moved_left"] = "";
  for (int q = 0; q < lines; ++q) {
    std::vector<std::string> values;
    for (int j = q * vectors.wide(); j < (q + 1) * vectors.wide(); ++j)
      values.push_back(j < n ? cat("y", j) : s.number("0.0"));
    const std::string at = cat("line[own * ", u(lines), " + ", u(q), "]");
    holes["write_line"] += cat(at, " = ", vectors.dialect.construct(vectors.type(), values), ";\n");
    holes["moved_left"] += cat("let line", q, " = ", at, ";\n");
    for (int j = std::max(q * vectors.wide(), 1); j < std::min(n, (q + 1) * vectors.wide()); ++j)
      holes["moved_left"] += cat("y", j - 1, " = fma(-factor, ", vectors.element("line", j), ", y", j, ");\n");
  }
}
/// What is factorised, accesses of the plan, and for how many sides.
struct Factorised {
  int columns = 0, sides = 0;
  int input = -1, factors = -1, pivots = -1, status = -1, b = -1, x = -1;
  bool kept = true, input_by_columns = false, factors_by_columns = false;
};
/// How the row of the pivot is found: by lanes, in a subgroup, or in memory.
void add_search(Holes& holes, Small& s, bool in_subgroup) {
  const bool in_lanes = s.plan.backend.dialect().native();
  if (in_lanes) holes["comparisons"] = comparisons(s);
  else s.shared.push_back({compute_type_name(s.type), "sizes", kWidth});
  holes["between"] = in_lanes ? s.barrier() : "", holes["width"] = cat(kWidth);
  holes["find_pivot"] = in_lanes      ? "$find_in_lanes\n"
                        : in_subgroup ? "$find_in_subgroup\n"
                                      : "$find_in_memory\nlet row = found;\n";
  if (!in_subgroup) holes["look_at_lanes"] = "";
}
/// The right-hand sides, in registers behind a row's, and the steps that solve for them.
void add_sides(Holes& holes, Small& s, const Factorised& f) {
  if (f.sides > 0) s.shared.push_back({compute_type_name(s.type), "known", s.per * s.rows * f.sides});
  holes["sides"] = numbers(0, f.sides), holes["load_sides"] = holes["solve"] = "";
  holes["known"] = cat("(own * ", u(s.rows), " + ", kFirst, ") * ", u(f.sides), " + ", kSecond);
  if (f.sides == 0) return;
  for (int q = 0; q < f.sides; ++q) {
    const Position at = s.plan.at(s.matrix, "r", u(q));
    std::vector<std::string> values;
    std::string load = s.io.load(f.b, at, values);
    load += cat("y", f.columns + q, " = ", values[0], ";\n");
    holes["load_sides"] += cat("if (inside) {\n", indented(load), "}\n");
    const std::string store = cat("let x = known[$known(r, ", u(q), ")];\n", s.io.store(f.x, at, {"x"}, ""));
    holes["store_sides"] += cat("if (inside && r < ", u(s.rows), ") {\n", indented(store), "}\n");
  }
  for (int c = f.columns; c-- > 0;) {
    holes["solve"] += cat("$solve_row(", c, ", y", f.sides + c, ")\n");
    if (c > 0) holes["solve"] += cat("$take_row(", c, ", y", f.sides + c, ")\n");
  }
  holes["solve"] += "$store_sides";
}
std::string lu_text(Small& s, const Factorised& f, bool in_subgroup) {
  const int m = s.rows, n = f.columns, least = std::min(m, n), all = n + f.sides;
  Holes holes = factoring_holes(s, n, f.input, "", f.input_by_columns);
  add_line(holes, s, all), add_search(holes, s, in_subgroup), add_sides(holes, s, f);
  holes["m"] = cat(m), holes["least"] = cat(least), holes["last"] = cat(all - 1);
  holes["column_of"] = cat("(", kFirst, " + ", u(least), ") % ", u(all));  // a register's, after all turns
  holes["columns"] = numbers(0, n), holes["registers"] = numbers(0, all), holes["factors"] = numbers(f.sides, all);
  holes["largest"] = s.type == ComputeType::f64 ? "1.7e308" : "3.4e38";
  holes["abs"] = s.elementary(Elementary::abs, kFirst);
  if (!f.kept) holes["keep_pivot"] = holes["keep_factor"] = holes["keep_factors"] = "";
  if (f.kept) holes["store_pivot"] = s.io.store(f.pivots, s.plan.at(s.matrix, "k"), {"exchanged"}, "");
  if (f.kept) holes["store"] = s.store(f.factors, "a", m, n, u(n), "0u", f.factors_by_columns);
  holes["finish"] = s.finish(f.status);
  const char* const title = f.sides > 0    ? "equations of small matrices"
                            : in_subgroup ? "lu of small matrices, in a subgroup"
                                          : "lu of small matrices";
  return s.plan.module(title, fill_holes(kSmallLu, holes), s.shared, "", in_subgroup);
}

}  // namespace

Holes holes_of_small(Small& s, int columns, const std::string& group) {
  Holes holes = pieces(kFactorPieces);
  holes["type"] = compute_type_name(s.type), holes["barrier"] = s.barrier();
  holes["n"] = cat(columns), holes["threads"] = cat(s.threads);
  holes["begin"] = s.begin(group);
  holes["at"] = s.index_of("a", s.rows, columns, kFirst, kSecond);
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
  const bool small = goes_small(backend, r, r.input.dtype);
  if (r.b.storage && !(small && few_sides(r.right, threads_for(r.rows())))) {
    detail::LuRequest factors = r;
    factors.b = factors.x = View(), factors.right = 0, factors.kept = true;
    return lu_on_gpu(backend, factors), lu_solve_on_gpu(backend, detail::solution_of(r));
  }
  if (!small) return without_kernel(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan m(backend, r, 'L');
    const int rows = static_cast<int>(r.rows()), threads = threads_for(rows);
    Factorised f;
    f.columns = static_cast<int>(r.columns()), f.sides = static_cast<int>(r.right), f.kept = r.kept;
    f.input_by_columns = by_columns(r, r.input), f.factors_by_columns = by_columns(r, r.lu);
    f.input = m.add(r.input, {rows, f.columns}, false);
    if (f.kept) f.factors = m.add(r.lu, {rows, f.columns}, true), f.pivots = m.add(r.pivots, {r.least()}, true);
    if (f.sides > 0) f.b = m.add(r.b, {rows, r.right}, false), f.x = m.add(r.x, {rows, r.right}, true);
    f.status = r.status.storage ? m.add(r.status, {}, true) : -1;
    if (r.checked) m.note_failures(PrimitiveId::lu);
    tell(kWidth / threads);
    const bool in_subgroup = backend.limits().subgroups && threads == kWidth;
    m.plan.note(r.rows()), m.plan.note(r.columns()), m.plan.note(r.right);
    m.plan.note(static_cast<char>(f.input_by_columns + 2 * f.factors_by_columns + 4 * f.kept));
    m.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kWidth / threads)), kWidth, [&] {
      Small s(m, r.input.dtype, rows, threads);
      return lu_text(s, f, in_subgroup);
    });
  });
}

}  // namespace tern::detail_gpu
