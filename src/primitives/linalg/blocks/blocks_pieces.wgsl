// Pieces of the kernels of blocks of large matrices (blocks_*.wgsl), in what the GPU languages share (dialect.hpp).
//
// An invocation has 32 numbers of its own in registers, the vectors x0 to x7. What is done to them is a loop over
// vectors, of which the first is always the one whose turn it is: the others move up.
//
//   │ x0: 0 to 3 │ x1: 4 to 7 │ … │ x7: 28 to 31 │     after four steps:  │ x0: 4 to 7 │ x1: 8 to 11 │ … │
//
// What bounds the kernels, and how fast they are, stands in their own files.
//
// Workgroup memory: triangle[264] vectors of four rows of a column; diagonal[32], what is on it, or half of that, as
// $pivot_of says.

A block's part below the diagonal, [column][row / 4] vectors of rows, and what is on it.
$define load_triangle
  for (var e = thread; e < 1024u; e += ${threads}u) {
    let i = e / 32u;
    let k = e - i * 32u;
    var below = $type(0.0);
    if (k < i && i < $size) { below = $l(i, k); }
    triangle[k * 8u + i / 4u][i & 3u] = below;
  }
  $load_diagonal
  $barrier
$end
$define load_diagonal_of_numbers
  if (thread < 32u) {
    var pivot = $type(1.0);
    if (thread < $size) {
      let number = $l(thread, thread);
      pivot = $pivot_of(number);
    }
    diagonal[thread] = pivot;
  }
$end
The vectors of what $number(k, inside) is, for k below 32 and whether that is below the size; 0 elsewhere.
$define load_values
  $for d in $chunks
    var x$d = $vector();
  $end
  $for k in $steps
    $value_$k = select($type(0.0), $number(min(${k}u, $size - 1u)), ${k}u < $size);
  $end
$end
The next vector's round.
$define move_up
  $for d in $after
    x$d = x$next_$d;
  $end
$end
The triangle's inverse times the values, row by row: what a row is known to be is taken from those below it.
(Behind the last row there is nothing that is looked at again.)
$define substitute
  for (var round = 0u; round * 4u < $size; round += 1u) {
    $for q in $parts_of_vector
      {
        let k = round * 4u + ${q}u;
        $for p in $divided
          $value_$q = $quotient($value_$q, diagonal[k]);
        $end
        if (k < $size) { $solved(k, $value_$q); }
        $for j in $rest_$q
          $value_$j = fma(-$value_$q, triangle[k * 8u + round]$part_$j, $value_$j);
        $end
        $for d in $later
          x$d = fma($vector(-$value_$q), triangle[k * 8u + round + ${d}u], x$d);
        $end
      }
    $end
    $move_up
  }
$end
