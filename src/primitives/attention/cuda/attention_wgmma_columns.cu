// The gradients of attention by k and v, of 16-bit floats for compute capability 9.0 (Hopper), beside
// attention_wgmma.cu, which has drawings of the work, the tiles and the sums. A workgroup has kColumns keys of one key
// head in workgroup memory, with their values. Tiles of rows of q and of the result's gradient pass by, for every query
// head that shares the keys, transposed so that keys are rows of the products:
//
//   thread                                        rows: kRows at a time, through a ring of kStages places
//   0 to 31     producer of tiles               ┌──────────────────┐
//   32 to 63    producer of what is known of    │                  │
//               their rows                      │                  │
//   128 to 255  consumer 0  64 keys and values  │ products, toward │ ──►  sums of k's and of v's gradient,
//                                               ├──────────────────┤      [64 × kDepth] each
//   256 to 383  consumer 1  64 keys and values  │ shares, slopes   │ ──►  the same of its own 64
//                                               └──────────────────┘
//
// A lane has of products, slopes and sums what attention_wgmma.cu draws, with keys for rows: keys l / 4 and l / 4 + 8
// of its warp's sixteen, and of each eight rows of q two. Of each tile
//
//   products = k·qᵀ, toward = v·out_gradᵀ       (wgmma)
//   shares = 2^(score·log2(e) - top) / total    with the formula, and what forward kept of a row
//   slopes = formula's slope of shares · (toward - means)
//   v's sums += shares·out_grad, k's sums += slopes·q    (wgmma; shares and slopes never leave registers)
//
// Sums of one gradient of up to 256 elements fill the registers, so that each has a kernel of its own then; that of v
// needs no values, and nothing that goes toward slopes. A consumer sends off the products of shares or slopes with
// those of the next tile, first of them, so that their tile's place is free while the others run.
//
// Nothing is shared between workgroups, so the bits are the same every run. cuda_backward.cpp and cuda_hopper.cpp fill
// the holes.
//
// Speed. Bound by registers: sums of 2·kDepth columns leave none for the products of the next tile, so a consumer waits
// for its own, and only the other consumer's run beside its formula: on an H100, 25 November 2026, bf16 4×16×4096×128,
// 585 TFLOP/s of the four products. Tiles of 32 rows, with the products of the next one sent off before, took 2.08 ms
// in place of 1.88: the matrix units then read more workgroup memory than they can. Of 256 elements, on an H200, 29
// November 2026, 4×16×2048: 0.72 ms (k), 0.37 (v); with the next tile's products first, and what is known of rows
// loaded when their place is free, 1.48 and 1.62 times as long. Tiles of 48 rows (k) take 1.19 times, of 80 and 96 (v)
// 1.01 and 1.33. (Longer than other files: consumers of both gradients and of one share the work, the tiles and what
// becomes of a tile's scores.)

// The instance.
enum : bool { kPingPong = $ping_pong, kBegins = $begins, kOfK = $of_k, kOfV = $of_v, kOfBoth = kOfK && kOfV };
enum : u32 {
  kConsumers = $consumers, kThreads = 128u * (1u + kConsumers), kColumns = 64u * kConsumers,
  kRows = $rows_at_once, kAcross = kRows / 8u,
  kDepth = $most_depth, kSumsAcross = kDepth / 8u,  // v's rows are padded to as many
  kStages = $stages, kStagesOfSecond = $stages_of_second,  // of q, and of the result's gradient
  kPieceOfK = 128u * kColumns, kPiece = 128u * kRows,  // bytes of 64 elements of all rows
  kBytesOfK = kPieceOfK * (kDepth / 64u), kBytesOfQ = kPiece * (kDepth / 64u),
  kKnown = 8u * kRows,  // bytes of what is known of a tile's rows: tops of shares, means
};
$instructions
$row_units
$products

struct Memory {
  u32 k, v, q, out, known, barriers;
  __device__ __forceinline__ u32 full_k() const { return barriers; }
  __device__ __forceinline__ u32 empty_k() const { return barriers + 8u; }
  __device__ __forceinline__ u32 full(Ring r) const { return barriers + 24u + 8u * r.stage; }
  __device__ __forceinline__ u32 empty(Ring r) const { return full(r) + 8u * kStages; }
  __device__ __forceinline__ u32 full_out(SecondRing r) const {
    return barriers + 24u + 16u * kStages + 8u * r.stage;
  }
  __device__ __forceinline__ u32 empty_out(SecondRing r) const { return full_out(r) + 8u * kStagesOfSecond; }
};
// A block of keys, and the rows that may see them; those from `length` on see nothing.
struct Work {
  u32 batch, key_head, first_column, begin, end, length;
};
// A tile of rows of one of the heads that share the keys; sharer = as many as those: none.
struct Place {
  u32 sharer, first_row;
};

