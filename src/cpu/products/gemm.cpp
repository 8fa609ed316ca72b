// The driver of the CPU's matrix product: which kernels run on which blocks, in which order and on which thread. A
// tile is computed in gemm_tile.cpp, its operands are packed in gemm_packing.cpp, the arithmetic is in
// gemm_kernels-inl.h, the sizes of blocks are in gemm_sizes.hpp.
//
// Every element of C is summed in the same order, whatever the threads, tiles and packing: the depth is cut into blocks
// fixed by k and the segments alone, a micro-kernel sums a block from zero step by step, and the blocks' sums are added
// in order. Only thin products whose operands lie along k take another order (run_dots), and the shapes and strides
// alone decide that. So tiles may follow the number of threads.
#include "cpu/products/gemm.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>

#include "backend/instruments/trace.hpp"
#include "cpu/machine/threads.hpp"
#include "cpu/products/gemm_outer.hpp"
#include "cpu/products/gemm_packing.hpp"
#include "cpu/products/gemm_pairs.hpp"
#include "cpu/products/gemm_small.hpp"
#include "cpu/products/gemm_tile.hpp"

namespace tern::detail_cpu {
namespace {

/// Multiply-adds of an area, with the operands' traffic.
Int64 work_of(const TilePlan& plan, Int64 rows, Int64 cols) {
  return plan.depth.total() * (rows * cols + kTraffic * (rows + cols));
}

/// Halves the tiles' rows or columns; false where that would pack an operand twice for small tiles, if there is one for
/// each thread, or they are the smallest.
bool halve_tiles(TilePlan& plan, bool enough) {
  const Int64 mr = plan.max_rows(), nr = plan.panel();
  const Int64 again_a = plan.direct_a ? 0 : plan.tile_rows;
  const Int64 again_b = plan.direct_b || plan.keeps_b ? 0 : plan.tile_cols;
  const bool can_cols = plan.tile_cols >= 2 * nr, can_rows = plan.tile_rows >= 2 * mr;
  if (!can_cols && !can_rows) return false;
  const bool by_cols = can_cols && (!can_rows || again_a <= again_b);
  const Int64 again = by_cols ? again_a : again_b, left = by_cols ? plan.tile_cols / 2 : ceil_div(plan.tile_rows, 2);
  if (enough && again != 0 && left < 128) return false;
  (by_cols ? plan.tile_cols : plan.tile_rows) = by_cols ? round_up(left, nr) : left;
  return true;
}

/// Cuts tiles down until there are enough for all threads, then makes few of them as many for each. Four for each
/// thread level out what other programs take from them, if cutting costs no packing twice or the tiles stay large, and
/// B is not streamed.
void split_tiles(TilePlan& plan, Int64 rows, Int64 cols, Int64 batches) {
  const Int64 threads = max_threads();
  plan.tile_rows = std::min(plan.tile_rows, rows);
  plan.tile_cols = std::min(plan.tile_cols, round_up(cols, plan.panel()));
  const Int64 each = plan.direct_b && streams_b(plan.g, plan.types) ? 1 : 4;
  const Int64 want =
      threads == 1 ? 1 : std::min(each * threads, batches * work_of(plan, rows, cols) / plan.sizes.task_work);
  const auto others = [&] { return batches * ceil_div(cols, plan.tile_cols); };
  do {
    plan.down = ceil_div(rows, plan.tile_rows);
  } while (plan.down * others() < want && halve_tiles(plan, plan.down * others() >= threads));
  const Int64 even = round_up(plan.down, threads / std::gcd(others(), threads));
  const bool fit = rows / even >= std::min(plan.max_rows(), plan.tile_rows);
  if (plan.down > 1 && plan.down * others() < kFewTiles * threads && fit) plan.down = even;
}

/// All tiles of `cols` columns from `col` on of `batches` batches from `batch` on, in tasks that are worth it. The
/// tiles are of equal size, but for whole panels of columns: 14 rows left over would cost one thread a tile more. They
/// follow each other down the columns, so that a thread reads mostly B that it has packed, unless all of it is near.
void run_tiles(const TilePlan& plan, Int64 batch, Int64 batches, Int64 col, Int64 cols) {
  const Int64 rows = plan.g.m, nr = plan.panel(), panels = ceil_div(cols, nr);
  const Int64 down = plan.down, across = ceil_div(cols, plan.tile_cols);
  const Int64 tiles = batches * down * across;
  const Int64 tile_work = work_of(plan, rows / down, cols / across);
  const Int64 together =
      std::clamp<Int64>(plan.sizes.task_work / std::max<Int64>(tile_work, 1), 1, std::max<Int64>(1, tiles));
  const bool by_rows = plan.keeps_b && plan.depth.total() * cols * plan.types.compute_size <= kHeldBytes;
  const auto task = [&](Int64 t) {
    for (Int64 i = t * together; i < std::min(tiles, (t + 1) * together); ++i) {
      const Int64 r = by_rows ? i / across % down : i % down, c = by_rows ? i % across : i / down % across;
      const EvenPart down_part = even_part(r, down, rows), across_part = even_part(c, across, panels);
      const Int64 first = across_part.begin * nr;
      run_tile(plan, {batch + i / (across * down), down_part.begin, down_part.count, col + first,
                      std::min(cols - first, across_part.count * nr)});
    }
  };
  parallel_for(ceil_div(tiles, together), task);
}

/// Packs the kept columns of B, by all threads.
void pack_shared(TilePlan& plan, Int64 batch, Int64 cols) {
  const Int64 nr = plan.panel(), width = kPackPanels * nr, chunks = ceil_div(cols, width);
  std::byte* const base = scratch().shared.reserve(plan.kept_cols * plan.depth.total() * plan.types.compute_size);
  parallel_for(chunks * plan.depth.count, [&](Int64 t) {
    const DepthBlock block = plan.depth[t / chunks];
    const Int64 at = t % chunks * width, col = plan.kept_begin + at;
    pack_b(plan, batch, col, std::min(width, cols - at), block, kept_panel(plan, base, col, block), nr * block.depth());
  });
  plan.shared = base;
}

/// B packed for all tiles: for each range of columns that fits kSharedBytes, and for each batch unless all have the
/// same B.
void run_kept(TilePlan& plan, bool own) {
  const GemmProblem& g = plan.g;
  const Int64 nr = plan.panel(), column = plan.depth.total() * plan.types.compute_size;
  const Int64 range = std::min(round_up(g.n, nr), std::max(kSharedCols, kSharedBytes / column / nr * nr));
  const bool same = std::equal(g.b_offsets + g.segments, g.b_offsets + g.batches * g.segments, g.b_offsets);
  static std::atomic<std::uint64_t> jobs{0};
  for (Int64 batch = 0; batch < g.batches; batch += same ? g.batches : 1)
    for (Int64 col = 0; col < g.n; col += range) {
      const Int64 cols = std::min(range, g.n - col);
      plan.kept_begin = col, plan.kept_cols = round_up(cols, nr);
      if (own) {
        plan.own_job = ++jobs;
      } else {
        pack_shared(plan, batch, cols);
      }
      run_tiles(plan, batch, same ? g.batches : 1, col, cols);
    }
}

/// Whether consecutive rows fall into the same cache sets: 4096 bytes apart is the same set of L1.
bool rows_collide(Int64 stride, Int64 size) {
  const Int64 bytes = std::abs(stride * size) % 4096;
  return bytes < 256 || bytes > 4096 - 256;
}

/// Which way a product took, and why.
void note_way(const char* way) {
  if (detail::tracing()) detail::note(way);
}

void run_packed(TilePlan& plan) {
  const GemmProblem& g = plan.g;
  const bool is_computed_in = plan.types.size == plan.types.compute_size;
  const Int64 work = g.m * g.n * plan.depth.total();
  const bool rows_long = long_rows(g, plan.types);
  plan.direct_b = g.b_col == 1 && g.m <= direct_rows(g, plan.types);
  const Int64 a_bytes = g.m * g.k * plan.types.compute_size;
  const bool small_a = g.m * g.k * plan.types.size <= kSmallBytes;
  const bool apart = g.a_col != 1 || !rows_collide(g.a_row, plan.types.size);
  const Int64 direct_cols = plan.direct_b && max_threads() > 1 ? kDirectBothCols : reading().direct_cols;
  plan.direct_a = is_computed_in && (small_a || (g.n <= direct_cols && apart));
  // Few columns and an A that is read in place, or is no larger than B: a tile of all rows packs its columns of B for
  // no other, and nobody waits for a barrier.
  const bool packs_little = plan.direct_a || (g.m <= g.n && max_threads() <= kWholeThreads);
  const bool whole = packs_little && g.n <= kWholeCols && a_bytes <= kLocalBytes;
  // Tile by tile, a B with long rows would be packed from 128 bytes of every page.
  const bool worth = !plan.direct_b && !whole && work >= plan.sizes.shared_work &&
                     (g.m > plan.sizes.rows || (g.b_col == 1 && rows_long));
  const Int64 column = plan.depth.total() * plan.types.compute_size;
  plan.keeps_b = worth && kSharedBytes / column >= kSharedCols;
  const bool own = plan.keeps_b && g.b_col == 1 && column * g.n <= kOwnBytes;
  plan.tile_cols = streams_b(g, plan.types) ? kStreamCols : plan.sizes.row_bytes / plan.types.compute_size;
  plan.tile_rows = plan.sizes.rows;
  if (worth && !plan.keeps_b) {  // each tile packs its B and its A: squarer ones
    plan.tile_rows *= 4, plan.tile_cols /= 4;
  } else if (whole) {
    plan.tile_rows = g.m;
  } else if (!plan.keeps_b && a_bytes <= kLocalBytes) {
    plan.tile_rows = std::max(plan.sizes.rows, plan.sizes.rows * plan.tile_cols / std::min(plan.tile_cols, g.n));
  }
  plan.by_groups = !g.c && !plan.transposed;
  note_way(plan.direct_b  ? "b read in place, as few rows of a meet it"
           : own          ? "b packed once by each thread"
           : plan.keeps_b ? "b packed once for all threads"
                          : "b packed by each tile, as it is small or seldom met");
  split_tiles(plan, g.m, g.n, plan.keeps_b ? 1 : g.batches);
  if (plan.keeps_b) return run_kept(plan, own);
  run_tiles(plan, 0, g.batches, 0, g.n);
}

/// Whether the rows of A are so few, and B (not also row-major) lies along k, that dot products read both in place.
bool suits_dots(const GemmProblem& g, Int64 most_rows) {
  return g.m <= most_rows && g.b_row == 1 && (g.b_col != 1 || g.n == 1) && g.k >= kDotDepth;
}

void run_dots(TilePlan& plan) {
  const GemmProblem& g = plan.g;
  plan.direct_a = plan.types.size == plan.types.compute_size && g.a_col == 1;
  plan.direct_b = plan.dots = true;
  plan.tile_rows = g.m;
  plan.tile_cols = plan.sizes.row_bytes / plan.types.compute_size;
  split_tiles(plan, g.m, g.n, g.batches);
  run_tiles(plan, 0, g.batches, 0, g.n);
}

/// Where few rows of A meet long rows of B, B is read in place and memory is the limit: a short block keeps the pages
/// of its rows in the TLB while the columns are read from left to right (1 × 1024 × 4096: 2.3 times the speed of
/// kDepth).
Int64 depth_block(const GemmProblem& g, const GemmTypes& types) {
  if (streams_b(g, types)) return reading().stream;
  return g.b_col == 1 && long_rows(g, types) && g.m <= direct_rows(g, types) ? reading().direct : kDepth;
}

GemmProblem transposed(const GemmProblem& g) {
  GemmProblem t = g;
  t.m = g.n, t.n = g.m;
  t.a = g.b, t.a_row = g.b_col, t.a_col = g.b_row, t.a_offsets = g.b_offsets;
  t.b = g.a, t.b_row = g.a_col, t.b_col = g.a_row, t.b_offsets = g.a_offsets;
  return t;
}

}  // namespace

void gemm(const GemmProblem& problem) {
  if (gemm_small(problem)) return note_way("small products, their rows in registers");
  if (gemm_pairs(problem)) return note_way("pairs of bf16, as the processor has instructions for them");
  const GemmTypes types = gemm_types(problem.type);
  const GemmProblem swapped = transposed(problem);
  if (!types.integer) {
    const bool straight = suits_dots(problem, kDotRows);
    if (straight || suits_dots(swapped, kDotCols)) {
      const Int64 block = problem.k < kDotBlock ? problem.k : kDotBlock;  // one segment at a time
      TilePlan plan{straight ? problem : swapped, types, {problem.k, problem.segments, block}, !straight};
      note_way("dot products, as few rows or columns meet operands that lie along k");
      return run_dots(plan);
    }
  }
  if (gemm_outer(problem)) return note_way("row by row of the result, as k is short");
  const bool column_major = problem.a_row == 1 && problem.a_col != 1;
  const bool transposed = column_major && problem.n <= kTransposedCols && problem.m >= 4 * problem.n;
  const GemmProblem& g = transposed ? swapped : problem;
  TilePlan plan{g, types, {g.k, g.segments, depth_block(g, types)}, transposed};
  run_packed(plan);
}

}  // namespace tern::detail_cpu
