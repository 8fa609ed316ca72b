#include "cpu/tape/loops.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <unordered_map>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu {
namespace {

using detail::StepKind;

std::atomic<bool> enabled{true};
std::atomic<LoopListener> listening{nullptr};

/// Of an op, the type it computes in; for a predicate, those it gives are integers as wide.
class Planner {
 public:
  Planner(const Tape& tape, bool rows) : tape_(tape) {
    for (const TapeOp& op : tape.ops)
      if (rows && op.kind == TapeOp::OpKind::expand) repeated_[op.result] = op.args[0];
  }

  std::optional<LoopPlan> run(const std::vector<int>& ops, const std::vector<int>& outputs) {
    if (!find_type(ops)) return {};
    std::vector<std::uint64_t> text;
    for (const int i : ops) {
      const TapeOp& op = tape_.ops[static_cast<std::size_t>(i)];
      if (!lanes_of(op.type)) return {};
      const Elementary which = op.kind == TapeOp::OpKind::block ? Elementary::cast : op.which;
      text.push_back(static_cast<std::uint64_t>(which) << kLoopFunctionBit |
                     static_cast<std::uint64_t>(op.fast) << kLoopFastBit |
                     static_cast<std::uint64_t>(op.arity) << kLoopArityBit | *lanes_of(op.type));
      for (int a = 0; a < op.arity; ++a)
        if (!add_argument(op.args[a], which == Elementary::cast ? compute_type_of(op.args[a]) : op.type, text))
          return {};
      const std::uint64_t number = results_.size();
      results_[op.result] = number;
    }
    std::vector<std::uint64_t> last;
    for (const int value : outputs) {
      last.push_back(results_.at(value));
      plan_.outputs.push_back(value);
    }
    if (plan_.inputs.size() > kLoopInputs || plan_.scalars.size() > kLoopScalars || last.size() > kLoopOutputs)
      return {};
    plan_.words = {plan_.inputs.size(), plan_.scalars.size(), ops.size(), last.size()};
    for (const int value : plan_.inputs) plan_.words.push_back(*lanes_of(compute_type_of(value)));
    plan_.words.insert(plan_.words.end(), text.begin(), text.end());
    plan_.words.insert(plan_.words.end(), last.begin(), last.end());
    return std::move(plan_);
  }

 private:
  bool find_type(const std::vector<int>& ops) {
    for (const int i : ops) {
      const ComputeType type = tape_.ops[static_cast<std::size_t>(i)].type;
      if (!detail::is_float(type)) continue;
      plan_.type = type;
      return true;
    }
    return false;
  }
  /// LoopLanes; nothing where a loop has none of the type.
  std::optional<std::uint64_t> lanes_of(ComputeType type) const {
    const bool wide = plan_.type == ComputeType::f64;
    if (type == plan_.type) return static_cast<std::uint64_t>(LoopLanes::floats);
    if (type == (wide ? ComputeType::i64 : ComputeType::i32)) return static_cast<std::uint64_t>(LoopLanes::integers);
    if (type == ComputeType::u32 && !wide) return static_cast<std::uint64_t>(LoopLanes::words);
    return {};
  }
  ComputeType compute_type_of(int value) const { return tape_.values[static_cast<std::size_t>(value)].type; }

  bool add_argument(int value, ComputeType type, std::vector<std::uint64_t>& text) {
    const auto word = [&](LoopArg kind, std::uint64_t index) {
      text.push_back(index << 2 | static_cast<std::uint64_t>(kind));
    };
    if (const auto found = results_.find(value); found != results_.end()) {
      word(LoopArg::result, found->second);
      return true;
    }
    const auto repeated = repeated_.find(value);
    const bool kept = repeated != repeated_.end();
    if (kept) value = repeated->second;
    const TapeValue& v = tape_.values[static_cast<std::size_t>(value)];
    if (v.kind == StepKind::number) {
      // As the tape's own constants: exact in f64, then rounded to the type.
      const double number = v.number.is_integer ? static_cast<double>(v.number.integer) : v.number.real;
      if (v.number.is_integer && std::abs(number) > 0x1p52) return false;
      const std::optional<std::uint64_t> lanes = lanes_of(type);
      if (!lanes) return false;
      word(LoopArg::constant, *lanes);
      text.push_back(std::bit_cast<std::uint64_t>(number));
      return true;
    }
    const bool scalar = kept || v.kind == StepKind::param || v.kind == StepKind::extent;
    if (scalar && v.type != plan_.type) return false;
    if (!lanes_of(v.type)) return false;
    std::vector<int>& list = scalar ? plan_.scalars : plan_.inputs;
    auto at = std::find(list.begin(), list.end(), value);
    if (at == list.end()) at = list.insert(at, value);
    word(scalar ? LoopArg::scalar : LoopArg::input, static_cast<std::uint64_t>(at - list.begin()));
    return true;
  }

  const Tape& tape_;
  LoopPlan plan_;
  std::map<int, std::uint64_t> results_;  // which op of the loop gives a value
  std::map<int, int> repeated_;           // what a value repeats along a row
};

std::uint64_t hash_of(std::span<const std::uint64_t> words) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const std::uint64_t word : words) hash = (hash ^ word ^ (word >> 29)) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

struct Table {
  LoopKeys keys = loop_keys();
  std::vector<LoopFunctions> functions;
  std::unordered_multimap<std::uint64_t, std::size_t> index;
  Table() : functions(keys.count) {
    fill_loops(kernels().target, functions.data());
    for (std::size_t i = 0; i < keys.count; ++i) index.emplace(hash_of({keys.keys[i].words, keys.keys[i].size}), i);
  }
};

}  // namespace

bool suits_loops(const Tape& tape, const TapeOp& op) {
  if (op.is_formula()) return false;
  if (op.kind == TapeOp::OpKind::elementary) return true;
  if (op.kind != TapeOp::OpKind::block ||
      tape.values[static_cast<std::size_t>(op.result)].kind != StepKind::convert)
    return false;
  const ComputeType from = tape.values[static_cast<std::size_t>(op.args[0])].type;
  const auto is_word = [](ComputeType type) { return type == ComputeType::i32 || type == ComputeType::u32; };
  return is_word(from) && (is_word(op.type) || (from == ComputeType::i32 && op.type == ComputeType::f32));
}

std::optional<LoopPlan> plan_loop(const Tape& tape, const std::vector<int>& ops, const std::vector<int>& outputs,
                                  bool rows) {
  return Planner(tape, rows).run(ops, outputs);
}

FoundLoop find_loop(const LoopPlan& plan) {
  if (const LoopListener listener = listening.load(std::memory_order_relaxed)) listener(plan);
  static const Table* const table = new Table;
  const auto [begin, end] = table->index.equal_range(hash_of(plan.words));
  for (auto it = begin; it != end; ++it) {
    const LoopKey& key = table->keys.keys[it->second];
    const LoopFunctions& found = table->functions[it->second];
    if (std::equal(key.words, key.words + key.size, plan.words.begin(), plan.words.end()))
      return plan.type == ComputeType::f64 ? FoundLoop{found.f64} : FoundLoop{found.f32, found.f16, found.bf16};
  }
  return {};
}

void listen_to_loops(LoopListener listener) { listening.store(listener, std::memory_order_relaxed); }
bool loops_enabled() { return enabled.load(std::memory_order_relaxed); }
void enable_loops(bool on) { enabled.store(on, std::memory_order_relaxed); }

}  // namespace tern::detail_cpu
