// The values in a kernel with reductions: their names, where they are read, and the functions that compute them.
#pragma once
#include <string>
#include <vector>

#include "gpu/text/io.hpp"
#include "gpu/reductions/reduce_plan.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

/// The pieces of reduce_traversal.wgsl, reduce_staged.wgsl and reduce_resident.cu.
const Holes& reduce_pieces();

class ReduceValues {
 protected:
  explicit ReduceValues(const ReducePlan& kernel);

  /// A reduction's result, of element e of a group of kept positions.
  std::string red(int s, int e) const { return named("red", s, e); }
  /// The same as the invocations joined it: a sum taken with what it waits for is not finished then.
  std::string joined(int s, int e) const { return (online_sum(kernel_.program, s) ? "raw_" : "") + red(s, e); }
  /// An invocation's part of it.
  std::string acc(int s, int e) const { return named("acc", s, e); }
  /// A value that is kept from one traversal to the next, in registers.
  std::string kept_value(int s, int e) const { return cat("kept", s, "[u * ", kernel_.group, "u + ", e, "u]"); }

  /// Where an invocation stands: at the elements of a step of a traversal (`full`), or at kept positions.
  Position position(bool full) const;
  /// A function of the kernel's own that computes `wanted`; with what earlier traversals kept, `pass` says which.
  Function function(const std::string& name, const std::vector<int>& wanted, std::size_t pass = 0);
  /// Lines that call a function for each element of the group; `values` names the results.
  std::string calls(const Function& f, const Position& at, std::vector<std::string>& values);
  /// Result i of each of the calls.
  static std::vector<std::string> results_of(const Function& f, const std::vector<std::string>& values, std::size_t i);
  /// The loop over an invocation's part of the reduced range, with the lines of a step.
  std::string traversal(const std::string& visit) const;

  const ReducePlan& kernel_;
  const Dialect& dialect_;  // of values
  Io io_;
  ProgramPrinter printer_;
  std::vector<std::string> kept_names_;  // coordinates of the kept axes
  std::string kept_coordinates_;         // lines that compute them
  std::string functions_;

 private:
  std::string named(const char* stem, int s, int e) const {
    return kernel_.kept_group() > 1 ? cat(stem, s, "_", e < kernel_.positions(s) ? e : 0) : cat(stem, s);
  }
  std::string position_value(int s, const Position& at, int e) const;
};

}  // namespace tern::detail_gpu
