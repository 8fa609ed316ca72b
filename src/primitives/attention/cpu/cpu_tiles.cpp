#include "primitives/attention/cpu/cpu_tiles.hpp"

namespace tern::detail_cpu {

AxisOrder TileFormula::order_of(const Shape& space) {
  AxisOrder order;
  order.rank = space.rank();
  for (int i = 0; i < order.rank; ++i) order.axes[i] = i, order.sizes[i] = space[static_cast<std::size_t>(i)];
  return order;
}
std::vector<Strides> TileFormula::coordinates_of(const Tape& tape, int rank) {
  std::vector<Strides> result;
  for (const TapeValue& value : tape.values) {
    if (value.kind != detail::StepKind::position) continue;
    Strides& strides = result.emplace_back();
    strides.resize(rank, 0);
    strides[static_cast<std::size_t>(value.index < 0 ? value.index + rank : value.index)] = 1;
  }
  return result;
}
std::vector<detail::View> TileFormula::nowhere(const Tape& tape, const detail::View& any) {
  std::vector<detail::View> views;
  for (const detail::ProgramOutput& output : tape.program->outputs) {
    views.push_back({any.storage, output.dtype, 0, {}});
    views.back().strides.resize(4, 0);
  }
  return views;
}

TileFormula::TileFormula(const Tape& tape, const KernelTable& table, const detail::AttentionSizes& sizes,
                         std::span<const detail::Operand> inputs, const detail::View& any, int placed)
    : tape_(tape),
      order_(order_of(sizes.of_scores())),
      coordinates_(coordinates_of(tape, order_.rank)),
      outputs_(nowhere(tape, any)),
      runner_(tape, table, inputs, outputs_, order_, order_, true, 1, coordinates_, placed),
      width_(dtype_size(tape.program->outputs[0].dtype)) {
  for (std::size_t v = 0; v < tape.values.size(); ++v)
    if (tape.values[v].kind == detail::StepKind::input && tape.values[v].index < placed)
      tiles_[tape.values[v].index] = static_cast<int>(v);
}

void TileFormula::run(std::byte* const (&tiles)[2], int into, Int64 head, Int64 row, Int64 column, Int64 rows,
                      Int64 cols) const {
  Worker w = runner_.make_worker(kTapeBlock);
  const Int64 together = std::max<Int64>(1, kTapeBlock / cols), columns = order_.sizes[3];
  for (Int64 r = 0; r < rows; r += together) {
    Block b;
    b.rows = std::min(together, rows - r), b.cols = cols, b.pitch = columns;
    b.position = (head * order_.sizes[2] + row + r) * columns + column;
    b.kept_position = b.position, b.kept = b.size();
    const std::size_t offset = static_cast<std::size_t>(r * cols) * width_;
    for (int t = 0; t < 2; ++t)
      if (tiles_[t] >= 0) w.at[static_cast<std::size_t>(tiles_[t])] = tiles[t] + offset;
    runner_.load_full(w, b);
    runner_.load_kept(w, b);
    runner_.execute(w, runner_.way().block, b);
    const void* const result = w.at[static_cast<std::size_t>(tape_.outputs[0])];
    if (result != tiles[into] + offset)
      std::memcpy(tiles[into] + offset, result, static_cast<std::size_t>(b.size()) * width_);
  }
}

detail::Seen MaskBlocks::of(Int64 batch, Int64 head, Int64 row, Int64 rows, Int64 column, Int64 cols) const {
  using detail::Seen;
  if (!blocks_.storage) return Seen::some;
  constexpr Int64 kBlockSize = detail::kMaskBlock;
  const auto* const data = static_cast<const std::int32_t*>(blocks_.storage->data()) + blocks_.offset +
                           batch * blocks_.strides[0] + head * blocks_.strides[1];
  bool any = false, all = true;
  for (Int64 i = row / kBlockSize; i <= (row + rows - 1) / kBlockSize; ++i)
    for (Int64 j = column / kBlockSize; j <= (column + cols - 1) / kBlockSize; ++j) {
      const auto seen = static_cast<Seen>(data[i * blocks_.strides[2] + j * blocks_.strides[3]]);
      any |= seen != Seen::nothing, all &= seen == Seen::all;
    }
  return all ? Seen::all : any ? Seen::some : Seen::nothing;
}

}  // namespace tern::detail_cpu
