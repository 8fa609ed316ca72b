// Recording an operation: outputs, what to save, and the rule that gives the gradients of its inputs.
#pragma once
#include <concepts>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formula/index_set.hpp"
#include "tern/pool.hpp"
#include "tern/autodiff.hpp"

namespace tern::detail {

/// What a rule sees. `grads` holds one Var an output, undefined where none arrived; `saved` what was saved, connected
/// to the graph; `wanted`: the inputs whose gradient the operation was recorded to give; `needed`: those that are
/// read this time. A rule may give others, but spares what is dear in them.
struct RuleContext {
  std::span<const Var> grads;
  std::span<const Var> saved;
  IndexSet wanted;
  IndexSet needed = ~IndexSet();
};
/// Something to save: an input, or output `output` of the operation itself.
struct Save {
  Var input;  // of an output: its value alone, for its variable would own the operation
  int output = -1;
  int edge = -1;  // where its variable is that of this input of the operation: `input` then need only be its value
  std::uint32_t version = 0;  // of the memory when it was saved
};

/// A recorded operation but for its rule.
class RecordedFn : public GradFn {
 public:
  RecordedFn(std::string_view op, std::span<const Var* const> inputs, const IndexSet& wanted, std::uint64_t sequence);
  std::string name() const override;
  std::vector<Tensor> saved_tensors() const override;
  PoolVector<Var> apply_pooled(std::span<const Var> grads) override { return apply_needed(grads, ~IndexSet()); }
  /// The same where only some gradients are read.
  PoolVector<Var> apply_needed(std::span<const Var> grads, const IndexSet& needed);
  void release() override;
  /// Before the outputs are variables.
  void keep(PoolVector<Save> saved, std::span<const Tensor> outputs);
  /// After the results come outputs that are saved and nothing else: they have no variables.
  void set_outputs(std::span<const Var> results, std::size_t outputs);

 protected:
  virtual PoolVector<Var> run_rule(const RuleContext& context) = 0;
  virtual void drop_rule() = 0;

 private:
  struct Output {
    std::uint64_t id = 0;
    std::weak_ptr<VarMeta> meta;  // strong, it would own this operation
  };
  const Output& output(std::size_t k) const { return k == 0 ? first_output_ : more_outputs_[k - 1]; }
  Var saved_var(const Save& s);

  std::basic_string<char, std::char_traits<char>, PoolAllocator<char>> op_;
  IndexSet wanted_;
  PoolVector<Save> saved_;
  Output first_output_;
  PoolVector<Output> more_outputs_;
  bool released_ = false;
};

/// A function PoolVector<Var>(const RuleContext&), or one that gives a std::vector.
template <class Rule> class RecordedWith final : public RecordedFn {
 public:
  template <class R>
  RecordedWith(std::string_view op, std::span<const Var* const> inputs, const IndexSet& wanted, std::uint64_t sequence,
               R&& rule)
      : RecordedFn(op, inputs, wanted, sequence), rule_(std::forward<R>(rule)) {}

 private:
  PoolVector<Var> run_rule(const RuleContext& context) override {
    if constexpr (std::same_as<std::invoke_result_t<Rule&, const RuleContext&>, PoolVector<Var>>) {
      return (*rule_)(context);
    } else {
      std::vector<Var> gradients = (*rule_)(context);
      return {std::make_move_iterator(gradients.begin()), std::make_move_iterator(gradients.end())};
    }
  }
  void drop_rule() override { rule_.reset(); }
  std::optional<Rule> rule_;
};

/// The next of the process-wide numbers of variables and operations: what is made later has a larger one. The first of
/// `count`, which nobody else gets.
std::uint64_t next_number(std::uint64_t count = 1);

/// While one lives, in_computation says whether what this thread computes may be differentiated.
class Computation {
 public:
  explicit Computation(bool differentiated);
  ~Computation();
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

 private:
  int before_;
};

/// Whether a leaf of this process has ever had a hook: else no traversal need look for one.
bool leaf_hooks_used();

bool tracked(std::span<const Var> inputs);
/// The inputs that require gradients; the last index stands for all from it on.
IndexSet wanted_mask(std::span<const Var> inputs);
IndexSet wanted_mask(std::span<const Var* const> inputs);

/// The outputs there are results for as variables of fn, whose number is that of its first output less one.
void finish_recording(const std::shared_ptr<RecordedFn>& fn, std::span<const Tensor> outputs, PoolVector<Save> saved,
                      std::span<Var> results);

/// The outputs as variables of a new GradFn. `op` is snake_case ("silu_mul" → "SiluMulBackward").
/// Inputs may be null: constants. `wanted` is their wanted_mask; `results` has a place for each output, but for the
/// last ones that are only saved.
template <class Rule>
void record(std::string_view op, std::span<const Var* const> inputs, const IndexSet& wanted,
            std::span<const Tensor> outputs, PoolVector<Save> saved, Rule&& rule, std::span<Var> results) {
  const auto fn = make_pooled<RecordedWith<std::remove_cvref_t<Rule>>>(
      op, inputs, wanted, next_number(1 + outputs.size()), std::forward<Rule>(rule));
  finish_recording(fn, outputs, std::move(saved), results);
}
template <class Rule>
void record(std::string_view op, std::span<const Var* const> inputs, std::span<const Tensor> outputs,
            PoolVector<Save> saved, Rule&& rule, std::span<Var> results) {
  record(op, inputs, wanted_mask(inputs), outputs, std::move(saved), std::forward<Rule>(rule), results);
}

PoolVector<const Var*> pointers(std::span<const Var> inputs);
template <class Rule>
std::vector<Var> record(std::string_view op, std::span<const Var> inputs, std::vector<Tensor> outputs,
                        PoolVector<Save> saved, Rule&& rule) {
  std::vector<Var> results(outputs.size());
  record(op, pointers(inputs), outputs, std::move(saved), std::forward<Rule>(rule), results);
  return results;
}

/// For operations with one output: that, recorded with `rule` where an input is tracked, else as a constant.
template <class Rule>
Var record_one(const char* op, std::span<const Var> inputs, Tensor output, PoolVector<Save> saved, Rule&& rule) {
  if (!tracked(inputs)) return as_var(std::move(output));
  Var result;
  record(op, pointers(inputs), {&output, 1}, std::move(saved), std::forward<Rule>(rule), {&result, 1});
  return result;
}

}  // namespace tern::detail
