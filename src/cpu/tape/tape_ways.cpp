#include "cpu/tape/tape_ways.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "cpu/tape/block_runner.hpp"
#include "cpu/tape/centred_squares.hpp"
#include "cpu/tape/loops.hpp"
#include "cpu/tape/product_sums.hpp"

namespace tern::detail_cpu {

namespace {

/// One of the ways to take a tape's ops: without loops, with them, with those of rows.
class WaysPlanner {
 public:
  WaysPlanner(Tape& tape, const KernelTable& table, const PhiloxLoops& philox, const std::map<int, int>& producer)
      : tape_(tape),
        program_(*tape.program),
        table_(table),
        philox_(philox),
        producer_(producer),
        centred_(tape, producer) {}

  enum class Loops { none, whole, of_rows, of_short_rows };

  void plan_way(Tape::Way& way, Loops loops) {
    way.block = block_order(loops);
    const bool has_passes = program_.reduces && loops != Loops::of_short_rows;
    if (has_passes)
      for (int pass = 0; pass < program_.passes; ++pass) way.passes.push_back(pass_order(pass, false, loops));
    way.late = has_passes ? pass_order(program_.passes - 1, true, loops) : Order{};
    if (of_rows(loops)) {
      drop_unread_expansions(way.block), drop_unread_expansions(way.late);
      for (Order& pass : way.passes) drop_unread_expansions(pass);
    }
    way.filled.resize(tape_.values.size());
    const auto note = [&](const Order& order) {
      for (const int i : order)
        if (i >= 0)
          for (int a = 0; a < tape_.ops[at(i)].arity; ++a)
            if (!tape_.ops[at(i)].reads_one(a)) way.filled[at(tape_.ops[at(i)].args[a])] = true;
    };
    note(way.block), note(way.late), note(tape_.reductions);
    for (const Order& pass : way.passes) note(pass);
    for (const int value : tape_.outputs) way.filled[at(value)] = true;
    note_unread(way);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  static bool of_rows(Loops loops) { return loops == Loops::of_rows || loops == Loops::of_short_rows; }
  bool is_full_output(std::size_t k) const { return program_.outputs[k].full || !program_.reduces; }

  void note_unread(Tape::Way& way) const {
    std::vector<bool> read(tape_.values.size());
    for (const int value : tape_.outputs) read[at(value)] = true;
    for (const TapeOnline& o : tape_.online)
      if (o.weight >= 0) read[at(o.weight)] = true;
    for (const int i : way.block) {
      if (i < 0)
        for (const int value : tape_.loops[at(~i)].inputs) read[at(value)] = true;
      else if (const TapeOp& op = tape_.ops[at(i)]; op.with_column) read[at(op.along)] = true;
      else
        for (int a = 0; a < op.arity; ++a) read[at(op.args[a])] = true;
    }
    for (const TapeOp& op : tape_.ops)
      way.unread.push_back(op.kind == TapeOp::OpKind::expand && !read[at(op.result)]);
  }
  /// Loops of rows read what is repeated, not the repetition.
  void drop_unread_expansions(Order& order) const {
    std::vector<bool> read(tape_.values.size());
    for (const int value : tape_.outputs) read[at(value)] = true;
    for (const int r : tape_.reductions) read[at(tape_.ops[at(r)].args[0])] = true;
    for (const TapeOnline& o : tape_.online)
      if (o.weight >= 0) read[at(o.weight)] = true;
    for (const int i : order) {
      if (i < 0)
        for (const int value : tape_.loops[at(~i)].inputs) read[at(value)] = true;
      else
        for (int a = 0; a < tape_.ops[at(i)].arity; ++a) read[at(tape_.ops[at(i)].args[a])] = true;
    }
    std::erase_if(order, [&](int i) {
      return i >= 0 && tape_.ops[at(i)].kind == TapeOp::OpKind::expand && !read[at(tape_.ops[at(i)].result)];
    });
  }

  /// What the outputs need, phase by phase. Sums that others are corrected by are not needed where a row is one block.
  Order block_order(Loops loops) {
    const std::vector<bool>& needed = tape_.live;
    Order order, all;
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) all.push_back(static_cast<int>(i));
    if (loops != Loops::none) all = philox_.in_place_of_ops(all, tape_, table_);
    if (loops == Loops::of_short_rows)
      all = product_sums_in_place_of_ops(centred_.in_place_of_ops(all, tape_, table_), tape_, table_, producer_);
    append_parts(order, all, loops, [&](const Order& part, std::span<const int>) { return wanted_outside(part); });
    return order;
  }
  /// Appends ops one by one, but those that suit loops and follow each other as a part, of which `wanted_of(part,
  /// later ops)` is kept.
  template <class WantedOf> void append_parts(Order& order, const Order& ops, Loops loops, const WantedOf& wanted_of) {
    const auto is_full = [&](int i) { return i >= 0 && tape_.ops[at(i)].full && suits_loops(tape_, tape_.ops[at(i)]); };
    const auto is_kept = [&](int i) {
      return i >= 0 && loops == Loops::of_short_rows && (is_expansion(i) || is_of_kept(tape_.ops[at(i)]));
    };
    for (std::size_t k = 0; k < ops.size();) {
      Order part, kept;
      for (; k < ops.size() && is_full(ops[k]); ++k) part.push_back(ops[k]);
      for (; part.empty() && k < ops.size() && is_kept(ops[k]); ++k) kept.push_back(ops[k]);
      if (!part.empty()) append(order, part, wanted_of(part, std::span(ops).subspan(k)), loops);
      else if (!kept.empty()) append_kept(order, kept, loops);
      else order.push_back(ops[k++]);
    }
  }
  bool is_expansion(int op) const { return tape_.ops[at(op)].kind == TapeOp::OpKind::expand; }
  static bool is_of_kept(const TapeOp& op) { return !op.full && op.kind != TapeOp::OpKind::reduce; }
  /// What rows of a few elements have one of is computed in as few loops as divisions by numbers, which are products
  /// then (by_number-inl.h), and expansions between them leave: a row of two has half as much of it as elements.
  void append_kept(Order& order, const Order& ops, Loops loops) {
    std::map<int, std::size_t> loops_before;  // of a value
    std::vector<std::array<Order, 2>> steps(1);  // a loop's, and those after it that are none
    for (const int i : ops) {
      const TapeOp& op = tape_.ops[at(i)];
      std::size_t step = 0;
      for (int a = 0; a < op.arity; ++a)
        if (const auto found = loops_before.find(op.args[a]); found != loops_before.end())
          step = std::max(step, found->second);
      const bool alone = is_expansion(i) || op.by_number || op.once || !suits_loops(tape_, op);
      steps[step][alone].push_back(i);
      loops_before[op.result] = step + alone;
      if (steps.size() <= step + alone) steps.emplace_back();
    }
    for (const auto& [loop, others] : steps) {
      append(order, loop, wanted_outside(loop), loops);
      order.insert(order.end(), others.begin(), others.end());
    }
  }
  /// The results of these ops that others, of those a block takes, or the outputs read.
  std::vector<int> wanted_outside(const Order& run) const {
    std::vector<bool> read(tape_.values.size());
    for (const int value : tape_.outputs) read[at(value)] = true;
    for (std::size_t i = 0; i < tape_.ops.size(); ++i)
      if (tape_.live[i] && std::find(run.begin(), run.end(), static_cast<int>(i)) == run.end())
        for (int a = 0; a < tape_.ops[i].arity; ++a) read[at(tape_.ops[i].args[a])] = true;
    std::vector<int> wanted;
    for (const int i : run)
      if (read[at(tape_.ops[at(i)].result)]) wanted.push_back(tape_.ops[at(i)].result);
    return wanted;
  }

