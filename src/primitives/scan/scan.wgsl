// Running sums, products, maxima or minima along one axis, in what the GPU languages share (dialect.hpp): of whole
// lines, or of segments of a line whose sums are known (scan_sums.wgsl).
//
// A workgroup of 256 invocations has one line, or one segment of $part_length elements of it; of short lines it has
// 256 / $of_line, each of as many invocations as it takes. They take steps of $of_line · $each elements; an invocation
// has $each neighbours of a step, in groups that lie in vectors where they can:
//
//   step:         ┌─────────┬─────────┬───┬──────┐
//   in its        │ place 0 │ place 1 │ … │ last │   s0, s1, … : the running sums of an invocation's own
//   registers:    ├──┬──┬──┬┴─┬──┬──┬─┘   │      │
//                 │s0│s1│s2│s3│s0│s1│…    │      │
//   sums[thread]: the last of them, and after log₂ of_line steps of a tree (Hillis and Steele, 1986) the sum so far
//   carry:        the sum of all steps before
//
// Bound by memory, which is read once and written once; a step has 17 barriers, which other workgroups of the processor
// fill. On an H200, 22 November 2026, 8192×8192 along rows: bf16 3.61 TB/s, f32 3.75 (docs/benchmarks_families.md); a
// device copy ran at 4256 GB/s the day before (docs/benchmarks_history.md).
//
// gpu.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl.
$line
let place = thread % ${of_line}u;
let begin = part * $part_length;
let end = min(begin + $part_length, $length);
$coordinates
var carry = $identity;
$carry_in
for (var start = begin; start < end; start += ${of_line}u * ${each}u) {
  $for e in $elements
    var s$e = $identity;
  $end
  $for g in $groups
    let i$g = start + place * ${each}u + ${g}u;
    let line_at$g = ${from_the_end}i$g;
    if (i$g < end$is_line) {
      $load_$g
    }
  $end
  $own_sums
  $for reach in $reaches
    var t$reach = sums[thread];
    if (place >= ${reach}u) { t$reach = combine(sums[thread - ${reach}u], t$reach); }
    $barrier
    sums[thread] = t$reach;
    $barrier
  $end
  var before = carry;
  if (place > 0u) { before = combine(carry, sums[thread - 1u]); }
  $for e in $elements
    let y$e = combine(before, s$e);
  $end
  $for g in $groups
    if (i$g < end$is_line) {
      $store_$g
    }
  $end
  carry = combine(carry, sums[$last]);
  $barrier
}
