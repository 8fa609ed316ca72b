// The last kernel of a pass of the sort by digits (radix_count.wgsl) where invocations vote in subgroups; with the
// pieces of radix_look_back.wgsl it is all of a pass. Without subgroups: radix_move.wgsl; CUDA's: radix_sweep.cu.
//
// A workgroup of 256 invocations moves a block of $tile elements, $held an invocation, all at once: it ranks them by
// the digit (radix_subgroups.wgsl says which invocation has which), and they go in that order through workgroup memory,
// so that neighbours of one digit are written together; after them, through the same words, their places.
//
//   words:   │ digit 0 │ digit 1 │ …        next[digit]: where word 0 would go, if it had that digit
//
// Workgroup memory: words[$tile] u32, next[256] u32, and what radix_subgroups.wgsl names.
//
// Bound by how many workgroups fit a processor: 2^24 in f32 took 181 µs on an H200, 28 November 2026, WebGPU, with 14
// elements an invocation, and 273 with 16 (Radix::tile); memory alone would take 64. Barriers after each element are
// 3 % of it (docs/tuning.md).
if (group >= $lines * $blocks) { return; }
$draw_slots
let number = $number;
let line = number / $blocks;
let block = number - line * $blocks;
let begin = block * ${tile}u;
let here = min($n - begin, ${tile}u);
let first = line * $n + begin;
let in_line = $in_line;
$before_ranks
$for e in $ranked
  let word$e = $bits[$bits_first + first + min(at + ${e}u * part, here - 1u)];
$end
$rank_words
$for e in $ranked
  words[rank$e] = word$e;
$end
$after_ranks
next[slot] = line * $n + less.y + in_blocks_before - less.x;
$barrier
$for e in $ranked
  let bits$e = words[slot + ${e}u * 256u];
  let to$e = next[(key_of(bits$e, $flip) >> $shift) & 255u] + slot + ${e}u * 256u;
$end
$for e in $stored
  if (slot + ${e}u * 256u < here) { $to_bits[$to_bits_first + to$e] = bits$e; }
$end
$store_places
