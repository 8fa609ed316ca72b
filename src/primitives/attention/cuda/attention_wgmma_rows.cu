// The gradient of attention by q, of 16-bit floats for compute capability 9.0 (Hopper): as attention_wgmma.cu, which
// has drawings of the work, the tiles and the sums, but for what is done with a tile of scores. A workgroup has kRows
// rows of q and of the result's gradient in workgroup memory; tiles of k and v pass by:
//
//   thread                                              columns: kColumns at a time, through rings of kStages places
//   0 to 31     producer                              ┌──────────────────┐
//   128 to 255  consumer 0  64 rows of q, and of the  │ products, toward │ ──►  sums [64 × kDepth] of the gradient of q
//                           result's gradient         ├──────────────────┤
//   256 to 383  consumer 1  64 rows                   │ shares, slopes   │ ──►  [64 × kDepth]
//                                                     └──────────────────┘
//
// A lane has of products, slopes and sums what attention_wgmma.cu draws: of each eight columns two, of rows l / 4 and
// l / 4 + 8 of its warp's sixteen. Of each tile
//
//   products = q·kᵀ, toward = out_grad·vᵀ       (wgmma)
//   shares = 2^(score·log2(e) - top) / total    with the formula, and what forward kept of a row
//   slopes = formula's slope of shares · (toward - means)
//   sums += slopes·k                            (wgmma; slopes never leave registers)
//
// A consumer sends off the products of the next tile with those of slopes·k, and computes while they run. Nothing is
// shared between workgroups, so the bits are the same every run. cuda_backward.cpp and cuda_hopper.cpp fill the holes.
//
// Of 256 elements the rows leave workgroup memory for two tiles of k and one of v (kFewPlaces). Products are sent off
// in the order in which those places are to be free, and all are waited for; the other consumer's run beside the
// formula:
//
//   consumer 0  │ slopes0·k0, out_grad·v1ᵀ, q·k1ᵀ │ formula                      │ slopes1·k1, …
//   consumer 1  │ formula                         │ out_grad·v1ᵀ, slopes0·k0, …  │ formula
//
// Speed. Bound by the matrix units: on an H100, 25 November 2026, bf16 4×16×4096×128, 717 TFLOP/s of three products. Of
// 256 elements, on an H200, 29 November 2026, 4×16×2048: 0.71 ms, 581 TFLOP/s, with shares and slopes kept 0.85. Both
// consumers' products in one order take 1.02 and 1.05 times as long, the scores' first 1.10 and 1.11 times.
//
// (Attention is longer than other classes: all of it works on the same registers.)

// The instance.
enum : bool {
  kPingPong = $ping_pong, kBegins = $begins, kRagged = $ragged,
  kKeeps = $keeps,  // stores shares and slopes, for products by them elsewhere
  kFewPlaces = $few_places,  // two for k, one for v: each is given up as soon as its products are there
};
enum : u32 {
  kConsumers = $consumers, kThreads = 128u * (1u + kConsumers), kRows = 64u * kConsumers,
  kColumns = $columns_at_once, kAcross = kColumns / 8u,
  kDepth = $most_depth, kWidth = $most_width, kSumsAcross = kDepth / 8u,
  kStages = $stages, kStagesOfSecond = $stages_of_second,  // of k, which serves two tiles' time, and of v
  kPieceOfQ = 128u * kRows, kPiece = 128u * kColumns,  // bytes of 64 elements of all rows
  kBytesOfQ = kPieceOfQ * (kDepth / 64u), kBytesOfOut = kPieceOfQ * (kWidth / 64u),
  kBytesOfK = kPiece * (kDepth / 64u), kBytesOfV = kPiece * (kWidth / 64u),
};
$instructions
$row_units
$products

$row_blocks

struct Memory : Barriers {
  u32 q, out, k, v;
};
// What forward kept of the two rows that a lane has a part of.
struct Known {
  f32 tops[2], means[2];
};

