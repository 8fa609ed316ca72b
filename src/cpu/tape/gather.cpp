// Reading an operand whose elements, or rows, a table of positions chooses.
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "cpu/tape/cursor.hpp"

namespace tern::detail_cpu {
namespace {
using detail::compute_type_of;

/// A few bytes without a call.
inline void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  switch (bytes) {
    case 1: std::memcpy(to, from, 1); return;
    case 2: std::memcpy(to, from, 2); return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 12: std::memcpy(to, from, 12); return;
    case 16: std::memcpy(to, from, 16); return;
    default: std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

/// Rows of a few bytes, one for each index: `step` bytes from one to the next, and `index_step` an index.
struct RowsToCopy {
  const std::byte* from;
  std::int64_t step, index_step, bytes;

  void copy(const std::int32_t* indices, std::int64_t count, std::byte* to) const {
    if (bytes <= 1) by_parts<1>(indices, count, to);
    else if (bytes < 4) by_parts<2>(indices, count, to);
    else if (bytes < 8) by_parts<4>(indices, count, to);
    else if (bytes < 16) by_parts<8>(indices, count, to);
    else if (bytes < 32) by_parts<16>(indices, count, to);
    else by_parts<32>(indices, count, to);
  }

 private:
  /// The first bytes of a row and the last, which may overlap, and between them what more there is.
  template <std::int64_t kPart>
  void by_parts(const std::int32_t* indices, std::int64_t count, std::byte* to) const {
    const std::int64_t last = bytes - kPart;
    for (std::int64_t k = 0; k < count; ++k, to += bytes) {
      const std::byte* const row = from + k * step + indices[k] * index_step;
      std::memcpy(to, row, kPart);
      if constexpr (kPart == 32)
        for (std::int64_t at = kPart; at < last; at += kPart) std::memcpy(to + at, row + at, kPart);
      std::memcpy(to + last, row + last, kPart);
    }
  }
};

/// Entries as positions 0 … size - 1; false where one is none.
bool checked(const std::int32_t* entries, std::int64_t count, std::int32_t size, bool wraps, std::int32_t* positions) {
  const std::int32_t below = wraps ? size : 0;
  int wrong = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int32_t at = entries[k] + (entries[k] < 0 ? below : 0);
    wrong |= (at < 0) | (at >= size);
    positions[k] = at;
  }
  return wrong == 0;
}

}  // namespace

/// Elements of a cursor with a table, as they lie in memory.
class Cursor::Gathering {
 public:
  explicit Gathering(const Cursor& of)
      : of_(of),
        gather_(*of.gather_),
        entries_(static_cast<const std::int32_t*>(gather_.table.storage->data()) + gather_.table.offset),
        size_(static_cast<std::int64_t>(dtype_size(of.dtype_))) {}

  /// `count` elements from `position` on.
  void load(std::int64_t position, std::int64_t count, std::byte* into) const {
    const int inner = of_.rank_ - 1;
    if (in_order(position, count, into) || by_pattern(position, count, into)) return;
    if (inner == 1 && of_.table_strides_[1] == 0 && of_.strides_[1] == 1 && of_.sizes_[1] < kShortRun &&
        gather_.size <= INT32_MAX)
      return short_rows(position, count, into);
    of_.runs(position, count,
             [&](std::int64_t offset, std::int64_t stride, std::int64_t first, std::int64_t length, std::int64_t at,
                 std::int64_t at_stride) { run(offset, stride, into + first * size_, length, at, at_stride); });
  }

 private:
  /// What the table's entry at `at` adds to an offset.
  std::int64_t entry(std::int64_t at) const {
    const std::int64_t value = entries_[at], index = value < 0 && gather_.wraps ? value + gather_.size : value;
    if (index < 0 || index >= gather_.size)
      throw Error(ErrorKind::index,
                  "index " + std::to_string(value) + " is out of range for size " + std::to_string(gather_.size));
    return index * gather_.step;
  }

  void run(std::int64_t offset, std::int64_t stride, std::byte* place, std::int64_t length, std::int64_t at,
           std::int64_t at_stride) const {
    if (at_stride == 0) {  // one entry for the whole run: a row
      const std::byte* const from = of_.base_ + (offset + entry(at)) * size_;
      if (stride == 1) return copy_bytes(place, from, length * size_);
      for (std::int64_t i = 0; i < length; ++i) copy_bytes(place + i * size_, from + i * stride * size_, size_);
      return;
    }
    for (std::int64_t i = 0; i < length; ++i)
      copy_bytes(place + i * size_, of_.base_ + (offset + i * stride + entry(at + i * at_stride)) * size_, size_);
  }

