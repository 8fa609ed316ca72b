// Fourier transforms of lines of $n elements, in what the GPU languages share (dialect.hpp): Stockham's algorithm.
//
// A workgroup has one line in its memory, or $per short ones, twice: a pass reads one copy and writes the other, in the
// order in which the next pass reads it.
//
//   global → ┌────────────┐ radix 4 ┌────────────┐ radix 4 ┌────────────┐  …  → global
//            │ a_re, a_im │ ──────→ │ b_re, b_im │ ──────→ │ a_re, a_im │
//            └────────────┘ barrier └────────────┘ barrier └────────────┘
//
//   Element e of the workgroup's line `own` stands at own · $n + e. In a pass an invocation takes the butterflies
//   thread, thread + $threads, … of all the workgroup's lines; a butterfly's elements are its registers.
//
// Roots of unity are computed where they are needed, from integers, to the last place or two: no tables to be read.
//
// Workgroup memory: a_re[], a_im[], b_re[] and b_im[], of $per · $n elements.
//
// Bound by memory, which is read once and written once. On an H200, 26 November 2026: 65536 lines of 64 in c64, scaled
// on their way, 34.8 µs or 1.9 TB/s; PyTorch, by cuFFT and a kernel that scales, 39.5 (docs/benchmarks_families.md).
//
// gpu_text.cpp fills the holes, $name, from fft_pieces.wgsl; butterflies are printed for their radix. To read it with
// all of them filled: tests/golden/kernels.wgsl.
for (var b = thread; b < ${per}u * ${n}u; b += ${threads}u) {
  $places_read
  let line = group * ${per}u + own;
  $load
  $twiddled_before
  let at = own * ${n}u + e;
  a_re[at] = re;
  a_im[at] = im;
}
$barrier
$passes
for (var b = thread; b < ${per}u * $wanted; b += ${threads}u) {
  $places_written
  let line = group * ${per}u + own;
  if (line < $lines) {
    let at = own * ${n}u + min(e, ${last}u);
    var re = ${results}re[at];
    var im = ${results}im[at];
    $store
  }
}
