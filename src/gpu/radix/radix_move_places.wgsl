// The places of the elements that radix_move_in_subgroups.wgsl moves, after them through the same memory.
$barrier
$for e in $elements
  words[rank$e] = $place(min(mine + ${e}u * part, here - 1u));
$end
$barrier
$for e in $elements
  if (slot + ${e}u * 256u < here) { $to_places[$to_places_first + to$e] = words[slot + ${e}u * 256u]; }
$end