$formula
struct Attention {
  const Params& params;
  $buffers
  // The blocks of a key head stand together, those that most rows see first.
  __device__ __forceinline__ Work work_of(u32 group) const {
    let key_head_of_all = group / $tiles;
    let first_column = (group - key_head_of_all * $tiles) * kColumns;
    let batch = key_head_of_all / $groups;
    var begin = 0u;
    var end = $rows;
    $range
    $length
    return {batch, key_head_of_all - batch * $groups, first_column, begin, end, $length_of_all};
  }
  __device__ __forceinline__ u32 shared_by() const { return $heads / $groups; }
  // The first place from there on of which something is seen.
  __device__ __forceinline__ Place seek(const Work& w, u32 sharer, u32 first_row) const {
    [[maybe_unused]] let batch = w.batch, key_head = w.key_head, first_column = w.first_column;
    let shared = shared_by(), end = w.end;
    $seen_of
    while (sharer < shared) {
      if (first_row >= end) { sharer = w.begin < end ? sharer + 1u : shared, first_row = w.begin; continue; }
      $seek
      break;
    }
    return {sharer, first_row};
  }
  template <class Step> __device__ __forceinline__ void each_work(const Step& step) const {
#pragma unroll 1
    for (u32 round = 0u; round * gridDim.x < $works; ++round) {
      let group = group_of(round);
      if (group < $works) step(work_of(group));
    }
  }

