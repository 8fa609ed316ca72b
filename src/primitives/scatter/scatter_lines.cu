// Elements combined into places that a table names, where every line of the output has a table of its own (scatter_add
// along the columns of a matrix). CUDA's: the lanes of a warp compare their places.
//
// A warp has a line, whose results it keeps in workgroup memory. It takes 32 entries of the table at once, in order,
// $ahead times 32 of them loaded before the first are added:
//
//   lane:     0   1   2   3   …  31          sums[0 … size): the line's results
//   place:  │ 5 │ 2 │ 5 │ 5 │ … │ 9 │
//   order:  │ 0 │ 0 │ 1 │ 2 │ … │ 0 │        (scatter_in_lane_order.cu)
//
// Where lines are neighbours in memory a workgroup has several: scatter_columns.cu.
//
// Bound by latency: each lane waits for the one before. Along the rows of 4096² in f32 159 µs on an H200, 29 November
// 2026, PyTorch with atomics 252 (docs/benchmarks.md).
$line_coordinates
const u32 lane = thread;
$type* const own = sums;
for (u32 k = thread; k < $size; k += 32u) {
  $load_old
  sums[k] = $old_0;
}
__syncwarp();
$declared_entries
for (u32 start = 0u; start < $count; start += ${ahead}u * 32u) {
  $fetched_from(start, lane, 32)
  $for e in $entries
    {
      const u32 place = place$e;
      const $type value = value$e;
      $look_at(place)
      $add_in_lane_order
    }
  $end
}
for (u32 k = thread; k < $size; k += 32u) {
  $store
}
