// Pieces (kernel_file.hpp) of scatter_lines.cu and scatter_teams.wgsl, in what the GPU languages share (dialect.hpp).

The places and values of an invocation's next $ahead entries from $start + $first on, $step apart; behind the last no
place.
$define declared_entries
  $for e in $entries
    var place$e = 0xffffffffu;
    var value$e = $type();
  $end
$end
$define fetched_from(start, first, step)
  $for e in $entries
    place$e = 0xffffffffu;
    {
      let j = $start + ${e}u * ${step}u + $first;
      if ($inside && j < $count) {
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
