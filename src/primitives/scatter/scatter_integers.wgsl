// Sums of integers by index through tables in workgroup memory, in what the GPU languages share (dialect.hpp). Integers
// have one sum in whatever order they are added, so atomics add them, without a sort. A workgroup takes $share
// neighbouring entries of a line, $ahead of an invocation on their way at once, and adds them to its own table, of
// which there are $copies where places are few, so that invocations beside each other do not meet in one word:
//
//   entries:  │ thread 0 │ thread 1 │ … │ thread 255 │ thread 0 │ …
//                  ↓          ↓                                           by atomics of workgroup memory
//   sums:     │ place 0: copies 0, 1, … │ place 1: copies 0, 1, … │ …     copy: thread % $copies
//                  ↓ thread 0                ↓ thread 1                   the copies' sum, by one atomic of memory
//   output:   │ place 0                 │ place 1                 │ …     where it is not 0
//
// Sums of 64 bits are two words each, the second $words behind the first, to which the first's carries are added.
//
// Workgroup memory: sums[$words], or twice as many, atomic u32.
//
// Bound by memory, and by atomics of workgroup memory where copies do not keep entries of one place apart: with what a
// copy of the places takes, 2^20 entries into 4 places of i32 take 11.3 µs by CUDA and 18.9 by WebGPU, 2^22 into 100
// 14.9 and 22.3, 2^22 into 8000 15.6 and 30.4, 2^24 in one of 100 27.3 and 39.3, an H200, 30 November 2026; by a sort
// the first took 385 and 740 (docs/tuning.md).
let line = group / $parts;
if (line >= $lines) { return; }
let begin = (group - line * $parts) * $share;
let end = min(begin + $share, $all);
let copy = thread & ($copies - 1u);
$line_coordinates
for (var at = thread; at < $size * $copies; at += ${threads}u) {
  $for p in $parts_of_sum
    atomicStore(&sums[at + ${p}u * ${words}u], 0u);
  $end
}
$barrier
$declared_entries
for (var start = begin; start < end; start += ${ahead}u * ${threads}u) {
  $fetched_from(start, thread, ${threads})
  $for e in $entries
    if (place$e < $size) {
      let at = place$e * $copies + copy;
      $add_to_table(value$e)
    }
    $look_at(place$e)
  $end
}
$barrier
for (var place = thread; place < $size; place += ${threads}u) {
  var sum = $word();
  for (var c = 0u; c < $copies; c += 1u) {
    let at = place * $copies + ((place + c) & ($copies - 1u));
    sum += $sum_at;
  }
  if (sum != $word()) {
    let to = $to;
    atomicAdd(&$output_at(to), sum);
  }
}
