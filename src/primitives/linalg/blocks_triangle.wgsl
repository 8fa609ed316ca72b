// The solution for a block of 32 rows of a triangle, in what the GPU languages share (dialect.hpp; pieces in
// blocks_pieces.wgsl): an invocation has a column of the right-hand side in registers, which may be the solution's own
// memory. Upper triangles come with rows and columns in the opposite order.
let matrix = group / $parts;
let part = group - matrix * $parts;
$coordinates
$load_triangle
let j = part * ${threads}u + thread;
if (j < $right) {
  $load_values
  $substitute
}
