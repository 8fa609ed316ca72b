#include "cpu/tape/narrow.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/machine/threads.hpp"
#include "cpu/tape/block_runner.hpp"

namespace tern::detail_cpu {
namespace {

using detail::StepKind;

/// Elements of a block of a number, and those that are worth a second thread.
constexpr std::int64_t kNumbers = 4096, kParallel = std::int64_t{1} << 18;

/// Of contiguous memory; the compiler's vectors of the baseline target, which meet memory's speed. Null: an elementary
/// function whose low bits do not follow from its operands' alone, or that is not one of them.
using NarrowFn = void (*)(const void* const* args, void* out, std::size_t n);
template <class M, class F> void narrow_loop(const void* const* args, void* out, std::size_t n) {
  const M *const x = static_cast<const M*>(args[0]), *const y = static_cast<const M*>(args[1]);
  M* const to = static_cast<M*>(out);
#pragma GCC ivdep  // `out` is an operand, or apart from them
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<M>(F()(x[i], y[i]));
}
template <class M> NarrowFn narrow_function(Elementary elementary) {
  const auto loop = []<class F>(F) -> NarrowFn { return &narrow_loop<M, F>; };
  switch (elementary) {
    case Elementary::add: return loop([](M x, M y) { return x + y; });
    case Elementary::sub: return loop([](M x, M y) { return x - y; });
    case Elementary::mul: return loop([](M x, M y) { return x * y; });
    case Elementary::maximum: return loop([](M x, M y) { return x < y ? y : x; });
    case Elementary::minimum: return loop([](M x, M y) { return y < x ? y : x; });
    case Elementary::bit_and: return loop([](M x, M y) { return x & y; });
    case Elementary::bit_or: return loop([](M x, M y) { return x | y; });
    case Elementary::bit_xor: return loop([](M x, M y) { return x ^ y; });
    default: return nullptr;
  }
}
NarrowFn narrow_function(DType dtype, Elementary elementary) {
  switch (dtype) {
    case DType::u8: return narrow_function<std::uint8_t>(elementary);
    case DType::i8: return narrow_function<std::int8_t>(elementary);
    case DType::i16: return narrow_function<std::int16_t>(elementary);
    default: return nullptr;
  }
}

/// The one operation of a tape, wraps of its result aside; null where there are more, or other steps.
const TapeOp* only_op(const Tape& tape) {
  const TapeOp* found = nullptr;
  for (const TapeOp& op : tape.ops) {
    if (op.kind == TapeOp::Kind::elementary && !found) found = &op;
    else if (op.kind != TapeOp::Kind::block || !found || op.args[0] != found->result) return nullptr;
  }
  return found && tape.outputs.size() == 1 && tape.outputs[0] == found->result ? found : nullptr;
}

class NarrowRun {
 public:
  NarrowRun(const detail::FusedRequest& r, const Tape& tape) : r_(r), tape_(tape), dtype_(r.outputs[0].dtype) {}

  bool run(const TapeOp& op, NarrowFn elementary) {
    if (!is_contiguous(r_.outputs[0], r_.space)) return false;
    alignas(64) std::byte numbers[2][kNumbers];
    for (int a = 0; a < 2; ++a)
      if (!take(op, op.args[a], a, numbers[a])) return false;
    const std::int64_t count = r_.space.numel(), blocks = (count + kNumbers / 2 - 1) / (kNumbers / 2);
    const std::int64_t parts = count < kParallel ? 1 : std::min<std::int64_t>(blocks, 4 * max_threads());
    auto* const out = static_cast<std::byte*>(memory_of(r_.outputs[0]));
    const auto size = static_cast<std::int64_t>(dtype_size(dtype_));
    parallel_for(parts, [&](std::int64_t part) {
      const std::int64_t end = std::min(count, blocks * (part + 1) / parts * (kNumbers / 2));
      for (std::int64_t at = blocks * part / parts * (kNumbers / 2); at < end; at += kNumbers / 2) {
        const void* args[2];
        for (int a = 0; a < 2; ++a) args[a] = from_[a] + (moves_[a] ? at * size : 0);
        elementary(args, out + at * size, static_cast<std::size_t>(std::min(kNumbers / 2, end - at)));
      }
    });
    return true;
  }

 private:
  /// An operand in memory, or a block of a number, if it can be either.
  bool take(const TapeOp& op, int value, int a, std::byte* block) {
    const TapeValue& v = tape_.values[static_cast<std::size_t>(value)];
    if (v.kind == StepKind::input) {
      const detail::Operand& operand = r_.inputs[static_cast<std::size_t>(v.index)];
      if (operand.gather || !operand.view.storage || operand.view.dtype != dtype_) return false;
      from_[a] = static_cast<const std::byte*>(memory_of(operand.view)), moves_[a] = true;
      return is_contiguous(operand.view, r_.space);
    }
    if (v.kind != StepKind::number && v.kind != StepKind::param) return false;
    const Number& number =
        v.kind == StepKind::number ? v.number : r_.inputs[static_cast<std::size_t>(v.index)].number;
    if (!number.is_integer || !fill(number.integer, block, op.which)) return false;
    from_[a] = block, moves_[a] = false;
    return true;
  }
  /// A number that the dtype cannot hold is not compared as one that it can.
  bool fill(std::int64_t number, std::byte* block, Elementary elementary) const {
    const auto as = [&]<class M>(M narrow) {
      if ((elementary == Elementary::maximum || elementary == Elementary::minimum) && narrow != number) return false;
      std::fill_n(reinterpret_cast<M*>(block), kNumbers / 2, narrow);
      return true;
    };
    if (dtype_ == DType::u8) return as(static_cast<std::uint8_t>(number));
    if (dtype_ == DType::i8) return as(static_cast<std::int8_t>(number));
    return as(static_cast<std::int16_t>(number));
  }

  const detail::FusedRequest& r_;
  const Tape& tape_;
  DType dtype_;
  const std::byte* from_[2];
  bool moves_[2];
};

}  // namespace

bool run_narrow(const detail::FusedRequest& r, const Tape& tape) {
  if (tape.program->reduces || r.outputs.size() != 1 || tape.ops.empty() || tape.ops.size() > 2) return false;
  const TapeOp* const op = only_op(tape);
  if (!op || op->type != ComputeType::i32) return false;
  const NarrowFn elementary = narrow_function(r.outputs[0].dtype, op->which);
  return elementary && NarrowRun(r, tape).run(*op, elementary);
}

}  // namespace tern::detail_cpu
