// A product of 16-bit floats with any formula as its epilogue, for compute capability 9.0 (Hopper).
//
//   out[batch, m, n] = formula(a[batch, m, k] · b[batch, k, n], operands…)      sums in f32
//
// Work. A persistent kernel: one workgroup on each processor, in pairs (clusters) whose tiles lie one below the other
// and share the columns of b. A pair goes from pair of tiles to pair of tiles; eight pairs of rows (a band) are
// traversed together, column by column, so that the cache of the whole GPU serves a band's rows of a again and again.
//
//                  b        kTileN
//                  ┌───────┬───────┬───────┐
//                k │       │       │       │        numbers: the order of the traversal, in a band of two pairs of rows
//        k         │       │       │       │
//   a ┌───────┐    ├───────┼───────┼───────┤
//     │       │    │   1   │   3   │   5   │  kTileM rows: workgroup of rank 0 ┐ of the pair that
//     ├───────┤    ├───────┼───────┼───────┤                                   │ takes 1, then 1 + as many
//     │       │    │   1   │   3   │   5   │  kTileM rows: workgroup of rank 1 ┘ as there are pairs, …
//     ├───────┤    ├───────┼───────┼───────┤
//     │       │    │   2   │   4   │   6   │
//
// Of the 384 threads of a workgroup
//
//   0 to 127     producer: thread 0 has the copy engine (TMA) fetch boxes of a and b into the ring
//   128 to 255   consumer, member 0 ┐ a warp group each: they multiply (wgmma), apply the formula to the sums in their
//   256 to 383   consumer, member 1 ┘ registers, and store the results
//
// The ring in workgroup memory has kStages stages of a[128×64] and b[64×kTileN]: rows of 128 bytes, swizzled. Each
// workgroup fetches its own a, and half of b for both. Stage i has two barriers: full[i] counts bytes that arrive,
// empty[i] the consumers of both workgroups that have read it.
//
//   producer   │fetch 0│fetch 1│fetch 2│fetch 3│ wait for empty[0] │fetch 0 …
//   member 0           │ multiply tile 0 … │ formula, tile 0 │ multiply tile 2 …
//   member 1                               │ multiply tile 1 │ formula, tile 1 │ …      kPingPong: a tile each
//
// Without kPingPong each member has 64 of a tile's 128 rows, and member 1 stays two stages behind: for products of few
// tiles, and of few long rows, whose b would be read more often.
//
// Sums. Of 64 rows, warp w of the four has rows 16 w to 16 w + 15, and of each block of eight columns j its lane l has
//
//   row l / 4:      column 8 j + 2 (l % 4) → acc[4 j],      the next one → acc[4 j + 1]
//   row l / 4 + 8:  column 8 j + 2 (l % 4) → acc[4 j + 2],  the next one → acc[4 j + 3]
//
// and, of the second 64 rows of a tile (kPingPong), the same from acc[kSumsOf64] on. Outputs of 16 bits are staged:
// they go through workgroup memory in boxes of 32 columns, which the copy engine stores; others leave from registers.
//
// Where the next step along k lies in the factors is told by Steps ($steps): of matrices wgmma_matrices.cu, and of
// images that meet a kernel src/primitives/convolution/cuda/cuda_windows.cu.
//
// Split-K (kSplitK), for few tiles of a long k: the steps of all tiles, one tile after the other, are a line, of which
// each pair takes an even part. Its split of a tile is a result of its own, in f32; a second kernel adds up the splits,
// always in the same order.
//
//   tile    │     0     │     1     │     2     │
//   pair    │  0  │  1  │  2  │  3  │  4  │  5  │     five pairs: 0 0 │ 0 1 1 │ 1 … result = tile + pair
//
// Speed. Bound by the matrix units, and they by the power of the chip. On an H200, 27 November 2026, 8192×4096×16384 in
// bf16 (docs/benchmarks.md): with gelu 734 TFLOP/s, 0.97 of the plain product by cuBLASLt in the same run.
//
// The plans are those of CUTLASS's ping-pong and cooperative kernels
// (https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md). The instructions are those of
// hopper.cu. wgmma.cpp chooses the instance and fills the holes, $name. To read one with all of them filled:
// tests/golden/kernels.cu, or TERN_SHOW_KERNELS=1. (Longer than other files: one kernel, and how
// it works.)

