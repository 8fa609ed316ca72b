#include "cpu/products/gemm_outer.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/machine/caches.hpp"
#include "cpu/products/gemm_kernels.hpp"
#include "cpu/products/gemm_sizes.hpp"
#include "cpu/scratch.hpp"
#include "cpu/machine/threads.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Of each thread: rows of A, of B, and of accumulators for the epilogue.
struct OuterScratch {
  ScratchBuffer a, b, rows;
};
OuterScratch& outer_scratch() { return detail::of_thread<OuterScratch>(); }

class OuterRun {
 public:
  explicit OuterRun(const GemmProblem& g)
      : g_(g),
        types_(gemm_types(g.type)),
        depth_(g.k * g.segments),
        cols_(std::min(g.n, kOuterTileCols)),
        rows_(std::clamp<Int64>(kOuterTile / cols_, 1, g.m)),
        stream_(streams()) {}

  void run() const {
    const Int64 across = ceil_div(g_.n, cols_), down = ceil_div(g_.m, rows_), tiles = g_.batches * down * across;
    const Int64 together = std::clamp<Int64>(kOuterTile / (rows_ * cols_), 1, tiles);
    parallel_for(ceil_div(tiles, together), [&](Int64 task) {
      for (Int64 t = task * together; t < std::min(tiles, (task + 1) * together); ++t) {
        const Int64 row = t / across % down * rows_, col = t % across * cols_;
        run_tile(t / (across * down), row, std::min(rows_, g_.m - row), col, std::min(cols_, g_.n - col));
      }
      if (stream_) hwy::FlushStream();
    });
  }

 private:
  /// A result of more than half of the last cache is read from memory anyway when it is met with an operand of its
  /// size, as a weight's gradient is: past the caches (1 × 1024 × 4096 f32 with backward, Zen 4 with 32 MiB: 0.7 of the
  /// time).
  bool streams() const {
    const Int64 width = types_.compute_size;
    const auto aligned = [](Int64 bytes) { return bytes % 64 == 0; };
    return g_.c && g_.batches * g_.m * g_.n * width > cache_bytes() / 2 && aligned(g_.c_row * width) &&
           std::all_of(g_.c_offsets, g_.c_offsets + g_.batches, [&](Int64 offset) {
             return aligned(static_cast<Int64>(reinterpret_cast<std::uintptr_t>(g_.c)) + offset * width);
           });
  }

  const std::byte* element(const void* data, Int64 offset) const {
    return static_cast<const std::byte*>(data) + offset * types_.size;
  }
  /// Rows of A, all their steps side by side.
  const std::byte* take_a(Int64 batch, Int64 row, Int64 rows) const {
    std::byte* const to = outer_scratch().a.reserve(rows * depth_ * types_.compute_size);
    for (Int64 s = 0; s < g_.segments; ++s)
      types_.kernels->copy({element(g_.a, g_.a_offsets[batch * g_.segments + s] + row * g_.a_row), g_.a_row, g_.a_col},
                           rows, g_.k, to + s * g_.k * types_.compute_size, depth_, g_.k);
    return to;
  }
  /// Every step's row of B, in whole vectors.
  const std::byte* take_b(Int64 batch, Int64 col, Int64 cols, Int64 padded) const {
    std::byte* const to = outer_scratch().b.reserve(depth_ * padded * types_.compute_size);
    for (Int64 s = 0; s < g_.segments; ++s)
      types_.kernels->copy({element(g_.b, g_.b_offsets[batch * g_.segments + s] + col * g_.b_col), g_.b_row, g_.b_col},
                           g_.k, cols, to + s * g_.k * padded * types_.compute_size, padded, padded);
    return to;
  }

  void run_tile(Int64 batch, Int64 row, Int64 rows, Int64 col, Int64 cols) const {
    const Int64 width = types_.compute_size, line = 64 / width, padded = ceil_div(cols, line) * line;
    const std::byte* const a = take_a(batch, row, rows);
    const std::byte* const b = take_b(batch, col, cols, padded);
    GemmOuter call{a, b, padded, nullptr, g_.c_row, depth_, rows, cols, stream_};
    if (g_.c) {
      call.c = static_cast<std::byte*>(g_.c) + (g_.c_offsets[batch] + row * g_.c_row + col) * width;
      return types_.computed->outer(call);
    }
    // The epilogue takes what L1 holds.
    const Int64 together = std::clamp<Int64>(kGroupBytes / (padded * width), 1, rows);
    call.c = outer_scratch().rows.reserve(together * padded * width), call.c_row = padded;
    for (Int64 r = 0; r < rows; r += together) {
      call.a = a + r * depth_ * width, call.rows = std::min(together, rows - r);
      types_.computed->outer(call);
      g_.epilogue(g_.context, {call.c, padded, batch, row + r, col, call.rows, cols});
    }
  }

  const GemmProblem& g_;
  GemmTypes types_;
  Int64 depth_, cols_, rows_;  // rows and columns of a tile
  bool stream_;
};

}  // namespace

bool gemm_outer(const GemmProblem& problem) {
  const Int64 depth = problem.k * problem.segments;
  if (depth == 0 || depth > kOuterDepth || problem.n < kOuterCols) return false;
  OuterRun(problem).run();
  return true;
}

}  // namespace tern::detail_cpu
