// The sums of a long line's segments, one to a workgroup: the first of three kernels, of which the second scans these
// sums as lines of their own, and the third every segment from what stands before it (scan.wgsl). Invocations take
// groups of neighbours 256 groups apart, and a tree over the workgroup joins what they have.
//
// Workgroup memory: sums[256], what each invocation has; in the end sums[0] is the segment's.
//
// Bound by memory, which is read once here and once in scan.wgsl. By itself it took 61 µs of a line of 8192² in f32
// on an H200, 28 November 2026 (docs/benchmarks_families.md).
let line = group / $parts;
let part = group - line * $parts;
let begin = part * $part_length;
let end = min(begin + $part_length, $length);
$coordinates
var sum = $identity;
for (var i = begin + thread * ${group}u; i < end; i += ${threads}u * ${group}u) {
  let at = ${from_the_end}i;
  $load
  $for x in $loaded
    sum = combine(sum, $x);
  $end
}
sums[thread] = sum;
$barrier
$for reach in $halves
  if (thread < ${reach}u) { sums[thread] = combine(sums[thread], sums[thread + ${reach}u]); }
  $barrier
$end
if (thread == 0u) {
  $store
}
