// Pieces (kernel_file.hpp) of a kernel with reductions that join what the invocations of a workgroup reduced, in what
// the GPU languages share: each invocation has its part of a result in a register ($part_…), and in the end all of them
// have the result. On devices with warps: reduce_join.cu.
//
// `along` invocations are for the same kept position. Their parts go to workgroup memory, where a tree adds them up:
//
//   words[thread]:   │ ty 0 │ ty 1 │ ty 2 │ ty 3 │ ty 4 │ ty 5 │ ty 6 │ ty 7 │     of one kept position, `along` = 8
//   half 4:          │ 0+4  │ 1+5  │ 2+6  │ 3+7  │
//   half 2:          │ 0+4+2+6     │ 1+5+3+7     │
//   half 1:          │ result                    │
//
// Results that are joined by the same operation are joined together: the n-th of an invocation lies at
// thread + n · threads, and they share the barriers, of which each half has one.
//
// Bound by barriers where rows are short: with a tree that had one at each of its eight levels, layer norm of
// 16384×1024 in bf16 on an H200 took 57 µs instead of 26 in warps (docs/tuning.md).

// Invocations along that are one: nothing to join.
$define take_parts
  $for r in $results
    let $r = $part_$r;
  $end
$end
$define tree
  $for r in $results
    $word_$r(thread) = $bits($part_$r);
  $end
  $barrier
  $for half in $halves
    if (ty < ${half}u) {
      $for r in $results
        $word_$r(thread) = $bits($combined($value_$r(thread), $value_$r(thread + $reach_$half)));
      $end
    }
    $barrier
  $end
  $for r in $results
    let $r = $value_$r($first);
  $end
  $barrier
$end
