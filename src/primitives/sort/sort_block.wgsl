// Sorts lines of up to $block elements, in what the GPU languages share (dialect.hpp): Batcher's bitonic network (1968)
// over (key, place) in a workgroup's memory.
//
// Keys are unsigned, in the order of the values, NaN last; places break ties, which makes the sort stable. Lines are
// padded to a power of two, $padded, with the largest key. A workgroup has $block elements, one line or several:
//
//   keys[]:    ┌───────────────┬───────────────┬───┐
//   places[]:  │ line 0        │ line 1        │ … │   a pass exchanges elements that are `distance` apart; thread t
//              └───────────────┴───────────────┴───┘   takes the pairs t, t + 256, …
//
//   pair i at distance 2:   ┌───────┐        low  = i / 2 · 4 + i % 2
//                           0   1   2   3    high = low + 2
//                               └───────┘
//
// Runs of length `level` are made of two that ascend and descend; runs as long as the line ascend.
//
// Bound by workgroup memory and barriers: log₂ n (log₂ n + 1) / 2 passes, 55 for 1024 elements, each with one barrier.
// On WebGPU, an H100, 24 November 2026: blocks of 1024 in the sort of 4096 lines of 4096 2.7 ms, of 4096 3.1
// (docs/tuning.md).
//
// gpu.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl.
let first = group * ${block}u;
for (var i = thread * ${each}u; i < ${block}u; i += ${threads}u * ${each}u) {
  let line = (first + i) / $padded;
  let at = first + i - line * $padded;
  $for e in $elements
    var key$e = ~$word(0);
    var place$e = $place_$e;
  $end
  if (at < $length && first + i < $all) {
    $load
  }
  $for e in $elements
    keys[i + ${e}u] = key$e;
    places[i + ${e}u] = place$e;
  $end
}
$barrier
$for level in $levels
  $for distance in $distances_$level
    for (var i = thread; i < ${block}u / 2u; i += ${threads}u) {
      let low = i / ${distance}u * (2u * ${distance}u) + i % ${distance}u;
      let high = low + ${distance}u;
      let up = (((first + low) & ($padded - 1u)) & ${level}u) == 0u;
      let later = keys[low] > keys[high] || (keys[low] == keys[high] && places[low] > places[high]);
      if (later == up) {
        let key = keys[low];
        keys[low] = keys[high];
        keys[high] = key;
        let place = places[low];
        places[low] = places[high];
        places[high] = place;
      }
    }
    $barrier
  $end
$end
for (var i = thread; i < ${block}u; i += ${threads}u) {
  if (first + i < $all) { $sorted_places[first + i] = places[i]; }
}
