// Pieces (kernel_file.hpp) of a kernel with reductions that join what the invocations of a workgroup reduced, where
// they can pass values within a warp of 32: each has its part of the result $r in a register, $part_$r, and in the end
// all have the result. Devices without warps: reduce_join.wgsl.
//
//   in rows a warp has 32 neighbours ty of one kept position, or whole positions where `along` is less; in columns
//   `across` neighbours tx lie side by side, and those of a warp for the same position are that far apart:
//
//     rows, along 64:     │ ty 0 … ty 31, tx 0 │ ty 32 … ty 63, tx 0 │ …       distances 16 8 4 2 1
//     columns, across 8:  │ tx 0 … tx 7, ty 0 │ tx 0 … tx 7, ty 1 │ … ty 3 │   distances 16 8
//
//   in_warp:    each invocation adds what the one has whose number differs in a bit, without a barrier
//   of_warps:   the first of each warp's `$lanes` for a position leaves its result in workgroup memory, and everyone
//               joins all of them in the same order
//
// Bound by barriers where rows are short, of which this has two. With a tree that had one at each of its eight levels,
// layer norm of 16384×1024 in bf16 on an H200 took 57 µs instead of 26 (docs/internals/gpu.md); on 22 November 2026 it
// took 24, a copy 19 (docs/benchmarks_families.md).

$define in_warp
  $for r in $results
    var warp_$r = $part_$r;
    $for distance in $distances
      let warp_${r}_$distance = $from_$distance(warp_$r);
      warp_$r = $combined(warp_$r, warp_${r}_$distance);
    $end
  $end
$end
// Of equal numbers with different bits (0 and −0) each invocation may have kept another: all take the first's.
$define share_first
  $for r in $results
    let $r = $from_first(warp_$r);
  $end
$end
$define leave
  $for r in $results
    $word_$r($mine) = $bits(warp_$r);
  $end
$end
$define leave_first
  if (ty % ${lanes}u == 0u) {
    $leave
  }
$end
$define join_warps
  $barrier
  $for r in $results
    var $r = $value_$r($place_0);
    $for k in $later_parts
      let of_${r}_$k = $value_$r($place_$k);
      $r = $combined($r, of_${r}_$k);
    $end
  $end
  $barrier
$end
