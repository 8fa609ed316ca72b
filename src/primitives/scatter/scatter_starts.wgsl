// Where the entries of each place begin among the sorted ones, for scatter_sorted.wgsl and scatter_fetched.wgsl: an
// invocation to a place, and one for the end. There every invocation would bisect for its place, and elements of a
// place are many. Bound by latency: a chain of loads. With it 16,384 rows of 768 in f32 into 50,304 took 163 µs,
// without it 203, on an H100, 27 November 2026 (docs/tuning.md).
let wanted = group * ${threads}u + thread;
if (wanted > $size) { return; }
$bisect
$starts[wanted] = low;
