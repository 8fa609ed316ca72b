// Pieces (kernel_file.hpp) of a kernel with reductions: sums that are taken in the same pass as what they wait for, in
// what the GPU languages share. reduce_online.cpp names what the pieces work on.
//
//   powers    Σ weight · exp(x − max x)      softmax, logsumexp            waits for a maximum
//   moments   Σ weight · (x − mean x)^p      variance, norms; p = 1 or 2   waits for a mean, hence a total and a count
//   places    the least ordinal of an extreme  argmax, argmin              waits for a maximum or a minimum
//
// An invocation holds, for each of its kept positions, in registers, what the sum so far is for:
//
//   powers:   acc<max>     the maximum so far            acc<sum>     Σ exp(x − that maximum)
//   places:   acc<extreme>  the extreme so far           acc<place>   the first ordinal at which it stands
//             rank_of      the extreme's rank, in WGSL
//   moments:  acc<total>, acc<count>                     acc<first>   Σ (x − mean_of), acc<second>: its squares
//             mean_of      the mean of those seen until `steps` was last a power of two
//
//   elements of one invocation:  x0 x1 │ x2 x3 │ x4 x5 │ x6 x7 │ …    steps 1, 2, 3, 4, …
//   moments follow the mean:        ↑      ↑              ↑           after steps 1, 2, 4, 8, …
//
// Whatever mean the moments are for, they are right: where the mean grows by d, Σ (x − mean) loses d for each element
// and the squares' sum changes by d · (2 · first + d · count). The mean of at least half of what was seen is near
// enough for no more than a factor of 4 in the squares' sum. Moved with every step, the eight columns that an
// invocation has of bf16 took 2 to 3 times as long.
//
// When the invocations have joined what is waited for, each makes its sums those for the joined result (`align`), the
// sums are joined as sums, and `finish` makes of them what the program means. Partial results of several workgroups
// are joined two by two (`join_powers`, `join_moments`).
//
// Bound by memory, and for powers by exponentials. On an H200, 22 November 2026: variance of rows of 16384×1024 in f32
// 20 µs, of columns 33, a copy 35 (docs/benchmarks_families.md).

// By its bits: a compiler of WGSL may take it that there are no infinities, and that NaN differs from nothing.
$define is_finite(x)
  ($bits($x) & $exponent) != $exponent
$end
$define is_infinite(x)
  ($bits($x) & $exponent) == $exponent
$end
$define is_zero(x)
  ($bits($x) << 1u) == 0u
$end

// $last_first of the sums are squares before the first moments that they are corrected by.

// ---- powers
// The maximum, or 0 where it is infinite or NaN: exp(x − m) of infinities is NaN, which a later, larger m could not
// undo.
$define finite(m)
  select($zero, $m, $is_finite($m))
$end
// Brings a sum, taken for the maximum `before`, to the maximum `now`.
$define scale(sum, before, now)
  if ($bits($before) != $bits($now)) { $sum = $mul($sum, $exp($sub($before, $finite($now)))); }
$end
$define follow_maxima
  $for e in $positions
    $for s in $sums
      $scale($sum_${s}_$e, $before_$e, $top_$e)
    $end
  $end
$end
$define join_powers
  let $both = $max($top, $part_top);
  $for s in $sums
    var $copy_$s = $part_$s;
    $scale($copy_$s, $part_top, $both)
    $scale($sum_${s}_0, $top, $both)
    $sum_${s}_0 = $add($sum_${s}_0, $copy_$s);
  $end
$end
$define finish_powers
  $sum = $mul($joined, $exp($sub($finite($top), $shift)));
$end

// ---- moments
$define declare_steps
  var steps = 0u;
$end
$define declare_means
  $for e in $positions
    var $mean_$e = $zero;
  $end
$end
// One division does for all kept positions of an invocation; 0 of nothing.
$define reciprocal(count)
  $div($one, $max($count, $one))
$end
$define mean_of(total, reciprocal)
  $mul($total, $reciprocal)
$end
// By how much the mean of `count` elements is larger than another: 0 where both are the same infinity, and of none.
$define delta(a, b, count)
  select($sub($a, $b), $zero, $a == $b || $count == $zero)
$end
// Makes a sum one for a mean that is smaller by d. Where d is 0 nothing may change: 0 times an infinity is NaN. A sum
// that overflowed stays what it is, as it does where the mean is known beforehand; but where the mean becomes infinite,
// an infinite element makes it NaN.
$define move(sum, d, change)
  if (!($is_zero($d)) && ($is_finite($sum) || $is_infinite($d))) { $sum = $add($sum, $mul($d, $change)); }
