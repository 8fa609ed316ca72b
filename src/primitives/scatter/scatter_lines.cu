// Elements combined into places that a table names, where every line of the output has a table of its own (scatter_add
// along the columns of a matrix). CUDA's: the lanes of a warp compare their places.
//
// A warp has a line, whose results it keeps in workgroup memory. It takes 32 entries of the table at once, in order,
// $ahead times 32 of them loaded before the first are added:
//
//   lane:     0   1   2   3   …  31          sums[0 … size): the line's results
//   place:  │ 5 │ 2 │ 5 │ 5 │ … │ 9 │
//   turn:   │ 0 │ 0 │ 1 │ 2 │ … │ 0 │        lanes with one place take turns, the first in the table first, so that
//                                            sums have the bits that adding one by one has
//
// Lines that are neighbours in memory are at work at the same time, and share what the cache fetched.
//
// Bound by latency: each turn waits for the one before. Along the columns of 4096² in f32 975 µs on an H100, 24
// November 2026, through a sort 2486, PyTorch with atomics 838 (docs/benchmarks.md, docs/tuning.md).
$line_coordinates
for (u32 k = thread; k < $size; k += 32u) {
  $load_old
  sums[k] = $old_0;
}
__syncwarp();
for (u32 start = 0u; start < $count; start += ${ahead}u * 32u) {
  $for e in $entries
    u32 place$e = 0xffffffffu;
    $type value$e = $type();
    {
      let j = start + ${e}u * 32u + thread;
      if (j < $count) {
        $entry_coordinates
        let index = $index;
        place$e = bitcast<u32>(index) + select(0u, $size, index < 0);
        $load_$e
        value$e = $new_$e;
        if (place$e >= $size) {
          $report
        }
      }
    }
  $end
  $for e in $entries
    {
      const u32 same = __match_any_sync(0xffffffffu, place$e);
      const u32 turn = u32(__popc(same & ((1u << thread) - 1u)));
      const bool there = place$e < $size;
      for (u32 now = 0u; __any_sync(0xffffffffu, there && turn >= now); ++now) {
        if (there && turn == now) { sums[place$e] = combine(sums[place$e], value$e); }
        __syncwarp();
      }
    }
  $end
}
for (u32 k = thread; k < $size; k += 32u) {
  $store
}
