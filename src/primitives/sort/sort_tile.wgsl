// Sorts a line of 1025 to 4096 elements by digits in a workgroup's memory, where invocations vote in subgroups:
// WebGPU's (gpu/radix/radix_subgroups.wgsl says which invocation has which elements). CUDA's: sort_tile.cu.
//
//             ┌────────────── a part of 32 ──────────────┐┌── the next
//   words[]:  │ lane 0 │ … │ lane 31 │ lane 0 │ … │ …    ││     an invocation has word0, word1, … and place0, place1, …
//             │ e = 0                │ e = 1      │      ││     of the elements at + e · part
//
//   a digit:  ranks of the words → words[rank] = word → each takes its words again → words[rank] = place, likewise
//
// words[] has the line's bits, a word an element, by turns with the places that they come from and, while elements are
// ranked, with the counters of digits.
//
// Memory is read once and written once, in vectors where they lie so; for each digit of 8 bits elements are ranked and
// exchanged, and stay with their places in registers meanwhile.
//
// Bound by how many workgroups fit a processor: 4096 lines of 4096 in f32 take 472 µs on an H200, 30 November 2026, and
// 639 where counters had 8 KiB of their own; with 512 invocations 472 and with 1024 654 (docs/tuning.md).
if (group >= $lines) { return; }
$coordinates
let here = $length;
for (var i = thread * ${each}u; i < $length; i += ${threads}u * ${each}u) {
  $load
  $for e in $elements
    atomicStore(&words[i + ${e}u], $bits_$e);
  $end
}
$draw_slots
$find_elements
$for e in $ranked
  var word$e = atomicLoad(&words[at + ${e}u * part]);
  var place$e = at + ${e}u * part;
$end
for (var shift = 0u; shift < ${key_bits}u; shift += 8u) {
  $barrier  // of words[], which all have read by now, the counters take the place
  $rank_words
  $for e in $ranked
    atomicStore(&words[rank$e], word$e);
  $end
  $barrier
  if (shift + 8u < ${key_bits}u) {
    $for e in $ranked
      word$e = atomicLoad(&words[at + ${e}u * part]);
    $end
  } else {
    for (var i = thread * ${each}u; i < $length; i += ${threads}u * ${each}u) {
      $store_values
    }
  }
  $barrier
  $for e in $ranked
    atomicStore(&words[rank$e], place$e);
  $end
  $barrier
  if (shift + 8u < ${key_bits}u) {
    $for e in $ranked
      place$e = atomicLoad(&words[at + ${e}u * part]);
    $end
  } else {
    for (var i = thread * ${each}u; i < $length; i += ${threads}u * ${each}u) {
      $store_places
    }
  }
}
