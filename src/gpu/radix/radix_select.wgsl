// Selects the $k first of a line in the order of their keys, in what the GPU languages share (dialect.hpp): a workgroup
// of 256 invocations to a part of a line; $k words come from each part, until one part is left. They stay in the order
// of the line; of elements alike the first in the line are taken.
//
// It finds the k-th digit by digit, from the highest: the digit that the k-th has, among those that agree with it so
// far (`known`, in the bits of `mask`); `wanted` is its number among them:
//
//   counts[0 … 255] of a digit:  │ 3 │ 9 │ 40 │ 7 │ …     wanted 20: the digit 2, and the 8th of its 40 (20 − 3 − 9)
//   sums up to there:            │ 3 │ 12│ 52 │ …
//
// A bit for each element then says whether it stands before the k-th (`less`) or is like it (`alike`), and every
// invocation writes what its words of these bits name:
//
//   less[], alike[]:  │ thread 0: $each_masks words of 32 bits │ thread 1 │ …
//
// Workgroup memory: counts[256], less[] and alike[] atomic u32; sums[256] u32, what the invocations have and then
// (radix_scan.wgsl) up to each; found[2] u32, the digit and what is then `wanted`.
//
// Bound by memory and by atomics of workgroup memory: each part is read once for each digit, and then once. On an H100,
// 27 November 2026, the 10 first of 2^24 in f32 took 147 µs, PyTorch 356 (docs/benchmarks.md).
//
// (The kernel is longer than other functions: its three parts, the digits, the bits and the writing, hand on `known`,
// `wanted` and the bits, and the unrolled loads are its lines.)
if (group >= $lines * $parts) { return; }
let line = group / $parts;
let part = group - line * $parts;
let each = $n / $parts;
let longer = $n - each * $parts;
let begin = line * $n + part * each + min(part, longer);
let end = begin + each + select(0u, 1u, part < longer);
let last = end - 1u;
var known = $word(0);
var mask = $word(0);
var wanted = $k;
for (var shift = $top; shift < $over; shift -= 8u) {
  atomicStore(&counts[thread], 0u);
  $barrier
  for (var i = begin + thread; i < end; i += 1024u) {
    $for e in 0 256 512 768
      let key$e = key_of($bits_at(min(i + ${e}u, last)), $flip);
    $end
    $for e in 0 256 512 768
      if (i + ${e}u < end && (key$e & mask) == known) { atomicAdd(&counts[u32(key$e >> shift) & 255u], 1u); }
    $end
  }
  $barrier
  let here = atomicLoad(&counts[thread]);
  sums[thread] = here;
  $barrier
  $scan
  let up_to = sums[thread];
  if (up_to >= wanted && up_to - here < wanted) {
    found[0] = thread;
    found[1] = wanted - (up_to - here);
  }
  $barrier
  known = known | ($word(found[0]) << shift);
  mask = mask | ($word(255) << shift);
  wanted = found[1];
  $barrier
}
for (var i = thread; i < $masks; i += 256u) {
  atomicStore(&less[i], 0u);
  atomicStore(&alike[i], 0u);
}
$barrier
for (var i = begin + thread; i < end; i += 1024u) {
  $for e in 0 256 512 768
    let key$e = key_of($bits_at(min(i + ${e}u, last)), $flip);
  $end
  $for e in 0 256 512 768
    if (i + ${e}u < end) {
      let at = i + ${e}u - begin;
      if (key$e < known) { atomicOr(&less[at >> 5u], 1u << (at & 31u)); }
      if (key$e == known) { atomicOr(&alike[at >> 5u], 1u << (at & 31u)); }
    }
  $end
}
$barrier
// An invocation has $each_masks words. Of the elements alike only the first `wanted` count.
var before = 0u;
var like = 0u;
for (var j = 0u; j < $each_masks; j += 1u) {
  before += countOneBits(atomicLoad(&less[thread * $each_masks + j]));
  like += countOneBits(atomicLoad(&alike[thread * $each_masks + j]));
}
sums[thread] = like;
$barrier
$scan
var like_before = sums[thread] - like;
$barrier
let taken = min(like_before + like, wanted) - min(like_before, wanted);
sums[thread] = before + taken;
$barrier
$scan
var to = group * $k + sums[thread] - (before + taken);
for (var j = 0u; j < $each_masks; j += 1u) {
  let word = thread * $each_masks + j;
  let likes = atomicLoad(&alike[word]);
  var either = atomicLoad(&less[word]) | likes;
  for (; either != 0u;) {
    let bit = countTrailingZeros(either);
    either = either & (either - 1u);
    var take = true;
    if (((likes >> bit) & 1u) != 0u) {
      take = like_before < wanted;
      like_before += 1u;
    }
    if (take) {
      let source = begin + word * 32u + bit;
      $to_bits[$to_bits_first + to] = $bits_at(source);
      $to_places[$to_places_first + to] = $source_place;
      to += 1u;
    }
  }
}
