#include "cpu/tape.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "tern/error.hpp"

namespace tern::detail_cpu {

using detail::Program;
using detail::Step;
using detail::StepKind;

Leaf combining_leaf(Leaf reduction) {
  switch (reduction) {
    case Leaf::sum: return Leaf::add;
    case Leaf::prod: return Leaf::mul;
    case Leaf::max: return Leaf::maximum;
    default: return Leaf::minimum;
  }
}

namespace {

class Compiler {
 public:
  Compiler(const char* op, const Program& program, const KernelTable& table)
      : op_(op), program_(program), table_(table) {}

  std::unique_ptr<Tape> run() {
    tape_->program = &program_;
    for (const Step& step : program_.steps)
      tape_->values.push_back({step.kind, step.result_lane(), step.full, step.index, step.number, -1});
    for (std::size_t i = 0; i < program_.steps.size(); ++i) translate(static_cast<int>(i));
    for (const auto& output : program_.outputs) tape_->outputs.push_back(output_value(output));
    // Phase by phase; within one: full values, then the reductions that end it, then what is computed from those.
    std::stable_sort(tape_->ops.begin(), tape_->ops.end(),
                     [](const TapeOp& a, const TapeOp& b) { return order(a) < order(b); });
    for (std::size_t i = 0; i < tape_->ops.size(); ++i)
      if (tape_->ops[i].kind == TapeOp::Kind::reduce) tape_->reductions.push_back(static_cast<int>(i));
    plan_passes();
    assign_slots();
    return std::move(tape_);
  }

 private:
  static int order(const TapeOp& op) {
    if (op.kind == TapeOp::Kind::reduce) return 3 * op.phase - 1;  // its result belongs to the next phase
    return 3 * op.phase + (op.full ? 1 : 0);
  }

  void translate(int index) {
    const Step& step = program_.steps[static_cast<std::size_t>(index)];
    TapeOp op;
    op.result = index, op.full = step.full, op.phase = step.phase, op.lane = step.lane;
    const int lane = static_cast<int>(step.lane), dtype = static_cast<int>(step.dtype);
    switch (step.kind) {
      case StepKind::leaf:
        op.leaf = table_.leaf[static_cast<int>(step.leaf)][lane];
        op.arity = detail::rule_of(step.leaf).arity;
        require(op.leaf != nullptr, step);
        break;
      case StepKind::convert:
        op.kind = TapeOp::Kind::block;
        op.block = table_.convert[static_cast<int>(step.from)][lane];
        break;
      case StepKind::wrap:
        op.kind = TapeOp::Kind::block;
        op.block = (step.saturate ? table_.clamp : table_.wrap)[lane][dtype];
        require(op.block != nullptr, step);
        break;
      case StepKind::reduce:
        op.kind = TapeOp::Kind::reduce;
        op.rows = table_.reduce_rows[static_cast<int>(step.leaf)][lane];
        op.columns = table_.reduce_columns[static_cast<int>(step.leaf)][lane];
        op.combine = table_.leaf[static_cast<int>(combining_leaf(step.leaf))][lane];
        require(op.rows && op.columns && op.combine, step);
        break;
      default: return;  // operands and numbers are filled in by the executor
    }
    for (int a = 0; a < op.arity; ++a) {
      int arg = step.args[a];
      if (step.full || step.kind == StepKind::reduce)
        arg = expanded(arg, op.kind == TapeOp::Kind::reduce ? step.phase - 1 : step.phase);
      op.args[a] = arg;
    }
    tape_->ops.push_back(op);
  }

  void require(bool present, const Step& step) const {
    if (!present)
      throw Error(ErrorKind::unsupported, std::string(op_) + ": " + detail::rule_of(step.leaf).name +
                                              " has no kernel for dtype " + std::string(to_string(step.dtype)) +
                                              " on cpu");
  }

  /// A reduced value repeated along the reduced axes. Numbers already fill a whole block.
  int expanded(int value, int phase) {
    const TapeValue from = tape_->values[static_cast<std::size_t>(value)];
    if (from.full || is_number(from.kind)) return value;
    const auto key = std::pair(value, phase);
    if (const auto found = expansions_.find(key); found != expansions_.end()) return found->second;
    const int result = static_cast<int>(tape_->values.size());
    tape_->values.push_back({StepKind::convert, from.lane, true, 0, {}, -1});
    TapeOp op;
    op.kind = TapeOp::Kind::expand, op.result = result, op.args[0] = value, op.phase = phase, op.lane = from.lane;
    tape_->ops.push_back(op);
    return expansions_[key] = result;
  }
  static bool is_number(StepKind kind) {
    return kind == StepKind::number || kind == StepKind::param || kind == StepKind::extent;
  }

