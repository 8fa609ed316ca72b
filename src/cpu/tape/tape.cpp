#include "cpu/tape/tape.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "cpu/tape/known_functions.hpp"
#include "cpu/tape/philox.hpp"
#include "cpu/tape/tape_ways.hpp"
#include "cpu/tape/whole_program.hpp"
#include "tern/error.hpp"

namespace tern::detail_cpu {

using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

/// Makes the tape's values and ops of a program, and notes what they are read for; ways and slots are planned then.
class Compiler {
 public:
  Compiler(const char* op, const Program& program, const KernelTable& table)
      : op_(op), program_(program), table_(table), known_(program) {
    halves_ = std::all_of(program.outputs.begin(), program.outputs.end(), [](const detail::ProgramOutput& o) {
      return o.dtype == DType::f16 || o.dtype == DType::bf16;
    });
  }

  std::unique_ptr<Tape> run() {
    tape_->program = &program_;
    for (const Step& step : program_.steps)
      tape_->values.push_back({step.kind, step.result_type(), step.full, step.index, step.number, -1});
    for (std::size_t i = 0; i < program_.steps.size(); ++i) translate(static_cast<int>(i));
    for (const auto& output : program_.outputs) tape_->outputs.push_back(output_value(output));
    // Phase by phase; within one: what is computed from reductions, full values, the reductions that end it.
    std::stable_sort(tape_->ops.begin(), tape_->ops.end(),
                     [](const TapeOp& a, const TapeOp& b) { return order(a) < order(b); });
    philox_ = PhiloxLoops(*tape_);
    for (std::size_t i = 0; i < tape_->ops.size(); ++i)
      if (tape_->ops[i].kind == TapeOp::OpKind::reduce) tape_->reductions.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < tape_->ops.size(); ++i) producer_[tape_->ops[i].result] = static_cast<int>(i);
    for (const int value : tape_->outputs) {
      const auto found = producer_.find(value);
      tape_->output_pass.push_back(found == producer_.end() ? 0 : tape_->ops[at(found->second)].pass);
    }
    const auto op = [&](int step) { return step < 0 ? -1 : producer_.at(step); };
    for (const detail::OnlineSum& o : program_.online)
      tape_->online.push_back(
          {op(o.pivot), op(o.sum), o.shift, o.weight, o.power, op(o.count), {op(o.lower[0]), op(o.lower[1])}});
    for (std::size_t i = 0; i < tape_->online.size(); ++i)
      if (tape_->online[i].is_place())
        tape_->ops[at(tape_->online[i].sum)].place = static_cast<int>(i), tape_->places = true;
    tape_->live = needed_ops();
    note_lazy_values();
    note_numbers();
    note_columns();
    plan_ways(*tape_, table_, philox_, producer_);
    tape_->repeats = repeats();
    assign_slots(*tape_);
    tape_->values.shrink_to_fit(), tape_->ops.shrink_to_fit();  // kept for the life of the process
    return std::move(tape_);
  }

