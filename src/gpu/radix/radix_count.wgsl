// A pass of WebGPU's sort by digits of 8 bits (CUDA's is one kernel: radix_sweep.cu). It cuts every line into blocks
// of $tile elements, one to a workgroup of 256 invocations, and is three kernels:
//
//   count   (here) how often each digit stands in each block              counts[line][digit][block]
//   add up  (radix_add_up.wgsl, radix_add_up_few.wgsl) turns them into how often before it in the line, and the line's
//           totals [line][digit]
//   move    (radix_move.wgsl, radix_move_in_subgroups.wgsl) ranks the elements of a block and moves them to where they
//           belong
//
// Invocation t reads the elements t, t + 256, … of its block, four at once, and adds them to counts[digit] in workgroup
// memory by atomics; then it owns the digit t:
//
//              t = 0  1  2       255  0  1
//   block:     ┌────┬──┬──┬───┬─────┬──┬──┬──
//              │ k0 │k0│k0│ … │ k0  │k1│k1│ …      counts[0 … 255] → counts[line][t][block]
//              └────┴──┴──┴───┴─────┴──┴──┴──
//
// Bound by memory, read once. Of 2^24 in f32 it takes 52 µs on WebGPU, an H100, 27 November 2026, adding up 14 and
// moving 312 (docs/tuning.md).
if (group >= $lines * $blocks) { return; }
let line = group / $blocks;
let block = group - line * $blocks;
let begin = line * $n + block * ${tile}u;
let end = line * $n + min($n, (block + 1u) * ${tile}u);
atomicStore(&counts[thread], 0u);
$barrier
for (var i = begin + thread; i < end; i += 1024u) {
  // Four loads on their way at once; the last of the block stands for those behind it.
  let last = end - 1u;
  $for e in 0 256 512 768
    let key$e = key_of($bits_at(min(i + ${e}u, last)), $flip);
  $end
  $for e in 0 256 512 768
    if (i + ${e}u < end) { atomicAdd(&counts[u32(key$e >> $shift) & 255u], 1u); }
  $end
}
$barrier
$counts[(line * 256u + thread) * $blocks + block] = atomicLoad(&counts[thread]);
