// Operands whose neighbours in memory are few: rows of 3 columns, elements that are repeated 4 times, batches of small
// transposed matrices. Calls for each run would take longer than what they move; here a pattern of some elements is
// moved again and again.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tern::detail_cpu {

/// Runs of fewer elements are short.
inline constexpr std::int64_t kShortRun = 24;
/// Elements of patterns of several axes.
inline constexpr std::int64_t kLongPattern = 128;
/// Runs of one element throughout are short up to so many.
inline constexpr std::int64_t kShortRepetition = 64;

/// The innermost axes of an operand, `period` elements in all, which repeat `step` elements further along the next
/// axis.
struct ShortRuns {
  int axes = 0;
  std::int64_t sizes[8] = {}, strides[8] = {};  // of the pattern, outermost first
  std::int64_t period = 1, step = 0;
};

/// Gathers `n` elements of `size` bytes (1, 2, 4 or 8) from memory, the first of them `within` the pattern at `base`.
void gather_pattern(const ShortRuns& runs, std::size_t size, const std::byte* base, std::int64_t within,
                    std::int64_t n, std::byte* to);
/// The reverse.
void scatter_pattern(const ShortRuns& runs, std::size_t size, std::byte* base, std::int64_t within, std::int64_t n,
                     const std::byte* from);

/// `count` rows of `length` elements, fewer than kShortRun, in memory, `step` elements apart.
template <class Byte> struct ShortRows {
  Byte* data;
  std::int64_t step, length, count;
};
/// to[j * count + i] = element j of row i.
void split_short_rows(std::size_t size, const ShortRows<const std::byte>& rows, std::byte* to);
/// The reverse.
void join_short_rows(std::size_t size, const std::byte* from, const ShortRows<std::byte>& rows);

}  // namespace tern::detail_cpu
