#include "cpu/tape/cursor.hpp"

#include <algorithm>

namespace tern::detail_cpu {
namespace {
using detail::compute_type_of;

}  // namespace

void Cursor::place(const AxisOrder& order, const Strides& strides) {
  rank_ = 0;
  for (int i = 0; i < order.rank && order.count() > 0; ++i) {  // nothing is read where a size is 0
    const std::int64_t size = order.sizes[i];
    const auto axis = static_cast<std::size_t>(order.axes[i]);
    const std::int64_t stride = strides[axis], table = gather_ ? gather_->table.strides[axis] : 0;
    if (size == 1) continue;
    const int last = rank_ - 1;
    if (rank_ > 0 && strides_[last] == stride * size && table_strides_[last] == table * size) {
      sizes_[last] *= size, strides_[last] = stride, table_strides_[last] = table;
    } else {
      sizes_[rank_] = size, strides_[rank_] = stride, table_strides_[rank_] = table;
      ++rank_;
    }
  }
  if (rank_ == 0) rank_ = 1, sizes_[0] = 1, strides_[0] = 0, table_strides_[0] = 0;
}

Cursor::Cursor(const detail::View& view, const AxisOrder& order, const detail::Gather* gather)
    : base_(static_cast<std::byte*>(view.storage->data()) +
            view.offset * static_cast<std::int64_t>(dtype_size(view.dtype))),
      dtype_(view.dtype),
      gather_(gather) {
  place(order, view.strides);
}

Cursor Cursor::coordinate(const AxisOrder& order, const Strides& strides) {
  Cursor cursor;
  cursor.counts_ = true;
  cursor.place(order, strides);
  return cursor;
}

bool Cursor::counts_up() const {
  int along = 0;
  bool by_one = counts_;
  for (int i = 0; i < rank_; ++i)
    if (strides_[i] != 0) ++along, by_one &= strides_[i] == 1;
  return by_one && along <= 1;
}

std::int64_t Cursor::period() const {
  if (gather_ || strides_[0] != 0) return 0;
  std::int64_t period = 1;
  for (int i = 1; i < rank_ && period <= kLongestPeriod; ++i) period *= sizes_[i];
  return period <= kLongestPeriod ? period : 0;
}

bool Cursor::has_short_runs(std::int64_t n) const {
  const int inner = rank_ - 1;
  return inner > 0 && sizes_[inner] < (strides_[inner] == 0 ? kShortRepetition : kShortRun) && n > 2 * sizes_[inner] &&
         !counts_ && !gather_;
}

ShortRuns Cursor::short_runs() const {
  ShortRuns runs;
  int first = rank_ - 1;  // of the axes that are the pattern
  runs.period = sizes_[first];
  while (first > 1 && runs.period * sizes_[first - 1] <= kShortRun) runs.period *= sizes_[--first];
  // Few of them that lie no simpler, as windows in small images do: calls for so few elements took as long as these
  // (8192 images of 7 x 12 in windows of 2 x 3: 1037 to 502 us).
  if (strides_[rank_ - 1] > 1 || first < rank_ - 1)
    while (first > 1 && runs.period * sizes_[first - 1] <= kLongPattern) runs.period *= sizes_[--first];
  runs.axes = rank_ - first, runs.step = strides_[first - 1];
  for (int i = 0; i < runs.axes; ++i) runs.sizes[i] = sizes_[first + i], runs.strides[i] = strides_[first + i];
  return runs;
}

/// Calls move(runs, element offset of a pattern, position within it, index of the first element, length) for each run
/// of patterns along the axis that they are repeated along.
template <class Move> void Cursor::patterns(std::int64_t position, std::int64_t n, const Move& move) const {
  const ShortRuns runs = short_runs();
  const int along = rank_ - runs.axes - 1;
  std::int64_t coordinates[kMaxRank], offset = 0, within = position % runs.period, rest = position / runs.period;
  for (int i = along; i >= 0; --i) {
    coordinates[i] = rest % sizes_[i];
    rest /= sizes_[i];
    offset += coordinates[i] * strides_[i];
  }
  for (std::int64_t done = 0; done < n; within = 0) {
    const std::int64_t left = (sizes_[along] - coordinates[along]) * runs.period - within;
    const std::int64_t length = std::min(n - done, left);
    move(runs, offset, within, done, length);
    done += length;
    offset += (sizes_[along] - coordinates[along]) * strides_[along], coordinates[along] = sizes_[along];
    for (int i = along; i > 0 && coordinates[i] == sizes_[i]; --i) {
      coordinates[i] = 0, ++coordinates[i - 1];
      offset += strides_[i - 1] - sizes_[i] * strides_[i];
    }
  }
}

const void* Cursor::direct(std::int64_t position, std::int64_t n) const {
  if (counts_ || gather_) return nullptr;
  const int inner = rank_ - 1;
  if (inner == 0 && (strides_[0] == 1 || n == 1))
    return position + n > sizes_[0] ? nullptr
                                    : base_ + position * strides_[0] * static_cast<std::int64_t>(dtype_size(dtype_));
  const std::int64_t within = position % sizes_[inner];
  if (within + n > sizes_[inner] || (strides_[inner] != 1 && n > 1)) return nullptr;
  std::int64_t offset = within * strides_[inner], rest = position / sizes_[inner];
  for (int i = inner - 1; i >= 0; --i) {
    offset += rest % sizes_[i] * strides_[i];
    rest /= sizes_[i];
  }
  return base_ + offset * static_cast<std::int64_t>(dtype_size(dtype_));
}

std::optional<Cursor::Rectangle> Cursor::rectangle(std::int64_t position, std::int64_t rows, std::int64_t cols,
                                                   std::int64_t pitch) const {
  if (counts_ || gather_) return {};
  std::int64_t offset = 0, rest = position, step = 1, row = 0;
  bool fits = false;
  for (int i = rank_ - 1; i >= 0; --i) {
    const std::int64_t at = rest % sizes_[i];
    if (i == rank_ - 1 && at + cols > sizes_[i]) return {};
    if (i == rank_ - 1) fits = at + (rows - 1) * pitch + cols <= sizes_[i], row = pitch * strides_[i];
    else if (step == pitch) fits = at + rows <= sizes_[i], row = strides_[i];
    rest /= sizes_[i], step *= sizes_[i];
    offset += at * strides_[i];
  }
  if (!fits) return {};
  return Rectangle{base_ + offset * static_cast<std::int64_t>(dtype_size(dtype_)), row, strides_[rank_ - 1]};
}

void Cursor::load(const KernelTable& table, std::int64_t position, std::int64_t n, void* values) const {
  if (gather_) return load_gathered(table, position, n, values);
  if (has_short_runs(n)) return load_patterns(table, position, n, values);
  const int stored = static_cast<int>(dtype_);
  const auto size = static_cast<std::int64_t>(dtype_size(dtype_));
  const ComputeType type = compute_type_of(dtype_);
  const auto width = static_cast<std::int64_t>(compute_size(type));
  runs(position, n,
       [&](std::int64_t offset, std::int64_t stride, std::int64_t first, std::int64_t length, std::int64_t,
           std::int64_t) {
         std::byte* to = static_cast<std::byte*>(values) + first * width;
         const auto count = static_cast<std::size_t>(length);
         if (counts_) {
           const auto begin = static_cast<std::uint32_t>(offset), step = static_cast<std::uint32_t>(stride);
           if (stride == 0) return table.fill[static_cast<int>(type)](&begin, to, count);
           for (std::uint32_t i = 0; i < count; ++i) reinterpret_cast<std::uint32_t*>(to)[i] = begin + i * step;
           return;
         }
         const std::byte* from = base_ + offset * size;
         if (stride == 1 || length == 1) {
           table.load[stored](from, to, count);
         } else if (stride == 0) {
           std::int64_t value;
           table.load[stored](from, &value, 1);
           table.fill[static_cast<int>(type)](&value, to, count);
         } else if (dtype_ == DType::f16 || dtype_ == DType::bf16) {
           load_strided_halves(table, from, stride, to, length);
         } else {
           table.load_strided[stored](from, stride, to, count);
         }
       });
}

/// Gathered as they lie, and widened many at a time.
void Cursor::load_strided_halves(const KernelTable& table, const std::byte* from, std::int64_t stride,
                                 std::byte* values, std::int64_t n) const {
  alignas(64) std::uint16_t raw[kRawElements];
  const auto* const x = reinterpret_cast<const std::uint16_t*>(from);
  for (std::int64_t begin = 0; begin < n; begin += kRawElements) {
    const std::int64_t count = std::min(kRawElements, n - begin);
    for (std::int64_t i = 0; i < count; ++i) raw[i] = x[(begin + i) * stride];
    table.load[static_cast<int>(dtype_)](raw, values + begin * 4, static_cast<std::size_t>(count));
  }
}

void Cursor::load_patterns(const KernelTable& table, std::int64_t position, std::int64_t n, void* values) const {
  const auto size = dtype_size(dtype_), width = compute_size(compute_type_of(dtype_));
  const bool is_computed_in = size == width;
  alignas(64) std::byte raw[kRawElements * 4];  // what is widened has 4 bytes at most
  const std::int64_t most = is_computed_in ? n : kRawElements;
  for (std::int64_t begin = 0; begin < n; begin += most) {
    const std::int64_t count = std::min(most, n - begin);
    std::byte* const to = static_cast<std::byte*>(values) + static_cast<std::size_t>(begin) * width;
    std::byte* const into = is_computed_in ? to : raw;
    patterns(
        position + begin, count,
        [&](const ShortRuns& runs, std::int64_t offset, std::int64_t within, std::int64_t first, std::int64_t length) {
          gather_pattern(runs, size, base_ + offset * static_cast<std::int64_t>(size), within, length,
                         into + static_cast<std::size_t>(first) * size);
        });
    if (!is_computed_in) table.load[static_cast<int>(dtype_)](raw, to, static_cast<std::size_t>(count));
  }
}

void Cursor::store_patterns(const KernelTable& table, std::int64_t position, std::int64_t n, const void* values) const {
  const auto size = dtype_size(dtype_), width = compute_size(compute_type_of(dtype_));
  const bool is_computed_in = size == width;
  alignas(64) std::byte raw[kRawElements * 4];
  const std::int64_t most = is_computed_in ? n : kRawElements;
  for (std::int64_t begin = 0; begin < n; begin += most) {
    const std::int64_t count = std::min(most, n - begin);
    const std::byte* const from = static_cast<const std::byte*>(values) + static_cast<std::size_t>(begin) * width;
    if (!is_computed_in) table.store[static_cast<int>(dtype_)](from, raw, static_cast<std::size_t>(count));
    patterns(
        position + begin, count,
        [&](const ShortRuns& runs, std::int64_t offset, std::int64_t within, std::int64_t first, std::int64_t length) {
          scatter_pattern(runs, size, base_ + offset * static_cast<std::int64_t>(size), within, length,
                          (is_computed_in ? from : raw) + static_cast<std::size_t>(first) * size);
        });
  }
}

void Cursor::store(const KernelTable& table, std::int64_t position, std::int64_t n, const void* values,
                   bool stream) const {
  if (has_short_runs(n)) return store_patterns(table, position, n, values);
  const int stored = static_cast<int>(dtype_);
  const auto size = static_cast<std::int64_t>(dtype_size(dtype_));
  const auto width = static_cast<std::int64_t>(compute_size(compute_type_of(dtype_)));
  runs(position, n,
       [&](std::int64_t offset, std::int64_t stride, std::int64_t first, std::int64_t length, std::int64_t,
           std::int64_t) {
         const std::byte* from = static_cast<const std::byte*>(values) + first * width;
         std::byte* const to = base_ + offset * size;
         if (stride == 1 || length == 1)
           (stream && reinterpret_cast<std::uintptr_t>(to) % 64 == 0 ? table.stream : table.store)[stored](
               from, to, static_cast<std::size_t>(length));
         else table.store_strided[stored](from, base_ + offset * size, stride, static_cast<std::size_t>(length));
       });
}

}  // namespace tern::detail_cpu
