// Puts the bits of elements into words, a word each, for the sort by digits of elements that are not words themselves,
// or do not lie one after the other. Bound by memory. Not measured by itself: its time is part of the sort's, which
// radix_move.wgsl and radix_sweep.cu say.
$place
$load
$for e in $elements
  $words[i + ${e}u] = $bits_$e;
$end
