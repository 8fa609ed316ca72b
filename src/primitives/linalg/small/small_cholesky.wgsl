// Cholesky factors of small matrices, in what the GPU languages share (dialect.hpp; pieces in
// small_factor_pieces.wgsl): row by row with what is to the left of column k (Cholesky-Crout).
//
//   a, in workgroup memory:  ┌─────────┐   thread r has row r of its matrix, and with it the dot product of what is to
//                            │ l       │   the left of column k in rows r and k; a step is a column
//                            │ l l     │
//                            │ l l ·   │   ← k: the roots of the diagonal stay in registers until the end, as what a
//                            │ l l · · │        row is divided by is read from memory meanwhile
//                            └─────────┘
//
// An odd pitch keeps rows in different banks. A workgroup of 32 threads has as many matrices as have room in it. Bound
// by the latency of n steps with two barriers each, which other workgroups hide; memory is read once and written once.
// 10,000 of 8 x 8 in f32 take 8 µs, 1,000 of 32 x 32 19 and 10,000 91, PyTorch 79, 75 and 324, on an H100, 25 November
// 2026 (docs/linear_algebra.md).
//
// Workgroup memory: a[$at(row, column)], of all matrices of the workgroup; bad[32] u32 (small_factor_pieces.wgsl).
$begin
var status = 0;
var not_finite = 0u;
$load
$all_finite
var root = $type(0.0);
for (var k = 0u; k < ${n}u; k += 1u) {
  if (r >= k && r < ${n}u) {
    var left = a[$at(r, k)];
    for (var j = 0u; j < k; j += 1u) { left -= a[$at(r, j)] * a[$at(k, j)]; }
    a[$at(r, k)] = left;
  }
  $barrier
  let pivot = a[$at(k, k)];
  if (!(pivot > $type(0.0)) && status == 0) { status = i32(k) + 1; }
  let square = $sqrt(pivot);
  if (r == k) { root = square; }
  if (r > k && r < ${n}u) { a[$at(r, k)] = a[$at(r, k)] / square; }
  $barrier
}
if (r < ${n}u) {
  a[$at(r, r)] = root;
  for (var j = r + 1u; j < ${n}u; j += 1u) { a[$at(r, j)] = $type(0.0); }
}
$barrier
$store
$finish
