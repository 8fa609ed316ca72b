// Pieces (kernel_file.hpp) of scatter_lines.cu, scatter_columns.cu, scatter_teams.wgsl,
// scatter_lines_in_subgroups.wgsl, scatter_integers.wgsl and scatter_integers_in_memory.wgsl, in what the GPU languages
// share (dialect.hpp).
//
// Workgroup memory, of scatter_lines_in_subgroups.wgsl alone: results[column · $pitch + place], the lines' results;
// numbers[$workers], the values of the entries.

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
Of scatter_integers.wgsl: a value is added to a word of a table, or to two of 64 bits (CUDA's), and what was added.
$define add_to_one_word(value)
  atomicAdd(&sums[at], bitcast<u32>($value));
$end
$define one_word
  atomicLoad(&sums[at])
$end
$define add_to_two_words(value)
  let low = u32($value);
  let before = atomicAdd(&sums[at], low);
  let high = u32(u64($value) >> 32u) + select(0u, 1u, before + low < low);
  if (high != 0u) { atomicAdd(&sums[at + ${words}u], high); }
$end
$define two_words
  u64(sums[at]) + (u64(sums[at + ${words}u]) << 32u)
$end
Of scatter_integers_in_memory.wgsl: an entry is added by an atomic of its own; or (CUDA's, of one line) together with
those of its warp that have its place, which would wait for each other: 2^22 in one of 2^16 places 3098 µs and 102.
$define add_alone(place, value, to)
  if ($place < $size) { atomicAdd(&$output_at($to), $bits($value)); }
$end
$define add_alike(place, value, to)
  #if __CUDA_ARCH__ >= 800
  {
    let alike = __match_any_sync(0xffffffffu, $place);
    if ($place < $size) {
      var sum = $bits($value);
      if (__popc(alike) > 1) { sum = __reduce_add_sync(alike, sum); }
      if ((alike & ((1u << (thread & 31u)) - 1u)) == 0u) { atomicAdd(&$output_at($to), sum); }
    }
  }
  #else
  $add_alone($place, $value, $to)
  #endif
$end
Of scatter_lines_in_subgroups.wgsl: what the results were before, four loads on their way at once.
$define load_results
  if (inside) {
    for (var begin = row; begin < $size; begin += 4u * ${each}u) {
      $for o in 0 1 2 3
        var old$o = $type();
        {
          let k = min(begin + ${o}u * ${each}u, $size - 1u);
          $load_old
          old$o = $old_0;
        }
      $end
      $for o in 0 1 2 3
        if (begin + ${o}u * ${each}u < $size) { results[column * ${pitch}u + begin + ${o}u * ${each}u] = old$o; }
      $end
    }
  }
$end
Likewise: alike, the lanes of the part that have the same place, of all that have one.
$define vote_on_places
  var alike = subgroupBallot(place < $size)[lane >> 5u];
  {
    let voted = place + column * ${held}u;
    $for bit in $bits
      let bit$bit = (voted >> ${bit}u) & 1u;
      alike &= subgroupBallot(bit$bit == 1u)[lane >> 5u] ^ (bit$bit - 1u);
    $end
  }
$end
Likewise: an invocation whose turn it is adds the entries of its part that have its place.
$define add_in_turn(turn)
  if (my_turn == $turn) {
    var sum = combine(results[at], value);
    for (var others = alike & (alike - 1u); others != 0u; others &= others - 1u) {
      sum = combine(sum, numbers[slot - in_part + firstTrailingBit(others)]);
    }
    results[at] = sum;
  }
$end
