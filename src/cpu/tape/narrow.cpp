#include "cpu/tape/narrow.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/machine/threads.hpp"
#include "cpu/line_tools.hpp"
#include "cpu/tape/block_runner.hpp"
#include "cpu/tape/numbers.hpp"
#include "formula/compute_types.hpp"

namespace tern::detail_cpu {
namespace {

using detail::StepKind;

/// Bytes of a block of a number.
constexpr std::int64_t kNumbers = 4096;

bool is_input_or_number(StepKind kind) {
  return kind == StepKind::input || kind == StepKind::number || kind == StepKind::param;
}
/// The one operation of a tape, wraps and conversions of its result aside; null where there are more, or other steps.
const TapeOp* only_op(const Tape& tape) {
  if (tape.outputs.size() != 1 || tape.ops.empty() || tape.ops.size() > 2) return nullptr;
  const TapeOp& op = tape.ops.front();
  if (op.kind != TapeOp::OpKind::elementary || op.is_formula() || op.arity > 2) return nullptr;
  if (tape.ops.size() == 2 && (tape.ops[1].kind != TapeOp::OpKind::block || tape.ops[1].args[0] != op.result))
    return nullptr;
  return tape.outputs[0] == op.result || tape.outputs[0] == tape.ops.back().result ? &op : nullptr;
}

class NarrowRun {
 public:
  NarrowRun(const detail::FusedRequest& r, const Tape& tape, const KernelTable& table, const NarrowLoop& loop)
      : r_(r), tape_(tape), table_(table), loop_(loop), size_(static_cast<std::int64_t>(dtype_size(loop.operands))) {}

  bool run() {
    const TapeOp& op = *loop_.op;
    if (!is_contiguous(r_.outputs[0], r_.space)) return false;
    alignas(64) std::byte numbers[2][kNumbers];
    for (int a = 0; a < op.arity; ++a)
      if (!take(op, op.args[a], a, numbers[a])) return false;
    const std::int64_t count = r_.space.numel(), block = kNumbers / size_, blocks = (count + block - 1) / block;
    const std::int64_t parts = count < kParallelNarrow ? 1 : std::min<std::int64_t>(blocks, 4 * max_threads());
    auto* const out = static_cast<std::byte*>(memory_of(r_.outputs[0]));
    const auto to = static_cast<std::int64_t>(dtype_size(r_.outputs[0].dtype));
    parallel_for(parts, [&](std::int64_t part) {
      const std::int64_t end = std::min(count, blocks * (part + 1) / parts * block);
      for (std::int64_t at = blocks * part / parts * block; at < end; at += block) {
        const void* args[2] = {};
        for (int a = 0; a < op.arity; ++a) args[a] = from_[a] + (moves_[a] ? at * size_ : 0);
        loop_.run(args, out + at * to, static_cast<std::size_t>(std::min(block, end - at)));
      }
    });
    return true;
  }

 private:
  /// An operand in memory, or a block of a number, if it can be either.
  bool take(const TapeOp& op, int value, int a, std::byte* block) {
    const TapeValue& v = tape_.values[static_cast<std::size_t>(value)];
    if (!is_input_or_number(v.kind)) return false;
    if (v.kind == StepKind::input) {
      const detail::Operand& operand = r_.inputs[static_cast<std::size_t>(v.index)];
      if (operand.gather || !operand.view.storage || operand.view.dtype != loop_.operands) return false;
      from_[a] = static_cast<const std::byte*>(memory_of(operand.view)), moves_[a] = true;
      return is_contiguous(operand.view, r_.space);
    }
    from_[a] = block, moves_[a] = false;
    const Number& number = v.kind == StepKind::number ? v.number : r_.inputs[static_cast<std::size_t>(v.index)].number;
    if (loop_.compares) {
      const std::int64_t bits = number_bits(v.type, number);
      table_.fill[static_cast<int>(v.type)](&bits, block, static_cast<std::size_t>(kNumbers / size_));
      return true;
    }
    return number.is_integer && fill(number.integer, block, op.which);
  }
  /// A number that the dtype cannot hold is not compared as one that it can.
  bool fill(std::int64_t number, std::byte* block, Elementary elementary) const {
    const auto as = [&]<class M>(M narrow) {
      if ((elementary == Elementary::maximum || elementary == Elementary::minimum) && narrow != number) return false;
      std::fill_n(reinterpret_cast<M*>(block), kNumbers / sizeof(M), narrow);
      return true;
    };
    if (loop_.operands == DType::u8) return as(static_cast<std::uint8_t>(number));
    if (loop_.operands == DType::i8) return as(static_cast<std::int8_t>(number));
    return as(static_cast<std::int16_t>(number));
  }

  const detail::FusedRequest& r_;
  const Tape& tape_;
  const KernelTable& table_;
  const NarrowLoop loop_;
  const std::int64_t size_;
  const std::byte* from_[2];
  bool moves_[2];
};

/// Of a cast of f32 to a narrow integer alone: a conversion and what saturates it; null where the tape is another.
/// (2^22 of f32 to u8, Zen 3: through blocks of 32 bits 2.7 ms, so 2.4; to i16 3.3 and 2.5.)
ElementaryFn saturating_cast(const Tape& tape, DType result, const KernelTable& table) {
  if (tape.outputs.size() != 1 || tape.ops.size() != 2) return nullptr;
  const TapeOp &convert = tape.ops[0], &clamp = tape.ops[1];
  const auto step = [&](int value) -> const detail::Step& {
    return tape.program->steps[static_cast<std::size_t>(value)];
  };
  if (convert.kind != TapeOp::OpKind::block || clamp.kind != TapeOp::OpKind::block || clamp.args[0] != convert.result ||
      tape.outputs[0] != clamp.result || step(convert.result).kind != StepKind::convert ||
      step(convert.result).from != ComputeType::f32 || convert.type != ComputeType::i32 ||
      step(clamp.result).kind != StepKind::wrap || !step(clamp.result).saturate || step(clamp.result).dtype != result)
    return nullptr;
  return table.saturate[static_cast<int>(result)];
}

}  // namespace

NarrowLoop narrow_loop(const Tape& tape, const KernelTable& table) {
  if (tape.program->reduces || tape.outputs.size() != 1) return {};
  const DType result = tape.program->outputs[0].dtype;
  if (const ElementaryFn cast = saturating_cast(tape, result, table)) return {cast, &tape.ops[0], DType::f32};
  const TapeOp* const op = only_op(tape);
  if (!op) return {};
  // Comparisons give a byte for an element as it is computed; what computes in narrow integers stores them.
  if (result == DType::boolean)
    return {table.predicates[static_cast<int>(op->which)][static_cast<int>(op->type)], op, dtype_computed_in(op->type),
            true};
  const bool computes = op->type == ComputeType::i32 && op->arity == 2 && tape.outputs[0] == op->result;
  return {computes ? table.narrow[static_cast<int>(result)][static_cast<int>(op->which)] : nullptr, op, result};
}

bool run_narrow(const detail::FusedRequest& r, const Tape& tape, const KernelTable& table) {
  const NarrowLoop loop = narrow_loop(tape, table);
  return loop.run && NarrowRun(r, tape, table, loop).run();
}

}  // namespace tern::detail_cpu
