// What the kernels of products share: batches that are rows or steps of k, and the epilogue, its outputs and operands
// laid over batch axes, rows and columns, and the text that applies the formula to sums.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gpu/text/io.hpp"
#include "gpu/plan/plan.hpp"
#include "gpu/text/printer.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu {

/// The sizes of batch + [m, n], where contracted axes count as 1: what outputs and operands are laid over.
std::vector<std::int64_t> sizes_over_tile(const detail::GemmRequest& request);
/// Whether contracted batches, so many elements apart in a and b, go on where the k steps before end.
bool continues_depth(const detail::GemmRequest& request, std::int64_t k, std::int64_t step_a, std::int64_t step_b);

class Epilogue {
 public:
  explicit Epilogue(const detail::GemmRequest& request);

  /// What is laid over batch + [m, n]: outputs, then operands in the order of the formula's steps.
  std::vector<const View*> views() const;
  /// The axes of batch + [m, n] (a bit each) whose coordinates the formula reads.
  std::uint32_t pinned() const;

  /// Adds the views, laid over merged batch axes, rows and columns; `batch` holds their strides first.
  void add_accesses(Plan& plan, const MergedAxes& batch);
  void add_numbers(Plan& plan);
  /// Places of the accesses in the plan.
  const std::vector<int>& outputs() const { return outputs_; }
  const std::vector<int>& operands() const { return operands_; }

  /// The formula as a function named `epilogue`.
  Function function(const Dialect& dialect) const;
  /// Lines that load operands for the neighbours at `at` (coordinates: batch axes, "row", "col"), apply the formula to
  /// their sums, and store. `guard`: as for Io::store. `inside`: a condition under which anything is stored. `kept`:
  /// lines that take an output's results in place of a store, or none.
  using KeepOutput = std::function<std::string(std::size_t output, const std::vector<std::string>& values)>;
  std::string finish(Io& io, const Dialect& dialect, const Function& function, const Position& at,
                     const MergedAxes& batch, const std::function<std::string(int)>& sum, const std::string& guard,
                     const std::string& inside = "", const KeepOutput& kept = nullptr) const;

 private:
  const detail::Step& step(int i) const { return program_.steps[static_cast<std::size_t>(i)]; }
  bool is_source(int i) const {
    return step(i).kind == detail::StepKind::input || step(i).kind == detail::StepKind::position;
  }
  bool is_sum(int i) const { return step(i).kind == detail::StepKind::input && step(i).index == 0; }
  bool is_position(int i) const { return step(i).kind == detail::StepKind::position; }
  int axis_of(int source) const;
  std::string position_value(int source, const Position& at, const MergedAxes& batch, int e) const;
  std::size_t operand_of(int source) const;

  const detail::GemmRequest& r_;
  const detail::Program& program_;
  std::vector<int> wanted_, sources_, outputs_, operands_, slots_;
};

/// A product whose batches are merged as far as they go: into each other, rows or k.
struct MergedProduct {
  std::int64_t m = 0, k = 0;
  // Strides of `kept` are of the views over batch + [m, n], of a and of b, those of `contracted` of a and b.
  MergedAxes kept, contracted;
  std::size_t a = 0;  // the place of a among the views of `kept`; b is the next one
};
MergedProduct merged(const detail::GemmRequest& request, const Epilogue& epilogue);
/// With the views that are laid over batch + [m, n], none of whose pinned axes (Epilogue::pinned) may be merged.
MergedProduct merged(const detail::GemmRequest& request, std::vector<const View*> views, std::uint32_t pinned);
/// Adds the access of a factor, of which `place` is the place among the views of `kept` and `which` that among those of
/// `contracted`: laid over the axes of both, and its own two.
int add_factor(Plan& plan, const View& factor, const MergedAxes& kept, std::size_t place, const MergedAxes& contracted,
               std::size_t which);

}  // namespace tern::detail_gpu
