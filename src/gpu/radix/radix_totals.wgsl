// Before the passes of a sort by digits that are one kernel each (radix_sweep.cu, radix_look_back.wgsl), in what the
// GPU languages share: how often each digit of each pass stands in each line, in one reading of the elements. A
// workgroup counts $part neighbours of a line in its memory, four loads on their way at once, and adds its counts to
// the line's:
//
//   thread:    0    1        255   0
//   part:    │ k0 │ k0 │ … │ k0 │ k1 │ … │ k3 │ k0 │ …     key0, key256, …: an invocation's four, 256 apart
//
//   counts[pass][digit]: each key adds 1 for each of its digits, by atomics → totals[pass][line][digit], of which
//   thread t adds digit t of every pass
//
// It also clears its share of the states that the passes look at.
//
// Bound by memory, which is read once, and by atomics of workgroup memory, one for each digit of an element: of 2^24 in
// f32 it takes 40 µs on an H100, 25 November 2026, CUDA (docs/tuning.md).
$part_of_line
$for pass in $passes
  atomicStore(&counts[${pass}u * 256u + thread], 0u);
$end
for (var i = group * 256u + thread; i < $states_count; i += $lines * $parts * 256u) { $states[i] = $no_state; }
$barrier
for (var i = begin + thread; i < end; i += 1024u) {
  $four_keys
  $for e in 0 256 512 768
    if (i + ${e}u < end) {
      $for pass in $passes
        atomicAdd(&counts[${pass}u * 256u + (u32(key$e >> (8u * ${pass}u)) & 255u)], 1u);
      $end
    }
  $end
}
$barrier
$for pass in $passes
  let count$pass = atomicLoad(&counts[${pass}u * 256u + thread]);
  if (count$pass != 0u) { atomicAdd(&$totals[(${pass}u * $lines + line) * 256u + thread], count$pass); }
$end
