// Sorts lines of up to $block elements, in what the GPU languages share (dialect.hpp): Batcher's bitonic network (1968)
// over (key, place) in a workgroup's memory.
//
// Keys are unsigned, in the order of the values, NaN last; places break ties, which makes the sort stable. Lines are
// padded to a power of two, $padded, with the largest key. A workgroup has $block elements, one line or several:
//
//   keys[]:    ┌───────────────┬───────────────┬───┐
//   places[]:  │ line 0        │ line 1        │ … │   runs of length `level` are made of two that ascend and descend,
//              └───────────────┴───────────────┴───┘   by exchanges at level / 2, level / 4, …, 1; those as long as the
//                                                      line ascend
//   An invocation has four elements in its registers, for two distances at once; where a level's distances are odd in
//   number, the first is taken alone:
//
//   distance 4, step 2:   0   1   2   3   4   5   6   7       elements at, at + step, at + 2 step, at + 3 step:
//                         └───────┼───────┘       │           exchanged at 0-2, 1-3 and then at 0-1, 2-3
//                                 └───────────────┘
//
// Bound by workgroup memory and barriers, of which 1024 elements take 30, one for two distances.
// On an H200, 29 November 2026, WebGPU and CUDA: 65536 lines of 64 in f32 134 and 110 µs, 262144 of 16 91 and 68;
// PyTorch's stable sort 417 and 793. With every pass unrolled and a block for each line they took 400 and 876 µs, and
// compiling 0.4 s instead of 0.06 (docs/benchmarks_families.md).
//
// (The kernel is longer than other functions: loads, one network with two kinds of passes, and stores.)
//
// gpu.cpp fills the holes, $name, from sort_exchange.wgsl. To read it with all of them filled:
// tests/golden/kernels.wgsl.
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
var alone = true;
for (var level = 2u; level <= $padded; level = level * 2u) {
  var distance = level / 2u;
  if (alone) {
    for (var i = thread; i < ${block}u / 2u; i += ${threads}u) {
      let at = 2u * i - (i & (distance - 1u));
      let up = ((first + at) & ($padded - 1u) & level) == 0u;
      $for e in $two
        var key$e = keys[at + ${e}u * distance];
        var place$e = places[at + ${e}u * distance];
      $end
      $exchange(0, 1)
      $for e in $two
        keys[at + ${e}u * distance] = key$e;
        places[at + ${e}u * distance] = place$e;
      $end
    }
    $barrier
    distance = distance / 2u;
  }
  alone = !alone;
  for (; distance > 0u; distance = distance / 4u) {
    let step = distance / 2u;
    for (var i = thread; i < ${block}u / 4u; i += ${threads}u) {
      let at = 4u * i - 3u * (i & (step - 1u));
      let up = ((first + at) & ($padded - 1u) & level) == 0u;
      $for e in $four
        var key$e = keys[at + ${e}u * step];
        var place$e = places[at + ${e}u * step];
      $end
      $exchange(0, 2)
      $exchange(1, 3)
      $exchange(0, 1)
      $exchange(2, 3)
      $for e in $four
        keys[at + ${e}u * step] = key$e;
        places[at + ${e}u * step] = place$e;
      $end
    }
    $barrier
  }
}
for (var i = thread; i < ${block}u; i += ${threads}u) {
  if (first + i < $all) { $sorted_places[first + i] = places[i]; }
}
