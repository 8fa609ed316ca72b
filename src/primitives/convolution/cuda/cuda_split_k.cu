// Adds up the sums of a product that is split along k (src/cuda/products/wgmma.cu, kSplitK), in the order of its
// splits, into the gradient of a convolution's kernels [taps, channels, results]: a thread has four results.
//
//              results →                               rows of the product: channels of each tap, up to a multiple
//             ┌────┬────┬────┬────┬────┬───             of 64; columns: results. A box is a thread's.
//   tap 0,    │ t0 │ t1 │ t2 │ t3 │ t4 │ …
//   channels  ├────┼────┼────┼────┼────┼───             The sums of a tile, kRows x kTileN, are as often in memory as
//      ↓      │ …  │    │    │    │    │                pairs of workgroups had steps of it:
//             ├────┼────┴────┴────┴────┴───
//   tap 1     │ …  │                                      │ tile + first pair │ … │ tile + last pair │   added in order
//
// Bound by memory, of which most lies in the cache of the whole GPU: as many sums as the pairs of workgroups have
// splits. Of 256 channels it takes 9 µs, the product 108, on an H200, 26 November 2026, at the profiler's clock
// (docs/tuning.md).
enum : u32 { kTileN = $tile_n, kBands = $bands, kRows = $rows };

// The pair of workgroups whose split has a step.
TERN_DEVICE u32 pair_of(const Params& params, u32 step) {
  let steps = u64($works) * $steps;
  return u32(((u64(step) + 1u) * $shares + steps - 1u) / steps) - 1u;
}

extern "C" __global__ void __launch_bounds__(256) tern_kernel($parameters) {
  let item = blockIdx.x * 256u + threadIdx.x, quads = $results / 4u;
  let result = item % quads * 4u, tap = item / quads / $channels, channel = item / quads % $channels;
  if (tap >= $taps) return;
  let m = tap * (($channels + 63u) / 64u * 64u) + channel;
  let rows = m / kRows, columns = result / kTileN, band = rows / kBands;
  let work = band * kBands * $tiles + columns * min(kBands, $pairs - band * kBands) + rows % kBands;
  let row = m % kRows, col = result - min(columns * kTileN, $last_n);
  f32 sums[4] = {};
  let last = work + pair_of(params, work * $steps + $steps - 1u);
  for (u32 split = work + pair_of(params, work * $steps); split <= last; ++split) {
    $add
  }
  $store
}
