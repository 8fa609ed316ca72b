#include "primitives/linalg/library/gpu_columns.hpp"

#include <cmath>

#include "gpu/text/kernel_file.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kMoving =
#include "primitives/linalg/library/columns.wgsl.inc"
    ;
constexpr const char* kMovingPieces =
#include "primitives/linalg/library/columns_pieces.wgsl.inc"
    ;
constexpr const char* kColumnsLargest =
#include "primitives/linalg/library/columns_largest.wgsl.inc"
    ;
constexpr int kColumnThreads = 256, kColumnTileRows = 8;

/// What all of these texts have.
Holes holes_of_moves(const Dialect& d, ComputeType type) {
  const std::string name = compute_type_name(type);
  Holes holes = pieces(kMovingPieces);
  holes["threads"] = cat(kColumnThreads), holes["type"] = name, holes["zero"] = cat(name, "(0.0)");
  holes["isfinite"] = d.elementary(Elementary::isfinite, type, {kFirst});
  holes["abs"] = d.elementary(Elementary::abs, type, {kFirst});
  holes["sqrt"] = d.elementary(Elementary::sqrt, type, {kFirst});
  return holes;
}

/// The matrix, row and column of a launch's element: of `rows` × `columns` each, which are parameters.
struct Elements {
  using Fill = std::function<void(Holes& holes)>;  // sets $work and what it has
  MatrixPlan plan;
  Io io;
  int rows_slot, columns_slot, rank;
  std::int64_t count;
  ComputeType type = ComputeType::f32;  // of numbers
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
  /// Fills $load, and $number with its name.
  void load(Holes& holes, int access, const std::string& row, const std::string& column = "0u") {
    load_as(holes, "load", "number", access, row, column);
  }
  void load_as(Holes& holes, const char* load, const char* name, int access, const std::string& row = "0u",
               const std::string& column = "0u") {
    std::vector<std::string> values;
    holes[load] = io.load(access, plan.at(matrix, row, column), values), holes[name] = values[0];
  }
  /// A workgroup to a tile of each matrix.
  void launch_tiles(std::int64_t rows, std::int64_t columns, const Fill& fill, const char* title) {
    constexpr int across = kColumnThreads / kColumnTileRows;
    const std::int64_t tiles_down = ceil_div(rows, kColumnTileRows), tiles_across = ceil_div(columns, across);
    const auto slot = [&](std::int64_t size) { return plan.plan.add_param(static_cast<std::uint64_t>(size)); };
    const int tiles = slot(tiles_down * tiles_across), row_of_tiles = slot(tiles_across);
    plan.launch(static_cast<std::uint64_t>(count * tiles_down * tiles_across), kColumnThreads, [&] {
      Holes holes = holes_of_moves(plan.backend.dialect(), type);
      holes["element"] = "$element_of_tile", holes["tile_columns"] = cat(across);
      holes["tiles"] = p(tiles), holes["across"] = p(row_of_tiles);
      return text(std::move(holes), fill, cat(" && i < ", p(rows_slot), " && j < ", p(columns_slot)), title);
    });
  }
  /// An invocation to each element.
  void launch(std::int64_t elements, const Fill& fill, const char* title) {
    plan.launch(static_cast<std::uint64_t>(ceil_div(elements, kColumnThreads)), kColumnThreads, [&] {
      Holes holes = holes_of_moves(plan.backend.dialect(), type);
      holes["element"] = "$element_of_line";
      return text(std::move(holes), fill, "", title);
    });
  }

 private:
  std::string text(Holes holes, const Fill& fill, const std::string& within, const char* title) {
    holes["rows"] = p(rows_slot), holes["columns"] = p(columns_slot);
    holes["inside"] = cat("matrix < ", plan.count(), within);
    holes["coordinates"] = io.coordinates(plan.batch, "matrix", "c", matrix);
    fill(holes);
    return plan.module(title, fill_holes(kMoving, holes), {});
  }
};

