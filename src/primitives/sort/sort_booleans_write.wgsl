// The last kernel of a sort of booleans: writes the places of those that come first, and behind them those of the
// others, as far as results are wanted. sort_booleans_count.wgsl says what the words are.
//
// A workgroup of 128 invocations has a block and takes 2048 elements of it at once, 16 neighbours an invocation. Their
// places are put in order in workgroup memory, so that neighbours are written together:
//
//   staged:   │ those that come first: 0 … leading │ the others │
//
// Workgroup memory: staged[2048] u32, drawn above; sums[128] u32, how many of an invocation's come first, then
// (radix_scan.wgsl) of all up to it.
//
// Bound by memory: the booleans are read, and as many words written as results are wanted. masked_select of half of
// 2^24 takes 132 µs in all on an H100, 27 November 2026, PyTorch 164 (docs/benchmarks.md).
if (group >= $lines * $blocks) { return; }
let line = group / $blocks;
let block = group - line * $blocks;
let begin = block * ${tile}u;
let end = min($length, begin + ${tile}u);
$coordinates
var before = 0u;
if (block > 0u) { before = $words[group - 1u]; }
let total = $words[line * $blocks + $blocks - 1u];
for (var start = begin; start < end; start += 2048u) {
  let own = start + thread * 16u;
  $for e in $own_elements
    var is$e = 0u;
  $end
  $for g in $groups
    let at$g = own + ${g}u;
    if (at$g < end) {
      $load_$g
    }
  $end
  var count = 0u;
  $for e in $own_elements
    count += is$e;
  $end
  sums[thread] = count;
  $barrier
  $scan
  let leading = sums[127];
  var to = sums[thread] - count;
  var other = leading + thread * 16u - to;
  $for e in $own_elements
    if (own + ${e}u < end) {
      if (is$e != 0u) {
        staged[to] = own + ${e}u;
        to += 1u;
      } else {
        staged[other] = own + ${e}u;
        other += 1u;
      }
    }
  $end
  $barrier
  for (var k = thread; k < min(end - start, 2048u); k += 128u) {
    let rank = select(total + (start - before) + (k - leading), before + k, k < leading);
    if (rank < $wanted) { $to[$to_first + line * $wanted + rank] = staged[k]; }
  }
  before += leading;
  $barrier
}
