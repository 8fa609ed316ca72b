// Each channel convolved by itself, with any formula as the epilogue, in what the GPU languages share: sums in f32.
//
//   out[sample, line, row, channel] = formula(Σ x[…]·w[tap, channel], operands…)   row: the place along the last axis
//
// Which invocation has what is drawn in gpu_depthwise_pieces.wgsl. The weights of its channels are in registers.
//
// Speed. Bound by the instructions, of which the multiplications are half; kernels of few taps by memory. On an H200
// through WebGPU, 29 November 2026, 64×192×56×56 by 7×7: f32 0.197 ms, f16 0.196; CUDA's kernels take 0.245 and 0.134
// (docs/benchmarks_families.md).
//
// gpu_depthwise.cpp fills the holes, $name. To read it with all of them filled: tests/golden/kernels.wgsl, or
// TERN_SHOW_KERNELS=1.
$units
let strip = first_strip;
$strip
if (sample >= $samples || channel >= $channels) { return; }
$corner
let weights = ($w_base + channel) / $channels_of_word;
$for t in $taps
  let weights_$t = $w[weights + ${t}u * $words];
  $for e in $elements
    let w_${t}_$e = $value_$e(weights_$t);
  $end
$end
$for r in $result_lines
  $for p in $result_rows
    $for e in $elements
      var sum_${r}_${p}_$e = f32(0.0);
    $end
  $end
$end
$lines_of_image
let col = channel;
for (var i = 0u; i < $lines; i += 1u) {
  let line_now = line + i;
  if (line_now < $out_lines) {
    $finish_line
  }
  $move_up
}
