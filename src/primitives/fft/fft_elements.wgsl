// Elements of lines on their way to a transform, or from one, in what the GPU languages share (dialect.hpp): they are
// filled up with zeros, mirrored, scaled, multiplied with a chirp, or copied to where the next kernel wants them. Each
// invocation has one. Neighbours among invocations are those in memory: of a line, or lines beside each other.
//
//   Lines of n with large prime factors are a convolution with a chirp (Bluestein, 1970), in lines of a power of two:
//
//     x(j) · w(j)  ──transform──→  · ──back──→  · w(k)  → y(k)          w(j) = e^(-πi·j²/n), the chirp
//                                  ↑
//                 conj w  ──transform──→  times $scale
//
// Bound by memory, which is read once and written once. 1000 lines of 1009 elements, a prime, in c64 took 44 µs each
// way with a chirp and 16 with its transform on an H200, 28 November 2026, WebGPU, of 229 in all; cuFFT takes 24.5.
//
// gpu_text.cpp fills the holes, $name, from fft_pieces.wgsl. To read it with all of them filled:
// tests/golden/kernels.wgsl.
let b = group * $threads + thread;
$line_and_element
if ($inside) {
  $load
  $factor
  $store
}
