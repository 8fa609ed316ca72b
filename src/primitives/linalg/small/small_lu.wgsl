// LU of small matrices with partial pivoting, and solutions for few right-hand sides, in what the GPU languages share
// (dialect.hpp; pieces in small_factor_pieces.wgsl): by columns, to the right of which all rows are updated.
//
//   y0 … of thread r: ┌─────────────────┐  a thread has a row in registers, of which the first is column k: what is
//                     │ · · · · · 0 0 0 │  updated moves one to the left, so that the loop stays one. Behind it come
//                     └─────────────────┘  zeros, whose factors a[$at(r, column)] keeps; a row that was the pivot's
//                     │ u · · 0 0 0 u u │  goes on in a circle, and is back where it was after all columns
//                     └─────────────────┘
//
// Rows stay where they are: `place` is where the row would be after the exchanges so far, and where it is stored.
// Right-hand sides are $sides columns more, of which elimination makes L⁻¹·P·b; U's rows then solve from the last one
// on, each by its thread, which tells the others.
//
// Workgroup memory: a[$at(row, column)], of all matrices of the workgroup, as they come and go; line[own · $lines + …],
// the row of the pivot in vectors; known[$known(row, side)], solutions (where there are sides); sizes[32], how large
// what is left of column k is, by place (where lanes do not compare theirs, $find_pivot); bad[32] u32
// (small_factor_pieces.wgsl).
//
// A factor is 1 or -1 exactly where it should be, which WGSL's division (2.5 ulp) need not give: else equal rows would
// not be found singular. What is not a number counts as larger than all, and is passed on to every row that is left.
// Bound by the arithmetic of min(m, n) steps: half of one is the update, the other half looks for the pivot and brings
// its row to all. 10,000 of 32 x 32 in f32 took 102 µs on an H200, through WebGPU 176, with a vector to solve for and
// without factors 106 and 149, 29 November 2026 (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: each step works on what the step before left in registers, with barriers
// that every invocation reaches, and what can be told apart is in pieces.)
$begin
$look_at_lanes
var status = 0;
var not_finite = 0u;
$load
$all_finite
$for j in $registers
  var y$j = $type(0.0);
$end
var place = r;
var waits = r < ${m}u;
if (waits) {
  $for j in $columns
    y$j = a[$at(r, ${j}u)];
  $end
  $load_sides
}
for (var k = 0u; k < ${least}u; k += 1u) {
  let size = select($abs(y0), $type($largest), y0 != y0);
  $find_pivot
  let is_pivot = waits && place == row;
  if (is_pivot) {
    $write_line
  }
  $keep_pivot
  $barrier
  let pivot = line[own * ${lines}u].x;
  if (is_pivot) {
    place = k;
    waits = false;
  } else if (waits && place == k) {
    place = row;
  }
  var factor = $type(0.0);
  if (pivot == $type(0.0)) {
    if (status == 0) { status = i32(k) + 1; }
  } else if (waits) {
    let one = select($type(-1.0), $type(1.0), y0 == pivot);
    factor = select(y0 / pivot, one, y0 == pivot || y0 == -pivot);
    $keep_factor
  }
  let behind = select(y0, $type(0.0), waits);
  $moved_left
  y$last = behind;
  $between
}
$solve
$keep_factors
$finish
