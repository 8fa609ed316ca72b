// What products with bias and activation share with their backward.
#pragma once
#include <map>
#include <mutex>
#include <utility>

#include "primitives/gemm/operation.hpp"
#include "process/fork.hpp"

namespace tern::detail {

/// Throws shape or unsupported where the activation does not take one number and give one.
void check_activation(const char* op, const Pointwise<>& activation);
/// The space of the result, batch + [m, n].
Shape check_bias(const char* op, const Tensor& a, const Tensor& b, const Tensor& bias);

/// What a graph is made for.
enum GraphVariant { kActivated, kActivatedAndPre, kRecomputed, kRecomputedPropagating, kWithSum };
/// Graphs made from an activation, kept by what they are made for.
template <class Make> const FormulaGraph* cached_graph(const FormulaGraph* activation, int variant, Make make) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static std::map<std::pair<const FormulaGraph*, int>, const FormulaGraph*>& known =
      *new std::map<std::pair<const FormulaGraph*, int>, const FormulaGraph*>;
  const std::lock_guard hold(lock);
  const FormulaGraph*& graph = known[{activation, variant}];
  if (!graph) graph = make();
  return graph;
}

}  // namespace tern::detail
