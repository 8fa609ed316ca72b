// Householder's reflections of a panel of up to 32 columns, in what the GPU languages share (dialect.hpp): a workgroup
// has the panel; neighbouring invocations have neighbouring columns, and every 32 of them a slice of the rows.
//
//   rows     columns of p, one row after the other; step k reads one half of it and writes the other
//            0   k k+1
//          ┌───┬─┬─┬───┐   x is column k below its diagonal. What x · y is for each column y was found in the step
//   row k  │   │r│r r r│   before, while y was written: one pass over the panel, and one wait for all of it.
//          │   │x│y│ y │   v = x / (first - made), 1 on the diagonal; y -= v · tau · (v · y)
//          └───┴─┴─┴───┘
//
// Workgroup memory: partial[$threads], what a thread's rows add to x · y; dots[32], x · y; heads[32], row k; ws[32],
// tau · (v · y), each for every column.
//
// Bound by what one processor moves: for each column what is left of the panel, there and back. A column that is zero
// below its diagonal has no reflection: v is 0, all of it.
//
// It takes eight tenths of the time of 2048 columns (docs/tuning.md). All of QR of 1024 x 1024 in f32 took 8379 µs on
// an H200, 26 November 2026, CUDA, and of 4096 140121, cuSOLVER 4440 and 28763 (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: its one pass over the panel for a column is what the next column begins
// with, in memory of the workgroup that all of it reads and writes between the same barriers.)
let matrix = group;
$coordinates
let c = thread % 32u;
let slice = thread / 32u;
let mine = c < $size;
{
  var sum = $type(0.0);
  for (var i = slice; i < $rows; i += ${slices}u) {
    if (mine) {
      let y = $a(i, c);
      $set_p(i, c, y);
      if (i > 0u) { sum = fma($a(i, 0u), y, sum); }
    }
  }
  partial[thread] = sum;
}
$barrier_of_memory
for (var k = 0u; k < $size; k += 1u) {
  let here = k % 2u * $rows;
  let there = $rows - here;
  if (thread < 32u && mine) {
    var sum = $type(0.0);
    for (var s = 0u; s < ${slices}u; s += 1u) { sum = sum + partial[s * 32u + thread]; }
    dots[thread] = sum;
    heads[thread] = $p(here + k, thread);
  }
  $barrier
  let first = heads[k];
  let squares = dots[k];
  let none = squares == $type(0.0);
  let length = $sqrt(fma(first, first, squares));
  let made = select(select(length, -length, first > $type(0.0)), first, none);
  let scale = select($quotient($type(1.0), select(first - made, $type(1.0), none)), $type(0.0), none);
  let tau = select($quotient(made - first, select(made, $type(1.0), none)), $type(0.0), none);
  if (thread < 32u && mine) {
    let w = tau * fma(scale, dots[thread], heads[thread]);
    ws[thread] = w;
    if (thread == k) { $set_a(k, thread, made); }
    if (thread > k) { $set_a(k, thread, heads[thread] - w); }
    if (thread <= k) { $set_v(thread, k, select($type(0.0), $type(1.0), thread == k && !none)); }
  }
  $barrier
  let next = min(k + 1u, $size - 1u);
  let w = ws[min(c, $size - 1u)];
  let w_of_next = ws[next];
  var sum = $type(0.0);
  for (var i = k + 1u + slice; i < $rows; i += ${slices}u) {
    if (mine && c >= k) {
      let v = $p(here + i, k) * scale;
      if (c == k) {
        $set_v(i, k, v);
      } else {
        let y = fma(-v, w, $p(here + i, c));
        $set_p(there + i, c, y);
        if (i > k + 1u) { sum = fma(fma(-v, w_of_next, $p(here + i, next)), y, sum); }
      }
    }
  }
  partial[thread] = sum;
  $barrier_of_memory
}
