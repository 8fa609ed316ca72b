// QR of matrices of up to four rows and columns, a matrix a thread, in what the GPU languages share (dialect.hpp;
// pieces in thread_pieces.wgsl): Householder's reflections, unrolled, in registers. Bound by memory.
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
