// The same as scatter_lines.cu where the lanes of a warp cannot compare their places: WebGPU's. A workgroup of 256 has
// a line, whose results it keeps in its memory, and takes 256 entries of the table at once, in order, $ahead times 256
// of them loaded before the first are added:
//
//   owners[place]:  the first of the invocations that wait for the place; it adds its entry, and the others wait for
//                   the next round, so that sums have the bits that adding one by one has
//
//   thread:     0   1   2   3   …  255
//   place:    │ 5 │ 2 │ 5 │ 5 │ … │ 9 │
//   round 1:  │ + │ + │ · │ · │ … │ + │     owners[5] is 0, owners[2] 1, owners[9] 255; threads 2 and 3 wait
//   round 2:  │   │   │ + │ · │ … │   │     owners[5] is 2
//   round 3:  │   │   │   │ + │ … │   │     owners[5] is 3; left[0] stays 2: nobody waits any more
//
// Where there is no room for an owner of each place, several places share one, which costs rounds and nothing else.
//
// Workgroup memory: sums[place], the line's results; owners[$owners] atomic u32; left[1] u32, the last round after
// which an invocation still waits.
//
// Bound by barriers: three a round, and about two rounds where few entries have one place. 4096² in f32 along rows 563
// µs on an H100, 27 November 2026, along columns, of which a sector has one element, 804 (docs/benchmarks.md).
if (group >= $lines) { return; }
$line_coordinates
for (var k = thread; k < $size; k += 256u) {
  $load_old
  sums[k] = $old_0;
}
for (var k = thread; k < ${owners}u; k += 256u) { atomicStore(&owners[k], 0xffffffffu); }
var round = 0u;
if (thread == 0u) { left[0] = 0u; }
$barrier
for (var start = 0u; start < $count; start += ${ahead}u * 256u) {
  $fetched_ahead(256)
  $for e in $entries
    {
      let own = place$e & (${owners}u - 1u);
      var waits = place$e < $size;
      for (;;) {
        round += 1u;
        if (waits) { atomicMin(&owners[own], thread); }
        $barrier
        if (waits) {
          if (atomicLoad(&owners[own]) == thread) {
            sums[place$e] = combine(sums[place$e], value$e);
            atomicStore(&owners[own], 0xffffffffu);
            waits = false;
          } else {
            left[0] = round;
          }
        }
        $load_left
        if (still != round) { break; }
      }
    }
  $end
}
for (var k = thread; k < $size; k += 256u) {
  $store
}
