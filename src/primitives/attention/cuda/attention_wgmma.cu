// Attention, forward, of 16-bit floats for compute capability 9.0 (Hopper). The plan is FlashAttention-3's (Shah et
// al., https://arxiv.org/abs/2407.08608) with the user's formula in it.
//
// Work. A workgroup stays on its processor and takes blocks of kRows rows of one head after the other. Its first warp
// has the copy engine (TMA) fetch the block's q and, tile by tile, kColumns rows of k and v into two rings; kConsumers
// warp groups have 64 of the rows each.
//
//   thread
//   0 to 31      producer    k0 │ q │ k1 │ v0 │ k2 │ v1 │ … │ k0 of the next block │ …
//   128 to 255   consumer 0  64 rows ┐
//   256 to 383   consumer 1  64 rows ├ scores [64 × kColumns] and sums [64 × kWidth] in registers
//   384 to 511   consumer 2  64 rows ┘ (blocks of up to 64 elements)
//
// A consumer overlaps the formula of one tile with the products of the tile before, and consumers alternate in
// sending products off (ping-pong), so that one's formulas run while another's products do:
//
//   consumer 0   │ q·k1ᵀ, shares0·v0 │ formula, 2^x: shares1 │ q·k2ᵀ, shares1·v1 │ …
//   consumer 1                       │ q·k1ᵀ, shares0·v0     │ formula, 2^x: shares1 │ …
//
// Scores and sums. Of a consumer's 64 rows warp w has 16 w to 16 w + 15, and of each eight columns, block j, lane l has
//
//   row l / 4:      columns 8 j + 2 (l % 4) and the next one → s[j][0], s[j][1]
//   row l / 4 + 8:  the same                                 → s[j][2], s[j][3]
//
// which, rounded and packed, is the layout of a first factor: shares go into the second product from registers.
//
// In workgroup memory rows are cut into pieces of 64 elements, 128 bytes, swizzled; the pieces of a tile lie one after
// the other. Each place has two barriers: full counts bytes that arrive, empty the warps that have read it.
//
// The formula and the mask are those of attention_mma.cu, printed by cuda_forward.cpp; cuda_hopper.cpp fills the rest.
// wgmma_row_units.cu has the barriers and the blocks of rows, wgmma_units.cu the products.
//
// Speed. Bound by the matrix units and the power of the chip. On an H200, 26 November 2026, bf16 4×16×4096 in turn with
// cuDNN 9.19: of 128 elements 0.815 ms (cuDNN 0.943), causal 0.445 (0.550); of 64, 0.534 (0.642), causal 0.345 (0.384);
// of 256, 4×16×2048, 29 November, 0.380 (0.454). Formulas are bound by the instructions that they take: of 128 elements
// causal with ALiBi 0.491, a soft cap 0.985 (docs/benchmarks_families.md).
//
// (Attention is longer than other classes, and take_shares than other functions: what a consumer does with a tile is
// spread over the products of its neighbours, and all of it works on the same registers.)

// The instance.
enum : u32 {
  kConsumers = $consumers, kThreads = 128u * (1u + kConsumers), kRows = 64u * kConsumers,
  kColumns = $columns_at_once, kAcross = kColumns / 8u,
  kDepth = $most_depth, kWidth = $most_width, kSumsAcross = kWidth / 8u,
  kStages = $stages, kStagesOfSecond = $stages_of_second,
  kPieceOfQ = 128u * kRows, kPiece = 128u * kColumns,  // bytes of 64 elements of all rows
  kBytesOfQ = kPieceOfQ * (kDepth / 64u), kBytesOfK = kPiece * (kDepth / 64u), kBytesOfV = kPiece * (kWidth / 64u),
};
enum : bool { kRagged = $ragged, kPingPong = $ping_pong, kBegins = $begins };
// The base of a row's powers of two is a greatest score of before as long as no score is more than so much greater, in
// powers of two: sums are multiplied in few tiles (FlashAttention-4), and shares of up to 2^8 lose nothing in 16 bits.
constexpr f32 kSlack = 8.0f;
$instructions
$row_units
$products
$row_blocks

struct Memory : Barriers {
  u32 q, k, v;
};

