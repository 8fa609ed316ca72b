// Writes the results of a sort: the places, and the elements in that order, fetched from the input by place. An
// invocation has a group of neighbours of a line's results, which are stored together.
//
// Bound by memory: elements that lie apart cost a sector of memory each. So where many are wanted, words are sorted
// with their bits beside the places (sort_write_words.wgsl): 2^24 of bf16 took 844 µs fetched by place, and 668 with
// the bits carried along (H100, 24 November 2026, docs/tuning.md).
$place
let sorted = line * $pitch + at;
$for e in $elements
  let place$e = $sorted_places[sorted + ${e}u];
$end
$for e in $valued_elements
  $fetch_$e
$end
$store_values
$store_places
