// Where the next step along k lies in the factors of a convolution, of which a is the windows of an image: a piece of
// src/cuda/products/wgmma.cu. The copy engine reads the image [samples, places along kAxes axes, channels] where it
// lies (its mode im2col): a box is 64 channels of 64 or 128 places of the result, one after the other from line to line
// and sample to sample, each moved by the tap (element of the kernel); zeros stand for what lies outside.
//
//   kAAlongK     rows are places; k: of each tap all channels, in steps of 64      result, and gradient of the image
//   else         rows are channels of each tap, in blocks of 64; k: places         gradient of the kernels
//
// Where channels are no multiple of 64, the last step of a tap begins earlier (kSkipped), or has zeros.
//
// In the first b is a matrix [channels, results] for each tap, which kFlipped counts backwards; in the second the
// gradient of the result. Numbers of an axis, the last axis first: places of the result, stride, what lies before the
// image, elements of the kernel, dilation, their product. Behind them: channels, and taps.
//
// Speed. Bound as that kernel is, and with 64 channels by what is fetched: each element nine times for a kernel of 3×3.
// On an H200, 26 November 2026, bf16, forward: 64×256×28×28 → 256 in 78 µs, 763 TFLOP/s, 64×512×14×14 → 512 85 µs, 697,
// 64×64×56×56 → 64 46 µs, 320; beside cuDNN 1.05, 0.95 and 0.99 of its speed (docs/benchmarks_families.md,
// docs/tuning.md).
enum : u32 { kAxes = $axes, kBlocks = kAAlongK ? 1u : kTileM / 64u };
enum : bool { kFlipped = $flipped };

struct Place {
  i32 at[kAxes];
  u32 sample;
};
struct Tap {
  u32 at[kAxes];
  u32 number, channel;
};
TERN_DEVICE u32 number_of(const Params& params, u32 axis, u32 which) { return params.v[$numbers + 6u * axis + which]; }
TERN_DEVICE u32 channels_of(const Params& params) { return params.v[$numbers + 6u * kAxes]; }
TERN_DEVICE u32 taps_of(const Params& params) { return params.v[$numbers + 6u * kAxes + 1u]; }
// What the first tap meets at a place of the result.
TERN_DEVICE Place place_of(const Params& params, u32 place) {
  Place p;
#pragma unroll
  for (u32 i = 0u; i < kAxes; ++i) {
    let rest = place / number_of(params, i, 0u);
    p.at[i] = i32((place - rest * number_of(params, i, 0u)) * number_of(params, i, 1u)) - i32(number_of(params, i, 2u));
    place = rest;
  }
  p.sample = place;
  return p;
}
// Of a block of 64 channels. Behind the last tap stands the last one: rows that are not used.
TERN_DEVICE Tap tap_of(const Params& params, u32 block) {
  let blocks = (channels_of(params) + 63u) / 64u;
  Tap t;
  t.number = min(block / blocks, taps_of(params) - 1u), t.channel = block % blocks * 64u;
  if (kSkipped > 0u) t.channel = min(t.channel, channels_of(params) - 64u);
  u32 rest = t.number;
#pragma unroll
  for (u32 i = 0u; i < kAxes; ++i) {
    t.at[i] = rest % number_of(params, i, 3u) * number_of(params, i, 4u);
    rest /= number_of(params, i, 3u);
  }
  return t;
}
TERN_DEVICE void advance_tap(const Params& params, Tap& t) {
  let left = channels_of(params) - t.channel;
  if (left > 64u) {
    t.channel += kSkipped > 0u ? min(left - 64u, 64u) : 64u;
    return;
  }
  t.channel = 0u, ++t.number;
#pragma unroll
  for (u32 i = 0u; i < kAxes; ++i) {
    t.at[i] += number_of(params, i, 4u);
    if (t.at[i] < number_of(params, i, 5u)) return;
    t.at[i] = 0u;
  }
}
TERN_DEVICE void fetch_windows(u32 to, const BoxMap& map, const Place& p, const Tap& t, u32 barrier, u64 policy) {
  if constexpr (kAxes == 1u)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4}], [%5], {%6}, %7;"
        :: "r"(to), "l"(&map), "r"(t.channel), "r"(p.at[0]), "r"(p.sample), "r"(barrier), "h"(u16(t.at[0])),
        "l"(policy) : "memory");
  else if constexpr (kAxes == 2u)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;"
        :: "r"(to), "l"(&map), "r"(t.channel), "r"(p.at[0]), "r"(p.at[kAxes - 1u]), "r"(p.sample), "r"(barrier),
        "h"(u16(t.at[0])), "h"(u16(t.at[kAxes - 1u])), "l"(policy) : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10}, %11;"
        :: "r"(to), "l"(&map), "r"(t.channel), "r"(p.at[0]), "r"(p.at[kAxes / 2u]), "r"(p.at[kAxes - 1u]),
        "r"(p.sample), "r"(barrier), "h"(u16(t.at[0])), "h"(u16(t.at[kAxes / 2u])), "h"(u16(t.at[kAxes - 1u])),
        "l"(policy) : "memory");
}

struct Steps {
  Place place;
  Tap taps[kBlocks];
  u32 k, last_tap;
  __device__ __forceinline__ Steps(const Params& params, const Tile& tile)
      : place(place_of(params, kAAlongK ? tile.first_m : tile.begin)), k(tile.begin), last_tap(taps_of(params) - 1u) {
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i) taps[i] = tap_of(params, (kAAlongK ? k : tile.first_m) / 64u + i);
  }
  __device__ __forceinline__ void fetch_a(const BoxMap& map, u32 to, u32 full, u64 policy) const {
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i) fetch_windows(to + i * kBoxOf64, map, place, taps[i], full, policy);
  }
  __device__ __forceinline__ u32 k_of_b() const { return kAAlongK ? taps[0].channel : k; }
  __device__ __forceinline__ u32 batch_of_b() const {
    return !kAAlongK ? 0u : kFlipped ? last_tap - taps[0].number : taps[0].number;
  }
  __device__ __forceinline__ void advance(const Params& params) {
    k += kTileK;
    if constexpr (kAAlongK) advance_tap(params, taps[0]);
    else place = place_of(params, k);
  }
};
