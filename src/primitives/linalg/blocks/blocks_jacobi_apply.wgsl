// What a step of block Jacobi does to all rows, in what the GPU languages share (dialect.hpp; pieces in
// blocks_pieces.wgsl): the columns of each pair of blocks times its q (blocks_jacobi_pairs.wgsl). An invocation has a
// row of the pair's 32 columns, in registers, and overwrites it.
//
//             columns: pair 0      pair 1          q, in workgroup memory: all invocations read one vector at once
//           ┌──────────┬──────────┬──                ┌───────────┐
//   row 0   │ x0 to x7 │ …        │                  │ 32 × 32   │
//   row 1   │ …        │          │                  └───────────┘
//
// Workgroup memory: q[256] vectors of four: q[j · 8 + k / 4] is of column j.
//
// Pairs that were not rotated are left as they are. Bound by workgroup memory: a vector of q for 4 multiplications.
// Of eigh of 1024 x 1024 in f32 a step took 13.5 µs on an H200, 28 November 2026, WebGPU, and there are 819.
let matrix = group / ($pairs * $parts);
let place = group - matrix * ($pairs * $parts);
let pair = place / $parts;
$coordinates
let rotated = $state(pair, 0u) != 0;
if (rotated) {
  for (var e = thread; e < 1024u; e += ${threads}u) {
    let k = e % 32u;
    let j = e / 32u;
    q[j * 8u + k / 4u][k & 3u] = $q(k, pair * 32u + j);
  }
}
$barrier
let row = (place - pair * $parts) * ${threads}u + thread;
if (rotated && row < $rows) {
  let one = select(($step + pair) % $rounds, $rounds, pair == 0u);
  let other = ($step + $rounds - pair) % $rounds;
  let left = min(one, other) * 16u;
  let right = max(one, other) * 16u - 16u;
  $for d in $chunks
    var x$d = $vector();
  $end
  $for k in $steps
    let column_$k = ${k}u + select(left, right, ${k}u >= 16u);
    $value_$k = select($type(0.0), $a(row, min(column_$k, $columns - 1u)), column_$k < $columns);
  $end
  for (var j = 0u; j < 32u; j += 1u) {
    var sum = x0 * q[j * 8u];
    $for d in $later
      sum = fma(x$d, q[j * 8u + ${d}u], sum);
    $end
    let column = j + select(left, right, j >= 16u);
    if (column < $columns) { $set_a(row, column, sum.x + sum.y + (sum.z + sum.w)); }
  }
}
