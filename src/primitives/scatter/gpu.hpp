// Scatter-reduce without float atomics.
#pragma once
#include <initializer_list>

#include "gpu/gpu_backend.hpp"
#include "gpu/text/io.hpp"
#include "primitives/scatter/kernels.hpp"

namespace tern::detail_gpu {

/// How many neighbours along the last of the kept axes an invocation takes, all of which one entry of each table
/// (accesses) is for. Marks accesses as wide.
int scatter_group(Plan& plan, const Axes& kept, std::initializer_list<int> tables);

/// The results of a group of neighbours in a kernel: variables acc0, acc1, … that begin with what the output (access 0)
/// holds at `outside`, and take in what the source (access 1) has at a position.
class GroupSums {
 public:
  GroupSums(Io& io, const detail::ScatterRequest& request, const Position& outside, int group);
  /// Lines that load them.
  std::string begin;
  std::string combine(const Dialect& dialect, const Position& at) const;
  /// The same of a value that is there, into the first.
  std::string combine_value(const Dialect& dialect, const std::string& value) const;
  std::string store() const { return io_.store(0, outside_, names_, ""); }

 private:
  Io& io_;
  const detail::ScatterRequest& r_;
  Position outside_;
  std::vector<std::string> names_;
};

/// A line with a table of its own to a warp; false, having done nothing, where the request is not of such lines.
bool run_scatter_lines(GpuBackend& backend, const detail::ScatterRequest& request);

/// Through a sorted copy of the table: for tables that are too large to be looked through for every element.
void run_scatter_sorted(GpuBackend& backend, const detail::ScatterRequest& request);

}  // namespace tern::detail_gpu
