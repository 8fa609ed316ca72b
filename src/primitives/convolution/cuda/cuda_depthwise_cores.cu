// Each channel convolved by itself on tensor cores, with any formula as the epilogue, on CUDA GPUs from compute
// capability 8.0 on: images of 16 bits, up to 9 taps along the last axis and steps of 1 there; sums in f32.
//
//   out[sample, line, row, channel] = formula(Σ x[…]·w[tap, channel], operands…)   row: the place along the last axis
//
// For a channel and a line of taps, a row of 8 results is 16 places of the image times a band of weights. Of the
// multiplications 0.44 are by weights (7 taps), the rest by zeros, but tensor cores do 8 to 16 times as many as the
// other units do:
//
//   16 places of the image, k        the band, k x 8                    16 rows of 8 results
//                                    w0                                 (blocks: kSamples x kDown x kAlong of a tile),
//   x0 x1 x2 … x13 (x14 x15)    ·    w1 w0                          =   whose lines follow one another: a line of
//   and as many for each block       w2 w1 w0                           the image is read once for all it meets
//                                    …        … zeros elsewhere
//
// A workgroup has 32 channels, each of its eight warps four, whose bands stay in registers, and goes from tile to tile:
// while it computes one, the next one's part of the image is fetched. Sums leave through workgroup memory, so that
// eight invocations side by side store 32 channels of a place. A zero times an infinity is NaN, which reaches results
// that the infinity does not meet; so where a tile has a sum that is not finite, all its sums are computed one by one.
//
// Speed. Bound by the sums' way out, the products, and what is fetched, which overlap little: with 256 invocations and
// most registers taken there is one workgroup on a processor. On an H200, 30 November 2026, bf16, 64×192×56×56 by 7×7:
// 92 µs, by the units for f32 132; without the formula and the stores 60, without products 74 (docs/tuning.md).
$instructions
enum : u32 {
  kLines = $lines,                                           // of results, of a block; kTileRows: 8 of each
  kSamples = $tile_samples, kDown = $down, kAlong = $along,  // blocks of a tile
  kTapLines = $tap_lines, kTapRows = $tap_rows,
  kStrideLines = $stride_lines, kDilationLines = $dilation_lines, kDilationRows = $dilation_rows,
  kTileLines = kLines * kDown, kTileRows = 8u * kAlong,
  kSpanLines = (kLines - 1u) * kStrideLines + (kTapLines - 1u) * kDilationLines + 1u,  // of the image, of a block
  kImageLines = (kTileLines - kLines) * kStrideLines + kSpanLines, kImageRows = kTileRows + 8u,
  kChannels = 32u, kWarps = 8u, kThreads = 32u * kWarps,
  kPlace = 2u * kChannels, kLine = kImageRows * kPlace, kSample = kImageLines * kLine,  // bytes
  kImageBytes = kSamples * kSample, kBuffers = $buffers_of_tiles,
  kSumsOfPlace = 4u * kChannels, kSumsOfLine = 16u * 8u * kSumsOfPlace,
};
static_assert(kSamples * kDown * kAlong == 16u && (kTapRows - 1u) * kDilationRows <= 8u, "blocks and bands");
struct Pair {
  f32 x, y;
};
struct alignas(16) Four {
  f32 x[4];
};
struct Tile {
  u32 sample, line, row;
};
// Block m of a tile.
struct Block {
  u32 sample, down, along;
};
TERN_DEVICE Block block_of(u32 m) { return {m / kAlong / kDown, m / kAlong % kDown, m % kAlong}; }
TERN_DEVICE u32 begin_of(const Block& b) { return b.sample * kSample + b.down * kLines * kStrideLines * kLine; }
TERN_DEVICE u32 tiles_along(const Params& params) { return ($out_rows + (kTileRows - 1u)) / kTileRows; }
TERN_DEVICE u32 tiles_down(const Params& params) { return ($out_lines + (kTileLines - 1u)) / kTileLines; }
TERN_DEVICE Tile tile_of(const Params& params, u32 tile) {
  let along = tiles_along(params), down = tiles_down(params);
  return {tile / along / down * kSamples, tile / along % down * kTileLines, tile % along * kTileRows};
}
// Which of the four parts of a place, 16 bytes each, lies where part 0 would: eight invocations that read the same part
// at rows 0, 1, 2, 3, 8, 9, 10 and 11 meet all banks.
TERN_DEVICE u32 part_at(u32 row) { return (row >> 1u & 1u) | (row >> 2u & 2u); }
// Fetches what a tile meets: a warp a line, 8 places at a time; zeros for those outside.
TERN_DEVICE void fetch(const Params& params, u32 to, const unsigned char* image, const Tile& tile, u32 channel) {
  let lane = threadIdx.x % 32u, part = lane % 4u, c = channel + 8u * part;
  for (u32 i = threadIdx.x / 32u; i < kSamples * kImageLines; i += kWarps) {
    let sample = tile.sample + i / kImageLines;
    let y = u32(i32(tile.line * kStrideLines + i % kImageLines) - i32($before_lines));
    let whole = sample < $samples && y < $in_lines && c < $channels;
    let line = image + (u64(sample) * $image_sample + u64(y) * $image_line + c) * 2u;
#pragma unroll
    for (u32 j = 0u; j <= kAlong; ++j) {
      let row = 8u * j + lane / 4u, x = u32(i32(tile.row + row) - i32($before_rows));
      let inside = whole && x < $in_rows;
      tern_copy(to + i * kLine + row * kPlace + ((part ^ part_at(row)) << 4u),
                inside ? line + u64(x) * $image_row * 2u : image, inside ? 16u : 0u);
    }
  }
}
$formula
struct Memory {
  const Params& params;
  $buffers
  __device__ __forceinline__ Pair weight([[maybe_unused]] u32 tap_line, u32 tap_row, u32 channel) const {
    $load_w
    return {$w_0, $w_1};
  }
  __device__ __forceinline__ void finish(f32 sum_0, f32 sum_1, f32 sum_2, f32 sum_3, u32 sample,
                                         [[maybe_unused]] u32 line, u32 row, u32 col) const {
    $finish
  }
  // Of four channels at a place (slot) of line i of the tile's blocks.
  template <class Sums>
  __device__ __forceinline__ void finish_place(const Tile& tile, u32 i, u32 slot, u32 channel, const Sums& sums) const {
    const Block b = block_of(slot / 8u);
    let sample = tile.sample + b.sample, line = tile.line + b.down * kLines + i;
    let row = tile.row + b.along * 8u + slot % 8u;
    if (sample >= $samples || line >= $out_lines || row >= $out_rows || channel >= $channels) return;
    const Four sum = sums(b);
    finish(sum.x[0], sum.x[1], sum.x[2], sum.x[3], sample, line, row, channel);
  }
};
TERN_DEVICE f32 low_of(u32 word) { return $low; }
TERN_DEVICE f32 high_of(u32 word) { return $high; }
TERN_DEVICE u32 joined(f32 low, f32 high) { return $joined; }
// The bands of four channels: what a lane has of the matrices b of the products, whose k is the place of the image
// 0, 4 (elements 0 and 1 of lane 0), 1, 5, 2, 6, 3, 7 and 8 more, so that lanes read places side by side.
using Bands = u32[kTapLines][4][2];
TERN_DEVICE void load_bands(const Params& params, const Memory& memory, u32 channel, Bands& bands) {
  let lane = threadIdx.x % 32u;
#pragma unroll
  for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
    for (u32 pair = 0u; pair < 2u; ++pair) {
      Pair w[4] = {};
#pragma unroll
      for (u32 k = 0u; k < 4u; ++k) {
        let ahead = lane % 4u + 4u * k - lane / 4u, tap = ahead / kDilationRows;  // before the band: a huge number
        if (ahead % kDilationRows == 0u && tap < kTapRows && channel < $channels)
          w[k] = memory.weight(i, tap, channel + 2u * pair);
      }
#pragma unroll
      for (u32 half = 0u; half < 2u; ++half) {
        bands[i][2u * pair][half] = joined(w[2u * half].x, w[2u * half + 1u].x);
        bands[i][2u * pair + 1u][half] = joined(w[2u * half].y, w[2u * half + 1u].y);
      }
    }
}
using Sums = f32[kLines][4][4];  // lines, channels, and what a lane has of a product
// `mine`: where the lane's block and channels begin in the image.
TERN_DEVICE void add_products(const unsigned char* image, u32 mine, const Bands& bands, Sums& sums) {
  // From block m to m + 8.
  constexpr u32 kUpper = kAlong == 16u           ? 64u * kPlace
                         : kAlong * kDown == 16u ? 8u / kAlong * kLines * kStrideLines * kLine
                                                 : 8u / (kAlong * kDown) * kSample;
  const unsigned char* const ends[2] = {image + mine, image + (mine ^ 32u) + 8u * kPlace};
#pragma unroll
  for (u32 i = 0u; i < kSpanLines; ++i) {
    u32 a[4][4];
#pragma unroll
    for (u32 upper = 0u; upper < 2u; ++upper)
#pragma unroll
      for (u32 end = 0u; end < 2u; ++end) {
        const unsigned char* const from = ends[end] + i * kLine + upper * kUpper;
        let first = *reinterpret_cast<const u64*>(from), second = *reinterpret_cast<const u64*>(from + 4u * kPlace);
#pragma unroll
        for (u32 pair = 0u; pair < 2u; ++pair) {
          let x = u32(first >> 32u * pair), y = u32(second >> 32u * pair);
          a[2u * pair][2u * end + upper] = __byte_perm(x, y, 0x5410u);
          a[2u * pair + 1u][2u * end + upper] = __byte_perm(x, y, 0x7632u);
        }
      }
#pragma unroll
    for (u32 result = 0u; result < kLines; ++result) {
      // Conditions of constants, as the loops are unrolled.
      if (i < result * kStrideLines || (i - result * kStrideLines) % kDilationLines != 0u) continue;
      let tap = (i - result * kStrideLines) / kDilationLines;
      if (tap >= kTapLines) continue;
#pragma unroll
      for (u32 c = 0u; c < 4u; ++c) multiply(sums[result][c], a[c], bands[tap][c][0], bands[tap][c][1]);
    }
  }
}
TERN_DEVICE bool all_finite(const Sums& sums) {
  f32 zeros[4] = {};
#pragma unroll
  for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
    for (u32 c = 0u; c < 4u; ++c)
#pragma unroll
      for (u32 e = 0u; e < 4u; ++e) zeros[c] = fma(sums[i][c][e], 0.0f, zeros[c]);
  return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0.0f;
}
// Where four channels of a place begin, in what sums leave through: eight lanes that write the same channels at eight
// places, and eight that read all of one place, meet all banks.
TERN_DEVICE u32 sums_at(u32 slot, u32 four) {
  return slot * kSumsOfPlace + ((four ^ (slot >> 1u & 7u)) << 4u);
}
TERN_DEVICE void finish_tile(const Memory& memory, const Tile& tile, unsigned char* through, u32 channel,
                             const Sums& sums) {
  let lane = threadIdx.x % 32u, warp = threadIdx.x / 32u, four = threadIdx.x % 8u;
#pragma unroll
  for (u32 i = 0u; i < kLines; ++i) {
    unsigned char* const line = through + i % 2u * kSumsOfLine;
#pragma unroll
    for (u32 e = 0u; e < 4u; ++e)
      *reinterpret_cast<Four*>(line + sums_at((lane / 4u + e / 2u * 8u) * 8u + lane % 4u * 2u + e % 2u, warp)) = {
          {sums[i][0][e], sums[i][1][e], sums[i][2][e], sums[i][3][e]}};
    __syncthreads();
#pragma unroll
    for (u32 k = 0u; k < 4u; ++k) {
      let slot = threadIdx.x / 8u + k * (kThreads / 8u);
      memory.finish_place(tile, i, slot, channel + 4u * four, [&](const Block&) {
        return *reinterpret_cast<const Four*>(line + sums_at(slot, four));
      });
    }
  }
}
// Without the zeros of the bands.
TERN_DEVICE void finish_tile_singly(const Memory& memory, const Tile& tile, const unsigned char* image, u32 channel) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < kLines * 16u * 8u * 8u; n += kThreads) {
    let four = n % 8u, slot = n / 8u % 128u, i = n / 1024u, first = channel + 4u * four;
    memory.finish_place(tile, i, slot, first, [&](const Block& b) {
      Four sum = {};
      for (u32 tap_line = 0u; tap_line < kTapLines; ++tap_line)
        for (u32 k = 0u; k < kTapRows; ++k) {
          let row = 8u * b.along + slot % 8u + k * kDilationRows;
          let words = *reinterpret_cast<const u64*>(
              image + begin_of(b) + (i * kStrideLines + tap_line * kDilationLines) * kLine + row * kPlace +
              ((four / 2u ^ part_at(row)) << 4u) + four % 2u * 8u);
          const Pair w[2] = {memory.weight(tap_line, k, first), memory.weight(tap_line, k, first + 2u)};
#pragma unroll
          for (u32 pair = 0u; pair < 2u; ++pair) {
            let word = u32(words >> 32u * pair);
            sum.x[2u * pair] = fma(low_of(word), w[pair].x, sum.x[2u * pair]);
            sum.x[2u * pair + 1u] = fma(high_of(word), w[pair].y, sum.x[2u * pair + 1u]);
          }
        }
      return sum;
    });
  }
}
extern "C" __global__ void __launch_bounds__(kThreads, $resident) tern_kernel($parameters) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Memory global{params$buffer_names};
  let image = reinterpret_cast<const unsigned char*>($image) + u64($image_base) * 2u;
  let channel = blockIdx.x % $channel_groups * kChannels, lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
  let step = gridDim.x / $channel_groups;
  let count = ($samples + (kSamples - 1u)) / kSamples * tiles_down(params) * tiles_along(params);
  Bands bands;
  load_bands(params, global, channel + 4u * warp, bands);
  const Block block = block_of(lane / 4u);
  let row = 8u * block.along + lane % 4u;
  let mine = begin_of(block) + row * kPlace + ((warp / 2u ^ part_at(row)) << 4u) + warp % 2u * 8u;
  u32 number = blockIdx.x / $channel_groups, buffer = 0u;
  if (kBuffers == 2u && number < count) fetch(params, tern_shared(memory), image, tile_of(params, number), channel);
  tern_commit();
#pragma unroll 1
  for (; number < count; number += step) {
    let ahead = kBuffers == 2u ? number + step : number, to = kBuffers == 2u ? buffer ^ 1u : 0u;
    if (ahead < count)
      fetch(params, tern_shared(memory) + to * kImageBytes, image, tile_of(params, ahead), channel);
    tern_commit();
    tern_wait_copies<kBuffers - 1u>();
    __syncthreads();
    const unsigned char* const here = memory + buffer * kImageBytes;
    const Tile tile = tile_of(params, number);
    Sums sums = {};
    add_products(here, mine, bands, sums);
    if (__syncthreads_or(!all_finite(sums))) finish_tile_singly(global, tile, here, channel);
    else finish_tile(global, tile, memory + kBuffers * kImageBytes, channel, sums);
    __syncthreads();
    buffer = kBuffers == 2u ? buffer ^ 1u : 0u;
  }
}
