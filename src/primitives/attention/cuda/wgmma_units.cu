// Products of tiles of 16-bit floats in workgroup memory by wgmma (PTX ISA, section wgmma), of the 64 rows of a warp
// group: for the kernels of attention on Hopper. attention_wgmma.cu has drawings of tiles and sums, what bounds the
// kernels and how fast they are.
// ---- rings ----
// The place of a ring that comes next, and the parity of the round through it.
template <u32 places> struct RingOf {
  u32 stage = 0u, round = 0u;
  __device__ __forceinline__ void advance() {
    if (++stage == places) { stage = 0u, round ^= 1u; }
  }
};
// Of two tiles that pass by together: those that scores are products of, and the others.
using Ring = RingOf<kStages>;
using SecondRing = RingOf<kStagesOfSecond>;
TERN_DEVICE void give_up(u32 barrier, u32 lane) {
  if (lane == 0u) tern_arrive_here(barrier);
}
// Consumers send products off one after the other (ping-pong): consumer i waits at barrier 1 + i, at which the
// one before arrives.
TERN_DEVICE void await_ping_pong(u32 member) {
  if constexpr (kPingPong) asm volatile("barrier.cta.sync %0, 256;" :: "r"(1u + member) : "memory");
}
TERN_DEVICE void pass_ping_pong(u32 member) {
  let next = member + 1u == kConsumers ? 0u : member + 1u;
  if constexpr (kPingPong) asm volatile("barrier.cta.arrive %0, 256;" :: "r"(1u + next) : "memory");
}
// The work of a round. Every other round of the processors goes backwards: none has the long ones of all rounds.
TERN_DEVICE u32 group_of(u32 round) {
  return round * gridDim.x + (round & 1u ? gridDim.x - 1u - blockIdx.x : blockIdx.x);
}

// ---- boxes ----
// Of `elements` elements of the rows of a tile the pieces of 64, which lie `piece` bytes apart.
template <u32 elements>
TERN_DEVICE void fetch_pieces(u32 to, u32 piece, const BoxMap& map, u32 row, u32 head, u32 batch, u32 barrier,
                              u64 policy) {
#pragma unroll
  for (u32 i = 0u; i < elements / 64u; ++i)
    tern_fetch(to + i * piece, map, 64u * i, row, head, batch, barrier, policy);
}

// ---- products ----
// A value that all lanes have alike, and said so: addresses of matrices are then kept in uniform registers.
TERN_DEVICE u32 same(u32 x) { return __shfl_sync(0xffffffffu, x, 0); }
// The matrix that begins so many bytes further on. Its address does not leave the lower word, of which nothing else is
// touched: one addition a matrix, where the whole description took five to eight instructions, 1.5 a score.
TERN_DEVICE u64 further(u64 matrix, u32 bytes) {
  return matrix & 0xffffffff00000000ull | u64(u32(matrix) + (bytes >> 4u));
}
// 64 rows and 16 elements, times those of the rows of a tile.
TERN_DEVICE void multiply_first(f32 (&s)[kAcross][4], u64 a, u64 b) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n$rows_of_tile" "k16.f32.$type.$type {$score_registers}, $score_factors, "
      "p, 1, 1, 0, 0;\n}" : $scores_set : "l"(a), "l"(b));
}
TERN_DEVICE void multiply(f32 (&s)[kAcross][4], u64 a, u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n$rows_of_tile" "k16.f32.$type.$type {$score_registers}, "
      "$score_factors, 1, 1, 1, 0, 0;" : $scores : "l"(a), "l"(b));
}
// 64 rows of shares of 16 rows of a tile, times those.
TERN_DEVICE void multiply(f32 (&sums)[kSumsAcross][4], const u32 (&shares)[4], u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n$width_of_sums" "k16.f32.$type.$type {$sum_registers}, "
      "{$share_registers}, $sum_factor, 1, 1, 1, 1;"
      : $sums : "r"(shares[0]), "r"(shares[1]), "r"(shares[2]), "r"(shares[3]), "l"(b));
}
// s = a·bᵀ for 64 rows of a and a tile b, which lie in pieces of 64 elements; with `begun` added to what is there.
template <u32 elements, bool begun = false>
TERN_DEVICE void multiply_rows(f32 (&s)[kAcross][4], u32 first_of_a, u32 piece_of_a, u32 first_of_b, u32 piece_of_b) {
  let a = tern_matrix(first_of_a, 16u), b = tern_matrix(first_of_b, 16u);
#pragma unroll
  for (u32 i = 0u; i < elements / 16u; ++i) {
    let of_a = further(a, i / 4u * piece_of_a + i % 4u * 32u), of_b = further(b, i / 4u * piece_of_b + i % 4u * 32u);
    if (i == 0u && !begun) multiply_first(s, of_a, of_b);
    else multiply(s, of_a, of_b);
  }
}
// sums += shares·b.
TERN_DEVICE void multiply_sums(f32 (&sums)[kSumsAcross][4], const u32 (&shares)[kAcross / 2u][4], u32 b, u32 piece) {
  let first = tern_matrix(b, piece);
#pragma unroll
  for (u32 i = 0u; i < kAcross / 2u; ++i) multiply(sums, shares[i], further(first, i * 2048u));
}
// Until all groups of products but the last `sent` are there, among them these.
template <u32 sent> TERN_DEVICE void wait_for(f32 (&s)[kAcross][4]) {
  if constexpr (sent == 1u) asm volatile("wgmma.wait_group.sync.aligned 1;" : $scores :: "memory");
  else asm volatile("wgmma.wait_group.sync.aligned 0;" : $scores :: "memory");
}
// For what memory they have read.
template <u32 sent> TERN_DEVICE void wait_for_all_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(sent) : "memory");
}
// Others of the same groups.
TERN_DEVICE void hold(f32 (&s)[kAcross][4]) { asm volatile("" : $scores :: "memory"); }
TERN_DEVICE void hold_sums(f32 (&sums)[kSumsAcross][4]) { asm volatile("" : $sums :: "memory"); }
TERN_DEVICE void wait_for_sums(f32 (&sums)[kSumsAcross][4]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : $sums :: "memory");
}
// What waits for products is moved up by the compiler as far as memory lets it, in front of a whole tile's formulas. So
// there is a store before it that depends on their results, to where nothing is read.
TERN_DEVICE u32 all_of(const f32 (&s)[kAcross][4]) {
  u32 all = 0u;
#pragma unroll
  for (u32 i = 0u; i < 4u * kAcross; ++i) { all ^= bitcast<u32>(s[i / 4u][i % 4u]); }
  return all;
}
TERN_DEVICE void have_now(u32 results, u32 nowhere) {
  asm volatile("st.shared.u32 [%0], %1;" :: "r"(nowhere), "r"(results) : "memory");
}
// What powers of two are below so that they are shares: the sum of a row joins what its powers were below. Of large
// scores that loses less than the rounding of the score. Of a row that sees nothing shares are 0.
TERN_DEVICE f32 top_of_shares(f32 top, f32 total) {
  f32 places;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(places) : "f"(total));
  return total == 0.0f ? $highest : fma(top, 1.4426950408889634f, places);
}
// Rounded and packed, the first factor of the next product.
TERN_DEVICE void pack(u32 (&shares)[kAcross / 2u][4], const f32 (&s)[kAcross][4]) {
#pragma unroll
  for (u32 i = 0u; i < kAcross / 2u; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      shares[i][2u * h] = $pair(s[2u * i + h][0], s[2u * i + h][1]);
      shares[i][2u * h + 1u] = $pair(s[2u * i + h][2], s[2u * i + h][3]);
    }
}
