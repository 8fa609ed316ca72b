// The driver of the CPU's matrix product: which kernels run on which blocks, in which order and on which thread. The
// arithmetic is in gemm_kernels-inl.h, the sizes of blocks in gemm_sizes.hpp.
//
// Every element of C is summed in the same order, whatever the threads, tiles and packing: the depth is cut into blocks
// fixed by k and the segments alone, a micro-kernel sums a block from zero step by step, and the blocks' sums are added
// in order. Only thin products whose operands lie along k take another order (run_dots), and the shapes and strides
// alone decide that. So tiles may follow the number of threads.
//
// (Longer than other files: the ways to cut a product share its packed blocks and are templates of its types.)
#include "cpu/products/gemm.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "backend/instruments/trace.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/products/gemm_depth.hpp"
#include "cpu/products/gemm_kernels.hpp"
#include "cpu/products/gemm_outer.hpp"
#include "cpu/products/gemm_pairs.hpp"
#include "cpu/products/gemm_small.hpp"
#include "cpu/products/gemm_sizes.hpp"
#include "cpu/scratch.hpp"
#include "cpu/machine/threads.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

constexpr Index round_up(Index a, Index b) { return divide_up(a, b) * b; }

/// The i-th of `parts` parts of nearly the same size: 73 as five times 12 and 13.
struct Part {
  Index begin, count;
};
constexpr Part part_of(Index i, Index parts, Index total) {
  const Index begin = i * total / parts;
  return {begin, (i + 1) * total / parts - begin};
}

// ---- scratch memory

/// Of each thread: packed A, a panel of B, a tile of accumulators, a group of its columns, that tile transposed.
/// `shared` is the calling thread's, read by all.
struct Scratch {
  Buffer a, b, tile, group, turned, shared;
  Buffer own;                 // B as this thread has packed it …
  std::uint64_t own_job = 0;  // … for this product …
  std::vector<bool> has;      // … as far as its tiles have met it: for each panel and block
};
Scratch& scratch() {
  return detail::of_thread<Scratch>();
}

// ---- the plan of one product

bool long_rows(const GemmProblem& g, const GemmTypes& types) { return std::abs(g.b_row) * types.size >= kLongRow; }

/// Whether B is read once, at the speed of memory.
bool streams_b(const GemmProblem& g, const GemmTypes& types) {
  return g.b_col == 1 && long_rows(g, types) && g.m <= kStreamRows;
}

/// Rows of A up to which B is read in place.
Index direct_rows(const GemmProblem& g, const GemmTypes& types) {
  const bool far = long_rows(g, types) && g.segments * g.k * g.n * types.compute_size > kOwnBytes;
  return std::max<Index>(types.kernels->direct_rows, far && !types.integer ? reading().far_rows : 0);
}

struct TilePlan {
  const GemmProblem& g;
  GemmTypes types;
  DepthPlan depth;
  bool turned;  // g is the transpose of the caller's problem: its C is to be turned back
  Sizes sizes = chosen_sizes();
  bool direct_a = false, direct_b = false;  // read in place
  bool by_groups = false;  // the epilogue takes a tile's columns as they are done
  Index tile_rows = 0, tile_cols = 0, down = 1;  // tiles below each other, of at most tile_rows rows
  /// B is packed for all tiles, columns kept_begin …, kept_cols of them (a multiple of a panel): by all threads in
  /// `shared`, or by each, as it meets them, in its own memory for this `own_job`.
  bool keeps_b = false;
  const std::byte* shared = nullptr;
  std::uint64_t own_job = 0;
  Index kept_begin = 0, kept_cols = 0;

  /// Whether the kernels widen B as they read it.
  bool widens() const { return direct_b && types.size != types.compute_size; }
  Index max_rows() const {
    const Index rows = types.kernels->max_rows;
    return widens() ? std::min<Index>(rows, kWideningRows) : rows;
  }
  Index panel() const { return types.kernels->panel_cols; }
  const std::byte* a(Index batch, Index segment, Index row, Index p) const {
    return static_cast<const std::byte*>(g.a) +
           (g.a_offsets[batch * g.segments + segment] + row * g.a_row + p * g.a_col) * types.size;
  }
  const std::byte* b(Index batch, Index segment, Index p, Index col) const {
    return static_cast<const std::byte*>(g.b) +
           (g.b_offsets[batch * g.segments + segment] + p * g.b_row + col * g.b_col) * types.size;
  }
};