struct Attention : RowBlocks {
  // ---- producer ----
  __device__ __forceinline__ void fetch_q(const BoxMap& map, const Work& w, Memory at, u32 round, u32 lane) const {
    __syncwarp();
    tern_wait(at.empty_q(), round ^ 1u);
    if (lane != 0u) return;
    [[maybe_unused]] let batch = w.batch, head = w.head;
    tern_expect(at.full_q(), kBytesOfQ);
    fetch_pieces<kDepth>(at.q, kPieceOfQ, map, w.first_row, $q_head, $q_batch, at.full_q(), tern_passing());
  }
  __device__ __forceinline__ void fetch_k(const BoxMap& map, const Work& w, u32 column, Memory at, Ring ring,
                                          u32 lane) const {
    __syncwarp();
    tern_wait(at.empty_k(ring), ring.round ^ 1u);
    if (lane != 0u) return;
    [[maybe_unused]] let batch = w.batch, head = w.key_head;
    let to = at.k + ring.stage * kBytesOfK;
    tern_expect(at.full_k(ring), kBytesOfK);
    fetch_pieces<kDepth>(to, kPiece, map, column, $k_head, $k_batch, at.full_k(ring), tern_kept());
  }
  __device__ __forceinline__ void fetch_v(const BoxMap& map, const Work& w, u32 column, Memory at, SecondRing ring,
                                          u32& patches, u32 lane) const {
    let to = at.v + ring.stage * kBytesOfV;
    const bool whole = !kRagged || column + kColumns <= w.length;
    let barrier = whole ? at.full_v(ring) : at.patch();
    __syncwarp();
    tern_wait(at.empty_v(ring), ring.round ^ 1u);
    if (lane == 0u) {
      [[maybe_unused]] let batch = w.batch, head = w.key_head;
      tern_expect(barrier, kBytesOfV);
      fetch_pieces<kWidth>(to, kPiece, map, column, $v_head, $v_batch, barrier, tern_kept());
    }
    if (whole) return;
    tern_wait(barrier, patches & 1u);
    ++patches;
    clear_beyond<kWidth>(to, w.length - column, lane);
    if (lane == 0u) tern_arrive_here(at.full_v(ring));
  }
  __device__ void fetch(const BoxMap& of_q, const BoxMap& of_k, const BoxMap& of_v, Memory at, u32 lane) const {
    Ring ring_k;
    SecondRing ring_v;
    u32 blocks = 0u, patches = 0u;
    for (u32 round = 0u; round * gridDim.x < $works; ++round) {
      let group = group_of(round);
      if (group >= $works) continue;
      const Work w = work_of(group);
      if (w.begin >= w.end) continue;
      fetch_k(of_k, w, w.begin, at, ring_k, lane);
      ring_k.advance();
      fetch_q(of_q, w, at, blocks++ & 1u, lane);
#pragma unroll 1
      for (u32 column = w.begin, next; column < w.end; column = next) {
        next = seek(w, column + kColumns);
        if (next < w.end) {
          fetch_k(of_k, w, next, at, ring_k, lane);
          ring_k.advance();
        }
        fetch_v(of_v, w, column, at, ring_v, patches, lane);
        ring_v.advance();
      }
    }
  }

  // ---- consumers ----
  // Of products the scores, and of those, below the row's base, the powers of two: the shares, but for the sum of a
  // row. Returns whether a base of the warp has changed, so that sums of before are to be multiplied by `older`.
  __device__ __forceinline__ bool take_shares(f32 (&s)[kAcross][4], f32 (&tops)[2], f32 (&totals)[2], f32 (&older)[2],
                                              const Work& w, u32 column, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head, first_row = w.first_row, end = w.end, length = w.length;
    $seen_of
    $seen_block
    const bool edge = column + kColumns > end$edge;
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
    f32 place[2] = {};  // what the formula adds to all scores of a row in the tile
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
      [[maybe_unused]] let own_row = min(row, $rows - 1u);
      if constexpr (kBegins) {
        [[maybe_unused]] let first = column, ahead = 0u, at = 0u;
        f32 begin = 0.0f;
        $begin
        place[h] = begin * $factor;
      }
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, $last_column);
        [[maybe_unused]] f32& x = s[j / 2u][2u * h + j % 2u];
        $score
      }
      if (edge) {
        [[maybe_unused]] let middle = i32(row) + i32($shift);
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          let at = first + j / 2u * 8u + j % 2u;
          if (!(at < end && $seen)) { s[j / 2u][2u * h + j % 2u] = $lowest; }  // tiles may pass the end
        }
      }
    }
    f32 top[2], total[2] = {}, base[2];
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) { top[h] = fmaxf(s[0][2u * h], s[0][2u * h + 1u]); }
#pragma unroll
    for (u32 j = 1u; j < kAcross; ++j)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) { top[h] = fmaxf(top[h], fmaxf(s[j][2u * h], s[j][2u * h + 1u])); }
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      top[h] = fma(tern_quad_largest(top[h]), $factor, place[h]);
      const bool higher = top[h] > tops[h] + kSlack;
      older[h] = higher ? tern_power_of_two(tops[h] - top[h]) : 1.0f;
      tops[h] = higher ? top[h] : tops[h];
      base[h] = tops[h] == $lowest ? 0.0f : tops[h];
    }
    const bool changed = __any_sync(0xffffffffu, older[0] != 1.0f || older[1] != 1.0f);
