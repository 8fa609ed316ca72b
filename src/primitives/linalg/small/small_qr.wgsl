// QR of small matrices by Householder's reflections, in what the GPU languages share (dialect.hpp; pieces in
// small_pieces.wgsl).
//
//   columns, in workgroup memory:  ┌───────────┐   thread j has column j: it finds reflection k from column k, as all
//                                  │ r r r r   │   do, reflects its own column, and after all of them has column j of
//                                  │ v r r r   │   q, which starts as the identity's
//                                  │ v v r r   │
//                                  └───────────┘
//
// Workgroup memory: columns[$column(j) + row] and basis[$in_basis(j) + row], r's and q's of all matrices of the
// workgroup; taus[32] and of_vs[32] (small_pieces.wgsl).
//
// Columns lie one after the other at an odd distance, so that neighbours are in different banks. Every column is scaled
// by a power of two, which r undoes: what is left of a column may be nothing but roundings, and squares do not vanish.
// Bound by the latency of min(m, n) steps of 5·m loads from workgroup memory each, with one barrier. On an H200, 28
// November 2026, 10,000 of 32 x 32 in f32 took 439 µs, through WebGPU 1119, and 20,000 of 8 x 8 32 and 38
// (docs/benchmarks_families.md).
$begin
if (inside) {
  var e = r;
  for (; e + 3u * ${threads}u < ${m}u * ${n}u; e += 4u * ${threads}u) {
    $for d in $four
      let i$d = (e + ${d}u * ${threads}u) / ${n}u;
      let j$d = e + ${d}u * ${threads}u - i$d * ${n}u;
      $load_$d
    $end
    $for d in $four
      columns[$column(j$d) + i$d] = $x_$d;
    $end
  }
  for (; e < ${m}u * ${n}u; e += ${threads}u) {
    let i = e / ${n}u;
    let j = e - i * ${n}u;
    $load
    columns[$column(j) + i] = $x;
  }
}
$barrier
$factor_r
if (inside && r < ${n}u) {
  let mine = $column(r);
  let j = r;
  for (var i = 0u; i < ${inner}u; i += 1u) {
    let x = select(unscaled(columns[mine + i], scale), $type(0.0), i > r);
    $store_r
  }
}
$barrier
$factor_q
$barrier
if (inside) {
  for (var e = r; e < ${m}u * ${inner}u; e += ${threads}u) {
    let i = e / ${inner}u;
    let j = e - i * ${inner}u;
    let x = columns[$column(j) + i];
    $store_q
  }
}
