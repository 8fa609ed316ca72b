// Pieces (kernel_file.hpp) of a kernel with reductions whose rows are short and fit no vectors (reduce_staged.hpp):
// they pass through workgroup memory, in what the GPU languages share.
//
//   memory       │ row 0: $length elements │ row 1 │ row 2 │ … │     neighbours are read, and written, by neighbouring
//                  i = 0  1  2               3  4  5                 invocations, whatever row they are of; 16-bit
//                  ↓  ↓  ↓                   ↓  ↓  ↓                 floats in pairs
//   tile         │ row 0 │ gap │ row 1 │ gap │ …                     workgroup memory, of an odd number of words a row,
//                                                                   so that rows begin in different banks
//   invocation     tx = 0        tx = 1                              has a row by itself, in each pass; and $rows of
//                                                                   them, $across apart, where they are few bytes:
//                                                                   else too little would be under way from memory
//
// A tile for each operand and result that lies so; other operands (a weight for each column, a number for each row)
// are read where they are. Nothing is joined: a row's sums are one invocation's.
//
// Bound by memory in f32, by instructions in 16 bits. On an H200, 28 November 2026, 4 · 10⁶ rows of 3 normalised and
// scaled: f32 37.3 µs, rows of 768 29.6; bf16 28.8 and 16.6; through WebGPU 60.2 and 51.0 in f32
// (docs/benchmarks_families.md).

$define staged_rows
  let first_of_rows = row_group * ${elements}u;
  let count_of_rows = min(${elements}u, $kept_count * ${length}u - first_of_rows);
  $in
  $barrier
  for (var q = 0u; q < ${rows}u; q += 1u) {
    $row
  }
  $barrier
  $out
$end
$define staged_elements
  for (var i = thread; i < count_of_rows; i += ${threads}u) {
    let at = i + i / ${length}u * ${gap}u;
    $moves
  }
$end
$define staged_pairs
  for (var i = thread * 2u; i < count_of_rows; i += ${pairs}u) {
    let at = i + i / ${length}u * ${gap}u;
    let next = i + 1u + (i + 1u) / ${length}u * ${gap}u;
    $moves
  }
$end
$define traversal_of_staged
  for (var r = ty; r < ${length}u; r += 1u) {
    $visit
  }
$end