#pragma unroll
    for (u32 j = 0u; j < 2u * kAcross; ++j)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        [[maybe_unused]] let row = own + 8u * h, own_row = min(row, $rows - 1u);
        [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, $columns - 1u);
        f32& x = s[j / 2u][2u * h + j % 2u];
        x = tern_power_of_two(fma(x, $factor, place[h] - base[h]));
        total[h] += x;
        $thin
      }
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) { totals[h] = fma(totals[h], older[h], total[h]); }
    return changed;
  }
  __device__ __forceinline__ void finish(f32 (&sums)[kSumsAcross][4], f32 (&tops)[2], f32 (&totals)[2], const Work& w,
                                         u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
      let total = tern_quad_sum(totals[h]);
      let inverse = total == 0.0f ? 1.0f : 1.0f / total;
#pragma unroll
      for (u32 j = 0u; j < kWidth / 8u; j += 4u) {
        let x = tern_quad_row(&sums[j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (row < $rows && first < $width) {
          $store
        }
      }
      if ((lane & 3u) == 0u && row < $rows) {
        [[maybe_unused]] let top = tops[h] * 0.6931471805599453f;
        $store_row
      }
    }
  }
  // Sums of before a new base.
  static __device__ __forceinline__ void put_below(f32 (&sums)[kSumsAcross][4], const f32 (&older)[2]) {
#pragma unroll
    for (u32 j = 0u; j < 4u * kSumsAcross; ++j) { sums[j / 4u][j % 4u] *= older[j % 4u / 2u]; }
  }
  static __device__ __forceinline__ void send_shares(f32 (&sums)[kSumsAcross][4], const u32 (&shares)[kAcross / 2u][4],
                                                     u32 v) {
    tern_begin_products();
    multiply_sums(sums, shares, v, kPiece);
    tern_commit_products();
  }
  __device__ void attend(Memory at, u32 thread, u32 member) const {
    Ring ring_k;
    SecondRing ring_v;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    let of_q = at.q + member * 8192u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
#pragma unroll 1
    for (u32 round = 0u; round * gridDim.x < $works; ++round) {
      let group = group_of(round);
      if (group >= $works) continue;
      const Work w = work_of(group);
      let own = w.first_row + own_of_group;
      f32 sums[kSumsAcross][4] = {}, tops[2] = {$lowest, $lowest}, totals[2] = {};  // tops: times log2(e)
      if (w.begin < w.end) {
        f32 s[kAcross][4], older[2];
        u32 shares[kAcross / 2u][4];
        tern_wait(at.full_q(), blocks++ & 1u);
        tern_wait(at.full_k(ring_k), ring_k.round);
        begin_scores(s, w, own, (lane & 3u) * 2u);
        tern_begin_products();
        multiply_rows<kDepth, kBegins>(s, of_q, kPieceOfQ, at.k + ring_k.stage * kBytesOfK, kPiece);
        tern_commit_products();
        wait_for<0u>(s);
        give_up(at.empty_k(ring_k), lane);
        ring_k.advance();
        take_shares(s, tops, totals, older, w, w.begin, own, lane);
        pack(shares, s);
#pragma unroll 1
        for (u32 column = seek(w, w.begin + kColumns); column < w.end; column = seek(w, column + kColumns)) {
          tern_wait(at.full_k(ring_k), ring_k.round);
          begin_scores(s, w, own, (lane & 3u) * 2u);
          await_ping_pong(member);
          tern_begin_products();
          multiply_rows<kDepth, kBegins>(s, of_q, kPieceOfQ, at.k + ring_k.stage * kBytesOfK, kPiece);
          tern_commit_products();
          tern_wait(at.full_v(ring_v), ring_v.round);
          send_shares(sums, shares, at.v + ring_v.stage * kBytesOfV);
          pass_ping_pong(member);
          wait_for<1u>(s);
          give_up(at.empty_k(ring_k), lane);
          ring_k.advance();
          const bool changed = take_shares(s, tops, totals, older, w, column, own, lane);
          have_now(bitcast<u32>(totals[0] + totals[1]), at.nowhere());
          wait_for_sums(sums);
          if (changed) put_below(sums, older);
          give_up(at.empty_v(ring_v), lane);
          ring_v.advance();
          pack(shares, s);
        }
        give_up(at.empty_q(), lane);
        tern_wait(at.full_v(ring_v), ring_v.round);
        send_shares(sums, shares, at.v + ring_v.stage * kBytesOfV);
        wait_for_sums(sums);
        give_up(at.empty_v(ring_v), lane);
        ring_v.advance();
      }
      finish(sums, tops, totals, w, own, lane);
    }
  }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1) tern_kernel($parameters) {
  extern __shared__ unsigned char memory[];
  let thread = threadIdx.x, begin = (tern_shared(memory) + 1023u) & ~1023u;
  let k = begin + kBytesOfQ, v = k + kStages * kBytesOfK;
  const Memory at{{v + kStages * kBytesOfV}, begin, k, v};
  if (thread == 0u) {
    at.init();
    tern_barriers_ready();
  }
  __syncthreads();
  const Attention call{{params$buffer_names}};
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 $producer_registers;");
    if (thread < 32u) call.fetch(map0, map1, map2, at, thread);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 $consumer_registers;");
    call.attend(at, thread, same(thread / 128u) - 1u);
  }
}
