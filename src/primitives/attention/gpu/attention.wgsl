// Attention, forward, in what the GPU languages share (dialect.hpp): any dtype, layout, mask and formula.
//
//                  columns: a tile at a time
//               ┌──────┬──────┬──────┐              A workgroup has the rows of a tile of one head. An invocation
//   rows of     │ 4×4  │      │      │   sums       (ty, tx) has blocks of 4 × 4 scores, and of 4 × 4 sums, spread
//   a tile      ├──────┤      │      │   [rows ×    evenly over both, in registers (as gemm.wgsl, which draws them).
//               │ 4×4  │      │      │   width]
//               └──────┴──────┴──────┘
//
// For each tile of columns that a row of the tile may see by its place:
//   scores   steps of the depth of q and k are fetched into workgroup memory and multiplied
//   formula  on a row of an invocation's scores at a time, as those move up through its first row
//   maxima   of a row, by way of workgroup memory; sums of exponentials stay with each invocation until the end
//   shares   go to workgroup memory, [column][row / 4] vectors of four. Column 4·tx + e stands in line e·across + tx,
//            so that neighbours write to neighbouring banks: v's rows are fetched in this order
//   sums     steps of that many rows of v are fetched and multiplied by the shares
// Sums made under an older maximum go by exp(older - newer). Nothing is as large as rows × columns. gpu.cpp fills the
// holes; products of tiles are those of gemm.wgsl (src/gpu/products/tile_text.hpp).
//
// Workgroup memory: steps, vectors of q, k and v; shares, as above; peaks[$across · rows / 4] vectors of four rows: the
// largest scores that each invocation has found in them, and in the end its sums of exponentials.
//
// Speed. Bound by the arithmetic units and loads of vectors from workgroup memory, as products are: two for 16
// multiplications along the depth, and of 128 elements five for 64 with the shares. On an H200 through WebGPU, 29
// November 2026, f32 30.2 TFLOP/s with 128 elements and 27.0 with 64, where a product has 39.8
// (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: sums, maxima and totals stay in registers that have a name each, from
// one tile of columns to the next, and the unrolled steps between are its lines.)
$part
let tile = own_group % $tiles;
let head_of_all = own_group / $tiles;
let batch = head_of_all / $heads;
let head = head_of_all - batch * $heads;
let key_head = head / ($heads / $groups);
let first_row = tile * $tile_rows;
let ty = thread / $across;
let tx = thread - ty * $across;
$length
var begin = 0u;
var end = $columns;
$range
$for r in $part_rows
  var top$r = $lowest;
  var total$r = $type(0.0);
$end
$sums
for (var column = begin; column < end; column += $tile_columns) {
  $block
  $scores
  $score_steps
  for (var i = 0u; i < $part_m; i += 1u) {
    let row = first_row + (i / 4u) * $rows_between_blocks + ty * 4u + (i & 3u);
    let own_row = min(row, $rows - 1u);
    let middle = bitcast<i32>(row) + bitcast<i32>($shift);
    var peak = $lowest;
    $for c in $part_columns
      let column$c = column + $column_$c;
      let column_at$c = min(column$c, $columns - 1u);
      var s$c = $first_$c * $scale;
      $score_$c
      let seen$c = $seen_$c;
      if (!(seen$c)) { s$c = $lowest; }
      peak = select(peak, s$c, s$c > peak);
    $end
    $rotate
    peaks[tx * $lines + (i / 4u) * $blocks_apart + ty][i & 3u] = peak;
  }
  $barrier
  $for b in $blocks
    var now$b = peaks[$block_$b + ty];
    for (var i = 1u; i < $across; i += 1u) {
      let other = peaks[i * $lines + $block_$b + ty];
      $for e in x y z w
        now$b.$e = select(now$b.$e, other.$e, other.$e > now$b.$e);
      $end
    }
  $end
  $for r in $part_rows
    let now_of$r = select(top$r, $now_$r, $now_$r > top$r);
    let base$r = select(now_of$r, $type(0.0), now_of$r == $lowest);
    let older$r = top$r - base$r;
    let factor$r = $exp(older$r);
    top$r = now_of$r;
    $shares_$r
    total$r = total$r * factor$r + ($row_sum_$r);
    $scale_sums_$r
  $end
  $thin
  $put_shares
  $sum_steps
}
$barrier
$for r in $part_rows
  peaks[tx * $lines + $line_$r + ty][$lane_$r] = total$r;
$end
$barrier
$for r in $part_rows
  total$r = $type(0.0);
  for (var i = 0u; i < $across; i += 1u) { total$r += peaks[i * $lines + $line_$r + ty][$lane_$r]; }
$end
for (var i = 0u; i < $part_m; i += 1u) {
  let row = first_row + (i / 4u) * $rows_between_blocks + ty * 4u + (i & 3u);
  if (row < $rows) {
    let inverse = $type(1.0) / select(total0, $type(1.0), total0 == $type(0.0));
    $store_sums
    $store_top
  }
  $move_up
}
