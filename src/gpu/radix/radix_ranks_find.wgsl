// The next digit of the elements at a few ranks (radix_ranks_count.wgsl): a workgroup to a line, an invocation to a
// digit, one rank after the other. The totals are cleared for the next digit. Bound by its launch and by barriers: 8
// µs for two ranks of a line on an H200, 28 November 2026, WebGPU, where a kernel that does nothing takes 4.4.
//
// Workgroup memory: sums[256] u32, how many elements have a digit, then how many this or a lesser one
// (radix_scan.wgsl).
if (group >= $lines) { return; }
$for r in $ranks
  let known$r = $known[group * ${count}u + ${r}u];
$end
$barrier
$for r in $ranks
  {
    var counted = ${r}u;
    $for s in $lower_$r
      if (known$s == known$r) { counted = ${s}u; }
    $end
    let wanted = $wanted[group * ${count}u + ${r}u];
    let here = $totals[(group * ${count}u + counted) * 256u + thread];
    sums[thread] = here;
    $barrier
    $scan
    let up_to = sums[thread];
    if (up_to > wanted && up_to - here <= wanted) {
      $known[group * ${count}u + ${r}u] = known$r | ($word(thread) << $shift);
      $wanted[group * ${count}u + ${r}u] = wanted - (up_to - here);
    }
    $barrier
  }
$end
$for r in $ranks
  $totals[(group * ${count}u + ${r}u) * 256u + thread] = 0u;
$end
