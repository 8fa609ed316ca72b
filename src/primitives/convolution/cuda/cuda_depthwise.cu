// Each channel convolved by itself, with any formula as the epilogue, on CUDA GPUs from compute capability 8.0 on: sums
// in f32.
//
//   out[sample, line, row, channel] = formula(Σ x[…]·w[tap, channel], operands…)   row: the place along the last axis
//
// A workgroup has 64 channels, whose weights stay in registers, and goes from tile to tile of the results: while it
// computes one, the next one's part of the image is fetched (cuda_depthwise_tiles.cu). A lane has two channels, side by
// side in memory; a warp has kLines x kRows results. It reads each line of the image once, and adds it to all results
// that meet it:
//
//   lines of the image     0 1 2 3 4 5 6 7 8 9 …          kernels of 7 lines: line 6 meets results 0 to 6
//   result 0               └───────────┘                  kLines = 8: 14 lines of kRows + 6 places for 8·kRows results
//   result 1                 └───────────┘
//
// Bound by the multiplications; kernels of few taps by memory. On an H200, 26 November 2026, bf16, 64×192×56×56 by 7×7:
// 133 µs, 0.4 of what the processors multiply, twice PyTorch's speed; 3×3 54 µs, 0.6 of the memory's. Kernels of many
// taps go by tensor cores where a model says so (cuda_depthwise_cores.cu): 92 µs.
$tiles
$formula
struct Memory {
  const Params& params;
  $buffers
  __device__ __forceinline__ Pair weight([[maybe_unused]] u32 tap_line, u32 tap_row, u32 channel) const {
    $load_w
    return {$w_0, $w_1};
  }
  __device__ __forceinline__ void finish(f32 sum_0, f32 sum_1, u32 sample, [[maybe_unused]] u32 line, u32 row,
                                         u32 col) const {
    $finish
  }
};
extern "C" __global__ void __launch_bounds__(kThreads, $resident) tern_kernel($parameters) {
  extern __shared__ __align__(128) unsigned char tiles[];
  const Memory memory{params$buffer_names};
  let image = reinterpret_cast<const unsigned char*>($image) + u64($image_base) * $element_bytes;
  let mine = this_lane(params);
  let step = gridDim.x / $channel_groups, count = $samples * tiles_down(params) * tiles_along(params);
  // Kept: the compiler would read and convert them again for each line.
  Pair w[kTapLines][kTapRows] = {};
#pragma unroll
  for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
    for (u32 k = 0u; k < kTapRows; ++k) {
      if (mine.channel < $channels) w[i][k] = memory.weight(i, k, mine.channel);
      asm volatile("" : "+f"(w[i][k].x), "+f"(w[i][k].y));
    }
  u32 number = blockIdx.x / $channel_groups, buffer = 0u;
  if (kBuffers == 2u && number < count) fetch_image(params, tiles, image, tile_of(params, number), mine.first_channel);
  end_of_fetches();
#pragma unroll 1
  for (; number < count; number += step) {
    let ahead = kBuffers == 2u ? number + step : number, to = kBuffers == 2u ? buffer ^ 1u : 0u;
    if (ahead < count)
      fetch_image(params, tiles + to * kImageBytes, image, tile_of(params, ahead), mine.first_channel);
    end_of_fetches();
    wait_for_fetches_but<kBuffers - 1u>();
    __syncthreads();
    Pair sums[kLines][kRows] = {};
    each_meeting(tiles + buffer * kImageBytes, mine, [&](u32 tap, u32 k, u32 result, u32 place, const Pair& x) {
      sums[result][place].x = fma(x.x, w[tap][k].x, sums[result][place].x);
      sums[result][place].y = fma(x.y, w[tap][k].y, sums[result][place].y);
    });
    let tile = tile_of(params, number);
    let line = tile.line + mine.line, row = tile.row + mine.row;
#pragma unroll
    for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
      for (u32 k = 0u; k < kRows; ++k)
        if (line + i < $out_lines && row + k < $out_rows && mine.channel < $channels)
          memory.finish(sums[i][k].x, sums[i][k].y, tile.sample, line + i, row + k, mine.channel);
    __syncthreads();
    buffer = kBuffers == 2u ? buffer ^ 1u : 0u;
  }
}
