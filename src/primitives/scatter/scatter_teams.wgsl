// The same as scatter_lines.cu on WebGPU, where lines have few results or invocations cannot vote (else
// scatter_lines_in_subgroups.wgsl). A workgroup of 256 has
// a line, whose results it keeps in its memory, or $across lines that are neighbours in memory, and takes $each entries
// of each at once, in order, the next ones loaded while these are added:
//
//   named:                 │ 5 │ 2 │ 5 │ 5 │ … │ 9 │    the places of a team's 32 entries, which each looks through:
//   the first of a place:  │ + │ + │ · │ · │ … │ + │    the first of a place adds its entry and then those of the
//                                                       others in their order, so that sums have the bits that adding
//                                                       one by one has
//
// The teams of a line add one after the other, with a barrier between them, and look through their places before.
//
// Workgroup memory: sums[own · $pitch + place], the lines' results; named[64] vec4<u32>, and numbers[256] beside them,
// the places and values of the entries.
//
// Bound by how many workgroups fit a processor with their results: of that little, half is what a team looks through
// and the barriers between teams. Along the rows of 4096² in f32 410 µs on an H200, 29 November 2026, along columns, of
// which a sector has few elements, 666 (docs/tuning.md).
let column = thread % ${across}u;
let row = thread / ${across}u;
let line = group * ${across}u + column;
let inside = line < $lines;
let own = thread / ${each}u;
let team = thread % ${each}u / 32u;
let here = thread & 0xffffffe0u;
let before = (1u << (thread & 31u)) - 1u;
let mine = column * ${each}u + row;
$line_coordinates
if (inside) {
  for (var k = row; k < $size; k += ${each}u) {
    $load_old
    sums[column * ${pitch}u + k] = $old_0;
  }
}
$declared_entries
$fetched_from(0u, row, ${each})
for (var start = 0u; start < $count; start += ${ahead}u * ${each}u) {
  $for e in $entries
    let place_$e = place$e;
    let value_$e = value$e;
  $end
  $fetched_from(start + ${ahead}u * ${each}u, row, ${each})
  $for e in $entries
    $look_at(place_$e)
    named[mine / 4u][mine % 4u] = place_$e;
    numbers[mine] = value_$e;
    $barrier
    {
      let place = named[thread / 4u][thread % 4u];
      var same = 0u;
      $for d in $fours
        {
          let four = named[here / 4u + ${d}u];
          $for c in 0 1 2 3
            same |= select(0u, 1u << (${d}u * 4u + ${c}u), four[$c] == place);
          $end
        }
      $end
      let first = place < $size && (same & before) == 0u;
      $for turn in $turns
        if (first && team == ${turn}u) {
          let at = own * ${pitch}u + place;
          var sum = combine(sums[at], numbers[thread]);
          for (same &= same - 1u; same != 0u; same &= same - 1u) {
            sum = combine(sum, numbers[here + firstTrailingBit(same)]);
          }
          sums[at] = sum;
        }
        $barrier
      $end
    }
  $end
}
if (inside) {
  for (var k = row; k < $size; k += ${each}u) {
    $store
  }
}