  /// What one pass gives: arguments of reductions and full outputs; `late`: all of those, whichever pass has them.
  std::vector<int> wanted_of(int pass, bool late) const {
    std::vector<int> wanted;
    for (const int r : tape_.reductions)
      if (tape_.ops[at(r)].pass == pass + 1 && !is_online(r)) wanted.push_back(tape_.ops[at(r)].args[0]);
    for (const TapeOnline& o : tape_.online)
      if (tape_.ops[at(o.sum)].pass == pass + 1 && o.weight >= 0 && !o.is_place()) wanted.push_back(o.weight);
    for (std::size_t k = 0; k < tape_.outputs.size(); ++k)
      if (is_full_output(k) && (late || tape_.output_pass[k] == pass)) wanted.push_back(tape_.outputs[k]);
    return wanted;
  }
  bool is_online(int op) const {
    return std::any_of(tape_.online.begin(), tape_.online.end(), [op](const TapeOnline& o) { return o.sum == op; });
  }

  /// What one pass computes anew.
  Order pass_order(int pass, bool late, Loops loops) {
    const std::vector<int> wanted = wanted_of(pass, late);
    std::vector<int> pending = wanted;
    std::vector<bool> needed(tape_.ops.size()), values(tape_.values.size());
    while (!pending.empty()) {
      values[at(pending.back())] = true;
      const auto found = producer_.find(pending.back());
      pending.pop_back();
      if (found == producer_.end()) continue;
      const TapeOp& op = tape_.ops[at(found->second)];
      if (!op.full || op.kind == TapeOp::OpKind::reduce || needed[at(found->second)]) continue;
      needed[at(found->second)] = true;
      for (int a = 0; a < op.arity; ++a) pending.push_back(op.args[a]);
    }
    if (loops == Loops::none) tape_.needs.push_back(std::move(values));
    Order order, run;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const bool first = tape_.ops[i].kind == TapeOp::OpKind::expand && loops != Loops::none;
      if (needed[i]) (first ? order : run).push_back(static_cast<int>(i));
    }
    append_parts(order, run, loops, [&](const Order& part, std::span<const int> later) {
      std::vector<bool> read(tape_.values.size());
      for (const int value : wanted) read[at(value)] = true;
      for (const int i : later)
        for (int a = 0; a < tape_.ops[at(i)].arity; ++a) read[at(tape_.ops[at(i)].args[a])] = true;
      std::vector<int> results;
      for (const int i : part)
        if (read[at(tape_.ops[at(i)].result)]) results.push_back(tape_.ops[at(i)].result);
      return results;
    });
    return order;
  }

