#include "cpu/tape/whole_program.hpp"

#include <algorithm>

#include "cpu/tape/loops.hpp"
#include "cpu/tape/narrow.hpp"
#include "cpu/tape/numbers.hpp"
#include "cpu/tape/pairs.hpp"
#include "cpu/tape/run.hpp"

namespace tern::detail_cpu {

using detail::StepKind;

namespace {

/// From so many elements on results may pass by the caches, which a plan decides.
constexpr std::int64_t kPlanned = 1024 * kTapeBlock;
constexpr std::size_t kArguments = kLoopInputs + kLoopScalars;
static_assert(kLoopOutputs <= detail::kDirectOutputs);

}  // namespace

/// The first argument and result, and the bytes from one element to the next: none of a number.
struct WholeProgram::WholeOperands {
  const std::byte* at[kArguments];
  std::byte* to[detail::kDirectOutputs];
  std::int64_t bits[kArguments];
};

std::shared_ptr<const WholeProgram> WholeProgram::of(const Tape& tape, const KernelTable& table) {
  if (tape.program->reduces || is_hypot(*tape.program)) return nullptr;
  const std::shared_ptr<WholeProgram> made(new WholeProgram(tape));
  // An op before a loop that does the same: that asks for each vector whether it passes by the caches.
  return made->take_narrow(table) || made->take(tape.plain) || made->take(tape.compiled) ? made : nullptr;
}

bool WholeProgram::take_narrow(const KernelTable& table) {
  const NarrowLoop narrow = narrow_loop(tape_, table);
  if (!narrow.run) return false;
  const auto step = [](DType dtype) { return static_cast<std::int64_t>(dtype_size(dtype)); };
  for (int a = 0; a < narrow.op->arity; ++a) {
    const TapeValue& value = tape_.values[static_cast<std::size_t>(narrow.op->args[a])];
    if (value.kind != StepKind::input || value.index >= static_cast<int>(detail::kDirectInputs) ||
        tape_.program->inputs[static_cast<std::size_t>(value.index)].dtype != narrow.operands)
      return false;
    arguments_.push_back({value.index, step(narrow.operands)});
  }
  results_.push_back({0, step(tape_.program->outputs[0].dtype)});
  return elementary_ = narrow.run, is_narrow_ = true;
}

bool WholeProgram::take(const Tape::Way& way) {
  loop_ = nullptr, arguments_.clear(), results_.clear();
  if (way.block.size() != 1) return false;
  const int only = way.block[0];
  const auto takes = [&](int value) { return take_argument(way, value); };
  const auto gives = [&](int value) { return take_result(value); };
  if (only < 0) {
    loop_ = &tape_.loops[static_cast<std::size_t>(~only)];
    return std::ranges::all_of(loop_->inputs, takes) && std::ranges::all_of(loop_->scalars, takes) &&
           std::ranges::all_of(loop_->outputs, gives) && results_.size() == tape_.outputs.size();
  }
  const TapeOp& op = tape_.ops[static_cast<std::size_t>(only)];
  if (op.kind == TapeOp::OpKind::elementary) elementary_ = op.elementary;
  else if (op.kind == TapeOp::OpKind::block) block_ = op.block;
  else return false;
  if (std::all_of(op.args, op.args + op.arity, takes) && gives(op.result) && tape_.outputs.size() == 1) return true;
  return elementary_ = nullptr, block_ = nullptr, false;
}

bool WholeProgram::take_argument(const Tape::Way& way, int v) {
  const TapeValue& value = tape_.values[static_cast<std::size_t>(v)];
  WholeArgument source{value.index, 0, value.type, 0};
  if (value.kind == StepKind::input) {
    const auto index = static_cast<std::size_t>(value.index);
    const DType dtype = tape_.program->inputs[index].dtype;
    if (index >= detail::kDirectInputs || !stored_as_computed(dtype)) return false;
    source.step = static_cast<std::int64_t>(dtype_size(dtype));
  } else if (value.kind == StepKind::number || value.kind == StepKind::param) {
    if (way.filled[static_cast<std::size_t>(v)]) return false;
    if (value.kind == StepKind::number) source.operand = -1, source.bits = number_bits(value.type, value.number);
  } else {
    return false;
  }
  return arguments_.push_back(source), true;
}

bool WholeProgram::take_result(int value) {
  const auto found = std::ranges::find(tape_.outputs, value);
  if (found == tape_.outputs.end() || std::count(found, tape_.outputs.end(), value) > 1) return false;
  const auto output = static_cast<std::size_t>(found - tape_.outputs.begin());
  const DType dtype = tape_.program->outputs[output].dtype;
  if (!stored_as_computed(dtype)) return false;
  return results_.push_back({output, static_cast<std::int64_t>(dtype_size(dtype))}), true;
}

bool WholeProgram::takes(std::int64_t count) const { return count < kPlanned && (!loop_ || loops_enabled()); }

void WholeProgram::run(std::span<const detail::DirectOperand> operands, std::span<void* const> outputs,
                       std::int64_t count) const {
  WholeOperands placed;
  for (std::size_t a = 0; a < arguments_.size(); ++a) {
    const WholeArgument& source = arguments_[a];
    if (source.step != 0) {
      placed.at[a] = static_cast<const std::byte*>(operands[static_cast<std::size_t>(source.operand)].at);
      continue;
    }
    placed.bits[a] = source.operand < 0
                         ? source.bits
                         : number_bits(source.type, *operands[static_cast<std::size_t>(source.operand)].number);
    placed.at[a] = reinterpret_cast<const std::byte*>(&placed.bits[a]);
  }
  for (std::size_t k = 0; k < results_.size(); ++k)
    placed.to[k] = static_cast<std::byte*>(outputs[results_[k].output]);
  const int threads = max_threads();
  const bool parallel = threads > 1 && (is_narrow_ ? count >= kParallelNarrow : worth_threads(tape_, count));
  const std::int64_t most = parallel ? 4 * threads : 1,
                     tasks = std::min<std::int64_t>((count + kLargeBlock - 1) / kLargeBlock, most);
  if (tasks <= 1) return run_part(placed, 0, count);
  parallel_for(tasks, [&](std::int64_t task) {
    const auto begin_of = [&](std::int64_t t) { return t == tasks ? count : count * t / tasks / 64 * 64; };
    run_part(placed, begin_of(task), begin_of(task + 1) - begin_of(task));
  });
}

void WholeProgram::run_part(const WholeOperands& placed, std::int64_t first, std::int64_t count) const {
  const void* at[kArguments];
  void* to[detail::kDirectOutputs];
  for (std::size_t a = 0; a < arguments_.size(); ++a) at[a] = placed.at[a] + first * arguments_[a].step;
  for (std::size_t k = 0; k < results_.size(); ++k) to[k] = placed.to[k] + first * results_[k].step;
  const auto n = static_cast<std::size_t>(count);
  if (elementary_) elementary_(at, to[0], n);
  else if (block_) block_(at[0], to[0], n);
  else loop_->run({at, at + loop_->inputs.size(), to, n});
}

/// A request whose operands lie as such a program takes them.
bool run_whole(const detail::FusedRequest& r, const Tape& tape) {
  const std::int64_t count = r.space.numel();
  if (!tape.whole || !tape.whole->takes(count) || r.inputs.size() > detail::kDirectInputs) return false;
  detail::DirectOperand operands[detail::kDirectInputs];
  void* outputs[detail::kDirectOutputs];
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    const detail::Operand& operand = r.inputs[i];
    if (operand.gather) return false;
    operands[i] = {nullptr, &operand.number};
    if (!operand.view.storage) continue;
    if (!is_contiguous(operand.view, r.space)) return false;
    operands[i].at = memory_of(operand.view);
  }
  for (std::size_t k = 0; k < r.outputs.size(); ++k) {
    if (!is_contiguous(r.outputs[k], r.space)) return false;
    outputs[k] = memory_of(r.outputs[k]);
    for (std::size_t i = 0; i < r.inputs.size(); ++i)  // in place, or apart
      if (r.inputs[i].view.storage == r.outputs[k].storage && operands[i].at != outputs[k]) return false;
  }
  tape.whole->run({operands, r.inputs.size()}, {outputs, r.outputs.size()}, count);
  return true;
}

}  // namespace tern::detail_cpu
