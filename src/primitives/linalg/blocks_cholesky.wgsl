// Cholesky's factor of a block of 32 columns, in what the GPU languages share (dialect.hpp; pieces in
// blocks_pieces.wgsl): of its 32 rows on the diagonal, and of the rows below.
//
//   ┌──────────┐  every workgroup has the rows on the diagonal, in threads 0 to 31,
//   │ diagonal │
//   ├──────────┤  and some of those below, a row in the registers of each of its other threads. A column is divided by
//   │ below    │  its pivot's root, times which the rows of the diagonal, in workgroup memory, are taken from the rest:
//   │          │  one barrier for a column, and the same steps for all rows.
//   └──────────┘
//
// The factor of the diagonal goes elsewhere, as other workgroups may not have read the block yet. Bound by the latency
// of 32 steps, each of a root, a division and a barrier. Blocks of fewer columns stand for such ones with 1 behind.
let matrix = group / $parts;
let part = group - matrix * $parts;
$coordinates
let below = thread >= 32u;
let row = part * ${own_rows}u * u32(below) + thread;
let inside = row < $rows;
$no_values
$for k in $steps
  if (inside && row + 1u > ${k}u) { $value_$k = $a(row, ${k}u); }
$end
$for k in $steps
  if (!inside && row == ${k}u) { $value_$k = $type(1.0); }
$end
var status = 0;
$for k in $steps
  if (thread < 32u) { column[$slot_$k + thread / 4u][thread & 3u] = $value_$k; }
  $barrier
  {
    let c = column[$slot_$k + $chunk_$k];
    let pivot = c$part_$k;
    if (!(pivot > $type(0.0)) && status == 0) { status = ${k} + 1; }
    let root = $sqrt(pivot);
    let inverse = $quotient($type(1.0), root);
    let near = $value_$k * inverse;
    let exact = fma(fma(-near, root, $value_$k), inverse, near);
    $value_$k = select(exact, root, thread == ${k}u);
    $for j in $rest_$k
      $value_$j = fma(-($value_$k * inverse), c$part_$j, $value_$j);
    $end
    $for d in $after_$k
      x$d = fma($vector(-($value_$k * inverse)), column[$slot_$k + ${d}u], x$d);
    $end
  }
$end
if (inside && below) {
  $for k in $steps
    $set_a(row, ${k}u, $value_$k);
  $end
}
if (inside && !below && part == 0u) {
  $for k in $steps
    $set_factor(thread, ${k}u, select($type(0.0), $value_$k, thread + 1u > ${k}u));
  $end
}
$tell
