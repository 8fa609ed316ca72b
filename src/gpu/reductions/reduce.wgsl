// Reductions over rows or columns with any formulas before, between and after them (softmax, norms, their gradients,
// sums), in what the GPU languages share (dialect.hpp).
//
//   outputs[kept…, reduced…] and outputs[kept…] = formulas of inputs[kept…, reduced…] and of reductions over `reduced`
//
// A workgroup has `across` kept positions, and `along` invocations for each: (tx, ty), with ty along the reduced axes.
//
//   rows: neighbours in memory lie along the reduced axes     columns: they lie along the kept ones
//
//       reduced →                                                  kept →
//      ┌──────┬──────┬──────┬──────┬───                           ┌──────┬──────┬──────┬───
//      │ ty 0 │ ty 1 │ ty 2 │ ty 0 │ …   tx 0                     │ tx 0 │ tx 1 │ tx 2 │ …   ty 0
//      ├──────┼──────┼──────┼──────┼───                           ├──────┼──────┼──────┼───
//      │ ty 0 │ ty 1 │ ty 2 │ ty 0 │ …   tx 1                     │ tx 0 │ tx 1 │ tx 2 │ …   ty 1
//      └──────┴──────┴──────┴──────┴───                           └──────┴──────┴──────┴───
//
// A box is a group of neighbours, read as vectors where they lie so. Each pass traverses the reduced range, adds up
// what its reductions need in registers (acc…), and then the invocations of a kept position join their parts, in warps
// or through workgroup memory, so that all of them have the results (red…) for the next pass (reduce_pass.wgsl). What
// is written for every element is written by the first pass that knows all it reads.
//
// Where kept positions are too few to fill the GPU, the reduced range is split among workgroups (segment), which leave
// partial results, and a second kernel joins those. Where rows are short, an invocation holds its part of the row in
// registers (held…, kept…): memory is read once however many passes there are.
//
// Speed. Bound by memory. On an H200 whose device copy ran at 4256 GB/s, 27 November 2026, 8192² f32: sums over axis 0
// 4.07 TB/s, over axis 1 4.33, softmax of rows 4.02 (docs/benchmarks.md).
//
// What stands in passes is in pieces: the loops in reduce_traversal.wgsl and reduce_resident.cu, the joining in
// reduce_join.wgsl and reduce_join.cu, and sums that wait for a reduction of the same pass in reduce_online.wgsl.
//
// What an invocation does for its kept positions is reduce_row.wgsl, in the loop of reduce_staged.wgsl where short rows
// pass through workgroup memory.
//
// reduce_text.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl, or
// TERN_SHOW_KERNELS=1.
let row_group = $row_group;
let segment = $segment;
let $slow = thread / $fast_count;
$for fast in $fast_if_used
  let $fast = thread - $slow * $fast_count;
$end
$rows_of_invocation
