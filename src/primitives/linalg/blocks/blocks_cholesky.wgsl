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
// Workgroup memory: column[24] vectors of four rows of the diagonal: one column of 8, by turns with the next; the last
// 8 are only read, for rows that there are not.
//
// The factor of the diagonal goes elsewhere, as other workgroups may not have read the block yet. Bound by the latency
// of 32 steps, each of a root, a division and a barrier. What is behind the last column or row is computed, and not
// looked at.
//
// On an H200, 26 November 2026, all of Cholesky of 4096 x 4096 in f32 took 3967 µs through WebGPU and 2751 by CUDA,
// cuSOLVER 1697 (docs/benchmarks_families.md). Of 4.4 ms on WebGPU's device these kernels, 128 of them, were 1.9.
let matrix = group / $parts;
let part = group - matrix * $parts;
$coordinates
let below = thread >= 32u;
let row = part * ${own_rows}u * u32(below) + thread;
let inside = row < $rows;
$load_values
var status = 0;
for (var round = 0u; round * 4u < $size; round += 1u) {
  $for q in $parts_of_vector
    if (thread < 32u) { column[${q}u % 2u * 8u + thread / 4u][thread & 3u] = $value_$q; }
    $barrier
    {
      let k = round * 4u + ${q}u;
      let c = column[${q}u % 2u * 8u + round];
      let pivot = c$part_$q;
      if (!(pivot > $type(0.0)) && status == 0 && k < $size) { status = i32(k) + 1; }
      let root = $sqrt(pivot);
      let inverse = $quotient($type(1.0), root);
      let near = $value_$q * inverse;
      let exact = fma(fma(-near, root, $value_$q), inverse, near);
      $value_$q = select(exact, root, thread == k);
      if (inside && below && k < $size) { $set_a(row, k, $value_$q); }
      if (inside && !below && part == 0u && k < $size) {
        $set_factor(thread, k, select($value_$q, $type(0.0), thread < k));
      }
      $for j in $rest_$q
        $value_$j = fma(-($value_$q * inverse), c$part_$j, $value_$j);
      $end
      $for d in $later
        x$d = fma($vector(-($value_$q * inverse)), column[${q}u % 2u * 8u + round + ${d}u], x$d);
      $end
    }
  $end
  $move_up
}
$tell
