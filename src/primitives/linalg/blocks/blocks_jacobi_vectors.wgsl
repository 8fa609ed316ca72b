// Columns in their order, and of length 1 or with the sign of another column, in what the GPU languages share
// (dialect.hpp): what block Jacobi gives. An invocation has an element. Bound by memory, and by
// what a column waits for its place: 1024 x 1024 in f32 took 20.9 µs on an H200, 28 November 2026, WebGPU.
//
//   order: 2 0 1    │ a0 │ a1 │ a2 │  ->  │ a2 │ a0 │ a1 │
let line = group * ${threads}u + thread;
let matrix = line / ($rows * $columns);
if (matrix < $matrices) {
  $coordinates
  let place = line - matrix * ($rows * $columns);
  let k = place / $rows;
  let i = place - k * $rows;
  let j = min(u32($order(k, 0u)), $columns - 1u);  // of NaN some have no place
  let x = $a(i, j);
  $set_to(i, k, $made);
}
