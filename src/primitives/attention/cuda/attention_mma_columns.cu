// The gradients of attention by k and v, beside attention_mma.cu. A workgroup has kColumns keys of one key
// head in workgroup memory, with their values. Tiles of rows of q and of the result's gradient go through a ring of two
// places, for every query head that shares the keys, transposed so that keys are rows of the products:
//
//                           rows: kRows at a time, of q and of the result's gradient
//                         ┌───────────────────────────────┐
//   kColumns keys  warp 0 │  products, toward:            │      k's sums [kColumns × depth] and
//   and values     warp 1 │  then shares, slopes          │ ──►  v's sums [kColumns × width], in registers
//                  warp 2 │  of each warp 16·kBlocks keys │      of each warp its keys, of which a lane has what it has
//                  warp 3 │                               │      of scores: keys l / 4 and l / 4 + 8, of 8 columns two
//                         └───────────────────────────────┘
//
// and of each tile
//
//   products = k·qᵀ, toward = v·out_gradᵀ       (tensor cores)
//   shares = 2^(score·log2(e) - top) / total    with the formula, and what forward kept of a row
//   slopes = formula's slope of shares · (toward - means)
//   v's sums += shares·out_grad, k's sums += slopes·q    (tensor cores; shares and slopes never leave registers)
//
// Of more than 128 elements the sums of both would not fit registers: there are two kernels then, each with its sums.
// Nothing is shared between workgroups, so the bits are the same every run. cuda_backward.cpp fills the holes.
//
// Speed. Bound by mma.sync (of f32 by the multiply-adds), four products a tile, and by registers, which of more than 64
// elements leave a warp 16 keys, so that what is read of workgroup memory serves half as many products. bf16
// 4×16×4096×128 took 4.69 ms on an H200, 29 November 2026, 234 TFLOP/s, and of 64 elements 2.57 (by itself, Nsight
// Compute, TERN_ATTENTION_KERNEL=mma).
//
// (The kernel is longer than other functions: each step leaves in registers what the next begins with, in arrays whose
// sizes are the instance's.)

// The instance.
enum : bool { kBegins = $begins };
enum : bool {
  kWideQ = $q_wide, kWideK = $k_wide, kWideV = $v_wide, kWideOut = $out_wide,
  kOfK = $of_k, kOfV = $of_v,  // whose gradients it gives
};
enum : u32 {
  kWarps = $warps, kThreads = 32u * kWarps,
  kBlocks = $blocks,  // of 16 keys, of a warp
  kColumns = 16u * kBlocks * kWarps, kRows = $rows_at_once, kAcross = kRows / 8u,
  kDepth = $most_depth, kWidth = $most_width, kBytes = $bytes,  // of an element
  kScratch = $scratch,  // bytes of a warp, where products take their first factor from memory
  kBytesOfK = kBytes * kColumns * kDepth, kBytesOfQ = kBytes * kRows * kDepth, kBytesOfOut = kBytes * kRows * kWidth,
  kStage = kBytesOfQ + kBytesOfOut + 4u * 3u * kRows,  // tops, totals and means last
};
$units
$formula

extern "C" __global__ void __launch_bounds__(kThreads, $resident) tern_kernel($parameters) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, group = blockIdx.x, rows_of_k = tern_shared(memory);
  let rows_of_v = rows_of_k + kBytesOfK;
  let lane = thread & 31u, warp = thread / 32u;
  let key_head_of_all = group / $tiles;
  let first_column = (group - key_head_of_all * $tiles) * kColumns;
  let batch = key_head_of_all / $groups;
  let key_head = key_head_of_all - batch * $groups;
  let shared = $heads / $groups;
  var begin = 0u;
  var end = $rows;
  $range
  $length
  const Rows k{(const Element*)$k, $k_from, $k_step, $k_step_in}, v{(const Element*)$v, $v_from, $v_step, $v_step_in};
  u32 stage = rows_of_v + kBytes * kColumns * kWidth, other = stage + kStage;
  [[maybe_unused]] let scratch = other + kStage + warp * kScratch;
  fetch<kWideK, kColumns, kDepth>(k, first_column, $columns_end, $depth, rows_of_k, thread);
  fetch<kWideV, kColumns, kWidth>(v, first_column, $columns_end, $width, rows_of_v, thread);
  const auto fetch_rows = [&](u32 head, u32 first, u32 to) {
    const Rows q{(const Element*)$q, $q_from, $q_step, $q_step_in},
        out{(const Element*)$out, $out_from, $out_step, $out_step_in};
    fetch<kWideQ, kRows, kDepth>(q, first, end, $depth, to, thread);
    fetch<kWideOut, kRows, kWidth>(out, first, end, $width, to + kBytesOfQ, thread);
    if (thread < kRows) {
      let row = min(first + thread, $rows - 1u), bytes = first + thread < end ? 4u : 0u;
      let at = to + kBytesOfQ + kBytesOfOut + 4u * thread;
      $fetch_row
    }
  };
  $seen_of
  // The first tile from there on of which something is seen, in the rows of this or a later one; sharer = shared: none.
  const auto seek = [&](u32& sharer, u32& first_row) {
    while (sharer < shared) {
      if (first_row >= end) { sharer += 1u, first_row = begin; continue; }
      $seek
      return;
    }
  };
  u32 sharer = 0u, first_row = begin;
  seek(sharer, first_row);
  f32 sums_of_k[kBlocks][kDepth / 8u][4] = {}, sums_of_v[kBlocks][kWidth / 8u][4] = {};
  if (sharer < shared) fetch_rows(key_head * shared + sharer, first_row, stage);
  tern_commit();
