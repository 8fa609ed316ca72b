// The last kernel of a scatter by a table whose entries were put in order by buckets (scatter_rank.wgsl): as
// scatter_sorted.wgsl, but crowded places are left to the first $crowded_groups workgroups, while all others stream
// what the rest of the output was. How many are crowded the host does not know, so each of these takes every
// $crowded_groups-th piece of work: $lanes groups of $each neighbours of a crowded place, whose entries it fetches
// $rows · $fetched at once:
//
//              $lanes · $each elements →
//             ┌──────────┬──────────┬───┐
//   entries   │ thread 0 │ thread 1 │ … │  row 0: entries start, start + $rows, …     values[entry][lane][element]
//      ↓      ├──────────┼──────────┼───┤
//             │ …        │          │   │  row 1: the next ones
//
// The first row's invocation of each group adds what was fetched before, in order, while the next entries are on their
// way. All agree on every branch around a barrier.
//
// Workgroup memory: values[$rows · $fetched · $lanes · $each] of the computing type.
//
// Bound by memory where no place is crowded: 16,384 rows of 768 in f32 into 50,304 take 105 µs by CUDA and 151 by
// WebGPU, an H200, 30 November 2026; else by latency, as an entry, and then its row, are waited for every round: with
// words' frequencies 124 and 164, PyTorch with atomics 168 and 164 (docs/benchmarks.md).
//
// (The kernel is longer than other functions: crowded places and all others are one launch, as a launch that waits for
// another takes 10 µs through WebGPU.)
if (group < $crowded_groups) {
  let tiles = ($kept + ${lanes}u - 1u) / ${lanes}u;
  let lane = thread % ${lanes}u;
  let row = thread / ${lanes}u;
  for (var work = group; work < $crowded_count * tiles; work += $crowded_groups) {
    let wanted = $crowded_place;
    let stands = work % tiles * ${lanes}u + lane;
    let k = min(stands, $kept - 1u) * ${each}u;
    $kept_coordinates
    let places = $first_place;
    $range
    $load_old
    $for e in $elements
      var acc$e = $old_$e;
    $end
    var start = low;
    var count = 0u;  // of the entries fetched before
    for (;;) {
      $for f in $entries
        $for e in $elements
          var value${f}_$e = $type();
        $end
        let entry$f = start + row + ${f}u * ${rows}u;
        if (entry$f < over) {
          let j = bitcast<u32>($place_of_entry$f);
          $entry_coordinates
          $load_new
          $for e in $elements
            value${f}_$e = $new_$e;
          $end
        }
      $end
      if (row == 0u) {
        var i = 0u;
        for (; i + 4u <= count; i += 4u) {
          $for a in 0 1 2 3
            $for e in $elements
              let next${a}_$e = values[((i + ${a}u) * ${lanes}u + lane) * ${each}u + ${e}u];
            $end
          $end
          $for a in 0 1 2 3
            $for e in $elements
              acc$e = combine(acc$e, next${a}_$e);
            $end
          $end
        }
        for (; i < count; i += 1u) {
          $for e in $elements
            acc$e = combine(acc$e, values[(i * ${lanes}u + lane) * ${each}u + ${e}u]);
          $end
        }
      }
      $barrier
      if (start >= over) { break; }
      $for f in $entries
        $for e in $elements
          values[(thread + ${f}u * ${threads}u) * ${each}u + ${e}u] = value${f}_$e;
        $end
      $end
      count = min(${rows}u * ${fetched}u, over - start);
      start += ${rows}u * ${fetched}u;
      $barrier
    }
    if (row == 0u && stands < $kept) {
      $store
    }
  }
} else {
  $sorted
}
