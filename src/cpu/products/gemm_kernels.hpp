// What the matrix product asks of each SIMD target: one plain table of function pointers.
#pragma once
#include <cstdint>

#include "tern/dtype.hpp"

namespace tern::detail_cpu {

/// A rows × cols block of the operand's own elements, strides in elements (any sign or zero).
struct GemmSource {
  const void* data;
  std::int64_t row, col;
};

/// One micro-kernel call: c(i, j) = from(i, j) + Σ_p a(i, p) b(p, j), i < rows ≤ max_rows, j < cols ≤ widest(rows),
/// p < depth; all of compute type. Whole vectors of b are loaded: a row of it is readable up to `lanes`, `panel_cols`
/// or `widest(rows)` columns, whichever is the first not below `cols`.
struct GemmMicro {
  const void* a;
  std::int64_t a_row, a_col;
  const void* b;
  std::int64_t b_row;
  const void* from;  // null for zeros; may be c
  std::int64_t from_row;
  void* c;
  std::int64_t c_row;
  std::int64_t depth, rows, cols;
  /// What the next calls will read: at each step p the lines at ahead + p * ahead_step (bytes), as wide as a row of b,
  /// are prefetched. Any address will do.
  const void* ahead;
  std::int64_t ahead_step;
  void* packed = nullptr;  // of micro_packing
};

/// One call of the dot kernel: c(i, j) = or += Σ_p a(i, p) b(p, j), with a of compute type contiguous along p and b of
/// the operand's type contiguous along p; any number of rows and columns.
struct GemmDot {
  const void* a;
  std::int64_t a_row;
  const void* b;
  std::int64_t b_col;
  void* c;
  std::int64_t c_row;
  std::int64_t depth, rows, cols;
  bool add;
};

/// Rows of C one after the other: c(i, j) = Σ_p a(i, p) b(p, j), i < rows, j < cols, all of compute type, 1 ≤ depth ≤
/// kOuterDepth. Whole vectors of b are loaded. `stream`: C, aligned to 64 bytes, passes by the caches.
struct GemmOuter {
  const void* a;
  const void* b;
  std::int64_t b_row;
  void* c;
  std::int64_t c_row;
  std::int64_t depth, rows, cols;
  bool stream;
};
inline constexpr int kOuterDepth = 4;

/// Products of up to kSmallMost steps and columns, of compute type: for i < count, c(c_offsets[i]) = a(a_offsets[i]) ·
/// b(b_offsets[i]), offsets and strides in elements; without lists of offsets each begins a step after the one before.
struct GemmSmall {
  const void *a, *b;
  void* c;
  const std::int64_t *a_offsets, *b_offsets, *c_offsets;
  std::int64_t a_step, b_step, c_step;
  std::int64_t count, m, n, k;
  std::int64_t a_row, a_col, b_row, b_col, c_row;
};
inline constexpr std::int64_t kSmallMost = 16;

/// Products of a few elements, many at once: `units` vectors hold the results of a group of them, which lie below each
/// other; the operands of a vector's lanes are picked from up to three vectors of memory each.
inline constexpr int kTinyDepth = 5, kTinyUnits = 4, kTinyLanes = 16, kTinyQuads = 4;
struct TinySide {
  std::int64_t from;  // the first element that is loaded, in the first group
  /// That are loaded for each group; 0: the operand is the same for all; kTinyQuads: each step takes four elements that
  /// lie in a run, from at[p][0] on, for each four lanes.
  int vectors;
  std::int64_t start[kTinyDepth];           // where the vectors of each step of k begin, counted from there
  std::int32_t at[kTinyDepth][kTinyLanes];  // of each lane at each step, counted from where its vectors begin
};
struct TinyUnit {
  TinySide a, b;
  std::int64_t lanes;  // of results; the vectors before are full
};
struct GemmTiny {
  const void *a, *b;
  void* c;  // groups lie below each other
  std::int64_t groups, a_group, b_group, c_group;  // elements from group to group
  std::int64_t k, units;
  const TinyUnit* unit;
};

/// Rows of a call that widens B as it reads it: such kernels are 20 KB of code for each row.
inline constexpr int kWideningRows = 8;
/// Rows of A up to which B is read in place, by several calls where it takes them: 784 × 256 gains 8 % at 48 rows, none
/// at
/// 96. In 16 bits, too, though each call widens B anew: 9, 16, 32 and 64 × 1024 × 4096 in f16 at 3.0, 2.7, 1.7 and 1.4
/// of the speed of a B that is packed, with AVX2 at 2.0, 1.7, 1.3 and 1.0.
inline constexpr int kDirectRows = 64;

/// The kernels for one type of operand. The compute type is float for f16, bf16 and f32, else the type itself.
struct GemmKernelsOf {
  std::int32_t lanes;       // of a vector
  std::int32_t max_rows;    // of a micro-kernel call
  std::int32_t panel_cols;  // the widest call with max_rows rows, and the width of packed panels of B
  std::int32_t direct_rows;  // of A up to which B is read in place
  /// to[i * to_row + j] = compute_type(from(i, j)) for j < cols, and 0 for cols ≤ j < to_cols. Some are written twice:
  /// `to` and `from` do not overlap.
  void (*copy)(const GemmSource& from, std::int64_t rows, std::int64_t cols, void* to, std::int64_t to_row,
               std::int64_t to_cols);
  /// The widest call with this many rows: fewer rows leave registers for more columns.
  std::int64_t (*widest)(std::int64_t rows);
  void (*micro)(const GemmMicro& call);
  /// The same for a B of the operand's type. Where that is no compute type, of up to kWideningRows rows, and of strides
  /// in A.
  void (*micro_stored)(const GemmMicro& call);
  /// The same for an A whose rows lie side by side: a(i, p) = a[p * a_col + i], whatever a_row says. Null for integers.
  void (*micro_packed)(const GemmMicro& call);
  /// micro_packed of panel_cols columns for a B of the operand's type, which it packs, too: packed[p * panel_cols + j]
  /// = b(p, j). Null for integers.
  void (*micro_packing)(const GemmMicro& call);
  void (*dot)(const GemmDot& call);  // null for integers
  void (*outer)(const GemmOuter& call);  // a: depth elements a row
  void (*small)(const GemmSmall& call);
  void (*tiny)(const GemmTiny& call);  // null where the target picks lanes too slowly, and for integers
  bool tiny_by_step;                   // each step of k loads its own vectors; else all pick from the same
};

struct GemmKernels {
  GemmKernelsOf f16, bf16, f32, f64, i32, i64;
};

/// The table of the best target this processor has.
const GemmKernels& gemm_kernels();

/// What a product of operands of one dtype takes.
struct GemmTypes {
  const GemmKernelsOf* kernels;  // for the operands
  const GemmKernelsOf* computed; // for accumulators
  std::int64_t size, compute_size;
  bool integer;
};
GemmTypes gemm_types(DType type);

}  // namespace tern::detail_cpu
