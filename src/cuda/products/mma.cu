// A product of 16-bit floats with any formula as its epilogue, on tensor cores from compute capability 8.0 on: GPUs
// before Hopper, layouts that Hopper's copy engine does not take, and machines without NVRTC.
//
//   out[batch, m, n] = formula(Σ over segments and k of a[batch, segment, m, k] · b[batch, segment, k, n], operands…)
//
// with sums in f32. A segment is a place along contracted batch axes that are no longer k.
//
// A workgroup of eight warps, two by four, has one tile, of 128×256 (a warp 64×64) or 64×128 (a warp 32×32):
//
//            first_n
//            ┌────────┬────────┬────────┬────────┐
//   first_m  │ warp 0 │ warp 2 │ warp 4 │ warp 6 │  kWarpM rows
//            ├────────┼────────┼────────┼────────┤
//            │ warp 1 │ warp 3 │ warp 5 │ warp 7 │
//            └────────┴────────┴────────┴────────┘
//              kWarpN columns
//
// A warp's part consists of blocks of 16 rows and 8 columns, one instruction each (mma.m16n8k16). Of block (i, j), with
// kBlocksN blocks in a row and s = 4 (kBlocksN i + j), lane l has
//
//                    column 2 (l % 4)   the next one
//   row l / 4        acc[s]             acc[s + 1]
//   row l / 4 + 8    acc[s + 2]         acc[s + 3]
//
// Row tiles are traversed eight together (a band), column by column, so that they share columns of b in the cache.
//
// The pipeline. Steps of 64 elements along k go through a ring of three stages in workgroup memory, by copies that run
// on their own (cp.async); within a step, sixteen elements at a time go to registers, of which there are two sets:
//
//   memory → ring        │ step i + 2 on its way                                 │ step i + 3 …
//   ring → registers     │ k 16-31   │ k 32-47   │ k 48-63   │ k 0-15, next step │ k 16-31 …
//   tensor cores         │ k 0-15    │ k 16-31   │ k 32-47   │ k 48-63           │ k 0-15 …
//
// A factor's 16 bytes of neighbours lie along k or across it: ldmatrix transposes what lies across. A factor without
// such neighbours is fetched by elements.
//
// Speed. Bound by mma.sync itself, which on Hopper has 0.54 of wgmma's speed: on an H200, 22 November 2026, bf16 4096³
// 418 to 421 TFLOP/s and 8192×4096×16384 421 to 425, cuBLASLt 763 to 786 (docs/benchmarks_families.md). Of the larger,
// four stages of 64 elements 423 to 426, three 421 to 425, four of 32 elements 340; tiles of 128×128 with four warps
// 398 to 400, with three stages of 64 elements 387 to 395 (docs/tuning.md).
//
// The plan is that of CUTLASS's kernels for Ampere (https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/
// efficient_gemm.md); the instructions are those of ampere.cu. mma.cpp chooses the instance and fills the holes, $name.
// To read one with all of them filled: tests/golden/kernels.cu, or TERN_SHOW_KERNELS=1.

// The instance. (Enumerators, since constants at namespace scope become variables in the GPU's memory.)
enum : bool {
  kAAlongK = $a_along_k, kBAlongK = $b_along_k,  // neighbours in memory lie along k; else along m or n
  kAWide = $a_wide, kBWide = $b_wide,            // 16 bytes of them can be copied at once; else by elements
  kSegmented = $segmented,
  kRagged = $ragged,  // rows of results are stored by elements; else by 16 bytes and more
};
enum : u32 {
  kWarpsM = $warps_m, kWarpsN = $warps_n, kThreads = 32u * kWarpsM * kWarpsN,
  kWarpM = $warp_m, kWarpN = $warp_n,  // the part of a tile that a warp has
  kTileM = kWarpsM * kWarpM, kTileN = kWarpsN * kWarpN, kTileK = $tile_k,
  kStages = $stages,
  kBands = $bands,  // row tiles that are traversed together
  kBytesOfA = kTileM * kTileK * 2u, kStageBytes = kBytesOfA + kTileN * kTileK * 2u,
  kBlocksM = kWarpM / 16u, kBlocksN = kWarpN / 8u, kSumsOfRow = 4u * kBlocksN, kSums = kBlocksM * kSumsOfRow,
};

$instructions

// Bytes of 16 that are inside, of elements of 2 bytes, `left` of which follow.
TERN_DEVICE u32 tern_inside(bool inside, u32 at, u32 end) { return inside && at < end ? min(end - at, 8u) * 2u : 0u; }

$quad_rows

