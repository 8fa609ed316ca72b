// What the kernels of attention on Hopper share that keep rows of q and let tiles of k and v pass by
// (attention_wgmma.cu, attention_wgmma_rows.cu): the barriers of what is fetched, the blocks of rows, and what scores
// begin with.

// ---- barriers ----
// Of the rows, and of each place of the rings of k and v, two: full counts bytes that arrive, empty the warps that have
// read it. Between them is a word that nobody reads (wgmma_units.cu, have_now).
struct Barriers {
  u32 barriers;
  __device__ __forceinline__ u32 full_q() const { return barriers; }
  __device__ __forceinline__ u32 empty_q() const { return barriers + 8u; }
  __device__ __forceinline__ u32 nowhere() const { return barriers + 16u; }
  __device__ __forceinline__ u32 full_k(Ring r) const { return barriers + 24u + 8u * r.stage; }
  __device__ __forceinline__ u32 empty_k(Ring r) const { return full_k(r) + 8u * kStages; }
  __device__ __forceinline__ u32 full_v(SecondRing r) const { return barriers + 24u + 16u * kStages + 8u * r.stage; }
  __device__ __forceinline__ u32 empty_v(SecondRing r) const { return full_v(r) + 8u * kStagesOfSecond; }
  __device__ __forceinline__ u32 end() const { return barriers + 24u + 16u * (kStages + kStagesOfSecond); }
  __device__ __forceinline__ u32 patch() const { return end(); }  // clear_beyond()
  // By one thread.
  __device__ __forceinline__ void init() const {
    tern_barrier_init(patch(), 1u);
    tern_barrier_init(full_q(), 1u), tern_barrier_init(empty_q(), 4u * kConsumers);
    for (Ring r; r.round == 0u; r.advance())
      tern_barrier_init(full_k(r), 1u), tern_barrier_init(empty_k(r), 4u * kConsumers);
    for (SecondRing r; r.round == 0u; r.advance())
      tern_barrier_init(full_v(r), 1u), tern_barrier_init(empty_v(r), 4u * kConsumers);
  }
};

// Rows of a tile from the sample's length on are not its own: 0 times what lies there could be NaN. By a warp, when the
// tile is there.
template <u32 elements> TERN_DEVICE void clear_beyond(u32 tile, u32 length, u32 lane) {
  for (u32 row = length + lane / 8u; row < kColumns; row += 4u)
#pragma unroll
    for (u32 i = 0u; i < elements / 64u; ++i)
      asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};"
                   ::"r"(tile + i * kPiece + row * 128u + lane % 8u * 16u), "r"(0u) : "memory");
  tern_show_to_copies();
  __syncwarp();
}

// ---- rows ----
// A block of rows, and the columns that they may see. Those from `length` on hold anything.
struct Work {
  u32 batch, head, key_head, first_row, begin, end, length;
};
$formula
struct RowBlocks {
  const Params& params;
  $buffers
  // The blocks of a head stand together, those with the most columns first.
  __device__ __forceinline__ Work work_of(u32 own_group) const {
    let head_of_all = own_group / $tiles;
    let first_row = ($tiles - 1u - (own_group - head_of_all * $tiles)) * kRows;
    let batch = head_of_all / $heads;
    let head = head_of_all - batch * $heads;
    var begin = 0u;
    var end = $columns;
    $range
    $length
    const Work w{batch, head, head / ($heads / $groups), first_row, begin, end, $length_of_all};
    return {batch, head, w.key_head, first_row, seek(w, begin), end, w.length};
  }
  // The first tile from `column` on of which something is seen.
  __device__ __forceinline__ u32 seek(const Work& w, u32 column) const {
    [[maybe_unused]] let batch = w.batch, head = w.head, first_row = w.first_row, end = w.end;
    $seen_of
    $seek
    return column;
  }
  // What the formula adds to scores along the columns, counted from the one at which its beginning is taken; a lane's
  // first is the one `from` columns on.
  __device__ __forceinline__ void begin_scores(f32 (&s)[kAcross][4], const Work& w, u32 own, u32 from) const {
    if constexpr (!kBegins) return;
    [[maybe_unused]] let batch = w.batch, head = w.head, first = 0u, ahead = 0u, at = 0u;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      [[maybe_unused]] let own_row = min(own + 8u * h, $rows - 1u);
      f32 along = 0.0f;
      $along
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        s[j / 2u][2u * h + j % 2u] = along * f32(j / 2u * 8u + from + j % 2u);
      }
    }
  }
};