/// The accesses of a move; -1: is not asked for.
struct MoveAccesses {
  int source, target, powers = -1, bad = -1, places = -1, finite = -1;
};
void fill_move(Elements& e, const Move& how, bool imaginary, const MoveAccesses& v, DType to, Holes& holes) {
  const bool wide = e.type == ComputeType::f64;
  const auto where = [](bool is, const char* piece) { return is ? std::string(piece) : std::string(); };
  holes["work"] = "$moved", holes["sign"] = how.conjugate && imaginary ? "-" : "";
  holes["find_row"] = where(v.places >= 0, "$place_of_row");
  if (v.places >= 0) e.load_as(holes, "load_place", "place", v.places, "i");
  e.load(holes, v.source, v.places >= 0 ? "place" : "i", "j");
  holes["spoil"] = where(v.bad >= 0, "$spoiled");
  if (v.bad >= 0) e.load_as(holes, "load_bad", "bad", v.bad);
  holes["nan"] = wide ? "bitcast<f64>(0x7ff8000000000000ull)" : "bitcast<f32>(0x7fc00000u)";
  const char* const outside[] = {"", "$zero_outside(j > i)", "$zero_outside(j < i)", "$zero_outside(j != i)"};
  holes["clear_outside"] = outside[static_cast<int>(how.part)];
  holes["set_diagonal"] = where(how.ones, imaginary ? "$on_diagonal($zero)" : "$on_diagonal($type(1.0))");
  holes["look_for_infinities"] = where(v.finite >= 0, "$noted_unless_finite");
  holes["clear"] = where(!how.kept, "$cleared");
  if (v.finite >= 0) holes["store_status"] = e.io.store(v.finite, e.plan.at(e.matrix), {"status"}, "");
  holes["take_root"] = where(how.root, "$root_of_positive");
  holes["scale"] = where(v.powers >= 0, how.divided ? "$load_by\n$times_power(-$by)" : "$load_by\n$times_power($by)");
  if (v.powers >= 0) e.load_as(holes, "load_by", "by", v.powers, "i", "j");
  holes["power"] =
      wide ? cat("bitcast<f64>(u64(", kFirst, " + 1023) << 52u)") : cat("bitcast<f32>(u32(", kFirst, " + 127) << 23u)");
  holes["clear_tiny"] = where(how.tiny, "$zero_if_tiny");
  holes["tiny"] = wide ? "bitcast<f64>(0x20b0000000000000ull)" : "bitcast<f32>(0x21800000u)";  // 2^-500, 2^-60
  const ComputeType wanted = compute_type(to);
  holes["store"] = e.io.store(v.target, e.plan.at(e.matrix, "i", "j"),
                              {wanted == e.type ? "x" : cat(compute_type_name(wanted), "(x)")}, "");
}

/// "matrices, moved", and what is done with them on their way.
std::string title_of(const Move& how, bool transposes) {
  std::string title = transposes ? "matrices, transposed" : "matrices, moved";
  if (how.places) title += ", rows as they were exchanged";
  if (how.bad) title += ", NaN where one is bad";
  if (how.ones) title += ", ones on the diagonal";
  if (how.finite) title += ", finite or noted";
  if (how.root) title += ", roots";
  if (how.powers) title += ", scaled";
  if (how.tiny) title += ", without what is tiny";
  return title;
}

void move_numbers(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to,
                  std::int64_t rows, std::int64_t columns, const Move& how, bool imaginary) {
  Elements e(backend, r, '1', rows, columns);
  e.type = compute_type(from.dtype);
  MoveAccesses v{e.add(from, rows, columns, false), e.add(to, rows, columns, true)};
  e.plan.plan.note(how.part);
  if (how.powers) v.powers = e.add(*how.powers, rows, columns, false);
  if (how.bad) v.bad = e.plan.add(*how.bad, {1, 1}, false);
  if (how.places) v.places = e.add(*how.places, rows, 1, false);
  if (how.finite) v.finite = e.plan.add(*how.finite, {1, 1}, true);
  const auto by_rows = [&](const View& view) { return view.strides[view.strides.size() - 2] >= view.strides.back(); };
  const auto of_matrices = static_cast<std::size_t>(e.rank) + 2;
  const bool transposes = rows > 1 && columns > 1 && from.strides.size() == of_matrices &&
                          to.strides.size() == of_matrices && by_rows(from) != by_rows(to);
  e.plan.plan.note(transposes);
  e.plan.plan.note(static_cast<char>(how.ones + 2 * (how.conjugate && imaginary) + 4 * (v.finite >= 0) + 8 * imaginary +
                                     16 * (v.powers >= 0) + 32 * how.divided + 64 * (v.bad >= 0)));
  e.plan.plan.note(static_cast<char>((v.places >= 0) + 2 * how.root + 4 * how.kept + 8 * how.tiny));
  const auto fill = [&](Holes& holes) { fill_move(e, how, imaginary, v, to.dtype, holes); };
  const std::string title = title_of(how, transposes);
  if (transposes) e.launch_tiles(rows, columns, fill, title.c_str());
  else e.launch(r.count() * rows * columns, fill, title.c_str());
}

}  // namespace