// The instance. (Enumerators, since constants at namespace scope become variables in the GPU's memory.)
enum : bool {
  kPingPong = $ping_pong,
  kAAlongK = $a_along_k, kBAlongK = $b_along_k,  // neighbours in memory lie along k; else along m or n
  kABatched = $a_batched, kBBatched = $b_batched,
  kSplitK = $split_k,
  kKeepsA = $keeps_a,  // in the cache of the whole GPU, where a band's rows fit
};
enum : u32 {
  kTileM = $tile_m, kTileN = $tile_n, kTileK = $tile_k,  // 64 along k: 128 bytes, a row of a swizzled box
  kStages = $stages,
  // Of each so many steps along k the last one's first elements are not multiplied: the step before had them, too.
  kSkipped = kAAlongK ? $skipped : 0u, kStepsOfSkip = $steps_of_skip,
  kBands = $bands,  // pairs of rows of tiles traversed together
  kStagedOutputs = $staged_outputs,
  kPlaces = $places,  // for boxes of results
  kHalves = kPingPong ? 2u : 1u,  // of a tile's rows, of one consumer
  kSumsOf64 = kTileN / 2u, kSums = kHalves * kSumsOf64,  // of one thread
  kBoxOf64 = 64u * 128u,  // bytes of a box of 64 rows
  kBytesOfA = kTileM * 128u, kStageBytes = kBytesOfA + kTileN * 128u,
  kColumns = $box_columns, kBoxes = kTileN / kColumns,  // boxes of results
  kResultsOf64 = 64u * kColumns * 2u,  // bytes of 64 rows of one
};
static_assert($results_begin + 2u * $most_places * kHalves * kResultsOf64 + 1024u == $shared_bytes, "workgroup memory");

$instructions
// ---- products ----
// 64 rows, 16 elements of k, added to the sums from acc[first] on, which it sets where `add` is 0. The last two numbers
// of the instruction: whether a and b lie across k.
template <u32 first> TERN_DEVICE void multiply_64(f32 (&acc)[kSums], u64 a, u64 b, u32 add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %$number_of_add, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n$tile_n" "k16.f32.$type.$type {$registers}, "
      "%$number_of_a, %$number_of_b, p, 1, 1, $a_across, $b_across;\n}"
      : $sums
      : "l"(a), "l"(b), "r"(add));
}
TERN_DEVICE void multiply(f32 (&acc)[kSums], u64 a, u64 b, u32 add) {
  multiply_64<0u>(acc, a, b, add);
  if constexpr (kPingPong) multiply_64<kSums - kSumsOf64>(acc, a + kBoxOf64 / 16u, b, add);
}
template <u32 first> TERN_DEVICE void wait_for_products_of_64(f32 (&acc)[kSums]) {
  if constexpr (first == 0u) asm volatile("wgmma.wait_group.sync.aligned 0;" : $sums :: "memory");
  else asm volatile("" : $sums :: "memory");
}
TERN_DEVICE void wait_for_products(f32 (&acc)[kSums]) {
  wait_for_products_of_64<0u>(acc);
  if constexpr (kPingPong) wait_for_products_of_64<kSums - kSumsOf64>(acc);
}

// ---- the formula ----
$formula
struct Epilogue {
  const Params& params;
  $buffers
  // Loads the operands for the columns col + ahead and the next one of a row, applies the formula to their sums, and
  // stores the results, or puts them into a word of each staged output.
  __device__ __forceinline__ void two_columns(f32 sum_0, f32 sum_1, [[maybe_unused]] u32 batch,
                                              [[maybe_unused]] u32 row, [[maybe_unused]] u32 col,
                                              [[maybe_unused]] u32 ahead, [[maybe_unused]] u32 (&words)[2][4],
                                              [[maybe_unused]] u32 word) const {
    // Sums stay floats: where a formula stores their bits as they are, the compiler would keep integers, and wait for
    // each product of the matrix units before the next.
    asm("" : "+f"(sum_0), "+f"(sum_1));
    $two_columns
  }
};