 private:
  static int order(const TapeOp& op) {
    if (op.kind == TapeOp::OpKind::reduce) return 3 * op.phase - 1;  // its result belongs to the next phase
    return 3 * op.phase + (op.full && op.kind != TapeOp::OpKind::expand ? 1 : 0);
  }
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  void translate(int index) {
    const Step& step = program_.steps[static_cast<std::size_t>(index)];
    if (known_.replaced(index)) return;
    const KnownFunctions::KnownCall known = known_.of(index);
    TapeOp op;
    op.result = index, op.full = step.full, op.phase = step.phase, op.pass = step.pass, op.type = step.type;
    const int type = static_cast<int>(step.type), dtype = static_cast<int>(step.dtype);
    switch (step.kind) {
      case StepKind::elementary:
        if (known.function >= 0) {
          op.elementary = table_.known[known.function][step.type == ComputeType::f64];
          break;
        }
        op.which = step.elementary;
        op.elementary = table_.elementary[static_cast<int>(step.elementary)][type];
        op.fast = halves_ && step.type == ComputeType::f32 && table_.fast[static_cast<int>(step.elementary)];
        if (op.fast) op.elementary = table_.fast[static_cast<int>(step.elementary)];
        op.arity = detail::rule_of(step.elementary).arity;
        require(op.elementary != nullptr, step);
        break;
      case StepKind::convert:
        op.kind = TapeOp::OpKind::block;
        op.block = table_.convert[static_cast<int>(step.from)][type];
        break;
      case StepKind::wrap:
        op.kind = TapeOp::OpKind::block;
        op.block = (step.saturate ? table_.clamp : table_.wrap)[type][dtype];
        require(op.block != nullptr, step);
        break;
      case StepKind::reduce:
        op.kind = TapeOp::OpKind::reduce;
        op.which = step.elementary;
        op.rows = table_.reduce_rows[static_cast<int>(step.elementary)][type];
        op.columns = table_.reduce_columns[static_cast<int>(step.elementary)][type];
        op.groups = table_.reduce_groups[static_cast<int>(step.elementary)][type];
        op.join = table_.join_rows[static_cast<int>(step.elementary)][type];
        op.combine = table_.elementary[static_cast<int>(combining_elementary(step.elementary))][type];
        require(op.rows && op.columns && op.groups && op.join && op.combine, step);
        break;
      default: return;  // operands and numbers are filled in by the executor
    }
    for (int a = 0; a < op.arity; ++a) {
      int arg = known.function >= 0 ? known.argument : step.args[a];
      if (step.full || step.kind == StepKind::reduce)
        arg = expanded(arg, op.kind == TapeOp::OpKind::reduce ? step.phase - 1 : step.phase, step.pass);
      op.args[a] = arg;
    }
    op.by_number = op.kind == TapeOp::OpKind::elementary && op.which == Elementary::div && is_one_number(op.args[1]) &&
                   table_.divide_by_number[type];
    if (op.by_number) op.elementary = table_.divide_by_number[type];
    if (op.kind != TapeOp::OpKind::reduce)
      computed_[op.result] = std::all_of(op.args, op.args + op.arity, [&](int value) { return is_one_number(value); });
    tape_->ops.push_back(op);
  }

  void require(bool present, const Step& step) const {
    if (!present)
      throw Error(ErrorKind::unsupported, std::string(op_) + ": " + detail::rule_of(step.elementary).name +
                                              " has no kernel for dtype " + std::string(to_string(step.dtype)) +
                                              " on cpu");
  }

  /// A reduced value repeated along the reduced axes. Numbers already fill a whole block.
  int expanded(int value, int phase, int pass) {
    const TapeValue from = tape_->values[static_cast<std::size_t>(value)];
    if (from.full || is_plain_number(from.kind)) return value;
    const auto key = std::pair(value, phase);
    if (const auto found = expansions_.find(key); found != expansions_.end()) return found->second;
    const int result = static_cast<int>(tape_->values.size());
    tape_->values.push_back({StepKind::convert, from.type, true, 0, {}, -1});
    TapeOp op;
    op.kind = TapeOp::OpKind::expand, op.result = result, op.args[0] = value, op.phase = phase, op.pass = pass,
    op.type = from.type;
    tape_->ops.push_back(op);
    computed_[result] = is_one_number(value);
    return expansions_[key] = result;
  }
  /// Whether all elements are one number: one that is given, or computed of such.
  bool is_one_number(int value) const {
    const auto found = computed_.find(value);
    return found != computed_.end() ? found->second : is_plain_number(tape_->values[at(value)].kind);
  }
  int output_value(const detail::ProgramOutput& output) {
    const bool full = program_.reduces && output.full;
    const int step = stored_step(output);
    return full ? expanded(step, program_.phases - 1, program_.passes - 1) : step;
  }
  /// What the output is stored from: a store narrows as a wrap to its dtype does, which need not come before it.
  int stored_step(const detail::ProgramOutput& output) const {
    const Step& step = program_.steps[at(output.step)];
    const bool narrows = step.kind == StepKind::wrap && !step.saturate && step.dtype == output.dtype &&
                         step.dtype != DType::boolean && step.type == detail::compute_type_of(step.dtype);
    if (!narrows) return output.step;
    const StepKind from = program_.steps[at(step.args[0])].kind;
    const bool is_stored_there = from == StepKind::elementary || from == StepKind::convert || from == StepKind::input;
    return is_stored_there ? step.args[0] : output.step;
  }

