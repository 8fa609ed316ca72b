// Each channel convolved by itself, with any formula as the epilogue, on CUDA GPUs: sums in f32.
//
//   out[sample, line, row, channel] = formula(Σ x[…]·w[tap, channel], operands…)   row: the place along the last axis
//
// A thread has two channels, side by side in memory, of kLines x kRows places of the result: it reads each line of the
// image once, and adds it to all results that meet it. Neighbouring threads have neighbouring channels.
//
//   lines of the image     0 1 2 3 4 5 6 7 8 9 …          kernels of 7 lines: line 6 meets results 0 to 6
//   result 0               └─────────┘                    kLines = 8: 14 lines of kRows + 6 places for 8·kRows results
//   result 1                 └─────────┘
//
// Bound by the multiplications and, where lines of results are few, by what is read again.
enum : bool { kSkips = $skips };
enum : u32 {
  kLines = $lines, kRows = $rows,  // of results
  kTapLines = $tap_lines, kTapRows = $tap_rows,
  kStrideLines = $stride_lines, kStrideRows = $stride_rows, kDilationLines = $dilation_lines,
  kDilationRows = $dilation_rows,
  kSpanLines = (kLines - 1u) * kStrideLines + (kTapLines - 1u) * kDilationLines + 1u,  // of the image
  kSpanRows = (kRows - 1u) * kStrideRows + (kTapRows - 1u) * kDilationRows + 1u,
};

$formula
struct Pair {
  f32 x, y;
};
// In registers: the compiler would read and convert them again for each line.
TERN_DEVICE Pair kept(Pair pair) {
  asm volatile("" : "+f"(pair.x), "+f"(pair.y));
  return pair;
}
struct Memory {
  const Params& params;
  $buffers
  __device__ __forceinline__ Pair image(u32 sample, [[maybe_unused]] u32 line, u32 row, u32 channel) const {
    $load_x
    return {$x_0, $x_1};
  }
  __device__ __forceinline__ Pair weight([[maybe_unused]] u32 tap_line, u32 tap_row, u32 channel) const {
    $load_w
    return {$w_0, $w_1};
  }
  __device__ __forceinline__ void finish(f32 sum_0, f32 sum_1, u32 sample, [[maybe_unused]] u32 line, u32 row,
                                         u32 col) const {
    $finish
  }
};

extern "C" __global__ void __launch_bounds__($threads, 1) tern_kernel($parameters) {
  const Memory memory{params$buffer_names};
  let item = blockIdx.x * u32($threads) + threadIdx.x, pairs = $channels / 2u;
  let channel = item % pairs * 2u, strip = item / pairs;
  let strips_of_rows = ($out_rows + (kRows - 1u)) / kRows, strips_of_lines = ($out_lines + (kLines - 1u)) / kLines;
  let first_row = strip % strips_of_rows * kRows, first_line = strip / strips_of_rows % strips_of_lines * kLines;
  let sample = strip / strips_of_rows / strips_of_lines;
  if (sample >= $samples) return;
  Pair w[kTapLines][kTapRows];
#pragma unroll
  for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
    for (u32 k = 0u; k < kTapRows; ++k) w[i][k] = kept(memory.weight(i, k, channel));
  Pair sums[kLines][kRows] = {};
  let top = i32(first_line * kStrideLines) - i32($before_lines);
  let left = i32(first_row * kStrideRows) - i32($before_rows);
#pragma unroll
  for (u32 i = 0u; i < kSpanLines; ++i) {
    let line = u32(top + i32(i));
    if (kSkips && line >= $in_lines) continue;
    Pair x[kSpanRows];
#pragma unroll
    for (u32 k = 0u; k < kSpanRows; ++k) {
      let row = u32(left + i32(k));
      x[k] = Pair{0.0f, 0.0f};
      if (row < $in_rows && (kSkips || line < $in_lines)) x[k] = memory.image(sample, line, row, channel);
    }
#pragma unroll
    for (u32 result = 0u; result < kLines; ++result) {
      // Within an unrolled loop: a condition of constants.
      if (i < result * kStrideLines || (i - result * kStrideLines) % kDilationLines != 0u) continue;
      let tap = (i - result * kStrideLines) / kDilationLines;
      if (tap >= kTapLines) continue;
#pragma unroll
      for (u32 k = 0u; k < kTapRows; ++k)
#pragma unroll
        for (u32 place = 0u; place < kRows; ++place) {
          let& at = x[place * kStrideRows + k * kDilationRows];
          sums[result][place].x = fma(at.x, w[tap][k].x, sums[result][place].x);
          sums[result][place].y = fma(at.y, w[tap][k].y, sums[result][place].y);
        }
    }
  }
#pragma unroll
  for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
    for (u32 k = 0u; k < kRows; ++k)
      if (first_line + i < $out_lines && first_row + k < $out_rows)
        memory.finish(sums[i][k].x, sums[i][k].y, sample, first_line + i, first_row + k, channel);
}
