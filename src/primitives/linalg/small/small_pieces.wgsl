// Pieces of the kernels of small matrices (small_qr.wgsl, small_eigh.wgsl, small_svd.wgsl), in what the GPU languages
// share (dialect.hpp).
//
// Scales are powers of two between the least normal number and its reciprocal, so that what is scaled is exact.
// WebGPU's devices may take subnormal numbers for zeros: those of f32 are scaled as integers.
// What a thread holds, what bounds the kernels and how fast they are stands in their own files. Rotations and
// the products before them take four elements at a time, and reflections eight, whose loads are on their way together:
// compilers for WebGPU leave loops as they are.
//
// Workgroup memory: columns[], of all matrices of the workgroup; and a number for each of its 32 threads in taus[32]
// and of_vs[32], of column k's reflection; largest_of[32], the largest element that is left of its column (or partial);
// reflections[], the last three of them; partial[32], the largest element, or a sum; bad[32] u32, whether it has
// found one that is not finite; busy[32] u32, whether it has rotated; values[32], and order[32] u32, which of them
// comes k-th.

Functions.
$define power_of_f32
  let bits = clamp(bitcast<u32>(x) & 0x7f800000u, 0x00800000u, 0x7e800000u);
  return bitcast<f32>(bits);
$end
$define power_of_f64
  let bits = bitcast<u64>(x) & 0x7ff0000000000000ull;
  return bitcast<f64>(clamp(bits, 0x0010000000000000ull, 0x7fd0000000000000ull));
$end
x · up, up a power of two.
$define scaled_f32
  let bits = bitcast<u32>(x);
  let mantissa = f32(bits & 0x007fffffu) * f32(1.1920928955078125e-07) * (up * bitcast<f32>(0x00800000u));
  let sign = bits & 0x80000000u;
  return select(x * up, bitcast<f32>(bitcast<u32>(mantissa) | sign), (bits & 0x7f800000u) == 0u && up >= f32(1.0));
$end
$define scaled_f64
  return x * up;
$end
x · power; of a power above 1 what gets subnormal is nothing beside the rest.
$define unscaled_f32
  let made = x * power;
  let bits = bitcast<u32>(x);
  let size = bitcast<f32>(bits & 0x7fffffffu);
  let raised = size * (min(power, f32(1.0)) * bitcast<f32>(0x7e800000u));
  let mantissa = u32(min(raised, f32(1.0)) * f32(8388608.0) + f32(0.5));
  return select(made, bitcast<f32>(mantissa | (bits & 0x80000000u)), raised < f32(1.0) && power <= f32(1.0));
$end
$define unscaled_f64
  return x * power;
$end

Elements from i on, eight or four at a time, whose loads are on their way together: $first(d) and then $then(d) of each,
element i + d.
$define by_eights(until, first, then)
  for (; i + 7u < $until; i += 8u) {
    $for d in $eight
      $first($d)
    $end
    $for d in $eight
      $then($d)
    $end
  }
  for (; i + 3u < $until; i += 4u) {
    $for d in $four
      $first($d)
    $end
    $for d in $four
      $then($d)
    $end
  }
  for (; i < $until; i += 1u) {
    $first(0)
    $then(0)
  }
$end
Within a few units in the last place, of numbers around 1: what only has to be nearly so (gpu_spectra.hpp).
$define near_root
  let s = sqrt(x);
  return fma(fma(-s, s, x), 0.5 / s, s);
$end
$define near_quotient
  let inverse = 1.0 / y;
  let q = x * inverse;
  return fma(fma(-q, y, x), inverse, q);
$end

Column k's reflection, from the diagonal on, of the column that begins at the place `at_k`: v is 1 and below that
x · $of_v; what is subtracted is tau · (v · y) · v; `made` is what becomes of the diagonal, still divided by `size`, the
power of the largest element. On the way, the product of what is below with the column at the place `mine`.
$define reflection(k)
  let size = power_of($largest_of[own * ${threads}u + $k]);
  let less = $type(1.0) / size;
  let first = columns[at_k + $k] * less;
  var below = $type(0.0);
  var product = $type(0.0);
  {
    var i = $k + 1u;
    $by_eights(${m}u, $load_both, $add_products)
  }
  let is_tiny = $largest_of[own * ${threads}u + $k] < size && below < $type(${m}.0);  // subnormal; not NaN
  let none = below == $type(0.0) || is_tiny;
  let length = $nearly_root(fma(first, first, below));
  let made = select(select(length, -length, first > $type(0.0)), first, none);
  let to = first - made;
  let of_v = select($nearly_divided(less, select(to, $type(1.0), none)), $type(0.0), none);
  let tau = select($nearly_divided(-to, select(made, $type(1.0), none)), $type(0.0), none);
