// Adds up the counts of one digit in the blocks of a line (radix_count.wgsl): a workgroup to a digit of a line. Each
// step takes 1024 blocks, four neighbours an invocation (s0 to s3) and a tree over the workgroup; carry: the steps
// before. Where a line has few blocks: radix_add_up_few.wgsl.
//
//   counts[line][digit]:  │ thread 0    │ thread 1    │ …      s0 to s3 of an invocation: in registers;
//                         │ s0 s1 s2 s3 │ s0 s1 s2 s3 │        sums[thread]: of all up to it
//
// Bound by memory, and where lines have few blocks by barriers. Of 2^24 in f32 it takes 14 µs on WebGPU, an H100, 27
// November 2026 (docs/tuning.md).
if (group >= $lines * 256u) { return; }
let first = group * $blocks;
var carry = 0u;
for (var start = 0u; start < $blocks; start += 1024u) {
  let at = start + thread * 4u;
  $for e in 0 1 2 3
    var s$e = 0u;
    if (at + ${e}u < $blocks) { s$e = $counts[first + at + ${e}u]; }
  $end
  sums[thread] = s0 + s1 + s2 + s3;
  $barrier
  $scan
  var before = carry + sums[thread] - (s0 + s1 + s2 + s3);
  $for e in 0 1 2 3
    if (at + ${e}u < $blocks) { $counts[first + at + ${e}u] = before; }
    before += s$e;
  $end
  carry += sums[255];
  $barrier
}
if (thread == 0u) { $totals[group] = carry; }
