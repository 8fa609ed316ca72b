// The epilogue of a product's kernel: outputs and operands laid over batch axes, rows and columns, and the text that
// applies the formula to sums.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gpu/io.hpp"
#include "gpu/plan.hpp"
#include "gpu/printer.hpp"

namespace tern::detail_gpu {

class Epilogue {
 public:
  explicit Epilogue(const detail::GemmRequest& request);

  /// What is laid over batch + [m, n]: outputs, then operands in the order of the formula's steps.
  std::vector<const View*> views() const;
  /// The axes of batch + [m, n] (a bit each) whose coordinates the formula reads.
  std::uint32_t pinned() const;

  /// Adds the views, laid over merged batch axes, rows and columns; `batch` holds their strides first.
  void add_accesses(Plan& plan, const Axes& batch);
  void add_numbers(Plan& plan);
  /// Places of the accesses in the plan.
  const std::vector<int>& outputs() const { return outputs_; }
  const std::vector<int>& operands() const { return operands_; }

  /// The formula as a function named `epilogue`.
  Function function(const Dialect& dialect) const;
  /// Lines that load operands for the neighbours at `at` (coordinates: batch axes, "row", "col"), apply the formula to
  /// their sums, and store. `guard`: as for Io::store. `inside`: a condition under which anything is stored.
  std::string finish(Io& io, const Dialect& dialect, const Function& function, const Position& at, const Axes& batch,
                     const std::function<std::string(int)>& sum, const std::string& guard,
                     const std::string& inside = "") const;

 private:
  const detail::Step& step(int i) const { return program_.steps[static_cast<std::size_t>(i)]; }
  bool is_source(int i) const {
    return step(i).kind == detail::StepKind::input || step(i).kind == detail::StepKind::position;
  }
  bool is_sum(int i) const { return step(i).kind == detail::StepKind::input && step(i).index == 0; }
  bool is_position(int i) const { return step(i).kind == detail::StepKind::position; }
  int axis_of(int source) const;
  std::string position_value(int source, const Position& at, const Axes& batch, int e) const;
  std::size_t operand_of(int source) const;

  const detail::GemmRequest& r_;
  const detail::Program& program_;
  std::vector<int> wanted_, sources_, outputs_, operands_, slots_;
};

}  // namespace tern::detail_gpu