$end
$define load_both(d)
  let x$d = columns[at_k + i + ${d}u] * less;
  let y$d = columns[mine + i + ${d}u];
$end
$define add_products(d)
  below = fma(x$d, x$d, below);
  product = fma(x$d, y$d, product);
$end
y -= w · v, y from the place `mine` on; `largest` of what is behind k.
$define load_v(d)
  let v$d = columns[at_k + i + ${d}u] * of_v;
  let y$d = columns[mine + i + ${d}u];
$end
$define reflect_column(d)
  let z$d = fma(-v$d, w, y$d);
  columns[mine + i + ${d}u] = z$d;
  largest = max(largest, $abs(z$d));
$end
The same of q's, whose own reflection finds nothing of it yet (`fresh`), and the product with the next v.
$define load_basis(d)
  let v$d = $v(k, i + ${d}u);
  let u$d = $v(next, i + ${d}u);
  let y$d = select($basis[mine + i + ${d}u], $type(0.0), fresh);
$end
$define reflect_basis(d)
  let z$d = fma(-v$d, w, y$d);
  $basis[mine + i + ${d}u] = z$d;
  product = fma(u$d, z$d, product);
$end
Element i of v of column k, with its 1 and zeros before it: of a copy among the last three of these, where q takes the
columns' place, or of the column itself.
$define v_of_copy(k, i)
  reflections[own * ${three_m}u + $k % 3u * ${m}u + $i]
$end
$define v_of_column(k, i)
  select(select($type(0.0), $type(1.0), $i == $k), columns[$column($k) + $i] * of_vs[own * ${threads}u + $k], $i > $k)
$end
$define copy_of_v(k)
  for (var i = r; i < ${m}u; i += ${threads}u) { $v_of_copy($k, i) = $v_of_column($k, i); }
$end
$define copy_of_next
  if (k > 0u) {
    $copy_of_v(next)
  }
$end
$define load_own(d)
  let y$d = columns[mine + i + ${d}u];
$end
$define look_at_own(d)
  most_here = max(most_here, $abs(y$d));
$end
$define scale_own(d)
  let z$d = scaled(y$d, up);
  columns[mine + i + ${d}u] = z$d;
  largest = max(largest, $abs(z$d));
$end

The columns, of m elements, that begin at the places $column(j), as q · r: r stays in their upper part, divided by the
thread's own `scale`, its diagonal as well, and below it what reflections are made of. A thread has a column, and there
is a barrier for each.
$define factor_r
  var scale = $type(1.0);
  if (r < ${n}u) {
    let mine = $column(r);
    var most_here = $type(0.0);
    {
      var i = 0u;
      $by_eights(${m}u, $load_own, $look_at_own)
    }
    scale = power_of(most_here);
    let up = $type(1.0) / scale;
    var largest = $type(0.0);
    {
      var i = 0u;
      $by_eights(${m}u, $load_own, $scale_own)
    }
    $largest_of[thread] = largest;
  }
  $barrier
  for (var k = 0u; k < ${least}u; k += 1u) {
    let at_k = $column(k);
    var diagonal = $type(0.0);
    if (r >= k && r < ${n}u) {
      let mine = $column(r);
      $reflection(k)
      if (r == k) {
        diagonal = made * size;
        taus[thread] = tau;
        of_vs[thread] = of_v;
      } else {
        let w = fma(product, of_v * size, columns[mine + k]) * tau;
        columns[mine + k] = columns[mine + k] - w;
        var largest = $type(0.0);
        {
          var i = k + 1u;
          $by_eights(${m}u, $load_v, $reflect_column)
        }
        $largest_of[thread] = largest;
      }
    }
    $barrier
    if (r == k) { columns[at_k + k] = diagonal; }
  }
  $barrier
$end
q of them: a thread has column r of $basis, which may be the same columns. Behind row r it may hold anything; q's
columns are those of the identity until their own reflection.
$define factor_q
  if (r < ${inner}u) {
    let mine = $in_basis(r);
    let rows = select(r + 1u, ${m}u, r >= ${least}u);
    for (var i = 0u; i < rows; i += 1u) {
      $basis[mine + i] = select($type(0.0), $type(1.0), i == r && r >= ${least}u);
    }
  }
  var product = $type(0.0);
  $copy_last
  $barrier
  if (r >= ${least}u && r < ${inner}u) { product = $v(${last}u, r); }
  for (var s = ${least}u; s > 0u; s -= 1u) {
    let k = s - 1u;
    let next = max(k, 1u) - 1u;
    $copy_next
    $barrier
    if (r >= k && r < ${inner}u) {
      let mine = $in_basis(r);
      let fresh = r == k;
      let w = select(product, $type(1.0), fresh) * taus[own * ${threads}u + k];
      product = $type(0.0);
      {
        var i = k & 0xfffffff8u;
        $by_eights(${m}u, $load_basis, $reflect_basis)
      }
      if (fresh) {
        $basis[mine + k] = $basis[mine + k] + $type(1.0);
        product = product + $v(next, k);
      }
    }
  }
