// The gradient of attention by q: as attention_mma.cu, but for what is done with a tile of scores. A workgroup has its
// kRows rows of q and of the result's gradient in workgroup memory; tiles of k and v go through a ring of two places:
//
//                             columns: kColumns at a time, of k and of v
//                           ┌───────────────────────────────┐
//   kRows: q, and    warp 0 │  products, toward:            │      sums [kRows × depth], in registers
//   the result's     warp 1 │  then shares, slopes          │ ──►  of each warp its 16·kBlocks rows, of which a lane
//   gradient         warp 2 │  of each warp 16·kBlocks rows │      has what it has of scores: of 8 columns two, of rows
//                    warp 3 │                               │      l / 4 and l / 4 + 8
//                           └───────────────────────────────┘
//
// and of each tile
//
//   products = q·kᵀ, toward = out_grad·vᵀ       (tensor cores)
//   shares = 2^(score·log2(e) - top) / total    with the formula, and what forward kept of a row
//   slopes = formula's slope of shares · (toward - means)
//   sums += slopes·k                            (tensor cores; slopes never leave registers)
//
// Nothing is shared between workgroups, so the bits are the same every run. mma_row_pieces.cu has what attention_mma.cu
// does alike; cuda_backward.cpp fills the holes.
//
// Speed. Bound by mma.sync (of f32 by the multiply-adds), three products a tile: bf16 4×16×4096×128 took 2.22 ms on an
// H200, 29 November 2026, 371 TFLOP/s, and of 64 elements 1.15 (by itself, Nsight Compute, TERN_ATTENTION_KERNEL=mma);
// forward 1.70 and 0.95.
//
// (The kernel is longer than other functions: each step leaves in registers what the next begins with, in arrays whose
// sizes are the instance's.)

// The instance.
enum : bool { kBegins = $begins };
enum : bool { kWideQ = $q_wide, kWideK = $k_wide, kWideV = $v_wide, kWideOut = $out_wide };
enum : u32 {
  kWarps = $warps, kThreads = 32u * kWarps,
  kBlocks = $blocks,  // of 16 rows, of a warp
  kRows = 16u * kBlocks * kWarps, kColumns = $columns_at_once, kAcross = kColumns / 8u,
  kDepth = $most_depth, kWidth = $most_width, kBytes = $bytes,  // of an element
  kScratch = $scratch,  // bytes of a warp, where products take their first factor from memory
  kBytesOfQ = kBytes * kRows * kDepth, kBytesOfK = kBytes * kColumns * kDepth,
  kStage = kBytesOfK + kBytes * kColumns * kWidth,
};
$units
$formula

extern "C" __global__ void __launch_bounds__(kThreads, $resident) tern_kernel($parameters) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, own_group = blockIdx.x, rows_of_q = tern_shared(memory);
  let rows_of_out = rows_of_q + kBytesOfQ;
  let lane = thread & 31u, warp = thread / 32u;
  $block_of_rows
  const Rows q{(const Element*)$q, $q_from, $q_step, $q_step_in}, k{(const Element*)$k, $k_from, $k_step, $k_step_in},
      v{(const Element*)$v, $v_from, $v_step, $v_step_in},
      out{(const Element*)$out, $out_from, $out_step, $out_step_in};
  $seek_tiles
  u32 stage = rows_of_out + kBytes * kRows * kWidth, other = stage + kStage;
  [[maybe_unused]] let scratch = other + kStage + warp * kScratch;
  fetch<kWideQ, kRows, kDepth>(q, first_row, $rows, $depth, rows_of_q, thread);
  fetch<kWideOut, kRows, kWidth>(out, first_row, $rows, $width, rows_of_out, thread);
  $fetch_tile(begin, stage)
  tern_commit();
  f32 sums[kBlocks][kDepth / 8u][4] = {}, tops[kBlocks][2], inverses[kBlocks][2], means[kBlocks][2];
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let own_row = min(first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u, $rows - 1u);
      $load_row
      tops[i][h] = total == 0.0f ? $highest : top * 1.4426950408889634f;  // of a row that sees nothing shares are 0
      inverses[i][h] = total == 0.0f ? 0.0f : tern_inverse(total), means[i][h] = mean;
    }
#pragma unroll 1
  for (u32 column = begin, next; column < end; column = next) {
    $next_tile
    f32 s[kBlocks][kAcross][4] = {}, g[kBlocks][kAcross][4] = {};
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
    $begin_scores(0u)
    multiply_rows<kBlocks, kAcross, kDepth>(s, rows_of_q, warp * 16u * kBlocks, stage, lane);
    multiply_rows<kBlocks, kAcross, kWidth>(g, rows_of_out, warp * 16u * kBlocks, stage + kBytesOfK, lane);
    const bool edge = column + kColumns > end$edge;
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
        [[maybe_unused]] let own_row = min(row, $rows - 1u);
        f32 top = tops[i][h];
        if constexpr (kBegins) {
          [[maybe_unused]] let ahead = 0u, at = 0u;
          f32 begin = 0.0f;
          $begin
          top -= begin * $factor;
        }
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, $columns - 1u);
          f32& x = s[i][j / 2u][2u * h + j % 2u];
          $score
          let share = tern_power_of_two(fma(score, $factor, -top)) * inverses[i][h];
          f32 incoming = g[i][j / 2u][2u * h + j % 2u];
          $thin
          let toward = share * (incoming - means[i][h]);
          $slope
        }
        $mask_edge($seen, 0.0f)
      }
    multiply_sums<kBlocks, kAcross, kDepth>(sums, s, stage, lane, scratch);
    $swap_places
  }
  tern_wait_copies();
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
      $store_sums(sums, kDepth, row < $rows, $depth, $store)
    }
}
