// Singular values of small matrices by one-sided Jacobi rotations (Hestenes 1958), in what the GPU languages share
// (dialect.hpp; pieces in small_pieces.wgsl): of the matrix or its transpose, whichever has fewer columns.
//
//   columns ┌───┬───┬───┬───┐  a round rotates disjoint pairs of columns until they are orthogonal, and the columns of
//           │ p │ q │ p'│ q'│  v alike: threads of a pair have every $parts-th row each, and add up their parts of the
//           │   │   │   │   │  products; the lengths become the singular values
//           └───┴───┴───┴───┘
//
// Workgroup memory: columns[$place(j) + row], of all matrices of the workgroup, and `vectors` of v; values[32], the
// squares of the lengths; order[32] u32; partial[32], a thread's part of a product; the others in small_pieces.wgsl.
//
// The vectors of the long side are q of the columns' QR in the order of the values, which is orthogonal also where
// values are 0; they take the memory of the short side's, which are stored before. Columns that are nothing beside the
// largest are not rotated, as their squares would vanish. Sweeps end as in small_eigh.wgsl. Bound by workgroup memory:
// of 32 × 32 a round takes 80 loads and stores a thread, 64 more with vectors, and two barriers.
//
// On an H200, 28 and 29 November 2026, 10,000 of 32 x 32 in f32 took 2639 µs, through WebGPU 3689, and 20,000 of 8 x 8
// 105 and 103 (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: all steps work on one matrix in workgroup memory, with barriers that
// every invocation reaches, and what several kernels do alike is in pieces already.)
$begin
var status = 0;
var not_finite = 0u;
var most = $type(0.0);
if (inside) {
  for (var e = r; e < ${m}u * ${n}u; e += ${threads}u) {
    $places
    $load_looking
    columns[$place(j) + i] = $x;
  }
}
$power_of_all
if (inside) {
  for (var e = r; e < ${m}u * ${n}u; e += ${threads}u) {
    $places
    columns[$place(j) + i] = scaled(columns[$place(j) + i], up);
  }
}
$identity
let rotates = inside && status == 0;
var going = 0u;
for (var sweep = 0u; sweep < ${sweeps}u; sweep += 1u) {
  var moved = 0u;
  $barrier
  if (r < ${n}u) {
    var square = $type(0.0);
    let mine = $place(r);
    for (var i = 0u; i < ${m}u; i += 1u) { square = fma(columns[mine + i], columns[mine + i], square); }
    values[own * ${threads}u + r] = square;
  }
  for (var round = 0u; round < ${rounds}u; round += 1u) {
    $pair
    let there = rotates && pair < ${half}u && q < ${n}u;
    let at_p = $place(p);
    let at_q = $place(q);
    var product = $type(0.0);
    if (there) {
      $product_of_columns(columns, at_p, at_q, ${m}u)
    }
    partial[thread] = product;
    $barrier
    var rotated = false;
    var shorter = $type(0.0);
    var longer = $type(0.0);
    if (there) {
      var off = $type(0.0);
      for (var k = 0u; k < ${parts}u; k += 1u) { off += partial[own * ${threads}u + k * ${pairs}u + pair]; }
      let x = values[own * ${threads}u + p];
      let y = values[own * ${threads}u + q];
      if (min(x, y) > $type($floor) && $abs(off) > $type($little) * $root(x * y)) {
        $rotation(y - x, off)
        shorter = fma(-t, off, x);
        longer = fma(t, off, y);
        rotated = true;
        moved = 1u;
        $rotate_columns(columns, at_p, at_q, ${m}u)
        $rotate_vectors
      }
    }
    $barrier
    if (rotated && part == 0u) {
      values[own * ${threads}u + p] = shorter;
      values[own * ${threads}u + q] = longer;
    }
  }
  $look_who_goes
  if (any_going == 0u) { break; }
}
if (status == 0 && going != 0u) { status = 1; }
if (r < ${n}u) {  // columns that vanish in squares are measured by themselves
  let mine = $place(r);
  var largest = $type(0.0);
  for (var i = 0u; i < ${m}u; i += 1u) { largest = max(largest, $abs(columns[mine + i])); }
  let size = power_of(largest);
  let less = $type(1.0) / size;
  var square = $type(0.0);
  for (var i = 0u; i < ${m}u; i += 1u) {
    let x = columns[mine + i] * less;
    square = fma(x, x, square);
  }
  values[own * ${threads}u + r] = $sqrt(square) * size;
}
order[thread] = r;
$barrier
$order(>)
$barrier
if (inside) {
  for (var k = r; k < ${n}u; k += ${threads}u) {
    let x = unscaled(values[own * ${threads}u + order[own * ${threads}u + k]], power);
    $store_values
  }
}
$vectors
$finish
