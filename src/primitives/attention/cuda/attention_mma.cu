// Attention, forward, from compute capability 8.0 on: of 16-bit floats on tensor cores, of f32 by fma. It is
// FlashAttention-2 (Dao, https://arxiv.org/abs/2307.08691) with the user's formula in it.
//
//                     columns: kColumns at a time
//                   ┌──────────┐
//   kRows: q  warp 0│          │      sums [kRows × width], in registers
//             warp 1│  scores  │  ──►  of each warp its 16·kBlocks rows
//             warp 2│          │
//             warp 3│          │
//                   └──────────┘
//
// A workgroup of four warps has kRows rows of one head, which are fetched into workgroup memory once. Tiles of k and v
// go through a ring of two places: while one is used, the next is on its way. For each tile
//
//   scores = q·kᵀ (tensor cores)             they stay where mma leaves them: a lane has of 8 columns two, of two rows
//   formula, and -inf what is not seen       the mask only in tiles at an edge; tiles may pass the end
//   row maximum (two exchanges), 2^(score·log2(e) - maximum), older sums times 2^(older - newer)
//   sums += shares·v (tensor cores)          the layout of sums is that of a first factor: shares never leave registers
//
// and at the end everything divided by the row's sum, a lane storing eight neighbours. Tiles that no row sees are not
// visited. Workgroups with the most columns start first. attention_units.cu has tiles and products, mma_row_pieces.cu
// what attention_mma_rows.cu does alike; cuda_forward.cpp fills the holes. A warp has 32 rows where registers allow
// (sums of 128 columns: 128 of them), as a block of k or v read from workgroup memory then serves four instructions:
// with 16 rows reading would take as long.
//
// Speed. Bound by mma.sync, with 0.54 of wgmma's speed (cuda/products/mma.cu), and of f32 by the multiply-adds. On an
// H200, 25 November 2026, bf16 4×16×4096: of 128 elements 1.70 ms, causal 1.03; of 64 elements 0.962 and 0.567
// (docs/benchmarks_families.md). f32 stands in docs/internals/attention.md.
//
// (The kernel is longer than other functions: each step leaves in registers what the next begins with, in arrays whose
// sizes are the instance's.)

// The instance.
enum : bool { kBegins = $begins };
enum : bool { kWideQ = $q_wide, kWideK = $k_wide, kWideV = $v_wide };  // 16 bytes are copied at once; else by elements
enum : u32 {
  kWarps = $warps, kThreads = 32u * kWarps,
  kBlocks = $blocks,  // of 16 rows, of a warp
  kRows = 16u * kBlocks * kWarps, kColumns = $columns_at_once, kAcross = kColumns / 8u,
  kDepth = $most_depth, kWidth = $most_width, kBytes = $bytes,  // of an element
  kScratch = $scratch,  // bytes of a warp, where products take their first factor from memory
  kBytesOfK = kBytes * kColumns * kDepth, kStage = kBytesOfK + kBytes * kColumns * kWidth,
};
$units
$formula

extern "C" __global__ void __launch_bounds__(kThreads, $resident) tern_kernel($parameters) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, rows_of_q = tern_shared(memory);
  let lane = thread & 31u, warp = thread / 32u;
  $part
  $block_of_rows
  const Rows q{(const Element*)$q, $q_from, $q_step, $q_step_in}, k{(const Element*)$k, $k_from, $k_step, $k_step_in},
      v{(const Element*)$v, $v_from, $v_step, $v_step_in};
  $seek_tiles
  u32 stage = rows_of_q + kBytes * kRows * kDepth, other = stage + kStage;
  [[maybe_unused]] let scratch = other + kStage + warp * kScratch;
  fetch<kWideQ, kRows, kDepth>(q, first_row, $rows, $depth, rows_of_q, thread);
  $fetch_tile(begin, stage)
  tern_commit();
  f32 sums[kBlocks][kWidth / 8u][4] = {}, tops[kBlocks][2], totals[kBlocks][2] = {};  // tops: times log2(e)
#pragma unroll
  for (u32 i = 0u; i < 2u * kBlocks; ++i) { tops[i / 2u][i % 2u] = $lowest; }
#pragma unroll 1
  for (u32 column = begin, next; column < end; column = next) {
    $next_tile
    f32 s[kBlocks][kAcross][4] = {};
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
    $begin_scores((lane & 3u) * 2u)
    multiply_rows<kBlocks, kAcross, kDepth>(s, rows_of_q, warp * 16u * kBlocks, stage, lane);
    const bool edge = column + kColumns > end$edge;
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
        [[maybe_unused]] let own_row = min(row, $rows - 1u);
        f32 place = 0.0f;  // what it adds to all scores of the row in the tile
        if constexpr (kBegins) {
          [[maybe_unused]] let first = column, ahead = 0u, at = 0u;
          f32 begin = 0.0f;
          $begin
          place = begin * $factor;
        }
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, $last_column);
          [[maybe_unused]] f32& x = s[i][j / 2u][2u * h + j % 2u];
          $score
        }
        $mask_edge(at < end && $seen, $lowest)
        f32 top = s[i][0][2u * h];
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) { top = fmaxf(top, s[i][j / 2u][2u * h + j % 2u]); }
        top = fmaxf(fma(tern_quad_largest(top), $factor, place), tops[i][h]);
        let base = top == $lowest ? 0.0f : top;
        let older = tern_power_of_two(tops[i][h] - base);
        tops[i][h] = top;
        f32 total = 0.0f;
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, $columns - 1u);
          f32& x = s[i][j / 2u][2u * h + j % 2u];
          x = tern_power_of_two(fma(x, $factor, place - base));
          total += x;
          $thin
        }
        totals[i][h] = fma(totals[i][h], older, total);
#pragma unroll
        for (u32 j = 0u; j < kWidth / 8u; ++j) { sums[i][j][2u * h] *= older, sums[i][j][2u * h + 1u] *= older; }
      }
    multiply_sums<kBlocks, kAcross, kWidth>(sums, s, stage + kBytesOfK, lane, scratch);
    $swap_places
  }
  tern_wait_copies();
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
      let total = tern_quad_sum(totals[i][h]);
      let inverse = total == 0.0f ? 1.0f : 1.0f / total;
      $store_sums(sums, kWidth, row < $rows, $width, $store)
      if ((lane & 3u) == 0u && row < $rows) {
        [[maybe_unused]] let top = tops[i][h] * 0.6931471805599453f;
        $store_row
      }
    }
}