/// A rectangle of C[batch].
struct Area {
  Index batch, row, rows, col, cols;
};

// ---- packing

struct Panel {
  const std::byte* data;
  Index row, col;
};
/// Columns of B: in place, elements as they are stored, or packed in lanes.
struct PanelOfB {
  const std::byte* data;
  Index row;
  bool stored;
  std::byte* packs_to = nullptr;  // read in place by the first call, which packs it for the others
};

/// Elements from row to row of a row-major packed block: an odd number of cache lines, so that the rows a micro-kernel
/// reads together do not share a cache set.
Index odd_lines(Index elements, Index compute_size) {
  const Index line = 64 / compute_size;
  return (divide_up(elements, line) | 1) * line;
}

/// Rows of A for one block of the depth, as the micro-kernel reads them: in place, copied row by row, or
/// `side_by_side`: the rows of a call next to each other, step by step of the depth, as the rows of a column-major A
/// lie already.
struct PackedA {
  Panel first;
  Index row_step;  // a call that begins at row r begins r * row_step elements on
  bool side_by_side;
  bool tight = false;  // from step to step as many elements as a call has rows, and not first.col
};

/// In place, or row by row.
PackedA rows_of_a(const TilePlan& plan, const Area& area, const DepthBlock& block) {
  const GemmProblem& g = plan.g;
  if (plan.direct_a && block.segments == 1)
    return {{plan.a(area.batch, block.segment, area.row, block.begin), g.a_row, g.a_col}, g.a_row, false};
  const Index width = plan.types.compute_size, steps = block.end - block.begin, row = odd_lines(block.depth(), width);
  std::byte* const to = scratch().a.reserve(area.rows * row * width);
  for (Index s = 0; s < block.segments; ++s)
    plan.types.kernels->copy({plan.a(area.batch, block.segment + s, area.row, block.begin), g.a_row, g.a_col},
                             area.rows, steps, to + s * steps * width, row, steps);
  return {{to, row, 1}, row, false};
}

/// As suits the micro-kernels, in `calls` calls.
PackedA pack_a(const TilePlan& plan, const Area& area, const DepthBlock& block, Index calls) {
  const GemmProblem& g = plan.g;
  const Index width = plan.types.compute_size, steps = block.end - block.begin, depth = block.depth();
  const bool direct = plan.direct_a && block.segments == 1;
  if (direct && g.a_row == 1 && plan.types.kernels->micro_packed)
    return {{plan.a(area.batch, block.segment, area.row, block.begin), 1, g.a_col}, 1, true};
  const bool strides = plan.widens() || !plan.types.kernels->micro_packed;  // those kernels' A has some
  if (direct || strides || area.rows < kSideBySideRows)
    return rows_of_a(plan, area, block);
  std::byte* const to = scratch().a.reserve(area.rows * depth * width);
  for (Index s = 0; s < block.segments; ++s)
    for (Index call = 0; call < calls; ++call) {
      const Part rows = part_of(call, calls, area.rows);
      plan.types.kernels->copy(
          {plan.a(area.batch, block.segment + s, area.row + rows.begin, block.begin), g.a_col, g.a_row}, steps,
          rows.count, to + (rows.begin * depth + s * steps * rows.count) * width, rows.count, rows.count);
    }
  return {{to, 1, 0}, depth, true, true};
}

/// Packs `cols` columns of B from `col` on for one block of the depth, in panels `panel_step` elements apart; the rest
/// of the last is 0. A strip of rows goes to all panels in turn, so that long rows are read in order: panel by panel,
/// each 128 bytes would come from another page.
void pack_b(const TilePlan& plan, Index batch, Index col, Index cols, const DepthBlock& block, std::byte* to,
            Index panel_step) {
  const GemmProblem& g = plan.g;
  const Index nr = plan.panel(), width = plan.types.compute_size, steps = block.end - block.begin;
  const Index strip = g.b_col == 1 && cols > nr ? kStripRows : steps;
  for (Index s = 0; s < block.segments; ++s)
    for (Index p = 0; p < steps; p += strip)
      for (Index j = 0; j < cols; j += nr)
        plan.types.kernels->copy({plan.b(batch, block.segment + s, block.begin + p, col + j), g.b_row, g.b_col},
                                 std::min(strip, steps - p), std::min(nr, cols - j),
                                 to + (j / nr * panel_step + (s * steps + p) * nr) * width, nr, nr);
}

