// Where the element of a rank stands (radix_ranks_count.wgsl): of the elements of the line with its key it is number
// `wanted`, from 0. A workgroup to a rank of a line finds the part, in it the row of 256, and in that the element.
//
// Workgroup memory: sums[256] u32, how many elements with the key each part, row or place has, then how many up to it
// (radix_scan.wgsl); rows[256] atomic u32, how many each row has; found[4] u32: the part, the element's number in it,
// the row, and its number in that.
//
// Bound by latency: what it reads is a part of $part elements. A median of 2^24 in f32 spent 27 µs here on
// an H200, 28 November 2026, WebGPU, of 258 in all.
//
//   alike[part]:  │ 3 │ 0 │ 4 │ …      `wanted` 5: the part 2, of whose rows of 256 … of whose places
if (group >= $lines * ${count}u) { return; }
let line = group / ${count}u;
let known = $known[group];
let wanted = $wanted[group];
var carry = 0u;
for (var start = 0u; start < $parts; start += 256u) {
  var here = 0u;
  if (start + thread < $parts) {
    here = $alike[(line * $parts + start + thread) * ${count}u + (group - line * ${count}u)];
  }
  sums[thread] = here;
  $barrier
  $scan
  let up_to = carry + sums[thread];
  if (up_to > wanted && up_to - here <= wanted) {
    found[0] = start + thread;
    found[1] = wanted - (up_to - here);
  }
  carry += sums[255];
  $barrier
}
let begin = found[0] * ${part}u;
let end = min($n, begin + ${part}u);
let among = found[1];
atomicStore(&rows[thread], 0u);
$barrier
for (var i = begin + thread; i < end; i += 1024u) {
  $four_keys
  $for e in 0 256 512 768
    if (i + ${e}u < end && key$e == known) { atomicAdd(&rows[(i + ${e}u - begin) / 256u], 1u); }
  $end
}
$barrier
let in_row = atomicLoad(&rows[thread]);
sums[thread] = in_row;
$barrier
$scan
let rows_up_to = sums[thread];
if (rows_up_to > among && rows_up_to - in_row <= among) {
  found[2] = thread;
  found[3] = among - (rows_up_to - in_row);
}
$barrier
let at = begin + found[2] * 256u + thread;
var alike = 0u;
if (at < end) {
  if (key_of($bits_at(line * $n + at), $flip) == known) { alike = 1u; }
}
sums[thread] = alike;
$barrier
$scan
if (alike == 1u && sums[thread] == found[3] + 1u) { $places[group] = at; }
