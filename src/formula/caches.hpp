// What is derived from a graph once and kept with it: gradients and typed programs.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "formula/graph.hpp"
#include "formula/program.hpp"
#include "process/fork.hpp"

namespace tern::detail {

/// The gradient of some outputs of a graph with respect to some inputs. Its inputs are numbered
///   [0, n)            the inputs of the original graph,
///   [n, n + m)        the gradient of each of its m outputs (one element along the reduced axes where the output has),
///   [n + m, n + 2m)   the outputs themselves: read instead of the inputs where they suffice.
struct GradientGraph {
  /// The gradients that one fused call computes: those summed over one set of axes, and those summed over none.
  struct FusedGradients {
    const FormulaGraph* graph = nullptr;
    std::vector<int> arguments;  // which of the gradient graph's inputs its own are: those it reads
    std::uint32_t reduced = 0;
    std::vector<int> inputs;   // the original inputs whose gradients its outputs are
    std::vector<bool> summed;  // whether the output is summed over `reduced` already
  };
  /// The calls for inputs broadcast along certain axes (a mask each), when the graph reduces over `reduced`.
  struct Calls {
    std::vector<std::uint32_t> broadcast;
    std::uint32_t reduced = 0;
    /// What gradients are converted to: where operands have different floating dtypes, those of the narrower ones (of
    /// the others boolean, for none). Empty: no conversion.
    std::vector<DType> narrower;
    std::vector<FusedGradients> calls;
  };
  IndexSet present, wanted, outputs_read;
  bool finite_only = false;
  const FormulaGraph* graph = nullptr;  // null where no gradient flows at all
  std::vector<int> output_of;    // for each original input: the output that holds its gradient, or -1
  IndexSet used_outputs;         // the original's outputs that it reads
  mutable ForkSafe<std::mutex> plans_lock;
  mutable std::vector<std::unique_ptr<Calls>> plans;
};

struct RealFormula;  // formula/complex.hpp

struct FormulaGraph::Caches {
  Caches();
  ~Caches();
  /// The last found: most graphs are asked for one gradient and one program only, which then takes no lock.
  std::atomic<const GradientGraph*> last_gradient{nullptr};
  std::atomic<const Program*> last_program{nullptr};
  ForkSafe<std::shared_mutex> lock;
  std::vector<std::unique_ptr<GradientGraph>> gradients;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::pair<IndexSet, const FormulaGraph*>> with_numbers;
  std::vector<std::unique_ptr<const RealFormula>> in_real_numbers;
};

/// The graph of outputs whose inputs are these, renumbered. Derivatives of derivatives would take ever more that none
/// reads.
const FormulaGraph* with_arguments(std::span<const Expr> outputs, std::span<const int> arguments);

/// The graph for calls in which the inputs in `numbers` are plain numbers, which do not vary along the
/// reduced axes; kept with the graph. As full values they would make full what is computed from them: a row's mean and
/// a number would be one value an element.
const FormulaGraph* with_numbers(const FormulaGraph* graph, IndexSet numbers);

/// As `outputs_read` of gradient(): all outputs where then no input is read (tanh, sigmoid, relu, exp), else none.
inline const IndexSet& preferred_outputs() {
  static const IndexSet all = ~IndexSet();
  return all;
}

/// The gradient graph for the outputs in `present` and the inputs in `wanted`; kept with the graph.
/// finite_only: contributions whose derivative is not finite become 0 (for graphs with one output).
/// outputs_read: the outputs whose values are read in place of their expressions. Who saved them says which those are:
/// the preference depends on `present`, and what was not saved cannot be read.
/// Throws autograd, naming the elementary function, where a derivative does not exist.
const GradientGraph& gradient(const FormulaGraph* graph, const IndexSet& present, const IndexSet& wanted,
                              bool finite_only = false, const IndexSet& outputs_read = preferred_outputs());

}  // namespace tern::detail
