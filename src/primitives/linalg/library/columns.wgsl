// Elements of matrices on their way to a vendor's library or from it, in what the GPU languages share (dialect.hpp;
// $element and $work are of columns_pieces.wgsl): an invocation to each, element (i, j) of `matrix`.
//
//   element_of_line: neighbours among invocations are neighbours in a row; a workgroup of 256 has elements one after
//                    the other, whichever row or matrix they are of
//   element_of_tile: where one side lies by rows and the other by columns a workgroup has a tile, a warp 8 × 4 of it:
//
//               32 columns →
//             ┌──────┬──────┬──────┬───
//     8 rows  │warp 0│warp 1│warp 2│ …    thread t of a warp: row t % 8, column t / 8
//             └──────┴──────┴──────┴───
//
//                    so that what lies by rows is read, and what lies by columns is written, in whole sectors of 32
//                    bytes
//
// Bound by memory, which is read once and written once; but $places_of_rows (columns_pieces.wgsl) by latency. Of
// the 123 µs of a Cholesky of 64 of 128 x 128 by the library a copy took 10, on an H200, 26 November 2026
// (docs/tuning.md).
$element
if ($inside) {
  $coordinates
  $work
}
