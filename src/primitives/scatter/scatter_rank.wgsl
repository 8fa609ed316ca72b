// Entries that were put into buckets (scatter_fill.wgsl), in their order. An invocation has an entry, whose rank is how
// many in its bucket are before it, and a place, whose range it writes:
//
//   slots:   │ 9 2 5 · … │ · · … │ 7 1 · … │ …  (full of $bucket: crowded)  →  order: │ 2 5 9 · … │ · · … │ 1 7 · … │ …
//   ranges:   (0, 3)       (32, 32) (64, 66)
//
// Behind these groups stands one for every place that may be crowded: it goes through all entries, each invocation
// through as many neighbours, counts the place's own in the first round and writes them in the second, behind all
// buckets, where it has taken room by an atomic: so where they stand is not the same every time, but their order is.
//
// Workgroup memory: sums[256] u32, how many entries an invocation has, then (radix_scan.wgsl) of all up to it;
// behind[0], where the place's begin.
//
// Bound by latency: two loads, and as many as its bucket has entries. Not measured by itself: its time is part of what
// scatter_crowded.wgsl says.
if (group < $few) {
  let t = group * ${threads}u + thread;
  if (t < $size) {
    let own = $counts[t];
    if (own <= ${bucket}u) {
      atomicStore(&$ranges[2u * t], t * ${bucket}u);
      atomicStore(&$ranges[2u * t + 1u], t * ${bucket}u + own);
    }
  }
  if (t < $length) {
    let place = $entries[t];
    if (place < $size) {
      let count = $counts[place];
      if (count <= ${bucket}u) {
        var rank = 0u;
        for (var i = 0u; i < count; i += 1u) { rank += select(0u, 1u, $slots[place * ${bucket}u + i] < t); }
        $order[place * ${bucket}u + rank] = t;
      }
    }
  }
  return;
}
if (group - $few >= $counts[$size]) { return; }
let place = $crowded[group - $few];
let each = ($length + ${threads}u - 1u) / ${threads}u;
let first = thread * each;
let end = min($length, first + each);
var own = 0u;
for (var i = first; i < end; i += 1u) { own += select(0u, 1u, $entries[i] == place); }
sums[thread] = own;
if (thread == 0u) { behind[0] = $size * ${bucket}u + atomicAdd(&$ranges[2u * $size], $counts[place]); }
$barrier
$scan
var to = behind[0] + sums[thread] - own;
for (var i = first; i < end; i += 1u) {
  if ($entries[i] == place) {
    $order[to] = i;
    to += 1u;
  }
}
if (thread == 0u) {
  atomicStore(&$ranges[2u * place], behind[0]);
  atomicStore(&$ranges[2u * place + 1u], behind[0] + $counts[place]);
}
