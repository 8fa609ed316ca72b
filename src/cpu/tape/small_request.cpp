// Requests of at most a block, whose operands lie as the space does: kernels and loops are called where they lie.
#include <algorithm>
#include <cstring>

#include "cpu/tape/block_runner.hpp"
#include "cpu/tape/loops.hpp"
#include "cpu/tape/numbers.hpp"

namespace tern::detail_cpu {

using detail::Operand;
using detail::StepKind;

namespace {

void run_elementary(const Worker& w, const TapeOp& op, std::size_t n) {
  const void* args[3];
  for (int a = 0; a < 3; ++a) args[a] = w.at[static_cast<std::size_t>(op.args[a])];
  op.elementary(args, w.at[static_cast<std::size_t>(op.result)], n);
}

bool lies_as(const detail::View& view, const Shape& space) {
  return stored_as_computed(view.dtype) && is_contiguous(view, space);
}

/// Whether every step is an op or a loop that run_small knows, and every operand lies right.
bool is_small(const detail::FusedRequest& r, const Tape& tape, const Tape::Way& way, std::int64_t count) {
  if (tape.program->reduces || count > kBlock || count == 0) return false;
  for (const Operand& operand : r.inputs)
    if (operand.gather || (operand.view.storage && !lies_as(operand.view, r.space))) return false;
  for (const detail::View& output : r.outputs)
    if (!lies_as(output, r.space)) return false;
  for (const TapeValue& value : tape.values)
    if (value.kind == StepKind::position) return false;
  for (const int i : way.block)
    if (i >= 0 && tape.ops[static_cast<std::size_t>(i)].kind != TapeOp::Kind::elementary) return false;
  return true;
}

}  // namespace

bool run_small(const detail::FusedRequest& r, const Tape& tape, const KernelTable& table) {
  // A single op is a kernel as it is; as a loop it is one for what does not fit a block.
  const Tape::Way& way = loops_enabled() && tape.ops.size() > 1 ? tape.compiled : tape.plain;
  std::int64_t count = 1;
  for (const std::int64_t size : r.space) count *= size;
  if (!is_small(r, tape, way, count)) return false;
  const auto n = static_cast<std::size_t>(count);
  Worker w{register_file(tape.slots, kSlotBytes), {}, nullptr};
  for (std::size_t v = 0; v < tape.values.size(); ++v) {
    const TapeValue& value = tape.values[v];
    std::byte* const slot = value.slot < 0 ? nullptr : w.file + static_cast<std::size_t>(value.slot) * kSlotBytes;
    w.at.push_back(slot);
    if (value.kind == StepKind::input) w.at[v] = memory_of(r.inputs[static_cast<std::size_t>(value.index)].view);
    if (!slot || (value.kind != StepKind::number && value.kind != StepKind::param)) continue;
    const Number& number =
        value.kind == StepKind::number ? value.number : r.inputs[static_cast<std::size_t>(value.index)].number;
    const std::int64_t bits = number_bits(value.type, number);
    table.fill[static_cast<int>(value.type)](&bits, slot, way.filled[v] ? n : 1);
  }
  // The last step may write into the output, even where that is an input as well.
  const int last = tape.ops.empty() ? -1 : tape.ops.back().result;
  for (std::size_t k = 0; k < r.outputs.size(); ++k)
    if (tape.outputs[k] == last && std::count(tape.outputs.begin(), tape.outputs.end(), last) == 1)
      w.at[static_cast<std::size_t>(last)] = memory_of(r.outputs[k]);
  for (const int i : way.block)
    if (i >= 0) run_elementary(w, tape.ops[static_cast<std::size_t>(i)], n);
    else run_loop(w, tape.loops[static_cast<std::size_t>(~i)], {n, 1, {}, {}});
  for (std::size_t k = 0; k < r.outputs.size(); ++k) {
    void* const to = memory_of(r.outputs[k]);
    const void* const from = w.at[static_cast<std::size_t>(tape.outputs[k])];
    if (from != to) std::memmove(to, from, n * dtype_size(r.outputs[k].dtype));
  }
  return true;
}

}  // namespace tern::detail_cpu