$end

Elements i, i + $parts, … of two columns: x0 to x3 and y0 to y3.
$define load_four(list, at_p, at_q)
  $for d in $four
    let x$d = $list[$at_p + i + ${d}u * ${parts}u];
    let y$d = $list[$at_q + i + ${d}u * ${parts}u];
  $end
$end
The product of two columns of $rows elements, of which the thread has each $parts-th.
$define product_of_columns(list, at_p, at_q, rows)
  var i = part;
  for (; i + 3u * ${parts}u < $rows; i += 4u * ${parts}u) {
    $load_four($list, $at_p, $at_q)
    $for d in $four
      product = fma(x$d, y$d, product);
    $end
  }
  for (; i < $rows; i += ${parts}u) { product = fma($list[$at_p + i], $list[$at_q + i], product); }
$end
These columns rotated.
$define rotate_columns(list, at_p, at_q, rows)
  {
    var i = part;
    for (; i + 3u * ${parts}u < $rows; i += 4u * ${parts}u) {
      $load_four($list, $at_p, $at_q)
      $for d in $four
        $list[$at_p + i + ${d}u * ${parts}u] = fma(-s, y$d, c * x$d);
        $list[$at_q + i + ${d}u * ${parts}u] = fma(s, x$d, c * y$d);
      $end
    }
    for (; i < $rows; i += ${parts}u) {
      let x = $list[$at_p + i];
      let y = $list[$at_q + i];
      $list[$at_p + i] = fma(-s, y, c * x);
      $list[$at_q + i] = fma(s, x, c * y);
    }
  }
$end

The pair of this round that the thread has a part of, p < q of `even` columns: every pair once in even - 1 rounds of
disjoint ones (Brent and Luk 1985).
$define pair
  let pair = r % ${pairs}u;
  let part = r / ${pairs}u;
  let one = select((round + pair) % ${rounds}u, ${rounds}u, pair == 0u);
  let other = (round + ${rounds}u - pair) % ${rounds}u;
  let p = min(one, other);
  let q = max(one, other);
$end
t, the tangent of the smaller angle that makes 0 of `off` between two numbers of this difference; cosine and sine, whose
squares must add up to 1 to the last place. (The tangent may be off by a few.)
$define rotation(difference, off)
  let cotangent = ($difference) / ($off + $off);
  let steep = min($abs(cotangent), $type($steepest));
  let tangent = $type(1.0) / (steep + $root(fma(steep, steep, $type(1.0))));
  let t = select(tangent, -tangent, cotangent < $type(0.0));
  let c = $divided($type(1.0), $sqrt(fma(t, t, $type(1.0))));
  let s = t * c;
$end
An element $x, and what it adds to what a thread finds: the largest, and whether all are finite.
$define load_looking
  $load
  if (!($finite($x))) { not_finite = 1u; }
  most = max(most, $abs($x));
$end
The largest element of a matrix, of what its threads have found, as a power of two; status -1 where one has found an
element that is not finite.
$define power_of_all
  bad[thread] = not_finite;
  partial[thread] = most;
  $barrier
  for (var k = 0u; k < ${threads}u; k += 1u) {
    if (bad[own * ${threads}u + k] != 0u) { status = -1; }
    most = max(most, partial[own * ${threads}u + k]);
  }
  let power = power_of(most);
  let up = $type(1.0) / power;
$end
Whether any thread of this matrix has rotated something: `going`; and of the workgroup: `any_going`.
$define look_who_goes
  busy[thread] = moved;
  $barrier
  going = 0u;
  var all_going = 0u;
  for (var k = 0u; k < ${width}u; k += 1u) {
    all_going = all_going | busy[k];
    if (k / ${threads}u == own) { going = going | busy[k]; }
  }
  $barrier
  if (thread == 0u) { busy[0] = all_going; }
  $load_going
$end
The places of n values in their order; of NaN some are left as they were: in range.
$define order(before)
  if (r < ${n}u) {
    let value = values[own * ${threads}u + r];
    var rank = 0u;
    for (var k = 0u; k < ${n}u; k += 1u) {
      let here = values[own * ${threads}u + k];
      if (here $before value || (here == value && k < r)) { rank += 1u; }
    }
    order[own * ${threads}u + rank] = r;
  }
$end
