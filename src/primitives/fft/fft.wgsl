// Fourier transforms of lines of $n elements, in what the GPU languages share (dialect.hpp): Stockham's algorithm, of
// passes with radices up to 16.
//
// A workgroup has $per lines. In a pass an invocation has one butterfly, or some, in its registers; between passes they
// go through the workgroup's memory, in the order in which the next pass reads them. The first pass reads the lines
// themselves, and the last writes them:
//
//   global → ┌───────────┐ line_re[], line_im[] ┌───────────┐ line_re[], line_im[] ┌───────────┐ → global
//            │ radix 16  │ ───────────────────→ │ radix 16  │ ───────────────────→ │ radix 8   │
//            └───────────┘  write, barrier,     └───────────┘  write, barrier,     └───────────┘
//                           read, barrier                      read, barrier
//
//   Butterfly i of a line of n, with radix r, has its elements i, i + n / r, …, i + (r - 1) · n / r: with invocations
//   beside each other, elements beside each other. Short lines, of which these would be few, go through the workgroup's
//   memory on their way in and out. Lines that lie beside each other in memory are read, and written, across.
//
// Workgroup memory: element e of the workgroup's line `own` stands at own · $pitch + e + e / 16; without the gap after
// 16 elements invocations that write 16 apart would meet in a bank.
//
// Lines of n with large prime factors are a convolution with a chirp (Bluestein, 1970), in lines of a power of two,
// which these kernels multiply on their way in and out:
//
//   x(j) · w(j)  ──transform──→  · ──back──→  · w(k)  → y(k)          w(j) = e^(-πi·j²/n), the chirp
//                                ↑
//               conj w  ──transform──→  divided by their length
//
// Roots of unity are computed where they are needed, from integers, to the last place or two: no tables to be read.
//
// Bound by memory, which is read once and written once, and by registers, of which CUDA gives an invocation 116 (two
// workgroups of 256 at a time). On an H200, 29 November 2026: 65536 lines of 64 in c64 23.6 µs or 2.8 TB/s, 4096 of
// 1024 26.6, 1024 of 4096 26.7, and one of 2^22, three launches, 70.5; cuFFT 20.5, 20.6, 24.6 and 63.7. WebGPU takes
// 39, 34.7, 46 and 99 (docs/benchmarks_families.md). 4096 real lines of 1024 take 14.3 µs, through WebGPU 18.8, and
// cuFFT 9.8; 1000 lines of 1009, a prime, 40.3.
//
// gpu_text.cpp fills the holes, $name, from fft_pieces.wgsl; butterflies are printed for their radix. To read it with
// all of them filled: tests/golden/kernels.wgsl.
$gathered_first
$passes
$scattered_last
