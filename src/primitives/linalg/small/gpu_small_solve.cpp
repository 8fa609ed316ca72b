// What solves with small triangular matrices on GPUs, and with LU's: a thread has a column of the right-hand side in
// registers, and of few columns a row. small_solve.wgsl says how; right-hand sides of many columns are cut among
// workgroups.
#include <set>

#include "primitives/linalg/library/gpu_library.hpp"
#include "primitives/linalg/small/gpu_small.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kSmallSolve =
#include "primitives/linalg/small/small_solve.wgsl.inc"
    ;
constexpr int kColumnsOfGroup = 32;  // of a right-hand side in a workgroup

/// What solves: a matrix (or none), a right-hand side, and where it goes.
struct RightHandSides {
  int a = -1, b = -1, x = -1, pivots = -1, right_slot = -1, parts_slot = -1;
  bool transposes = false, a_by_columns = false;
  bool few = false;  // columns, so that threads have rows
};

/// NVRTC would load all of a before the loop over columns: with 32 rows 3.5 KB of them spilled, and triangles took 332
/// us instead of 43 (10,000 of 32 rows, H200, 29 November 2026). Between blocks it halves what f64 takes to compile.
std::string no_loads_across(const Small& s) {
  return s.plan.backend.dialect().native() ? "asm volatile(\"\" ::: \"memory\");\n" : "";
}
/// Statements that solve with a triangle of `a` for y0, y1, … of a thread's own, by blocks of four columns: within a
/// block one after the other, then what is behind it by multiply-adds that need not wait for each other. Elements are
/// loaded 16 bytes at a time, each once.
class Elimination {
 public:
  Elimination(const Small& s, bool transposes, std::string prefix)
      : s_(s),
        vectors_{s.plan.backend.dialect(), s.type == ComputeType::f64},
        transposes_(transposes),
        prefix_(std::move(prefix)) {}

  std::string text(bool lower, bool unit) {
    const int n = s_.rows;
    const auto row = [&](int k) { return lower ? k : n - 1 - k; };  // the k-th that becomes known
    for (int step = 0, end = 0; step < n; step = end) {
      // Blocks begin at multiples of their size, so of an upper triangle the first may have fewer.
      end = std::min(step + (lower || step > 0 || n % kBlock == 0 ? kBlock : n % kBlock), n);
      for (int p = step; p < end; ++p) {
        if (!unit) text_ += cat("y", row(p), " = y", row(p), " / ", element(row(p), row(p)), ";\n");
        for (int q = p + 1; q < end; ++q) take(row(q), row(p));
      }
      for (int q = end; q < n; ++q)
        for (int p = step; p < end; ++p) take(row(q), row(p));
      text_ += no_loads_across(s_);
    }
    return std::move(text_);
  }

 private:
  static constexpr int kBlock = 4;
  /// y_i less element (i, k) of what is solved with times y_k.
  void take(int i, int k) {
    const std::string factor = element(i, k);
    text_ += cat("y", i, " = fma(-", factor, ", y", k, ", y", i, ");\n");
  }
  /// Element (i, j) of what is solved with, loaded before where it is not yet.
  std::string element(int i, int j) {
    const int row = transposes_ ? j : i, column = transposes_ ? i : j, wide = vectors_.wide();
    const std::string of_row = cat(prefix_, row, "_");
    if (loaded_.emplace(row, column / wide).second)
      text_ += cat("let ", of_row, column / wide, " = ",
                   s_.four_at(u(row), u(column - column % wide), vectors_.type()), ";\n");
    return vectors_.element(of_row, column);
  }

  const Small& s_;
  Vectors vectors_;
  bool transposes_;
  std::string prefix_, text_;
  std::set<std::pair<int, int>> loaded_;
};

