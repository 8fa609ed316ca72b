#include "cpu/products/gemm_tile.hpp"

#include <algorithm>

#include "cpu/products/gemm_packing.hpp"

namespace tern::detail_cpu {
namespace {

/// Where a tile's accumulators go; `group` > 0: so many columns at a time, which the epilogue takes on from there.
struct Target {
  std::byte* data;
  Int64 row;
  Int64 group = 0;
};

void hand_over(const TilePlan& plan, const Target& from, const Area& area) {
  plan.g.epilogue(plan.g.context, {from.data, from.row, area.batch, area.row, area.col, area.rows, area.cols});
}

void clear(const TilePlan& plan, const Area& area, const Target& to) {
  for (Int64 i = 0; i < area.rows; ++i)
    std::fill_n(to.data + i * to.row * plan.types.compute_size, area.cols * plan.types.compute_size, std::byte{0});
}

/// What to prefetch during a micro-kernel call: at each of its steps the lines at data + p * step.
struct Prefetched {
  const std::byte* data;
  Int64 step;  // bytes
};

/// A share of `bytes` contiguous ones with each of `calls` calls.
Prefetched share_of(const std::byte* data, Int64 bytes, Int64 depth, Int64 call, Int64 calls) {
  const Int64 step = ceil_div(bytes, calls * depth);
  return {data + call * depth * step, step};
}

/// During the calls on one panel of B the next, so that it is in L2 in time (2048³ without: 0.89): read in place, the
/// next columns of the same rows; during the call that packs a panel, its own rows further down. During those on the
/// last, where B is streamed, the first columns of the i-th block's next (4096 × 1024, Zen 4: 1.08); where a tile is a
/// whole product of a batch and both operands are read in place, the operands of the next product (batches of 64³
/// without: 0.83).
Prefetched ahead_of(const TilePlan& plan, const Area& area, const PanelOfB& b, Int64 cols, Int64 left, Int64 i,
                    Int64 call, Int64 calls) {
  const GemmProblem& g = plan.g;
  const Int64 width = plan.types.compute_size, depth = plan.depth[i].depth();
  if (left > cols && plan.keeps_b && !b.packs_to)
    return share_of(b.data + b.row * depth * width, b.row * width * depth, depth, call, calls);
  const Int64 size = b.stored ? plan.types.size : width;
  if (b.packs_to && call == 0) return {b.data + kAheadRows * b.row * size, b.row * size};
  const bool streams = streams_b(g, plan.types), follows = !streams || size < width || reading().ahead;
  if (left > cols && follows) return {b.data + cols * size, b.row * size};
  if (left == cols && streams && follows && i + 1 < plan.depth.count) {
    const DepthBlock next = plan.depth[i + 1];
    return {plan.b(area.batch, next.segment, next.begin, area.col), b.row * size};
  }
  const bool whole = plan.direct_a && plan.direct_b && plan.depth.count == 1 && area.rows == g.m && area.cols == g.n;
  if (left > cols || !whole || calls < 2 || area.batch + 1 == g.batches) return {b.data, 0};
  const Int64 half = calls / 2;
  if (call < half) return share_of(plan.a(area.batch + 1, 0, 0, 0), g.m * g.k * width, depth, call, half);
  return share_of(plan.b(area.batch + 1, 0, 0, 0), g.n * g.k * width, depth, call - half, calls - half);
}

/// The tile's accumulators, block by block of the depth: a panel of B meets all rows of A, both from L2 or nearer. The
/// blocks but the last go to `partial`: adding to C in place costs 5 % where its rows are 4096 bytes apart.
void multiply(const TilePlan& plan, const Area& area, const Target& to, const Target& partial) {
  const Int64 width = plan.types.compute_size, calls = ceil_div(area.rows, plan.max_rows());
  for (Int64 i = 0; i < plan.depth.count; ++i) {
    const DepthBlock block = plan.depth[i];
    const PackedA a = pack_a(plan, area, block, calls);
    const bool last = i + 1 == plan.depth.count, grouped = last && to.group > 0;
    const Target& out = last ? to : partial;
    Int64 done = 0;  // columns that were handed over
    for (Int64 j = 0, cols; j < area.cols; j += cols) {
      const PanelOfB panel = panel_b(plan, area, area.col + j, calls, a.side_by_side, cols, i);
      for (Int64 call = 0; call < calls; ++call) {
        const bool packs = panel.packs_to && call == 0;
        const PanelOfB b = panel.packs_to && !packs ? PanelOfB{panel.packs_to, plan.panel(), false} : panel;
        const auto micro = packs            ? plan.types.kernels->micro_packing
                           : a.side_by_side ? plan.types.kernels->micro_packed
                           : b.stored       ? plan.types.kernels->micro_stored
                                            : plan.types.kernels->micro;
        const auto [r, rows] = even_part(call, calls, area.rows);
        const Prefetched next = ahead_of(plan, area, panel, cols, area.cols - j, i, call, calls);
        micro({a.first.data + r * a.row_step * width, a.first.row, a.tight ? rows : a.first.col, b.data, b.row,
               i == 0 ? nullptr : partial.data + (r * partial.row + j) * width, partial.row,
               out.data + (r * out.row + j - done) * width, out.row, block.depth(), rows, cols, next.data, next.step,
               b.packs_to});
      }
      const Int64 end = j + cols;
      if (!grouped || (end < area.cols && end - done < to.group)) continue;
      hand_over(plan, to, {area.batch, area.row, area.rows, area.col + done, end - done});
      done = end;
    }
  }
}

/// The same by dot products: A and B contiguous along k, A of compute type (packed whole for the area otherwise).
void multiply_dots(const TilePlan& plan, const Area& area, const Target& to, const Target&) {
  const GemmProblem& g = plan.g;
  for (Int64 i = 0; i < plan.depth.count; ++i) {
    const DepthBlock block = plan.depth[i];
    const PackedA a = rows_of_a(plan, area, block);
    plan.types.kernels->dot({a.first.data, a.first.row, plan.b(area.batch, block.segment, block.begin, area.col),
                             g.b_col, to.data, to.row, block.depth(), area.rows, area.cols, i > 0});
  }
}

/// Columns of a tile that the epilogue takes at a time, while L1 has them; 0: all at the end.
Int64 group_of(const TilePlan& plan, const Area& area) {
  if (!plan.by_groups || plan.depth.count == 0) return 0;
  const Int64 nr = plan.panel(),
              group = std::max(2 * nr, kGroupBytes / (area.rows * plan.types.compute_size) / nr * nr);
  return group < area.cols ? group : 0;
}

}  // namespace

void run_tile(const TilePlan& plan, const Area& area) {
  const GemmProblem& g = plan.g;
  const Int64 width = plan.types.compute_size, group = group_of(plan, area);
  std::byte* c = g.c ? static_cast<std::byte*>(g.c) + g.c_offsets[area.batch] * width : nullptr;
  const bool in_place = c && !plan.transposed;
  Target tile{nullptr, odd_lines(area.cols, width)}, to = tile;
  if ((!in_place && !group) || plan.depth.count > 1)
    to.data = tile.data = scratch().tile.reserve(area.rows * tile.row * width);
  if (in_place) to = {c + (area.row * g.c_row + area.col) * width, g.c_row};
  if (group) {
    const Int64 row =
        group + plan.types.kernels->widest(1);  // a panel may be as wide, and begins before the group is full
    to = {scratch().group.reserve(area.rows * row * width), row, group};
  }
  if (plan.depth.count == 0) {
    clear(plan, area, to);
  } else {
    (plan.dots ? multiply_dots : multiply)(plan, area, to, tile);
  }
  if (in_place || group) return;
  if (!plan.transposed) return hand_over(plan, to, area);
  const Area place{area.batch, area.col, area.cols, area.row, area.rows};
  const Int64 row = round_up(place.cols, 64 / width);
  const Target result = c ? Target{c + (place.row * g.c_row + place.col) * width, g.c_row}
                          : Target{scratch().transposed.reserve(place.rows * row * width), row};
  plan.types.computed->copy({to.data, 1, to.row}, place.rows, place.cols, result.data, result.row, place.cols);
  if (!c) hand_over(plan, result, place);
}

}  // namespace tern::detail_cpu
