// A formula's first derivatives as expressions.
#pragma once
#include "contract/registry.hpp"

namespace tern::contract {

/// ∂f/∂x_i as expressions in the inputs of f alone; undefined where no gradient flows.
inline std::vector<Expr> partials(const detail::FormulaGraph* f) {
  const detail::GradientGraph& g = detail::gradient(f, 1, detail::first_indices(static_cast<std::size_t>(f->inputs)));
  std::vector<Expr> result(static_cast<std::size_t>(f->inputs)), args;
  if (!g.graph) return result;
  for (int i = 0; i < f->inputs; ++i) args.push_back(detail::make_input(i));
  args.push_back(detail::make_constant(1));
  args.emplace_back(f->outputs[0]);
  const std::vector<Expr> values = detail::substitute(g.graph, args);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (g.output_of[i] >= 0) result[i] = values[static_cast<std::size_t>(g.output_of[i])];
  return result;
}

}  // namespace tern::contract
