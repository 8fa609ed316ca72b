#include "cpu/tape/philox.hpp"

#include <algorithm>
#include <array>

#include "formula/philox.hpp"

namespace tern::detail_cpu {
namespace {

using detail::Program;
using detail::Step;
using detail::StepKind;

/// Philox of six operands: the counter and the key.
constexpr std::size_t kOperands = 6, kKey = 4;
const Program& pattern() {
  static const Program& program = []() -> const Program& {
    std::array<Expr, kOperands> in;
    for (std::size_t i = 0; i < kOperands; ++i) in[i] = detail::make_input(static_cast<int>(i));
    const auto words = detail::philox({in[0], in[1], in[2], in[3]}, in[kKey], in[kKey + 1]);
    const std::vector<detail::InputType> types(kOperands, {DType::u32, false});
    return detail::type_program("philox", detail::make_graph(words, kOperands), types);
  }();
  return program;
}

bool is_number(StepKind kind) { return kind == StepKind::number || kind == StepKind::param; }
bool contains(const std::vector<int>& list, int value) { return std::ranges::find(list, value) != list.end(); }

/// Looks for the pattern among a program's steps, which are the tape's first values.
class Match {
 public:
  explicit Match(const Program& program) : program_(program) {}

  /// The values, where `last` is the first of the words.
  std::optional<PhiloxValues> of(int last) {
    place_.assign(pattern().steps.size(), kUnknown), operand_.fill(-1);
    if (!unify(pattern().outputs[0].step, last)) return {};
    PhiloxValues found;
    for (std::size_t i = 0; i < 4; ++i) {
      found.words[i] = located(pattern().outputs[i].step), found.counter[i] = operand_[i];
      if (found.counter[i] < 0) return {};
    }
    const auto absent = std::ranges::count(found.words, -1);
    if (absent != 0 && (absent != 3 || found.words[0] < 0)) return {};
    for (std::size_t i = 0; i < 2; ++i)
      if (found.key[i] = operand_[kKey + i]; found.key[i] < 0) return {};
    const int* const c = found.counter;
    found.key_varies = varies(found.key[0]);
    if (varies(found.key[1]) != found.key_varies) return {};
    if (!varies(c[0]) || !varies(c[1]) || varies(c[2]) != varies(c[3])) return {};
    found.varying = varies(c[2]) ? 4 : 2;
    for (std::size_t p = 0; p < place_.size(); ++p)
      if (place_[p] >= 0 && pattern().steps[p].kind == StepKind::elementary) found.results.push_back(place_[p]);
    return found;
  }

 private:
  const Step& at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }
  static const Step& wanted(int step) { return pattern().steps[static_cast<std::size_t>(step)]; }
  int& place(int step) { return place_[static_cast<std::size_t>(step)]; }
  bool varies(int step) const { return !is_number(at(step).kind); }

  static bool alike(const Step& a, const Step& b) {
    if (a.kind != b.kind || a.type != b.type) return false;
    if (a.kind == StepKind::number) return b.number.is_integer && a.number.integer == b.number.integer;
    return a.kind == StepKind::elementary && a.elementary == b.elementary;
  }
  /// Whether step s computes what the pattern's step p does; notes where that has its operands and steps.
  bool unify(int p, int s) {
    const Step& step = wanted(p);
    if (step.kind == StepKind::input) {
      int& operand = operand_[static_cast<std::size_t>(step.index)];
      if (operand >= 0) return operand == s;
      operand = s;
      return at(s).result_type() == ComputeType::u32;
    }
    if (step.kind == StepKind::number) return alike(step, at(s));
    if (place(p) >= 0) return place(p) == s;
    if (!alike(step, at(s))) return false;
    for (int a = 0; a < 2; ++a)
      if (!unify(step.args[a], at(s).args[a])) return false;
    place(p) = s;
    return true;
  }
  /// The step that computes what the pattern's step p does, of operands that are known; negative: none.
  int located(int p) {
    const Step& step = wanted(p);
    if (step.kind == StepKind::input) return operand_[static_cast<std::size_t>(step.index)];
    if (place(p) != kUnknown) return place(p);
    const auto has_argument = [&](const Step& s, int a) {
      const int from = step.args[a];
      return wanted(from).kind == StepKind::number ? alike(wanted(from), at(s.args[a])) : located(from) == s.args[a];
    };
    const auto found = std::ranges::find_if(
        program_.steps, [&](const Step& s) { return alike(step, s) && has_argument(s, 0) && has_argument(s, 1); });
    return place(p) = found == program_.steps.end() ? kAbsent : static_cast<int>(found - program_.steps.begin());
  }

