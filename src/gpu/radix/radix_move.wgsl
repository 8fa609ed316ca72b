// The last kernel of a pass of the sort by digits (radix_count.wgsl) without votes: WebGPU's where there are no
// subgroups (else radix_move_in_subgroups.wgsl). Moves the elements of a block to where their digit's begin, in the
// order in which they stand.
//
// A workgroup takes $part elements at once and orders them by the digit in its memory, two bits after the other, the
// lower first. An invocation has $each neighbours, counts those of each of the four values, and with what stands before
// it knows where each of its elements goes:
//
//   words:   │ thread 0: $each neighbours │ thread 1 │ …     the digit above, the place in the part below
//   pairs:   how many of an invocation's are 0 and 2, and 1 and 3: halves of words; groups: those of 16 invocations
//
// Then neighbours of one digit are written together. A word in 33 is not used, so that invocations whose elements are
// 32 words apart do not meet in a bank. Elements behind the end have the last digit, and stand behind all others.
//
// Workgroup memory: words[$part / 32 · 33], pairs[256] and groups[16] are drawn above; next[256], where the next
// element of each digit goes; first[256], where a digit's elements begin in the part; sums[256], how many elements of
// the line have this digit or a lesser one.
//
// Bound by barriers and by workgroup memory: 312 µs for 2^24 on an H100, 27 November 2026, a sort of f32 1628 in all
// (CUDA's 764; docs/benchmarks.md, docs/tuning.md).
//
// (The kernel is longer than other functions: its elements stay in registers that have a name each, word0, digit0 and
// on, which the unrolled steps hand on.)
if (group >= $lines * $blocks) { return; }
let line = group / $blocks;
let block = group - line * $blocks;
let begin = block * ${tile}u;
let end = min($n, begin + ${tile}u);
let total = $totals[line * 256u + thread];
sums[thread] = total;
$barrier
$scan
next[thread] = line * $n + sums[thread] - total + $counts[(line * 256u + thread) * $blocks + block];
let mine = thread * ${each}u + thread * ${each}u / 32u;
for (var start = begin; start < end; start += ${part}u) {
  $for e in $elements
    var digit$e = 255u;
    if (start + ${e}u * 256u + thread < end) {
      digit$e = (key_of($bits_at(line * $n + start + ${e}u * 256u + thread), $flip) >> $shift) & 255u;
    }
  $end
  $for e in $elements
    words[${e}u * 264u + thread + thread / 32u] = (digit$e << 16u) | (${e}u * 256u + thread);
  $end
  $barrier
  for (var bit = 16u; bit < 24u; bit += 2u) {
    var counts = 0u;
    $for e in $elements
      let word$e = words[mine + ${e}u];
      let by$e = ((word$e >> bit) & 3u) * 8u;
      let rank$e = (counts >> by$e) & 255u;
      counts += 1u << by$e;
    $end
    let pair = vec2<u32>(counts & 0xff00ffu, (counts >> 8u) & 0xff00ffu);
    pairs[thread] = pair;
    $barrier
    var before = vec2<u32>(0u, 0u);
    for (var t = thread & 0xf0u; t < thread; t += 1u) { before += pairs[t]; }
    if ((thread & 15u) == 15u) { groups[thread / 16u] = before + pair; }
    $barrier
    var all = vec2<u32>(0u, 0u);
    $for g in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
      if (thread / 16u == ${g}u) { before += all; }
      all += groups[$g];
    $end
    let zeros = all.x & 0xffffu;
    let ones = all.y & 0xffffu;
    let even = before.x + ((zeros + ones) << 16u);
    let odd = before.y + (zeros | ((zeros + ones + (all.x >> 16u)) << 16u));
    $for e in $elements
      let to$e = ((select(even, odd, (by$e & 8u) != 0u) >> (by$e & 16u)) & 0xffffu) + rank$e;
      words[to$e + to$e / 32u] = word$e;
    $end
    $barrier
  }
  let here = min(end - start, ${part}u);
  $for e in $elements
    let at$e = ${e}u * 256u + thread;
    let sorted$e = words[${e}u * 264u + thread + thread / 32u];
    let before$e = max(at$e, 1u) - 1u;
    if (at$e == 0u || (words[before$e + before$e / 32u] >> 16u) != (sorted$e >> 16u)) { first[sorted$e >> 16u] = at$e; }
  $end
  $barrier
  $for e in $elements
    if (at$e < here) {
      let digit = sorted$e >> 16u;
      let i = start + (sorted$e & 0xffffu);
      let source = line * $n + i;
      let bits = $bits_at(source);
      let to = next[digit] + at$e - first[digit];
      $store
    }
  $end
  $barrier
  if (start + ${part}u < end) {
    $for e in $elements
      let after$e = min(at$e + 1u, ${part}u - 1u);
      if (at$e == ${part}u - 1u || (words[after$e + after$e / 32u] >> 16u) != (sorted$e >> 16u)) {
        next[sorted$e >> 16u] += at$e + 1u - first[sorted$e >> 16u];
      }
    $end
  }
  $barrier
}