/// Where the packing of all of B at `base` holds the panel at `col` of one block of the depth.
std::byte* kept_panel(const TilePlan& plan, std::byte* base, Index col, const DepthBlock& block) {
  const Index offset = block.before * plan.kept_cols + (col - plan.kept_begin) * block.depth();
  return base + offset * plan.types.compute_size;
}

/// This thread's own panel at `col` of the i-th block, and whether it has been packed; it is to be, if not.
std::pair<std::byte*, bool> own_panel(const TilePlan& plan, Index col, Index i) {
  Scratch& mine = scratch();
  std::byte* const base = mine.own.reserve(plan.kept_cols * plan.depth.total() * plan.types.compute_size);
  const Index panels = plan.kept_cols / plan.panel(),
              place = (col - plan.kept_begin) / plan.panel() * plan.depth.count + i;
  if (mine.own_job != plan.own_job) {
    mine.has.assign(static_cast<std::size_t>(panels * plan.depth.count), false);
    mine.own_job = plan.own_job;
  }
  const bool has = mine.has[static_cast<std::size_t>(place)];
  mine.has[static_cast<std::size_t>(place)] = true;
  return {kept_panel(plan, base, col, plan.depth[i]), has};
}

/// Columns of B from `col` on, `cols` of them on return, for `calls` calls on the i-th block of the depth: in place,
/// from what is kept packed, packed here or, where A lies `side_by_side` for micro_packing, by the first call.
PanelOfB panel_b(const TilePlan& plan, const Area& area, Index col, Index calls, bool side_by_side, Index& cols,
                 Index i) {
  const GemmProblem& g = plan.g;
  const DepthBlock block = plan.depth[i];
  const Index nr = plan.panel(), left = area.col + area.cols - col;
  cols = std::min(nr, left);
  if (plan.shared) return {kept_panel(plan, const_cast<std::byte*>(plan.shared), col, block), nr, false};
  const std::byte* const there = plan.b(area.batch, block.segment, block.begin, col);
  if (plan.direct_b && block.segments == 1) {
    // Calls of one row fewer may be wider, and would read beyond.
    const Index wide = plan.types.kernels->widest(divide_up(area.rows, calls));
    if (left >= wide && wide == plan.types.kernels->widest(area.rows / calls)) cols = wide;
    if (left >= nr || left == plan.types.kernels->lanes) return {there, g.b_row, true};
  }
  const auto [to, has] =
      plan.keeps_b ? own_panel(plan, col, i)
                   : std::pair{scratch().b.reserve(plan.depth.longest() * nr * plan.types.compute_size), false};
  if (has) return {to, nr, false};
  if (side_by_side && g.b_col == 1 && left >= nr && block.segments == 1) return {there, g.b_row, true, to};
  pack_b(plan, area.batch, col, cols, block, to, 0);
  return {to, nr, false};
}

// ---- one tile

/// Where a tile's accumulators go; `group` > 0: so many columns at a time, which the epilogue takes on from there.
struct Target {
  std::byte* data;
  Index row;
  Index group = 0;
};

void hand_over(const TilePlan& plan, const Target& from, const Area& area) {
  plan.g.epilogue(plan.g.context, {from.data, from.row, area.batch, area.row, area.col, area.rows, area.cols});
}

void clear(const TilePlan& plan, const Area& area, const Target& to) {
  for (Index i = 0; i < area.rows; ++i)
    std::fill_n(to.data + i * to.row * plan.types.compute_size, area.cols * plan.types.compute_size, std::byte{0});
}

/// What to prefetch during a micro-kernel call: at each of its steps the lines at data + p * step.
struct Ahead {
  const std::byte* data;
  Index step;  // bytes
};

/// A share of `bytes` contiguous ones with each of `calls` calls.
Ahead share_of(const std::byte* data, Index bytes, Index depth, Index call, Index calls) {
  const Index step = divide_up(bytes, calls * depth);
  return {data + call * depth * step, step};
}

