// The same as scatter_sorted.wgsl where many entries meet in an element: a workgroup of 256 invocations has $across
// neighbouring elements of one place, and fetches their entries, $rows · $entries_each at once, side by side:
//
//              $across elements →
//             ┌──────────┬──────────┬───┐
//   entries   │ thread 0 │ thread 1 │ … │  row 0: entries start, start + $rows, …     values[entry][element]
//      ↓      ├──────────┼──────────┼───┤
//             │ …        │          │   │  row 1: the next ones
//
// Then the first row's invocation of each element adds what was fetched, in order, from workgroup memory. All agree on
// every branch around a barrier.
//
// Bound by that adding, one after the other: 2^21 entries into 100 in f32 271 µs on an H100, 24 November 2026, PyTorch
// with atomics 478; on WebGPU 1781 (docs/benchmarks.md). With an invocation to an element alone 31 ms (H200).
if (group >= $outputs) { return; }
let tiles = ($kept + ${across}u - 1u) / ${across}u;
let wanted = group / tiles;
let column = thread % ${across}u;
let row = thread / ${across}u;
let stands = (group - wanted * tiles) * ${across}u + column;
let k = min(stands, $kept - 1u);
$kept_coordinates
let keys = $first_key;
let places = $first_place;
$bisect
let first = max(low, $begin);
let end = min(over, $table_end);
$load_old
var acc0 = $old_0;
for (var start = first; start < end; start += ${rows}u * ${entries_each}u) {
  $for e in $entries
    let entry$e = start + row + ${e}u * ${rows}u;
    var value$e = $type();
    if (entry$e < end) {
      let j = bitcast<u32>($place_of_entry$e);
      $entry_coordinates
      $load_new
      value$e = $new_0;
    }
  $end
  $for e in $entries
    values[thread + ${e}u * ${threads}u] = value$e;
  $end
  $barrier
  if (row == 0u) {
    let count = min(${rows}u * ${entries_each}u, end - start);
    for (var i = 0u; i < count; i += 1u) {
      acc0 = combine(acc0, values[i * ${across}u + column]);
    }
  }
  $barrier
}
if (row == 0u && stands < $kept) {
  $store
}