  static constexpr int kAbsent = -1, kUnknown = -2;
  const Program& program_;
  std::vector<int> place_;  // of each step of the pattern
  std::array<int, kOperands> operand_{};
};

}  // namespace

PhiloxLoops::PhiloxLoops(Tape& tape) {
  const Program& program = *tape.program;
  if (program.reduces) return;
  Match match(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind != StepKind::elementary || step.elementary != Elementary::bit_xor || step.type != ComputeType::u32)
      continue;
    if (auto found = match.of(static_cast<int>(i))) all_.push_back(std::move(*found));
  }
  std::erase_if(all_, [&](const PhiloxValues& values) { return !is_closed(values, tape); });
  if (all_.empty()) return;
  std::vector<TapeOp> ops;
  std::vector<bool> placed(tape.values.size());
  const auto place = [&](const TapeOp& op) {
    const auto result = static_cast<std::size_t>(op.result);
    if (!placed[result]) ops.push_back(op), placed[result] = true;
  };
  const auto place_all = [&](const PhiloxValues& values) {
    for (const TapeOp& op : tape.ops)
      if (contains(values.results, op.result)) place(op);
  };
  for (const TapeOp& op : tape.ops) {
    if (of(op.result)) continue;
    for (int a = 0; a < op.arity; ++a)
      if (const PhiloxValues* const values = of(op.args[a])) place_all(*values);
    place(op);
  }
  for (const PhiloxValues& values : all_) place_all(values);
  tape.ops = std::move(ops);
}

const PhiloxValues* PhiloxLoops::of(int value) const {
  const auto found = std::ranges::find_if(all_, [&](const PhiloxValues& v) { return contains(v.results, value); });
  return found == all_.end() ? nullptr : &*found;
}

/// Whether nothing else reads what stands between, and no counter is made of another one's words without an op.
bool PhiloxLoops::is_closed(const PhiloxValues& values, const Tape& tape) const {
  const auto inner = [&](int value) {
    return contains(values.results, value) && std::ranges::find(values.words, value) == std::end(values.words);
  };
  const auto reads_inner = [&](const TapeOp& op) {
    return !of(op.result) && std::any_of(op.args, op.args + op.arity, inner);
  };
  return std::ranges::none_of(tape.outputs, inner) && std::ranges::none_of(tape.ops, reads_inner) &&
         std::ranges::none_of(values.counter, [&](int word) { return of(word) != nullptr; }) &&
         std::ranges::none_of(values.key, [&](int half) { return of(half) != nullptr; });
}

Order PhiloxLoops::in_place_of_ops(const Order& ops, Tape& tape, const KernelTable& table) const {
  if (all_.empty()) return ops;
  Order order;
  std::vector<const PhiloxValues*> made;
  for (const int i : ops) {
    const int result = tape.ops[static_cast<std::size_t>(i)].result;
    if (!of(result)) {
      order.push_back(i);
      continue;
    }
    for (const PhiloxValues& v : all_) {
      if (std::ranges::find(v.words, result) == std::end(v.words) || std::ranges::find(made, &v) != made.end())
        continue;
      made.push_back(&v);
      order.push_back(~static_cast<int>(tape.loops.size()));
      TapeLoop& loop = tape.loops.emplace_back();
      const int* const varying = v.counter + v.varying;
      loop.run = table.philox[v.varying == 4][v.key_varies][v.wanted() == 1];
      loop.inputs.assign(v.counter, varying), loop.scalars.assign(varying, std::end(v.counter));
      std::vector<int>& keys = v.key_varies ? loop.inputs : loop.scalars;
      keys.insert(keys.end(), std::begin(v.key), std::end(v.key));
      loop.outputs.assign(v.words, v.words + v.wanted());
      loop.kept.assign(loop.scalars.size(), false);
    }
  }
  return order;
}

}  // namespace tern::detail_cpu
