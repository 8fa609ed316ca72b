// What the kernels for channels by themselves share (cuda_depthwise.cu, cuda_depthwise_weight.cu, which say what bounds
// them and what they reached): tiles of an image, fetched into workgroup memory while the one before is computed.
//
//               kTileRows results of one sample           kImageRows places of the image that those read
//              ┌────────┬────────┬───                    ┌───────────────
//   kTileLines │ warp 0 │ warp 1 │ …                     │ 64 channels at each place, kPlace bytes: 16 bytes a
//     results  ├────────┼────────┼───    kImageLines     │ thread and fetch; lane l of a warp reads channels 2·l and
//              │ …      │ …      │                       │ 2·l + 1, so that its warp reads whole lines of banks
//              └────────┴────────┴───                    └───────────────
//
// A lane has kLines x kRows results, and of the image the kSpanLines x kSpanRows places that meet them; kBuffers images
// are in workgroup memory, of which one is computed with and the others are on their way.
enum : u32 {
  kLines = $lines, kRows = $rows,  // of results, of a lane
  kWarpLines = $warp_lines, kWarpRows = $warp_rows, kThreads = 32u * kWarpLines * kWarpRows,
  kTapLines = $tap_lines, kTapRows = $tap_rows,
  kStrideLines = $stride_lines, kStrideRows = $stride_rows,
  kDilationLines = $dilation_lines, kDilationRows = $dilation_rows,
  kTileLines = kLines * kWarpLines, kTileRows = kRows * kWarpRows,
  kSpanLines = (kLines - 1u) * kStrideLines + (kTapLines - 1u) * kDilationLines + 1u,  // of the image, of a lane
  kSpanRows = (kRows - 1u) * kStrideRows + (kTapRows - 1u) * kDilationRows + 1u,
  kImageLines = (kTileLines - kLines) * kStrideLines + kSpanLines,
  kImageRows = (kTileRows - kRows) * kStrideRows + kSpanRows,
  kPlace = $place_bytes,  // bytes of 64 channels
  kImageBytes = kImageLines * kImageRows * kPlace,
  kBuffers = $buffers_of_tiles,
};
struct Pair {
  f32 x, y;
};
// The two channels of a lane at a place.
TERN_DEVICE Pair pair_at(const unsigned char* at) {
  $pair_of
}
// Fetches 16 bytes, or zeros.
TERN_DEVICE void fetch_vector(void* to, const unsigned char* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(u32(__cvta_generic_to_shared(to))), "l"(from), "r"(inside ? 16u : 0u) : "memory");
}
TERN_DEVICE void end_of_fetches() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <u32 count> TERN_DEVICE void wait_for_fetches_but() {
  asm volatile("cp.async.wait_group %0;" :: "n"(count) : "memory");
}
// Places [lines, rows] of an image from (line, row) on, zeros for those outside; steps are elements.
template <u32 lines, u32 rows>
TERN_DEVICE void fetch_places(unsigned char* to, const unsigned char* image, i32 line, i32 row, u32 channel,
                              u32 channels, u32 all_lines, u32 all_rows, u32 step_line, u32 step_row) {
  constexpr u32 vectors = kPlace / 16u, channels_of_vector = 64u / vectors;
#pragma unroll 4
  for (u32 i = threadIdx.x; i < lines * rows * vectors; i += kThreads) {
    let place = i / vectors, vector = i % vectors;
    let y = u32(line + i32(place / rows)), x = u32(row + i32(place % rows)), c = channel + vector * channels_of_vector;
    let inside = y < all_lines && x < all_rows && c < channels;
    let from = image + u64(y * step_line + x * step_row + c) * $element_bytes;
    fetch_vector(to + i * 16u, inside ? from : image, inside);
  }
}
struct Tile {
  u32 sample, line, row;
};
TERN_DEVICE u32 tiles_along(const Params& params) { return ($out_rows + (kTileRows - 1u)) / kTileRows; }
TERN_DEVICE u32 tiles_down(const Params& params) { return ($out_lines + (kTileLines - 1u)) / kTileLines; }
TERN_DEVICE Tile tile_of(const Params& params, u32 tile) {
  let along = tiles_along(params), down = tiles_down(params);
  return {tile / along / down, tile / along % down * kTileLines, tile % along * kTileRows};
}
TERN_DEVICE void fetch_image(const Params& params, unsigned char* to, const unsigned char* image, const Tile& tile,
                             u32 channel) {
  fetch_places<kImageLines, kImageRows>(
      to, image + u64(tile.sample) * $image_sample * $element_bytes,
      i32(tile.line * kStrideLines) - i32($before_lines), i32(tile.row * kStrideRows) - i32($before_rows), channel,
      $channels, $in_lines, $in_rows, $image_line, $image_row);
}
// What a lane has: channels, and within a tile the first line and row.
struct Lane {
  u32 first_channel, channel, line, row, lane;
};
TERN_DEVICE Lane this_lane(const Params& params) {
  let lane = threadIdx.x % 32u, warp = threadIdx.x / 32u, first = blockIdx.x % $channel_groups * 64u;
  return {first, first + 2u * lane, warp / kWarpRows * kLines, warp % kWarpRows * kRows, lane};
}
// Calls f(tap line, tap row, result line, result row, pair of the image) for all that meet.
template <class F> TERN_DEVICE void each_meeting(const unsigned char* image, const Lane& mine, const F& f) {
  const unsigned char* const at =
      image + (mine.line * kStrideLines * kImageRows + mine.row * kStrideRows) * kPlace + mine.lane * (kPlace / 32u);
#pragma unroll
  for (u32 i = 0u; i < kSpanLines; ++i) {
    Pair x[kSpanRows];
#pragma unroll
    for (u32 k = 0u; k < kSpanRows; ++k) x[k] = pair_at(at + (i * kImageRows + k) * kPlace);
#pragma unroll
    for (u32 result = 0u; result < kLines; ++result) {
      // Conditions of constants, as the loops are unrolled.
      if (i < result * kStrideLines || (i - result * kStrideLines) % kDilationLines != 0u) continue;
      let tap = (i - result * kStrideLines) / kDilationLines;
      if (tap >= kTapLines) continue;
#pragma unroll
      for (u32 k = 0u; k < kTapRows; ++k)
#pragma unroll
        for (u32 place = 0u; place < kRows; ++place)
          f(tap, k, result, place, x[place * kStrideRows + k * kDilationRows]);
    }
  }
}
