// The same as scatter_sorted.wgsl where many entries meet in an element: a workgroup of 256 invocations has $across
// neighbouring elements of one place, and fetches their entries, $rows · $entries_each at once, side by side:
//
//              $across elements →
//             ┌──────────┬──────────┬───┐
//   entries   │ thread 0 │ thread 1 │ … │  row 0: entries start, start + $rows, …     values[entry][element]
//      ↓      ├──────────┼──────────┼───┤
//             │ …        │          │   │  row 1: the next ones
//
// Then the first row's invocation of each element adds what was fetched before, in order, from workgroup memory, while
// the next entries are on their way: $adding at a time, and the next of them are loaded before these are added. All
// agree on every branch around a barrier.
//
// Bound by that adding, one after the other. 2^21 entries into 100 in f32, of which sort and reading take 65 µs, took
// 213 µs on WebGPU, an H200, 29 November 2026, and 190 on CUDA; before, with 8 at a time, what is fetched after them
// and every access checked, 428 and 232 (docs/tuning.md). PyTorch, with atomics, took 395 (docs/benchmarks.md). With an
// invocation to an element alone it took 31 ms (H100).
//
// (The kernel is longer than other functions: what is fetched waits in registers beside the sum, between barriers that
// every invocation reaches.)
if (group >= $outputs) { return; }
let tiles = ($kept + ${across}u - 1u) / ${across}u;
let wanted = group / tiles;
let column = thread % ${across}u;
let row = thread / ${across}u;
let stands = (group - wanted * tiles) * ${across}u + column;
let k = min(stands, $kept - 1u);
$kept_coordinates
$keys_of_line
let places = $first_place;
$bisect
let first = max(low, $begin);
let end = min(over, $table_end);
$load_old
var acc0 = $old_0;
var start = first;
var count = 0u;  // of the entries fetched before
for (;;) {
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
  if (row == 0u) {
    var i = 0u;
    if (count >= ${adding}u) {
      $for e in $added
        var next$e = values[${e}u * ${across}u + column];
      $end
      for (i = ${adding}u; i + ${adding}u <= count; i += ${adding}u) {
        $for e in $added
          let after$e = values[(i + ${e}u) * ${across}u + column];
        $end
        $for e in $added
          acc0 = combine(acc0, next$e);
        $end
        $for e in $added
          next$e = after$e;
        $end
      }
      $for e in $added
        acc0 = combine(acc0, next$e);
      $end
    }
    for (; i < count; i += 1u) { acc0 = combine(acc0, values[i * ${across}u + column]); }
  }
  $barrier
  if (start >= end) { break; }
  $for e in $entries
    values[thread + ${e}u * ${threads}u] = value$e;
  $end
  count = min(${rows}u * ${entries_each}u, end - start);
  start += ${rows}u * ${entries_each}u;
  $barrier
}
if (row == 0u && stands < $kept) {
  $store
}