  // ---- producer ----
  // By all lanes of a warp, which seek together.
  __device__ void fetch(const BoxMap& of_q, const BoxMap& of_k, const BoxMap& of_v, const BoxMap& of_out,
                        Memory at, u32 lane) const {
    Ring ring;
    SecondRing second;
    u32 blocks = 0u;
    each_work([&](const Work& w) {
      for (Place p = seek(w, 0u, w.begin), first = p; p.sharer < shared_by();
           p = seek(w, p.sharer, p.first_row + kRows)) {
        __syncwarp();
        if (lane == 0u) {
          if (p.sharer == first.sharer && p.first_row == first.first_row) fetch_keys(of_k, of_v, w, at, blocks++ & 1u);
          fetch_tile(of_q, of_out, w, p, at, ring, second);
        }
        ring.advance(), second.advance();
      }
    });
  }
  __device__ __forceinline__ void fetch_keys(const BoxMap& of_k, const BoxMap& of_v, const Work& w, Memory at,
                                             u32 round) const {
    [[maybe_unused]] let batch = w.batch, head = w.key_head;
    let full = at.full_k();
    tern_wait(at.empty_k(), round ^ 1u);
    tern_expect(full, (kOfK ? 2u : 1u) * kBytesOfK);
    fetch_pieces<kDepth>(at.k, kPieceOfK, of_k, w.first_column, $k_head, $k_batch, full, tern_passing());
    if (kOfK) fetch_pieces<kDepth>(at.v, kPieceOfK, of_v, w.first_column, $v_head, $v_batch, full, tern_passing());
  }
  __device__ __forceinline__ void fetch_tile(const BoxMap& of_q, const BoxMap& of_out, const Work& w, Place p,
                                             Memory at, Ring ring, SecondRing second) const {
    [[maybe_unused]] let batch = w.batch, head = w.key_head * shared_by() + p.sharer;
    let q = at.q + ring.stage * kBytesOfQ, out = at.out + second.stage * kBytesOfQ;
    tern_wait(at.empty(ring), ring.round ^ 1u);
    tern_expect(at.full(ring), kBytesOfQ);
    fetch_pieces<kDepth>(q, kPiece, of_q, p.first_row, $q_head, $q_batch, at.full(ring), tern_kept());
    tern_wait(at.empty_out(second), second.round ^ 1u);
    tern_expect(at.full_out(second), kBytesOfQ);
    fetch_pieces<kDepth>(out, kPiece, of_out, p.first_row, $out_head, $out_batch, at.full_out(second), tern_kept());
  }
  // By all lanes of a warp.
  __device__ void fetch_known(Memory at, u32 lane) const {
    Ring ring;
    each_work([&](const Work& w) {
      [[maybe_unused]] let batch = w.batch;
      for (Place p = seek(w, 0u, w.begin); p.sharer < shared_by(); p = seek(w, p.sharer, p.first_row + kRows)) {
        [[maybe_unused]] let head = w.key_head * shared_by() + p.sharer;
        // Loaded before there is a place for them: memory takes as long as half a tile's products.
        f32 tops[(kRows + 31u) / 32u], means[(kRows + 31u) / 32u];
#pragma unroll
        for (u32 i = 0u; i < kRows; i += 32u) {
          let own_row = min(p.first_row + i + lane, $rows - 1u);
          $load_row
          tops[i / 32u] = top_of_shares(top, total), means[i / 32u] = mean;
        }
        __syncwarp();
        tern_wait(at.empty(ring), ring.round ^ 1u);
        let to = at.known + ring.stage * kKnown + 4u * lane;
#pragma unroll
        for (u32 i = 0u; i < kRows; i += 32u)
          if (i + lane < kRows) put(to + 4u * i, tops[i / 32u]), put(to + 4u * (i + kRows), means[i / 32u]);
        __syncwarp();
        if (lane == 0u) tern_arrive_here(at.full(ring));
        ring.advance();
      }
    });
  }
  static __device__ __forceinline__ void put(u32 to, f32 x) {
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to), "f"(x) : "memory");
  }
  // Of two neighbouring rows.
  static __device__ __forceinline__ vec2<f32> known(u32 from) {
    f32 x, y;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(from) : "memory");
    return {x, y};
  }

  // ---- consumers ----
  // What the formula adds to scores, of which the product is but one part.
  __device__ __forceinline__ void begin_scores(f32 (&s)[kAcross][4], const Work& w, Place p, u32 own, u32 lane) const {
    if constexpr (!kBegins) return;
    [[maybe_unused]] let batch = w.batch, head = w.key_head * shared_by() + p.sharer, own_row = 0u, ahead = 0u;
    [[maybe_unused]] let first = p.first_row + (lane & 3u) * 2u;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      [[maybe_unused]] let at = min(own + 8u * h, $columns - 1u);
      f32 along = 0.0f, begin = 0.0f;
      $along
      $begin
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        s[j / 2u][2u * h + j % 2u] = fma(along, f32(j / 2u * 8u + j % 2u), begin);
      }
    }
  }
  // In place of products the shares, and of what goes toward them the slopes.
  __device__ __forceinline__ void take_slopes(f32 (&s)[kAcross][4], f32 (&g)[kAcross][4], const Work& w, Place p,
                                              u32 known_at, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, key_head = w.key_head, first_column = w.first_column;
    [[maybe_unused]] let shared = shared_by(), head = key_head * shared + p.sharer, sharer = p.sharer;
    let first_row = p.first_row, end = w.end, length = w.length;
    $seen_of
    $seen_block
    const bool edge = first_row + kRows > end || first_column + kColumns > length$edge;
    [[maybe_unused]] let first = first_row + (lane & 3u) * 2u;
#pragma unroll
    for (u32 j = 0u; j < kAcross; ++j) {
      let from = known_at + 4u * (j * 8u + (lane & 3u) * 2u);
      const vec2<f32> tops = known(from), means = kOfK ? known(from + 4u * kRows) : vec2<f32>{0.0f, 0.0f};
#pragma unroll
      for (u32 e = 0u; e < 4u; ++e) {
        [[maybe_unused]] let ahead = j * 8u + e % 2u, row = first + ahead, column = own + e / 2u * 8u;
        [[maybe_unused]] let own_row = min(row, $rows - 1u), at = min(column, $columns - 1u);
        f32 &x = s[j][e], &y = g[j][e];
        $score
        var share = tern_power_of_two(fma(score, $factor, -(e % 2u ? tops.y : tops.x)));
        [[maybe_unused]] f32 incoming = y;
        $thin
        [[maybe_unused]] let toward = share * (incoming - (e % 2u ? means.y : means.x));
        $slope
        $thin_share
        x = share;
      }
    }
    if (!edge) return;
#pragma unroll
    for (u32 j = 0u; j < 4u * kAcross; ++j) {
      let row = first + j / 4u * 8u + j % 2u, column = own + j % 4u / 2u * 8u;
      [[maybe_unused]] let middle = i32(row) + i32($shift);
      if (!(row < $rows && $seen)) { s[j / 4u][j % 4u] = 0.0f, g[j / 4u][j % 4u] = 0.0f; }
    }
  }
  // Send products off.
  static __device__ __forceinline__ void send_scores(f32 (&s)[kAcross][4], Memory at, Ring ring, u32 member) {
    multiply_rows<kDepth, kBegins>(s, at.k + member * 8192u, kPieceOfK, at.q + same(ring.stage) * kBytesOfQ, kPiece);
  }
  static __device__ __forceinline__ void send_toward(f32 (&g)[kAcross][4], Memory at, SecondRing ring, u32 member) {
    multiply_rows<kDepth>(g, at.v + member * 8192u, kPieceOfK, at.out + same(ring.stage) * kBytesOfQ, kPiece);
  }
  // Stores the gradient of k, or else that of v.
  template <bool of_k>
  __device__ __forceinline__ void finish(f32 (&sums)[kSumsAcross][4], const Work& w, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, key_head = w.key_head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let column = own + 8u * h;
#pragma unroll
      for (u32 j = 0u; j < kSumsAcross; j += 4u) {
        [[maybe_unused]] let x = tern_quad_row(&sums[j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (column >= $columns) continue;
        if constexpr (of_k) {
          if (first < $depth) {
            $store_k
          }
        } else if (first < $width) {
          $store_v
        }
      }
    }
  }
  // Of both gradients: of a tile, products, shares and slopes, and their products.
  __device__ void attend(Memory at, u32 thread, u32 member) const {
    Ring ring;
    SecondRing second;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
    each_work([&](const Work& w) {
      let own = w.first_column + own_of_group;
      f32 of_k[kSumsAcross][4] = {}, of_v[kSumsAcross][4] = {};
      Place p = seek(w, 0u, w.begin);
      if (p.sharer < shared_by()) {
        f32 s[kAcross][4], g[kAcross][4];
        u32 shares[kAcross / 2u][4], slopes[kAcross / 2u][4];
        tern_wait(at.full_k(), blocks++ & 1u);
#pragma unroll 1
        for (; p.sharer < shared_by(); p = seek(w, p.sharer, p.first_row + kRows)) {
          tern_wait(at.full(ring), ring.round), tern_wait(at.full_out(second), second.round);
          begin_scores(s, w, p, own, lane);
          await_ping_pong(member);
          tern_begin_products();
          send_scores(s, at, ring, member), send_toward(g, at, second, member);
          tern_commit_products();
          pass_ping_pong(member);
          wait_for<0u>(s), hold(g);
          take_slopes(s, g, w, p, at.known + ring.stage * kKnown, own, lane);
          pack(shares, s), pack(slopes, g);
          tern_begin_products();
          multiply_sums(of_v, shares, at.out + second.stage * kBytesOfQ, kPiece);
          multiply_sums(of_k, slopes, at.q + ring.stage * kBytesOfQ, kPiece);
          tern_commit_products();
          wait_for_sums(of_v), hold_sums(of_k);
          give_up(at.empty(ring), lane), give_up(at.empty_out(second), lane);
          ring.advance(), second.advance();
        }
        give_up(at.empty_k(), lane);
      }
      finish<true>(of_k, w, own, lane), finish<false>(of_v, w, own, lane);
    });
  }

  // ---- consumers of one gradient ----
  // What a consumer works with: the products of a tile, and shares or slopes of the one before. Those meet the tiles of
  // the first ring, q, for k's gradient, or else of the second, which come later by one tile then.
  struct Tile {
    f32 s[kAcross][4], g[kAcross][4];
    u32 weights[kAcross / 2u][4];
    Ring ring, last;  // of this tile, and of the one before
    SecondRing second;
  };
  static __device__ __forceinline__ void send_weights(f32 (&sums)[kSumsAcross][4], const Tile& t, Memory at) {
    let tile = same(kOfK ? t.last.stage : t.second.stage) * kBytesOfQ;
    tern_begin_products();
    multiply_sums(sums, t.weights, (kOfK ? at.q : at.out) + tile, kPiece);
    tern_commit_products();
  }
  // The products of a tile, and unless it is a block's first those of the weights of the one before; until all are
  // there. What is given up first comes first, and what is fetched anew last.
  template <bool first>
  static __device__ __forceinline__ void multiply_tile(f32 (&sums)[kSumsAcross][4], Tile& t, Memory at, u32 lane,
                                                       u32 member) {
    if constexpr (!first) {
      await_ping_pong(member);
      if constexpr (kOfV) tern_wait(at.full_out(t.second), t.second.round);
      send_weights(sums, t, at);
    }
    if constexpr (kOfK) {
      tern_wait(at.full_out(t.second), t.second.round);
      tern_begin_products();
      send_toward(t.g, at, t.second, member);
      tern_commit_products();
    }
    tern_wait(at.full(t.ring), t.ring.round);
    tern_begin_products();
    send_scores(t.s, at, t.ring, member);
    tern_commit_products();
    if constexpr (!first) {
      pass_ping_pong(member);
      wait_for_all_but<kOfK ? 2u : 1u>();
      give_up(kOfK ? at.empty(t.last) : at.empty_out(t.second), lane);
    }
    if constexpr (kOfK) {
      wait_for_all_but<1u>();
      give_up(at.empty_out(t.second), lane);
    }
    if constexpr (kOfK || !first) t.second.advance();
    wait_for<0u>(t.s);
    if constexpr (kOfK) hold(t.g);
    if constexpr (!first) hold_sums(sums);
  }
  __device__ __forceinline__ void take_weights(Tile& t, const Work& w, Place p, Memory at, u32 own, u32 lane) const {
    take_slopes(t.s, t.g, w, p, at.known + t.ring.stage * kKnown, own, lane);
    if constexpr (kOfK) pack(t.weights, t.g);
    else pack(t.weights, t.s), give_up(at.empty(t.ring), lane);
    t.last = t.ring, t.ring.advance();
  }
  __device__ void attend_to_one(Memory at, u32 thread, u32 member) const {
    Tile t;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
    each_work([&](const Work& w) {
      let own = w.first_column + own_of_group;
      f32 sums[kSumsAcross][4] = {};
      Place p = seek(w, 0u, w.begin);
      if (p.sharer < shared_by()) {
        tern_wait(at.full_k(), blocks++ & 1u);
        begin_scores(t.s, w, p, own, lane);
        multiply_tile<true>(sums, t, at, lane, member);
        take_weights(t, w, p, at, own, lane);
#pragma unroll 1
        for (p = seek(w, p.sharer, p.first_row + kRows); p.sharer < shared_by();
             p = seek(w, p.sharer, p.first_row + kRows)) {
          begin_scores(t.s, w, p, own, lane);
          multiply_tile<false>(sums, t, at, lane, member);
          take_weights(t, w, p, at, own, lane);
        }
        give_up(at.empty_k(), lane);
        if constexpr (kOfV) tern_wait(at.full_out(t.second), t.second.round);
        send_weights(sums, t, at);
        wait_for_sums(sums);
        if constexpr (kOfK) give_up(at.empty(t.last), lane);
        else give_up(at.empty_out(t.second), lane), t.second.advance();
      }
      finish<kOfK>(sums, w, own, lane);
    });
  }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1) tern_kernel($parameters) {
  extern __shared__ unsigned char memory[];
  let thread = threadIdx.x, k = (tern_shared(memory) + 1023u) & ~1023u;
  let q = k + (kOfK ? 2u : 1u) * kBytesOfK, out = q + kStages * kBytesOfQ, known = out + kStagesOfSecond * kBytesOfQ;
  const Memory at{k, k + kBytesOfK, q, out, known, known + kStages * kKnown};
  if (thread == 0u) {
    tern_barrier_init(at.full_k(), 1u), tern_barrier_init(at.empty_k(), 4u * kConsumers);
    for (Ring r; r.round == 0u; r.advance())
      tern_barrier_init(at.full(r), 2u), tern_barrier_init(at.empty(r), 4u * kConsumers);
    for (SecondRing r; r.round == 0u; r.advance())
      tern_barrier_init(at.full_out(r), 1u), tern_barrier_init(at.empty_out(r), 4u * kConsumers);
    tern_barriers_ready();
  }
  __syncthreads();
  const Attention call{params$buffer_names};
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 $producer_registers;");
    if (thread < 32u) call.fetch(map0, map1, map2, map3, at, thread);
    else if (thread >= 32u && thread < 64u) call.fetch_known(at, thread - 32u);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 $consumer_registers;");
    let member = same(thread / 128u) - 1u;
    if constexpr (kOfBoth) call.attend(at, thread, member);
    else call.attend_to_one(at, thread, member);
  }
}