  /// Appends ops, as one loop where there is one for them.
  void append(Order& order, const Order& run, const std::vector<int>& wanted, Loops loops) {
    const bool found = !wanted.empty() && ((of_rows(loops) && append_loop(order, run, wanted, true)) ||
                                           (loops != Loops::none && append_loop(order, run, wanted, false)));
    if (!found) order.insert(order.end(), run.begin(), run.end());
  }
  /// A single op is a kernel already, unless it takes a scalar a row, or is all there is: as a loop it may pass by the
  /// caches, and take 16-bit floats from memory.
  bool append_loop(Order& order, const Order& run, const std::vector<int>& wanted, bool rows) {
    const auto repeats = [&](int i) {
      const TapeOp& op = tape_.ops[at(i)];
      return std::any_of(op.args, op.args + op.arity, [&](int value) {
        const auto made = producer_.find(value);
        return made != producer_.end() && tape_.ops[at(made->second)].kind == TapeOp::OpKind::expand;
      });
    };
    if (rows ? !std::any_of(run.begin(), run.end(), repeats) : run.size() < 2 && tape_.ops.size() > 1) return false;
    const auto plan = plan_loop(tape_, run, wanted, rows);
    const FoundLoop found = plan ? find_loop(*plan) : FoundLoop{};
    if (!found.run) return false;
    TapeLoop loop{
        found.run, found.f16, found.bf16, plan->inputs, plan->scalars, plan->outputs, compute_size(plan->type), {}};
    for (const int value : loop.scalars) loop.kept.push_back(!is_plain_number(tape_.values[at(value)].kind));
    if (run.size() == 1) loop.only = run[0];
    if (program_.reduces && !tape_.ops[at(run[0])].full) loop.over = TapeLoop::Over::kept;
    tape_.loops.push_back(std::move(loop));
    order.push_back(~(static_cast<int>(tape_.loops.size()) - 1));
    return true;
  }

