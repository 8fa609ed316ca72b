// Formulas of fixed-size vectors and matrices on tensors: the components of one tensor are inputs, or results, of one
// scalar formula, as strided views of it.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "primitives/fused/operation.hpp"
#include "tern/fixed.hpp"

namespace tern::detail {

/// A formula of such values, or a derivative of one.
struct FixedCall {
  /// A tensor the call reads.
  struct ComponentsRead {
    FixedShape shape;
    std::vector<int> components;  // those the graph reads: its inputs, one after the other
  };
  /// A tensor it writes: all components, the graph's outputs, one after the other.
  struct ComponentsWritten {
    FixedShape shape;
    bool full = true;  // else it has size 1 along the reduced axes
  };
  const char* op = "";
  const FormulaGraph* graph = nullptr;
  std::vector<ComponentsRead> operands;
  std::vector<ComponentsWritten> results;
  std::uint32_t reduced = 0;
  std::optional<Shape> space;  // of the axes in front; none: what they broadcast to
  /// Another way to the values, for devices where there is a quicker one: false, having done nothing, elsewhere.
  bool (*values)(const FixedCall& call, std::span<const Argument> arguments, std::span<Tensor> results) = nullptr;
};

/// Runs the call; of Vars it is recorded where one is tracked.
void run_fixed(const FixedCall& call, std::span<const Argument> arguments, std::span<Tensor> results);
void run_fixed(const FixedCall& call, std::span<const Argument> arguments, std::span<Var> results);

}  // namespace tern::detail
