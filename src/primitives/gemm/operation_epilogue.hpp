// What is linear in two operands, with an epilogue, as it is recorded: the formula sees the sums in the same pass, and
// its backward is one fused pass, before the gradients of the two operands.
#pragma once
#include "primitives/fused/operation.hpp"

namespace tern::detail {

/// An epilogue as it is recorded: with what its backward reads of the product.
struct EpiloguePlan {
  const FormulaGraph* graph = nullptr;  // the epilogue; a hidden last output where no other holds what backward reads
  IndexSet outputs_read;                // outputs read in place of their expressions
  IndexSet used;                        // inputs that backward reads
};

/// What plans are kept by; they are kept for good.
struct EpilogueKey {
  const FormulaGraph* graph = nullptr;
  IndexSet wanted, tensors;
  bool operator==(const EpilogueKey&) const = default;
};
const EpiloguePlan& epilogue_plan_of(const EpilogueKey& key);

/// What is wanted of the epilogue's inputs, the accumulator first, where that is wanted of a, b and the operands.
inline IndexSet wanted_of_epilogue(const IndexSet& wanted) {
  return wanted >> 2 << 1 | (wanted[0] || wanted[1] ? one_index(0) : IndexSet());
}

/// The gradients of a, b and the operands: one fused pass for the epilogue's, whose first is that of the accumulator,
/// then of_a(it, b) and of_b(it, a). Saved: a and b where needed, then what `formula` reads.
template <class Gradients> struct EpilogueBackward {
  FusedBackward formula;
  Gradients gradients;
  int a_at = -1, b_at = -1;

  PoolVector<Var> operator()(const RuleContext& c) const {
    PoolVector<Var> inner = formula({c.grads, c.saved, wanted_of_epilogue(c.wanted)});
    PoolVector<Var> grads(inner.size() + 1);
    const Var& d = inner[0];
    if (d.defined() && c.wanted[0] && c.needed[0])
      grads[0] = gradients.of_a(d, c.saved[static_cast<std::size_t>(b_at)]);
    if (d.defined() && c.wanted[1] && c.needed[1])
      grads[1] = gradients.of_b(d, c.saved[static_cast<std::size_t>(a_at)]);
    for (std::size_t i = 1; i < inner.size(); ++i) grads[i + 1] = std::move(inner[i]);
    return grads;
  }
};

/// results = graph(accumulator of a and b, operands…) over `space`: run(formula, outputs) computes them, of Tensors.
template <class Run, class Gradients>
void record_epilogue(const char* op, const FormulaGraph* graph, const Shape& space, const Var& a, const Var& b,
                     std::span<const Argument> operands, std::span<Var> results, const Run& run, Gradients gradients) {
  SmallVector<const Var*, 8> inputs;
  inputs.push_back(&a), inputs.push_back(&b);
  IndexSet tensors;
  for (const Argument& o : operands) {
    if (o.var || o.tensor) tensors.set(inputs.size() - 1);
    inputs.push_back(o.var);
  }
  const IndexSet mask = wanted_mask(std::span<const Var* const>(inputs));
  if (!grad_enabled() || mask.none()) {
    PoolVector<Tensor> outputs(results.size());
    run(graph, outputs);
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = as_var(outputs[k]);
    return;
  }
  const EpiloguePlan& plan = epilogue_plan_of({graph, wanted_of_epilogue(mask), tensors});
  Slots<Tensor, 3> outputs(plan.graph->outputs.size());
  run(plan.graph, outputs);
  EpilogueBackward<Gradients> rule{.formula = {}, .gradients = std::move(gradients)};
  rule.formula.op = op, rule.formula.graph = plan.graph, rule.formula.outputs_read = plan.outputs_read;
  rule.formula.space = space;
  PoolVector<Save> saved;
  saved.reserve(inputs.size() + outputs.size());
  rule.formula.inputs.reserve(inputs.size());
  if (b.requires_grad()) rule.a_at = 0, saved.push_back({as_var(a.value()), -1, 0});
  if (a.requires_grad()) rule.b_at = static_cast<int>(saved.size()), saved.push_back({as_var(b.value()), -1, 1});
  // The accumulator is read through an output, if at all.
  rule.formula.inputs.push_back({rule.formula.space, {}, -1, true, a.dtype()});
  for (std::size_t i = 0; i < operands.size(); ++i)
    rule.formula.add_input(operands[i], plan.used[i + 1], saved, static_cast<int>(i) + 2);
  rule.formula.add_outputs(saved);
  record(op, inputs, mask, outputs, std::move(saved), std::move(rule), results);
}

}  // namespace tern::detail
