// Elements combined into places that a table names, without atomics, in what the GPU languages share (dialect.hpp):
//
//   output[…, table(j), …] = output[…, table(j), …] ⊕ source[…, j, …], in increasing order of j
//
// An invocation owns an element of the output, `wanted` along the indexed axis, or a group of neighbours along another
// axis in vectors, and looks through the whole table in order, so that sums have the same bits every time:
//
//   table:   │ 2 │ 0 │ 2 │ 1 │ …       thread of place 2:  acc ⊕ source[0] ⊕ source[2] ⊕ …
//              ↑       ↑
//
// An index out of range is noted once, by the invocations of place 0; negative ones count from the end.
//
// Bound by the table, which every element of the output reads: elements × entries. So only small tables come here, up
// to 2048 entries; longer ones are sorted first (scatter_sorted.wgsl), or added line by line (scatter_lines.cu). On an
// H200, 28 November 2026, WebGPU: 256 entries into 65,536 places 36.7 µs, 2048 of them 256, 64 rows of 4096 into 4096
// rows 343, in f32.
//
// gpu.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl.
let t = group * ${threads}u + thread;
if (t >= $count) { return; }
let entry = t / $kept;
let k = (t - entry * $kept) * ${each}u;
let wanted = entry + $first;
$kept_coordinates
$load_old
$for e in $elements
  var acc$e = $old_$e;
$end
for (var j = $begin; j < $table_end; j += 1u) {
  $entry_coordinates
  let index = $index;
  let place = bitcast<u32>(index) + select(0u, $size, index < 0);
  if (place >= $size) {
    if (entry == 0u) {
      $report
    }
  }
  if (place == wanted) {
    $load_new
    $for e in $elements
      acc$e = combine(acc$e, $new_$e);
    $end
  }
}
$store
