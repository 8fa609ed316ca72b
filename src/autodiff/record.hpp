// Recording an operation: outputs, what to save, and the rule that gives the gradients of its inputs.
#pragma once
#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backend/pool.hpp"
#include "tern/autodiff.hpp"

namespace tern::detail {

/// What a rule sees. `grads` holds one Var an output, undefined where none arrived; `saved` what was saved, connected
/// to the graph; bit i of `wanted`: the gradient of input i is needed.
struct RuleContext {
  std::span<const Var> grads;
  std::span<const Var> saved;
  std::uint64_t wanted;
};
/// A function std::vector<Var>(const RuleContext&) in pooled memory.
class BackwardRule {
 public:
  template <class F> requires(!std::same_as<std::remove_cvref_t<F>, BackwardRule>)
  BackwardRule(F&& rule) {
    using Rule = std::remove_cvref_t<F>;
    rule_ = std::allocate_shared<Holder<Rule>>(PoolAllocator<Holder<Rule>>{}, std::forward<F>(rule));
  }
  std::vector<Var> operator()(const RuleContext& context) { return rule_->call(context); }
  void reset() { rule_.reset(); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual std::vector<Var> call(const RuleContext& context) = 0;
  };
  template <class Rule> struct Holder final : Base {
    template <class F> explicit Holder(F&& f) : rule(std::forward<F>(f)) {}
    std::vector<Var> call(const RuleContext& context) override { return rule(context); }
    Rule rule;
  };
  std::shared_ptr<Base> rule_;
};

/// Something to save: an input, or output `output` of the operation itself.
struct Save {
  Var input;  // of an output: its value alone, for its variable would own the operation
  int output = -1;
  std::uint32_t version = 0;  // of the memory when it was saved
};

/// The next of the process-wide numbers of variables and operations: what is made later has a larger one. The first of
/// `count`, which nobody else gets.
std::uint64_t next_number(std::uint64_t count = 1);

/// Whether a leaf of this process has ever had a hook: else no walk need look for one.
bool leaf_hooks_used();

bool tracked(std::span<const Var> inputs);
/// A bit for each input; one bit for all from the 64th on.
std::uint64_t wanted_mask(std::span<const Var> inputs);
std::uint64_t wanted_mask(std::span<const Var* const> inputs);

/// The outputs as variables of a new GradFn. `op` is snake_case ("silu_mul" → "SiluMulBackward").
/// Inputs may be null: constants. `results` has a place for each output.
void record(std::string_view op, std::span<const Var* const> inputs, std::span<const Tensor> outputs, PoolVector<Save> saved,
            BackwardRule rule, std::span<Var> results);
std::vector<Var> record(std::string_view op, std::span<const Var> inputs, std::vector<Tensor> outputs, std::vector<Save> saved,
                        BackwardRule rule);

/// For operations with one output: runs `rule` recorded where an input is tracked, else gives a constant.
Var record_one(const char* op, std::span<const Var> inputs, Tensor output, std::vector<Save> saved, BackwardRule rule);

}  // namespace tern::detail