// ---- the formula ----
$formula
struct Epilogue {
  const Params& params;
  $buffers
  $batch_fields
  // Loads the operands for eight columns of a row from col on, applies the formula to their sums, and, where `inside`,
  // stores the results; of ragged rows only the column of sum e.
  __device__ __forceinline__ void columns(const Row8& sums, [[maybe_unused]] u32 e, [[maybe_unused]] u32 row,
                                          [[maybe_unused]] u32 col, [[maybe_unused]] bool inside) const {
    $columns
  }
};

// ---- the ring ----
// A factor: its elements, the first of this tile's batch, and its steps along m or n, and along k.
struct Factor {
  const u16* elements;
  u32 base, step, step_k;
};
// What is fetched next, and where to.
struct Next {
  u32 k, segment, filled;
};
TERN_DEVICE u32 next_stage(u32 at, u32 ring) {
  return at == ring + (kStages - 1u) * kStageBytes ? ring : at + kStageBytes;
}
// Sends a step of a factor on its way: to `at`, from element k on of what begins at `from`. `first`: of this tile,
// along m or n, of which there are `size`.
template <bool wide, bool along_k, u32 across>
TERN_DEVICE void fetch(const Params& params, Factor f, u32 from, u32 first, u32 size, u32 k, u32 at, u32 thread) {
#pragma unroll
  for (u32 i = 0u; i < across * kTileK / 8u / kThreads; ++i) {
    constexpr u32 in_row = (along_k ? kTileK : across) / 8u;
    let unit = thread + i * kThreads;
    let row = unit / in_row, part = unit % in_row;
    let other = along_k ? first + row : first + part * 8u, at_k = along_k ? k + part * 8u : k + row;
    let to = at + tern_place(row, part, along_k ? 2u * kTileK : 2u * across);
    if constexpr (wide) {
      let bytes = along_k ? tern_inside(other < size, at_k, $k) : tern_inside(at_k < $k, other, size);
      let source = bytes ? other * f.step + at_k * f.step_k : 0u;
      tern_copy(to, f.elements + (from + source), bytes);
    } else {
      u32 words[4];
#pragma unroll
      for (u32 e = 0u; e < 8u; ++e) {
        let it = along_k ? at_k + e : other + e;
        let inside = along_k ? other < size && it < $k : at_k < $k && it < size;
        let x = inside
            ? u32(f.elements[from + (along_k ? other : it) * f.step + (along_k ? it : at_k) * f.step_k]) : 0u;
        words[e / 2u] = e & 1u ? words[e / 2u] | x << 16u : x;
      }
      tern_put(to, words);
    }
  }
}
// Sends the next step on its way, where there is one, and counts on.
TERN_DEVICE void fetch_step(const Params& params, Factor a, Factor b, u32 first_m, u32 first_n, u32 thread, u32 ring,
                            Next& next) {
  if (kSegmented ? next.segment < $segments : next.k < $k) {
    [[maybe_unused]] let segment = next.segment;
    $segment_coordinates
    let from_a = a.base$a_at_segment;
    let from_b = b.base$b_at_segment;
    fetch<kAWide, kAAlongK, kTileM>(params, a, from_a, first_m, $m, next.k, next.filled, thread);
    fetch<kBWide, kBAlongK, kTileN>(params, b, from_b, first_n, $n, next.k, next.filled + kBytesOfA, thread);
    next.k += kTileK;
    if (kSegmented && next.k >= $k) { next.k = 0u, ++next.segment; }
  }
  tern_commit();
  next.filled = next_stage(next.filled, ring);
}

// Reads the blocks of a factor for elements [16 kk, 16 kk + 16) of k from the stage at `at`: of four matrices a lane's
// is lane / 8; of a the second is further along m, of b further along k. `warp`: where its part begins along m or n.
template <bool is_a, u32 count> TERN_DEVICE void load(u32 (&blocks)[count][4], u32 at, u32 warp, u32 kk, u32 lane) {
  constexpr bool along_k = is_a ? kAAlongK : kBAlongK;
  constexpr u32 across = is_a ? kTileM : kTileN;
  let low = lane >> 3u & 1u, high = lane >> 4u;
  let further = is_a ? low : high, further_k = is_a ? high : low;
#pragma unroll
  for (u32 i = 0u; i < count; ++i)
    if constexpr (along_k)
      tern_matrices<true>(blocks[i], at + tern_place(warp + i * 16u + further * 8u + (lane & 7u), kk * 2u + further_k,
                                                     2u * kTileK));
    else
      tern_matrices<false>(blocks[i], at + tern_place(kk * 16u + further_k * 8u + (lane & 7u),
                                                      warp / 8u + i * 2u + further, 2u * across));
}
TERN_DEVICE void multiply_blocks(f32 (&acc)[kSums], const u32 (&a)[kBlocksM][4], const u32 (&b)[kBlocksN / 2u][4]) {
#pragma unroll
  for (u32 i = 0u; i < kBlocksM; ++i)
#pragma unroll
    for (u32 j = 0u; j < kBlocksN; ++j)
      multiply(acc + (i * kBlocksN + j) * 4u, a[i], b[j / 2u][j % 2u * 2u], b[j / 2u][j % 2u * 2u + 1u]);
}

