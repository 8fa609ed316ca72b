// The last kernel of a pass of the sort by digits (radix_count.wgsl) where there are no votes in a warp: WebGPU's.
// Moves the elements of a block to where their digit's begin, in the order in which they stand. 256 at once, one to an
// invocation: each sets its bit among the 32 of its neighbours in the mask of its digit, and counts the bits before
// it.
//
//   masks[w][digit]: 8 · 256 words, bit l is set where thread 32 w + l has an element with that digit
//   next[digit]:     where the next element of the digit goes; thread `digit` keeps it up to date
//
// Bound by workgroup memory: for 256 elements an invocation sets one bit, reads up to 8 masks to rank its element, and
// 8 to count its digit's, behind three barriers. On an H100, 24 November 2026, 2^24 in f32 took 3090 µs in all, CUDA's
// 978 (docs/benchmarks.md).
if (group >= $lines * $blocks) { return; }
let line = group / $blocks;
let block = group - line * $blocks;
let begin = block * ${tile}u;
let end = min($n, begin + ${tile}u);
let total = $totals[line * 256u + thread];
sums[thread] = total;
$barrier
$scan
next[thread] = line * $n + sums[thread] - total + $counts[(line * 256u + thread) * $blocks + block];
for (var w = 0u; w < 8u; w += 1u) { atomicStore(&masks[w * 256u + thread], 0u); }
$barrier
let mine = thread / 32u;
for (var start = begin; start < end; start += 256u) {
  let i = start + thread;
  var digit = 0u;
  var bits = 0u;
  if (i < end) {
    let source = line * $n + i;
    bits = $bits[$bits_first + source];
    digit = (key_of(bits, $flip) >> $shift) & 255u;
    atomicOr(&masks[mine * 256u + digit], 1u << (thread & 31u));
  }
  $barrier
  if (i < end) {
    let source = line * $n + i;
    var to = next[digit] + countOneBits(atomicLoad(&masks[mine * 256u + digit]) & ((1u << (thread & 31u)) - 1u));
    for (var w = 0u; w < mine; w += 1u) { to += countOneBits(atomicLoad(&masks[w * 256u + digit])); }
    $store
  }
  $barrier
  var moved = 0u;
  for (var w = 0u; w < 8u; w += 1u) {
    moved += countOneBits(atomicLoad(&masks[w * 256u + thread]));
    atomicStore(&masks[w * 256u + thread], 0u);
  }
  next[thread] += moved;
  $barrier
}