  /// Rows with an entry for each element, all rows' in one run; a column is one row. All entries are checked, by
  /// vectors, before any is used. False, with nothing done, where they do not lie so.
  bool in_order(std::int64_t position, std::int64_t count, std::byte* into) const {
    const int inner = of_.rank_ - 1;
    const std::int64_t row = of_.sizes_[inner];
    const bool one_row = inner == 0 || (inner == 1 && row == 1);
    const std::int64_t length = one_row ? of_.sizes_[0] : row, row_step = one_row ? 0 : of_.strides_[0],
                       step = of_.strides_[one_row ? 0 : inner];
    if (inner > 1 || of_.table_strides_[one_row ? 0 : 1] != 1 || (!one_row && of_.table_strides_[0] != row) ||
        gather_.size > INT32_MAX)
      return false;
    const GatheredRows rows{length, row_step, step, gather_.step};
    switch (size_) {
      case 1: gather_rows<std::uint8_t>(rows, position, count, into); break;
      case 2: gather_rows<std::uint16_t>(rows, position, count, into); break;
      case 4: gather_rows<std::uint32_t>(rows, position, count, into); break;
      default: gather_rows<std::uint64_t>(rows, position, count, into);
    }
    return true;
  }

  /// Elements from row to row, from one to the next of a row, and from entry to entry.
  struct GatheredRows {
    std::int64_t length, row_step, step, entry_step;
  };
  /// Through pointers to elements: a byte that is written might be any of what the loop reads.
  template <class T>
  void gather_rows(const GatheredRows& of, std::int64_t position, std::int64_t count, std::byte* into) const {
    const GatheredRows rows = of;
    std::int32_t indices[kRawElements];
    T* to = reinterpret_cast<T*>(into);
    std::int64_t j = position % rows.length;
    const T* row = reinterpret_cast<const T*>(of_.base_) + position / rows.length * rows.row_step;
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t some = std::min<std::int64_t>(count - done, kRawElements);
      if (!checked(entries_ + position + done, some, static_cast<std::int32_t>(gather_.size), gather_.wraps, indices))
        for (std::int64_t k = 0; k < some; ++k) (void)entry(position + done + k);  // throws
      const std::int32_t* at = indices;
      for (std::int64_t left = some; left > 0;) {
        const std::int64_t n = std::min(rows.length - j, left);
        const T* const from = row + j * rows.step;
        if (rows.step == 0 && rows.entry_step == 1)
          for (std::int64_t k = 0; k < n; ++k) to[k] = from[at[k]];
        else
          for (std::int64_t k = 0; k < n; ++k) to[k] = from[k * rows.step + at[k] * rows.entry_step];
        to += n, at += n, left -= n, j += n;
        if (j == rows.length) j = 0, row += rows.row_step;
      }
      done += some;
    }
  }

