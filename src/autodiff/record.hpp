// Recording an operation: outputs, what to save, and the rule that gives the gradients of its inputs.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "tern/autodiff.hpp"

namespace tern::detail {

/// What a rule sees. `grads` holds one Var an output, undefined where none arrived; `saved` what was saved, connected
/// to the graph; bit i of `wanted`: the gradient of input i is needed.
struct RuleContext {
  std::span<const Var> grads;
  std::span<const Var> saved;
  std::uint64_t wanted;
};
using BackwardRule = std::function<std::vector<Var>(const RuleContext&)>;

/// Something to save: an input, or output `output` of the operation itself.
struct Save {
  Var input;
  int output = -1;
};

/// The next of the process-wide numbers of variables and operations: what is made later has a larger one.
std::uint64_t next_number();

/// Whether a leaf of this process has ever had a hook: else no walk need look for one.
bool leaf_hooks_used();

bool tracked(std::span<const Var> inputs);
/// A bit for each input; one bit for all from the 64th on.
std::uint64_t wanted_mask(std::span<const Var> inputs);

/// The outputs as variables of a new GradFn. `op` is snake_case ("silu_mul" → "SiluMulBackward").
std::vector<Var> record(std::string op, std::span<const Var> inputs, std::vector<Tensor> outputs,
                        std::vector<Save> saved, BackwardRule rule);

/// For operations with one output: runs `rule` recorded where an input is tracked, else gives a constant.
Var record_one(const char* op, std::span<const Var> inputs, Tensor output, std::vector<Save> saved, BackwardRule rule);

}  // namespace tern::detail