/// During the calls on one panel of B the next, so that it is in L2 in time (2048³ without: 0.89): read in place, the
/// next columns of the same rows; during the call that packs a panel, its own rows further down. During those on the
/// last, where B is streamed, the first columns of the i-th block's next (4096 × 1024, Zen 4: 1.08); where a tile is a
/// whole product of a batch and both operands are read in place, the operands of the next product (batches of 64³
/// without: 0.83).
Ahead ahead_of(const TilePlan& plan, const Area& area, const PanelOfB& b, Index cols, Index left, Index i, Index call,
               Index calls) {
  const GemmProblem& g = plan.g;
  const Index width = plan.types.compute_size, depth = plan.depth[i].depth();
  if (left > cols && plan.keeps_b && !b.packs_to)
    return share_of(b.data + b.row * depth * width, b.row * width * depth, depth, call, calls);
  const Index size = b.stored ? plan.types.size : width;
  if (b.packs_to && call == 0) return {b.data + kAheadRows * b.row * size, b.row * size};
  const bool streams = streams_b(g, plan.types), follows = !streams || size < width || reading().ahead;
  if (left > cols && follows) return {b.data + cols * size, b.row * size};
  if (left == cols && streams && follows && i + 1 < plan.depth.count) {
    const DepthBlock next = plan.depth[i + 1];
    return {plan.b(area.batch, next.segment, next.begin, area.col), b.row * size};
  }
  const bool whole =
      plan.direct_a && plan.direct_b && plan.depth.count == 1 && area.rows == g.m && area.cols == g.n;
  if (left > cols || !whole || calls < 2 || area.batch + 1 == g.batches) return {b.data, 0};
  const Index half = calls / 2;
  if (call < half) return share_of(plan.a(area.batch + 1, 0, 0, 0), g.m * g.k * width, depth, call, half);
  return share_of(plan.b(area.batch + 1, 0, 0, 0), g.n * g.k * width, depth, call - half, calls - half);
}

/// The tile's accumulators, block by block of the depth: a panel of B meets all rows of A, both from L2 or nearer. The
/// blocks but the last go to `partial`: adding to C in place costs 5 % where its rows are 4096 bytes apart.
void multiply(const TilePlan& plan, const Area& area, const Target& to, const Target& partial) {
  const Index width = plan.types.compute_size, calls = divide_up(area.rows, plan.max_rows());
  for (Index i = 0; i < plan.depth.count; ++i) {
    const DepthBlock block = plan.depth[i];
    const PackedA a = pack_a(plan, area, block, calls);
    const bool last = i + 1 == plan.depth.count, grouped = last && to.group > 0;
    const Target& out = last ? to : partial;
    Index done = 0;  // columns that were handed over
    for (Index j = 0, cols; j < area.cols; j += cols) {
      const PanelOfB panel = panel_b(plan, area, area.col + j, calls, a.side_by_side, cols, i);
      for (Index call = 0; call < calls; ++call) {
        const bool packs = panel.packs_to && call == 0;
        const PanelOfB b = panel.packs_to && !packs ? PanelOfB{panel.packs_to, plan.panel(), false} : panel;
        const auto micro = packs            ? plan.types.kernels->micro_packing
                           : a.side_by_side ? plan.types.kernels->micro_packed
                           : b.stored       ? plan.types.kernels->micro_stored
                                            : plan.types.kernels->micro;
        const auto [r, rows] = part_of(call, calls, area.rows);
        const Ahead next = ahead_of(plan, area, panel, cols, area.cols - j, i, call, calls);
        micro({a.first.data + r * a.row_step * width, a.first.row, a.tight ? rows : a.first.col, b.data, b.row,
               i == 0 ? nullptr : partial.data + (r * partial.row + j) * width, partial.row,
               out.data + (r * out.row + j - done) * width, out.row, block.depth(), rows, cols, next.data, next.step,
               b.packs_to});
      }
      const Index end = j + cols;
      if (!grouped || (end < area.cols && end - done < to.group)) continue;
      hand_over(plan, to, {area.batch, area.row, area.rows, area.col + done, end - done});
      done = end;
    }
  }
}

