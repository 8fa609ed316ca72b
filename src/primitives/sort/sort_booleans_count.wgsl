// The first kernel of a sort of booleans, of which only the order is asked for: how many of each block of $tile
// elements come first ($flip: 0 where trues do, 1 where falses do). A workgroup of 128 invocations to a block; they
// take groups of neighbours 128 groups apart, and a tree over the workgroup adds up what they have.
//
//   sums[line][block]  →  (scan)  how many of the line up to and with the block  →  sort_booleans_write.wgsl
//
// Workgroup memory: sums[128] u32, what each invocation has; in the end sums[0] is the block's.
//
// Bound by memory, which is read once here and once there. 2^24 took 10 µs on an H200, 28
// November 2026, WebGPU, and sort_booleans_write.wgsl 46.
if (group >= $lines * $blocks) { return; }
let line = group / $blocks;
let begin = (group - line * $blocks) * ${tile}u;
let end = min($length, begin + ${tile}u);
$coordinates
var count = 0u;
for (var at = begin + thread * ${each}u; at < end; at += 128u * ${each}u) {
  $load
  $for e in $elements
    count += ($bits_$e & 1u) ^ $flip;
  $end
}
sums[thread] = count;
$barrier
$for reach in 64 32 16 8 4 2 1
  if (thread < ${reach}u) { sums[thread] += sums[thread + ${reach}u]; }
  $barrier
$end
if (thread == 0u) { $words[group] = sums[0]; }
