// Before the passes of CUDA's sort by digits (radix_sweep.cu): how often each digit of each pass stands in each line,
// in one reading of the elements. A workgroup counts $part neighbours of a line in its memory, four loads on their way
// at once, and adds its counts to the line's:
//
//   thread:    0    1        255   0
//   part:    │ k0 │ k0 │ … │ k0 │ k1 │ … │ k3 │ k0 │ …     keys[0 … 3]: a thread's four, 256 apart
//
//   counts[pass][digit]: each key adds 1 for each of its digits, by atomics → totals[pass][line][digit], of which
//   thread t adds digit t of every pass
//
// It also clears its share of the states that the passes look at.
//
// Bound by memory, which is read once, and by atomics of workgroup memory, one for each digit of an element: of 2^24 in
// f32 it takes 40 µs on an H100, 25 November 2026 (docs/tuning.md).
if (group >= $lines * $parts) { return; }
const u32 line = group / $parts, begin = (group - line * $parts) * ${part}u, end = min($n, begin + ${part}u);
u32* const totals = $totals;
u64* const states = $states;
for (u32 i = thread; i < ${passes}u * 256u; i += 256u) counts[i] = 0u;
for (u32 i = group * 256u + thread; i < $states_count; i += $lines * $parts * 256u) states[i] = 0ull;
__syncthreads();
const $type* const from = $bits + line * $n;
for (u32 i = begin + thread; i < end; i += 1024u) {
  $word keys[4];
#pragma unroll
  for (u32 e = 0; e < 4u; ++e) keys[e] = key_of(from[min(i + e * 256u, end - 1u)], $flip);
#pragma unroll
  for (u32 e = 0; e < 4u; ++e) {
    if (i + e * 256u >= end) continue;
#pragma unroll
    for (u32 pass = 0; pass < ${passes}u; ++pass)
      atomicAdd(&counts[pass * 256u + (u32(keys[e] >> (8u * pass)) & 255u)], 1u);
  }
}
__syncthreads();
for (u32 i = thread; i < ${passes}u * 256u; i += 256u)
  if (counts[i] != 0u) atomicAdd(&totals[((i >> 8) * $lines + line) * 256u + (i & 255u)], counts[i]);
