// Short rows: an invocation reads its part of a row once, keeps it in registers, and so traverses it as often as it
// likes. What one pass computes at some cost and a later one needs, it keeps, too.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gpu/plan/plan.hpp"

namespace tern::detail_gpu {

/// What invocations keep of a row between passes.
struct Resident {
  int steps = 0;  // groups of neighbours that each invocation has; 0: nothing is resident
  int along = 1;  // invocations to a row
  std::vector<int> accesses;
  std::vector<std::vector<int>> values;  // for each pass, the steps of the program whose values it keeps

  bool operator()() const { return steps > 0; }
  /// Whether a value is known before this pass.
  bool before(std::size_t pass, int step) const;
};

/// Rows as they are traversed, in groups of neighbours.
struct ResidentRows {
  const detail::Program& program;
  const Plan& plan;
  std::vector<std::vector<int>> wanted;         // for each pass, the steps it computes
  std::function<bool(int step)> is_source;
  std::function<int(int step)> access_of;       // of inputs
  std::size_t kept_axes = 0;                    // of accesses, before the one along the row
  int group = 1;                                // neighbours
  std::int64_t rows = 1, groups = 1;            // groups of a row

  /// Nothing where the rows do not fit into registers, are not read in vectors, or no operand is read twice.
  Resident choose() const;

 private:
  std::vector<int> times_read() const;
  std::int64_t compute_bytes() const;
  /// Whether it is worth its registers.
  bool is_worth_it(const Access& a) const;
};

}  // namespace tern::detail_gpu
