// QR of matrices of up to four rows and columns, a matrix a thread, in what the GPU languages share (dialect.hpp;
// pieces in thread_pieces.wgsl): Householder's reflections, unrolled, in registers.
//
//   thread 0            thread 1
//   ┌─────────┐       ┌─────────┐
//   │ d  r  r │       │ d  r  r │       registers of the matrix: (i, j) is c<i><j>. Reflection k leaves r to the right,
//   │ v  d  r │       │ v  d  r │ …     its own vector below, and the diagonal in d<k>; q<i><j> is then made of the
//   │ v  v  d │       │ v  v  d │       reflections, the last one first
//   └─────────┘       └─────────┘
//
// Bound by memory. On an H200, 28 November 2026, 100,000 of 4 x 4 in f32 took 45 µs, through WebGPU
// 46, in f64 59 (docs/benchmarks_families.md).
$begin
$own_load
$own_factor
if (inside) {
  $for i in $inner
    $for j in $columns
      $store_r_${i}${j}
    $end
  $end
  $for i in $rows
    $for j in $inner
      $store_q_${i}${j}
    $end
  $end
}
