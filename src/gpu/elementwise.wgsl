// A pointwise formula, in what the GPU languages share (dialect.hpp): outputs[i] = formula(inputs[i]…), for any layout.
//
// An invocation has $each neighbours along the output's last axis, those that 16 bytes hold where everything is
// aligned, and else one element:
//
//   │ thread 0          │ thread 1          │ …      y0, y1, … : their results, in registers; a further result of the
//   │ y0 │ y1 │ y2 │ y3 │ y0 │ y1 │ y2 │ y3 │ …      formula is a field of them
//
// Where an operand's neighbours lie along another axis, workgroups take tiles instead of runs: elementwise_tile.wgsl.
//
// Bound by memory. On an H200, 22 November 2026, 8192×8192 in bf16: silu_mul 4.24 TB/s, a row added to a matrix 4.03,
// rows taken by index 4.8 (docs/benchmarks_families.md); a device copy ran at 4256 GB/s the day before
// (docs/benchmarks_history.md).
//
// elementwise_text.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl.
$place
$load
$for e in $elements
  let y$e = $formula_$e;
$end
$store