/// Of few columns, by all threads (small_factor_pieces.wgsl).
std::string eliminate_few(const Small& s, bool lower, bool unit) {
  return cat("$eliminate(", lower ? "s, >, " : cat(u(s.rows - 1), " - s, <, "), unit ? "false" : "true", ")\n");
}
std::string exchange_few(const Small& s, bool back) {
  return cat("$exchange_rows(", back ? cat(u(s.rows - 1), " - s") : "s", ")\n");
}
/// A thread's columns c through `steps`: y_i comes from b's row from_row(i) and goes to x's row to_row(i).
template <class From, class To>
std::string in_registers(Small& s, const RightHandSides& v, const std::string& steps, const From& from_row,
                         const To& to_row) {
  std::string load, store;
  for (int i = 0; i < s.rows; ++i) {  // by blocks, as they name what they load alike
    std::vector<std::string> values;
    std::string one = s.io.load(v.b, s.plan.at(s.matrix, from_row(i), "(first + c)"), values);
    one += cat("y", i, " = ", values[0], ";\n");
    load += cat("var y", i, " = $type(0.0);\n{\n", indented(one), "}\n");
    store += cat("{\n", indented(s.io.store(v.x, s.plan.at(s.matrix, to_row(i), "(first + c)"), {cat("y", i)}, "")),
                 "}\n");
  }
  const std::string column = cat("for (var c = r; c < width; c += ${threads}u) {\n",
                                 indented(no_loads_across(s) + load + steps + store), "}\n");
  return cat("if (inside) {\n", indented(column), "}\n");
}
Holes solving_holes(Small& s, const RightHandSides& v) {
  const Dialect& d = s.plan.backend.dialect();
  const int n = s.rows, pitch = Small::pitch(kColumnsOfGroup);
  if (!v.few) s.by_fours = "a";
  Holes holes = holes_of_small(s, n, "block");
  holes["part"] = cat(kColumnsOfGroup);
  holes["element"] = cat("a[$at(", v.transposes ? "${1}, ${0}" : "${0}, ${1}", ")]");
  holes["load_a"] = holes["load_b"] = holes["load_exchanges"] = holes["store"] = "";
  holes["right"] = d.param(v.right_slot), holes["parts"] = d.param(v.parts_slot);
  holes["side"] = cat("own * ", u(n * pitch), " + (", kFirst, ") * ", u(pitch), " + ", kSecond);
  if (v.a >= 0) s.add("a", n, n), holes["load_a"] = s.load(v.a, "a", n, n, u(n), "0u", "", v.a_by_columns);
  if (!v.few) return holes;
  s.add("b", n, kColumnsOfGroup);
  holes["load_b"] = s.load(v.b, "b", n, kColumnsOfGroup, "width", "first");
  holes["store"] = cat("$barrier\n", s.store(v.x, "b", n, kColumnsOfGroup, "width", "first"));
  return holes;
}
std::string triangular_text(Small& s, RightHandSides v, const detail::TriangularRequest& r) {
  if (s.rows == 1 && r.unit) v.a = -1;  // nothing of it is read
  Holes holes = solving_holes(s, v);
  const bool lower = r.upper == v.transposes;
  const auto as_it_is = [](int i) { return u(i); };
  holes["solution"] = v.few ? eliminate_few(s, lower, r.unit)
                            : in_registers(s, v, Elimination(s, v.transposes, "a").text(lower, r.unit), as_it_is,
                                           as_it_is);
  return s.plan.module(v.few ? "triangles of few sides" : "triangles of small matrices", fill_holes(kSmallSolve, holes),
                       s.shared);
}
std::string lu_solve_text(Small& s, const RightHandSides& v, const detail::LuSolveRequest& r) {
  Holes holes = solving_holes(s, v);
  s.shared.push_back({"u32", "places", s.per * s.rows});
  std::vector<std::string> values;
  holes["load_pivot"] = s.io.load(v.pivots, s.plan.at(s.matrix, "r"), values), holes["pivot"] = values[0];
  holes["last"] = cat(s.rows - 1), holes["load_exchanges"] = v.few ? "$load_places\n" : "$load_order\n";
  std::string steps = v.few && !r.adjoint ? exchange_few(s, false) : "";
  for (const bool lower : {true, false}) {
    const bool unit = lower != r.adjoint;
    if (r.permutes) break;
    steps += v.few ? eliminate_few(s, lower, unit) : Elimination(s, v.transposes, lower ? "l" : "u").text(lower, unit);
  }
  if (v.few && r.adjoint) steps += exchange_few(s, true);
  const auto row = [&](bool exchanged) {
    return [&s, exchanged](int i) { return exchanged ? cat("places[own * ", u(s.rows), " + ", u(i), "]") : u(i); };
  };
  holes["solution"] = v.few ? steps : in_registers(s, v, steps, row(!r.adjoint), row(r.adjoint));
  return s.plan.module(v.few ? "solutions of few sides" : "solutions of small matrices",
                       fill_holes(kSmallSolve, holes), s.shared);
}

/// Launches what solves with n × n matrices for `right` columns.
template <class R, class Text>
void solve_small(MatrixPlan& m, const R& r, RightHandSides& v, DType dtype, const Text& text) {
  const std::int64_t parts = ceil_div(r.right, kColumnsOfGroup);
  v.right_slot = m.plan.add_param(static_cast<std::uint64_t>(r.right));
  v.parts_slot = m.plan.add_param(static_cast<std::uint64_t>(parts));
  const int threads = threads_for(r.rows());
  // 10,000 vectors of 32 rows took 166 us instead of 181 with LU before, but through WebGPU 480 instead of 410, where
  // barriers cost more (H200, 29 November 2026).
  v.few = m.backend.dialect().native() && few_sides(r.right, threads), m.plan.note(v.few);
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
