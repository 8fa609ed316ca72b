// A piece (kernel_file.hpp) of scatter_lines.cu and scatter_rounds.wgsl, in what the GPU languages share (dialect.hpp).

The places and values of an invocation's next $ahead entries from `start` on, `step` apart; behind the last no place.
$define fetched_ahead(step)
  $for e in $entries
    var place$e = 0xffffffffu;
    var value$e = $type();
    {
      let j = start + ${e}u * ${step}u + thread;
      if (j < $count) {
        $entry_coordinates
        let index = $index;
        place$e = bitcast<u32>(index) + select(0u, $size, index < 0);
        $load_$e
        value$e = $new_$e;
        if (place$e >= $size) {
          $report
        }
      }
    }
  $end
$end