// ---- tiles ----
struct Tile {
  u32 batch, first_m, first_n;
  u32 begin, end;  // along k
};
TERN_DEVICE Tile tile_of(const Params& params, u32 work, u32 rank) {
  let in_batch = $pairs * $tiles;
  let batch = work / in_batch;
  let tile = work % in_batch;
  let band = tile / (kBands * $tiles);
  let in_band = tile - band * kBands * $tiles;
  let pairs = min(kBands, $pairs - band * kBands);
  return {batch, ((band * kBands + in_band % pairs) * 2u + rank) * kTileM,
          min(in_band / pairs * kTileN, $last_n), 0u, $k};
}
// What a pair of workgroups takes: tiles as far apart as there are pairs, or, of split-K, its part of all their steps.
struct Share {
  const Params& params;
  u32 pair, at, end;
  __device__ __forceinline__ Share(const Params& p, u32 group) : params(p), pair(group / 2u), at(pair), end($works) {
    if constexpr (kSplitK) at = first_step(pair), end = first_step(pair + 1u);
  }
  __device__ __forceinline__ u32 steps() const { return ($k + (kTileK - 1u)) / kTileK; }  // of a tile
  __device__ __forceinline__ u32 first_step(u32 of) const { return u32(u64($works * steps()) * of / (gridDim.x / 2u)); }
  __device__ __forceinline__ u32 next() const {
    if constexpr (kSplitK) return min(end, (at / steps() + 1u) * steps());
    else return at + gridDim.x / 2u;
  }
  __device__ __forceinline__ bool any() const { return at < end; }
  __device__ __forceinline__ bool more() const { return next() < end; }
  __device__ __forceinline__ void advance() { at = next(); }
  __device__ __forceinline__ Tile tile(u32 rank) const {
    if constexpr (!kSplitK) return tile_of(params, at, rank);
    Tile tile = tile_of(params, at / steps(), rank);
    tile.begin = at % steps() * kTileK, tile.end = tile.begin + (next() - at) * kTileK;
    return tile;
  }
  // Where the results of a tile go.
  __device__ __forceinline__ Tile results(const Tile& tile, u32 rank) const {
    return kSplitK ? Tile{at / steps() + pair, rank * kTileM, 0u, 0u, 0u} : tile;
  }
};

// Where a workgroup's memory begins: the ring, its barriers (full, then empty), and boxes of results.
struct Memory {
  u32 ring, barriers, results;
};
// The stage of the ring that comes next, and the parity of the round through it.
struct Ring {
  u32 stage, round;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) { stage = 0u, round ^= 1u; }
  }
};

// ---- producer ----
$steps
// Each workgroup of the pair fetches half of b for both: half the columns, or half of k.
TERN_DEVICE void fetch_b(const BoxMap& map, const Tile& tile, const Steps& steps, u32 rank, u32 at, u32 full,
                         u64 policy) {
  constexpr bool by_k = !kBAlongK && (kPingPong || kTileN % 128u != 0u);
  constexpr u32 boxes = by_k || kBAlongK ? kTileN / 64u : kTileN / 128u;
  let to = at + kBytesOfA + rank * (by_k ? kBoxOf64 / 2u : kTileN * 64u);
  let mine = tile.first_n + (by_k ? 0u : rank * (kTileN / 2u)), k = steps.k_of_b(), batch = steps.batch_of_b();
  if constexpr (kBAlongK) tern_fetch_for_both(to, map, k, mine, batch, full, policy);
  else
#pragma unroll
    for (u32 i = 0u; i < boxes; ++i)
      tern_fetch_for_both(to + i * kBoxOf64, map, mine + 64u * i, by_k ? k + rank * (kTileK / 2u) : k, batch, full,
                          policy);
}
TERN_DEVICE void fetch(const Params& params, const BoxMap& map_a, const BoxMap& map_b, u32 group, u32 rank,
                       Memory memory) {
  let for_a = kKeepsA ? tern_kept() : tern_as_ever(), for_b = kKeepsA ? tern_passing() : for_a;
  Ring ring{0u, 0u};
  for (Share share(params, group); share.any(); share.advance()) {
    let tile = share.tile(rank);
    Steps steps(params, tile);
    for (u32 k = tile.begin; k < tile.end; k += kTileK) {
      let at = memory.ring + ring.stage * kStageBytes, full = memory.barriers + 8u * ring.stage;
      tern_wait(full + 8u * kStages, ring.round ^ 1u);
      tern_expect(full, kStageBytes);
      steps.fetch_a(map_a, at, full, for_a);
      fetch_b(map_b, tile, steps, rank, at, full, for_b);
      steps.advance(params);
      ring.advance();
    }
  }
}

