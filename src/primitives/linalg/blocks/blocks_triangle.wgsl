// The solution for a block of 32 rows of a triangle, in what the GPU languages share (dialect.hpp; pieces in
// blocks_pieces.wgsl): an invocation has a column of the right-hand side in registers, which may be the solution's own
// memory. Upper triangles come with rows and columns in the opposite order.
//
//     triangle [32 × 32], in workgroup memory         right-hand side, thread 0   1   2   …
//   ┌───┐                                                            ┌───────────┬───┬───┬──
//   │ l   l                                                          │ x0 to x7: │ … │   │    32 numbers in registers,
//   │ l   l   l        all invocations read one element at once      │ row 0 …   │   │   │    from the first row on
//   └───────────┘                                                    └───────────┴───┴───┴──
//
// Bound by latency: 32 steps, each of which waits for the one before. On an H200, 26 November 2026, by CUDA, all of a
// triangle of 1024 rows in f32 took 329 µs for one right-hand side and 432 for 1024, cuSOLVER's cuBLAS 70 and 263
// (docs/benchmarks_families.md).
let matrix = group / $parts;
let part = group - matrix * $parts;
$coordinates
$load_triangle
let j = part * ${threads}u + thread;
if (j < $right) {
  $load_values
  $substitute
}