#pragma unroll 1
  while (sharer < shared) {
    [[maybe_unused]] let head = key_head * shared + sharer;
    tern_wait_copies();
    __syncthreads();
    u32 next_sharer = sharer, next = first_row + kRows;
    seek(next_sharer, next);
    if (next_sharer < shared) fetch_rows(key_head * shared + next_sharer, next, other);
    tern_commit();
    $seen_block
    f32 s[kBlocks][kAcross][4] = {}, g[kBlocks][kAcross][4] = {};
    [[maybe_unused]] let first = first_row + (lane & 3u) * 2u;
    if constexpr (kBegins) {  // what the formula adds to the products
      [[maybe_unused]] let ahead = 0u, own_row = 0u;
#pragma unroll
      for (u32 i = 0u; i < 2u * kBlocks; ++i) {
        let column = first_column + (warp * kBlocks + i / 2u) * 16u + 8u * (i % 2u) + lane / 4u;
        [[maybe_unused]] let at = min(column, $columns - 1u);
        f32 along = 0.0f, begin = 0.0f;
        $along
        $begin
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j)
          s[i / 2u][j / 2u][2u * (i % 2u) + j % 2u] = fma(along, f32(j / 2u * 8u + j % 2u), begin);
      }
    }
    multiply_rows<kBlocks, kAcross, kDepth>(s, rows_of_k, warp * 16u * kBlocks, stage, lane);
    if constexpr (kOfK)
      multiply_rows<kBlocks, kAcross, kWidth>(g, rows_of_v, warp * 16u * kBlocks, stage + kBytesOfQ, lane);
    const f32* const of_rows = (const f32*)(memory + (stage - rows_of_k) + kBytesOfQ + kBytesOfOut);
    const bool edge = first_row + kRows > end || first_column + kColumns > $columns_end$edge;
#pragma unroll
    for (u32 j = 0u; j < 2u * kAcross; ++j) {
      [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u;
      let row = first + ahead, in_tile = row - first_row;
      [[maybe_unused]] let own_row = min(row, $rows - 1u);
      [[maybe_unused]] let middle = i32(row) + i32($shift);
      let total = of_rows[kRows + in_tile], mean = of_rows[2u * kRows + in_tile];
      let top = total == 0.0f ? $highest : of_rows[in_tile] * 1.4426950408889634f;  // shares of 0
      let inverse = total == 0.0f ? 0.0f : tern_inverse(total);
#pragma unroll
      for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
        for (u32 h = 0u; h < 2u; ++h) {
          let column = first_column + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
          [[maybe_unused]] let at = min(column, $columns - 1u);
          f32 &x = s[i][j / 2u][2u * h + j % 2u], &y = g[i][j / 2u][2u * h + j % 2u];
          $score
          var share = tern_power_of_two(fma(score, $factor, -top)) * inverse;
          [[maybe_unused]] f32 incoming = y;
          $thin
          [[maybe_unused]] let toward = share * (incoming - mean);
          $slope
          $thin_share
          if (edge && !(row < $rows && $seen)) { share = 0.0f, y = 0.0f; }
          x = share;
        }
    }
    if constexpr (kOfV) multiply_sums<kBlocks, kAcross, kWidth>(sums_of_v, s, stage + kBytesOfQ, lane, scratch);
    if constexpr (kOfK) multiply_sums<kBlocks, kAcross, kDepth>(sums_of_k, g, stage, lane, scratch);
    $swap_places
    sharer = next_sharer, first_row = next;
  }
  tern_wait_copies();
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let column = first_column + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
      if constexpr (kOfK) {
        $store_sums(sums_of_k, kDepth, column < $columns, $depth, $store_k)
      }
      if constexpr (kOfV) {
        $store_sums(sums_of_v, kWidth, column < $columns, $width, $store_v)
      }
    }
}
