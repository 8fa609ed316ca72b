// The last kernel of a scatter by a long table, in what the GPU languages share (dialect.hpp): the entries were read
// (scatter_read.wgsl) and sorted, which leaves `keys`, the places in the output in increasing order, and `places`, the
// positions in the source that they came from, in their order.
//
//   keys:    │ 0 │ 0 │ 1 │ 2 │ 2 │ 2 │ 4 │ …      thread of place 2: bisects for its first entry (3), and adds
//   places:  │ 1 │ 7 │ 3 │ 0 │ 2 │ 9 │ 5 │ …      source[0], source[2], source[9], in order
//
// An invocation has an element of the output, or a group of neighbours along another axis in vectors. Where many
// entries meet in an element, a workgroup fetches them: scatter_fetched.wgsl.
//
// Where places have many elements, $bisect is the list of where their entries begin (scatter_starts.wgsl).
//
// Bound by memory where neighbours are many: 16384 rows of 768 in f32 into 50304 take 163 µs on an H100, 27 November
// 2026, PyTorch with atomics 204 (docs/benchmarks.md).
let t = $own_group * ${threads}u + thread;
if (t >= $outputs) { return; }
let wanted = t / $kept;
let k = (t - wanted * $kept) * ${each}u;
$kept_coordinates
$keys_of_line
let places = $first_place;
$bisect
low = max(low, $begin);
$add_run
