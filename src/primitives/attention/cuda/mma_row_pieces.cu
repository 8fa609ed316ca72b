// Pieces (kernel_file.hpp) of the kernels of attention from compute capability 8.0 on that keep rows of q and let tiles
// of k and v pass by: attention_mma.cu, which draws them, and attention_mma_rows.cu. attention_mma_columns.cu, which
// keeps columns, stores its sums likewise.

The rows of a workgroup, and the columns that they may see. The blocks of a head stand together, those with the most
columns first.
$define block_of_rows
  let head_of_all = own_group / $tiles;
  let first_row = ($tiles - 1u - (own_group - head_of_all * $tiles)) * kRows;
  let batch = head_of_all / $heads;
  let head = head_of_all - batch * $heads;
  let key_head = head / ($heads / $groups);
  var begin = 0u;
  var end = $columns;
  $range
  $length
$end
$define seek_tiles
  $seen_of
  // The first tile from `column` on of which something is seen.
  const auto seek = [&](u32 column) {
    $seek
    return column;
  };
  begin = seek(begin);
$end
A tile goes to one of the two places.
$define fetch_tile(first, to)
  fetch<kWideK, kColumns, kDepth>(k, $first, end, $depth, $to, thread);
  fetch<kWideV, kColumns, kWidth>(v, $first, end, $width, $to + kBytesOfK, thread);
$end
The tile of this step is there, and the next one on its way.
$define next_tile
  tern_wait_copies();
  __syncthreads();
  next = seek(column + kColumns);
  $seen_block
  if (next < end) {
    $fetch_tile(next, other)
  }
  tern_commit();
$end
$define swap_places
  let used = stage;
  stage = other, other = used;
$end
What the formula adds to scores along the columns, counted from the one at which its beginning is taken; a lane's first
is the one `from` columns on.
$define begin_scores(from)
  if constexpr (kBegins) {
    [[maybe_unused]] let ahead = 0u, at = 0u;
#pragma unroll
    for (u32 i = 0u; i < 2u * kBlocks; ++i) {
      let row = first_row + (warp * kBlocks + i / 2u) * 16u + 8u * (i % 2u) + lane / 4u;
      [[maybe_unused]] let own_row = min(row, $rows - 1u);
      f32 along = 0.0f;
      $along
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j)
        s[i / 2u][j / 2u][2u * (i % 2u) + j % 2u] = along * f32(j / 2u * 8u + $from + j % 2u);
    }
  }
$end
Scores at an edge of what row h of block i sees.
$define mask_edge(seen, masked)
  if (edge) {
    [[maybe_unused]] let middle = i32(row) + i32($shift);
#pragma unroll
    for (u32 j = 0u; j < 2u * kAcross; ++j) {
      let at = first + j / 2u * 8u + j % 2u;
      if (!($seen)) { s[i][j / 2u][2u * h + j % 2u] = $masked; }
    }
  }
$end
Row h of block i of sums to memory, eight neighbours a lane; of `most` elements there are `size`.
$define store_sums(sums, most, inside, size, to_memory)
#pragma unroll
  for (u32 j = 0u; j < $most / 8u; j += 4u) {
    let x = tern_quad_row(&$sums[i][j], h);
    let first = j * 8u + (lane & 3u) * 8u;
    if ($inside && first < $size) {
      $to_memory
    }
  }
$end
