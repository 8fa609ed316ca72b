#include "cpu/products/gemm_packing.hpp"

#include <algorithm>
#include <utility>

namespace tern::detail_cpu {

PackedA rows_of_a(const TilePlan& plan, const Area& area, const DepthBlock& block) {
  const GemmProblem& g = plan.g;
  if (plan.direct_a && block.segments == 1)
    return {{plan.a(area.batch, block.segment, area.row, block.begin), g.a_row, g.a_col}, g.a_row, false};
  const Int64 width = plan.types.compute_size, steps = block.end - block.begin, row = odd_lines(block.depth(), width);
  std::byte* const to = scratch().a.reserve(area.rows * row * width);
  for (Int64 s = 0; s < block.segments; ++s)
    plan.types.kernels->copy({plan.a(area.batch, block.segment + s, area.row, block.begin), g.a_row, g.a_col},
                             area.rows, steps, to + s * steps * width, row, steps);
  return {{to, row, 1}, row, false};
}

PackedA pack_a(const TilePlan& plan, const Area& area, const DepthBlock& block, Int64 calls) {
  const GemmProblem& g = plan.g;
  const Int64 width = plan.types.compute_size, steps = block.end - block.begin, depth = block.depth();
  const bool direct = plan.direct_a && block.segments == 1;
  if (direct && g.a_row == 1 && plan.types.kernels->micro_packed)
    return {{plan.a(area.batch, block.segment, area.row, block.begin), 1, g.a_col}, 1, true};
  const bool strides = plan.widens() || !plan.types.kernels->micro_packed;  // those kernels' A has some
  if (direct || strides || area.rows < kSideBySideRows) return rows_of_a(plan, area, block);
  std::byte* const to = scratch().a.reserve(area.rows * depth * width);
  for (Int64 s = 0; s < block.segments; ++s)
    for (Int64 call = 0; call < calls; ++call) {
      const EvenPart rows = even_part(call, calls, area.rows);
      plan.types.kernels->copy(
          {plan.a(area.batch, block.segment + s, area.row + rows.begin, block.begin), g.a_col, g.a_row}, steps,
          rows.count, to + (rows.begin * depth + s * steps * rows.count) * width, rows.count, rows.count);
    }
  return {{to, 1, 0}, depth, true, true};
}

void pack_b(const TilePlan& plan, Int64 batch, Int64 col, Int64 cols, const DepthBlock& block, std::byte* to,
            Int64 panel_step) {
  const GemmProblem& g = plan.g;
  const Int64 nr = plan.panel(), width = plan.types.compute_size, steps = block.end - block.begin;
  const Int64 strip = g.b_col == 1 && cols > nr ? kStripRows : steps;
  for (Int64 s = 0; s < block.segments; ++s)
    for (Int64 p = 0; p < steps; p += strip)
      for (Int64 j = 0; j < cols; j += nr)
        plan.types.kernels->copy({plan.b(batch, block.segment + s, block.begin + p, col + j), g.b_row, g.b_col},
                                 std::min(strip, steps - p), std::min(nr, cols - j),
                                 to + (j / nr * panel_step + (s * steps + p) * nr) * width, nr, nr);
}

std::byte* kept_panel(const TilePlan& plan, std::byte* base, Int64 col, const DepthBlock& block) {
  const Int64 offset = block.before * plan.kept_cols + (col - plan.kept_begin) * block.depth();
  return base + offset * plan.types.compute_size;
}

namespace {
/// This thread's own panel at `col` of the i-th block, and whether it has been packed; it is to be, if not.
std::pair<std::byte*, bool> own_panel(const TilePlan& plan, Int64 col, Int64 i) {
  TileScratch& mine = scratch();
  std::byte* const base = mine.own.reserve(plan.kept_cols * plan.depth.total() * plan.types.compute_size);
  const Int64 panels = plan.kept_cols / plan.panel(),
              place = (col - plan.kept_begin) / plan.panel() * plan.depth.count + i;
  if (mine.own_job != plan.own_job) {
    mine.has.assign(static_cast<std::size_t>(panels * plan.depth.count), false);
    mine.own_job = plan.own_job;
  }
  const bool has = mine.has[static_cast<std::size_t>(place)];
  mine.has[static_cast<std::size_t>(place)] = true;
  return {kept_panel(plan, base, col, plan.depth[i]), has};
}
}  // namespace

PanelOfB panel_b(const TilePlan& plan, const Area& area, Int64 col, Int64 calls, bool side_by_side, Int64& cols,
                 Int64 i) {
  const GemmProblem& g = plan.g;
  const DepthBlock block = plan.depth[i];
  const Int64 nr = plan.panel(), left = area.col + area.cols - col;
  cols = std::min(nr, left);
  if (plan.shared) return {kept_panel(plan, const_cast<std::byte*>(plan.shared), col, block), nr, false};
  const std::byte* const there = plan.b(area.batch, block.segment, block.begin, col);
  if (plan.direct_b && block.segments == 1) {
    // Calls of one row fewer may be wider, and would read beyond.
    const Int64 wide = plan.types.kernels->widest(ceil_div(area.rows, calls));
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

}  // namespace tern::detail_cpu
