#include "primitives/linalg/gpu_columns.hpp"

namespace tern::detail_gpu {

namespace {

constexpr int kColumnThreads = 256;

/// The matrix, row and column of a launch's element: of `rows` × `columns` each, which are parameters.
struct Elements {
  MatrixPlan plan;
  Io io;
  int rows_slot, columns_slot, rank;
  std::int64_t count;
  std::vector<std::string> matrix = {};
  Elements(GpuBackend& backend, const detail::MatrixRequest& r, char kind, std::int64_t rows, std::int64_t columns)
      : plan(backend, r, kind), io(plan.plan, backend.dialect()), rank(r.batch().rank()), count(r.count()) {
    rows_slot = plan.plan.add_param(static_cast<std::uint64_t>(rows));
    columns_slot = plan.plan.add_param(static_cast<std::uint64_t>(columns));
  }
  std::string p(int slot) const { return plan.backend.dialect().param(slot); }
  /// A view of matrices, or of vectors.
  int add(const View& v, std::int64_t rows, std::int64_t columns, bool written) {
    const bool vectors = static_cast<int>(v.strides.size()) == rank + 1;
    return vectors ? plan.add(v, {rows}, written) : plan.add(v, {rows, columns}, written);
  }
  /// The same, of 8 rows and 32 columns a workgroup, 8 by 4 a warp: what lies by rows is read, and what lies by columns
  /// is written, in whole sectors of 32 bytes.
  void launch_tiles(std::int64_t rows, std::int64_t columns, const std::function<std::string()>& inside,
                    const char* title) {
    const std::int64_t down = ceil_div(rows, 8), across = ceil_div(columns, kColumnThreads / 8);
    const auto slot = [&](std::int64_t size) { return plan.plan.add_param(static_cast<std::uint64_t>(size)); };
    const int tiles = slot(down * across), row_of_tiles = slot(across);
    plan.launch(static_cast<std::uint64_t>(count * down * across), kColumnThreads, [&] {
      std::string body =
          cat("let matrix = group / ", p(tiles), ";\nlet tile = group - matrix * ", p(tiles), ";\nlet down = tile / ",
              p(row_of_tiles), ";\nlet i = down * 8u + thread % 8u;\n", "let j = (tile - down * ", p(row_of_tiles),
              ") * ", kColumnThreads / 8, "u + thread / 8u;\n");
      std::string work = io.coordinates(plan.batch, "matrix", "c", matrix);
      work += inside();
      body += cat("if (matrix < ", plan.count(), " && i < ", p(rows_slot), " && j < ", p(columns_slot), ") {\n",
                  indented(work), "}\n");
      return plan.module(title, body, {});
    });
  }
  /// An invocation to each element: `inside` sees matrix, i and j.
  void launch(std::int64_t elements, const std::function<std::string()>& inside, const char* title) {
    plan.launch(static_cast<std::uint64_t>(ceil_div(elements, kColumnThreads)), kColumnThreads, [&] {
      std::string body = cat("let e = group * ", kColumnThreads, "u + thread;\nlet row = e / ", p(columns_slot),
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
  const int places = how.places ? e.add(*how.places, rows, 1, false) : -1;
  const int finite = how.finite ? e.plan.add(*how.finite, {1, 1}, true) : -1;
  const auto by_rows = [&](const View& v) { return v.strides[v.strides.size() - 2] >= v.strides.back(); };
  const auto of_matrices = static_cast<std::size_t>(e.rank) + 2;
  const bool transposes = rows > 1 && columns > 1 && from.strides.size() == of_matrices &&
                          to.strides.size() == of_matrices && by_rows(from) != by_rows(to);
  e.plan.plan.note(transposes);
  e.plan.plan.note(static_cast<char>(how.ones + 2 * (how.conjugate && imaginary) + 4 * (finite >= 0) + 8 * imaginary +
                                     16 * (powers >= 0) + 32 * how.divided + 64 * (bad >= 0)));
  e.plan.plan.note(static_cast<char>((places >= 0) + 2 * how.root + 4 * how.kept));
  const auto text = [&] {
    const ComputeType type = compute_type(from.dtype);
    const std::string zero = cat(compute_type_name(type), "(0.0)");
    std::vector<std::string> place, values;
    std::string text = places >= 0 ? e.io.load(places, e.plan.at(e.matrix, "i"), place) : "";
    if (places >= 0) text += cat("let place = u32(", place[0], ");\n");
    text += e.io.load(source, e.plan.at(e.matrix, places >= 0 ? "place" : "i", "j"), values);
    text += cat("var x = ", how.conjugate && imaginary ? "-" : "", values[0], ";\n");
    if (bad >= 0) {
      std::vector<std::string> is_bad;
      text += e.io.load(bad, e.plan.at(e.matrix), is_bad);
      text +=
          cat("if (", is_bad[0], " != 0) { x = ",
              type == ComputeType::f64 ? "bitcast<f64>(0x7ff8000000000000ull)" : "bitcast<f32>(0x7fc00000u)", "; }\n");
    }
    const char* const outside[] = {"", "j > i", "j < i", "j != i"};
    if (how.part != PartOfMatrix::all)
      text += cat("if (", outside[static_cast<int>(how.part)], ") { x = ", zero, "; }\n");
    if (how.ones) text += cat("if (i == j) { x = ", imaginary ? zero : cat(compute_type_name(type), "(1.0)"), "; }\n");
    if (finite >= 0)
      text += cat("if (!(", backend.dialect().elementary(detail::Elementary::isfinite, type, {"x"}), ")) {\n",
                  how.kept ? std::string() : cat("  x = ", zero, ";\n"),
                  "  let status = -1;\n",  // by whoever meets one, all the same
                  indented(e.io.store(finite, e.plan.at(e.matrix), {"status"}, "")), "}\n");
    if (how.root)
      text += cat("if (x < ", zero, ") { x = ", zero,
                  "; }\nx = ", backend.dialect().elementary(detail::Elementary::sqrt, type, {"x"}), ";\n");
    if (powers >= 0) {
      std::vector<std::string> by;
      text += e.io.load(powers, e.plan.at(e.matrix, "i", "j"), by);
      text += times_power(type, "x", how.divided ? cat("-", by[0]) : by[0]);
    }
    const ComputeType wanted = compute_type(to.dtype);
    return text + e.io.store(target, e.plan.at(e.matrix, "i", "j"),
                             {wanted == type ? "x" : cat(compute_type_name(wanted), "(x)")}, "");
  };
  if (transposes) e.launch_tiles(rows, columns, text, "matrices, transposed");
  else e.launch(r.count() * rows * columns, text, "matrices, moved");
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
  Elements e(backend, r, '2', count, 1);
  const int source = e.add(from, count, 1, false), target = e.add(to, count, 1, true);
  e.launch(
      r.count() * count,
      [&] {
        std::vector<std::string> values;
        std::string text = e.io.load(source, e.plan.at(e.matrix, "i", "j"), values);
        text += cat("let place = i32(", values[0], ") - 1;\n");
        return text + e.io.store(target, e.plan.at(e.matrix, "i", "j"), {"place"}, "");
      },
      "matrices, pivots");
}

// Each row is followed back through the exchanges, all of which every invocation reads: 1024 of them one after the
// other, and no row of 1024 elements is moved for them. cuSOLVER's laswp takes 542 us for a matrix of 1024 x 1024, and
// of 16 columns 144 (f32, H200, 26 November 2026).
void find_places(GpuBackend& backend, const detail::MatrixRequest& r, const View& pivots, const View& to,
                 std::int64_t n, bool back) {
  Elements e(backend, r, '7', n, 1);
  const int source = e.add(pivots, n, 1, false), target = e.add(to, n, 1, true);
  e.plan.plan.note(back);
  e.launch(
      r.count() * n,
      [&] {
        const std::string rows = e.p(e.rows_slot);
        std::vector<std::string> values;
        std::string follow = cat("let k = ", back ? "step" : cat(rows, " - 1u - step"), ";\n");
        follow += e.io.load(source, e.plan.at(e.matrix, "k"), values);
        follow += cat("let other = clamp(i32(", values[0], "), 0, i32(", rows, ") - 1);\n");
        follow +=
            "let here = i32(k);\nlet at_here = place == here;\nlet at_other = place == other;\n"
            "place = select(select(place, here, at_other), other, at_here);\n";
        std::string text =
            cat("var place = i32(i);\nfor (var step = 0u; step < ", rows, "; step += 1u) {\n", indented(follow), "}\n");
        return text + e.io.store(target, e.plan.at(e.matrix, "i", "j"), {"place"}, "");
      },
      "matrices, places of rows");
}

void Addresses::take(GpuBackend& backend, const std::vector<void*>& list) {
  const std::size_t bytes = list.size() * sizeof(void*);
  storage_ = std::make_shared<Storage>(backend, std::max(bytes, sizeof(void*)));
  backend.upload(*storage_, 0, list.data(), bytes);
}
void** Addresses::get() const { return static_cast<void**>(storage_->data()); }

InColumns::InColumns(GpuBackend& backend, const detail::MatrixRequest& r, const View& v, std::int64_t rows,
                     std::int64_t columns)
    : bytes_(rows * columns * static_cast<std::int64_t>(dtype_size(v.dtype))) {
  const Shape sizes = r.results({columns, rows});
  std::int64_t step = 1;
  bool lies_so = true;
  const Strides strides = transposed(v).strides;
  for (int i = sizes.rank(); i-- > 0; step *= sizes[static_cast<std::size_t>(i)]) {
    const auto axis = static_cast<std::size_t>(i);
    lies_so = lies_so && (sizes[axis] == 1 || strides[axis] == step);
  }
  const auto size = static_cast<std::int64_t>(dtype_size(v.dtype));
  if (!lies_so) {
    copy_.emplace(backend, r, rows, columns, v.dtype);
    move(backend, r, v, copy_->view, rows, columns);
  }
  first_ = lies_so ? static_cast<const std::byte*>(v.storage->data()) + v.offset * size : copy_->at<std::byte>(0);
}

namespace {

/// A workgroup's part of a matrix: a column, or kAtOnce neighbours. Parameters: the size of a part, of a matrix, of a
/// row, and how many parts there are in a matrix.
struct Parts {
  bool columns;
  std::string each, all, width, count;
};
constexpr std::int64_t kAtOnce = 16 * kColumnThreads;

int least_exponent(DType dtype) { return real_dtype(dtype) == DType::f64 ? 0 : 40; }
/// by, of `largest`; a subnormal number is a count of the least ones.
std::string exponent(ComputeType type, int least) {
  const bool wide = type == ComputeType::f64;
  const std::string bits = wide ? "bitcast<u64>" : "bitcast<u32>", places = wide ? "52u" : "23u";
  return cat("let count = ", bits, "(largest);\nlet subnormal = i32(count >> ", places, ") == 0;\nlet size = ", bits,
             "(select(largest, ", compute_type_name(type), "(count), subnormal));\nlet by = select(", least,
             " - i32(size >> ", places, ") + select(", wide ? "1023, 2097" : "127, 276",
             ", subnormal), 0, largest == ", compute_type_name(type), "(0.0));\n");
}
/// The largest number of each part; or, of a part that is all of what has a power together, the power.
std::string largest_text(MatrixPlan& plan, const std::vector<int>& numbers, int to, ComputeType type, bool lower,
                         bool powers, int least, const Parts& parts) {
  const Dialect& d = plan.backend.dialect();
  Io io(plan.plan, d);
  const std::string real = compute_type_name(type);
  std::vector<std::string> matrix;
  std::string body = cat("let matrix = group / ", parts.count, ";\nlet part = group - matrix * ", parts.count, ";\n",
                         io.coordinates(plan.batch, "matrix", "c", matrix));
  std::string look;
  for (const int number : numbers) {
    std::vector<std::string> x;
    look += io.load(number, plan.at(matrix, "i", "j"), x);
    look += cat("if (", d.elementary(Elementary::isfinite, type, {x[0]}), ") { largest = max(largest, ",
                d.elementary(Elementary::abs, type, {x[0]}), "); }\n");
  }
  if (lower) look = cat("if (j <= i) {\n", indented(look), "}\n");
  const std::string at = parts.columns ? "let i = e;\nlet j = part;\n"
                                       : cat("let i = e / ", parts.width, ";\nlet j = e - i * ", parts.width, ";\n");
  const std::string first = parts.columns ? "0u" : cat("part * ", parts.each);
  body += cat("var largest = ", real, "(0.0);\nlet end = min(", parts.all, ", ", first, " + ", parts.each,
              ");\nfor (var e = ", first, " + thread; e < end; e += ", kColumnThreads, "u) {\n", indented(at + look),
              "}\nseen[thread] = largest;\n", d.barrier());
  std::string last = cat("for (var k = 0u; k < ", kColumnThreads, "u; k += 1u) { largest = max(largest, seen[k]); }\n");
  if (powers) last += exponent(type, least);
  last += io.store(to, plan.at(matrix, "0u", "part"), {powers ? "by" : "largest"}, "");
  body += cat("if (thread == 0u && matrix < ", plan.count(), ") {\n", indented(last), "}\n");
  return plan.module("matrices, largest", body, {{real, "seen", kColumnThreads}});
}
/// Of a, rows × columns each, to `to`, a number to a part.
void find_largest(GpuBackend& backend, const detail::MatrixRequest& r, const View& a, std::int64_t rows,
                  std::int64_t columns, const View& to, int least, bool lower, bool by_columns) {
  MatrixPlan plan(backend, r, '5');
  std::vector<int> numbers;
  for (int part = 0; part < parts_of_numbers(a); ++part)
    numbers.push_back(plan.add(real_view(a, part), {rows, columns}, false));
  const std::int64_t all = by_columns ? rows : rows * columns, each = by_columns ? rows : kAtOnce;
  const std::int64_t parts = by_columns ? columns : ceil_div(all, each);
  const bool powers = to.dtype == DType::i32;
  const int result = plan.add(to, {1, parts}, true);
  const auto slot = [&](std::int64_t size) { return plan.plan.add_param(static_cast<std::uint64_t>(size)); };
  const int slots[] = {slot(each), slot(all), slot(columns), slot(parts)};
  plan.plan.note(static_cast<char>(lower + 2 * powers + 4 * by_columns)), plan.plan.note(least);
  plan.launch(static_cast<std::uint64_t>(r.count() * parts), kColumnThreads, [&] {
    const Dialect& d = backend.dialect();
    return largest_text(plan, numbers, result, compute_type(real_dtype(a.dtype)), lower, powers, least,
                        {by_columns, d.param(slots[0]), d.param(slots[1]), d.param(slots[2]), d.param(slots[3])});
  });
}

/// The power of all of a matrix: of the largest numbers of its parts.
void find_power(GpuBackend& backend, const detail::MatrixRequest& r, const View& a, std::int64_t rows,
                std::int64_t columns, const View& to, int least, bool lower) {
  const std::int64_t parts = ceil_div(rows * columns, kAtOnce);
  if (parts == 1) return find_largest(backend, r, a, rows, columns, to, least, lower, false);
  const Matrices largest(backend, r, 1, parts, real_dtype(a.dtype));
  find_largest(backend, r, a, rows, columns, largest.view, least, lower, false);
  find_power(backend, r, largest.view, 1, parts, to, least, false);
}

}  // namespace

Powers::Powers(GpuBackend& backend, const detail::MatrixRequest& r, const View& a, std::int64_t rows,
               std::int64_t columns, DType dtype, bool lower, bool by_columns)
    : exponents_(backend, r, 1, by_columns ? columns : 1, DType::i32), view(exponents_.view) {
  const std::size_t rank = view.strides.size();
  view.strides[rank - 2] = 0;
  if (!by_columns) view.strides[rank - 1] = 0;
  if (by_columns) find_largest(backend, r, a, rows, columns, view, least_exponent(dtype), lower, true);
  else find_power(backend, r, a, rows, columns, view, least_exponent(dtype), lower);
}

}  // namespace tern::detail_gpu
