// Singular values of matrices of up to four rows and columns, a matrix a thread, in what the GPU languages share
// (dialect.hpp; pieces in small_pieces.wgsl and thread_pieces.wgsl): as small_svd.wgsl, unrolled, in registers.
//
//   thread 0            thread 1
//   ┌─────┬─────┬──     ┌─────┬─────┬──     registers of the matrix, or of its transpose, whichever has fewer columns:
//   │ c00 │ c01 │ …     │ c00 │ c01 │ …     (i, j) is c<i><j>; a rotation of the pair (p, q) makes columns p and q
//   │ c10 │ c11 │       │ c10 │ c11 │       orthogonal, and their lengths, value<j>, become the singular values
//   └─────┴─────┴──     └─────┴─────┴──     of the vectors, where they are wanted: v<i><j>
//
// A thread sweeps until nothing is left to be rotated in its own matrix. Bound by memory, and by the divisions of about
// five sweeps of six rotations. On an H200, 28 November 2026, 100,000 of 4 x 4 in f32 took 54 µs, through
// WebGPU 52, in f64 84 (docs/benchmarks_families.md).
$begin
var status = 0;
$own_load
$own_power
$for i in $rows
  $for j in $columns
    c${i}${j} = scaled(c${i}${j}, up);
  $end
$end
$for i in $vector_rows
  $for j in $columns
    var v${i}${j} = $type($one_${i}${j});
  $end
$end
$for j in $columns
  var value${j} = $type(0.0);
$end
var going = select(0u, 1u, status == 0);
for (var sweep = 0u; sweep < ${sweeps}u && going == 1u; sweep += 1u) {
  going = 0u;
  $for j in $columns
    value${j} = $type(0.0);
    $for i in $rows
      value${j} = fma(c${i}${j}, c${i}${j}, value${j});
    $end
  $end
  $for pair in $pairs
    $rotate_$pair
  $end
}
if (status == 0 && going == 1u) { status = 1; }
$for j in $columns
  {  // columns that vanish in squares are measured by themselves
    var largest = $type(0.0);
    $for i in $rows
      largest = max(largest, $abs(c${i}${j}));
    $end
    let size = power_of(largest);
    let less = $type(1.0) / size;
    var square = $type(0.0);
    $for i in $rows
      square = fma(c${i}${j} * less, c${i}${j} * less, square);
    $end
    value${j} = $sqrt(square) * size;
  }
$end
$sorted
if (inside) {
  $for j in $columns
    $store_value_${j}
  $end
}
$vectors
$finish
