// The blocks of memory of a device that are kept when they are freed, to be given out again: by size class, and no more
// than a bound in proportion to what is in use.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tern/device.hpp"

namespace tern::detail {

/// Eight sizes to each power of two: at most 12.5 % is wasted, and sizes repeat. `smallest`: a power of two.
inline std::size_t size_class(std::size_t bytes, std::size_t smallest) {
  if (bytes <= smallest) return smallest;
  const std::size_t step = std::max(smallest, std::bit_floor(bytes - 1) / 8);
  return (bytes + step - 1) / step * step;
}

/// Counts what is in use and keeps what is not. Sizes are those of size_class. Not thread-safe.
///
/// What is in use and what is kept are together at most 1.5 times the most that was ever in use, and 64 MiB. That sum
/// grows only where a block is made, so that only then something is given up: of the sizes that were not asked for
/// for the longest time.
template <class Block> class KeptBlocks {
 public:
  /// A kept block, which is in use from now on.
  bool take(std::size_t size, Block& block) {
    List& list = lists_[place(size)];
    list.asked = ++clock_;
    if (list.blocks.empty()) return false;
    block = list.blocks.back();
    list.blocks.pop_back();
    stats_.kept -= signed_of(size);
    use(size);
    return true;
  }
  /// A block that is not in use any more. False where it cannot be kept, and is to be given up.
  bool keep(std::size_t size, const Block& block) noexcept {
    stats_.live -= signed_of(size);
    try {
      List& list = lists_[place(size)];
      list.size = size;
      list.blocks.push_back(block);
    } catch (...) {
      return false;
    }
    stats_.kept += signed_of(size);
    return true;
  }
  /// Whether something has to be given up before a block of this size is made.
  bool too_full_for(std::size_t size) const { return stats_.kept > 0 && excess(size) > 0; }
  /// Gives up, by give_up(block, size), what has to be. It must not come back to this.
  template <class F> void make_room(std::size_t size, F give_up) {
    while (stats_.kept > 0 && excess(size) > 0) {
      List* stalest = nullptr;
      for (List& list : lists_)
        if (!list.blocks.empty() && (!stalest || list.asked < stalest->asked)) stalest = &list;
      drop_last(*stalest, give_up);
    }
  }
  /// A block of this size was made, and is in use.
  void use(std::size_t size) {
    stats_.live += signed_of(size);
    stats_.peak = std::max(stats_.peak, stats_.live);
  }
  /// A block that is in use is gone.
  void forget(std::size_t size) noexcept { stats_.live -= signed_of(size); }
  /// Gives up all that is kept.
  template <class F> void clear(F give_up) {
    for (List& list : lists_)
      while (!list.blocks.empty()) drop_last(list, give_up);
  }
  /// The most in use is counted anew from here.
  void reset_peak() { stats_.peak = stats_.live; }
  const MemoryStats& stats() const { return stats_; }

 private:
  struct List {
    std::vector<Block> blocks;
    std::size_t size = 0;
    std::uint64_t asked = 0;  // when, by clock_
  };
  static constexpr std::int64_t kAlways = std::int64_t{64} << 20;

  static std::int64_t signed_of(std::size_t size) { return static_cast<std::int64_t>(size); }
  static std::size_t place(std::size_t size) {
    const auto log = static_cast<std::size_t>(std::bit_width(size) - 1);
    return log * 8 + ((size - (std::size_t{1} << log)) * 8 >> log);
  }
  /// Bytes beyond the bound once there is another block of this size.
  std::int64_t excess(std::size_t size) const {
    const std::int64_t live = stats_.live + signed_of(size), peak = std::max(stats_.peak, live);
    return live + stats_.kept - (peak + peak / 2 + kAlways);
  }
  template <class F> void drop_last(List& list, F& give_up) {
    const Block block = list.blocks.back();
    list.blocks.pop_back();
    stats_.kept -= signed_of(list.size);
    give_up(block, list.size);
  }

  std::array<List, 64 * 8> lists_;
  MemoryStats stats_;
  std::uint64_t clock_ = 0;
};

}  // namespace tern::detail
