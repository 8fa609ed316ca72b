// The gradient of the kernels where each channel is convolved by itself, on CUDA GPUs from compute capability 8.0 on:
// sums in f32, a part for each workgroup that has the channels, [parts, taps, channels], which another kernel adds up,
// always in the same order.
//
//   parts[part, tap, channel] = Σ x[…]·y[sample, line, row, channel] over the tiles of a workgroup
//
// The tiles, and who has what, are those of cuda_depthwise.cu; here a lane keeps the sums of all taps in registers. At
// the end the warps of a workgroup add theirs up, one after the other.
//
//   tile of results y      a lane: two channels, 2·l and 2·l + 1       at the end, where the tiles were:
//   ┌────────┬────────┬─   ┌───────────────────────────────────┐
//   │ warp 0 │ warp 1 │    │ sums[tap line][tap row] += x·y of │     shared[tap][lane]: warp 0's, then + warp 1's, …;
//   ├────────┼────────┼─   │ its warp's kLines x kRows results │     warp w stores the taps w, w + (number of warps), …
//   │ …      │ …      │    └───────────────────────────────────┘
//
// Bound by the multiplications: on an H200, 26 November 2026, bf16, 64×192×56×56 by 7×7, both directions take 394 µs,
// the result 133 of them. (The kernel is longer than other functions: its sums stay in registers throughout.)
$tiles
enum : u32 { kResultBytes = kTileLines * kTileRows * kPlace, kTileBytes = kImageBytes + kResultBytes };
TERN_DEVICE void fetch_tile(const Params& params, unsigned char* to, const unsigned char* image,
                            const unsigned char* results, u32 number, u32 channel) {
  let tile = tile_of(params, number);
  fetch_image(params, to, image, tile, channel);
  fetch_places<kTileLines, kTileRows>(to + kImageBytes, results + u64(tile.sample) * $result_sample * $element_bytes,
                                      i32(tile.line), i32(tile.row), channel, $channels, $out_lines, $out_rows,
                                      $result_line, $result_row);
}
struct Memory {
  const Params& params;
  $buffers
  __device__ __forceinline__ void part(f32 sum_0, f32 sum_1, u32 share, u32 tap, u32 channel) const {
    $store
  }
};
extern "C" __global__ void __launch_bounds__(kThreads, $resident) tern_kernel($parameters) {
  extern __shared__ __align__(128) unsigned char tiles[];
  const Memory memory{params$buffer_names};
  let image = reinterpret_cast<const unsigned char*>($image) + u64($image_base) * $element_bytes;
  let results = reinterpret_cast<const unsigned char*>($result) + u64($result_base) * $element_bytes;
  let mine = this_lane(params);
  let step = gridDim.x / $channel_groups, count = $samples * tiles_down(params) * tiles_along(params);
  Pair sums[kTapLines][kTapRows] = {};
  u32 number = blockIdx.x / $channel_groups, buffer = 0u;
  if (kBuffers == 2u && number < count) fetch_tile(params, tiles, image, results, number, mine.first_channel);
  end_of_fetches();
#pragma unroll 1
  for (; number < count; number += step) {
    let ahead = kBuffers == 2u ? number + step : number, to = kBuffers == 2u ? buffer ^ 1u : 0u;
    if (ahead < count) fetch_tile(params, tiles + to * kTileBytes, image, results, ahead, mine.first_channel);
    end_of_fetches();
    wait_for_fetches_but<kBuffers - 1u>();
    __syncthreads();
    const unsigned char* const tile = tiles + buffer * kTileBytes;
    Pair y[kLines][kRows];
#pragma unroll
    for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
      for (u32 k = 0u; k < kRows; ++k) {
        y[i][k] = pair_at(tile + kImageBytes + ((mine.line + i) * kTileRows + mine.row + k) * kPlace +
                          mine.lane * (kPlace / 32u));
        asm volatile("" : "+f"(y[i][k].x), "+f"(y[i][k].y));  // kept, as the weights there
      }
    each_meeting(tile, mine, [&](u32 tap, u32 k, u32 result, u32 place, const Pair& x) {
      sums[tap][k].x = fma(x.x, y[result][place].x, sums[tap][k].x);
      sums[tap][k].y = fma(x.y, y[result][place].y, sums[tap][k].y);
    });
    __syncthreads();
    buffer = kBuffers == 2u ? buffer ^ 1u : 0u;
  }
  Pair* const shared = reinterpret_cast<Pair*>(tiles) + mine.lane;
  let warp = threadIdx.x / 32u;
#pragma unroll 1
  for (u32 next = 0u; next < kThreads / 32u; ++next) {
    if (warp == next)
#pragma unroll
      for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
        for (u32 k = 0u; k < kTapRows; ++k) {
          Pair& total = shared[(i * kTapRows + k) * 32u];
          if (next == 0u) total = sums[i][k];
          else total = Pair{total.x + sums[i][k].x, total.y + sums[i][k].y};
        }
    __syncthreads();
  }
  if (mine.channel >= $channels) return;
  for (u32 tap = warp; tap < kTapLines * kTapRows; tap += kThreads / 32u)
    memory.part(shared[tap * 32u].x, shared[tap * 32u].y, blockIdx.x / $channel_groups, tap, mine.channel);
}
