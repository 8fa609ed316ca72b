// LU of small matrices with partial pivoting, in what the GPU languages share (dialect.hpp; pieces in
// small_factor_pieces.wgsl): by columns, to the right of which all rows are updated.
//
//   a, in workgroup memory:  ┌───────────┐   thread r has row r of its matrix: it looks for the pivot of column k, as
//                            │ u u u u u │   all do, exchanges every $threads-th element of rows k and `row`, and takes
//                            │ l u u u u │   its factor times row k from its own
//                            │ l l · · · │   ← k
//                            │ l l · · · │
//                            └───────────┘
//
// Workgroup memory: a[$at(row, column)], of all matrices of the workgroup; bad[32] u32 (small_factor_pieces.wgsl).
//
// A factor is 1 or -1 exactly where it should be, which WGSL's division (2.5 ulp) need not give: else equal rows would
// not be found singular. An odd pitch keeps rows in different banks. Bound by the latency of min(m, n) steps with three
// barriers each, which other workgroups of 32 threads hide; memory is read once and written once. 10,000 of 8 x 8 in
// f32 take 10 µs, 1,000 of 32 x 32 49 and 10,000 252, PyTorch 47, 88 and 199, on an H100, 25 November 2026
// (docs/linear_algebra.md).
$begin
var status = 0;
var not_finite = 0u;
$load
$all_finite
for (var k = 0u; k < ${least}u; k += 1u) {
  var best = $abs(a[$at(k, k)]);
  var row = k;
  for (var i = k + 1u; i < ${m}u; i += 1u) {
    let size = $abs(a[$at(i, k)]);
    if (size > best) {
      best = size;
      row = i;
    }
  }
  $barrier
  if (row != k) {
    for (var j = r; j < ${n}u; j += ${threads}u) {
      let kept = a[$at(k, j)];
      a[$at(k, j)] = a[$at(row, j)];
      a[$at(row, j)] = kept;
    }
  }
  if (inside && r == 0u) {
    let place = i32(row);
    $store_pivot
  }
  $barrier
  let pivot = a[$at(k, k)];
  if (pivot == $type(0.0)) {
    if (status == 0) { status = i32(k) + 1; }
  } else if (r > k && r < ${m}u) {
    let x = a[$at(r, k)];
    let one = select($type(-1.0), $type(1.0), x == pivot);
    let factor = select(x / pivot, one, x == pivot || x == -pivot);
    a[$at(r, k)] = factor;
    for (var j = k + 1u; j < ${n}u; j += 1u) { a[$at(r, j)] -= factor * a[$at(k, j)]; }
  }
  $barrier
}
$store
$finish
