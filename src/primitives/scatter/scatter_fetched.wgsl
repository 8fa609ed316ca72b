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
// Bound by that adding, one after the other; eight are loaded before the first is added, since compilers of WGSL do not
// do that: 2^21 entries into 100 in f32 took 669 to 762 µs on WebGPU instead of 1975 to 2107, and 248 instead of 309 on
// CUDA (H100, 24 November 2026, docs/tuning.md). With an invocation to an element alone it took 31 ms. On 27 November
// 2026 it took 432 and 232, PyTorch with atomics 395 (docs/benchmarks.md).
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
    var i = 0u;
    for (; i + 8u <= count; i += 8u) {
      $for e in 0 1 2 3 4 5 6 7
        let next$e = values[(i + ${e}u) * ${across}u + column];
      $end
      $for e in 0 1 2 3 4 5 6 7
        acc0 = combine(acc0, next$e);
      $end
    }
    for (; i < count; i += 1u) { acc0 = combine(acc0, values[i * ${across}u + column]); }
  }
  $barrier
}
if (row == 0u && stands < $kept) {
  $store
}
