// Pieces (kernel_file.hpp) of small_expm.wgsl, which draws what they work on, in what the GPU languages share.
//
// Workgroup memory: p[$at(row, column)] and q[…], the matrices; partial[32], a number of each thread; busy[32] u32, a
// count of each.

The thread's row, element by element.
$define for_own(line)
  if (r < ${n}u) {
    for (var j = 0u; j < ${n}u; j += 1u) { $line }
  }
$end
The thread's row of a product into $result, of element k of its own row on the left and a matrix on the right.
$define product(left, right, result)
  if (r < ${n}u) {
    $rolled
    for (var first = 0u; first < ${n}u; first += ${wide}u) {
      let begin = min(first, ${n}u - ${wide}u);
      $for d in $columns
        var sum$d = $type(0.0);
      $end
      $by_four
      for (var k = 0u; k < ${n}u; k += 1u) {
        let y = $left;
        $for d in $columns
          let z$d = $right[$at(k, begin + ${d}u)];
        $end
        $for d in $columns
          sum$d = fma(y, z$d, sum$d);
        $end
      }
      $for d in $columns
        {
          let j = begin + ${d}u;
          $result = sum$d;
        }
      $end
    }
  }
$end
b6·a6 + b4·a4 + b2·a2 + b0 in the thread's row.
$define low_terms(b6, b4, b2, b0)
  fma($type($b6), a6[j], fma($type($b4), a4[j], fma($type($b2), a2[j], select($type(0.0), $type($b0), j == r))))
$end
The two sides of the approximant's equation: x has the odd part, a4 and a2 the even one.
$define make_sides
  let even = a4[j] + a2[j];
  p[$at(r, j)] = even - x[j];
  q[$at(r, j)] = even + x[j];
$end

The sum of the absolute values of column r of a matrix, times $weight of row i, in partial[].
$define column_sum(list, weight)
  {
    var sum = $type(0.0);
    if (r < ${n}u) {
      for (var i = 0u; i < ${n}u; i += 1u) { sum = fma($abs($list[$at(i, r)]), $weight, sum); }
    }
    $barrier
    partial[thread] = sum;
    $barrier
  }
$end
The largest of these sums, in `most`: that of matrix p or q, in which nothing changes meanwhile, is its 1-norm.
$define norm_of(list)
  $column_sum($list, $type(1.0))
  $largest_sum
$end
$define largest_sum
  most = $type(0.0);
  for (var k = 0u; k < ${threads}u; k += 1u) { most = max(most, partial[own * ${threads}u + k]); }
$end
The largest of the workgroup's values, which $load gives to all: for conditions around barriers.
$define largest_of_all(value, load)
  busy[thread] = $value;
  $barrier
  if (thread == 0u) {
    for (var k = 1u; k < ${width}u; k += 1u) { busy[0] = max(busy[0], busy[k]); }
  }
  $barrier
  $load
$end

Halvings that a matrix can do without, of those that roundings allow: its powers are doubled so often instead.
$define spare_halvings
  $for_own(q[$at(r, j)] = a4[j];)
  $barrier
  $norm_of(q)
  let fourth = max(most, $type($tiny));
  $barrier
  $for_own(q[$at(r, j)] = a6[j];)
  $barrier
  $norm_of(q)
  var spared = $type(0.0);
  if (halvings > $type(0.0)) {
    let growth = max($log2(fourth) / $type(4.0), $log2(max(most, $type($tiny))) / $type(6.0));
    spared = min(min(max($floor($type($theta_log2) - growth), $type(0.0)), $type($most_spared)), halvings);
  }
  $largest_of_all(u32(spared), $load_any_spared)
  if (any_spared != 0u) {
    $column_sum(p, $type(1.0))
    for (var power = 0u; power < ${checked_power}u; power += 1u) {
      $column_sum(p, partial[own * ${threads}u + i])
    }
    $largest_sum
    if (spared > $type(0.0) && most > $type($tiny)) {  // what vanishes allows any
      let ratio = $log2(most) - $log2(norm * less);
      let allowed = $floor(($type($rounding_over_c) - ratio) / $type($checked_power));
      spared = min(spared, max(allowed, $type(0.0)));
    }
    halvings -= spared;
    let two = $exp2(spared);
    let four = two * two;
    $for_own($double_powers)
  }
  $barrier
$end
$define double_powers
  p[$at(r, j)] = p[$at(r, j)] * two;
  a2[j] *= four;
  a4[j] *= four * four;
  a6[j] *= four * four * four;
$end

q = p⁻¹·q by Gauss and Jordan, with partial pivoting: column k is taken from all other rows.
$define solve
  $rolled
  for (var k = 0u; k < ${n}u; k += 1u) {
    var best = $abs(p[$at(k, k)]);
    var row = k;
    for (var i = k + 1u; i < ${n}u; i += 1u) {
      let size = $abs(p[$at(i, k)]);
      if (size > best) {
        best = size;
        row = i;
      }
    }
    $barrier
    if (row != k && r < ${n}u) {
      let kept = p[$at(k, r)];
      p[$at(k, r)] = p[$at(row, r)];
      p[$at(row, r)] = kept;
      let side = q[$at(k, r)];
      q[$at(k, r)] = q[$at(row, r)];
      q[$at(row, r)] = side;
    }
    $barrier
    if (r != k && r < ${n}u) {
      let factor = p[$at(r, k)] / p[$at(k, k)];
      for (var j = k + 1u; j < ${n}u; j += 1u) { p[$at(r, j)] = fma(-factor, p[$at(k, j)], p[$at(r, j)]); }
      for (var j = 0u; j < ${n}u; j += 1u) { q[$at(r, j)] = fma(-factor, q[$at(k, j)], q[$at(r, j)]); }
    }
    $barrier
  }
  if (r < ${n}u) {
    let pivot = p[$at(r, r)];
    for (var j = 0u; j < ${n}u; j += 1u) { q[$at(r, j)] = q[$at(r, j)] / pivot; }
  }
  $barrier
$end