$end
// The change of the squares' sum, over d: by the first moment for the old mean, or for the new one.
$define change_of_squares(d, count, first)
  $add($add($first, $first), $mul($d, $count))
$end
$define change_of_squares_by_last(d, count, first)
  $sub($add($first, $first), $mul($d, $count))
$end
$define follow_means_in_time
  steps += 1u;
  if ((steps & (steps - 1u)) == 0u) {
    $follow
  }
$end
$define follow_means
  let $over = $reciprocal($count);
  $for e in $positions
    let $now_$e = $mean_of($total_$e, $over);
    let $d_$e = $delta($mean_$e, $now_$e, $count_before);
    $mean_$e = $now_$e;
    $for s in $last_first
      $move($sum_${s}_$e, $d_$e, $change_${s}_$e)
    $end
  $end
$end
$define join_moments
  let $both = $mean_of($add($total, $part_total), $reciprocal($add($count, $part_count)));
  let $d = $delta($mean_0, $both, $count);
  $mean_0 = $both;
  let $part_d = $delta($mean_of($part_total, $reciprocal($part_count)), $both, $part_count);
  $for s in $last_first
    var $copy_$s = $part_$s;
    $move($copy_$s, $part_d, $part_change_$s)
    $move($sum_${s}_0, $d, $change_$s)
    $sum_${s}_0 = $add($sum_${s}_0, $copy_$s);
  $end
$end
$define finish_moments
  let $d = $delta($mean_of($total, $reciprocal($count)), $shift, $count);
  $move($sum, $d, $change)
$end

// ---- places
// Compared by their bits in WGSL, whose compilers may flush subnormal numbers and take it that there is no NaN. There
// an invocation has its elements' ranks: integers in the order of the numbers, a NaN before all. Elements come in the
// order of their ordinals, so that of those alike the first one stays. An element takes about ten instructions,
// whereas to compare two numbers took twenty: argmax of 2^24 25.6 and 38.4 µs on an H200, 28 November 2026.
$define declare_ranks
  $for e in $positions
    var $rank_$e = bitcast<i32>(0x80000000u);
  $end
$end
$define note_by_rank
  $for i in $values
    let $key_$i = $rank_of($value_$i);
    if ($key_$i > $rank_for_$i) { $rank_for_$i = $key_$i; $top_of_$i = $value_$i; $to_$i = $ordinal_$i; }
  $end
$end
// Where an extreme changed, what stood at the old one stands nowhere. A NaN remains one.
$define forget(place, before, now)
  if (!$is_nan($before) && ($is_nan($now) || !$equal($before, $now))) { $place = $nowhere; }
$end
$define follow_extremes
  $for e in $positions
    $forget($place_$e, $before_$e, $top_$e)
  $end
$end
// Where there is a NaN it is the extreme, and all that equals anything stood before it.
$define note_places
  $for i in $values
    if ($equal($value_$i, $top_of_$i) || $is_nan($value_$i)) { $to_$i = $least($to_$i, $ordinal_$i); }
  $end
$end
$define join_places
  let $both = $extreme($top_0, $part_top);
  var $copy = $part_place;
  $forget($copy, $part_top, $both)
  $forget($place_0, $top_0, $both)
  $place_0 = $least($place_0, $copy);
$end
$define align_places
  $for e in $positions
    $forget($place_$e, $top_$e, $joined_top_$e)
  $end
$end

// ---- both
// The terms of the elements of a step, each less the shift of its kept position.
$define terms
  $for e in $positions
    let $shift_$e = $shift_of_$e;
  $end
  $for i in $values
    let $base_$i = $base_of_$i;
    $for s in $sums
      $to_${s}_$i = $add($to_${s}_$i, $term_${s}_$i);
    $end
  $end
$end
$define align_powers
  $for e in $positions
    $for s in $last_first
      $scale($sum_${s}_$e, $top_$e, $joined_top_$e)
    $end
  $end
$end
$define align_moments
  let $over = $reciprocal($joined_count);
  $for e in $positions
    let $d_$e = $delta($mean_$e, $mean_of($joined_total_$e, $over), $count);
    $for s in $last_first
      $move($sum_${s}_$e, $d_$e, $change_${s}_$e)
    $end
  $end
$end
