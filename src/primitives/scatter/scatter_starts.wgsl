// Where the entries of each place begin among the sorted ones, for scatter_sorted.wgsl and scatter_fetched.wgsl: an
// invocation to a place, and one for the end. There every invocation would bisect for its place, and elements of a
// place are many. Bound by latency: a chain of loads.
let wanted = group * ${threads}u + thread;
if (wanted > $size) { return; }
$bisect
$starts[wanted] = low;
