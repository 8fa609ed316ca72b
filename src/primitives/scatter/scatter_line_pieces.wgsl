// Pieces (kernel_file.hpp) of scatter_lines.cu, scatter_columns.cu and scatter_teams.wgsl, in what the GPU languages
// share (dialect.hpp).

The places and values of an invocation's next $ahead entries from $start + $first on, $step apart; behind the last
$nowhere, which no index gives: one below 0 gives at least $nowhere + $size. Places are looked at when they are used: a
condition behind a load makes the next load wait for it.
$define declared_entries
  $for e in $entries
    var place$e = $nowhere;
    var value$e = $type();
  $end
$end
$define nowhere
  0x80000000u
$end
$define fetched_from(start, first, step)
  $for e in $entries
    place$e = $nowhere;
    {
      let j = $start + ${e}u * ${step}u + $first;
      if ($inside && j < $count) {
        $entry_coordinates
        let index = $index;
        place$e = bitcast<u32>(index) + select(0u, $size, index < 0);
        $load_$e
        value$e = $new_$e;
      }
    }
  $end
$end
$define look_at(place)
  if ($place >= $size && $place != $nowhere) {
    let index = bitcast<i32>($place - select(0u, $size, $place > $nowhere));
    $report
  }
$end
