// Finds the elements at a few ranks in the order of a line's keys without ordering the others, digit by digit from the
// highest:
//
//   count  (here) how often each digit stands among the elements whose higher digits are those of rank r
//   find   (radix_ranks_find.wgsl) the digit of rank r, and its number among the elements that agree so far
//   alike, place  (radix_ranks_alike.wgsl, radix_ranks_place.wgsl) which of the elements with its key it is
//
// A workgroup counts $part neighbours of a line in its memory, four loads on their way at once; ranks about which the
// same is known are counted once.
//
//   thread:    0      1          255     0
//   part:    │ key0 │ key0 │ … │ key0  │ key256 │ … │ key768 │ key0 │ …
//
//   counts[rank][digit]:  │ rank 0: 256 digits │ rank 1 │ …  + 1 where the higher digits of a key are known0, known1, …
//                          ↓ thread t: digit t of each rank, by atomics
//   totals[line][rank][digit]
//
// Workgroup memory: counts[$count · 256] atomic u32, for each rank and digit.
//
// Bound by memory, which every digit reads once, and by atomics of workgroup memory: a quantile of 2^24 in f32 takes
// 212 µs in all on an H100, 27 November 2026, a sort 764, PyTorch's 994 (docs/benchmarks.md).
$part_of_line
let mask = select(~(($word(1) << ($shift + 8u)) - $word(1)), $word(0), $top != 0u);
$for r in $ranks
  let known$r = $known[line * ${count}u + ${r}u];
  var counted$r = true;
  $for s in $lower_$r
    if (known$s == known$r) { counted$r = false; }
  $end
  atomicStore(&counts[${r}u * 256u + thread], 0u);
$end
$barrier
for (var i = begin + thread; i < end; i += 1024u) {
  $four_keys
  $for e in 0 256 512 768
    if (i + ${e}u < end) {
      $for r in $ranks
        if (counted$r && (key$e & mask) == known$r) {
          atomicAdd(&counts[${r}u * 256u + (u32(key$e >> $shift) & 255u)], 1u);
        }
      $end
    }
  $end
}
$barrier
$for r in $ranks
  let count$r = atomicLoad(&counts[${r}u * 256u + thread]);
  if (count$r != 0u) { atomicAdd(&$totals[(line * ${count}u + ${r}u) * 256u + thread], count$r); }
$end
