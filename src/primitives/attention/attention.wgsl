// Attention, forward, in what the GPU languages share (dialect.hpp): any dtype, layout, mask and formula.
//
//                 columns: 32 at a time
//               ┌─────────┐                       A workgroup has 32 rows of one head, eight invocations to a row.
//   rows: 32    │ scores  │   sums [32 × width]   An invocation (ty, tx) has of row ty the scores of columns tx + 0, 8,
//               └─────────┘   in registers        16, 24, and the sums of every eighth element of the width.
//
// For each 32 columns that a row of the tile may see by its place: chunks of 32 elements along the depth of q and k
// are fetched into workgroup memory and multiplied; the formula is applied to the scores in registers, which then go
// to workgroup memory, where each row finds its maximum and its sum; and chunks of 32 elements of v's width are
// fetched and multiplied by the shares. Sums made under an older maximum go by exp(older - newer). Nothing is as large
// as rows × columns. gpu.cpp fills the holes.
//
// Speed. Bound by loads from workgroup memory: five for four multiplications. Through WebGPU on an H100, 25 November
// 2026, 4.2 to 5.4 TFLOP/s in f32, where a product has 35 (docs/internals/attention.md).
$part
let tile = own_group % $tiles;
let head_of_all = own_group / $tiles;
let batch = head_of_all / $heads;
let head = head_of_all - batch * $heads;
let key_head = head / ($heads / $groups);
let first_row = tile * 32u;
let ty = thread / 8u;
let tx = thread - ty * 8u;
let row = first_row + ty;
let own_row = min(row, $rows - 1u);
let middle = bitcast<i32>(row) + bitcast<i32>($shift);
$length
var begin = 0u;
var end = $columns;
$range
var top = $lowest;
var total = $type(0.0);
$for e in $all_sums
  var acc$e = $type(0.0);
$end
for (var column = begin; column < end; column += 32u) {
  $block
  $for c in $each
    var s$c = $type(0.0);
  $end
  for (var d = 0u; d < $depth; d += 32u) {
    $barrier
    for (var i = thread; i < 1024u; i += 256u) {
      let r = i / 32u;
      let depth_at = d + (i & 31u);
      let q_row = first_row + r;
      let k_row = column + r;
      side_a[r * 33u + (i & 31u)] = $type(0.0);
      side_b[r * 33u + (i & 31u)] = $type(0.0);
      if (q_row < $rows && depth_at < $depth) {
        $fetch_q
      }
      if (k_row < $columns && depth_at < $depth) {
        $fetch_k
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
  $for c in $each
    let column$c = column + tx + 8u * ${c}u;
    let at$c = min(column$c, $columns - 1u);
    s$c = s$c * $scale;
    $score_$c
    let seen$c = $seen_$c;
    if (!(seen$c)) { s$c = $lowest; }
    shares[ty * 33u + tx + 8u * ${c}u] = s$c;
  $end
  $barrier
  var now = top;
  for (var i = 0u; i < 32u; i += 1u) {
    let s = shares[ty * 33u + i];
    now = select(now, s, s > now);
  }
  $barrier
  let base = select(now, $type(0.0), now == $lowest);
  let older = top - base;
  let factor = $exp(older);
  top = now;
  $for c in $each
    let less$c = s$c - base;
    shares[ty * 33u + tx + 8u * ${c}u] = $exp(less$c);
  $end
  $barrier
  var sum = $type(0.0);
  for (var i = 0u; i < 32u; i += 1u) { sum += shares[ty * 33u + i]; }
  total = total * factor + sum;
  $thin
  $for e in $all_sums
    acc$e = acc$e * factor;
  $end
  $for w in $wides
    $barrier
    for (var i = thread; i < 1024u; i += 256u) {
      let v_row = column + i / 32u;
      let width_at = 32u * ${w}u + (i & 31u);
      side_b[i / 32u * 33u + (i & 31u)] = $type(0.0);
      if (v_row < $columns && width_at < $width) {
        $fetch_v
      }
    }
    $barrier
    for (var i = 0u; i < 32u; i += 1u) {
      let p = shares[ty * 33u + i];
      $add_$w
    }
  $end
}
if (row < $rows) {
  let inverse = $type(1.0) / select(total, $type(1.0), total == $type(0.0));
  $store_sums
  $store_top
}
