#include "primitives/linalg/gpu_columns.hpp"

namespace tern::detail_gpu {

namespace {

constexpr int kThreads = 256;

/// The matrix, row and column of a launch's element: of `rows` × `columns` each, which are parameters.
struct Elements {
  MatrixPlan plan;
  Io io;
  int rows_slot, columns_slot, rank;
  std::vector<std::string> matrix = {};
  Elements(GpuBackend& backend, const detail::MatrixRequest& r, char kind, std::int64_t rows, std::int64_t columns)
      : plan(backend, r, kind), io(plan.plan, backend.dialect()), rank(r.batch().rank()) {
    rows_slot = plan.plan.add_param(static_cast<std::uint64_t>(rows));
    columns_slot = plan.plan.add_param(static_cast<std::uint64_t>(columns));
  }
  std::string p(int slot) const { return plan.backend.dialect().param(slot); }
  /// A view of matrices, or of vectors.
  int add(const View& v, std::int64_t rows, std::int64_t columns, bool written) {
    const bool vectors = static_cast<int>(v.strides.size()) == rank + 1;
    return vectors ? plan.add(v, {rows}, written) : plan.add(v, {rows, columns}, written);
  }
  /// An invocation to each element: `inside` sees matrix, i and j.
  void launch(std::int64_t elements, const std::function<std::string()>& inside, const char* title) {
    plan.launch(static_cast<std::uint64_t>(ceil_div(elements, kThreads)), kThreads, [&] {
      std::string body = cat("let e = group * ", kThreads, "u + thread;\nlet row = e / ", p(columns_slot),
                             ";\nlet j = e - row * ", p(columns_slot), ";\nlet matrix = row / ", p(rows_slot),
                             ";\nlet i = row - matrix * ", p(rows_slot), ";\n");
      std::string work = io.coordinates(plan.batch, "matrix", "c", matrix);
      work += inside();
      body += cat("if (matrix < ", plan.count(), ") {\n", indented(work), "}\n");
      return plan.module(title, body, {});
    });
  }
};

/// x · 2^by, in two steps, as by may be beyond the exponents of f32 or f64; exact, but for subnormal results.
std::string times_power(ComputeType type, const std::string& x, const std::string& by) {
  const bool wide = type == ComputeType::f64;
  const auto power = [&](const char* exponent) {
    return wide ? cat("bitcast<f64>(u64(", exponent, " + 1023) << 52u)")
                : cat("bitcast<f32>(u32(", exponent, " + 127) << 23u)");
  };
  return cat("let half = (", by, ") / 2;\nlet other_half = (", by, ") - half;\n", x, " = ", x, " * ", power("half"),
             " * ", power("other_half"), ";\n");
}

void move_numbers(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to,
                  std::int64_t rows, std::int64_t columns, const Move& how, bool imaginary) {
  Elements e(backend, r, '1', rows, columns);
  const int source = e.add(from, rows, columns, false), target = e.add(to, rows, columns, true);
  e.plan.plan.note(how.part);
  const int powers = how.powers ? e.add(*how.powers, rows, columns, false) : -1;
  const int bad = how.bad ? e.plan.add(*how.bad, {1, 1}, false) : -1;
  e.plan.plan.note(static_cast<char>(how.ones + 2 * (how.conjugate && imaginary) + 4 * how.finite + 8 * imaginary +
                                     16 * (powers >= 0) + 32 * how.divided + 64 * (bad >= 0)));
  e.launch(
      r.count() * rows * columns,
      [&] {
        const ComputeType type = compute_type(to.dtype);
        const std::string zero = cat(compute_type_name(type), "(0.0)");
        std::vector<std::string> values;
        std::string text = e.io.load(source, e.plan.at(e.matrix, "i", "j"), values);
        text += cat("var x = ", how.conjugate && imaginary ? "-" : "", values[0], ";\n");
        if (bad >= 0) {
          std::vector<std::string> is_bad;
          text += e.io.load(bad, e.plan.at(e.matrix), is_bad);
          text += cat("if (", is_bad[0], " != 0) { x = ",
                      type == ComputeType::f64 ? "bitcast<f64>(0x7ff8000000000000ull)" : "bitcast<f32>(0x7fc00000u)",
                      "; }\n");
        }
        const char* const outside[] = {"", "j > i", "j < i", "j != i"};
        if (how.part != PartOfMatrix::all)
          text += cat("if (", outside[static_cast<int>(how.part)], ") { x = ", zero, "; }\n");
        if (how.ones)
          text += cat("if (i == j) { x = ", imaginary ? zero : cat(compute_type_name(type), "(1.0)"), "; }\n");
        if (how.finite)
          text += cat("if (!(", backend.dialect().elementary(detail::Elementary::isfinite, type, {"x"}),
                      ")) { x = ", zero, "; }\n");
        if (powers >= 0) {
          std::vector<std::string> by;
          text += e.io.load(powers, e.plan.at(e.matrix, "i", "j"), by);
          text += times_power(type, "x", how.divided ? cat("-", by[0]) : by[0]);
        }
        return text + e.io.store(target, e.plan.at(e.matrix, "i", "j"), {"x"}, "");
      },
      "matrices, moved");
}

}  // namespace

void move(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to, std::int64_t rows,
          std::int64_t columns, const Move& how) {
  if (rows == 0 || columns == 0) return;
  for (int part = 0; part < parts_of_numbers(from); ++part)
    move_numbers(backend, r, real_view(from, part), real_view(to, part), rows, columns, how, part == 1);
}
void move_pivots(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to,
                 std::int64_t count) {
  const bool to_library = to.dtype == DType::i64;
  Elements e(backend, r, '2', count, 1);
  const int source = from.storage ? e.add(from, count, 1, false) : -1, target = e.add(to, count, 1, true);
  e.plan.plan.note(static_cast<char>(to_library + 2 * (source >= 0)));
  e.launch(
      r.count() * count,
      [&] {
        std::vector<std::string> values{"i"};
        std::string text = source >= 0 ? e.io.load(source, e.plan.at(e.matrix, "i", "j"), values) : std::string();
        if (!to_library) text += cat("let place = i32(", values[0], ") - 1;\n");
        else  // the library takes them as they are
          text += cat("let place = i64(clamp(i32(", values[0], "), 0, i32(", e.p(e.rows_slot), ") - 1)) + 1;\n");
        return text + e.io.store(target, e.plan.at(e.matrix, "i", "j"), {"place"}, "");
      },
      "matrices, pivots");
}

namespace {

/// Parameters: rows of a matrix, columns that have a power together, and how many such there are in a matrix.
struct Sizes {
  std::string rows, width, pieces;
};
int least_exponent(ComputeType type) { return type == ComputeType::f64 ? 0 : 40; }
/// by, of `largest`; a subnormal number is a count of the least ones.
std::string exponent(ComputeType type) {
  const bool wide = type == ComputeType::f64;
  const std::string bits = wide ? "bitcast<u64>" : "bitcast<u32>", places = wide ? "52u" : "23u";
  return cat("let count = ", bits, "(largest);\nlet subnormal = i32(count >> ", places, ") == 0;\nlet size = ", bits,
             "(select(largest, ", compute_type_name(type), "(count), subnormal));\nlet by = select(",
             least_exponent(type), " - i32(size >> ", places, ") + select(", wide ? "1023, 2097" : "127, 276",
             ", subnormal), 0, largest == ", compute_type_name(type), "(0.0));\n");
}
std::string powers_text(MatrixPlan& plan, const std::vector<int>& parts, int to, ComputeType type, bool lower,
                        const Sizes& sizes) {
  const Dialect& d = plan.backend.dialect();
  Io io(plan.plan, d);
  const std::string real = compute_type_name(type);
  std::vector<std::string> matrix;
  std::string body = cat("let matrix = group / ", sizes.pieces, ";\nlet piece = group - matrix * ", sizes.pieces, ";\n",
                         io.coordinates(plan.batch, "matrix", "c", matrix));
  std::string look;
  for (const int part : parts) {
    std::vector<std::string> x;
    look += io.load(part, plan.at(matrix, "i", "j"), x);
    look += cat("if (", d.elementary(Elementary::isfinite, type, {x[0]}), ") { largest = max(largest, ",
                d.elementary(Elementary::abs, type, {x[0]}), "); }\n");
  }
  if (lower) look = cat("if (j <= i) {\n", indented(look), "}\n");
  body += cat("var largest = ", real, "(0.0);\nfor (var e = thread; e < ", sizes.rows, " * ", sizes.width,
              "; e += ", kThreads, "u) {\n  let i = e / ", sizes.width, ";\n  let j = piece + e - i * ", sizes.width,
              ";\n", indented(look), "}\nseen[thread] = largest;\n", d.barrier());
  std::string last = cat("for (var k = 0u; k < ", kThreads, "u; k += 1u) { largest = max(largest, seen[k]); }\n");
  last += exponent(type);
  last += io.store(to, plan.at(matrix, "0u", "piece"), {"by"}, "");
  body += cat("if (thread == 0u && matrix < ", plan.count(), ") {\n", indented(last), "}\n");
  return plan.module("matrices, powers", body, {{real, "seen", kThreads}});
}

}  // namespace

Powers::Powers(GpuBackend& backend, const detail::MatrixRequest& r, const View& a, bool lower, bool by_columns)
    : exponents_(backend, r, 1, by_columns ? r.columns() : 1, DType::i32), view(exponents_.view) {
  const std::size_t rank = view.strides.size();
  view.strides[rank - 2] = 0;
  if (!by_columns) view.strides[rank - 1] = 0;
  MatrixPlan plan(backend, r, '5');
  std::vector<int> parts;
  for (int part = 0; part < parts_of_numbers(a); ++part)
    parts.push_back(plan.add(real_view(a, part), {r.rows(), r.columns()}, false));
  const std::int64_t each = by_columns ? r.columns() : 1;
  const int to = plan.add(exponents_.view, {1, each}, true);
  const auto slot = [&](std::int64_t size) { return plan.plan.add_param(static_cast<std::uint64_t>(size)); };
  const int rows = slot(r.rows()), width = slot(by_columns ? 1 : r.columns()), pieces = slot(each);
  plan.plan.note(lower);
  plan.launch(static_cast<std::uint64_t>(r.count() * each), kThreads, [&] {
    const Dialect& d = backend.dialect();
    return powers_text(plan, parts, to, compute_type(real_dtype(a.dtype)), lower,
                       {d.param(rows), d.param(width), d.param(pieces)});
  });
}

}  // namespace tern::detail_gpu