/// The same by dot products: A and B contiguous along k, A of compute type (packed whole for the area otherwise).
void multiply_dots(const TilePlan& plan, const Area& area, const Target& to, const Target&) {
  const GemmProblem& g = plan.g;
  for (Index i = 0; i < plan.depth.count; ++i) {
    const DepthBlock block = plan.depth[i];
    const PackedA a = rows_of_a(plan, area, block);
    plan.types.kernels->dot({a.first.data, a.first.row, plan.b(area.batch, block.segment, block.begin, area.col),
                             g.b_col, to.data, to.row, block.depth(), area.rows, area.cols, i > 0});
  }
}

/// Columns of a tile that the epilogue takes at a time, while L1 has them; 0: all at the end.
Index group_of(const TilePlan& plan, const Area& area) {
  if (!plan.by_groups || plan.depth.count == 0) return 0;
  const Index nr = plan.panel(),
              group = std::max(2 * nr, kGroupBytes / (area.rows * plan.types.compute_size) / nr * nr);
  return group < area.cols ? group : 0;
}

/// Computes one tile of the plan's problem and hands it over: to C, or to the epilogue.
template <class Multiply> void run_tile(const TilePlan& plan, const Area& area, Multiply multiply_tile) {
  const GemmProblem& g = plan.g;
  const Index width = plan.types.compute_size, group = group_of(plan, area);
  std::byte* c = g.c ? static_cast<std::byte*>(g.c) + g.c_offsets[area.batch] * width : nullptr;
  const bool in_place = c && !plan.turned;
  Target tile{nullptr, odd_lines(area.cols, width)}, to = tile;
  if ((!in_place && !group) || plan.depth.count > 1)
    to.data = tile.data = scratch().tile.reserve(area.rows * tile.row * width);
  if (in_place) to = {c + (area.row * g.c_row + area.col) * width, g.c_row};
  if (group) {
    const Index row =
        group + plan.types.kernels->widest(1);  // a panel may be as wide, and begins before the group is full
    to = {scratch().group.reserve(area.rows * row * width), row, group};
  }
  if (plan.depth.count == 0) {
    clear(plan, area, to);
  } else {
    multiply_tile(plan, area, to, tile);
  }
  if (in_place || group) return;
  if (!plan.turned) return hand_over(plan, to, area);
  const Area place{area.batch, area.col, area.cols, area.row, area.rows};
  const Index row = round_up(place.cols, 64 / width);
  const Target result = c ? Target{c + (place.row * g.c_row + place.col) * width, g.c_row}
                          : Target{scratch().turned.reserve(place.rows * row * width), row};
  plan.types.computed->copy({to.data, 1, to.row}, place.rows, place.cols, result.data, result.row, place.cols);
  if (!c) hand_over(plan, result, place);
}

// ---- tiles and tasks

/// Multiply-adds of an area, with the operands' traffic.
Index work_of(const TilePlan& plan, Index rows, Index cols) {
  return plan.depth.total() * (rows * cols + kTraffic * (rows + cols));
}

/// Halves the tiles' rows or columns; false where that would pack an operand twice for small tiles, if there is one for
/// each thread, or they are the smallest.
bool halve_tiles(TilePlan& plan, bool enough) {
  const Index mr = plan.max_rows(), nr = plan.panel();
  const Index again_a = plan.direct_a ? 0 : plan.tile_rows;
  const Index again_b = plan.direct_b || plan.keeps_b ? 0 : plan.tile_cols;
  const bool can_cols = plan.tile_cols >= 2 * nr, can_rows = plan.tile_rows >= 2 * mr;
  if (!can_cols && !can_rows) return false;
  const bool by_cols = can_cols && (!can_rows || again_a <= again_b);
  const Index again = by_cols ? again_a : again_b, left = by_cols ? plan.tile_cols / 2 : divide_up(plan.tile_rows, 2);
  if (enough && again != 0 && left < 128) return false;
  (by_cols ? plan.tile_cols : plan.tile_rows) = by_cols ? round_up(left, nr) : left;
  return true;
}

