// The gradient of the kernels where each channel is convolved by itself, on CUDA GPUs: sums in f32, a part for each
// share of the results, [shares, taps, channels], which another kernel adds up, always in the same order.
//
//   parts[share, tap, channel] = Σ x[…]·y[sample, line, row, channel] over the results of a share
//
// A thread has two channels, side by side in memory, of a share: strips of kLines x kRows results, one after the other.
// It keeps the sums of all taps in registers, and reads each line of the image once for a strip. Neighbouring threads
// have neighbouring channels.
//
// Bound by the multiplications.
enum : bool { kSkips = $skips };
enum : u32 {
  kLines = $lines, kRows = $rows,  // of results
  kTapLines = $tap_lines, kTapRows = $tap_rows,
  kStrideLines = $stride_lines, kStrideRows = $stride_rows, kDilationLines = $dilation_lines,
  kDilationRows = $dilation_rows,
  kSpanLines = (kLines - 1u) * kStrideLines + (kTapLines - 1u) * kDilationLines + 1u,  // of the image
  kSpanRows = (kRows - 1u) * kStrideRows + (kTapRows - 1u) * kDilationRows + 1u,
};

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
  __device__ __forceinline__ Pair gradient(u32 sample, [[maybe_unused]] u32 line, u32 row, u32 channel) const {
    $load_y
    return {$y_0, $y_1};
  }
  __device__ __forceinline__ void part(f32 sum_0, f32 sum_1, u32 share, u32 tap, u32 channel) const {
    $store
  }
};

extern "C" __global__ void __launch_bounds__($threads, 1) tern_kernel($parameters) {
  const Memory memory{params$buffer_names};
  let item = blockIdx.x * u32($threads) + threadIdx.x, pairs = $channels / 2u;
  let channel = item % pairs * 2u, share = item / pairs;
  if (share >= $shares) return;
  let strips_of_rows = ($out_rows + (kRows - 1u)) / kRows, strips_of_lines = ($out_lines + (kLines - 1u)) / kLines;
  let strips = $samples * strips_of_lines * strips_of_rows;
  Pair sums[kTapLines][kTapRows] = {};
#pragma unroll 1
  for (u32 strip = u32(u64(strips) * share / $shares), end = u32(u64(strips) * (share + 1u) / $shares); strip < end;
       ++strip) {
    let first_row = strip % strips_of_rows * kRows, first_line = strip / strips_of_rows % strips_of_lines * kLines;
    let sample = strip / strips_of_rows / strips_of_lines;
    Pair y[kLines][kRows];
#pragma unroll
    for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
      for (u32 k = 0u; k < kRows; ++k) {
        y[i][k] = Pair{0.0f, 0.0f};
        if (first_line + i < $out_lines && first_row + k < $out_rows)
          y[i][k] = memory.gradient(sample, first_line + i, first_row + k, channel);
        y[i][k] = kept(y[i][k]);
      }
    let top = i32(first_line * kStrideLines) - i32($before_lines),
        left = i32(first_row * kStrideRows) - i32($before_rows);
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
            sums[tap][k].x = fma(at.x, y[result][place].x, sums[tap][k].x);
            sums[tap][k].y = fma(at.y, y[result][place].y, sums[tap][k].y);
          }
      }
    }
  }
#pragma unroll
  for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
    for (u32 k = 0u; k < kTapRows; ++k) memory.part(sums[i][k].x, sums[i][k].y, share, i * kTapRows + k, channel);
}
