// The largest finite number of each part of matrices, in what the GPU languages share (dialect.hpp; pieces in
// columns_pieces.wgsl); or the power of two that brings it to where squares neither overflow nor vanish.
//
// A workgroup of $threads invocations has a part: a column of a matrix, or $each neighbours of it. Each looks at every
// $threads-th number, and the first joins what they have:
//
//   part:   │ 0 │ 1 │ 2 │ … │ 255 │ 0 │ 1 │ …       seen[thread]: the largest that it has seen
//
// Bound by memory, which is read once. Both kernels of 1024 x 1024 in f32, of parts and of them all, took 32 µs on an
// H200, 28 November 2026, WebGPU.
let matrix = group / $count;
let part = group - matrix * $count;
$coordinates
var largest = $zero;
let end = min($all, $first + $each);
for (var e = $first + thread; e < end; e += ${threads}u) {
  $element
  $looks
}
seen[thread] = largest;
$barrier
if (thread == 0u && matrix < $matrices) {
  for (var k = 0u; k < ${threads}u; k += 1u) { largest = max(largest, seen[k]); }
  $power_of_largest
  $store
}
