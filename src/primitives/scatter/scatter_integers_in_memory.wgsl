// Sums of integers by index where a table of all places (scatter_integers.wgsl) would not fit a workgroup, or not be
// worth filling: a workgroup takes $ahead · $threads neighbouring entries, and each is added where it belongs by an
// atomic of memory; on CUDA, where entries are of one line, all that have one place in a warp by one.
//
// Bound by those atomics: 2^22 entries into 2^16 and into 2^22 places of i32 take 56 and 57 µs by CUDA and 74 and 91
// by WebGPU, an H200, 30 November 2026, as words' frequencies name 2^16 594 and 681, and all in one place 102 and 118;
// by a sort the first two took 2171 and 484, 3197 and 611 (docs/tuning.md).
$for e in $entries
  var place$e = $nowhere;
  var value$e = $type();
  var to$e = 0u;
  {
    let j = (group * ${ahead}u + ${e}u) * ${threads}u + thread;
    if (j < $count) {
      $entry_coordinates
      let index = $index;
      place$e = bitcast<u32>(index) + select(0u, $size, index < 0);
      $load_$e
      value$e = $new_$e;
      to$e = $to_$e;
    }
  }
$end
$for e in $entries
  $add_to_memory(place$e, value$e, to$e)
  $look_at(place$e)
$end
