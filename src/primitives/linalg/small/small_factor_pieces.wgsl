// Pieces (kernel_file.hpp) of small_cholesky.wgsl, small_lu.wgsl and small_solve.wgsl, which draw what they work on, in
// what the GPU languages share (dialect.hpp).
//
// Workgroup memory: a[$at(row, column)], the matrices; b[$side(row, column)], right-hand sides; bad[32] u32, whether a
// thread has loaded something that is not finite; places[] u32, the rows that rows were exchanged with.

The status of a matrix of which a thread has loaded something that is not finite: -1.
$define all_finite
  bad[thread] = not_finite;
  $barrier
  for (var k = 0u; k < ${threads}u; k += 1u) {
    if (bad[own * ${threads}u + k] != 0u) { status = -1; }
  }
$end

b = T⁻¹·b, row k = $k in step s; of those behind it ($behind: > or <) row r has $factor. $divide: what makes x of row k.
$define eliminate(k, behind, factor, divide)
  for (var s = 0u; s < ${n}u; s += 1u) {
    let k = $k;
    $divide
    $barrier
    if (r $behind k && r < ${n}u) {
      let factor = a[$factor];
      for (var j = 0u; j < width; j += 1u) { b[$side(r, j)] -= factor * b[$side(k, j)]; }
    }
  }
  $barrier
$end
$define by_pivot
  if (r == k) {
    let pivot = a[$at(k, k)];
    for (var j = 0u; j < width; j += 1u) { b[$side(k, j)] = b[$side(k, j)] / pivot; }
  }
$end

Which row each row was exchanged with.
$define load_places
  if (r < ${n}u) {
    var place = 0;
    if (inside) {
      $load_pivot
      place = $pivot;
    }
    places[own * ${n}u + r] = u32(clamp(place, 0, $last));
  }
  $barrier
$end
The exchanges, row k = $k in step s: a thread has every $threads-th column.
$define exchange(k)
  for (var j = r; j < width; j += ${threads}u) {
    for (var s = 0u; s < ${n}u; s += 1u) {
      let k = $k;
      let row = places[own * ${n}u + k];
      let kept = b[$side(k, j)];
      b[$side(k, j)] = b[$side(row, j)];
      b[$side(row, j)] = kept;
    }
  }
  $barrier
$end
