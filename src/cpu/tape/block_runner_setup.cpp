// What a BlockRunner finds out once for a request: which way of the tape to go, how each operand lies, which outputs
// are written in place.
#include <algorithm>
#include <string_view>

#include "cpu/machine/caches.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/block_runner.hpp"
#include "cpu/tape/loops.hpp"
#include "cpu/tape/numbers.hpp"

namespace tern::detail_cpu {

using detail::Operand;
using detail::StepKind;

namespace {

std::int64_t bytes_of(const detail::View& view, const AxisOrder& space) {
  std::int64_t count = 1;
  for (int i = 0; i < space.rank; ++i)
    if (view.strides[static_cast<std::size_t>(space.axes[i])] != 0) count *= space.sizes[i];
  return count * static_cast<std::int64_t>(dtype_size(view.dtype));
}

/// What is read and written.
std::int64_t bytes_of(std::span<const Operand> inputs, std::span<const detail::View> outputs, const AxisOrder& space) {
  std::int64_t bytes = 0;
  for (const Operand& operand : inputs)
    if (operand.view.storage) bytes += bytes_of(operand.view, space);
  for (const detail::View& output : outputs) bytes += bytes_of(output, space);
  return bytes;
}

/// Whether the last that gives this value is a loop.
bool made_by_loop(const Tape& tape, const Tape::Way& way, int value) {
  for (const int i : way.block)
    if (i < 0)
      for (const int output : tape.loops[static_cast<std::size_t>(~i)].outputs)
        if (output == value) return true;
  return false;
}

/// Whether the processor fetches one operand that is read on and on too late: measured on AMD's with AVX2 only.
bool needs_fetching() {
  static const bool needs = made_by_amd() && std::string_view(kernels().target) == "AVX2";
  return needs;
}

bool is_reduction(const Tape& tape, int value) {
  return std::ranges::any_of(tape.ops, [&](const TapeOp& op) {
    return op.kind == TapeOp::OpKind::reduce && op.place < 0 && op.result == value;
  });
}

}  // namespace

/// What a product's epilogue reads and writes passes by the caches from this part of them on, and leaves them to the
/// operands (1024 x 1024 x 4096 bf16 with gelu, the pre-activation kept, Zen 4: 22.3 to 21.5 ms; what follows 0.99).
constexpr std::int64_t kProductShare = 4;

/// Short rows take loops of rows, too, which repeat what a row has one of by permutations. (Loops that read repetitions
/// took up to 1.5 of the time without any.)
const Tape::Way& BlockRunner::way_of(const Tape& tape, const KernelTable& table, std::int64_t row) {
  if (!loops_enabled()) return tape.plain;
  if (is_short_row(row) && !tape.short_rows.block.empty() && table.centred_squares[0][0][0]) return tape.short_rows;
  return tape.program->reduces && (row >= table.loop_row || is_short_row(row)) ? tape.rows : tape.compiled;
}

BlockRunner::BlockRunner(const Tape& tape, const KernelTable& table, std::span<const Operand> inputs,
                         std::span<const detail::View> outputs, const AxisOrder& full, const AxisOrder& kept, bool rows,
                         std::int64_t length, std::span<const Strides> coordinates, int skip, std::int64_t group)
    : tape_(tape),
      way_(way_of(tape, table, rows && group == 1 ? length : 0)),
      table_(table),
      rows_(rows),
      group_(group),
      short_rows_(rows && group == 1 && tape.program->reduces && is_short_row(length)) {
  for (const Operand& operand : inputs)
    for (const detail::View& output : outputs)
      in_place_ |= operand.view.storage && operand.view.storage == output.storage;
  if (full.count() >= kTapeBlock * 1024) {
    const std::int64_t bytes = bytes_of(inputs, outputs, full);
    streams_ = !in_place_ && bytes >= (skip > 0 ? cache_bytes() / kProductShare : cache_bytes());
    fetches_ = bytes > cache_bytes() / 2;
  }
  for (const int v : tape.given) {
    bind(v, inputs, full, kept, length, coordinates, skip);
    if (tape.values[static_cast<std::size_t>(v)].kind == StepKind::position) coordinates = coordinates.subspan(1);
  }
  for (std::size_t k = 0; k < tape.outputs.size(); ++k) {
    const bool is_full = tape.program->outputs[k].full || !tape.program->reduces;
    const int pass = in_place_ ? tape.program->passes - 1 : tape.output_pass[k];
    outputs_.push_back(
        {Cursor(outputs[k], is_full ? full : kept), tape.outputs[k], is_full, may_write_directly(k, outputs), pass});
  }
  if (skip == 0) find_patterns(full.count());
  if (skip == 0 && full.count() >= kFewestCols) {
    input_columns_ = find_columns(inputs_), output_columns_ = find_columns(outputs_);
    const auto number = [](auto& list, const std::vector<Columns>& groups) {
      for (std::size_t g = 0; g < groups.size(); ++g)
        for (const int i : groups[g].members) list[static_cast<std::size_t>(i)].columns = static_cast<int>(g);
    };
    number(inputs_, input_columns_), number(outputs_, output_columns_);
  }
  only_place_ = is_only_place(length);
  const int only = way_.block.size() == 1 ? way_.block[0] : 0;
  by_rows_ = !tape.program->reduces && !in_place_ && way_.block.size() == 1 &&
             (only < 0 || tape.ops[static_cast<std::size_t>(only)].kind == TapeOp::OpKind::elementary);
  fetches_ahead_ = streams_ && skip == 0 && !tape.program->reduces && way_.block.size() == 1 && inputs_.size() == 1 &&
                   needs_fetching();
  half_rows_ = find_half_loop();
  // The blocks of a product (skip > 0) are rectangles and no runs: those of few columns are widened.
  if (skip == 0) take_halves(full.count(), false);
}

/// Whether all that is reduced is an extreme and its place, found in short rows without it, and only the place is read.
bool BlockRunner::is_only_place(std::int64_t length) const {
  if (!rows_ || group_ > 1 || length < 2 || tape_.online.size() != 1 || tape_.reductions.size() != 2) return false;
  const TapeOnline& online = tape_.online[0];
  const TapeOp& pivot = tape_.ops[static_cast<std::size_t>(online.pivot)];
  const auto weight = std::ranges::find(inputs_, online.weight, &BlockInput::value);
  if (!online.is_place() || length > table_.place_row[static_cast<int>(pivot.type)] || weight == inputs_.end() ||
      !weight->cursor.counts_up() || std::ranges::count(tape_.outputs, pivot.result) > 0)
    return false;
  for (std::size_t i = 0; i < tape_.ops.size(); ++i) {
    const TapeOp& op = tape_.ops[i];
    if (tape_.live[i] && op.place < 0)
      for (int a = 0; a < op.arity; ++a)
        if (op.args[a] == pivot.result) return false;
  }
  return true;
}

/// Operands that repeat after a few elements, and are read in blocks: repeated once for all blocks.
void BlockRunner::find_patterns(std::int64_t count) {
  for (BlockInput& input : inputs_) {
    const std::int64_t period = input.full ? input.cursor.period() : 0;
    if (period == 0 || 2 * period > count || tape_.values[static_cast<std::size_t>(input.value)].slot < 0) continue;
    input.period = period, input.pattern = patterns_++;
  }
}

void BlockRunner::take_halves(std::int64_t count, bool by_patterns) {
  const auto lies_so = [&](const auto& operand) { return operand.cursor.direct(0, count) != nullptr; };
  if (!half_rows_ || !std::ranges::all_of(outputs_, lies_so) ||
      !std::ranges::all_of(inputs_, [&](const BlockInput& i) { return (by_patterns && i.period > 0) || lies_so(i); }))
    return;
  half_loop_ = half_rows_;
  for (BlockOutput& output : outputs_) output.direct = true;
}

/// The loop that takes 16-bit floats from memory, and gives such; null where the tape is more than it, or an operand is
/// of another type.
LoopFn BlockRunner::find_half_loop() const {
  if (tape_.program->reduces || in_place_ || way_.block.size() != 1 || way_.block[0] >= 0 || outputs_.empty())
    return nullptr;
  const TapeLoop& loop = tape_.loops[static_cast<std::size_t>(~way_.block[0])];
  const DType dtype = outputs_[0].cursor.dtype();
  if (inputs_.size() != loop.inputs.size() || outputs_.size() != loop.outputs.size()) return nullptr;
  const auto read_so = [&](const BlockInput& i) {
    return i.full && i.cursor.dtype() == dtype && std::count(loop.inputs.begin(), loop.inputs.end(), i.value) == 1;
  };
  if (!std::all_of(inputs_.begin(), inputs_.end(), read_so) ||
      !std::all_of(outputs_.begin(), outputs_.end(), [&](const BlockOutput& o) {
        return o.cursor.dtype() == dtype && std::count(tape_.outputs.begin(), tape_.outputs.end(), o.value) == 1;
      }))
    return nullptr;
  return dtype == DType::f16 ? loop.f16 : dtype == DType::bf16 ? loop.bf16 : nullptr;
}

void BlockRunner::bind(int v, std::span<const Operand> inputs, const AxisOrder& full, const AxisOrder& kept,
                       std::int64_t length, std::span<const Strides> coordinates, int skip) {
  const TapeValue& value = tape_.values[static_cast<std::size_t>(v)];
  if (value.slot < 0 && value.kind != StepKind::input) return;
  const bool filled = way_.filled[static_cast<std::size_t>(v)];
  const auto operand = [&]() -> const Operand& { return inputs[static_cast<std::size_t>(value.index - skip)]; };
  switch (value.kind) {
    case StepKind::input:
      if (value.index >= skip)
        inputs_.push_back({v, Cursor(operand().view, value.full ? full : kept, operand().gather), value.full});
      break;
    case StepKind::position:
      inputs_.push_back({v, Cursor::coordinate(full, coordinates[0]), true});
      break;
    case StepKind::number: numbers_.push_back({v, filled, number_bits(value.type, value.number)}); break;
    case StepKind::param: numbers_.push_back({v, filled, number_bits(value.type, operand().number)}); break;
    case StepKind::extent: numbers_.push_back({v, filled, number_bits(value.type, Number(length))}); break;
    default: break;
  }
}

/// An op may write its result into the output's memory where that has the type it computes in and nothing else needs
/// the block afterwards. In place, only the last op may: earlier ones would overwrite an input still to be read.
bool BlockRunner::may_write_directly(std::size_t k, std::span<const detail::View> outputs) const {
  const int value = tape_.outputs[k];
  if (!stored_as_computed(outputs[k].dtype)) return false;
  // These stream themselves; one operation alone does not, but copying a block takes longer (sums of 2^22 f32, Emerald
  // Rapids: 1.93 ms, copied 1.92 to 2.08; as a loop 1.41).
  if (streams_ && tape_.ops.size() > 1 && !made_by_loop(tape_, way_, value) &&
      !(rows_ && group_ == 1 && is_reduction(tape_, value)))
    return false;
  const TapeValue& v = tape_.values[static_cast<std::size_t>(value)];
  if (v.kind != StepKind::elementary && v.kind != StepKind::reduce) return false;
  if (std::count(tape_.outputs.begin(), tape_.outputs.end(), value) != 1) return false;
  return !in_place_ || (!tape_.ops.empty() && tape_.ops.back().result == value);
}

}  // namespace tern::detail_cpu
