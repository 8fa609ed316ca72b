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

struct AttentionKernelsOf {
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
