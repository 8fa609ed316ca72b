// Eigenvalues of small symmetric matrices by Jacobi's rotations, in what the GPU languages share (dialect.hpp; pieces
// in small_pieces.wgsl).
//
//               p₀  q₀  p₁  q₁
//         p₀  ┌───────┬───────┐     A round rotates disjoint pairs (p, q). First every pair finds its angle, and its
//         q₀  │ pair 0│ block │     own 2 × 2 block becomes diagonal; then the blocks between two pairs are rotated
//             ├───────┼───────┤     from both sides, and written to both triangles; and the columns of the vectors.
//         p₁  │       │ pair 1│
//         q₁  └───────┴───────┘
//
// Workgroup memory: a[$at(row, column)], of all matrices of the workgroup, and `vectors` where they are asked for;
// cosines[32] and sines[32], a number for each pair of a round; values[32] and order[32] u32, of the eigenvalues;
// partial[32], what a thread adds to the norm; the others in small_pieces.wgsl.
//
// A column of zeros makes their number even: it is never rotated. Sweeps go on until no matrix of the workgroup is
// rotated; one that is done is rotated by nothing, so that what it gives does not depend on its neighbours. Every
// matrix is scaled by a power of two. Bound by workgroup memory: of 32 rows a round takes 45 loads and stores a thread,
// 64 more with vectors, and two barriers; a sweep has 31 rounds.
//
// On an H200, 28 November 2026, 10,000 of 32 x 32 in f32 took 3324 µs, through WebGPU 4947, and 20,000 of 8 x 8 80 and
// 96 (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: all steps work on one matrix in workgroup memory, with barriers that
// every invocation reaches, and what several kernels do alike is in pieces already.)
$begin
var status = 0;
var not_finite = 0u;
var most = $type(0.0);
if (inside) {
  for (var e = r; e < ${n}u * ${n}u; e += ${threads}u) {
    let i = e / ${n}u;
    let j = e - i * ${n}u;
    if (j <= i) {
      $load_looking
      a[$at(i, j)] = $x;
    }
  }
}
$power_of_all
$barrier
var norm = $type(0.0);
for (var e = r; e < ${n}u * ${n}u; e += ${threads}u) {
  let i = e / ${n}u;
  let j = e - i * ${n}u;
  if (j <= i) {
    let x = scaled(a[$at(i, j)], up);
    norm = fma(x * select($type(2.0), $type(1.0), i == j), x, norm);
    a[$at(i, j)] = x;
    a[$at(j, i)] = x;
  }
}
$pad
$identity
partial[thread] = norm;
$barrier
norm = $type(0.0);
for (var k = 0u; k < ${threads}u; k += 1u) { norm += partial[own * ${threads}u + k]; }
// All that is left below this changes the matrix by less than a rounding of its norm.
let little = $root(norm) * $type($epsilon_over_2n);
let rotates = inside && status == 0;
var going = 0u;
for (var sweep = 0u; sweep < ${sweeps}u; sweep += 1u) {
  var moved = 0u;
  for (var round = 0u; round < ${rounds}u; round += 1u) {
    $pair
    let there = pair < ${half}u;
    if (there && part == 0u) {
      let off = a[$at(q, p)];
      var cosine = $type(1.0);
      var sine = $type(0.0);
      if (rotates && $abs(off) > little) {
        let x = a[$at(p, p)];
        let y = a[$at(q, q)];
        $rotation(y - x, off)
        a[$at(p, p)] = fma(-t, off, x);
        a[$at(q, q)] = fma(t, off, y);
        a[$at(p, q)] = $type(0.0);
        a[$at(q, p)] = $type(0.0);
        cosine = c;
        sine = s;
        moved = 1u;
      }
      cosines[own * ${threads}u + pair] = cosine;
      sines[own * ${threads}u + pair] = sine;
    }
    $barrier
    if (there) {
      let c = cosines[own * ${threads}u + pair];
      let s = sines[own * ${threads}u + pair];
      for (var d = part + 1u; d <= ${half}u / 2u; d += ${parts}u) {
        let next = (pair + d) % ${half}u;
        let c2 = cosines[own * ${threads}u + next];
        let s2 = sines[own * ${threads}u + next];
        if ((d * 2u < ${half}u || pair < next) && (s != $type(0.0) || s2 != $type(0.0))) {
          let one2 = select((round + next) % ${rounds}u, ${rounds}u, next == 0u);
          let other2 = (round + ${rounds}u - next) % ${rounds}u;
          let p2 = min(one2, other2);
          let q2 = max(one2, other2);
          let pp = a[$at(p, p2)];
          let pq = a[$at(p, q2)];
          let qp = a[$at(q, p2)];
          let qq = a[$at(q, q2)];
          let upper_p = fma(-s, qp, c * pp);
          let upper_q = fma(-s, qq, c * pq);
          let lower_p = fma(s, pp, c * qp);
          let lower_q = fma(s, pq, c * qq);
          let new_pp = fma(-s2, upper_q, c2 * upper_p);
          let new_pq = fma(s2, upper_p, c2 * upper_q);
          let new_qp = fma(-s2, lower_q, c2 * lower_p);
          let new_qq = fma(s2, lower_p, c2 * lower_q);
          a[$at(p, p2)] = new_pp;
          a[$at(p2, p)] = new_pp;
          a[$at(p, q2)] = new_pq;
          a[$at(q2, p)] = new_pq;
          a[$at(q, p2)] = new_qp;
          a[$at(p2, q)] = new_qp;
          a[$at(q, q2)] = new_qq;
          a[$at(q2, q)] = new_qq;
        }
      }
      $rotate_vectors
    }
    $barrier
  }
  $look_who_goes
  if (any_going == 0u) { break; }
}
if (status == 0 && going != 0u) { status = 1; }
if (r < ${n}u) { values[own * ${threads}u + r] = a[$at(r, r)]; }
order[thread] = r;
$barrier
$order(<)
$barrier
if (inside) {
  for (var k = r; k < ${n}u; k += ${threads}u) {
    let x = unscaled(values[own * ${threads}u + order[own * ${threads}u + k]], power);
    $store_values
  }
  $store_vectors
}
$finish