/// Cuts tiles down until there are enough for all threads, then makes few of them as many for each. Four for each
/// thread level out what other programs take from them, if cutting costs no packing twice or the tiles stay large, and
/// B is not streamed.
void split_tiles(TilePlan& plan, Index rows, Index cols, Index batches) {
  const Index threads = max_threads();
  plan.tile_rows = std::min(plan.tile_rows, rows);
  plan.tile_cols = std::min(plan.tile_cols, round_up(cols, plan.panel()));
  const Index each = plan.direct_b && streams_b(plan.g, plan.types) ? 1 : 4;
  const Index want =
      threads == 1 ? 1 : std::min(each * threads, batches * work_of(plan, rows, cols) / plan.sizes.task_work);
  const auto others = [&] { return batches * divide_up(cols, plan.tile_cols); };
  do {
    plan.down = divide_up(rows, plan.tile_rows);
  } while (plan.down * others() < want && halve_tiles(plan, plan.down * others() >= threads));
  const Index even = round_up(plan.down, threads / std::gcd(others(), threads));
  const bool fit = rows / even >= std::min(plan.max_rows(), plan.tile_rows);
  if (plan.down > 1 && plan.down * others() < kFewTiles * threads && fit) plan.down = even;
}

/// All tiles of `cols` columns from `col` on of `batches` batches from `batch` on, in tasks that are worth it. The
/// tiles are of equal size, but for whole panels of columns: 14 rows left over would cost one thread a tile more. They
/// follow each other down the columns, so that a thread reads mostly B that it has packed, unless all of it is near.
template <class Multiply>
void run_tiles(const TilePlan& plan, Index batch, Index batches, Index col, Index cols, Multiply multiply_tile) {
  const Index rows = plan.g.m, nr = plan.panel(), panels = divide_up(cols, nr);
  const Index down = plan.down, across = divide_up(cols, plan.tile_cols);
  const Index tiles = batches * down * across;
  const Index tile_work = work_of(plan, rows / down, cols / across);
  const Index together =
      std::clamp<Index>(plan.sizes.task_work / std::max<Index>(tile_work, 1), 1, std::max<Index>(1, tiles));
  const bool by_rows = plan.keeps_b && plan.depth.total() * cols * plan.types.compute_size <= kHeldBytes;
  const auto task = [&](Index t) {
    for (Index i = t * together; i < std::min(tiles, (t + 1) * together); ++i) {
      const Index r = by_rows ? i / across % down : i % down, c = by_rows ? i % across : i / down % across;
      const Part down_part = part_of(r, down, rows), across_part = part_of(c, across, panels);
      const Index first = across_part.begin * nr;
      run_tile(plan, {batch + i / (across * down), down_part.begin, down_part.count, col + first,
                      std::min(cols - first, across_part.count * nr)}, multiply_tile);
    }
  };
  parallel_for(divide_up(tiles, together), task);
}

/// Packs the kept columns of B, by all threads.
void pack_shared(TilePlan& plan, Index batch, Index cols) {
  const Index nr = plan.panel(), width = kPackPanels * nr, chunks = divide_up(cols, width);
  std::byte* const base = scratch().shared.reserve(plan.kept_cols * plan.depth.total() * plan.types.compute_size);
  parallel_for(chunks * plan.depth.count, [&](Index t) {
    const DepthBlock block = plan.depth[t / chunks];
    const Index at = t % chunks * width, col = plan.kept_begin + at;
    pack_b(plan, batch, col, std::min(width, cols - at), block, kept_panel(plan, base, col, block), nr * block.depth());
  });
  plan.shared = base;
}

/// B packed for all tiles: for each range of columns that fits kSharedBytes, and for each batch unless all have the
/// same B.
void run_kept(TilePlan& plan, bool own) {
  const GemmProblem& g = plan.g;
  const Index nr = plan.panel(), column = plan.depth.total() * plan.types.compute_size;
  const Index range = std::min(round_up(g.n, nr), std::max(kSharedCols, kSharedBytes / column / nr * nr));
  const bool same = std::equal(g.b_offsets + g.segments, g.b_offsets + g.batches * g.segments, g.b_offsets);
  static std::atomic<std::uint64_t> jobs{0};
  for (Index batch = 0; batch < g.batches; batch += same ? g.batches : 1)
    for (Index col = 0; col < g.n; col += range) {
      const Index cols = std::min(range, g.n - col);
      plan.kept_begin = col, plan.kept_cols = round_up(cols, nr);
      if (own) {
        plan.own_job = ++jobs;
      } else {
        pack_shared(plan, batch, cols);
      }
      run_tiles(plan, batch, same ? g.batches : 1, col, cols, multiply);
    }
}