// ---- consumers: products ----
// Gives the stage before this one up, in both workgroups of the pair.
TERN_DEVICE void give_up_last_stage(u32 thread, Ring ring, Memory memory) {
  if (thread % 128u < 2u)
    tern_arrive(memory.barriers + 8u * (kStages + (ring.stage == 0u ? kStages - 1u : ring.stage - 1u)), thread & 1u);
}
// The elements of a stage's k from `begin` on.
template <u32 begin> TERN_DEVICE void multiply_from(f32 (&acc)[kSums], u64 a, u64 b, u32 k) {
  // Elements of k step by 32 bytes within a row of a box, or by 16 rows; addresses count 16 bytes.
  constexpr u32 step_a = kAAlongK ? 2u : 128u, step_b = kBAlongK ? 2u : 128u;
  tern_begin_products();
#pragma unroll
  for (u32 i = begin / 16u; i < kTileK / 16u; ++i) multiply(acc, a + i * step_a, b + i * step_b, i == 0u ? k : 1u);
  tern_commit_products();
}
TERN_DEVICE void multiply_stage(f32 (&acc)[kSums], u32 thread, u32 member, u32 k, Ring ring, Memory memory) {
  let at = memory.ring + ring.stage * kStageBytes, full = memory.barriers + 8u * ring.stage;
  let a = tern_matrix(kPingPong ? at : at + member * kBoxOf64, kBoxOf64), b = tern_matrix(at + kBytesOfA, kBoxOf64);
  tern_wait(full, ring.round);
  if (kSkipped > 0u && k / kTileK % kStepsOfSkip == kStepsOfSkip - 1u) multiply_from<kSkipped>(acc, a, b, k);
  else multiply_from<0u>(acc, a, b, k);
  tern_wait_all_but_one();
  if (k > 0u) give_up_last_stage(thread, ring, memory);
}

// ---- consumers: results ----
// Where this warp group stages results, and within a box the place of the row this lane names: a row is 64 bytes, its
// pieces of 16 swapped by half the row's number.
struct Staging {
  u64 policy;
  u32 begin, swapped;
};
TERN_DEVICE Staging staging_of(u32 thread, u32 member, Memory memory) {
  return {kKeepsA ? tern_passing() : tern_as_ever(), memory.results + member * ($most_places * kHalves * kResultsOf64),
          (thread % 128u / 32u * 16u + (thread & 15u)) * 64u + ((thread & 31u) / 16u ^ thread / 2u & 3u) * 16u};
}
// 16 rows of each warp and 16 columns, which go to the boxes' places. What is alike in both halves of the rows stands
// together, or the compiler keeps all operands of the columns in registers. `sums`: the first; `at`: from col.
template <bool at_edge>
TERN_DEVICE void finish_piece(const Params& params, const Epilogue& epilogue, const f32* sums, const Tile& tile,
                              u32 row_0, u32 col, u32 at, const u32* places, u32 offset, u32 swapped) {
  u32 words[2][4];
#pragma unroll
  for (u32 e = 0u; e < 2u; ++e)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = row_0 + 8u * h;
      if (!at_edge || (row < $m && col + (at + 8u * e) < $n))
        epilogue.two_columns(sums[4u * e + 2u * h], sums[4u * e + 2u * h + 1u], tile.batch, row, col, at + 8u * e,
                             words, 2u * e + h);
    }
