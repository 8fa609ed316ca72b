// Pieces (kernel_file.hpp) of WebGPU's kernels in which a workgroup ranks elements by a digit of 8 bits with votes in
// subgroups: radix_move_in_subgroups.wgsl and primitives/sort/sort_tile.wgsl. CUDA's: radix_rank.cu. Slots are drawn
// likewise in primitives/scatter/scatter_lines_in_subgroups.wgsl.
//
// How many invocations a subgroup has is known at run time alone (4 to 128), and which ones, not even there. So each
// draws as many of the slots 0 … $workers - 1 as it has lanes, and an invocation's slot says which elements it has; the
// first 256 slots have a digit each, too. Lanes work in parts of at most 32; a smaller subgroup is a part, a larger one
// several.
//
//   elements:  ┌────────────── a part of 32 ──────────────┐┌── the next
//              │ lane 0 │ … │ lane 31 │ lane 0 │ … │ …    ││       an invocation has those at + e · part, $held of them
//              │ e = 0                │ e = 1      │      ││
//   counters:  words[slot / 64][digit]: of 32 slots' elements so far in the lower half of a word, of the next 32 slots'
//              in the upper; then, how many of all stand before their first
//
// Workgroup memory: drawn[1] atomic u32, the slots that are taken; words[] atomic u32, first the counters, then the
// elements by turns with their places as they are exchanged; sums[64] vec2<u32>: first the width of a subgroup and what
// the first invocation draws besides ($drawn_too), then for each subgroup that has digits how many elements have these,
// and the sum of $beside.
//
// These kernels are bound by how many workgroups fit a processor: on an H200 one of more than 24 KiB each, two of up to
// 24, three of up to 16 (docs/tuning.md). So counters are halves of words, and lie where the elements go afterwards.
//
// Of the lanes whose elements have one digit (found by 8 votes) the first counts all in the slots' counter of that
// digit, and keeps what it showed; that, and the lanes before it, are an element's rank among those of its digit. Until
// then an element's word is: the digit (8 bits), the first of its lanes, how many stand before it, how many there are
// but for it (5 bits each), and of a first lane, in place of the last, what the counter showed (14 bits). So votes and
// counters do not wait for each other, and no vote stands in a loop whose end is known at run time alone. Parts of
// fewer than 32 take turns. There is a barrier after each element: nothing less orders in WGSL what lanes do to the
// memory of a workgroup. Elements behind the end have the last digit, and as they are the last of it no others' ranks
// change.

The invocation's slot.
$define draw_slots
  if (thread == 0u) {
    atomicStore(&drawn[0], 0u);
    sums[0] = vec2<u32>(lanes, $drawn_too);
  }
  let drawn_by_thread_0 = workgroupUniformLoad(&sums[0]);
  let width = drawn_by_thread_0.x;  // for conditions around barriers
  var drawn_by_first = 0u;
  if (lane == 0u) { drawn_by_first = atomicAdd(&drawn[0], lanes); }
  let first_slot = subgroupBroadcast(drawn_by_first, 0u);
  let slot = first_slot + lane;
  let part = min(width, 32u);
  let in_part = lane & (part - 1u);
$end
Its place among the elements, its counters, and the digit that is its number, if there is one.
$define find_elements
  let at = (slot - in_part) * ${held}u + in_part;
  let counters = slot / 64u * 256u;
  let half = (slot & 32u) / 2u;
  let has_digit = slot < 256u;
  let own_digit = min(slot, 255u);
$end
Turns the counters into how many stand before; what else is to be done once an own digit's elements are counted
(own.x) stands in $counted.
$define add_up_counters
  var own = vec2<u32>(0u, 0u);
  $for t in $counter_words
    var before$t = 0u;
  $end
  if (has_digit) {
    own.y = $beside;
    $for t in $counter_words
      let both$t = atomicLoad(&words[${t}u * 256u + own_digit]);
      before$t = own.x | ((own.x + (both$t & 0xffffu)) << 16u);
      own.x += (both$t & 0xffffu) + (both$t >> 16u);
    $end
  }
  $counted
  let up_to = subgroupInclusiveAdd(own);
  if (lane == lanes - 1u && has_digit) { sums[first_slot / 4u] = up_to; }
  $barrier
  var less = up_to - own;
  if (has_digit) {
    for (var other = 0u; other < first_slot; other += lanes) { less += sums[other / 4u]; }
    $for t in $counter_words
      atomicStore(&words[${t}u * 256u + own_digit], before$t + less.x * 0x10001u);
    $end
  }
$end
The rank of each word among the first `here` by the digit from the bit `shift` on, as rank0, rank1, …; and of the
digit that is the slot's number: less[0], how many of the elements have a lesser one, and less[1], the sum of $beside
over all that are lesser.
$define rank_words
  $for t in 0 1 2 3
    atomicStore(&words[${t}u * ${workers}u + thread], 0u);
  $end
  let all_lanes = 0xffffffffu >> (32u - part);
  let lanes_before = (1u << in_part) - 1u;
  $for e in $ranked
    var rank$e = 0u;
    {
      let digit = select(255u, (key_of(word$e, $flip) >> $shift) & 255u, at + ${e}u * part < here);
      var alike = all_lanes;
      $for bit in 0 1 2 3 4 5 6 7
        let bit$bit = (digit >> ${bit}u) & 1u;
        alike &= subgroupBallot(bit$bit == 1u)[lane >> 5u] ^ (bit$bit - 1u);
      $end
      rank$e = (digit << 24u) | (firstTrailingBit(alike) << 19u) | (countOneBits(alike & lanes_before) << 14u) |
               ((countOneBits(alike) - 1u) << 9u);
    }
  $end
  $barrier
  for (var turn = 0u; turn < 32u / part; turn += 1u) {
    let my_turn = turn == (slot & 31u) / part;
    $for e in $ranked
      if (my_turn && (rank$e & (31u << 14u)) == 0u) {
        let shown = atomicAdd(&words[counters + (rank$e >> 24u)], (((rank$e >> 9u) & 31u) + 1u) << half);
        rank$e = (rank$e & 0xffffc000u) | ((shown >> half) & 0x3fffu);
      }
      $barrier
    $end
  }
  $for e in $ranked
    let of_first$e = subgroupShuffle(rank$e, lane - in_part + ((rank$e >> 19u) & 31u)) & 0x3fffu;
    rank$e = (rank$e & 0xff000000u) | (of_first$e + ((rank$e >> 14u) & 31u));
  $end
  $add_up_counters
  $barrier
  $for e in $ranked
    rank$e = (rank$e & 0xffffffu) + ((atomicLoad(&words[counters + (rank$e >> 24u)]) >> half) & 0xffffu);
  $end
  $barrier
$end
The places of the elements that are moved, after these through the same words.
$define move_places
  $barrier
  $for e in $ranked
    atomicStore(&words[rank$e], $place(min(at + ${e}u * part, here - 1u)));
  $end
  $barrier
  $for e in $ranked
    let from$e = slot + ${e}u * ${workers}u;
    if (from$e < here) { $to_places[$to_places_first + to$e] = atomicLoad(&words[from$e]); }
  $end
$end