struct Attention : RowBlocks {
  // ---- producer ----
  // By all lanes of a warp, which seek together.
  __device__ __forceinline__ void fetch_rows(const BoxMap& of_q, const BoxMap& of_out, const Work& w, Memory at,
                                             u32 round, u32 lane) const {
    __syncwarp();
    tern_wait(at.empty_q(), round ^ 1u);
    if (lane != 0u) return;
    [[maybe_unused]] let batch = w.batch, head = w.head;
    tern_expect(at.full_q(), kBytesOfQ + kBytesOfOut);
    let full = at.full_q();
    fetch_pieces<kDepth>(at.q, kPieceOfQ, of_q, w.first_row, $q_head, $q_batch, full, tern_passing());
    fetch_pieces<kWidth>(at.out, kPieceOfQ, of_out, w.first_row, $out_head, $out_batch, full, tern_passing());
  }
  __device__ __forceinline__ void fetch_tile(const BoxMap& of_k, const BoxMap& of_v, const Work& w, u32 column,
                                             Memory at, Ring ring, SecondRing second, u32& patches, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.key_head;
    let k = at.k + ring.stage * kBytesOfK, v = at.v + second.stage * kBytesOfV;
    const bool whole = !kRagged || column + kColumns <= w.length;
    let barrier = whole ? at.full_k(ring) : at.patch();
    __syncwarp();
    tern_wait(at.empty_k(ring), ring.round ^ 1u);
    if (lane == 0u) {
      tern_expect(barrier, kBytesOfK);
      fetch_pieces<kDepth>(k, kPiece, of_k, column, $k_head, $k_batch, barrier, tern_kept());
    }
    if (!whole) {
      tern_wait(barrier, patches & 1u);
      ++patches;
      clear_beyond<kDepth>(k, w.length - column, lane);
      if (lane == 0u) tern_arrive_here(at.full_k(ring));
    }
    if (lane != 0u) return;
    tern_wait(at.empty_v(second), second.round ^ 1u);
    tern_expect(at.full_v(second), kBytesOfV);
    fetch_pieces<kWidth>(v, kPiece, of_v, column, $v_head, $v_batch, at.full_v(second), tern_kept());
  }
  __device__ void fetch(const BoxMap& of_q, const BoxMap& of_k, const BoxMap& of_v, const BoxMap& of_out,
                        Memory at, u32 lane) const {
    Ring ring;
    SecondRing second;
    u32 blocks = 0u, patches = 0u;
    for (u32 round = 0u; round * gridDim.x < $works; ++round) {
      let group = group_of(round);
      if (group >= $works) continue;
      const Work w = work_of(group);
      if (w.begin < w.end) fetch_rows(of_q, of_out, w, at, blocks++ & 1u, lane);
#pragma unroll 1
      for (u32 column = w.begin; column < w.end; column = seek(w, column + kColumns)) {
        fetch_tile(of_k, of_v, w, column, at, ring, second, patches, lane);
        ring.advance(), second.advance();
      }
    }
  }

