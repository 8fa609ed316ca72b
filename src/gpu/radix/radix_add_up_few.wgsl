// Adds up the counts of the digits in the blocks of a line that has few (radix_count.wgsl): a workgroup to a line, an
// invocation to a digit. With a workgroup to each digit, 4096 lines of one block took 9.4 ms to sort on WebGPU instead
// of 2.7 (H100, 24 November 2026, docs/tuning.md). Bound by latency: an invocation adds up one block after the other.
if (group >= $lines) { return; }
let first = (group * 256u + thread) * $blocks;
var carry = 0u;
for (var block = 0u; block < $blocks; block += 1u) {
  let here = $counts[first + block];
  $counts[first + block] = carry;
  carry += here;
}
$totals[group * 256u + thread] = carry;
