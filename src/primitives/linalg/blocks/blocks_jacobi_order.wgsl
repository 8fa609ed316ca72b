// What block Jacobi ends with, in what the GPU languages share (dialect.hpp): the lengths of the columns, their values
// in order, and whether it came to an end.
//
//   values:  │ 3 │ 1 │ 2 │   order, ascending:  │ 1 │ 2 │ 0 │
//
// Workgroup memory: failed[$threads] u32, whether a thread knows of a pair that was still rotated in the last sweep.
//
// Singular values are the lengths over those of v, which become 1. Eigenvalues are Rayleigh's quotients x·t / x·x of
// the columns x and what the matrix makes of them, t.
// One workgroup has a matrix, and an invocation every $threads-th column. Bound by what one processor reads, twice: of
// eigh of 1024 x 1024 in f32 it took 1944 µs on an H200, 28 November 2026, WebGPU, which is 3 % of all.
let matrix = group;
$coordinates
for (var j = thread; j < $columns; j += ${threads}u) {
  var largest = $type(0.0);
  for (var i = 0u; i < $height; i += 1u) { largest = max(largest, $abs($a(i, j))); }
  let scale = select(largest, $type(1.0), largest == $type(0.0));
  var sum = $type(0.0);
  $for q in $symmetric
    var dot = $type(0.0);
  $end
  for (var i = 0u; i < $height; i += 1u) {
    let x = $quotient($a(i, j), scale);
    sum = fma(x, x, sum);
    $for q in $symmetric
      dot = fma(x, $made(i, j), dot);
    $end
  }
  let length = $sqrt(sum) * scale;
  $set_length(j, 0u, length);
  $for q in $with_vectors
    var square = $type(0.0);
    for (var i = 0u; i < $columns; i += 1u) { square = fma($made(i, j), $made(i, j), square); }
    let own = $sqrt(square);
    for (var i = 0u; i < $columns; i += 1u) { $set_made(i, j, $quotient($made(i, j), own)); }
  $end
  $set_length(j, 1u, $value);
}
$barrier_of_memory
for (var j = thread; j < $columns; j += ${threads}u) {
  let value = $length(j, 1u);
  var rank = 0u;
  for (var k = 0u; k < $columns; k += 1u) {
    let here = $length(k, 1u);
    if (here $before value || (here == value && k < j)) { rank += 1u; }
  }
  $set_order(rank, 0u, i32(j));
  $set_value(rank, 0u, value);
}
var status = 0;
for (var k = thread; k < $pairs; k += ${threads}u) {
  if ($state(k, $now) != 0) { status = 1; }
}
failed[thread] = u32(status);
$barrier
if (thread == 0u) {
  for (var k = 0u; k < ${threads}u; k += 1u) {
    if (failed[k] != 0u) { status = 1; }
  }
}
$tell
