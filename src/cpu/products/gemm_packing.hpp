// The operands of a product's tiles: in place, or packed as the micro-kernels read them.
#pragma once
#include "cpu/products/gemm_plan.hpp"

namespace tern::detail_cpu {

struct Panel {
  const std::byte* data;
  Int64 row, col;
};
/// Columns of B: in place, elements as they are stored, or packed as they are computed.
struct PanelOfB {
  const std::byte* data;
  Int64 row;
  bool stored;
  std::byte* packs_to = nullptr;  // read in place by the first call, which packs it for the others
};

/// Elements from row to row of a row-major packed block: an odd number of cache lines, so that the rows a micro-kernel
/// reads together do not share a cache set.
inline Int64 odd_lines(Int64 elements, Int64 compute_size) {
  const Int64 line = 64 / compute_size;
  return (ceil_div(elements, line) | 1) * line;
}

/// Rows of A for one block of the depth, as the micro-kernel reads them: in place, copied row by row, or
/// `side_by_side`: the rows of a call next to each other, step by step of the depth, as the rows of a column-major A
/// lie already.
struct PackedA {
  Panel first;
  Int64 row_step;  // a call that begins at row r begins r * row_step elements on
  bool side_by_side;
  bool tight = false;  // from step to step as many elements as a call has rows, and not first.col
};

/// In place, or row by row.
PackedA rows_of_a(const TilePlan& plan, const Area& area, const DepthBlock& block);
/// As suits the micro-kernels, in `calls` calls.
PackedA pack_a(const TilePlan& plan, const Area& area, const DepthBlock& block, Int64 calls);
/// Packs `cols` columns of B from `col` on for one block of the depth, in panels `panel_step` elements apart; the rest
/// of the last is 0. A strip of rows goes to all panels in turn, so that long rows are read in order: panel by panel,
/// each 128 bytes would come from another page.
void pack_b(const TilePlan& plan, Int64 batch, Int64 col, Int64 cols, const DepthBlock& block, std::byte* to,
            Int64 panel_step);
/// Where the packing of all of B at `base` holds the panel at `col` of one block of the depth.
std::byte* kept_panel(const TilePlan& plan, std::byte* base, Int64 col, const DepthBlock& block);
/// Columns of B from `col` on, `cols` of them on return, for `calls` calls on the i-th block of the depth: in place,
/// from what is kept packed, packed here or, where A lies `side_by_side` for micro_packing, by the first call.
PanelOfB panel_b(const TilePlan& plan, const Area& area, Int64 col, Int64 calls, bool side_by_side, Int64& cols,
                 Int64 i);

}  // namespace tern::detail_cpu