  /// The same few entries for all of some outer axes, as taps along a short axis: where a pattern's elements lie is
  /// found once. False, with nothing done, where they are others. (2048 images of 5 x 7 to 4 x 5, f32: an entry at a
  /// time 657 us, so 333.)
  bool by_pattern(std::int64_t position, std::int64_t count, std::byte* into) const {
    int first = of_.rank_;  // of the pattern's axes
    std::int64_t period = 1;
    while (first > 0 && period * of_.sizes_[first - 1] <= kLongPattern) period *= of_.sizes_[--first];
    const std::int64_t* const steps = of_.table_strides_;
    if (first == 0 || count < 2 * period || std::any_of(steps, steps + first, std::identity())) return false;
    std::int64_t offsets[kLongPattern] = {}, filled = 1, table[kLongPattern] = {};
    for (int i = of_.rank_ - 1; i >= first; --i) {
      const std::int64_t part = filled;
      for (std::int64_t k = 1; k < of_.sizes_[i]; ++k)
        for (std::int64_t j = 0; j < part; ++j, ++filled)
          offsets[filled] = offsets[j] + k * of_.strides_[i], table[filled] = table[j] + k * of_.table_strides_[i];
    }
    for (std::int64_t k = 0; k < period; ++k) offsets[k] += entry(table[k]);
    switch (size_) {
      case 1: patterns<std::uint8_t>(offsets, period, first, position, count, into); break;
      case 2: patterns<std::uint16_t>(offsets, period, first, position, count, into); break;
      case 4: patterns<std::uint32_t>(offsets, period, first, position, count, into); break;
      default: patterns<std::uint64_t>(offsets, period, first, position, count, into);
    }
    return true;
  }
  /// Patterns along the first `axes` axes.
  template <class T>
  void patterns(const std::int64_t* offsets, std::int64_t period, int axes, std::int64_t position, std::int64_t count,
                std::byte* into) const {
    T* to = reinterpret_cast<T*>(into);
    const T* from = reinterpret_cast<const T*>(of_.base_);
    std::int64_t coordinates[kMaxRank], within = position % period, rest = position / period;
    for (int i = axes - 1; i >= 0; --i) {
      coordinates[i] = rest % of_.sizes_[i], rest /= of_.sizes_[i];
      from += coordinates[i] * of_.strides_[i];
    }
    for (std::int64_t left = count; left > 0; within = 0) {
      const std::int64_t n = std::min(period - within, left);
      for (std::int64_t k = 0; k < n; ++k) to[k] = from[offsets[within + k]];
      to += n, left -= n;
      for (int i = axes - 1; i >= 0; --i) {
        from += of_.strides_[i];
        if (++coordinates[i] < of_.sizes_[i] || i == 0) break;
        from -= of_.sizes_[i] * of_.strides_[i], coordinates[i] = 0;
      }
    }
  }

  /// An entry for each row. Those of whole rows are checked, by vectors, before any is used. (200,000 rows of 3 f32 of
  /// 100: a check and a copy for each row took 1063 us on a Zen 3 core, so 354.)
  void short_rows(std::int64_t position, std::int64_t count, std::byte* into) const {
    const std::int64_t row = of_.sizes_[1], step = of_.strides_[0], at_step = of_.table_strides_[0];
    std::int64_t i = position / row, done = 0;
    if (const std::int64_t within = position % row; within != 0) {
      done = std::min(count, row - within);
      run(i * step + within, 1, into, done, i * at_step, 0);
      ++i;
    }
    const std::int64_t rows = (count - done) / row;
    whole_rows(i, rows, into + done * size_);
    i += rows, done += rows * row;
    if (done < count) run(i * step, 1, into + done * size_, count - done, i * at_step, 0);
  }
  void whole_rows(std::int64_t begin, std::int64_t count, std::byte* into) const {
    const std::int64_t bytes = of_.sizes_[1] * size_, at_step = of_.table_strides_[0];
    std::int32_t indices[kRawElements];
    for (std::int64_t done = 0; done < count; done += kRawElements) {
      const std::int64_t some = std::min<std::int64_t>(count - done, kRawElements), first = begin + done;
      const std::int32_t* entries = entries_ + first * at_step;
      if (at_step != 1) {
        for (std::int64_t k = 0; k < some; ++k) indices[k] = entries[k * at_step];
        entries = indices;
      }
      if (!checked(entries, some, static_cast<std::int32_t>(gather_.size), gather_.wraps, indices))
        for (std::int64_t k = 0; k < some; ++k) (void)entry((first + k) * at_step);  // throws
      const RowsToCopy rows{of_.base_ + first * of_.strides_[0] * size_, of_.strides_[0] * size_, gather_.step * size_,
                            bytes};
      rows.copy(indices, some, into + done * bytes);
    }
  }

  const Cursor& of_;
  const detail::Gather& gather_;
  const std::int32_t* entries_;
  std::int64_t size_;
};

/// Elements are gathered as they lie, and widened many at a time.
void Cursor::load_gathered(const KernelTable& table, std::int64_t position, std::int64_t n, void* values) const {
  const Gathering gathering(*this);
  auto* const to = static_cast<std::byte*>(values);
  const auto width = static_cast<std::int64_t>(compute_size(compute_type_of(dtype_)));
  if (static_cast<std::int64_t>(dtype_size(dtype_)) == width) return gathering.load(position, n, to);
  alignas(64) std::byte raw[kRawElements * 4];
  for (std::int64_t begin = 0; begin < n; begin += kRawElements) {
    const std::int64_t count = std::min(kRawElements, n - begin);
    gathering.load(position + begin, count, raw);
    table.load[static_cast<int>(dtype_)](raw, to + begin * width, static_cast<std::size_t>(count));
  }
}

}  // namespace tern::detail_cpu
