// Pieces of the kernels of blocks of large matrices (blocks_*.wgsl), in what the GPU languages share (dialect.hpp).
//
// An invocation has 32 numbers of its own in registers, x0 to x7: $value_0 to $value_31 are their elements.

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
The triangle's inverse times the values, row by row: what a row is known to be is taken from those below it.
$define substitute
  $for k in $steps
    {
      $for p in $divided_$k
        $value_$p = $quotient($value_$p, diagonal[${p}u]);
      $end
      $for j in $rest_$k
        $value_$j = fma(-$value_$k, triangle[${k}u * 8u + $chunk_$k]$part_$j, $value_$j);
      $end
      $for d in $after_$k
        x$d = fma($vector(-$value_$k), triangle[${k}u * 8u + ${d}u], x$d);
      $end
    }
  $end
$end
$define no_values
  $for d in $chunks
    var x$d = $vector();
  $end
$end
