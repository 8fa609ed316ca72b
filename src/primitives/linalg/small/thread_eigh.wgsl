// Eigenvalues of symmetric matrices of up to four rows, a matrix a thread, in what the GPU languages share
// (dialect.hpp; pieces in small_pieces.wgsl and thread_pieces.wgsl): Jacobi's rotations of the lower triangle,
// unrolled, in registers.
//
//   thread 0            thread 1
//   ┌─────────────┐     ┌─────────────┐
//   │ c00         │     │ c00         │     registers of the matrix: (i, j), j ≤ i, is c<i><j>; a rotation of the pair
//   │ c10 c11     │     │ c10 c11     │ …   (p, q) makes c<q><p> zero, and rotates the rest of rows and columns p and q
//   │ c20 c21 c22 │     │ c20 c21 c22 │
//   └─────────────┘     └─────────────┘     of the vectors, where they are wanted: v<i><j>
//
// A thread sweeps until nothing is left to be rotated in its own matrix. Bound by memory, and by the divisions of about
// five sweeps of six rotations. On an H200, 28 November 2026, 100,000 of 4 x 4 in f32 took 29 µs, through
// WebGPU 25, in f64 43 (docs/benchmarks_families.md).
$begin
var status = 0;
$own_load
$own_power
var norm = $type(0.0);
$for i in $rows
  $for j in $of_row_${i}
    c${i}${j} = scaled(c${i}${j}, up);
    norm = fma($type($weight_${i}${j}) * c${i}${j}, c${i}${j}, norm);
  $end
$end
$for i in $vector_rows
  $for j in $rows
    var v${i}${j} = $type($one_${i}${j});
  $end
$end
// All that is left below this changes the matrix by less than a rounding of its norm.
let little = $root(norm) * $type($epsilon_over_2n);
var going = select(0u, 1u, status == 0);
for (var sweep = 0u; sweep < ${sweeps}u && going == 1u; sweep += 1u) {
  going = 0u;
  $for pair in $pairs
    $rotate_$pair
  $end
}
if (status == 0 && going == 1u) { status = 1; }
$sorted
if (inside) {
  $for i in $rows
    $store_value_${i}
  $end
  $for i in $vector_rows
    $for j in $rows
      $store_${i}${j}
    $end
  $end
}
$finish