#pragma unroll
  for (u32 i = 0u; i != kStagedOutputs; ++i) tern_store_blocks(places[i] + offset + swapped, words[i]);
}
// The columns of a box, of all this warp group's rows. `sums`: the first half's first; `at`: from col.
template <bool at_edge>
TERN_DEVICE void finish_box(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                            const f32* sums, const Tile& tile, u32 box, u32 top, u32 col, u32 at, u32 thread,
                            u32 member, const Staging& staging) {
  constexpr bool batched[] = {$staged_batched};
  u32 places[2];
#pragma unroll
  for (u32 i = 0u; i != kStagedOutputs; ++i)
    places[i] = staging.begin + (box * kStagedOutputs + i) % kPlaces * (kHalves * kResultsOf64);
  if constexpr (kStagedOutputs > 0u) {
    if (thread % 128u == 0u) { tern_wait_for_boxes_but<kPlaces - kStagedOutputs>(); }
    tern_warp_group_sync(2u + member);
  }
#pragma unroll
  for (u32 piece = 0u; piece < kColumns / 16u; ++piece)
#pragma unroll
    for (u32 half = 0u; half < kHalves; ++half)
      finish_piece<at_edge>(params, epilogue, sums + half * kSumsOf64 + 8u * piece, tile, top + 64u * half, col,
                            at + 16u * piece, places, half * kResultsOf64, staging.swapped ^ 32u * piece);
  if constexpr (kStagedOutputs > 0u) {
    tern_show_to_copies();
    tern_warp_group_sync(2u + member);
    if (thread % 128u == 0u)
#pragma unroll
      for (u32 i = 0u; i != kStagedOutputs; ++i)
        tern_store_box(*maps[i], tile.first_n + box * kColumns, kPingPong ? tile.first_m : tile.first_m + member * 64u,
                       batched[i] ? tile.batch : 0u, places[i], staging.policy);
  }
}
// A tile inside the matrix has no conditions; at its edges boxes take turns in the first sums, in one piece of code, up
// to the last that has columns. (The next tile begins with the first place again.)
TERN_DEVICE void finish(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                        f32 (&acc)[kSums], const Tile& tile, u32 thread, u32 member, const Staging& staging) {
  constexpr u32 sums_of_box = kColumns / 2u;  // of 64 rows
  let top = (kPingPong ? tile.first_m : tile.first_m + member * 64u) + thread % 128u / 32u * 16u + (thread & 31u) / 4u;
  u32 col = tile.first_n + (thread & 3u) * 2u;
  if (tile.first_m + kTileM <= $m && tile.first_n + kTileN <= $n) {
#pragma unroll
    for (u32 box = 0u; box < kBoxes; ++box)
      finish_box<false>(params, epilogue, maps, acc + box * sums_of_box, tile, box, top, col, box * kColumns, thread,
                        member, staging);
  } else {
#pragma unroll 1
    for (u32 box = 0u; box < kBoxes && tile.first_n + box * kColumns < $n; ++box, col += kColumns) {
      finish_box<true>(params, epilogue, maps, acc, tile, box, top, col, 0u, thread, member, staging);
#pragma unroll
      for (u32 i = 0u; i < kSums - sums_of_box; ++i) { acc[i] = acc[i + sums_of_box]; }
    }
    if (kStagedOutputs > 0u && thread % 128u == 0u) { tern_wait_for_boxes_but<0>(); }
  }
}

