// What the kernels of batches of small real matrices on GPUs share: matrices in a workgroup's memory, and which go
// there.
#pragma once
#include <algorithm>
#include <bit>

#include "backend/instruments/trace.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/linalg/gpu/gpu.hpp"

namespace tern::detail_gpu {

using detail::ComputeType;
using detail::Elementary;
using detail::PrimitiveId;

inline constexpr int kWidth = 32;  // threads of a workgroup

inline std::string u(std::int64_t value) { return cat(value, "u"); }

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

/// What the texts of these kernels share: matrices in the workgroup's memory.
struct Small {
  MatrixPlan& plan;
  Io io;
  ComputeType type;
  int rows, threads, per;  // threads of a matrix, matrices of a workgroup
  bool alone;              // a thread has a matrix, in registers
  std::vector<std::string> matrix = {};
  std::vector<Shared> shared = {};
  Small(MatrixPlan& plan, DType dtype, int rows, int threads, bool alone = false)
      : plan(plan),
        io(plan.plan, plan.backend.dialect()),
        type(dtype == DType::f64 ? ComputeType::f64 : ComputeType::f32),
        rows(rows),
        threads(threads),
        per(kWidth / threads),
        alone(alone) {}

  std::string elementary(Elementary elementary, const std::string& x) const {
    return plan.backend.dialect().elementary(elementary, type, {x});
  }
  std::string barrier() const { return plan.backend.dialect().barrier(); }
  std::string number(const char* value) const { return cat(compute_type_name(type), "(", value, ")"); }
  static int pitch(int columns) { return columns | 1; }
  /// Rows of `by_fours` begin at multiples of four elements, which several are loaded from at once.
  std::string by_fours = {};
  int pitch_of(const std::string& name, int columns) const {
    return name == by_fours ? static_cast<int>(ceil_div(columns, 4) * 4) : pitch(columns);
  }
  /// `own`, the matrix's number here, r, the thread's row, and coordinates. `group`: of matrices.
  std::string begin(const std::string& group) {
    std::string text = cat("let own = thread / ", u(threads), ";\nlet r = thread - own * ", u(threads), ";\n");
    if (alone) text = "let own = thread;\n";
    text += cat("let matrix = ", group, " * ", u(per), " + own;\nlet inside = matrix < ", plan.count(), ";\n");
    return text + io.coordinates(plan.batch, "matrix", "c", matrix);
  }
  /// Whether it is memory of vectors, as WGSL's loads of several elements need it to be.
  bool in_vectors(const std::string& name) const { return name == by_fours && !plan.backend.dialect().native(); }
  /// Memory for a matrix of each: its elements are at(name, i, j).
  void add(const std::string& name, int height, int columns) {
    const int count = per * height * pitch_of(name, columns);
    if (in_vectors(name)) return shared.push_back({"vec4<f32>", name, count / 4});
    shared.push_back({cat(name == by_fours ? "__align__(16) " : "", compute_type_name(type)), name, count});
  }
  /// What stands in brackets behind the name: of vectors, also which component, "at][which".
  std::string index_of(const std::string& name, int height, int columns, const std::string& i,
                       const std::string& j) const {
    const int pitch = pitch_of(name, columns);
    const auto place = [&](int unit, const std::string& column) {
      return cat("own * ", u(height * pitch / unit), " + (", i, ") * ", u(pitch / unit), " + ", column);
    };
    return in_vectors(name) ? cat(place(4, cat("(", j, ") / 4u")), "][(", j, ") % 4u") : place(1, j);
  }
  std::string at(const std::string& name, int height, int columns, const std::string& i, const std::string& j) const {
    return cat(name, "[", index_of(name, height, columns, i, j), "]");
  }
  /// 16 bytes of a row of `by_fours`, from a column on whose number is a multiple of as many elements.
  std::string four_at(const std::string& i, const std::string& j, const char* vector) const {
    const std::string place = index_of(by_fours, rows, rows, i, j);
    if (!in_vectors(by_fours)) return cat("*(const ", vector, "*)&", by_fours, "[", place, "]");
    return cat(by_fours, "[", place.substr(0, place.find(']')), "]");
  }
  /// Loops over the elements of a matrix, row by row or column by column: i and j.
  std::string over(int height, const std::string& columns, const std::string& inside, bool by_columns = false) const {
    if (by_columns)
      return cat("for (var e = r; e < ", u(height), " * ", columns, "; e += ", u(threads), ") {\n  let j = e / ",
                 u(height), ";\n  let i = e - j * ", u(height), ";\n", indented(inside), "}\n");
    return cat("for (var e = r; e < ", u(height), " * ", columns, "; e += ", u(threads), ") {\n  let i = e / ", columns,
               ";\n  let j = e - i * ", columns, ";\n", indented(inside), "}\n");
  }
  /// From memory, from column `first` on; `and_then` sees the value as x.
  std::string load(int access, const std::string& name, int height, int columns, const std::string& width,
                   const std::string& first, const std::string& and_then = "", bool by_columns = false) {
    std::vector<std::string> values;
    std::string text = io.load(access, plan.at(matrix, "i", cat("(", first, " + j)")), values);
    text += cat("let x = ", values[0], ";\n", at(name, height, columns, "i", "j"), " = x;\n", and_then);
    return cat("if (inside) {\n", indented(over(height, width, text, by_columns)), "}\n");
  }
  std::string store(int access, const std::string& name, int height, int columns, const std::string& width,
                    const std::string& first, bool by_columns = false) {
    const std::string text = cat("let x = ", at(name, height, columns, "i", "j"), ";\n",
                                 io.store(access, plan.at(matrix, "i", cat("(", first, " + j)")), {"x"}, ""));
    return cat("if (inside) {\n", indented(over(height, width, text, by_columns)), "}\n");
  }
  /// Notes in `not_finite` what was loaded and is not.
  std::string check_finite(const std::string& condition = "") const {
    return cat("if (", condition, "!(", elementary(Elementary::isfinite, "x"), ")) { not_finite = 1u; }\n");
  }
  /// Stores and notes the status.
  std::string finish(int access) {
    std::string text;
    if (access >= 0) text += io.store(access, plan.at(matrix), {"status"}, "");
    if (plan.noted) text += cat("if (status != 0) {\n", indented(plan.noted->text("matrix", "status")), "}\n");
    return text.empty() ? text : cat("if (inside", alone ? "" : " && r == 0u", ") {\n", indented(text), "}\n");
  }
};

/// What small_factor_pieces.wgsl and the files that use it have: element (i, j) of a matrix of so many rows and columns
/// is a[$at(i, j)].
Holes holes_of_small(Small& s, int columns, const std::string& group);

/// Threads for matrices of so many rows.
inline int threads_for(std::int64_t rows) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 1))));
}

