// Batches of small real matrices on GPUs: a matrix in a workgroup's memory, or several, and a thread for each of its
// rows.
//
//   global → ┌───────────┐ a step for each column, two or three barriers → global
//            │ a   b     │ thread r computes row r; an odd pitch keeps
//            └───────────┘ rows in different banks
//
// Bound by the latency of the steps, which workgroups of 32 threads hide from each other; memory is read once and
// written once. A right-hand side of many columns is cut among workgroups, each of which reads the factors.
#include "primitives/linalg/gpu_library.hpp"
#include "primitives/linalg/gpu_small.hpp"

namespace tern::detail_gpu {

namespace {

constexpr int kColumnsOfGroup = 32;  // of a right-hand side in a workgroup

/// Row by row with what is to the left of column k (Cholesky-Crout): two barriers for a column.
std::string cholesky_text(Small& s, int input, int factor, int status) {
  const int n = s.rows;
  const auto a = [&](const char* i, const char* j) { return s.at("a", n, n, i, j); };
  s.add("a", n, n);
  std::string body = s.begin("group") + s.not_finite();
  body += s.load(input, "a", n, n, u(n), "0u", s.check_finite("j <= i && ")) + s.all_finite();
  body +=
      cat("var root = ", s.number("0.0"), ";\nfor (var k = 0u; k < ", u(n), "; k += 1u) {\n  if (r >= k && r < ", u(n),
          ") {\n    var left = ", a("r", "k"), ";\n    for (var j = 0u; j < k; j += 1u) { left -= ", a("r", "j"), " * ",
          a("k", "j"), "; }\n    ", a("r", "k"), " = left;\n  }\n  ", s.barrier());
  body += cat("  let pivot = ", a("k", "k"), ";\n  if (!(pivot > ", s.number("0.0"),
              ") && status == 0) { status = i32(k) + 1; }\n  let square = ", s.elementary(Elementary::sqrt, "pivot"),
              ";\n  if (r == k) { root = square; }\n  if (r > k && r < ", u(n), ") { ", a("r", "k"), " = ", a("r", "k"),
              " / square; }\n  ", s.barrier(), "}\n");
  body += cat("if (r < ", u(n), ") {\n  ", a("r", "r"), " = root;\n  for (var j = r + 1u; j < ", u(n), "; j += 1u) { ",
              a("r", "j"), " = ", s.number("0.0"), "; }\n}\n", s.barrier());
  body += s.store(factor, "a", n, n, u(n), "0u") + s.finish(status);
  return s.plan.module("cholesky of small matrices", body, s.shared);
}

/// By columns, to the right of which all rows are updated: three barriers for a column. A factor is 1 or -1 exactly
/// where it should be, which WGSL's division (2.5 ulp) need not give: else equal rows would not be found singular.
std::string lu_text(Small& s, int columns, int input, int factors, int pivots, int status) {
  const int m = s.rows, n = columns, least = std::min(m, n);
  const auto a = [&](const char* i, const char* j) { return s.at("a", m, n, i, j); };
  s.add("a", m, n);
  std::string body = s.begin("group") + s.not_finite();
  body += s.load(input, "a", m, n, u(n), "0u", s.check_finite()) + s.all_finite();
  std::string step =
      cat("var best = ", s.elementary(Elementary::abs, a("k", "k")), ";\nvar row = k;\nfor (var i = k + 1u; i < ", u(m),
          "; i += 1u) {\n  let size = ", s.elementary(Elementary::abs, a("i", "k")),
          ";\n  if (size > best) {\n    best = size;\n    row = i;\n  }\n}\n", s.barrier());
  step += cat("if (row != k) {\n  for (var j = r; j < ", u(n), "; j += ", u(s.threads),
              ") {\n    let kept = ", a("k", "j"), ";\n    ", a("k", "j"), " = ", a("row", "j"), ";\n    ",
              a("row", "j"), " = kept;\n  }\n}\nif (inside && r == 0u) {\n",
              indented(cat("let place = i32(row);\n", s.io.store(pivots, s.plan.at(s.matrix, "k"), {"place"}, ""))),
              "}\n", s.barrier());
  step += cat("let pivot = ", a("k", "k"), ";\nif (pivot == ", s.number("0.0"),
              ") {\n  if (status == 0) { status = i32(k) + 1; }\n} else if (r > k && r < ", u(m),
              ") {\n  let x = ", a("r", "k"), ";\n  let one = select(", s.number("-1.0"), ", ", s.number("1.0"),
              ", x == pivot);\n  let factor = select(x / pivot, one, x == pivot || x == -pivot);\n  ", a("r", "k"),
              " = factor;\n  for (var j = k + 1u; j < ", u(n), "; j += 1u) { ", a("r", "j"), " -= factor * ",
              a("k", "j"), "; }\n}\n", s.barrier());
  body += cat("for (var k = 0u; k < ", u(least), "; k += 1u) {\n", indented(step), "}\n");
  body += s.store(factors, "a", m, n, u(n), "0u") + s.finish(status);
  return s.plan.module("lu of small matrices", body, s.shared);
}

/// b = T⁻¹·b, a barrier for a row.
std::string triangle(const Small& s, bool lower, bool transposes, bool unit) {
  const int n = s.rows;
  const auto b = [&](const char* i) { return s.at("b", n, kColumnsOfGroup, i, "j"); };
  const std::string row = transposes ? s.at("a", n, n, "k", "r") : s.at("a", n, n, "r", "k");
  std::string step = cat("let k = ", lower ? "s" : cat(u(n - 1), " - s"), ";\n");
  if (!unit)
    step += cat("if (r == k) {\n  let pivot = ", s.at("a", n, n, "k", "k"),
                ";\n  for (var j = 0u; j < width; j += 1u) { ", b("k"), " = ", b("k"), " / pivot; }\n}\n");
  step += cat(s.barrier(), "if (r ", lower ? ">" : "<", " k && r < ", u(n), ") {\n  let factor = ", row,
              ";\n  for (var j = 0u; j < width; j += 1u) { ", b("r"), " -= factor * ", b("k"), "; }\n}\n");
  return cat("for (var s = 0u; s < ", u(n), "; s += 1u) {\n", indented(step), "}\n", s.barrier());
}
/// The columns of a workgroup: group = matrices · parts + part.
std::string columns_of(const Small& s, int right_slot, int parts_slot) {
  const Dialect& d = s.plan.backend.dialect();
  return cat("let block = group / ", d.param(parts_slot), ";\nlet first = (group - block * ", d.param(parts_slot),
             ") * ", u(kColumnsOfGroup), ";\nlet width = min(", u(kColumnsOfGroup), ", ", d.param(right_slot),
             " - first);\n");
}
std::string exchanged(const Small& s, bool back) {
  const int n = s.rows;
  const std::string k = s.at("b", n, kColumnsOfGroup, "k", "j"), row = s.at("b", n, kColumnsOfGroup, "row", "j");
  return cat("for (var j = r; j < width; j += ", u(s.threads), ") {\n  for (var s = 0u; s < ", u(n),
             "; s += 1u) {\n    let k = ", back ? cat(u(n - 1), " - s") : "s", ";\n    let row = places[own * ", u(n),
             " + k];\n    let kept = ", k, ";\n    ", k, " = ", row, ";\n    ", row, " = kept;\n  }\n}\n", s.barrier());
}

/// What solves: a matrix (or none), a right-hand side, and where it goes.
struct RightHandSides {
  int a = -1, b = -1, x = -1, pivots = -1, right_slot = -1, parts_slot = -1;
};
std::string load_sides(Small& s, const RightHandSides& v) {
  const int n = s.rows;
  s.add("b", n, kColumnsOfGroup);
  std::string body = columns_of(s, v.right_slot, v.parts_slot) + s.begin("block");
  if (v.a >= 0) s.add("a", n, n), body += s.load(v.a, "a", n, n, u(n), "0u");
  return body + s.load(v.b, "b", n, kColumnsOfGroup, "width", "first");
}
std::string triangular_text(Small& s, const RightHandSides& v, const detail::TriangularRequest& r) {
  const bool transposes = r.how != 'N';
  std::string body = load_sides(s, v) + s.barrier() + triangle(s, r.upper == transposes, transposes, r.unit);
  body += s.store(v.x, "b", s.rows, kColumnsOfGroup, "width", "first");
  return s.plan.module("triangles of small matrices", body, s.shared);
}
std::string lu_solve_text(Small& s, const RightHandSides& v, const detail::LuSolveRequest& r) {
  const int n = s.rows;
  std::string body = load_sides(s, v);
  s.shared.push_back({"u32", "places", s.per * n});
  std::vector<std::string> values;
  const std::string place = s.io.load(v.pivots, s.plan.at(s.matrix, "r"), values);
  body += cat("if (r < ", u(n), ") {\n  var place = 0;\n  if (inside) {\n",
              indented(indented(cat(place, "place = ", values[0], ";\n"))), "  }\n  places[own * ", u(n),
              " + r] = u32(clamp(place, 0, ", n - 1, "));\n}\n", s.barrier());
  if (!r.adjoint) body += exchanged(s, false);
  if (!r.permutes) body += triangle(s, true, r.adjoint, !r.adjoint) + triangle(s, false, r.adjoint, r.adjoint);
  if (r.adjoint) body += exchanged(s, true);
  body += s.store(v.x, "b", n, kColumnsOfGroup, "width", "first");
  return s.plan.module("solutions of small matrices", body, s.shared);
}

}  // namespace

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
