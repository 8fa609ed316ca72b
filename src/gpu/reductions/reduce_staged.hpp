// Short rows that fit no vectors: a workgroup's rows pass through its memory, and each is an invocation's own.
#pragma once
#include <span>
#include <vector>

#include "gpu/plan/plan.hpp"

namespace tern::detail_gpu {

/// Elements of rows: longer ones are shared by invocations.
inline constexpr std::int64_t kLongestStaged = 15;

/// Which accesses pass through workgroup memory.
struct StagedRows {
  int length = 0;                  // elements of a row; 0: nothing is staged
  int rows = 1;                    // of an invocation
  std::vector<int> reads, writes;  // accesses

  bool operator()() const { return length > 0; }
  /// Words from row to row of a tile: odd, so that rows begin in different banks.
  int pitch() const { return length | 1; }
};

/// Whether rows of `length` elements of a view can, which steps so from row to row and within one: they lie one behind
/// the other, as f32, i32 or u32, or as 16-bit floats, in pairs. `elements`: of all rows.
bool can_be_staged(const View& view, std::span<const std::int64_t> steps, bool written, std::int64_t length,
                   std::int64_t elements);

/// Invocations of a workgroup, with so many rows each, whose tiles fit into its memory; 0: too many operands, or too
/// long rows.
int staged_invocations(const StagedRows& staged);

}  // namespace tern::detail_gpu