  /// Exponentials that are summed before the maximum is known, and computed again for the results of the last pass.
  bool repeats() const {
    const auto of_four_bytes = [](const TapeValue& v) { return !v.full || !detail::is_wide(v.type); };
    if (!program_.reduces || !std::ranges::all_of(tape_->values, of_four_bytes)) return false;
    if (!std::ranges::any_of(tape_->online, [](const TapeOnline& o) { return o.power == 0; })) return false;
    const std::vector<bool>& last = tape_->needs[at(program_.passes - 1)];
    return std::ranges::any_of(tape_->ops, [&](const TapeOp& op) {
      return op.full && op.kind == TapeOp::OpKind::elementary && op.which == Elementary::exp && last[at(op.result)];
    });
  }

  std::vector<bool> needed_ops() const {
    std::vector<bool> values(tape_->values.size()), ops(tape_->ops.size());
    for (const int value : tape_->outputs) values[at(value)] = true;
    for (std::size_t i = ops.size(); i-- > 0;) {
      const TapeOp& op = tape_->ops[i];
      ops[i] = values[at(op.result)];
      if (ops[i]) for_arguments(op, [&](int value) { values[at(value)] = true; });
    }
    return ops;
  }
  /// What is read where it is executed: for a place the extreme and its elements.
  template <class See> void for_arguments(const TapeOp& op, const See& see) const {
    if (op.place < 0) {
      for (int a = 0; a < op.arity; ++a) see(op.args[a]);
      return;
    }
    const TapeOp& pivot = tape_->ops[at(tape_->online[at(op.place)].pivot)];
    see(pivot.result), see(pivot.args[0]);
  }
  void note_lazy_values() {
    tape_->lazy.resize(tape_->values.size());
    for (const TapeOnline& o : tape_->online)
      if (o.is_place()) tape_->lazy[at(o.weight)] = true;
    for (std::size_t i = 0; i < tape_->ops.size(); ++i)
      if (tape_->live[i]) for_arguments(tape_->ops[i], [&](int value) { tape_->lazy[at(value)] = false; });
    for (const int value : tape_->outputs) tape_->lazy[at(value)] = false;
  }
  /// Ops that are taken once: of what is reduced, numbers that only such and divisions read.
  void note_numbers() {
    std::vector<bool> whole(tape_->values.size());
    for (const int value : tape_->outputs) whole[at(value)] = true;
    for (std::size_t i = tape_->ops.size(); i-- > 0;) {
      TapeOp& op = tape_->ops[i];
      op.once = !op.full && op.kind != TapeOp::OpKind::reduce && !whole[at(op.result)] && is_one_number(op.result);
      for (int a = 0; a < op.arity; ++a)
        if (!op.reads_one(a)) whole[at(op.args[a])] = true;
    }
  }
  /// Ops that take along short rows what they are repeated of.
  void note_columns() {
    std::map<int, int> repeated;
    for (const TapeOp& op : tape_->ops)
      if (op.kind == TapeOp::OpKind::expand) repeated[op.result] = op.args[0];
    for (TapeOp& op : tape_->ops)
      for (const int a : {0, 1})
        if (repeated.contains(op.args[a]) && !repeated.contains(op.args[1 - a])) note_column(op, a, repeated);
  }
  void note_column(TapeOp& op, int argument, const std::map<int, int>& repeated) {
    if (op.kind != TapeOp::OpKind::elementary || op.arity != 2 || op.by_number || !detail::is_float(op.type)) return;
    const DType dtype = op.type == ComputeType::f64 ? DType::f64 : DType::f32;
    op.with_column = table_.with_column[argument == 0][static_cast<int>(op.which)][static_cast<int>(dtype)];
    op.along = op.args[1 - argument], op.column = repeated.at(op.args[argument]);
  }
  const char* op_;
  const Program& program_;
  bool halves_;  // all results are stored in 16 bits
  const KernelTable& table_;
  KnownFunctions known_;
  std::unique_ptr<Tape> tape_ = std::make_unique<Tape>();
  std::map<std::pair<int, int>, int> expansions_;
  std::map<int, int> producer_;   // the op that gives a value
  std::map<int, bool> computed_;  // values that ops give, and whether they are one number
  PhiloxLoops philox_;
};

}  // namespace

std::unique_ptr<Tape> compile_tape(const char* op, const Program& program, const KernelTable& table) {
  std::unique_ptr<Tape> tape = Compiler(op, program, table).run();
  tape->whole = WholeProgram::of(*tape, table);
  return tape;
}

}  // namespace tern::detail_cpu
