// The first kernel of a search for the elements at a few ranks of a line (radix_ranks_count.wgsl): nothing is known of
// their keys, and nothing was counted. A workgroup to a line. Bound by its launch: 5 µs on an H200, 28 November
// 2026, WebGPU, where a kernel that does nothing takes 4.4.
if (group >= $lines) { return; }
$for r in $ranks
  $totals[(group * ${count}u + ${r}u) * 256u + thread] = 0u;
$end
if (thread == 0u) {
  $for r in $ranks
    $known[group * ${count}u + ${r}u] = $word(0);
    $wanted[group * ${count}u + ${r}u] = $rank_$r;
  $end
}
