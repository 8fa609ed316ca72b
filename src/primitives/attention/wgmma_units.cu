// Products of tiles of 16-bit floats in workgroup memory by wgmma (PTX ISA, section wgmma), of the 64 rows of a warp
// group: for attention_wgmma.cu, which has the layout of tiles and sums.
// ---- products ----
// 64 rows of q and 16 elements, times the rows of k.
TERN_DEVICE void multiply_first(f32 (&s)[kAcross][4], u64 q, u64 k) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n$columns_of_tile" "k16.f32.$type.$type {$score_registers}, $score_factors, "
      "p, 1, 1, 0, 0;\n}" : $scores_set : "l"(q), "l"(k));
}
TERN_DEVICE void multiply(f32 (&s)[kAcross][4], u64 q, u64 k) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n$columns_of_tile" "k16.f32.$type.$type {$score_registers}, "
      "$score_factors, 1, 1, 1, 0, 0;" : $scores : "l"(q), "l"(k));
}
// 64 rows of shares of 16 columns, times those rows of v.
TERN_DEVICE void multiply(f32 (&sums)[kWidth / 8u][4], const u32 (&shares)[4], u64 v) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n$width_of_sums" "k16.f32.$type.$type {$sum_registers}, "
      "{$share_registers}, $sum_factor, 1, 1, 1, 1;"
      : $sums : "r"(shares[0]), "r"(shares[1]), "r"(shares[2]), "r"(shares[3]), "l"(v));
}
// Until all products but the last `sent` are there.
template <u32 sent> TERN_DEVICE void wait_for_scores(f32 (&s)[kAcross][4]) {
  if constexpr (sent == 1u) asm volatile("wgmma.wait_group.sync.aligned 1;" : $scores :: "memory");
  else asm volatile("wgmma.wait_group.sync.aligned 0;" : $scores :: "memory");
}
// What waits for products is moved up by the compiler as far as memory lets it, in front of all of a tile's powers of
// two. So there is a store before it that depends on their sums, and is never made, as these are not negative.
TERN_DEVICE void have_now(const f32 (&totals)[2], u32 nowhere) {
  asm volatile("{\n.reg .pred p;\nsetp.lt.f32 p, %0, 0f00000000;\n@p st.shared.f32 [%1], %0;\n}"
               :: "f"(totals[0] + totals[1]), "r"(nowhere) : "memory");
}
TERN_DEVICE void wait_for_sums(f32 (&sums)[kWidth / 8u][4]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : $sums :: "memory");
}
TERN_DEVICE void multiply_scores(f32 (&s)[kAcross][4], u32 q, u32 k) {
  tern_begin_products();
#pragma unroll
  for (u32 i = 0u; i < kDepth / 16u; ++i) {
    let a = tern_matrix(q + i / 4u * kPieceOfQ + i % 4u * 32u, 16u);
    let b = tern_matrix(k + i / 4u * kPiece + i % 4u * 32u, 16u);
    if (i == 0u) multiply_first(s, a, b);
    else multiply(s, a, b);
  }
  tern_commit_products();
}
TERN_DEVICE void multiply_shares(f32 (&sums)[kWidth / 8u][4], const u32 (&shares)[kColumns / 16u][4], u32 v) {
  tern_begin_products();
#pragma unroll
  for (u32 i = 0u; i < kColumns / 16u; ++i) multiply(sums, shares[i], tern_matrix(v + i * 2048u, kPiece));
  tern_commit_products();
}