  int output_value(const detail::ProgramOutput& output) {
    const bool full = program_.reduces && output.full;
    return full ? expanded(output.step, program_.phases - 1) : output.step;
  }

  void plan_passes() {
    tape_->passes.resize(static_cast<std::size_t>(program_.phases));
    std::map<int, int> producer;
    for (std::size_t i = 0; i < tape_->ops.size(); ++i) producer[tape_->ops[i].result] = static_cast<int>(i);
    for (int pass = 0; pass < program_.phases; ++pass) {
      std::vector<int> pending;
      for (const int r : tape_->reductions)
        if (tape_->ops[static_cast<std::size_t>(r)].phase == pass + 1)
          pending.push_back(tape_->ops[static_cast<std::size_t>(r)].args[0]);
      if (pass == program_.phases - 1)
        for (std::size_t k = 0; k < tape_->outputs.size(); ++k)
          if (program_.outputs[k].full) pending.push_back(tape_->outputs[k]);
      std::vector<bool> needed(tape_->ops.size());
      while (!pending.empty()) {
        const auto found = producer.find(pending.back());
        pending.pop_back();
        if (found == producer.end()) continue;
        const TapeOp& op = tape_->ops[static_cast<std::size_t>(found->second)];
        if (!op.full || op.kind == TapeOp::Kind::reduce || needed[static_cast<std::size_t>(found->second)]) continue;
        needed[static_cast<std::size_t>(found->second)] = true;
        for (int a = 0; a < op.arity; ++a) pending.push_back(op.args[a]);
      }
      for (std::size_t i = 0; i < needed.size(); ++i)
        if (needed[i]) tape_->passes[static_cast<std::size_t>(pass)].push_back(static_cast<int>(i));
    }
  }

  /// Linear scan. Results may take the block of an argument that dies with the op, since kernels allow it; reductions
  /// and expansions may not. In programs of several passes nothing is shared: a later pass computes values again.
  void assign_slots() {
    std::vector<int> last_use(tape_->values.size(), -1);
    for (std::size_t i = 0; i < tape_->ops.size(); ++i)
      for (int a = 0; a < tape_->ops[i].arity; ++a)
        last_use[static_cast<std::size_t>(tape_->ops[i].args[a])] = static_cast<int>(i);
    for (const int value : tape_->outputs)
      last_use[static_cast<std::size_t>(value)] = static_cast<int>(tape_->ops.size());
    const bool share = program_.phases == 1 || !program_.reduces;
    std::vector<int> free_slots;
    const auto take = [&] {
      if (free_slots.empty()) return tape_->slots++;
      const int slot = free_slots.back();
      free_slots.pop_back();
      return slot;
    };
    for (std::size_t v = 0; v < tape_->values.size(); ++v) {  // operands and numbers live from the start
      TapeValue& value = tape_->values[v];
      const bool given = is_number(value.kind) || value.kind == StepKind::input || value.kind == StepKind::position;
      if (given && last_use[v] >= 0) value.slot = take();
    }
    for (std::size_t i = 0; i < tape_->ops.size(); ++i) {
      const TapeOp& op = tape_->ops[i];
      const bool in_place = op.kind == TapeOp::Kind::leaf;
      const auto release = [&] {
        for (int a = 0; share && a < op.arity; ++a) {
          const TapeValue& arg = tape_->values[static_cast<std::size_t>(op.args[a])];
          const bool repeated = (a > 0 && op.args[a] == op.args[0]) || (a > 1 && op.args[a] == op.args[1]);
          if (!repeated && !is_number(arg.kind) &&
              last_use[static_cast<std::size_t>(op.args[a])] == static_cast<int>(i))
            free_slots.push_back(arg.slot);
        }
      };
      if (in_place) release();
      tape_->values[static_cast<std::size_t>(op.result)].slot = take();
      if (!in_place) release();
    }
  }

  const char* op_;
  const Program& program_;
  const KernelTable& table_;
  std::unique_ptr<Tape> tape_ = std::make_unique<Tape>();
  std::map<std::pair<int, int>, int> expansions_;
};

}  // namespace

std::unique_ptr<Tape> compile_tape(const char* op, const Program& program, const KernelTable& table) {
  return Compiler(op, program, table).run();
}

}  // namespace tern::detail_cpu
