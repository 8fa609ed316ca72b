// Short rows that fit no vectors: a workgroup's rows pass through its memory, and each is an invocation's own.
#pragma once
#include <span>
#include <vector>

#include "gpu/plan/plan.hpp"

namespace tern::detail_gpu {

/// Elements of rows: longer ones are shared by invocations.
inline constexpr std::int64_t kLongestStaged = 15;

/// Which accesses pass through workgroup memory, as the words they are in memory. An invocation has units of rows: as
/// many neighbours as are whole words in every tile, two where a row is an odd number of halves, so that no other
/// invocation writes them.
struct StagedRows {
  int length = 0;                  // elements of a row; 0: nothing is staged
  int unit = 1;                    // rows of a unit
  int units = 1;                   // of an invocation
  int words = 0;                   // of a unit, in all tiles
  bool vectors = false;            // of 16 bytes are moved, not words
  std::vector<int> reads, writes;  // accesses

  bool operator()() const { return length > 0; }
  int rows() const { return units * unit; }
  std::vector<int> accesses() const {
    std::vector<int> all = reads;
    all.insert(all.end(), writes.begin(), writes.end());
    return all;
  }
  int words_of(int element_bytes) const { return unit * length * element_bytes / 4; }
  void add_tile(DType dtype) { words += words_of(static_cast<int>(dtype_size(dtype))); }
};

/// Rows of a unit: `halves` tells whether there are tiles of 16-bit floats.
inline int rows_of_unit(std::int64_t length, bool halves) { return halves && length % 2 ? 2 : 1; }

/// Whether rows of `length` elements of a view can, which steps so from row to row and within one: they lie one behind
/// the other, as f32, i32 or u32, or as 16-bit floats, in pairs. `elements`: of all rows.
bool can_be_staged(const View& view, std::span<const std::int64_t> steps, bool written, std::int64_t length,
                   std::int64_t elements);

/// Invocations of a workgroup, with so many units each, whose tiles fit into its memory; 0: too many operands, or too
/// long rows.
int staged_invocations(const StagedRows& staged);

}  // namespace tern::detail_gpu
