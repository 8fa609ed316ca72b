// The last kernel of a pass of the sort by digits (radix_count.wgsl) where invocations vote in subgroups; with the
// pieces of radix_look_back.wgsl it is all of a pass. Without subgroups: radix_move.wgsl; CUDA's: radix_sweep.cu.
//
// A workgroup of $workers moves a block of $tile elements, $held an invocation, all at once: it ranks them by
// the digit (radix_subgroups.wgsl says which invocation has which), and they go in that order through workgroup memory,
// so that neighbours of one digit are written together; after them, through the same words, their places.
//
//   words:   │ digit 0 │ digit 1 │ …        next[digit]: where word 0 would go, if it had that digit
//
// Workgroup memory: words[$tile], next[256] u32, and what radix_subgroups.wgsl names.
//
// Bound by how many workgroups fit a processor, and by how long the runs of a digit are: a sort of 2^24 in f32 takes
// 774 µs on an H200, 30 November 2026, with 512 invocations of 10 elements, and 895 with 256 of 14 whose counters had
// words of their own (docs/tuning.md, Radix::tile). Memory alone would take 64 a pass.
if (group >= $lines * $blocks) { return; }
$draw_slots
$find_elements
let number = $number;
let line = number / $blocks;
let block = number - line * $blocks;
let begin = block * ${tile}u;
let here = min($n - begin, ${tile}u);
let first = line * $n + begin;
let in_line = $in_line;
$before_ranks
$for e in $ranked
  let word$e = $bits_at(first + min(at + ${e}u * part, here - 1u));
$end
$rank_words
$for e in $ranked
  atomicStore(&words[rank$e], word$e);
$end
$after_ranks
if (has_digit) { next[own_digit] = line * $n + less.y + in_blocks_before - less.x; }
$barrier
$for e in $ranked
  let bits$e = atomicLoad(&words[slot + ${e}u * ${workers}u]);
  let to$e = next[(key_of(bits$e, $flip) >> $shift) & 255u] + slot + ${e}u * ${workers}u;
$end
$for e in $stored
  if (slot + ${e}u * ${workers}u < here) { $to_bits[$to_bits_first + to$e] = bits$e; }
$end
$store_places
