// Sorts a line of 513 to 4096 elements (2048 of 64 bits) by digits in a workgroup's memory, with the functions of
// gpu/radix/radix_rank.cu. CUDA's: it ranks by votes in a warp.
//
//              ┌─────────── warp 0: an eighth of the tile ───────────┐┌── warp 1 …
//   staged[]:  │ lane 0 │ lane 1 │ … │ lane 31 │ lane 0 │ lane 1 │ … ││     the line's bits, a word an element
//   places[]:  │ e = 0                         │ e = 1               ││     where the elements come from, 16 bits each
//
//   a digit:   registers (mine[e], place[e]) → ranked by the digit → staged[rank], places[rank] → registers again
//
// A warp of the eight has an eighth of the tile, lane l of it every 32nd element from the l-th on. Memory is read once
// and written once, in vectors where they lie so; for each digit of 8 bits elements are ranked and exchanged.
//
// Workgroup memory: staged[$tile] words, places[$tile] u16; counts[8 · 256] u32 and sums[256] u32, as
// gpu/radix/radix_rank.cu has them.
//
// Bound by ranking: on an H100, 27 November 2026, 4096 lines of 4096 in f32 took 385 µs, a copy takes 47.9, PyTorch's
// sort 570 (docs/benchmarks.md).
if (group >= $lines) { return; }
$coordinates
for (var i = thread * ${each}u; i < $length; i += ${threads}u * ${each}u) {
  $load
  $for e in $elements
    staged[i + ${e}u] = $bits_$e;
  $end
}
$barrier
tern_sort_tile<$key_bits, $tile_each>(staged, places, $length, thread, counts, sums,
                                      [&]($word w) { return key_of(w, $flip); });
for (var i = thread * ${each}u; i < $length; i += ${threads}u * ${each}u) {
  $store_values
  $store_places
}
