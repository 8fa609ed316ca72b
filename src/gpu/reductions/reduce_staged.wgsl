// Pieces (kernel_file.hpp) of a kernel with reductions whose rows are short and fit no vectors (reduce_staged.hpp):
// they pass through workgroup memory, in what the GPU languages share.
//
//   memory       │ row 0: $length elements │ row 1 │ row 2 │ …    neighbouring words are read, and written, by
//                  word 0   1   2            3   4   5            neighbouring invocations, whatever row they are of
//                  ↓   ↓   ↓
//   tile         │ word 0 │ word 1 │ word 2 │ …                    workgroup memory: the same words
//
//   invocation   │ unit: $unit rows │ unit of tx = 1 │ …           has a unit by itself in each pass
//
// A unit is as many rows as are whole words, so two of an odd number of halves. An invocation has $units of them,
// $across apart, where they are few bytes: else too little would be under way from memory.
//
// A tile for each operand and result that lies so; other operands (a weight for each column, a number for each row)
// are read where they are. Nothing is joined: a row's sums are one invocation's.
//
// Bound by memory. On an H200, 28 November 2026, 4 · 10⁶ rows of 3 normalised and scaled: f32 27.3 µs, rows of 768
// 29.5; bf16 17.9 and 16.6; through WebGPU, whose divisions are of many instructions, 54.7 and 51.0 in f32
// (docs/benchmarks_families.md).

$define staged_rows
  let first_of_rows = row_group * ${elements}u;
  let count_of_rows = min(${elements}u, $kept_count * ${length}u - first_of_rows);
  $in
  $barrier
  for (var q = 0u; q < ${units}u; q += 1u) {
    $rows_of_unit
  }
  $barrier
  $out
$end
$define row_of_unit
  {
    let p = ${number}u;
    $row
  }
$end
$define staged_moves
  for (var step = 0u; step < ${steps}u; step += 1u) {
    let i = step * ${threads}u + thread;
    if (i < $count) {
      $moves
    }
  }
$end
$define step_of_row
  {
    let r = ${number}u;
    $visit
  }
$end
$define traversal_of_staged
  for (var r = 0u; r < ${length}u; r += 1u) {
    $visit
  }
$end