/// Whether a matrix of so many threads, a row each, is solved with for so few columns by all of them together.
inline bool few_sides(std::int64_t right, int threads) { return right * 4 <= threads; }
/// Whether a view's columns lie together, and not its rows: neighbours are to take neighbours.
inline bool by_columns(const detail::MatrixRequest& r, const View& view) {
  const auto rank = static_cast<std::size_t>(r.batch().rank());
  return view.strides[rank] == 1 && view.strides[rank + 1] != 1;
}

/// Whether a kernel can see every view whole.
struct SeenWhole : detail::ViewVisitor<SeenWhole> {
  std::int64_t most, largest = 0;  // bytes; of a view without gaps
  bool whole = true;
  explicit SeenWhole(const GpuBackend& backend) : most(most_bytes(backend)) {}
  void look(const View& view, const Shape& space) {
    if (!view.storage) return;
    const std::vector<std::int64_t> sizes(space.begin(), space.end());
    const ByteRange touched = bytes_touched(view, sizes);
    whole = whole && touched.end - touched.begin <= most;
    largest = std::max(largest, space.numel() * static_cast<std::int64_t>(dtype_size(view.dtype)));
  }
  void reads(const View& view, const Shape& space) { look(view, space); }
  void writes(const View& view, const Shape& space) { look(view, space); }
};
/// Whether there are kernels of such numbers here: those of an archive are too many texts.
inline bool has_matrix_texts(const GpuBackend& backend, DType dtype) {
  const bool has = dtype == DType::f32 || (dtype == DType::f64 && backend.limits().native);
  return has && !backend.limits().archived;
}
/// Whether there are kernels for such matrices.
template <class R> bool goes_small(const GpuBackend& backend, const R& r, DType dtype) {
  if (!has_matrix_texts(backend, dtype) || r.rows() < 1 || r.columns() < 1 || r.most() > detail::kManyAtOnce)
    return false;
  SeenWhole seen(backend);
  R::views(r, seen);
  return seen.whole;
}
inline void tell(int per) {
  if (detail::tracing())
    detail::note(per == 1 ? std::string("a matrix a workgroup") : std::to_string(per) + " matrices a workgroup");
}

}  // namespace tern::detail_gpu
