// The gradients of attention, in what the GPU languages share. One text is two kernels:
//
//   of q:       own are the rows of a query head, others its columns
//   of k and v: own are the columns of a key head, others the rows of every query head that shares it
//
//                 others: a tile at a time
//               ┌──────┬──────┬──────┐              An invocation (ty, tx) has blocks of 4 × 4 scores and of what comes
//   own of      │ 4×4  │      │      │   gradients  in for their shares, and of each gradient, in registers, as in
//   a tile      ├──────┤      │      │   [own ×     attention.wgsl, whose order of lines it has as well.
//               │ 4×4  │      │      │   depth, …]
//               └──────┴──────┴──────┘
//
// For each tile of scores: products over the depth give scores, those over the width what comes in for the shares; the
// formula and exp(score - top) / total give the shares, shares · (what comes in - means) and the formula's slope the
// slopes; they go to workgroup memory, the shares first, and are multiplied by steps of what the others have: the
// result's gradient for v's, k for q's gradient, q for k's. No sum is shared between workgroups, so the bits are the
// same every run. The scores are computed twice, once in each kernel. Holes are filled by gpu_backward.cpp.
//
// Speed. Bound as attention.wgsl is, by seven products in place of the five that were needed with sums in common: with
// forward 22.8 TFLOP/s of the operations that are counted, f32 of 128 elements on an H200, 29 November 2026, and of
// what is computed 0.71 of the product's rate (docs/benchmarks_families.md).
let tile = group % $tiles;
let head_of_all = group / $tiles;
let batch = head_of_all / $own_heads;
let own_head = head_of_all - batch * $own_heads;
let first_own = tile * $tile_rows;
let ty = thread / $across;
let tx = thread - ty * $across;
$length
$sums
for (var sharer = 0u; sharer < $sharers; sharer += 1u) {
  let head = $head;
  let key_head = $key_head;
  var begin = 0u;
  var end = $other_count;
  $range
  for (var first_other = begin; first_other < end; first_other += $tile_columns) {
    $block
    $scores
    $score_steps
    $value_steps
    $rows_of_others
    for (var i = 0u; i < $part_m; i += 1u) {
      let own = first_own + (i / 4u) * $rows_between_blocks + ty * 4u + (i & 3u);
      let own_at = min(own, $own_count - 1u);
      $rows_of_own
      $for c in $part_columns
        let other$c = first_other + $column_$c;
        let other_at$c = min(other$c, $other_count - 1u);
        let middle$c = bitcast<i32>($row_$c) + bitcast<i32>($shift);
        let product$c = $first_$c * $scale;
        $score_$c
        let less$c = score$c - $top_$c;
        let seen$c = ($row_$c < $rows) && ($total_$c != $type(0.0)) && $seen_$c;
        let share$c = select($type(0.0), $exp(less$c) * $inverse_$c, seen$c);
        var g$c = $incoming_$c;
        $thin_$c
        let toward$c = share$c * (g$c - $means_$c);
        $slope_$c
        let masked$c = select($type(0.0), slope$c, seen$c);
      $end
      $rotate
    }
    $multiply
  }
}
for (var i = 0u; i < $part_m; i += 1u) {
  let own = first_own + (i / 4u) * $rows_between_blocks + ty * 4u + (i & 3u);
  if (own < $own_count) {
    $store_sums
  }
  $move_up
}
