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
  var found = k;
  for (var i = k + 1u; i < ${m}u; i += 1u) {
    let other = sizes[own * ${threads}u + i];
    if (other > best) {
      best = other;
      found = i;
    }
  }
$end

The same where a workgroup is in one subgroup ($look_at_lanes), of which the bits of a number above 0 have the order.
$define look_at_lanes
  if (thread == 0u) { bad[0] = lanes; }
  let together = workgroupUniformLoad(&bad[0]) >= ${width}u;
$end
$define find_in_subgroup
  var row = k;
  if (together) {
    let most = subgroupMax(select(0u, bitcast<u32>(size) + 1u, waits));
    row = subgroupMin(select(${width}u, place, waits && bitcast<u32>(size) + 1u == most));
  } else {
    $find_in_memory
    row = found;
  }
$end

What small_lu.wgsl keeps of factors: exchanges, factors of rows that wait, and in the end those that a row had before it
was the pivot's beside what it has since. Register j has the column $column_of(j).
$define keep_pivot
  if (inside && r == 0u) {
    let exchanged = i32(row);
    $store_pivot
  }
$end
$define keep_factor
  a[$at(r, k)] = factor;
$end
$define keep_factors
  if (r < ${m}u) {
    $for j in $factors
      y$j = select(y$j, a[$at(r, $column_of(${j}u))], $column_of(${j}u) < min(place, ${least}u));
    $end
  }
  $barrier
  if (r < ${m}u) {
    $for j in $factors
      a[$at(place, $column_of(${j}u))] = y$j;
    $end
  }
  $barrier
  $store
$end

And its sides q, which are the first registers in the end: row c of the solution, where $of_row is U's column c, and
what the rows above lose by it.
$define solve_row(c, of_row)
  if (place == ${c}u) {
    $for q in $sides
      known[$known(${c}u, ${q}u)] = y$q / $of_row;
    $end
  }
  $barrier
$end
$define take_row(c, of_row)
  if (place < ${c}u) {
    $for q in $sides
      y$q = fma(-$of_row, known[$known(${c}u, ${q}u)], y$q);
    $end
  }
$end

b = T⁻¹·b for few columns, by all threads, each with a row: row k = $k in step s, which is taken from those $behind it
(> or <). $element is one of T, whose upper and lower triangles differ in what is known.
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
Where a thread's row goes by the exchanges, row k = $k in step s.
$define goes_to(k)
  var to = r;
  for (var s = 0u; s < ${n}u; s += 1u) {
    let k = $k;
    let row = places[own * ${n}u + k];
    to = select(select(to, k, to == row), row, to == k);
  }
$end
places[] of them: the row that each row was.
$define load_order
  $load_places
  $barrier
  $goes_to(s)
  $barrier
  if (r < ${n}u) { places[own * ${n}u + to] = r; }
$end
The exchanges of few columns.
$define exchange_rows(k)
  $goes_to($k)
  for (var j = 0u; j < width; j += 1u) {
    var moved = $type(0.0);
    if (r < ${n}u) { moved = b[$side(r, j)]; }
    $barrier
    if (r < ${n}u) { b[$side(to, j)] = moved; }
    $barrier
  }
$end
