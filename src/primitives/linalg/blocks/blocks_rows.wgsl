// What a panel of LU does to the columns beside it, in what the GPU languages share (dialect.hpp; pieces in
// blocks_pieces.wgsl): the exchanges of rows, and, to its right, the rows of u. An invocation has a column.
//
//           columns →   thread 0   1   2   …
//                     ┌───────────┬───┬───┬──   the rows beside the panel: 32 numbers in the invocation's registers,
//   32 rows           │ x0 to x7  │ … │   │     which to the right of it become l⁻¹ times what they were
//                     ├───────────┼───┼───┼──
//   rows further down │ exchanged │ … │   │     up to 32 of them change places with those
//                     └───────────┴───┴───┴──
//
// The exchanges of 32 rows with rows further down are found first as what they come to: origins[k] is where what ends
// in row k was, origins[32 + k] where what ends in the row that k was exchanged with was. So all that is read is read
// before anything is written.
//
// Workgroup memory: places[32] u32, the rows that the panel's were exchanged with; origins[64] u32; triangle[], of l
// (blocks_pieces.wgsl).
//
// Bound by latency: of 64 loads that lie a row apart, and of the 32 steps of a substitution. It was not measured by
// itself: LU of 4096 x 4096 in f32 took 32082 µs in all on an H200, 26 November 2026, by CUDA; through WebGPU three
// quarters of it are the panels (docs/benchmarks_families.md).
let matrix = group / $parts;
let part = group - matrix * $parts;
$coordinates
if (thread < 32u) {
  var place = thread;
  if (thread < $size) { place = u32($pivot(thread, 0u)) - $first; }
  places[thread] = place;
}
$barrier
if (thread < 64u) {
  var at = thread;
  if (thread >= 32u) { at = places[thread - 32u]; }
  for (var s = 0u; s < $size; s += 1u) {
    let k = $size - 1u - s;
    let row = places[k];
    if (at == k) {
      at = row;
    } else if (at == row) {
      at = k;
    }
  }
  origins[thread] = select(0u, at, (thread & 31u) < $size);
}
$load_triangle
let line = part * ${threads}u + thread;
if (line < $columns) {
  let j = line + select(0u, $size, line >= $first);
  $load_values
  $for k in $steps
    let low_$k = $a(origins[${k}u + 32u], j);
  $end
  $for k in $steps
    if (${k}u < $size && places[${k}u] >= $size) { $set_a(places[${k}u], j, low_$k); }
  $end
  if (line >= $first) {
    $substitute
  } else {
    for (var round = 0u; round * 4u < $size; round += 1u) {
      $for q in $parts_of_vector
        if (round * 4u + ${q}u < $size) { $set_a(round * 4u + ${q}u, j, $value_$q); }
      $end
      $move_up
    }
  }
}
