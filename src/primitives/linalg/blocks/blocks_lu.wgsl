// LU with partial pivoting of a panel of up to 32 columns, in what the GPU languages share (dialect.hpp): a workgroup
// has the panel, in memory, and an invocation takes every ${threads}-th of its rows.
//
//   column:   0   k
//           ┌───┬─┬───┐   u, rows above k, is in workgroup memory too. Step k makes column k of all rows from k on,
//           │ u │u│ u │   a - l · u (Crout), and finds its largest element; that row and row k change places; then it
//    row k  ├───┼─┼───┤   becomes row k of u. Factors are divided by their pivot in the next step.
//           │ l │ │ a │
//           └───┴─┴───┘
//
// Workgroup memory: upper[32 · 32], the rows of u; chosen[32], the row of the pivot; sizes[$threads] and
// places[$threads] u32, the largest element that a thread has found, and its row.
//
// Bound by the latency of the steps: each reads what it needs of l, from a cache where the panel fits one, and waits
// for all invocations to compare what they found. A factor is 1 or -1 exactly where it should be, and u's rows are
// made by the same steps as the other rows, so that equal rows end as zeros.
//
// It is what LU is slow by: 3.4 µs for each column of a matrix of 64 rows, 8 µs of one of 4096, cuSOLVER 3 (H200, CUDA;
// docs/tuning.md). All of LU of 4096 x 4096 in f32 took 32082 µs, 26 November 2026, cuSOLVER 12145
// (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: a step is one loop over the columns of the panel, of which each part
// leaves in registers, or in workgroup memory, what the next begins with.)
let matrix = group;
$coordinates
var status = 0;
var pivot = $type(1.0);
for (var k = 0u; k < $size; k += 1u) {
  var best = $type(-1.0);
  var place = k;
  for (var first = thread; first < $rows; first += ${at_once}u) {
    $for q in $quarters
      let i$q = first + ${q}u * ${threads}u;
      let at$q = min(i$q, $rows - 1u);
      let mine$q = i$q >= k && i$q < $rows;
      var v$q = $a(at$q, k);
      if (mine$q && k > 0u && pivot != $type(0.0)) {
        let x = $a(i$q, k - 1u);
        $set_a(i$q, k - 1u, factor_of(x, pivot));
      }
    $end
    for (var j = 0u; j < k; j += 1u) {
      let w = upper[j * 32u + k];
      $for q in $quarters
        v$q = fma(-$a(at$q, j), w, v$q);
      $end
    }
    $for q in $quarters
      if (mine$q) {
        $set_a(i$q, k, v$q);
        let size$q = $abs(v$q);
        if (size$q > best) {
          best = size$q;
          place = i$q;
        }
      }
    $end
  }
  sizes[thread] = best;
  places[thread] = place;
  $barrier_of_memory
  for (var half = ${half}u; half > 0u; half = half / 2u) {
    if (thread < half) {
      let other = sizes[thread + half];
      let there = places[thread + half];
      if (other > sizes[thread] || (other == sizes[thread] && there < places[thread])) {
        sizes[thread] = other;
        places[thread] = there;
      }
    }
    $barrier
  }
  let row = places[0];
  if (thread < $size) {
    let here = $a(k, thread);
    let there = $a(row, thread);
    if (row != k) {
      $set_a(k, thread, there);
      $set_a(row, thread, here);
    }
    chosen[thread] = there;
  }
  if (thread == 0u) { $set_pivot(k, 0u, i32(row + $first)); }
  $barrier
  if (thread >= k && thread < $size) {
    var v = chosen[thread];
    if (thread > k) {
      for (var j = 0u; j < k; j += 1u) { v = fma(-chosen[j], upper[j * 32u + thread], v); }
      $set_a(k, thread, v);
    }
    upper[k * 32u + thread] = v;
  }
  $barrier_of_memory
  pivot = upper[k * 33u];
  if (pivot == $type(0.0) && status == 0) { status = i32(k) + 1; }
}
if (pivot != $type(0.0)) {
  for (var i = $size + thread; i < $rows; i += ${threads}u) {
    let x = $a(i, $size - 1u);
    $set_a(i, $size - 1u, factor_of(x, pivot));
  }
}
$tell