// Every other tile: one warp group multiplies while the other finishes a tile. Who is to multiply waits at a barrier of
// its own (4 and 5), at which the other arrives when it has no more to multiply.
TERN_DEVICE void multiply_ping_pong(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                                    u32 thread, u32 group, u32 member, u32 rank, Memory memory,
                                    const Staging& staging) {
  f32 acc[kSums] = {};
  Ring ring{0u, 0u};
  u32 nth = 0u;
  if (member == 1u) { asm volatile("barrier.cta.arrive 4, 256;" ::: "memory"); }
  for (Share share(params, group); share.any(); share.advance()) {
    let tile = share.tile(rank);
    if ((nth++ & 1u) != member) {
      ring.stage += (tile.end - tile.begin + (kTileK - 1u)) / kTileK;
      ring.round ^= ring.stage / kStages & 1u;
      ring.stage %= kStages;
      continue;
    }
    asm volatile("barrier.cta.sync %0, 256;" :: "r"(4u + member) : "memory");
    for (u32 k = tile.begin; k < tile.end; k += kTileK) {
      multiply_stage(acc, thread, member, k - tile.begin, ring, memory);
      ring.advance();
    }
    if (share.more()) { asm volatile("barrier.cta.arrive %0, 256;" :: "r"(5u - member) : "memory"); }
    wait_for_products(acc);
    give_up_last_stage(thread, ring, memory);
    finish(params, epilogue, maps, acc, share.results(tile, rank), thread, member, staging);
  }
}
// Half the rows of each tile. The second warp group stays two stages behind, so that one multiplies while the other
// finishes a tile.
TERN_DEVICE void multiply_halves(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                                 u32 thread, u32 group, u32 member, u32 rank, Memory memory, const Staging& staging) {
  f32 acc[kSums] = {};
  Ring ring{0u, 0u};
  bool ahead = false;
  if (member == 1u) { asm volatile("barrier.cta.sync 1, 256;"); }
  for (Share share(params, group); share.any(); share.advance()) {
    let tile = share.tile(rank);
    for (u32 k = tile.begin; k < tile.end; k += kTileK) {
      multiply_stage(acc, thread, member, k - tile.begin, ring, memory);
      if (member == 0u && !ahead && (k == tile.begin + kTileK || k + kTileK >= tile.end)) {
        asm volatile("barrier.cta.arrive 1, 256;");
        ahead = true;
      }
      ring.advance();
    }
    wait_for_products(acc);
    give_up_last_stage(thread, ring, memory);
    finish(params, epilogue, maps, acc, share.results(tile, rank), thread, member, staging);
  }
}

extern "C" __global__ void __launch_bounds__(384, 1) __cluster_dims__(2, 1, 1) tern_kernel($parameters) {
  extern __shared__ unsigned char memory[];
  const u32 thread = threadIdx.x, group = blockIdx.x, rank = tern_rank();
  let begin = (tern_shared(memory) + 1023u) & ~1023u;
  const Memory at{begin, begin + $ring_bytes, begin + $results_begin};
  if (thread == 0u) {
    for (u32 i = 0u; i < kStages; ++i) {
      tern_barrier_init(at.barriers + 8u * i, 1u);
      tern_barrier_init(at.barriers + 8u * (kStages + i), kPingPong ? 2u : 4u);  // warp groups of two workgroups
    }
    tern_barriers_ready();
  }
  tern_cluster_sync();
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(kPingPong ? 24 : 40));
    if (thread == 0u) fetch(params, map0, map1, group, rank, at);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(kPingPong ? 240 : 232));
    // The same in all lanes, and said so: addresses of matrices are then kept in uniform registers.
    let member = __shfl_sync(0xffffffffu, thread / 128u, 0) - 1u;
    const Epilogue epilogue{params$buffer_names};
    const BoxMap* const maps[2] = {$staged_maps};
    let staging = staging_of(thread, member, at);
    if constexpr (kPingPong) multiply_ping_pong(params, epilogue, maps, thread, group, member, rank, at, staging);
    else multiply_halves(params, epilogue, maps, thread, group, member, rank, at, staging);
    if (kStagedOutputs > 0u && thread % 128u == 0u) { tern_wait_for_boxes_but<0>(); }
  }
  tern_cluster_sync();  // the other workgroup may still write here
}
