// Reading and writing an operand along the linear order of an iteration space, in runs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backend/backend.hpp"
#include "cpu/simd/kernel_table.hpp"
#include "cpu/tape/short_runs.hpp"

namespace tern::detail_cpu {

/// Bytes of an element as it is computed.
inline std::size_t compute_size(ComputeType type) { return detail::is_wide(type) ? 8 : 4; }

/// Elements that are gathered as they lie before they are widened.
inline constexpr std::int64_t kRawElements = 1024;

/// An ordering of (some) axes of an iteration space: position p stands for one coordinate tuple, last axis fastest.
struct AxisOrder {
  int rank = 0;
  std::int64_t sizes[kMaxRank] = {};
  int axes[kMaxRank] = {};  // which axis of the iteration space
  std::int64_t count() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= sizes[i];
    return product;
  }
};

/// One operand along an AxisOrder. Neighbouring axes that its strides allow are merged, so that a contiguous operand is
/// one run and a bias is short runs.
class Cursor {
 public:
  Cursor() = default;
  /// Memory. `indexed` may be null.
  Cursor(const detail::View& view, const AxisOrder& order, const detail::Gather* gather = nullptr);
  /// The coordinate along one axis of the iteration space (i32), or the position within the `reduced` axes.
  static Cursor coordinate(const AxisOrder& order, const Strides& strides);

  /// A pointer to elements [position, position + n) as they lie in memory, or null where they are not one run of
  /// neighbours.
  const void* direct(std::int64_t position, std::int64_t n) const;
  /// `rows` runs of `cols` neighbouring positions, `pitch` positions apart, as a matrix in memory.
  struct Rectangle {
    const void* data;
    std::int64_t row, col;  // in elements
  };
  /// Nothing where they are none.
  std::optional<Rectangle> rectangle(std::int64_t position, std::int64_t rows, std::int64_t cols,
                                     std::int64_t pitch) const;
  /// Elements [position, position + n), widened to their type.
  void load(const KernelTable& table, std::int64_t position, std::int64_t n, void* values) const;
  /// The reverse, narrowed; `stream`: past the caches where the memory is aligned.
  void store(const KernelTable& table, std::int64_t position, std::int64_t n, const void* values,
             bool stream = false) const;
  /// Memory in which every position is `step` elements behind the one before; null: it does not lie so.
  struct StridedMemory {
    std::byte* begin = nullptr;
    std::int64_t step = 0;
  };
  StridedMemory line() const {
    return rank_ == 1 && !counts_ && !gather_ ? StridedMemory{base_, strides_[0]} : StridedMemory{};
  }
  /// A column of neighbours, each repeated so many times along rows; nothing: it lies otherwise.
  struct Repetition {
    const std::byte* column;
    std::int64_t rows, times;
  };
  std::optional<Repetition> repetition() const {
    if (rank_ != 2 || counts_ || gather_ || strides_[0] != 1 || strides_[1] != 0) return {};
    return Repetition{base_, sizes_[0], sizes_[1]};
  }
  /// Whether it is a coordinate that grows by 1 along neighbouring axes, and does not change along others.
  bool counts_up() const;
  DType dtype() const { return dtype_; }
  bool gathers() const { return gather_ != nullptr; }
  /// Positions after which the operand repeats, however far it is read, if they are at most kLongestPeriod; else 0.
  std::int64_t period() const;
  static constexpr std::int64_t kLongestPeriod = 1024;

 private:
  template <class Run> void runs(std::int64_t position, std::int64_t n, Run run) const;
  /// Whether elements are moved by patterns (short_runs.hpp), not run by run.
  bool has_short_runs(std::int64_t n) const;
  /// The innermost axes that are few elements together, and how they are repeated.
  ShortRuns short_runs() const;
  template <class Move> void patterns(std::int64_t position, std::int64_t n, const Move& move) const;
  void load_strided_halves(const KernelTable& table, const std::byte* from, std::int64_t stride, std::byte* values,
                           std::int64_t n) const;
  void load_patterns(const KernelTable& table, std::int64_t position, std::int64_t n, void* values) const;
  void store_patterns(const KernelTable& table, std::int64_t position, std::int64_t n, const void* values) const;
  class Gathering;
  void load_gathered(const KernelTable& table, std::int64_t position, std::int64_t n, void* values) const;
  void place(const AxisOrder& order, const Strides& strides);

  std::byte* base_ = nullptr;
  DType dtype_ = DType::i32;
  int rank_ = 1;
  std::int64_t sizes_[kMaxRank] = {1}, strides_[kMaxRank] = {0};
  bool counts_ = false;  // the elements are their own offsets
  const detail::Gather* gather_ = nullptr;
  std::int64_t table_strides_[kMaxRank] = {};
};

/// Calls run(element offset, stride, index of the first element, length, table offset, table stride) for each run.
template <class Run> void Cursor::runs(std::int64_t position, std::int64_t n, Run run) const {
  std::int64_t coordinates[kMaxRank], offset = 0, table = 0, rest = position;
  for (int i = rank_ - 1; i >= 0; --i) {
    coordinates[i] = rest % sizes_[i];
    rest /= sizes_[i];
    offset += coordinates[i] * strides_[i];
    table += coordinates[i] * table_strides_[i];
  }
  const int inner = rank_ - 1;
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t length = std::min(n - done, sizes_[inner] - coordinates[inner]);
    run(offset, strides_[inner], done, length, table, table_strides_[inner]);
    done += length;
    coordinates[inner] += length, offset += length * strides_[inner], table += length * table_strides_[inner];
    for (int i = inner; i > 0 && coordinates[i] == sizes_[i]; --i) {
      coordinates[i] = 0, ++coordinates[i - 1];
      offset += strides_[i - 1] - sizes_[i] * strides_[i];
      table += table_strides_[i - 1] - sizes_[i] * table_strides_[i];
    }
  }
}

}  // namespace tern::detail_cpu
