// The elements along an axis moved around in a circle, in what the GPU languages share (dialect.hpp).
//
// An invocation has one element of the result, and its neighbour the next along the axis:
//
//              ┌──────────┬────────────┬───┬─────────────┬───┬─────────────┐
//   line 0:    │ thread 0 │ thread 1   │ … │             │ … │ thread n-1  │
//              ├──────────┼────────────┼───┼─────────────┼───┼─────────────┤
//   takes      │ x[by]    │ x[by + 1]  │ … │ x[0]        │ … │ x[by - 1]   │
//              └──────────┴────────────┴───┴─────────────┴───┴─────────────┘
//   line 1:      thread n, …
//
// Bound by memory, which is read once and written once. Not measured: it is an example, for docs/add_a_primitive.md.
//
// gpu.cpp fills the holes, $name. To read it with all of them filled: rotate.golden.wgsl.
let at = group * ${threads}u + thread;
let line = at / $length;
let i = at - line * $length;
$coordinates
if (line < $lines) {
  let taken = (i + $by) % $length;
  $load
  $store
}
