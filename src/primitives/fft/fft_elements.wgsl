// Elements of lines on their way to a transform, or from one, in what the GPU languages share (dialect.hpp): they are
// filled up with zeros, mirrored, scaled, separated where they are halves of real lines (gpu_text.hpp), or copied to
// where the next kernel wants them. Each invocation has one. Neighbours among invocations are those in memory: of a
// line, or lines beside each other.
//
// Bound by memory, which is read once, twice from the cache where there are halves, and written once. On an H200, 29
// November 2026, a real line of 2^22 took 50.9 µs by these kernels and 63.2 through WebGPU, of which a complex one of
// half the length is 38.8 on CUDA (docs/benchmarks_families.md).
//
// gpu_text.cpp fills the holes, $name, from fft_pieces.wgsl. To read it with all of them filled:
// tests/golden/kernels.wgsl.
let b = group * $threads + thread;
$line_and_element
if ($inside) {
  $load
  $store
}