// Blocks of 16 rows take turns in the first sums; of 32 columns each lane of four takes eight.
TERN_DEVICE void finish(const Params& params, const Epilogue& epilogue, f32 (&acc)[kSums], u32 first_m, u32 first_n,
                        u32 lane) {
#pragma unroll 1
  for (u32 block = 0u; block < kBlocksM; ++block) {
#pragma unroll
    for (u32 first = 0u; first < kBlocksN; first += 4u)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        let sums = tern_quad_row((const f32 (*)[4])(acc + 4u * first), h);
        let its_row = first_m + block * 16u + 8u * h + lane / 4u, its_col = first_n + 8u * first + (lane & 3u) * 8u;
        if constexpr (kRagged) {
#pragma unroll
          for (u32 e = 0u; e < 8u; ++e)
            if (its_row < $m && its_col + e < $n) epilogue.columns(sums, e, its_row, its_col + e, true);
        } else {
          // Operands are loaded at a place inside wherever this one is: no branch keeps loads from running ahead.
          let row = min(its_row, $m - 1u), col = min(its_col, $n - 8u);
          epilogue.columns(sums, 0u, row, col, its_row == row && its_col == col);
        }
      }
#pragma unroll
    for (u32 i = 0u; i < kSums - kSumsOfRow; ++i) { acc[i] = acc[i + kSumsOfRow]; }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) tern_kernel($parameters) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, group = blockIdx.x, ring = tern_shared(memory);
  let tiles = $tiles_m * $tiles_n;
  [[maybe_unused]] let batch = group / tiles;
  let tile = group % tiles;
  let band = tile / (kBands * $tiles_n);
  let in_band = tile - band * kBands * $tiles_n;
  let rows = min(kBands, $tiles_m - band * kBands);
  let first_m = (band * kBands + in_band % rows) * kTileM;
  let first_n = in_band / rows * kTileN;
  let lane = thread & 31u, warp_m = thread / 32u % kWarpsM * kWarpM, warp_n = thread / (32u * kWarpsM) * kWarpN;
  $batch_coordinates
  const Factor a{(const u16*)$a, $a_base, $a_step, $a_step_k}, b{(const u16*)$b, $b_base, $b_step, $b_step_k};
  f32 acc[kSums] = {};
  u32 at = ring;
  Next next{0u, 0u, ring};
#pragma unroll 1
  for (u32 i = 0u; i < kStages - 1u; ++i) { fetch_step(params, a, b, first_m, first_n, thread, ring, next); }
  u32 of_a[2][kBlocksM][4], of_b[2][kBlocksN / 2u][4];  // alternately multiplied and read
  tern_wait_copies<kStages - 2u>();
  __syncthreads();
  load<true>(of_a[0], at, warp_m, 0u, lane), load<false>(of_b[0], at + kBytesOfA, warp_n, 0u, lane);
#pragma unroll 1
  for (u32 step = 0u; step < $steps; ++step) {
#pragma unroll
    for (u32 kk = 0u; kk < kTileK / 16u; ++kk) {
      if (kk + 1u == kTileK / 16u) {
        at = next_stage(at, ring);
        tern_wait_copies<kStages - 2u>();
        __syncthreads();
      }
      let ahead = (kk + 1u) % (kTileK / 16u);
      load<true>(of_a[ahead % 2u], at, warp_m, ahead, lane);
      load<false>(of_b[ahead % 2u], at + kBytesOfA, warp_n, ahead, lane);
      multiply_blocks(acc, of_a[kk % 2u], of_b[kk % 2u]);
      if (kk == 0u) fetch_step(params, a, b, first_m, first_n, thread, ring, next);
    }
  }
  tern_wait_copies<0>();
  const Epilogue epilogue{params$buffer_names$batch_names};
  finish(params, epilogue, acc, first_m + warp_m, first_n + warp_n, lane);
}
