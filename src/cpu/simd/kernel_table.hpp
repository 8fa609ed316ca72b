// The kernels each SIMD target exports: plain function pointers over contiguous blocks. No standard containers here:
// per-target files include this, and shared weak symbols compiled for a newer processor would crash an older one.
#pragma once
#include <cstddef>
#include <cstdint>

#include "formula/elementary.hpp"
#include "tern/dtype.hpp"

namespace tern::detail_cpu {
using detail::kComputeTypeCount;
using detail::kElementaryCount;
using detail::ComputeType;
using detail::Elementary;

/// out[i] = elementary(args[0][i], …) for n elements; out may be one of the arguments.
using ElementaryFn = void (*)(const void* const* args, void* out, std::size_t n);
/// out[i] = f(in[i]); in place only where both have one size.
using BlockFn = void (*)(const void* in, void* out, std::size_t n);
/// out[i] = in[i * stride], widened to the dtype's type.
using StridedLoadFn = void (*)(const void* in, std::int64_t stride, void* out, std::size_t n);
using StridedStoreFn = void (*)(const void* in, void* out, std::int64_t stride, std::size_t n);
/// rows: out[g] = reduction of in[g * length … + length); columns: out[c] = reduction over g of in[g * length + c].
/// `stream`, of rows: the results, in memory aligned to 64 bytes, may pass by the caches.
using ReduceFn = void (*)(const void* in, void* out, std::size_t groups, std::size_t length, bool stream);

/// Rows of ReduceFn that are summed as they lie and stored as such, or their means; `out` is aligned to 64 bytes where
/// `stream`.
using RowSumsFn = void (*)(const void* in, void* out, std::size_t groups, std::size_t length, bool mean, bool stream);
/// out[i * times + j] = f(x[i * times + j], column[i]), or f of them the other way around, as they lie in memory.
/// `stream` as above. `out` may be x.
using WithColumnFn = void (*)(const void* x, const void* column, void* out, std::size_t rows, std::size_t times,
                              bool stream);

/// Columns of each of many groups: out[g * width + c] = reduction over i of in[(g * length + i) * width + c].
using GroupsFn = void (*)(const void* in, void* out, std::size_t groups, std::size_t length, std::size_t width);
/// The reverse: out[(g * times + i) * width + c] = in[g * width + c]. `stream`: the results, in memory aligned to 64
/// bytes, may pass by the caches.
using RepeatFn = void (*)(const void* in, void* out, std::size_t groups, std::size_t times, std::size_t width,
                          bool stream);
/// Times up to which elements of 2 bytes are repeated so.
inline constexpr std::int64_t kRepeatedHalves = 16;

/// Sums of x - mean and (unless `second` is null) of its square, each times a weight unless that is null: of a block's
/// rows or columns as ReduceFn has them, which have a mean each.
using MomentsFn = void (*)(const void* x, const void* weights, const void* means, void* first, void* second,
                           std::size_t groups, std::size_t length);
/// Such sums so far (`second` may be null) and what their weights add up to, to be made sums for other means; and then
/// those of a part that has them are added.
struct MomentsMove {
  const void *means_before, *means_now, *weights, *part_first, *part_second;
  void *first, *second;
};
using MoveMomentsFn = void (*)(const MomentsMove& move, std::size_t n);

/// Rows of up to so many elements are short: what they have one of each is repeated along them by permutations of a
/// vector, whatever its lanes.
inline constexpr std::size_t kShortRow = 16;

/// Memory that is brought near while a loop computes.
struct Fetch {
  const void* from;
  std::size_t bytes;  // of an element
};
/// A loop compiled ahead of time (cpu/tape/loops.hpp), for each of `rows` rows: inputs, scalars (one type each) and
/// outputs of n elements; an output may be one of the inputs.
struct LoopCall {
  const void* const* in;
  const void* const* scalars;
  void* const* out;
  std::size_t n;
  bool stream = false;  // outputs, aligned to 64 bytes, pass by the caches
  std::size_t rows = 1;
  /// Bytes from row to row of each; not read where there is one row.
  const std::int64_t *in_steps = nullptr, *scalar_steps = nullptr, *out_steps = nullptr;
  /// Of as many elements as the loop has.
  const Fetch* fetch = nullptr;
  std::size_t fetches = 0;
  /// Not 0: the elements are short rows of so many, one behind the other, and scalars of a step other than 0 have one
  /// type for each.
  std::size_t times = 0;
};
using LoopFn = void (*)(const LoopCall& call);
/// By its lanes; f16 and bf16: lanes of f32 and such elements in memory, null for most.
struct LoopFunctions {
  LoopFn f32, f64, f16, bf16;
};

/// exp(x - shift) of `groups` runs of `length` elements, each with its shift.
using PowersFn = void (*)(const void* x, const void* shifts, void* powers, std::size_t groups, std::size_t length);

/// Lines that are combined, or summed, as they run: `step` and `out_step` elements from one to the next, the elements
/// of each being neighbours. `reverse`: from their ends. `out` may be `in` where the steps are equal.
struct ScannedLines {
  const void* in;
  void* out;
  std::int64_t step, out_step;
  std::size_t lines, length;
  bool reverse;
};
using ScanLinesFn = void (*)(const ScannedLines& lines);
/// out[i] = *before combined with in[i], or in[i] where `before` is null; `out` may be `in`. `stream`: past the caches,
/// to memory aligned to 64 bytes. `fetch`: as many elements that are read next, or null.
struct JoinedScan {
  const void *before, *in;
  void* out;
  std::size_t n;
  bool stream;
  const void* fetch;
};
using JoinScannedFn = void (*)(const JoinedScan& run);
/// Runs of so many are combined on their own and joined, so that errors grow with kScanRun + n/kScanRun terms, not with
/// n.
inline constexpr std::size_t kScanRun = 256;
/// Sums, products, maxima and minima.
inline constexpr std::size_t kScanned = 4;

/// The first of n elements that equals a value, or that is NaN as the value is; n: none.
using FindFn = std::size_t (*)(const void* in, const void* value, std::size_t n);
/// out[c] = the least places[g] of those g for which in[g * length + c] equals values[c], or is NaN.
using PlacesFn = void (*)(const void* in, const void* values, const std::int32_t* places, std::int32_t* out,
                          std::size_t groups, std::size_t length);

/// out[g] = `first` + i for the least i at which in[g * length + i] is the row's extreme, or NaN where there is one.
using RowPlacesFn = void (*)(const void* in, std::int32_t first, std::int32_t* out, std::size_t groups,
                             std::size_t length);
/// The same of rows of any length, whose extremes are known.
using FindRowsFn = void (*)(const void* in, const void* values, std::int32_t first, std::int32_t* out,
                            std::size_t groups, std::size_t length);

/// into[c] = reduction of into[c] and of in[r * pitch + c] for r = 0, 1, …, in this order, c < n.
using JoinFn = void (*)(const void* in, std::size_t pitch, std::size_t rows, void* into, std::size_t n);
/// So many rows at once (4096 x 4096 f32 and bf16 in memory, Zen 4, two threads, in ms: 1: 2.1, 1.4; 2: 1.9, 1.0;
/// 4: 1.6, 0.80; 8: 1.6, 0.65).
inline constexpr std::size_t kJoinedRows = 8;
/// Reductions of 16-bit floats as they lie in memory, in f32.
struct HalfReduction {
  ReduceFn rows, columns;
  JoinFn join;
};

/// out[c][i] = element c of row i, for elements of 32 bits; rows are `step` elements apart. And the reverse.
using SplitColumnsFn = void (*)(const void* rows, std::int64_t step, std::size_t columns, void* const* out,
                                std::size_t n);
using JoinColumnsFn = void (*)(const void* const* in, std::size_t columns, void* rows, std::int64_t step,
                               std::size_t n);

/// to[i * to_row + j] = from[j * from_row + i] for i < rows and j < cols, other memory. `stream`: past the caches,
/// to rows that begin with a cache line and are whole ones.
struct Transposition {
  const void* from;
  std::int64_t from_row;
  void* to;
  std::int64_t to_row;
  std::size_t rows, cols;
  bool stream;
};
using TransposeFn = void (*)(const Transposition& matrix);

/// Of n complex numbers as they lie in memory: a and b, or a alone. `stream`: the results, in memory aligned to 64
/// bytes, pass by the caches. They may be one of the operands.
using PairsFn = void (*)(const void* a, const void* b, void* out, std::size_t n, bool stream);
/// In f32 and in f64.
struct PairsFunctions {
  PairsFn product[2], conjugate_product[2], quotient[2], modulus[2];
};

/// Formulas that have a kernel of their own (cpu/tape/known_functions.hpp), f32 and f64.
enum class KnownFunction { asin, acos, sinh, cosh, asinh, acosh, atanh };
inline constexpr int kKnownFunctionCount = 7;

struct KernelTable {
  const char* target;
  PairsFunctions pairs;
  SplitColumnsFn split_columns;
  JoinColumnsFn join_columns;
  TransposeFn transpose[2];  // of elements of 4 and of 8 bytes
  /// Elements of a row from which loops are called for its reduced values as numbers.
  std::int64_t loop_row;
  ElementaryFn elementary[kElementaryCount]
                         [kComputeTypeCount];  // null where an elementary function does not exist for a type
  ElementaryFn
      fast[kElementaryCount];  // of f32, where all results are stored in 16 bits; null: elementary function will do
  ElementaryFn divide_by_number[kComputeTypeCount];  // by the first element of its second argument; integers: null
  ReduceFn reduce_rows[kElementaryCount][kComputeTypeCount];
  ReduceFn reduce_columns[kElementaryCount][kComputeTypeCount];
  GroupsFn reduce_groups[kElementaryCount][kComputeTypeCount];
  JoinFn join_rows[kElementaryCount][kComputeTypeCount];
  RowSumsFn row_sums[kDTypeCount];       // for rows of 2 to `summed_row` elements
  std::int64_t summed_row[kDTypeCount];  // 0: there are none
  WithColumnFn with_column[2][kElementaryCount][kDTypeCount];  // the column second, and first; null for most …
  std::int64_t column_times[kDTypeCount];                      // … and for elements repeated up to so many times
  HalfReduction reduce_half[kElementaryCount][2];       // of f16 and of bf16; nulls where the target cannot in vectors
  BlockFn convert[kComputeTypeCount][kComputeTypeCount];        // from, to; floats to integers saturate, NaN gives 0
  BlockFn wrap[kComputeTypeCount][kDTypeCount];          // reduced to what the dtype holds, in its type; integers wrap
  BlockFn clamp[kComputeTypeCount][kDTypeCount];         // the same for narrow integers, clamping
  BlockFn load[kDTypeCount], store[kDTypeCount];  // between memory and compute_type_of(dtype)
  BlockFn stream[kDTypeCount];                    // store past the caches, to memory aligned to 64 bytes
  StridedLoadFn load_strided[kDTypeCount];
  StridedStoreFn store_strided[kDTypeCount];
  BlockFn fill[kComputeTypeCount];                       // out[i] = *in
  RepeatFn repeat[2];                                    // of elements of 4 and of 8 bytes
  RepeatFn repeat_halves;                                // of 2 bytes, of width 1, up to kRepeatedHalves times
  MomentsFn moments_of_rows[kComputeTypeCount], moments_of_columns[kComputeTypeCount];  // null for integers
  MoveMomentsFn move_moments[kComputeTypeCount];
  PowersFn powers_of_rows[kComputeTypeCount];                                    // null for integers
  /// By detail::Combine and type; null: element by element.
  ScanLinesFn scan_lines[kScanned][kComputeTypeCount];
  JoinScannedFn join_scanned[kScanned][kComputeTypeCount];
  FindFn find[kComputeTypeCount];
  FindRowsFn find_rows[kComputeTypeCount];
  PlacesFn places_of_columns[kComputeTypeCount];
  /// Of the greatest and of the least, for rows of up to `place_row` elements (0: there are none).
  RowPlacesFn places_of_rows[2][kComputeTypeCount];
  std::int64_t place_row[kComputeTypeCount];
  /// Of what gives a predicate, as bytes of 0 and 1; null for others.
  ElementaryFn predicates[kElementaryCount][kComputeTypeCount];
  /// Of u8, i8 and i16 as they lie in memory, of two arguments; null for others, and where low bits do not follow from
  /// the operands' alone.
  ElementaryFn narrow[kDTypeCount][kElementaryCount];
  ElementaryFn saturate[kDTypeCount];  // f32 to integers of 8 and 16 bits; else null
  ElementaryFn known[kKnownFunctionCount][2];
  ElementaryFn logaddexp[2];  // of f32 and f64: what running logarithms of sums are joined by
  /// Philox's words (cpu/simd/philox-inl.h): [all words of a counter are inputs, not the first two alone][so is its
  /// key][the first of the words is wanted alone].
  LoopFn philox[2][2][2];
  /// Means of short rows, sums or means of squares of what they have beside them and, if it is kept, that itself:
  /// [f64][it is kept][means]; null: none for this target (cpu/simd/centred_rows-inl.h).
  LoopFn centred_squares[2][2][2];
  /// Sums of products along short rows: [f64][and those of both factors]; null as above (cpu/simd/row_products-inl.h).
  LoopFn product_sums[2][2];
};

}  // namespace tern::detail_cpu
