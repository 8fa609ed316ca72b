// A step of block Jacobi, in what the GPU languages share (dialect.hpp): rotations that make the columns of pairs of
// blocks of 16 columns more orthogonal (one-sided, Hestenes 1958; by blocks, Bečka, Okša and Vajteršic 2015).
//
//    columns, by blocks                          gram [32 × 32], of one pair    q: the product of its rotations
//   ┌──┬──┬──┬──┬──┬──┐   a step: disjoint      ┌─────┬─────┐                  ┌───────────┐
//   │ 0│ 1│ 2│ 3│ 4│ 5│   pairs of blocks,      │ xᵀx │ xᵀy │  31 rounds of 16 │     q     │
//   │  │  │  │  │  │  │   each a workgroup's;   ├─────┼─────┤  disjoint pairs  │           │
//   └──┴──┴──┴──┴──┴──┘   a sweep: every pair   │ yᵀx │ yᵀy │  of columns      │           │
//     x ─┴────────┘ y     of blocks once        └─────┴─────┘                  └───────────┘
//
// The products of columns are found from tiles of 32 rows, by 64 threads 4 × 4 of each, every fourth row a quarter of
// the threads; the next tile's numbers come meanwhile. A pair of columns is rotated where the cosine of their angle is
// more than a rounding of its sum (Demmel and Veselić 1992), and both are longer than a rounding of the largest. Sine
// and 1 - cosine are what is multiplied by (Rutishauser 1966), so that a small rotation is off by a rounding of what it
// changes: with cosines q was ten times as far from orthogonal. What is left of that lengthens columns, and hundreds of
// q multiply: so the columns of each get the length 1 again.
//
// Workgroup memory: gram[32 · 33]; tile[32 · 33], rows of the columns, and from the rounds on q; sines[16] and
// rests[16] (1 - cosine), of the pairs of a round; scales[32], by which q's columns are lengthened; busy[32] u32, what
// a thread knows of whether pairs are, or were, rotated.
//
// A matrix of which no pair was rotated in the whole sweep before is done: its workgroups end. Of a pair's state: 0:
// rotated in this step; 1, 2: in this sweep, and the one before, in turn; 3: whether it goes on in this sweep.
// Bound by the latency of the rounds, two barriers each, and of many rows by that of their tiles. Of eigh of 1024 x
// 1024 in f32 a step took 62 µs on an H200, 28 November 2026, WebGPU: 819 of them 50.8 of all kernels' 66 ms.
//
// (The kernel is longer than other functions: the products of columns, the rounds and what they are to q follow each
// other in the same workgroup memory and registers, and all but the last end in barriers that every invocation
// reaches.)
let matrix = group / $pairs;
let pair = group - matrix * $pairs;
$coordinates
if (thread < 32u) {
  var goes = $first_sweep;
  if ($step == 0u) {
    for (var k = thread; k < $pairs; k += 32u) {
      if (goes == 0u && $state(k, $before) != 0) { goes = 1u; }
    }
  } else {
    goes = u32($state(pair, 3u));
  }
  busy[thread] = goes;
}
$barrier
if (thread == 0u) {
  var goes = 0u;
  for (var k = 0u; k < 32u; k += 1u) { goes = goes | busy[k]; }
  busy[0] = goes;
  $set_state(pair, 0u, 0);
  if ($step == 0u) {
    $set_state(pair, 3u, i32(goes));
    $set_state(pair, $now, 0);
  }
}
$load_going
if (going != 0u) {
  let one = select(($step + pair) % $rounds, $rounds, pair == 0u);
  let other = ($step + $rounds - pair) % $rounds;
  let left = min(one, other) * 16u;
  let right = max(one, other) * 16u - 16u;
  let slice = thread / 64u;
  let x_first = thread % 8u;
  let y_first = thread / 8u % 8u;
  $for j in $parts_of_vector
    $for k in $parts_of_vector
      var sum_${j}_$k = $type(0.0);
    $end
  $end
  let own_row = thread % 32u;
  $for q in $parts_of_vector
    let at_$q = thread / 32u + ${q}u * 8u;
    let column_$q = at_$q + select(left, right, ${q}u >= 2u);
    var next_$q = $type(0.0);
    if (own_row < $height && column_$q < $columns) { next_$q = $a(own_row, column_$q); }
  $end
  for (var top = 0u; top < $height; top += 32u) {
    $for q in $parts_of_vector
      tile[at_$q * 33u + own_row] = next_$q;
    $end
    $barrier
    let row = top + 32u + own_row;
    $for q in $parts_of_vector
      next_$q = $type(0.0);
      if (row < $height && column_$q < $columns) { next_$q = $a(row, column_$q); }
    $end
    for (var i = slice; i < 32u; i += ${threads}u / 64u) {
      $for j in $parts_of_vector
        let x$j = tile[(x_first + ${j}u * 8u) * 33u + i];
        let y$j = tile[(y_first + ${j}u * 8u) * 33u + i];
      $end
      $for j in $parts_of_vector
        $for k in $parts_of_vector
          sum_${j}_$k = fma(x$j, y$k, sum_${j}_$k);
        $end
      $end
    }
    $barrier
  }
  for (var s = 0u; s < ${threads}u / 64u; s += 1u) {
    if (slice == s) {
      $for j in $parts_of_vector
        $for k in $parts_of_vector
          {
            let at = (x_first + ${j}u * 8u) * 33u + y_first + ${k}u * 8u;
            var before = $type(0.0);
            if (s > 0u) { before = gram[at]; }
            gram[at] = before + sum_${j}_$k;
          }
        $end
      $end
    }
    $barrier
  }
  for (var e = thread; e < 1024u; e += ${threads}u) {
    tile[e / 32u * 33u + e % 32u] = select($type(0.0), $type(1.0), e / 32u == e % 32u);
  }
  let little = $root($type($height)) * $type($epsilon);
  let i = thread / 16u;
  let j = thread % 16u;
  var moved = 0u;
  for (var round = 0u; round < 31u; round += 1u) {
    let j_one = select((round + j) % 31u, 31u, j == 0u);
    let j_other = (round + 31u - j) % 31u;
    let j_p = min(j_one, j_other);
    let j_q = max(j_one, j_other);
    if (thread < 16u) {
      let x = gram[j_p * 34u];
      let y = gram[j_q * 34u];
      let off = gram[j_p * 33u + j_q];
      var sine = $type(0.0);
      var rest = $type(0.0);
      if (min(x, y) > $type($floor) && $abs(off) > little * $root(x * y)) {
        let cotangent = (y - x) / (off + off);
        let steep = min($abs(cotangent), $type($steepest));
        let size = $type(1.0) / (steep + $root(fma(steep, steep, $type(1.0))));
        let tangent = select(size, -size, cotangent < $type(0.0));
        let cosine = $type(1.0) / $root(fma(tangent, tangent, $type(1.0)));
        sine = tangent * cosine;
        rest = sine * sine / (cosine + $type(1.0));
        gram[j_p * 34u] = fma(-tangent, off, x);
        gram[j_q * 34u] = fma(tangent, off, y);
        gram[j_p * 33u + j_q] = $type(0.0);
        gram[j_q * 33u + j_p] = $type(0.0);
        moved = 1u;
      }
      sines[j] = sine;
      rests[j] = rest;
    }
    $barrier
    let sine = sines[j];
    let rest = rests[j];
    let sine_i = sines[i];
    let rest_i = rests[i];
    if (i != j && (sine != $type(0.0) || sine_i != $type(0.0))) {
      let i_one = select((round + i) % 31u, 31u, i == 0u);
      let i_other = (round + 31u - i) % 31u;
      let i_p = min(i_one, i_other) * 33u;
      let i_q = max(i_one, i_other) * 33u;
      let pp = gram[i_p + j_p];
      let pq = gram[i_p + j_q];
      let qp = gram[i_q + j_p];
      let qq = gram[i_q + j_q];
      let upper_p = pp - fma(sine_i, qp, rest_i * pp);
      let upper_q = pq - fma(sine_i, qq, rest_i * pq);
      let lower_p = qp + fma(sine_i, pp, -(rest_i * qp));
      let lower_q = qq + fma(sine_i, pq, -(rest_i * qq));
      gram[i_p + j_p] = upper_p - fma(sine, upper_q, rest * upper_p);
      gram[i_p + j_q] = upper_q + fma(sine, upper_p, -(rest * upper_q));
      gram[i_q + j_p] = lower_p - fma(sine, lower_q, rest * lower_p);
      gram[i_q + j_q] = lower_q + fma(sine, lower_p, -(rest * lower_q));
    }
    if (sine != $type(0.0)) {
      for (var k = i; k < 32u; k += ${threads}u / 16u) {
        let x = tile[k * 33u + j_p];
        let y = tile[k * 33u + j_q];
        tile[k * 33u + j_p] = x - fma(sine, y, rest * x);
        tile[k * 33u + j_q] = y + fma(sine, x, -(rest * y));
      }
    }
    $barrier
  }
  if (thread < 16u) { busy[thread] = moved; }
  $barrier
  if (thread == 0u) {
    var rotated = 0u;
    for (var k = 0u; k < 16u; k += 1u) { rotated = rotated | busy[k]; }
    if (rotated != 0u) {
      $set_state(pair, 0u, 1);
      $set_state(pair, $now, 1);
    }
  }
  if (thread < 32u) {
    var square = $type(0.0);
    for (var k = 0u; k < 32u; k += 1u) { square = fma(tile[k * 33u + thread], tile[k * 33u + thread], square); }
    scales[thread] = ($type(1.0) - square) * $type(0.5);
  }
  $barrier
  for (var e = thread; e < 1024u; e += ${threads}u) {
    let x = tile[e % 32u * 33u + e / 32u];
    $set_q(e % 32u, pair * 32u + e / 32u, fma(x, scales[e / 32u], x));
  }
}
