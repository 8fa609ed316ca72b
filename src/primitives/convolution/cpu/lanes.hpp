// What convolutions on the CPU ask of each SIMD target: one plain table of function pointers. All pointers are to
// numbers of the compute type, float or double; steps count elements.
#pragma once
#include <cstdint>

#include "tern/dtype.hpp"

namespace tern::detail_cpu::conv {

/// One element of the kernels of `lanes` channels, each convolved by itself, and what it meets at the first place:
/// place t meets the vector at x + t · lanes. Its gradient is added to at w.
struct Tap {
  const void* x;
  void* w;
};

/// x and w are read so many elements on from where the taps say.
struct TapsCall {
  const Tap* taps;
  std::int64_t count, x_at, w_at;
};

/// Neighbouring elements of the kernels of `lanes` channels, at most kMostRun: element k meets at place t the vector of
/// the image that lies t + k steps after x. Those from `first` on and before `end` are inside of it, and read.
struct TapRun {
  const void *x, *w;
  std::int64_t count, first, end;
};
inline constexpr std::int64_t kMostRun = 7;

/// For neighbouring vectors of channels, from place `place` on: x, w and out are read and written so many elements on
/// from where the runs say, those of each vector so many after those of the one before (out: `lanes`).
struct RunsCall {
  const TapRun* runs;
  std::int64_t count, place, places, vectors;
  std::int64_t x_at, x_step, x_vector, w_at, w_vector;
  void* out;
  std::int64_t out_step;
  bool whole;  // run_places, half as many or down_places, which meet nothing outside of the image
  bool ones;   // all runs are of one element
  /// Where it is not null, so many rows of x from there on, each so many elements after the one before, are fetched: of
  /// each so many places, the second `ahead_place` elements in front of the first.
  const void* ahead;
  std::int64_t ahead_rows, ahead_row, ahead_places, ahead_place;
  const void* out_ahead;  // where it is not null, what lies there, as at out, is fetched
};

/// So many steps of a sum: a(i, p) = a[i · a_row + p], b(p, j) = b[p · panel + j].
struct Segment {
  const void *a, *b;
};
/// c(i, j) = or += Σ over segments and p < depth of a(i, p) · b(p, j), i < rows, j < cols.
inline constexpr std::int64_t kNarrowResults = 3;
struct DirectCall {
  const Segment* segments;
  std::int64_t count, depth, a_row;
  void* c;
  std::int64_t c_row, rows, cols;
  bool add;
  /// Of `direct_apart`: a(i, ·) lies at a + a_at[i] in place of i · a_row, c(i, ·) at c + c_at[i].
  const std::int64_t *a_at = nullptr, *c_at = nullptr;
  /// Of `direct_narrow`: b(p, j) = b[j · b_row + p].
  std::int64_t b_row = 0;
  /// And for each segment so many lines of memory from here on are fetched into L2.
  const char* ahead = nullptr;
  std::int64_t lines = 0;
};

struct ConvKernels {
  std::int64_t lanes;
  std::int64_t run_places;       // of a call of `runs`, at most
  std::int64_t down_places;      // the fewer of two numbers for places below each other
  std::int64_t gradient_places;  // and of `gradients`
  std::int64_t rows, panel;      // of a call of `direct`: the most rows and columns
  bool goes_down;                // whether `runs` is faster for places below each other (DepthwisePlan)
  /// out[t · out_step + lane] = Σ over runs of w · x, for t < places: x and out of the compute type.
  using Runs = void (*)(const RunsCall& call);
  Runs runs;
  /// x of 16 bits, and out of the compute type; out of 16 bits, too. Null in f64.
  Runs runs_f16, runs_bf16, runs_to_f16, runs_to_bf16;
  /// w[lane] += Σ over places of x · y, for each tap; y(t) at y + t · lanes.
  void (*gradients)(const TapsCall& call, const void* y, std::int64_t places);
  /// to[v · vector + t · lanes + lane] = from[t · step + v · lanes + lane], for t < places and v < vectors.
  using Spread = void (*)(const void* from, std::int64_t step, std::int64_t places, std::int64_t vectors, void* to,
                          std::int64_t vector);
  /// The other way round: to[t · step + v · lanes + lane] = from[v · vector + t · lanes + lane], of the compute type.
  void (*join)(const void* from, std::int64_t vector, std::int64_t places, std::int64_t vectors, void* to,
               std::int64_t step);
  /// to[t · to_step + j] = from[t · step + j], rounded, for t < places and j < cols. Whole vectors of from are read.
  using Round = void (*)(const void* from, std::int64_t step, std::int64_t places, std::int64_t cols, void* to,
                         std::int64_t to_step);
  /// From elements of the compute type, of f16 and of bf16; the latter two null in f64.
  Spread spread, spread_f16, spread_bf16;
  Round round_f16, round_bf16;
  void (*direct)(const DirectCall& call);
  /// The same of rows wherever they lie: null where a call has more rows than there are registers for their addresses.
  void (*direct_apart)(const DirectCall& call);
  /// direct_apart of up to kNarrowResults columns, in vectors of steps, whose number is a multiple of `lanes`.
  void (*direct_narrow)(const DirectCall& call);
};
inline ConvKernels::Spread spread_of(const ConvKernels& kernels, DType dtype) {
  return dtype == DType::f16 ? kernels.spread_f16 : dtype == DType::bf16 ? kernels.spread_bf16 : kernels.spread;
}
/// Of x as it lies in memory; `rounds`: out has its dtype.
inline ConvKernels::Runs runs_of(const ConvKernels& kernels, DType dtype, bool rounds) {
  if (dtype == DType::f16) return rounds ? kernels.runs_to_f16 : kernels.runs_f16;
  if (dtype == DType::bf16) return rounds ? kernels.runs_to_bf16 : kernels.runs_bf16;
  return kernels.runs;
}
/// Of sums of 16-bit operands.
inline ConvKernels::Round round_of(const ConvKernels& kernels, DType dtype) {
  return dtype == DType::f16 ? kernels.round_f16 : kernels.round_bf16;
}
struct AllConvKernels {
  ConvKernels f32, f64;
};
/// Those of the SIMD target in use.
const AllConvKernels& conv_kernels();

}  // namespace tern::detail_cpu::conv
