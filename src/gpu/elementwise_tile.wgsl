// Where an invocation of elementwise.wgsl stands whose workgroup takes a tile: where an operand's neighbours lie
// across, along another axis than the output's (a transposed matrix).
//
//                 along, the output's neighbours →
//                ┌──────────┬──────────┬───┐
//   across       │ thread 0 │ thread 32│ … │      read by: the 32 invocations of a warp lie across, so that they read
//     ↓          ├──────────┼──────────┼───┤               together; each has a group of $each along
//   the other    │ thread 1 │ thread 33│ … │
//   operand's    ├──────────┼──────────┼───┤      written by: neighbours along lie in neighbouring invocations
//   neighbours   │ …        │          │   │
//                └──────────┴──────────┴───┘
//
//   tile<s>[element along][across], in workgroup memory: what was read of operand s, in rows of 32 and one more word,
//   so that no two of those that write together meet in a bank
//
// Where it does not fit workgroup memory, operands are read and results written by the invocations of the first kind.
//
// Bound by memory: of 4096² in f32, rows of 128 bytes both ways. A transposed copy of it took 49.9 µs on an H100, 27
// November 2026, of bf16 28.4, PyTorch 140 and 125, a copy 47.9 (docs/benchmarks.md).
if (group >= $count) { return; }
let tiles = group / $tiles_across;
let first_across = (group - tiles * $tiles_across) * ${lanes}u;
let rest = tiles / $tiles_along;
let first_along = (tiles - rest * $tiles_along) * (${rows}u * ${each}u);
$coordinates
$for tile in $staged_tiles
  {
    let across = first_across + thread % ${lanes}u;
    let along = first_along + thread / ${lanes}u * ${each}u;
    if (!(across >= $size_across || along >= $size_along)) {
      $read_tiles
    }
  }
  $barrier
$end
let across = first_across + $invocation_across;
let along = first_along + $invocation_along * ${each}u;
if (across >= $size_across || along >= $size_along) { return; }
