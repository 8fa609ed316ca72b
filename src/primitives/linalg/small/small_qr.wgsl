// QR of small matrices by Householder's reflections, in what the GPU languages share (dialect.hpp; pieces in
// small_pieces.wgsl).
//
//   columns, in workgroup memory:  ┌───────────┐   thread j has column j: it finds reflection k from column k, as
//                                  │ r r r r   │   all do, and reflects its own column; stores its column of r; and
//                                  │ v r r r   │   from the last reflection on makes column j of q in its place,
//                                  │ v v r r   │   while what others still read of it, v, stands in a copy
//                                  └───────────┘
//
// Workgroup memory: columns[$column(j) + row] of all matrices of the workgroup, r's and then q's; taus[32], of_vs[32],
// largest_of[32] and reflections[], three copies of m elements for each matrix (small_pieces.wgsl).
//
// Columns lie one after the other at an odd distance, so that neighbours are in different banks. Every column is scaled
// by a power of two, which r undoes: what is left of a column may be nothing but roundings, and squares do not vanish.
// Bound by the latency of min(m, n) steps of two passes over columns, and one over q's, each with a barrier; and by how
// many workgroups a processor has at a time: through WebGPU their memory decides it (docs/tuning.md). On an H200, 29
// November 2026, 10,000 of 32 x 32 in f32 took 343 µs, through WebGPU 426, and 20,000 of 8 x 8 29.3 and 27.6
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
