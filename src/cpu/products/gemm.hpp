// The CPU's matrix product: packed and blocked, with an epilogue applied to each tile while it is in cache.
#pragma once
#include <cstdint>

#include "tern/dtype.hpp"

namespace tern::detail_cpu {

/// One finished tile of the product: rows × cols accumulators of `acc_type` (f32 for f16, bf16 and f32 operands, f64
/// for f64, i32 and i64 for those), `stride` elements from row to row, at [row, col] of output batch `batch`.
struct Tile {
  const void* acc;
  std::int64_t stride, batch, row, col, rows, cols;
};

/// Elements from batch to batch of A, B and C.
struct GemmSteps {
  std::int64_t a, b, c;
};

/// C[b] = Σ_s A[b, s] · B[b, s] for every output batch b, summed over `segments` products (1 for an ordinary product;
/// more where batch axes are contracted, as in the gradient of a shared operand).
struct GemmProblem {
  DType type;                                // of A and B
  std::int64_t m, n, k;
  const void* a;                             // A[b, s](i, p) = a[a_offsets[b * segments + s] + i * a_row + p * a_col]
  std::int64_t a_row, a_col;                 // strides in elements; any sign or zero
  const void* b;                             // B[b, s](p, j) = b[b_offsets[b * segments + s] + p * b_row + j * b_col]
  std::int64_t b_row, b_col;
  std::int64_t batches, segments;
  const std::int64_t *a_offsets, *b_offsets;  // in elements, batches * segments of them
  /// Where not null there are no lists of offsets: batch b begins at b * step of each operand, and of C. Only of one
  /// segment, and only for gemm_small.
  const GemmSteps* steps;
  /// Where not null, the product itself is wanted, in `acc_type`: C[b](i, j) = c[c_offsets[b] + i * c_row + j], and
  /// `epilogue` is not called. Never overlaps A or B.
  void* c;
  std::int64_t c_row;
  const std::int64_t* c_offsets;
  /// Otherwise called once for each tile, from any thread (tiles do not overlap and cover each C[b] exactly).
  void (*epilogue)(void* context, const Tile& tile);
  void* context;
  /// Where not null, all that `epilogue` does is to store the product rounded to `type`:
  /// rounded[rounded_offsets[b] + i * rounded_row + j]. Kernels may do so instead. Never overlaps A or B.
  void* rounded;
  std::int64_t rounded_row;
  const std::int64_t* rounded_offsets;
};

/// Runs the product on all threads. The order in which any one element is summed depends on the shapes alone, not on
/// the number of threads. m, n and batches are at least 1; k or segments may be 0 (the product is then zeros).
void gemm(const GemmProblem& problem);

}  // namespace tern::detail_cpu
