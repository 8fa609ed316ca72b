// The gradients of attention, in what the GPU languages share. One text is two kernels:
//
//   of q:       own are the rows of a query head, others its columns
//   of k and v: own are the columns of a key head, others the rows of every query head that shares it
//
//              others: 32 at a time
//            ┌─────────┐                       An invocation (ty, tx) has the scores of its own ty with the others tx,
//   own: 32  │ scores  │   gradients           tx + 8, 16 and 24, and every eighth element of the gradients of ty, in
//            └─────────┘   [32 × depth, …]     registers.
//
// For each tile of scores: products over the depth give scores, those over the width what comes in for the shares; the
// formula and exp(score - top) / total give the shares, shares · (what comes in - means) and the formula's slope the
// slopes; both go to workgroup memory, and are multiplied by chunks of what the others have: k for q's gradient, q for
// k's, the result's gradient for v's. No sum is shared between workgroups, so the bits are the same every run. The
// scores are computed twice, once in each kernel. Holes are filled by gpu_backward.cpp.
//
// Speed. Bound by loads from workgroup memory, as attention.wgsl is: five for four multiplications. It was not measured
// by itself.
let tile = group % $tiles;
let head_of_all = group / $tiles;
let batch = head_of_all / $own_heads;
let own_head = head_of_all - batch * $own_heads;
let first_own = tile * 32u;
let ty = thread / 8u;
let tx = thread - ty * 8u;
let own = first_own + ty;
$length
$for e in $all_sums
  var acc$e = $type(0.0);
$end
for (var turn = 0u; turn < $turns; turn += 1u) {
  let head = $head;
  let key_head = $key_head;
  var begin = 0u;
  var end = $other_count;
  $range
  for (var first_other = begin; first_other < end; first_other += 32u) {
    $block
    $for c in $each
      var s$c = $type(0.0);
      var g$c = $type(0.0);
    $end
    for (var d = 0u; d < $depth; d += 32u) {
      $barrier
      for (var i = thread; i < 1024u; i += 256u) {
        let across = d + (i & 31u);
        let own_at = first_own + i / 32u;
        let other_at = first_other + i / 32u;
        side_a[i / 32u * 33u + (i & 31u)] = $type(0.0);
        side_b[i / 32u * 33u + (i & 31u)] = $type(0.0);
        if (own_at < $own_count && across < $depth) {
          $fetch_own
        }
        if (other_at < $other_count && across < $depth) {
          $fetch_other
        }
      }
      $barrier
      for (var i = 0u; i < 32u; i += 1u) {
        let a = side_a[ty * 33u + i];
        $for c in $each
          s$c += a * side_b[(tx + 8u * ${c}u) * 33u + i];
        $end
      }
    }
    for (var d = 0u; d < $width; d += 32u) {
      $barrier
      for (var i = thread; i < 1024u; i += 256u) {
        let across = d + (i & 31u);
        let own_at = first_own + i / 32u;
        let other_at = first_other + i / 32u;
        side_a[i / 32u * 33u + (i & 31u)] = $type(0.0);
        side_b[i / 32u * 33u + (i & 31u)] = $type(0.0);
        if (own_at < $own_count && across < $width) {
          $fetch_own_value
        }
        if (other_at < $other_count && across < $width) {
          $fetch_other_value
        }
      }
      $barrier
      for (var i = 0u; i < 32u; i += 1u) {
        let a = side_a[ty * 33u + i];
        $for c in $each
          g$c += a * side_b[(tx + 8u * ${c}u) * 33u + i];
        $end
      }
    }
    $for c in $each
      let other$c = first_other + tx + 8u * ${c}u;
      let row$c = $row_$c;
      let column$c = $column_$c;
      let middle$c = bitcast<i32>(row$c) + bitcast<i32>($shift);
      let row_at$c = min(row$c, $rows - 1u);
      let column_at$c = min(column$c, $columns - 1u);
      let product$c = s$c * $scale;
      $score_$c
      $load_row_$c
      let less$c = score$c - top$c;
      let seen$c = (row$c < $rows) && (total$c != $type(0.0)) && $seen_$c;
      let share$c = select($type(0.0), $exp(less$c) / select(total$c, $type(1.0), total$c == $type(0.0)), seen$c);
      $thin_$c
      let toward$c = share$c * (g$c - means$c);
      $slope_$c
      shares[ty * 33u + tx + 8u * ${c}u] = kept$c;
      slopes[ty * 33u + tx + 8u * ${c}u] = select($type(0.0), slope$c, seen$c);
    $end
    $multiply
  }
}
if (own < $own_count) {
  $store_sums
}
