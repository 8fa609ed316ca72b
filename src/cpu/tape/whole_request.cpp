// Elementwise requests of more than a block that one operation, or one compiled loop, carries out from memory to
// memory: it is called where the operands lie, without a plan of blocks.
#include <algorithm>

#include "cpu/tape/loops.hpp"
#include "cpu/tape/numbers.hpp"
#include "cpu/tape/run.hpp"

namespace tern::detail_cpu {

using detail::StepKind;

namespace {

/// From so many elements on results may pass by the caches, which a plan decides.
constexpr std::int64_t kPlanned = 1024 * kTapeBlock;

/// Values where they lie, and the bytes from one element to the next: none of a number.
class PlacedValues {
 public:
  explicit PlacedValues(const Tape& tape) : places_(tape.values.size(), {nullptr, 0}) {}

  /// False: some lie otherwise, or are read as blocks.
  bool place(const detail::FusedRequest& r, const Tape& tape, const Tape::Way& way) {
    for (const int v : tape.given)
      if (!place_given(r, tape, way, static_cast<std::size_t>(v))) return false;
    for (std::size_t k = 0; k < r.outputs.size(); ++k) {
      const auto value = static_cast<std::size_t>(tape.outputs[k]);
      if (places_[value].at || !place_memory(value, r.outputs[k], r.space)) return false;
      for (const detail::Operand& input : r.inputs)  // in place, or apart
        if (input.view.storage == r.outputs[k].storage && memory_of(input.view) != places_[value].at) return false;
    }
    return true;
  }
  std::byte* at(int value, std::int64_t element) const {
    const PlacedValue& place = places_[static_cast<std::size_t>(value)];
    return place.at + element * place.step;
  }
  bool has(int value) const { return places_[static_cast<std::size_t>(value)].at != nullptr; }

 private:
  struct PlacedValue {
    std::byte* at;
    std::int64_t step;
  };
  bool place_memory(std::size_t value, const detail::View& view, const Shape& space) {
    if (!stored_as_computed(view.dtype) || !is_contiguous(view, space)) return false;
    places_[value] = {static_cast<std::byte*>(memory_of(view)), static_cast<std::int64_t>(dtype_size(view.dtype))};
    return true;
  }
  bool place_given(const detail::FusedRequest& r, const Tape& tape, const Tape::Way& way, std::size_t v) {
    const TapeValue& value = tape.values[v];
    if (value.kind == StepKind::input) {
      const detail::Operand& operand = r.inputs[static_cast<std::size_t>(value.index)];
      return !operand.gather && operand.view.storage && place_memory(v, operand.view, r.space);
    }
    const bool is_param = value.kind == StepKind::param;
    if ((value.kind != StepKind::number && !is_param) || way.filled[v] || numbers_ == kNumbers) return false;
    bits_[numbers_] =
        number_bits(value.type, is_param ? r.inputs[static_cast<std::size_t>(value.index)].number : value.number);
    places_[v] = {reinterpret_cast<std::byte*>(&bits_[numbers_++]), 0};
    return true;
  }

  static constexpr std::size_t kNumbers = 4;
  std::int64_t bits_[kNumbers];
  std::size_t numbers_ = 0;
  detail::SmallVector<PlacedValue, 8> places_;
};

void run_op(const TapeOp& op, const PlacedValues& values, std::int64_t first, std::int64_t count) {
  const void* args[3] = {};
  for (int a = 0; a < op.arity; ++a) args[a] = values.at(op.args[a], first);
  std::byte* const to = values.at(op.result, first);
  if (op.kind == TapeOp::OpKind::block) op.block(args[0], to, static_cast<std::size_t>(count));
  else op.elementary(args, to, static_cast<std::size_t>(count));
}
void run_part(const TapeLoop& loop, const PlacedValues& values, std::int64_t first, std::int64_t count) {
  const void *in[kLoopInputs], *scalars[kLoopScalars];
  void* out[kLoopOutputs];
  for (std::size_t i = 0; i < loop.inputs.size(); ++i) in[i] = values.at(loop.inputs[i], first);
  for (std::size_t i = 0; i < loop.scalars.size(); ++i) scalars[i] = values.at(loop.scalars[i], 0);
  for (std::size_t i = 0; i < loop.outputs.size(); ++i) out[i] = values.at(loop.outputs[i], first);
  loop.run({in, scalars, out, static_cast<std::size_t>(count)});
}

/// By one op of the way, or one loop; false: it is more, or an operand lies otherwise.
bool run_by(const detail::FusedRequest& r, const Tape& tape, const Tape::Way& way, std::int64_t count) {
  if (way.block.size() != 1) return false;
  const int only = way.block[0];
  const TapeOp* const op = only < 0 ? nullptr : &tape.ops[static_cast<std::size_t>(only)];
  const TapeLoop* const loop = only < 0 ? &tape.loops[static_cast<std::size_t>(~only)] : nullptr;
  if (op && op->kind != TapeOp::OpKind::elementary && op->kind != TapeOp::OpKind::block) return false;
  PlacedValues values(tape);
  if (!values.place(r, tape, way)) return false;
  const auto results = op ? std::span<const int>(&op->result, 1) : std::span<const int>(loop->outputs);
  const auto is_there = [&](int value) { return values.has(value); };
  if (results.size() != r.outputs.size() || !std::ranges::all_of(results, is_there)) return false;
  const std::int64_t most = worth_threads(tape, count) ? 4 * max_threads() : 1,
                     tasks = std::min<std::int64_t>((count + kLargeBlock - 1) / kLargeBlock, most);
  parallel_for(tasks, [&](std::int64_t task) {
    const auto begin_of = [&](std::int64_t t) { return t == tasks ? count : count * t / tasks / 64 * 64; };
    const std::int64_t first = begin_of(task), some = begin_of(task + 1) - first;
    if (op) run_op(*op, values, first, some);
    else run_part(*loop, values, first, some);
  });
  return true;
}

}  // namespace

/// An op before a loop that does the same: that asks for each vector whether it passes by the caches.
bool run_whole(const detail::FusedRequest& r, const Tape& tape, const KernelTable&) {
  const std::int64_t count = r.space.numel();
  if (tape.program->reduces || count >= kPlanned) return false;
  return run_by(r, tape, tape.plain, count) || (loops_enabled() && run_by(r, tape, tape.compiled, count));
}

}  // namespace tern::detail_cpu
