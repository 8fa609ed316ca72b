// The epilogue of a product on finished tiles of its result, whatever made them.
#pragma once
#include "cpu/tape/block_runner.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_cpu {

/// `rows` runs of `cols` neighbouring positions of the result, `pitch` positions apart, whose accumulators are in
/// memory `stride` elements from row to row.
struct FinishedTile {
  const void* acc;
  std::int64_t stride, position, rows, cols, pitch;
};

class TileEpilogue {
 public:
  /// The result's space in the order that positions count in. `coordinate_of`: the axis of that space which stands for
  /// axis i as the formula counts them; null: the same.
  TileEpilogue(const Tape& tape, const KernelTable& table, std::span<const detail::Operand> inputs,
               std::span<const detail::View> outputs, const Shape& space, const int* coordinate_of = nullptr);
  TileEpilogue(const TileEpilogue&) = delete;
  TileEpilogue& operator=(const TileEpilogue&) = delete;

  /// Whether there is no epilogue but the rounding of a store.
  bool stores_accumulators() const { return stores_; }
  void finish(const FinishedTile& tile) const;

 private:
  detail::PoolVector<Strides> coordinates(const int* coordinate_of) const;
  void store(const FinishedTile& tile, std::size_t width) const;
  void finish_in_blocks(Worker& w, const Block& whole, std::size_t width) const;

  const Tape& tape_;
  AxisOrder order_;
  BlockRunner runner_;
  int acc_ = -1;
  bool stores_ = false;
};

}  // namespace tern::detail_cpu
