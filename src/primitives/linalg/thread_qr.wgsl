// QR of matrices of up to four rows and columns, a matrix a thread, in what the GPU languages share (dialect.hpp;
// pieces in thread_pieces.wgsl): Householder's reflections, unrolled, in registers. Bound by memory.
$begin
$for i in $rows
  $for j in $columns
    var c${i}${j} = $type(0.0);
  $end
$end
if (inside) {
  $for i in $rows
    $for j in $columns
      $load_${i}${j}
    $end
  $end
}
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