  // ---- consumers ----
  __device__ __forceinline__ Known known_of(const Work& w, u32 own) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
    Known known;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let own_row = min(own + 8u * h, $rows - 1u);
      $load_row
      known.tops[h] = top_of_shares(top, total), known.means[h] = mean;
    }
    return known;
  }
  // In place of products the slopes, and of what goes toward them, where they are kept, the shares.
  __device__ __forceinline__ void take_slopes(f32 (&s)[kAcross][4], f32 (&g)[kAcross][4], const Known& known,
                                              const Work& w, u32 column, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head, first_row = w.first_row, end = w.end, length = w.length;
    $seen_of
    $seen_block
    const bool edge = column + kColumns > end$edge;
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
      [[maybe_unused]] let own_row = min(row, $rows - 1u);
      f32 top = known.tops[h];
      if constexpr (kBegins) {
        [[maybe_unused]] let ahead = 0u, at = 0u;
        f32 begin = 0.0f;
        $begin
        top -= begin * $factor;
      }
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, $last_column);
        f32& x = s[j / 2u][2u * h + j % 2u];
        $score
        [[maybe_unused]] f32 &y = g[j / 2u][2u * h + j % 2u], share = tern_power_of_two(fma(score, $factor, -top));
        f32 incoming = y;
        $thin
        let toward = share * (incoming - known.means[h]);
        $slope
        if constexpr (kKeeps) {
          $thin_share
          y = share;
        }
      }
      if (edge) {
        [[maybe_unused]] let middle = i32(row) + i32($shift);
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          let at = first + j / 2u * 8u + j % 2u;
          if (!($seen)) { s[j / 2u][2u * h + j % 2u] = g[j / 2u][2u * h + j % 2u] = 0.0f; }
        }
      }
    }
  }
  // Stores slopes and shares of a tile.
  __device__ __forceinline__ void keep(f32 (&s)[kAcross][4], f32 (&g)[kAcross][4], const Work& w, u32 column, u32 own,
                                       u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
#pragma unroll
      for (u32 j = 0u; j < kAcross; j += 4u) {
        let first = column + j * 8u + (lane & 3u) * 8u;
        const bool inside = row < $rows && first < $columns;
        {
          [[maybe_unused]] let x = tern_quad_row(&s[j], h);
          if (inside) {
            $store_slopes
          }
        }
        [[maybe_unused]] let x = tern_quad_row(&g[j], h);
        if (inside) {
          $store_shares
        }
      }
    }
  }
  __device__ __forceinline__ void finish(f32 (&sums)[kSumsAcross][4], const Work& w, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
#pragma unroll
      for (u32 j = 0u; j < kDepth / 8u; j += 4u) {
        let x = tern_quad_row(&sums[j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (row < $rows && first < $depth) {
          $store
        }
      }
    }
  }
  // What a consumer works with: the products of a tile, and slopes of the one before.
  struct Tile {
    f32 s[kAcross][4], g[kAcross][4];
    u32 slopes[kAcross / 2u][4];
    Ring ring, last;  // of k: of this tile, and of the one before
    SecondRing fewer;
    // Of v.
    __device__ __forceinline__ SecondRing second() const {
      return kFewPlaces ? fewer : SecondRing{ring.stage, ring.round};
    }
    __device__ __forceinline__ void advance() { last = ring, ring.advance(), fewer.advance(); }
  };
  // Send products off.
  static __device__ __forceinline__ void send_scores(Tile& t, Memory at, u32 stage, u32 member) {
    multiply_rows<kDepth, kBegins>(t.s, at.q + member * 8192u, kPieceOfQ, at.k + stage * kBytesOfK, kPiece);
  }
  static __device__ __forceinline__ void send_toward(Tile& t, Memory at, u32 stage, u32 member) {
    multiply_rows<kWidth>(t.g, at.out + member * 8192u, kPieceOfQ, at.v + stage * kBytesOfV, kPiece);
  }
  static __device__ __forceinline__ void send_both(Tile& t, Memory at, u32 member) {
    let stage = same(t.ring.stage);
    tern_begin_products();
    send_scores(t, at, stage, member), send_toward(t, at, kFewPlaces ? same(t.fewer.stage) : stage, member);
    tern_commit_products();
  }
  static __device__ __forceinline__ void send_slopes(f32 (&sums)[kSumsAcross][4], const Tile& t, Memory at) {
    let stage = same(t.last.stage);
    tern_begin_products();
    multiply_sums(sums, t.slopes, at.k + stage * kBytesOfK, kPiece);
    tern_commit_products();
  }
  // The products of a tile, and of the slopes of the one before. Of few places: consumer 1, the last to give places up,
  // begins with v, of which there is one.
  static __device__ __forceinline__ void send_tile(f32 (&sums)[kSumsAcross][4], Tile& t, Memory at, u32 member) {
    if constexpr (!kFewPlaces) {
      send_both(t, at, member);
      send_slopes(sums, t, at);
      return;
    }
    let odd = (member & 1u) != 0u;
    if (!odd) send_slopes(sums, t, at);
    tern_wait(at.full_v(t.fewer), t.fewer.round);
    tern_begin_products();
    send_toward(t, at, same(t.fewer.stage), member);
    tern_commit_products();
    if (odd) send_slopes(sums, t, at);
    tern_wait(at.full_k(t.ring), t.ring.round);
    tern_begin_products();
    send_scores(t, at, same(t.ring.stage), member);
    tern_commit_products();
  }
  // Until those of a tile are there; the others then still run, or have been waited for before.
  static __device__ __forceinline__ void wait_for_tile(f32 (&sums)[kSumsAcross][4], Tile& t, Memory at, u32 lane,
                                                       u32 member) {
    if constexpr (kFewPlaces) {
      let odd = (member & 1u) != 0u;
      let k = at.empty_k(t.last), v = at.empty_v(t.fewer);
      wait_for_all_but<2u>();
      give_up(odd ? v : k, lane);
      wait_for_all_but<1u>();
      give_up(odd ? k : v, lane);
      wait_for_sums(sums), hold(t.s), hold(t.g);
    } else {
      wait_for<1u>(t.s), hold(t.g);
      give_up(at.empty_v(t.second()), lane);
    }
  }
  __device__ void attend(Memory at, u32 thread, u32 member) const {
    Tile t;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
#pragma unroll 1
    for (u32 round = 0u; round * gridDim.x < $works; ++round) {
      let group = group_of(round);
      if (group >= $works) continue;
      const Work w = work_of(group);
      let own = w.first_row + own_of_group;
      f32 sums[kSumsAcross][4] = {};
      if (w.begin < w.end) {
        const Known known = known_of(w, own);
        tern_wait(at.full_q(), blocks++ & 1u);
        tern_wait(at.full_k(t.ring), t.ring.round), tern_wait(at.full_v(t.second()), t.second().round);
        begin_scores(t.s, w, own, 0u);
        send_both(t, at, member);
        wait_for<0u>(t.s), hold(t.g);
        give_up(at.empty_v(t.second()), lane);
        t.advance();
        take_slopes(t.s, t.g, known, w, w.begin, own, lane);
        pack(t.slopes, t.s);
        if constexpr (kKeeps) keep(t.s, t.g, w, w.begin, own, lane);
#pragma unroll 1
        for (u32 column = seek(w, w.begin + kColumns); column < w.end; column = seek(w, column + kColumns)) {
          if constexpr (!kFewPlaces)
            tern_wait(at.full_k(t.ring), t.ring.round), tern_wait(at.full_v(t.second()), t.second().round);
          begin_scores(t.s, w, own, 0u);
          await_ping_pong(member);
          send_tile(sums, t, at, member);
          pass_ping_pong(member);
          wait_for_tile(sums, t, at, lane, member);
          take_slopes(t.s, t.g, known, w, column, own, lane);
          if constexpr (!kFewPlaces) {
            have_now(all_of(t.s), at.nowhere());
            wait_for_sums(sums);
            give_up(at.empty_k(t.last), lane);
          }
          t.advance();
          pack(t.slopes, t.s);
          if constexpr (kKeeps) keep(t.s, t.g, w, column, own, lane);
        }
        give_up(at.empty_q(), lane);
        send_slopes(sums, t, at);
        wait_for_sums(sums);
        give_up(at.empty_k(t.last), lane);
      }
      finish(sums, w, own, lane);
    }
  }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1) tern_kernel($parameters) {
  extern __shared__ unsigned char memory[];
  let thread = threadIdx.x, q = (tern_shared(memory) + 1023u) & ~1023u;
  let out = q + kBytesOfQ, k = out + kBytesOfOut, v = k + kStages * kBytesOfK;
  const Memory at{{v + kStagesOfSecond * kBytesOfV}, q, out, k, v};
  if (thread == 0u) {
    at.init();
    tern_barriers_ready();
  }
  __syncthreads();
  const Attention call{{params$buffer_names}};
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 $producer_registers;");
    if (thread < 32u) call.fetch(map0, map1, map2, map3, at, thread);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 $consumer_registers;");
    call.attend(at, thread, same(thread / 128u) - 1u);
  }
}
