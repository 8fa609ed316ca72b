// How one product is carried out: what is read in place, what is packed and where it is kept, and how large tiles are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cpu/products/gemm.hpp"
#include "cpu/products/gemm_depth.hpp"
#include "cpu/products/gemm_kernels.hpp"
#include "cpu/products/gemm_sizes.hpp"
#include "cpu/scratch.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

/// Of each thread: packed A, a panel of B, a tile of accumulators, a group of its columns, that tile transposed.
/// `shared` is the calling thread's, read by all.
struct TileScratch {
  ScratchBuffer a, b, tile, group, transposed, shared;
  ScratchBuffer own;          // B as this thread has packed it …
  std::uint64_t own_job = 0;  // … for this product …
  std::vector<bool> has;      // … as far as its tiles have met it: for each panel and block
};
inline TileScratch& scratch() { return detail::of_thread<TileScratch>(); }

inline bool long_rows(const GemmProblem& g, const GemmTypes& types) {
  return std::abs(g.b_row) * types.size >= kLongMatrixRow;
}

/// Whether B is read once, at the speed of memory.
inline bool streams_b(const GemmProblem& g, const GemmTypes& types) {
  return g.b_col == 1 && long_rows(g, types) && g.m <= kStreamRows;
}

/// Rows of A up to which B is read in place.
inline Int64 direct_rows(const GemmProblem& g, const GemmTypes& types) {
  const bool far = long_rows(g, types) && g.segments * g.k * g.n * types.compute_size > kOwnBytes;
  return std::max<Int64>(types.kernels->direct_rows, far && !types.integer ? reading().far_rows : 0);
}

struct TilePlan {
  const GemmProblem& g;
  GemmTypes types;
  DepthPlan depth;
  bool transposed;  // g is the transpose of the caller's problem: its C is to be transposed back
  TileSizes sizes = chosen_sizes();
  bool direct_a = false, direct_b = false;       // read in place
  bool dots = false;                             // by dot products, A and B contiguous along k
  bool by_groups = false;                        // the epilogue takes a tile's columns as they are done
  Int64 tile_rows = 0, tile_cols = 0, down = 1;  // tiles below each other, of at most tile_rows rows
  /// B is packed for all tiles, columns kept_begin …, kept_cols of them (a multiple of a panel): by all threads in
  /// `shared`, or by each, as it meets them, in its own memory for this `own_job`.
  bool keeps_b = false;
  const std::byte* shared = nullptr;
  std::uint64_t own_job = 0;
  Int64 kept_begin = 0, kept_cols = 0;

  /// Whether the kernels widen B as they read it.
  bool widens() const { return direct_b && types.size != types.compute_size; }
  Int64 max_rows() const {
    const Int64 rows = types.kernels->max_rows;
    return widens() ? std::min<Int64>(rows, kWideningRows) : rows;
  }
  Int64 panel() const { return types.kernels->panel_cols; }
  const std::byte* a(Int64 batch, Int64 segment, Int64 row, Int64 p) const {
    return static_cast<const std::byte*>(g.a) +
           (g.a_offsets[batch * g.segments + segment] + row * g.a_row + p * g.a_col) * types.size;
  }
  const std::byte* b(Int64 batch, Int64 segment, Int64 p, Int64 col) const {
    return static_cast<const std::byte*>(g.b) +
           (g.b_offsets[batch * g.segments + segment] + p * g.b_row + col * g.b_col) * types.size;
  }
};

/// A rectangle of C[batch].
struct Area {
  Int64 batch, row, rows, col, cols;
};

}  // namespace tern::detail_cpu
