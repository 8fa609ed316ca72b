// The same as scatter_lines.cu where invocations vote in subgroups: WebGPU's, for lines with many results (few:
// scatter_teams.wgsl). A workgroup has a line, whose results it keeps in its memory, or $across lines that are
// neighbours in memory, and takes $each entries of each at once, in order, the next ones loaded while these are added.
// An invocation's slot (gpu/radix/radix_subgroups.wgsl) says which it has.
//
//   slot:       0 … 31         32 … 63        64 …         32 slots are a unit, and in it the lanes of a part vote
//   place:    │ 5 │ 2 │ 5 │  │ 2 │ 9 │ 7 │  │ 5 │ 9 │
//   tags:       unit 0: 5, 2   unit 1: 2, 9, 7  …           tags[place]: a bit for each unit that has it
//   turn:       0   0   -      1   0   0      1   1         how many units before have the place
//
// Of the lanes of a part that have one place (found by votes) the first adds all their entries, in their order, when it
// is its turn, so that sums have the bits that adding one by one has. Where places are many, nearly all are added in
// turns 0 and 1. Places that share a tag only wait for each other. Parts of fewer than 32 lanes take turns in a unit.
//
// Workgroup memory: results[column · $pitch + place]; numbers[$workers], the values of the entries; tags[$tags] atomic
// u32; most[2] atomic u32, how many turns there are, of these entries and of the next; turns_of_all[1], the same for
// all to read; and what draws slots.
//
// Bound by how many invocations fit a processor beside the results, and by barriers. Along the rows of 4096² in f32 287
// µs on an H200, 30 November 2026, along the columns 476; scatter_teams.wgsl 433 and 679 (docs/tuning.md).
$draw_slots
let column = slot % ${across}u;
let row = slot / ${across}u;
let line = group * ${across}u + column;
let inside = line < $lines;
let unit = 1u << (slot / 32u);
let lanes_before = (1u << in_part) - 1u;
$line_coordinates
$declared_entries
$fetched_from(0u, row, ${each})
$load_results
for (var i = thread; i < ${tags}u; i += ${workers}u) { atomicStore(&tags[i], 0u); }
if (thread < 2u) { atomicStore(&most[thread], 0u); }
var parity = 0u;
$barrier
for (var start = 0u; start < $count; start += ${each}u) {
  let place = place0;
  let value = value0;
  $fetched_from(start + ${each}u, row, ${each})
  $look_at(place)
  $vote_on_places
  let at = column * ${pitch}u + place;
  let tag = at % ${tags}u;
  let first = place < $size && (alike & lanes_before) == 0u;
  if (first) { atomicOr(&tags[tag], unit); }
  numbers[slot] = value;
  $barrier
  var my_turn = 0xffffffffu;
  if (first) {
    my_turn = countOneBits(atomicLoad(&tags[tag]) & (unit - 1u)) * (32u / part) + (slot & 31u) / part;
  }
  let turns_of_subgroup = subgroupMax(my_turn + 1u);
  if (lane == 0u) { atomicMax(&most[parity], turns_of_subgroup); }
  $add_in_turn(0u)
  $barrier
  $add_in_turn(1u)
  if (first) { atomicStore(&tags[tag], 0u); }
  if (thread == 0u) {
    turns_of_all[0] = atomicLoad(&most[parity]);
    atomicStore(&most[1u - parity], 0u);
  }
  parity = 1u - parity;
  let turns = workgroupUniformLoad(&turns_of_all[0]);
  for (var turn = 2u; turn < turns; turn += 1u) {
    $add_in_turn(turn)
    $barrier
  }
}
$barrier
if (inside) {
  for (var k = row; k < $size; k += ${each}u) {
    $store
  }
}
