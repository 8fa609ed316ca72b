// The same as scatter_sorted.wgsl where the entries are no more than the places, most of which none may name: an
// invocation has a sorted entry, and the first of those that name one place adds them all. The others' elements, and
// places without entries, are not touched.
//
//   keys:    │ 0 │ 0 │ 1 │ 2 │ 2 │ 2 │ 4 │ …      thread of entry 3: adds source[0], source[2], source[9], in order;
//   places:  │ 1 │ 7 │ 3 │ 0 │ 2 │ 9 │ 5 │ …      those of entries 4 and 5 find their place before them, and end
//
// Bound by memory, and without the bisection, which is a chain of loads for every element of the output. scatter_add of
// 2^21 into 2^21 in f32 takes 222 µs in all by CUDA and 259 by WebGPU, an H100, 27 November 2026, PyTorch with atomics
// 38.3 (docs/benchmarks.md).
let t = group * ${threads}u + thread;
if (t >= $outputs) { return; }
let entry = t / $kept;
let k = (t - entry * $kept) * ${each}u;
$kept_coordinates
let keys = $first_key;
let places = $first_place;
let before = max(entry, 1u) - 1u;
let wanted = bitcast<u32>($key_of_entry);
if (wanted >= $size || (entry > 0u && bitcast<u32>($key_of_before) == wanted)) { return; }
var low = entry;
$add_run
