// What attention asks of each SIMD target, beside the kernels of products: softmax along the rows of a tile of scores.
#pragma once
#include <cstdint>

#include "tern/dtype.hpp"

namespace tern::detail_cpu {

/// A row of scores, of which [first, end) is seen. In its place comes exp(scale · score - top), with 0 for what is not
/// seen, where top is the greatest so far; `total` and `sums`, of what came before, go by it from now on.
struct AttentionShares {
  void* scores;
  std::int64_t count, first, end;
  double scale;
  void *top, *total;  // one element each: -inf and 0 to begin with
  void* sums;
  std::int64_t width;
};
/// The same with what is known once all is summed: exp(scale · score - top) / total; 0 where total is. (A logarithm of
/// total, added to a top of 1e8, would be lost.)
struct AttentionPowers {
  void* scores;
  std::int64_t count, first, end;
  double scale, top, total;
};
/// slopes(j) = shares(j) · (slopes(j) - mean), the gradient of what the softmax saw from that of its shares.
struct AttentionSlopes {
  const void* shares;
  void* slopes;
  std::int64_t count;
  double mean;
};

/// Forward of a panel of rows, two vectors, one to each lane, and a tile of columns: the shares of its scores, and the
/// sums of v by them. q: depth × panel; k(p, j) at j / 6 · 6 · depth + 6 · p + j % 6, v(j, w) at w / 6 · v_block +
/// 6 · j + w % 6. Rows see columns [first, end), of compute type as all is; null: all. top and total are those of
/// AttentionShares and go on by this tile, as the sums do, width × panel.
inline constexpr int kAttentionBeside = 6;
struct AttentionLanes {
  const void *q, *k, *v;
  std::int64_t depth, cols, width, v_block;
  double scale;  // > 0
  const void *first, *end;
  void *scores, *sums, *top, *total;  // scores: cols × panel
};

/// Backward of the same, of a group of such panels side by side, and with both sides of each product: q and out_grad
/// as AttentionLanes reads q (depth and width elements a panel), k and v as it reads k; k_beside as it reads v, its
/// blocks k_block apart; of rows in the group's order q_rows(i, p) at p / panel · rows_block + i · panel + p % panel,
/// and out_grad_rows. A row's shares are exp(scale · score - shift) · factor, its slopes shares · (share_grad - mean).
/// The gradients, without the scale, are added to q_grad (as q lies), k_grad and v_grad (cols × k_row and v_row).
struct AttentionLanesBackward {
  const void *q, *out_grad, *q_rows, *out_grad_rows, *k, *v, *k_beside;
  std::int64_t panels, depth, width, cols, rows_block, k_block;
  double scale;
  const void *shift, *factor, *mean, *first, *end;  // first, end: as those of AttentionLanes
  void *shares, *slopes;                            // panels × cols × panel each
  void *q_grad, *k_grad, *v_grad;
  std::int64_t k_row, v_row;  // whole panels
};

/// Rows of compute type as AttentionLanes reads v: to[w / 6 · block + 6 · j + w % 6] = from[j · row + w], j < count and
/// w < width; as it reads k: to[j / 6 · block + 6 · w + j % 6].
struct AttentionBeside {
  const void* from;
  std::int64_t row, count, width;
  void* to;
  std::int64_t block;
};

struct AttentionKernelsOf {
  void (*lanes)(const AttentionLanes& tile);  // null where products of rows are faster; the next three then as well
  void (*lanes_backward)(const AttentionLanesBackward& tile);
  void (*elements_beside)(const AttentionBeside& v), (*columns_beside)(const AttentionBeside& k);
  void (*shares)(const AttentionShares& row);
  void (*powers)(const AttentionPowers& row);
  void (*slopes)(const AttentionSlopes& row);
};
struct AttentionKernels {
  AttentionKernelsOf f32, f64;
};

/// The table of the best target this processor has.
const AttentionKernels& attention_kernels();

}  // namespace tern::detail_cpu