/// Whether consecutive rows fall into the same cache sets: 4096 bytes apart is the same set of L1.
bool rows_collide(Index stride, Index size) {
  const Index bytes = std::abs(stride * size) % 4096;
  return bytes < 256 || bytes > 4096 - 256;
}

/// Which way a product took, and why.
void note_way(const char* way) {
  if (detail::tracing()) detail::note(way);
}

void run_packed(TilePlan& plan) {
  const GemmProblem& g = plan.g;
  const bool is_computed_in = plan.types.size == plan.types.compute_size;
  const Index work = g.m * g.n * plan.depth.total();
  const bool rows_long = long_rows(g, plan.types);
  plan.direct_b = g.b_col == 1 && g.m <= direct_rows(g, plan.types);
  const Index a_bytes = g.m * g.k * plan.types.compute_size;
  const bool small_a = g.m * g.k * plan.types.size <= kSmallBytes;
  const bool apart = g.a_col != 1 || !rows_collide(g.a_row, plan.types.size);
  const Index direct_cols = plan.direct_b && max_threads() > 1 ? kDirectBothCols : reading().direct_cols;
  plan.direct_a = is_computed_in && (small_a || (g.n <= direct_cols && apart));
  // Few columns and an A that is read in place, or is no larger than B: a tile of all rows packs its columns of B for
  // no other, and nobody waits for a barrier.
  const bool packs_little = plan.direct_a || (g.m <= g.n && max_threads() <= kWholeThreads);
  const bool whole = packs_little && g.n <= kWholeCols && a_bytes <= kLocalBytes;
  // Tile by tile, a B with long rows would be packed from 128 bytes of every page.
  const bool worth = !plan.direct_b && !whole && work >= plan.sizes.shared_work &&
                     (g.m > plan.sizes.rows || (g.b_col == 1 && rows_long));
  const Index column = plan.depth.total() * plan.types.compute_size;
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
  plan.by_groups = !g.c && !plan.turned;
  note_way(plan.direct_b  ? "b read in place, as few rows of a meet it"
           : own          ? "b packed once by each thread"
           : plan.keeps_b ? "b packed once for all threads"
                          : "b packed by each tile, as it is small or seldom met");
  split_tiles(plan, g.m, g.n, plan.keeps_b ? 1 : g.batches);
  if (plan.keeps_b) return run_kept(plan, own);
  run_tiles(plan, 0, g.batches, 0, g.n, multiply);
}

/// Whether the rows of A are so few, and B (not also row-major) lies along k, that dot products read both in place.
bool suits_dots(const GemmProblem& g, Index most_rows) {
  return g.m <= most_rows && g.b_row == 1 && (g.b_col != 1 || g.n == 1) && g.k >= kDotDepth;
}

void run_dots(TilePlan& plan) {
  const GemmProblem& g = plan.g;
  plan.direct_a = plan.types.size == plan.types.compute_size && g.a_col == 1;
  plan.direct_b = true;
  plan.tile_rows = g.m;
  plan.tile_cols = plan.sizes.row_bytes / plan.types.compute_size;
  split_tiles(plan, g.m, g.n, g.batches);
  run_tiles(plan, 0, g.batches, 0, g.n, multiply_dots);
}

/// Where few rows of A meet long rows of B, B is read in place and memory is the limit: a short block keeps the pages
/// of its rows in the TLB while the columns are read from left to right (1 × 1024 × 4096: 2.3 times the speed of
/// kDepth).
Index depth_block(const GemmProblem& g, const GemmTypes& types) {
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
      const Index block = problem.k < kDotBlock ? problem.k : kDotBlock;  // one segment at a time
      TilePlan plan{straight ? problem : swapped, types, {problem.k, problem.segments, block}, !straight};
      note_way("dot products, as few rows or columns meet operands that lie along k");
      return run_dots(plan);
    }
  }
  if (gemm_outer(problem)) return note_way("row by row of the result, as k is short");
  const bool column_major = problem.a_row == 1 && problem.a_col != 1;
  const bool turned = column_major && problem.n <= kTurnedCols && problem.m >= 4 * problem.n;
  const GemmProblem& g = turned ? swapped : problem;
  TilePlan plan{g, types, {g.k, g.segments, depth_block(g, types)}, turned};
  run_packed(plan);
}

}  // namespace tern::detail_cpu
