// Operands that are elements of rows in memory, as the components of vectors and small matrices and the parts of
// complex numbers are: read, and written, many rows at once instead of component by component.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "cpu/tape/block_runner.hpp"

namespace tern::detail_cpu {
namespace {

/// Fewer are moved one by one, unless they are both of two; no more groups have a bit each.
constexpr std::size_t kFewestMembers = 3, kMostGroups = 64;
constexpr std::int64_t kPair = 2;
bool enough(std::size_t columns, std::int64_t step) {
  return columns >= kFewestMembers || (step == kPair && columns == static_cast<std::size_t>(kPair));
}
/// So many pairs are joined in the cache before they are written past it.
constexpr std::int64_t kPairsAtOnce = 512;
constexpr std::int64_t kElementBytes = 4;

bool of_four_bytes(DType dtype) { return dtype == DType::f32 || dtype == DType::i32; }

}  // namespace

template <class List> std::vector<BlockRunner::Columns> BlockRunner::find_columns(const List& list) const {
  struct StridedOperand {
    Cursor::StridedMemory line;
    int index;
  };
  if (list.size() < kFewestMembers) return {};
  detail::SmallVector<StridedOperand, 16> places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& operand = list[i];
    const TapeValue& value = tape_.values[static_cast<std::size_t>(operand.value)];
    const Cursor::StridedMemory line = operand.cursor.line();
    if (!operand.full || !line.begin || !of_four_bytes(operand.cursor.dtype()) || value.slot < 0) continue;
    if (line.step >= kPair) places.push_back({line, static_cast<int>(i)});
  }
  std::vector<Columns> groups;
  if (places.size() < static_cast<std::size_t>(kPair)) return groups;
  std::sort(places.begin(), places.end(),
            [](const StridedOperand& a, const StridedOperand& b) { return a.line.begin < b.line.begin; });
  for (std::size_t first = 0; first < places.size() && groups.size() < kMostGroups;) {
    std::size_t end = first + 1;
    const auto follows = [&](const StridedOperand& p) {
      return p.line.step == places[first].line.step &&
             p.line.begin == places[first].line.begin + static_cast<std::int64_t>(end - first) * kElementBytes &&
             static_cast<std::int64_t>(end - first) < p.line.step;
    };
    while (end < places.size() && follows(places[end])) ++end;
    if (enough(end - first, places[first].line.step)) {
      Columns group;
      group.line = places[first].line;
      for (std::size_t k = first; k < end; ++k) group.members.push_back(places[k].index);
      groups.push_back(std::move(group));
    }
    first = end;
  }
  return groups;
}
template std::vector<BlockRunner::Columns> BlockRunner::find_columns(const detail::SmallVector<BlockInput, 4>&) const;
template std::vector<BlockRunner::Columns> BlockRunner::find_columns(const detail::SmallVector<BlockOutput, 2>&) const;

bool BlockRunner::load_columns(Worker& w, const Columns& columns, const Block& b, int pass) const {
  if (half_loop_ || reduces_in_place_ || (b.rows > 1 && b.pitch != b.cols)) return false;
  detail::SmallVector<void*, 16> to;
  for (const int i : columns.members) {
    const int value = inputs_[static_cast<std::size_t>(i)].value;
    if (pass != kAnyPass && !needs(pass)[static_cast<std::size_t>(value)]) return false;
    to.push_back(slot(w, value));
  }
  table_.split_columns(columns.line.begin + b.position * columns.line.step * kElementBytes, columns.line.step,
                       to.size(), to.begin(), static_cast<std::size_t>(b.size()));
  for (std::size_t k = 0; k < to.size(); ++k)
    w.at[static_cast<std::size_t>(inputs_[static_cast<std::size_t>(columns.members[k])].value)] = to[k];
  return true;
}

void BlockRunner::stream_pairs(const void* first, const void* second, std::byte* to, std::int64_t pairs) const {
  alignas(64) std::array<std::uint32_t, static_cast<std::size_t>(kPair * kPairsAtOnce)> joined;
  for (std::int64_t begin = 0; begin < pairs; begin += kPairsAtOnce) {
    const std::int64_t some = std::min(kPairsAtOnce, pairs - begin);
    const auto at = [&](const void* x) -> const void* { return static_cast<const std::uint32_t*>(x) + begin; };
    const void* const both[] = {at(first), at(second)};
    table_.join_columns(both, 2, joined.data(), kPair, static_cast<std::size_t>(some));
    table_.stream[static_cast<int>(DType::f32)](joined.data(), to + begin * kPair * kElementBytes,
                                                static_cast<std::size_t>(some * kPair));
  }
}

bool BlockRunner::store_columns(const Worker& w, const Columns& columns, const Block& b, int pass) const {
  if (b.rows > 1 && b.pitch != b.cols) return false;
  detail::SmallVector<const void*, 16> from;
  for (const int i : columns.members) {
    const BlockOutput& output = outputs_[static_cast<std::size_t>(i)];
    if (pass != kAnyPass && output.pass != pass) return false;
    from.push_back(w.at[static_cast<std::size_t>(output.value)]);
  }
  std::byte* const to = columns.line.begin + b.position * columns.line.step * kElementBytes;
  if (streams_ && columns.line.step == kPair && reinterpret_cast<std::uintptr_t>(to) % 64 == 0) {
    stream_pairs(from[0], from[1], to, b.size());
    return true;
  }
  table_.join_columns(from.begin(), from.size(), to, columns.line.step, static_cast<std::size_t>(b.size()));
  return true;
}

bool BlockRunner::store_columns_computed(const Block& b, const void* values, std::int64_t step) const {
  const BlockOutput& output = outputs_[0];
  const auto matrix = output.cursor.rectangle(b.position, b.rows, b.cols, b.pitch);
  if (!matrix) return false;
  const DType dtype = output.cursor.dtype();
  const auto width = static_cast<std::int64_t>(compute_size(tape_.values[static_cast<std::size_t>(output.value)].type)),
             size = static_cast<std::int64_t>(dtype_size(dtype));
  alignas(64) std::byte column[kTapeBlock * 8];
  auto* const to = static_cast<std::byte*>(const_cast<void*>(matrix->data));
  for (std::int64_t c = 0; c < b.cols; ++c)
    for (std::int64_t begin = 0; begin < b.rows; begin += kTapeBlock) {
      const std::int64_t rows = std::min(kTapeBlock, b.rows - begin);
      const auto* from = static_cast<const std::byte*>(values) + (begin * step + c) * width;
      for (std::int64_t r = 0; r < rows; ++r)
        std::memcpy(column + r * width, from + r * step * width, static_cast<std::size_t>(width));
      table_.store_strided[static_cast<int>(dtype)](column, to + (begin * matrix->row + c * matrix->col) * size,
                                                    matrix->row, static_cast<std::size_t>(rows));
    }
  return true;
}

}  // namespace tern::detail_cpu
