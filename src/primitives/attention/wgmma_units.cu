// Products of tiles of 16-bit floats in workgroup memory by wgmma (PTX ISA, section wgmma), of the 64 rows of a warp
// group: for the kernels of attention on Hopper. attention_wgmma.cu has drawings of tiles and sums.
// ---- rings ----
// The place of a ring that comes next, and the parity of the round through it.
struct Ring {
  u32 stage = 0u, round = 0u;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) { stage = 0u, round ^= 1u; }
  }
};
TERN_DEVICE void give_up(u32 barrier, u32 lane) {
  if (lane == 0u) tern_arrive_here(barrier);
}
// A turn at sending products off: consumer i waits at barrier 1 + i, at which the one before arrives.
TERN_DEVICE void take_turn(u32 member) {
  if constexpr (kTakesTurns) asm volatile("barrier.cta.sync %0, 256;" :: "r"(1u + member) : "memory");
}
TERN_DEVICE void pass_turn(u32 member) {
  let next = member + 1u == kConsumers ? 0u : member + 1u;
  if constexpr (kTakesTurns) asm volatile("barrier.cta.arrive %0, 256;" :: "r"(1u + next) : "memory");
}
// The work of a round. Every other round of the processors goes backwards: none has the long ones of all rounds.
TERN_DEVICE u32 group_of(u32 round) {
  return round * gridDim.x + (round & 1u ? gridDim.x - 1u - blockIdx.x : blockIdx.x);
}

// ---- products ----
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
// s = a·bᵀ for 64 rows of a and a tile b, which lie in pieces of 64 elements.
template <u32 elements>
TERN_DEVICE void multiply_rows(f32 (&s)[kAcross][4], u32 a, u32 piece_of_a, u32 b, u32 piece_of_b) {
#pragma unroll
  for (u32 i = 0u; i < elements / 16u; ++i) {
    let of_a = tern_matrix(a + i / 4u * piece_of_a + i % 4u * 32u, 16u);
    let of_b = tern_matrix(b + i / 4u * piece_of_b + i % 4u * 32u, 16u);
    if (i == 0u) multiply_first(s, of_a, of_b);
    else multiply(s, of_a, of_b);
  }
}
// sums += shares·b.
TERN_DEVICE void multiply_sums(f32 (&sums)[kSumsAcross][4], const u32 (&shares)[kAcross / 2u][4], u32 b, u32 piece) {
#pragma unroll
  for (u32 i = 0u; i < kAcross / 2u; ++i) multiply(sums, shares[i], tern_matrix(b + i * 2048u, piece));
}
// Until all groups of products but the last `sent` are there, among them these.
template <u32 sent> TERN_DEVICE void wait_for(f32 (&s)[kAcross][4]) {
  if constexpr (sent == 1u) asm volatile("wgmma.wait_group.sync.aligned 1;" : $scores :: "memory");
  else asm volatile("wgmma.wait_group.sync.aligned 0;" : $scores :: "memory");
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
