// How the results of tiny products lie in vectors, and from where the operands of each width are picked.
#pragma once
#include <cstdint>

#include "cpu/products/gemm_kernels.hpp"

namespace tern::detail_cpu {

/// A batch of products that lie at even steps, in elements; the results lie below each other without gaps.
struct TinyProducts {
  std::int64_t m, n, k;
  std::int64_t a_row, a_col, a_step, b_row, b_col, b_step;
  friend bool operator==(const TinyProducts&, const TinyProducts&) = default;
};

/// The vectors of a group of products.
struct TinyPlan {
  TinyProducts of;
  std::int64_t vector = 0;    // lanes of a vector; 0: there is no plan
  bool by_step = false;       // see GemmKernelsOf::tiny_by_step
  std::int64_t together = 0;  // products of a group; 0: their operands lie too far apart
  int units = 0;
  TinyUnit unit[kTinyUnits];

  /// Groups of the first `count` products of which nothing is read behind the last element of an operand.
  std::int64_t groups(std::int64_t count) const;
};

/// This thread's plan for a kernel, made anew where it is none of the last few.
const TinyPlan& tiny_plan(const TinyProducts& products, const GemmKernelsOf& kernels);

}  // namespace tern::detail_cpu
