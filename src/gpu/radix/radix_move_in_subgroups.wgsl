// The last kernel of a pass of the sort by digits (radix_count.wgsl) where invocations vote in subgroups. Without them:
// radix_move.wgsl; CUDA's whole pass: radix_sweep.cu.
//
// A workgroup of 256 invocations moves a block of $tile elements, $each an invocation, all at once. How many invocations
// a subgroup has is known here alone (4 to 128), and which ones it has not even here; so each subgroup draws as many of
// the slots 0 … 255 as it has lanes, and an invocation's slot says what it holds. Lanes work in parts of at most 32: a
// smaller subgroup is one, a larger one several.
//
//   elements:  ┌──────────── slots 0 … 31 ────────────┐┌── slots 32 … 63
//              │ lane 0 │ … │ lane 31 │ lane 0 │ … …  ││      of a part its lanes' first ones, then their second ones, …
//              │ e = 0                │ e = 1  │      ││
//   counts[slot / 32][digit]: of those slots' elements so far; then, how many of the block stand before their first
//
// Of the lanes whose elements have one digit (found by 8 votes) the first one counts all in the slots' counter of that
// digit. Parts of fewer than 32 take turns; there is a barrier after each step, as WGSL orders what lanes do to memory
// by nothing less. Elements behind the end have the last digit, and as they are the last of it no others' ranks change.
// Then the elements go in order by the digit through workgroup memory, so that neighbours of one digit are written
// together, and after them their places.
//
// Bound by …
if (group >= $lines * $blocks) { return; }
let line = group / $blocks;
let block = group - line * $blocks;
let begin = block * ${tile}u;
let here = min($n - begin, ${tile}u);
let first = line * $n + begin;
$for t in $tables
  atomicStore(&counts[${t}u * 256u + thread], 0u);
$end
if (thread == 0u) { atomicStore(&drawn[0], 0u); }
$barrier
var drawn_by_first = 0u;
if (lane == 0u) { drawn_by_first = atomicAdd(&drawn[0], lanes); }
let first_slot = subgroupBroadcast(drawn_by_first, 0u);
let slot = first_slot + lane;
let part = min(lanes, 32u);
let in_part = lane & (part - 1u);
let mine = (slot - in_part) * ${each}u + in_part;
let table = slot / 32u * 256u;
let all_of_line = $totals[line * 256u + slot];
let of_blocks_before = $counts[(line * 256u + slot) * $blocks + block];
$for e in $elements
  let word$e = $bits[$bits_first + first + min(mine + ${e}u * part, here - 1u)];
$end
$for e in $elements
  var rank$e = select(255u, (key_of(word$e, $flip) >> $shift) & 255u, mine + ${e}u * part < here) << 16u;
$end
let whole_part = 0xffffffffu >> (32u - part);
let below = (1u << in_part) - 1u;
for (var turn = 0u; turn < 32u / part; turn += 1u) {
  let my_turn = turn == (slot & 31u) / part;
  $for e in $elements
    {
      let digit = rank$e >> 16u;
      var alike = whole_part;
      $for bit in 0 1 2 3 4 5 6 7
        let bit$bit = (digit >> ${bit}u) & 1u;
        alike &= subgroupBallot(bit$bit == 1u)$votes ^ (bit$bit - 1u);
      $end
      let before = countOneBits(alike & below);
      var so_far = 0u;
      if (my_turn && before == 0u) { so_far = atomicAdd(&counts[table + digit], countOneBits(alike)); }
      so_far = subgroupShuffle(so_far, lane - in_part + firstTrailingBit(alike));
      if (my_turn) { rank$e += so_far + before; }
      $step_end
    }
  $end
}
$barrier
var own = 0u;
$for t in $tables
  let own$t = own;
  own += atomicLoad(&counts[${t}u * 256u + slot]);
$end
let up_to = subgroupInclusiveAdd(vec2<u32>(own, all_of_line));
if (lane == lanes - 1u) { sums[first_slot / 4u] = up_to; }
$barrier
var before = up_to - vec2<u32>(own, all_of_line);
for (var other = 0u; other < first_slot; other += lanes) { before += sums[other / 4u]; }
$for t in $tables
  atomicStore(&counts[${t}u * 256u + slot], own$t + before.x);
$end
next[slot] = line * $n + before.y + of_blocks_before - before.x;
$barrier
$for e in $elements
  rank$e = (rank$e & 0xffffu) + atomicLoad(&counts[table + (rank$e >> 16u)]);
  words[rank$e] = word$e;
$end
$barrier
$for e in $elements
  let bits$e = words[slot + ${e}u * 256u];
  let to$e = next[(key_of(bits$e, $flip) >> $shift) & 255u] + slot + ${e}u * 256u;
$end
$for e in $stored_elements
  if (slot + ${e}u * 256u < here) { $to_bits[$to_bits_first + to$e] = bits$e; }
$end
$store_places
