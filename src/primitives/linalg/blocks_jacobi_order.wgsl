// What block Jacobi ends with, in what the GPU languages share (dialect.hpp): the lengths of the columns and their
// order, and whether it came to an end.
//
//   lengths:  │ 3 │ 1 │ 2 │   order, ascending:  │ 1 │ 2 │ 0 │   values: lengths less what was added to the matrix
//
// One workgroup has a matrix, and an invocation every $threads-th column. Bound by what one processor reads, once.
let matrix = group;
$coordinates
for (var j = thread; j < $columns; j += ${threads}u) {
  var largest = $type(0.0);
  for (var i = 0u; i < $height; i += 1u) { largest = max(largest, $abs($a(i, j))); }
  let scale = select(largest, $type(1.0), largest == $type(0.0));
  var sum = $type(0.0);
  for (var i = 0u; i < $height; i += 1u) {
    let x = $quotient($a(i, j), scale);
    sum = fma(x, x, sum);
  }
  $set_length(j, 0u, $sqrt(sum) * scale);
}
$barrier_of_memory
for (var j = thread; j < $columns; j += ${threads}u) {
  let length = $length(j, 0u);
  var rank = 0u;
  for (var k = 0u; k < $columns; k += 1u) {
    let here = $length(k, 0u);
    if (here $before length || (here == length && k < j)) { rank += 1u; }
  }
  $set_order(rank, 0u, i32(j));
  $set_value(rank, 0u, $value);
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
