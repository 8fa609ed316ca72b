// Pieces (kernel_file.hpp) of small_cholesky.wgsl, small_lu.wgsl and small_solve.wgsl, which draw what they work on, in
// what the GPU languages share (dialect.hpp).
//
// Workgroup memory: a[$at(row, column)], the matrices; b[$side(row, column)], right-hand sides; bad[32] u32, whether a
// thread has loaded something that is not finite; places[] u32, the rows that rows were exchanged with; sizes[32], how
// large the first element of a row that waits is.

The status of a matrix of which a thread has loaded something that is not finite: -1.
$define all_finite
  bad[thread] = not_finite;
  $barrier
  for (var k = 0u; k < ${threads}u; k += 1u) {
    if (bad[own * ${threads}u + k] != 0u) { status = -1; }
  }
$end

The place `row` of the row with the largest `size` among those that wait, the first of them: by lanes that compare
theirs with others' ($compare for each distance), or by looking through all.
$define find_in_lanes
  var best = select($type(-1.0), size, waits);
  var row = select(${threads}u, place, waits);
  $comparisons
$end
$define compare(other, its)
  {
    let other = $other;
    let its = $its;
    if (other > best || (other == best && its < row)) {
      best = other;
      row = its;
    }
  }
$end
$define find_in_memory
  if (waits) { sizes[own * ${threads}u + place] = size; }
  $barrier
  var best = sizes[own * ${threads}u + k];
  var row = k;
  for (var i = k + 1u; i < ${m}u; i += 1u) {
    let other = sizes[own * ${threads}u + i];
    if (other > best) {
      best = other;
      row = i;
    }
  }
$end

x = T⁻¹·x for column c of b, by four rows, of which $divides says whether they are divided by the diagonal: what is
known comes in by squares of four, so that a load goes with two multiply-adds; $rest rows come by themselves. $element
is one of T, whose upper and lower triangles differ in what is known.
$define lower_in_fours(divides)
  $rolled
  for (var i = 0u; i < ${in_fours}u; i += 4u) {
    $four_rows(0u, i)
    $for d in $four
      $for q in $lower_${d}
        x$d = fma(-$element(i + ${d}u, i + ${q}u), x$q, x$d);
      $end
      $divide_and_keep($divides, x$d, i + ${d}u)
    $end
  }
$end
$define lower_rest(divides)
  for (var i = ${in_fours}u; i < ${n}u; i += 1u) {
    $one_row(0u, i, $divides)
  }
$end
$define upper_rest(divides)
  for (var s = 0u; s < ${rest}u; s += 1u) {
    let i = ${n}u - 1u - s;
    $one_row(i + 1u, ${n}u, $divides)
  }
$end
$define upper_in_fours(divides)
  $rolled
  for (var s = 0u; s < ${in_fours}u; s += 4u) {
    let i = ${in_fours}u - 4u - s;
    $four_rows(i + 4u, ${in_fours}u)
    $for k in $behind_fours
      $for d in $four
        x$d = fma(-$element(i + ${d}u, ${k}u), b[$side(${k}u, c)], x$d);
      $end
    $end
    $for d in $four_back
      $for q in $upper_${d}
        x$d = fma(-$element(i + ${d}u, i + ${q}u), x$q, x$d);
      $end
      $divide_and_keep($divides, x$d, i + ${d}u)
    $end
  }
$end
$define four_rows(from, until)
  $for d in $four
    var x$d = b[$side(i + ${d}u, c)];
  $end
  $rolled
  for (var k = $from; k < $until; k += 4u) {
    $for q in $four
      let y$q = b[$side(k + ${q}u, c)];
    $end
    $square
  }
$end
$define one_row(from, until, divides)
  var x = b[$side(i, c)];
  for (var k = $from; k < $until; k += 1u) { x = fma(-$element(i, k), b[$side(k, c)], x); }
  $divide_and_keep($divides, x, i)
$end
$define divide_and_keep(divides, x, i)
  if ($divides) { $x = $x / $element($i, $i); }
  b[$side($i, c)] = $x;
$end

The same for few columns, by all threads: b = T⁻¹·b, row k = $k in step s, which is taken from those $behind it (> or
<).
$define eliminate(k, behind, divides)
  for (var s = 0u; s < ${n}u; s += 1u) {
    let k = $k;
    if ($divides && r == k) {
      let pivot = a[$at(k, k)];
      for (var j = 0u; j < width; j += 1u) { b[$side(k, j)] = b[$side(k, j)] / pivot; }
    }
    $barrier
    if (r $behind k && r < ${n}u) {
      let factor = $element(r, k);
      for (var j = 0u; j < width; j += 1u) { b[$side(r, j)] = fma(-factor, b[$side(k, j)], b[$side(r, j)]); }
    }
  }
  $barrier
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
$end
The exchanges of column c, row k = $k in step s.
$define exchange(k)
  $rolled
  for (var s = 0u; s < ${n}u; s += 1u) {
    let k = $k;
    let row = places[own * ${n}u + k];
    let kept = b[$side(k, c)];
    b[$side(k, c)] = b[$side(row, c)];
    b[$side(row, c)] = kept;
  }
$end
The same by all threads, each with a row.
$define exchange_rows(k)
  var to = r;
  for (var s = 0u; s < ${n}u; s += 1u) {
    let k = $k;
    let row = places[own * ${n}u + k];
    to = select(select(to, k, to == row), row, to == k);
  }
  for (var j = 0u; j < width; j += 1u) {
    var moved = $type(0.0);
    if (r < ${n}u) { moved = b[$side(r, j)]; }
    $barrier
    if (r < ${n}u) { b[$side(to, j)] = moved; }
    $barrier
  }
$end
