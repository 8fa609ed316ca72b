#include "cpu/products/tile_epilogue.hpp"

#include <algorithm>
#include <cstring>

namespace tern::detail_cpu {

using detail::StepKind;

namespace {
AxisOrder order_of(const Shape& space) {
  AxisOrder order;
  order.rank = space.rank();
  for (int i = 0; i < order.rank; ++i) order.axes[i] = i, order.sizes[i] = space[static_cast<std::size_t>(i)];
  return order;
}
}  // namespace

/// Strides of the coordinates the epilogue asks for, in the order of its values.
detail::PoolVector<Strides> TileEpilogue::coordinates(const int* coordinate_of) const {
  detail::PoolVector<Strides> result;
  for (const TapeValue& value : tape_.values) {
    if (value.kind != StepKind::position) continue;
    Strides& strides = result.emplace_back();
    strides.resize(order_.rank, 0);
    const int axis = value.index < 0 ? value.index + order_.rank : value.index;
    strides[static_cast<std::size_t>(coordinate_of ? coordinate_of[axis] : axis)] = 1;
  }
  return result;
}

TileEpilogue::TileEpilogue(const Tape& tape, const KernelTable& table, std::span<const detail::Operand> inputs,
                           std::span<const detail::View> outputs, const Shape& space, const int* coordinate_of)
    : tape_(tape),
      order_(order_of(space)),
      runner_(tape, table, inputs, outputs, order_, order_, true, 1, coordinates(coordinate_of), 1) {
  for (const int v : tape.given) {
    const TapeValue& value = tape.values[static_cast<std::size_t>(v)];
    if (value.kind == StepKind::input && value.index == 0) acc_ = v;
  }
  stores_ = tape.ops.empty() && outputs.size() == 1 && tape.outputs[0] == acc_;
}

/// Each row of so few would be found in the output by itself.
constexpr std::int64_t kFewColumns = 4;

/// The tile's accumulators to the output, all at once where they lie in a run in both: blocks and workers, for
/// nothing, cost batches of 64³ bf16 8 %.
void TileEpilogue::store(const FinishedTile& tile, std::size_t width) const {
  const bool one_run = tile.cols == tile.pitch && tile.stride == tile.cols;
  if (!one_run && tile.cols <= kFewColumns && tile.rows > 1) {
    Block b;
    b.position = tile.position, b.rows = tile.rows, b.cols = tile.cols, b.pitch = tile.pitch;
    if (runner_.store_columns_computed(b, tile.acc, tile.stride)) return;
  }
  const std::int64_t runs = one_run ? 1 : tile.rows, length = one_run ? tile.rows * tile.cols : tile.cols;
  const auto* from = static_cast<const std::byte*>(tile.acc);
  for (std::int64_t r = 0; r < runs; ++r)
    runner_.store_computed(tile.position + r * tile.pitch, length,
                           from + static_cast<std::size_t>(r * tile.stride) * width);
  runner_.finish();
}

void TileEpilogue::finish(const FinishedTile& tile) const {
  const std::size_t width =
      compute_size(acc_ >= 0 ? tape_.values[static_cast<std::size_t>(acc_)].type : ComputeType::f32);
  if (stores_) return store(tile, width);
  Worker w = runner_.make_worker(kTapeBlock);
  for (std::int64_t at = 0; at < tile.cols; at += kTapeBlock) {
    Block b;
    b.rows = tile.rows, b.cols = std::min(kTapeBlock, tile.cols - at), b.pitch = tile.pitch;
    b.position = tile.position + at;
    b.placed = acc_, b.placed_step = tile.stride * static_cast<std::int64_t>(width);
    if (acc_ >= 0)
      w.at[static_cast<std::size_t>(acc_)] =
          static_cast<std::byte*>(const_cast<void*>(tile.acc)) + static_cast<std::size_t>(at) * width;
    if (runner_.goes_by_rows(b)) runner_.run_block(w, b);
    else finish_in_blocks(w, b, width);
  }
  runner_.finish();
}

/// Row by row, or several short rows at once, next to each other.
void TileEpilogue::finish_in_blocks(Worker& w, const Block& whole, std::size_t width) const {
  alignas(64) std::byte gathered[kSlotBytes];
  const std::int64_t together = kTapeBlock / whole.cols;
  const auto* const acc = acc_ < 0 ? nullptr : static_cast<const std::byte*>(w.at[static_cast<std::size_t>(acc_)]);
  for (std::int64_t r = 0; r < whole.rows; r += together) {
    Block b = whole;
    b.rows = std::min(together, whole.rows - r), b.position += r * b.pitch;
    b.kept_position = b.position, b.kept = b.size();
    if (acc) {
      const std::byte* from = acc + r * b.placed_step;
      const auto bytes = static_cast<std::int64_t>(width) * b.cols;
      if (b.rows > 1 && b.placed_step != bytes) {
        for (std::int64_t i = 0; i < b.rows; ++i)
          std::memcpy(gathered + i * bytes, from + i * b.placed_step, static_cast<std::size_t>(bytes));
        from = gathered;
      }
      w.at[static_cast<std::size_t>(acc_)] = const_cast<std::byte*>(from);
    }
    runner_.run_block(w, b);
  }
}

}  // namespace tern::detail_cpu