  Tape& tape_;
  const detail::Program& program_;
  const KernelTable& table_;
  const PhiloxLoops& philox_;
  const std::map<int, int>& producer_;
  const CentredSquaresLoops centred_;
};

}  // namespace

void plan_ways(Tape& tape, const KernelTable& table, const PhiloxLoops& philox, const std::map<int, int>& producer) {
  WaysPlanner planner(tape, table, philox, producer);
  planner.plan_way(tape.plain, WaysPlanner::Loops::none);
  planner.plan_way(tape.compiled, WaysPlanner::Loops::whole);
  if (tape.program->reduces) planner.plan_way(tape.rows, WaysPlanner::Loops::of_rows);
  const std::size_t before = tape.loops.size();
  if (tape.program->reduces) planner.plan_way(tape.short_rows, WaysPlanner::Loops::of_short_rows);
  const auto is_of_short_rows = [](const TapeLoop& loop) { return loop.over != TapeLoop::Over::elements; };
  if (std::none_of(tape.loops.begin() + static_cast<std::ptrdiff_t>(before), tape.loops.end(), is_of_short_rows))
    tape.short_rows = {}, tape.loops.resize(before);
}

/// By a linear scan. Results may take the block of an argument that dies with the op, since kernels allow it;
/// reductions and expansions may not. In programs that reduce nothing is shared: later blocks of a row and later passes
/// read what is the same for all of a row again, and so does a loop of rows, wherever its repetition would be read.
void assign_slots(Tape& tape) {
  std::vector<int> last_use(tape.values.size(), -1);
  for (std::size_t i = 0; i < tape.ops.size(); ++i)
    for (int a = 0; a < tape.ops[i].arity; ++a)
      last_use[static_cast<std::size_t>(tape.ops[i].args[a])] = static_cast<int>(i);
  for (const int value : tape.outputs) last_use[static_cast<std::size_t>(value)] = static_cast<int>(tape.ops.size());
  const bool share = !tape.program->reduces;
  std::vector<int> free_slots;
  const auto take = [&] {
    if (free_slots.empty()) return tape.slots++;
    const int slot = free_slots.back();
    free_slots.pop_back();
    return slot;
  };
  for (std::size_t v = 0; v < tape.values.size(); ++v) {  // operands and numbers live from the start
    TapeValue& value = tape.values[v];
    const bool given = is_plain_number(value.kind) || value.kind == detail::StepKind::input ||
                       value.kind == detail::StepKind::position;
    if (given) tape.given.push_back(static_cast<int>(v));
    if (given && last_use[v] >= 0) value.slot = take();
  }
  for (std::size_t i = 0; i < tape.ops.size(); ++i) {
    const TapeOp& op = tape.ops[i];
    const bool in_place = op.kind == TapeOp::OpKind::elementary;
    const auto release = [&] {
      for (int a = 0; share && a < op.arity; ++a) {
        const TapeValue& arg = tape.values[static_cast<std::size_t>(op.args[a])];
        const bool repeated = (a > 0 && op.args[a] == op.args[0]) || (a > 1 && op.args[a] == op.args[1]);
        if (!repeated && !is_plain_number(arg.kind) &&
            last_use[static_cast<std::size_t>(op.args[a])] == static_cast<int>(i))
          free_slots.push_back(arg.slot);
      }
    };
    if (in_place) release();
    tape.values[static_cast<std::size_t>(op.result)].slot = take();
    if (!in_place) release();
  }
  for (std::size_t v = 0; v < tape.values.size(); ++v)
    if (const int slot = tape.values[v].slot; slot >= 0)
      tape.placed.push_back({static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(slot)});
}

}  // namespace tern::detail_cpu