void move(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to, std::int64_t rows,
          std::int64_t columns, const Move& how) {
  if (rows == 0 || columns == 0) return;
  for (int part = 0; part < parts_of_numbers(from); ++part)
    move_numbers(backend, r, real_view(from, part), real_view(to, part), rows, columns, how, part == 1);
}
void note_unless_small(GpuBackend& backend, const detail::MatrixRequest& r, const View& x, std::int64_t n,
                       const View& noted) {
  Elements e(backend, r, '8', n, n);
  e.type = compute_type(x.dtype);
  const int source = e.add(x, n, n, false), target = e.plan.add(noted, {1, 1}, true);
  e.launch(
      r.count() * n * n,
      [&](Holes& holes) {
        holes["work"] = "$noted_unless_small";
        holes["a_row"] = literal(Number(std::ldexp(4, e.type == ComputeType::f64 ? -52 : -23)), e.type);
        e.load(holes, source, "i", "j");
        holes["store_status"] = e.io.store(target, e.plan.at(e.matrix), {"status"}, "");
      },
      "matrices, noted unless small");
}
void move_pivots(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to,
                 std::int64_t count) {
  Elements e(backend, r, '2', count, 1);
  const int source = e.add(from, count, 1, false), target = e.add(to, count, 1, true);
  e.launch(
      r.count() * count,
      [&](Holes& holes) {
        holes["work"] = "$moved_pivot";
        e.load(holes, source, "i", "j");
        holes["store"] = e.io.store(target, e.plan.at(e.matrix, "i", "j"), {"place"}, "");
      },
      "matrices, pivots");
}

void find_places(GpuBackend& backend, const detail::MatrixRequest& r, const View& pivots, const View& to,
                 std::int64_t n, bool back) {
  Elements e(backend, r, '7', n, 1);
  const int source = e.add(pivots, n, 1, false), target = e.add(to, n, 1, true);
  e.plan.plan.note(back);
  e.launch(
      r.count() * n,
      [&](Holes& holes) {
        holes["work"] = "$places_of_rows", holes["exchanged"] = back ? "step" : "$rows - 1u - step";
        e.load(holes, source, "k");
        holes["store"] = e.io.store(target, e.plan.at(e.matrix, "i", "j"), {"place"}, "");
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

/// A workgroup's part of a matrix: a column, or kPartNeighbours neighbours. Parameters: the size of a part, of a
/// matrix, of a row, and how many parts there are in a matrix.
struct ColumnParts {
  bool columns;
  std::string each, all, width, count;
};
constexpr std::int64_t kPartNeighbours = 16 * kColumnThreads;

int least_exponent(DType dtype) { return real_dtype(dtype) == DType::f64 ? 0 : 40; }
/// The largest number of each part; or, of a part that is all of what has a power together, the power.
std::string largest_text(MatrixPlan& plan, const std::vector<int>& numbers, int to, ComputeType type, bool lower,
                         bool powers, int least, const ColumnParts& parts) {
  const Dialect& d = plan.backend.dialect();
  const bool wide = type == ComputeType::f64;
  Io io(plan.plan, d);
  std::vector<std::string> matrix;
  Holes holes = holes_of_moves(d, type);
  holes["coordinates"] = io.coordinates(plan.batch, "matrix", "c", matrix);
  holes["matrices"] = plan.count(), holes["barrier"] = d.barrier();
  holes["count"] = parts.count, holes["all"] = parts.all, holes["each"] = parts.each, holes["width"] = parts.width;
  holes["first"] = parts.columns ? "0u" : "part * $each";
  holes["element"] = parts.columns ? "$of_column" : "$of_neighbours";
  std::string looks;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    std::vector<std::string> x;
    holes[cat("load_", k)] = io.load(numbers[k], plan.at(matrix, "i", "j"), x);
    looks += cat("$look($load_", k, ", ", x[0], ")\n");
  }
  holes["each_look"] = looks, holes["looks"] = lower ? "$if_lower($each_look)" : "$each_look";
  holes["bits"] = cat(wide ? "bitcast<u64>(" : "bitcast<u32>(", kFirst, ")"), holes["mantissa"] = wide ? "52u" : "23u";
  holes["bias"] = wide ? "1023, 2097" : "127, 276", holes["least"] = cat(least);
  holes["power_of_largest"] = powers ? "$exponent" : "";
  holes["store"] = io.store(to, plan.at(matrix, "0u", "part"), {powers ? "by" : "largest"}, "");
  return plan.module("matrices, largest", fill_holes(kColumnsLargest, holes),
                     {{compute_type_name(type), "seen", kColumnThreads}});
}
/// Of a, rows × columns each, to `to`, a number to a part.
void find_largest(GpuBackend& backend, const detail::MatrixRequest& r, const View& a, std::int64_t rows,
                  std::int64_t columns, const View& to, int least, bool lower, bool by_columns) {
  MatrixPlan plan(backend, r, '5');
  std::vector<int> numbers;
  for (int part = 0; part < parts_of_numbers(a); ++part)
    numbers.push_back(plan.add(real_view(a, part), {rows, columns}, false));
  const std::int64_t all = by_columns ? rows : rows * columns, each = by_columns ? rows : kPartNeighbours;
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
  const std::int64_t parts = ceil_div(rows * columns, kPartNeighbours);
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
