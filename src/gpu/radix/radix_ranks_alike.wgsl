// How many elements of each part of a line have the key of each rank (radix_ranks_count.wgsl), all of whose digits are
// known: alike[line][part][rank]. Bound by memory, which is read once: 2^24 in f32 took 38 µs on an H200, 28 November
// 2026, WebGPU.
//
// Workgroup memory: counts[8] atomic u32, for each rank.
$part_of_line
$for r in $ranks
  let known$r = $known[line * ${count}u + ${r}u];
$end
if (thread < ${count}u) { atomicStore(&counts[thread], 0u); }
$barrier
for (var i = begin + thread; i < end; i += 1024u) {
  $four_keys
  $for e in 0 256 512 768
    if (i + ${e}u < end) {
      $for r in $ranks
        if (key$e == known$r) { atomicAdd(&counts[${r}u], 1u); }
      $end
    }
  $end
}
$barrier
if (thread < ${count}u) { $alike[group * ${count}u + thread] = atomicLoad(&counts[thread]); }
