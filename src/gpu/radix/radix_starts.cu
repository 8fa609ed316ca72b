// Where each digit's elements begin in a line, of how often each stands there (radix_totals.wgsl): a workgroup to a
// line and a pass, an invocation to a digit. Bound by its launch, for it reads 256 words. By itself it took 2 µs
// of a sort of 2^24 in bf16 on an H200, 28 November 2026 (docs/benchmarks_families.md).
if (group >= $lists) { return; }
u32* const totals = $totals;
const u32 total = totals[group * 256u + thread];
totals[group * 256u + thread] = tern_sum_up_to(total, sums, thread) - total;
