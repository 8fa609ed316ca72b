// Running sums along an axis that is not the one along which neighbours lie in memory: columns of a matrix.
//
// A workgroup of 256 invocations has 32 lines that are neighbours in memory, and eight invocations to a line, each with
// $rows_each elements of a step along it:
//
//              lines →
//             ┌───────────┬───────────┬───┬────────────┐
//   along     │ thread 0  │ thread 1  │ … │ thread 31  │   row 0: elements 0 to 7 of a step, s0 to s7
//     ↓       ├───────────┼───────────┼───┼────────────┤
//             │ thread 32 │ thread 33 │ … │ thread 63  │   row 1: elements 8 to 15
//             ├───────────┼───────────┼───┼────────────┤
//             │ …         │           │   │            │   sums[thread]: of an invocation's elements
//
// Every invocation sees the sums of its line's seven others, and carries all eight to the next step.
//
// Bound by memory; a step has two barriers. On an H200, 22 November 2026, 8192×8192 in bf16 1.50 TB/s, a workgroup to a
// line 0.20 (docs/benchmarks_families.md).
let column = thread % ${columns}u;
let line = group * ${columns}u + column;
let row = thread / ${columns}u;
let inside = line < $lines;
$coordinates
var carry = $identity;
for (var start = 0u; start < $length; start += ${rows}u * ${rows_each}u) {
  $for e in $elements
    let i$e = start + row * ${rows_each}u + ${e}u;
    let at$e = ${from_the_end}i$e;
    var s$e = $identity;
    if (inside && i$e < $length) {
      $load_$e
    }
  $end
  $own_sums
  var before = carry;
  $for r in $other_rows
    carry = combine(carry, sums[${r}u * ${columns}u + column]);
    if (row > ${r}u) { before = carry; }
  $end
  carry = combine(carry, sums[$last_row * ${columns}u + column]);
  $for e in $elements
    if (inside && i$e < $length) {
      let y$e = combine(before, s$e);
      $store_$e
    }
  $end
  $barrier
}
